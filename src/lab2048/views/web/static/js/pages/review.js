// Replay of a recorded game: a slider over its moves, and new games from any of them.

import { address, get, post, statusOf } from "../api.js";
import "../board.js";
import { attempt, button, commandLine, complain, h, missing, say } from "../dom.js";
import { MoveNote } from "../movenote.js";
import { labelOf } from "../players.js";
import { pref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { count, number } from "../pure/format.js";
import { seeking } from "../pure/keys.js";
import { tile, turn } from "../pure/slide.js";
import { capital, sayTurn } from "../pure/words.js";
import { rulesWords } from "../rulesform.js";
import { speedControl } from "../speed.js";
import { ValueGraph } from "../valuegraph.js";

const EVERY = 64; // every so many boards are kept, so that any other is only a few turns away
const AT_ONCE = 20000; // turns per request, the most that the server sends

/** @type {PageModule["open"]} */
export async function open(main, { rest, query, isHere }) {
  const replay = await load(rest[0] ?? "", isHere);
  if (!isHere()) return; // another page has been opened meanwhile
  if (replay) return new Review(main, replay, Number(query.turn ?? 0));
  main.append(
    h("h1", {}, "Replay"),
    missing(
      rest[0] ? `There is no game ${rest[0].slice(0, 40)}.` : "Which game?",
      ["#/games", "All games"],
      ["#/play", "Play"],
    ),
  );
}

/**
 * Load all turns of a game; null if there is no such game.
 * @param {string} id
 * @param {() => boolean} isHere
 */
async function load(id, isHere) {
  if (!/^[1-9]\d{0,17}$/.test(id)) return null;
  const ask = (/** @type {number} */ first) =>
    get("/api/games/{game}/replay", { path: { game: Number(id) }, query: { first, last: first + AT_ONCE - 1 } });
  try {
    const replay = await ask(1);
    while (isHere() && replay.turns.length < replay.state.n_moves) {
      const { turns } = await ask(replay.turns.length + 1);
      if (!turns.length) break;
      replay.turns = replay.turns.concat(turns);
    }
    return replay;
  } catch (error) {
    if (statusOf(error) !== 404) complain(error);
    return null;
  }
}

class Review {
  #turns;
  /** @type {number[][]} */
  #kept = []; // boards after every EVERY turns
  #scores = [0]; // after each turn
  /** @type {[turn: number, rank: number][]} */
  #milestones = []; // when each new highest tile was made
  #at = 0;
  #timer = 0;

  /**
   * @param {HTMLElement} main
   * @param {Api.ReplayData} replay
   * @param {number} at the turn to show
   */
  constructor(main, { state, shape, first, turns, command }, at) {
    this.state = state;
    this.shape = shape;
    this.#turns = turns;
    this.#index(first);
    this.board = h("lab-board", { quiet: true, tabIndex: 0 });
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: this.#turns.length,
      step: 1,
      "aria-label": "Move",
      oninput: ({ currentTarget }) => this.seek(Number(currentTarget.value)),
    });
    this.facts = h("p.facts");
    this.words = h("p.quiet.small");
    this.note = new MoveNote();
    this.graph = new ValueGraph(this.state, {
      seek: (to) => this.seek(to),
      look: (to, best) => {
        this.seek(to);
        this.board.point(best);
      },
      nameOf: (move) => this.shape.moves[move].name,
    });
    this.playWords = h("span", {}, "Play");
    this.speed = speedControl(() => this.#timer && this.play(true));
    const bands = h("div.bands", { "aria-hidden": "true" });
    this.state.movers.forEach(([from, who], i) => {
      const to = this.state.movers[i + 1]?.[0] ?? this.#turns.length + 1;
      const band = h(who === "human" ? "i" : "i.ai", { title: who });
      band.style.flexGrow = String(to - from);
      bands.append(band);
    });
    /**
     * @param {string} text
     * @param {number} by seek() stops at the ends, so infinite steps are fine
     * @param {string} label
     */
    const jump = (text, by, label) => button(text, () => this.seek(this.#at + by), { "aria-label": label });
    main.append(
      h("h1", {}, `Game ${this.state.id}`),
      h(
        "div.two",
        {},
        h(
          "div.left-col",
          {},
          this.board,
          this.facts,
          bands,
          this.slider,
          h(
            "div.bar",
            {},
            jump("«", -Infinity, "First move"),
            jump("‹", -1, "One move back"),
            button(this.playWords, () => this.play(!this.#timer), { main: true }),
            jump("›", 1, "One move forward"),
            jump("»", Infinity, "Last move"),
          ),
        ),
        h(
          "aside",
          { "aria-label": "About the game" },
          h(
            "section.panel",
            {},
            h("h2", {}, "Game"),
            h("p", {}, rulesWords(this.state.rules)),
            h(
              "p.quiet.small",
              {},
              `seed ${this.state.seed}, score ${number(this.state.score)}, highest tile ${this.state.highest}, ${count(this.state.n_moves, "move")} by ${[...new Set(this.state.movers.map(([, who]) => labelOf(who)))].join(", ").replace("Me", "me") || "nobody"}`,
            ),
            this.speed.element,
          ),
          h("section.panel", {}, h("h2", {}, "This move"), this.words),
          this.note.element,
          this.graph.element,
          h("section.panel", {}, h("h2", {}, "Milestones"), this.milestones()),
          h(
            "section.panel",
            {},
            h("h2", {}, "Continue"),
            h(
              "div.row",
              {},
              button("Continue from here", (event) => this.fork(event.currentTarget), { main: true }),
              h(
                "a.button",
                { href: address("/api/games/{game}/export", { path: { game: state.id } }), download: `game-${this.state.id}.jsonl` },
                "Export",
              ),
            ),
          ),
          h("section.panel.commands", {}, commandLine(command)),
        ),
      ),
    );
    this.board.shape = this.shape;
    this.show(Math.min(Math.max(at, 0), this.#turns.length));
  }

  /** @param {number[]} first the ranks of the start board */
  #index(first) {
    this.#kept = [first];
    let ranks = first;
    let highest = Math.max(...first);
    this.#turns.forEach((each, i) => {
      ranks = turn(ranks, this.shape.lines[each.move], each);
      this.#scores.push(this.#scores[i] + each.reward);
      if ((i + 1) % EVERY === 0) this.#kept.push(ranks);
      const most = Math.max(...ranks);
      if (most > highest) {
        highest = most;
        this.#milestones.push([i + 1, most]);
      }
    });
  }

  milestones() {
    const late = this.#milestones.slice(-10);
    if (!late.length) return h("p.quiet.small", {}, "None.");
    return h(
      "div.row",
      {},
      late.map(([at, rank]) => button(`${tile(rank)}`, () => this.seek(at), { slim: true, title: `move ${at}` })),
    );
  }

  /** @param {number} at */
  boardAt(at) {
    const base = Math.floor(at / EVERY);
    let ranks = this.#kept[base];
    for (let i = base * EVERY; i < at; i += 1)
      ranks = turn(ranks, this.shape.lines[this.#turns[i].move], this.#turns[i]);
    return ranks;
  }

  /** @param {number} at */
  seek(at) {
    const to = Math.max(0, Math.min(this.#turns.length, at));
    if (to === this.#at) return;
    const isNext = to === this.#at + 1;
    const before = this.board.ranks;
    if (isNext) {
      const next = this.#turns[to - 1];
      this.board.slide(next.move);
      this.board.spawn(next.cell, next.rank);
      this.show(to, { isDrawn: true });
      if (!this.#timer)
        say(
          sayTurn(this.shape.moves[next.move].name, before, this.shape.lines[next.move], next, (cell) =>
            this.board.placeOf(cell),
          ),
        );
    } else {
      this.show(to);
      say(`Move ${to}`);
    }
  }

  /**
   * @param {number} at
   * @param {{ isDrawn?: boolean }} [options]
   */
  show(at, { isDrawn = false } = {}) {
    this.#at = at;
    this.board.point(null);
    const last = this.#turns[at - 1];
    if (!isDrawn) this.board.show(this.boardAt(at), last?.cell ?? -1);
    this.slider.value = String(at);
    this.graph.mark(at);
    this.slider.setAttribute("aria-valuetext", `move ${at} of ${this.#turns.length}`);
    this.facts.textContent = `Move ${number(at)} of ${number(this.#turns.length)} · score ${number(this.#scores[at])}`;
    this.words.textContent = last
      ? `${capital(this.shape.moves[last.move].name)} by ${last.mover === "human" ? "me" : last.mover}, plus ${number(last.reward)}; then a ${tile(last.rank)} at ${this.board.placeOf(last.cell)}.`
      : "The first board.";
    this.note.show(this.state.id, at, last?.mover ?? "");
    if (at === this.#turns.length) this.play(false);
  }

  /** @param {boolean} isOn */
  play(isOn) {
    clearInterval(this.#timer);
    this.#timer = 0;
    if (isOn && this.#at >= this.#turns.length) this.show(0);
    if (isOn && this.#turns.length) {
      const speed = pref("speed");
      const [ms, by] = speed === 0 ? [16, 20] : [Math.max(16, 1000 / speed), 1];
      this.#timer = setInterval(() => this.seek(this.#at + by), ms);
    }
    this.playWords.textContent = this.#timer ? "Pause" : "Play";
  }

  /** @param {HTMLElement} control */
  async fork(control) {
    const request = { path: { game: this.state.id }, body: { at: this.#at } };
    const made = await attempt(() => post("/api/games/{game}/fork", request), control);
    if (made) location.hash = writeAddress("play", [], { game: made.state.id });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const wish = seeking(event);
    if (!wish) return false;
    if (wish.seek) this.seek(this.#at + wish.seek);
    else if (wish.to) this.seek(wish.to === "start" ? 0 : this.#turns.length);
    else if (wish.command === "auto") this.play(!this.#timer);
    else if (wish.command === "slower") this.speed.shift(-1);
    else if (wish.command === "faster") this.speed.shift(1);
    return true;
  }

  close() {
    clearInterval(this.#timer);
    this.graph.close();
    this.note.clear();
  }
}
