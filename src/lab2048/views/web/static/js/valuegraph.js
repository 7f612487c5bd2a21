// What a player thinks of a game that was played, as a line over its moves; the worst moves to look at again.

import { post } from "./api.js";
import { complain, button, h } from "./dom.js";
import { chances, number, short } from "./pure/format.js";
import { capital } from "./pure/words.js";
import { patiently } from "./stream.js";

const POINTS = 160; // boards that are looked at
const AT_ONCE = 16;
const WORST = 5;
const [WIDE, HIGH] = [1000, 160];
const NS = "http://www.w3.org/2000/svg";

export class ValueGraph {
  element = h("section.panel");
  #points = [];
  #abort = new AbortController();
  #svg = null;
  #cursor = null;

  /** `seek` goes to a move; `look` goes to a board and points out a move; `nameOf` says a move in words. */
  constructor({ id, n_moves: nMoves }, { seek, look, nameOf }) {
    this.id = id;
    this.nMoves = nMoves;
    this.seek = seek;
    this.look = look;
    this.nameOf = nameOf;
    this.words = h("p.quiet.small.told", { role: "status" });
    this.body = h("div.stack");
    this.button = button("Judge this game", () => this.judge(), { slim: true, disabled: !nMoves });
    this.element.append(h("h2", {}, "Value by move"), this.button, this.body, this.words);
  }

  /** Ask about boards all over the game, those far apart first, and draw what is known. */
  async judge() {
    this.button.hidden = true;
    const n = Math.min(POINTS, this.nMoves + 1);
    const turns = Array.from({ length: n }, (_, i) => Math.round((i * this.nMoves) / Math.max(1, n - 1)));
    const order = interleave(turns);
    try {
      for (let i = 0; i < order.length; i += AT_ONCE) {
        const request = { turns: order.slice(i, i + AT_ONCE) };
        this.words.textContent = `${i} of ${order.length} boards`;
        const answer = await patiently(() =>
          post(`/api/games/${this.id}/values`, request, { signal: this.#abort.signal }),
        );
        this.#points = [...this.#points, ...answer.points].sort((a, b) => a.turn - b.turn);
        this.unit = answer.unit;
        this.player = answer.player;
        this.draw();
      }
    } catch (error) {
      this.button.hidden = false;
      this.words.textContent = "";
      complain(error);
    }
  }

  /** What a point stands for: the score that the game is expected to come to, or the chance. */
  height({ score, value }) {
    return this.unit === "score" ? score + value : value;
  }

  write(value) {
    return this.unit === "chance" ? chances([value])[0] : short(value);
  }

  draw() {
    if (this.#points.length < 2) return;
    const heights = this.#points.map((point) => this.height(point));
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    const x = (turn) => (WIDE * turn) / Math.max(1, this.nMoves);
    const y = (value) => (high > low ? HIGH - (HIGH * (value - low)) / (high - low) : HIGH / 2);
    this.#x = x;
    const what = this.unit === "score" ? "Expected final score" : this.unit === "chance" ? "Chance" : "Value";
    const label = `${what} by ${this.player}: ${this.write(heights[0])} at first, ${this.write(heights.at(-1))} in the end, ${this.write(low)} at least, ${this.write(high)} at most`;
    this.#svg ??= this.#make();
    this.#svg.setAttribute("aria-label", label);
    const line = this.#points.map((point, i) => `${x(point.turn).toFixed(1)},${y(heights[i]).toFixed(1)}`).join(" ");
    this.#svg.querySelector("polyline").setAttribute("points", line);
    this.words.textContent = `${what} by ${this.player}, from ${this.write(low)} to ${this.write(high)}; ${this.#points.length} of ${this.nMoves + 1} boards.`;
    this.body.replaceChildren(this.#svg, this.#worst());
    this.mark(this.at ?? 0);
  }

  #x = () => 0;

  #make() {
    const make = (name, attributes) => {
      const made = document.createElementNS(NS, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const svg = make("svg", { viewBox: `0 -6 ${WIDE} ${HIGH + 12}`, preserveAspectRatio: "none", role: "img" });
    svg.classList.add("graph");
    this.#cursor = make("line", { y1: -6, y2: HIGH + 6 });
    svg.append(make("polyline", { points: "" }), this.#cursor);
    svg.addEventListener("pointerdown", (event) => {
      const box = svg.getBoundingClientRect();
      this.seek(Math.round((this.nMoves * (event.clientX - box.left)) / box.width));
    });
    return svg;
  }

  /** The moves that lost most, of those that were looked at. */
  #worst() {
    const bad = this.#points
      .filter(({ grade }) => ["inaccuracy", "mistake", "blunder"].includes(grade))
      .sort((a, b) => b.loss - a.loss)
      .slice(0, WORST);
    if (!bad.length) return h("p.quiet.small", {}, "No bad move among these boards.");
    return h(
      "div.spawns",
      {},
      h("p.quiet.small", {}, "The worst moves; look at one, and an arrow shows the better one."),
      bad.map(({ turn, grade, best, made, loss }) =>
        h(
          "button.spawn.worse",
          { type: "button", onclick: () => this.look(turn, best) },
          h("b", {}, number(turn + 1)),
          h("span", {}, `${capital(this.nameOf(made))}; ${this.nameOf(best)} is better by ${this.write(loss)}`),
          h("span.small.bad", {}, grade),
        ),
      ),
    );
  }

  /** Show where the replay is. */
  mark(at) {
    this.at = at;
    if (!this.#cursor) return;
    for (const name of ["x1", "x2"]) this.#cursor.setAttribute(name, this.#x(at).toFixed(1));
  }

  close() {
    this.#abort.abort();
  }
}

/** A list in an order in which those far apart come first: every eighth, then those between. */
function interleave(list) {
  const found = [];
  for (let from = 0; from < 8; from += 1) for (let i = from; i < list.length; i += 8) found.push(list[i]);
  const ends = [list[0], list.at(-1)];
  return [...new Set([...ends, ...found])];
}
