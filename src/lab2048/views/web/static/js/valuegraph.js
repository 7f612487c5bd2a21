// The analysis of a recorded game: the value of its boards as a line, and its worst moves.

import { post } from "./api.js";
import { complain, button, h } from "./dom.js";
import { chances, number, short } from "./pure/format.js";
import { capital } from "./pure/words.js";
import { retryUntilReady } from "./stream.js";

const POINTS = 160; // boards that are evaluated
const AT_ONCE = 16; // boards per request
const WORST = 5;
const [WIDTH, HEIGHT] = [1000, 160];
const NS = "http://www.w3.org/2000/svg";

export class ValueGraph {
  element = h("section.panel");
  /** @type {Api.AnalysedBoard[]} */
  #points = [];
  #unit = "";
  #player = "";
  #at = 0;
  #abort = new AbortController();
  #line = svg("polyline", { points: "" });
  #cursor = svg("line", { y1: -6, y2: HEIGHT + 6 });
  #svg = svg("svg", { viewBox: `0 -6 ${WIDTH} ${HEIGHT + 12}`, preserveAspectRatio: "none", role: "img", class: "graph" });
  #id;
  #nMoves;
  #actions;

  /**
   * @param {Api.StateData} state
   * @param {object} actions
   * @param {(turn: number) => void} actions.seek go to a turn
   * @param {(turn: number, move: number) => void} actions.look go to a turn and point out a move
   * @param {(move: number) => string} actions.nameOf
   */
  constructor({ id, n_moves: nMoves }, actions) {
    this.#id = id;
    this.#nMoves = nMoves;
    this.#actions = actions;
    this.#svg.append(this.#line, this.#cursor);
    this.#svg.addEventListener("pointerdown", (event) => {
      const box = this.#svg.getBoundingClientRect();
      actions.seek(Math.round((nMoves * (event.clientX - box.left)) / box.width));
    });
    this.words = h("p.quiet.small.told", { role: "status" });
    this.body = h("div.stack");
    this.button = button("Analyse game", () => this.analyse(), { slim: true, disabled: !nMoves });
    this.element.append(h("h2", {}, "Value by move"), this.button, this.body, this.words);
  }

  /** Evaluate boards from all parts of the game, coarsely first, and draw what is known so far. */
  async analyse() {
    this.button.hidden = true;
    const n = Math.min(POINTS, this.#nMoves + 1);
    const turns = Array.from({ length: n }, (_, i) => Math.round((i * this.#nMoves) / Math.max(1, n - 1)));
    const order = interleave(turns);
    try {
      for (let i = 0; i < order.length; i += AT_ONCE) {
        const body = { turns: order.slice(i, i + AT_ONCE) };
        this.words.textContent = `${i} of ${order.length} boards`;
        const answer = await retryUntilReady({}, () =>
          post("/api/games/{game}/values", { path: { game: this.#id }, body, signal: this.#abort.signal }),
        );
        this.#points = [...this.#points, ...answer.points].sort((a, b) => a.turn - b.turn);
        this.#unit = answer.unit;
        this.#player = answer.player;
        this.#draw();
      }
    } catch (error) {
      this.button.hidden = false;
      this.words.textContent = "";
      complain(error);
    }
  }

  /**
   * The expected final score if values are scores, else the value itself.
   * @param {Api.AnalysedBoard} point
   */
  #height({ score, value }) {
    return this.#unit === "score" ? score + value : value;
  }

  /** @param {number} value */
  #write(value) {
    return this.#unit === "chance" ? chances([value])[0] : short(value);
  }

  /** @param {number} turn */
  #x(turn) {
    return ((WIDTH * turn) / Math.max(1, this.#nMoves)).toFixed(1);
  }

  #draw() {
    if (this.#points.length < 2) return;
    const heights = this.#points.map((point) => this.#height(point));
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    const y = (/** @type {number} */ value) =>
      high > low ? HEIGHT - (HEIGHT * (value - low)) / (high - low) : HEIGHT / 2;
    const what = this.#unit === "score" ? "Expected final score" : this.#unit === "chance" ? "Chance" : "Value";
    const ends = [heights[0], heights[heights.length - 1]].map((value) => this.#write(value));
    const range = [low, high].map((value) => this.#write(value));
    this.#svg.setAttribute(
      "aria-label",
      `${what} by ${this.#player}: ${ends.join(" at the start, ")} at the end, minimum ${range.join(", maximum ")}`,
    );
    const points = this.#points.map((point, i) => `${this.#x(point.turn)},${y(heights[i]).toFixed(1)}`);
    this.#line.setAttribute("points", points.join(" "));
    this.words.textContent = `${what} by ${this.#player}, from ${range.join(" to ")}; ${this.#points.length} of ${this.#nMoves + 1} boards.`;
    this.body.replaceChildren(this.#svg, this.#worst());
    this.mark(this.#at);
  }

  /** The moves with the largest losses, of those that were evaluated. */
  #worst() {
    const bad = this.#points
      .filter(({ grade }) => ["inaccuracy", "mistake", "blunder"].includes(grade))
      .sort((a, b) => b.loss - a.loss)
      .slice(0, WORST);
    const { nameOf } = this.#actions;
    if (!bad.length) return h("p.quiet.small", {}, "No bad moves among these boards.");
    return h(
      "div.spawns",
      {},
      h("p.quiet.small", {}, "Worst moves: select one to see the better move as an arrow."),
      bad.map(({ turn, grade, best, made, loss }) =>
        h(
          "button.spawn.worse",
          { type: "button", onclick: () => this.#actions.look(turn, best) },
          h("b", {}, number(turn + 1)),
          h("span", {}, `${made === null ? "" : capital(nameOf(made))}; ${nameOf(best)} is better by ${this.#write(loss)}`),
          h("span.small.bad", {}, grade),
        ),
      ),
    );
  }

  /**
   * Show the position of the replay.
   * @param {number} at
   */
  mark(at) {
    this.#at = at;
    for (const name of ["x1", "x2"]) this.#cursor.setAttribute(name, this.#x(at));
  }

  close() {
    this.#abort.abort();
  }
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number>} attributes
 */
function svg(name, attributes) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/**
 * The ends of a list, then every eighth item, then those between.
 * @param {number[]} list
 */
function interleave(list) {
  const found = [list[0], list[list.length - 1]];
  for (let from = 0; from < 8; from += 1) for (let i = from; i < list.length; i += 8) found.push(list[i]);
  return [...new Set(found)];
}
