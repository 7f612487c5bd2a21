// A kept game, replayed: a slider over its moves, and a way on from any of them.

import { get, post } from "../api.js";
import "../board.js";
import { attempt, button, commandLine, complain, h, missing, say } from "../dom.js";
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

const EVERY = 64; // boards that are kept, so that any other is few turns away
const AT_ONCE = 20000; // turns an answer holds at most

export async function open(main, { rest, query, isHere }) {
  const page = new Review();
  await page.build(main, rest[0], Number(query.turn ?? 0), isHere);
  return page;
}

class Review {
  #turns = [];
  #kept = [];
  #scores = [0];
  #at = 0;
  #timer = 0;

  async build(main, id, at, isHere) {
    const first = await this.ask(id);
    if (!isHere()) return;
    if (!first)
      return void main.append(
        h("h1", {}, "Replay"),
        missing(
          id ? `There is no game ${id.slice(0, 40)}.` : "Which game?",
          ["#/games", "All games"],
          ["#/play", "Play"],
        ),
      );
    this.state = first.state;
    this.shape = first.shape;
    this.#turns = first.turns;
    while (this.#turns.length < this.state.n_moves) {
      const next = await attempt(() =>
        get(`/api/games/${id}/replay?first=${this.#turns.length + 1}&last=${this.#turns.length + AT_ONCE}`),
      );
      if (!next?.turns.length) break;
      this.#turns = this.#turns.concat(next.turns);
    }
    if (!isHere()) return; // another page has been opened meanwhile
    this.index(first.first);
    this.board = h("lab-board", { quiet: true, tabIndex: 0 });
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: this.#turns.length,
      step: 1,
      "aria-label": "Move",
      oninput: () => this.seek(Number(this.slider.value)),
    });
    this.facts = h("p.facts");
    this.words = h("p.quiet.small");
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
    const jump = (text, by, label) =>
      button(text, () => this.seek(by === null ? 0 : by === Infinity ? this.#turns.length : this.#at + by), {
        "aria-label": label,
      });
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
            jump("«", null, "First move"),
            jump("‹", -1, "One move back"),
            button(this.playWords, () => this.play(!this.#timer), { main: true }),
            jump("›", 1, "One move on"),
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
          this.graph.element,
          h("section.panel", {}, h("h2", {}, "Milestones"), this.milestones()),
          h(
            "section.panel",
            {},
            h("h2", {}, "Go on"),
            h(
              "div.row",
              {},
              button("Continue from here", (event) => this.fork(event.currentTarget), { main: true }),
              h(
                "a.button",
                { href: `/api/games/${this.state.id}/export`, download: `game-${this.state.id}.jsonl` },
                "Export",
              ),
            ),
          ),
          h("section.panel.commands", {}, commandLine(first.command)),
        ),
      ),
    );
    this.board.shape = this.shape;
    this.show(Math.min(Math.max(at, 0), this.#turns.length));
  }

  /** The first turns of a game; nothing if there is no such game. */
  async ask(id) {
    if (!/^[1-9]\d{0,17}$/.test(id ?? "")) return null;
    try {
      return await get(`/api/games/${id}/replay?first=1&last=${AT_ONCE}`);
    } catch (error) {
      if (error.status !== 404) complain(error);
      return null;
    }
  }

  index(first) {
    this.#kept = [first];
    let ranks = first;
    let highest = Math.max(...first);
    this.marks = [];
    this.#turns.forEach((each, i) => {
      ranks = turn(ranks, this.shape.lines[each.move], each);
      this.#scores.push(this.#scores[i] + each.reward);
      if ((i + 1) % EVERY === 0) this.#kept.push(ranks);
      const most = Math.max(...ranks);
      if (most > highest) {
        highest = most;
        this.marks.push([i + 1, most]);
      }
    });
  }

  milestones() {
    const late = this.marks.slice(-10);
    if (!late.length) return h("p.quiet.small", {}, "None.");
    return h(
      "div.row",
      {},
      late.map(([at, rank]) => button(`${tile(rank)}`, () => this.seek(at), { slim: true, title: `move ${at}` })),
    );
  }

  boardAt(at) {
    const base = Math.floor(at / EVERY);
    let ranks = this.#kept[base];
    for (let i = base * EVERY; i < at; i += 1)
      ranks = turn(ranks, this.shape.lines[this.#turns[i].move], this.#turns[i]);
    return ranks;
  }

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
    if (at === this.#turns.length) this.play(false);
  }

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

  async fork(control) {
    const made = await attempt(() => post(`/api/games/${this.state.id}/fork`, { at: this.#at }), control);
    if (made) location.hash = writeAddress("play", [], { game: made.state.id });
  }

  onKey(event) {
    const wish = seeking(event);
    if (!wish || !this.board) return false;
    if (wish.seek) this.seek(this.#at + wish.seek);
    else if (wish.to) this.seek(wish.to === "start" ? 0 : this.#turns.length);
    else if (wish.command === "auto") this.play(!this.#timer);
    else if (wish.command === "slower") this.speed.shift(-1);
    else if (wish.command === "faster") this.speed.shift(1);
    return true;
  }

  close() {
    clearInterval(this.#timer);
    this.graph?.close();
  }
}
