// The review of a game: the board, the graph of luck and skill, every move with its grade, and what if.

import { address, post } from "../api.js";
import "../board.js";
import { attempt, button, commandLine, h, missing, say, toast } from "../dom.js";
import { MoveNote } from "../movenote.js";
import { labelOf } from "../players.js";
import { pref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { meaning, seeking } from "../pure/keys.js";
import { sayTurn } from "../pure/words.js";
import { BY_LETTER } from "../review/grades.js";
import { ReviewGraph } from "../review/graph.js";
import { importDrops, importPage } from "../review/import.js";
import { Line } from "../review/line.js";
import { ReviewMoves } from "../review/moves.js";
import { Position } from "../review/position.js";
import { ReviewProgress } from "../review/progress.js";
import { loadReplay } from "../review/replay.js";
import { summary } from "../review/summary.js";
import { lastWords, nextWords } from "../review/words.js";
import { rulesWords } from "../ruleswords.js";
import { speedControl } from "../speed.js";
import { t, tn, told } from "../text.js";

/** @typedef {import("../review/grades.js").Grade} Grade */

/** @type {PageModule["open"]} */
export async function open(main, { rest, query, isHere }) {
  if (!rest[0]) return importPage(main);
  const replay = await loadReplay(rest[0], isHere);
  if (!isHere()) return; // another page has been opened meanwhile
  if (replay) return new Review(main, replay, Number(query.turn) || 0);
  main.append(
    h("h1", {}, t("Review")),
    missing(t("There is no game {id}.", { id: rest[0].slice(0, 40) }), ["#/games", t("All games")], ["#/play", t("Play")]),
  );
}

class Review {
  #endDrops;
  #turns;
  #at = 0;
  #timer = 0;
  /** @type {Api.ReviewData | null} */
  #review = null;
  #branch = ""; // moves of "what if", as letters
  #hints = "best"; // which arrows: off, best

  /**
   * @param {HTMLElement} main
   * @param {Api.ReplayData} replay
   * @param {number} at the number of moves made
   */
  constructor(main, { state, shape, first, turns, command }, at) {
    this.state = state;
    this.shape = shape;
    this.#turns = turns;
    this.line = new Line(shape, first, turns);
    this.board = h("lab-board", { quiet: true, tabIndex: 0 });
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: turns.length,
      step: 1,
      "aria-label": t("Move"),
      oninput: ({ currentTarget }) => this.seek(Number(currentTarget.value)),
    });
    this.facts = h("p.facts");
    this.words = h("p.quiet.small");
    this.note = new MoveNote();
    this.graph = new ReviewGraph((to) => this.seek(to));
    this.moves = new ReviewMoves(turns, shape.moves, (to) => this.seek(to));
    this.position = new Position(state.id, shape, {
      tryMove: (move) => this.tryMove(move),
      back: () => this.setBranch(this.#branch.slice(0, -1)),
      leave: () => this.setBranch(""),
      playOn: () => this.playOn(null),
      onfound: (found) => this.onPosition(found),
    });
    this.playWords = h("span", {}, t("Play"));
    this.speed = speedControl(() => this.#timer && this.play(true));
    this.command = commandLine(command);
    this.progress = new ReviewProgress(state.id, {
      onreview: (review, words) => {
        this.#review = review;
        this.draw(review);
        this.command.replaceWith((this.command = commandLine(words)));
      },
      onstate: (isDone) => {
        for (const link of this.exports) link.hidden = !isDone;
      },
    });
    this.panels = h("div.review-panels");
    /** @param {"json" | "html"} kind */
    const exported = (kind) =>
      h("a.button.slim", { href: address(`/api/games/{game}/review.${kind}`, { path: { game: state.id } }), download: `review-${state.id}.${kind}`, hidden: true }, kind === "html" ? t("Review as a file") : t("Review as JSON"));
    this.exports = [
      exported("html"),
      exported("json"),
      button(t("Make puzzles"), (event) => this.makePuzzles(event.currentTarget), { slim: true, hidden: true }),
    ];
    /**
     * @param {string} text
     * @param {number} by seek() stops at the ends, so infinite steps are fine
     * @param {string} label
     */
    const jump = (text, by, label) => button(text, () => this.step(by), { "aria-label": label });
    main.append(
      h("h1", {}, t("Game {id}", { id: String(state.id) })),
      h(
        "div.two.review",
        {},
        h(
          "div.left-col",
          {},
          this.board,
          this.facts,
          this.position.head,
          this.bands(),
          this.slider,
          h(
            "div.bar",
            {},
            jump("«", -Infinity, t("First move")),
            jump("‹", -1, t("One move back")),
            button(this.playWords, () => this.play(!this.#timer), { main: true }),
            jump("›", 1, t("One move forward")),
            jump("»", Infinity, t("Last move")),
          ),
          h("section.panel", {}, h("h2", {}, t("Value, luck and skill")), this.progress.element, this.graph.element, this.progress.status),
          this.position.element,
        ),
        h(
          "aside",
          { "aria-label": t("About the game") },
          this.panels,
          this.moves.element,
          h("section.panel", {}, h("h2", {}, t("Last move")), this.words),
          this.note.element,
          h(
            "section.panel",
            {},
            h("h2", {}, t("Game")),
            h("p", {}, rulesWords(state.rules)),
            h(
              "p.quiet.small",
              {},
              `${state.is_from_seed ? t("seed {seed}", { seed: String(state.seed) }) : t("recorded tiles")}, ${t("score {score}", { score: state.score })}, ${t("highest tile {tile}", { tile: String(state.highest) })}, ${tn(state.n_moves, "{n} move", "{n} moves")}: ${[...new Set(state.movers.map(([, who]) => labelOf(who)))].join(", ")}`,
            ),
            this.speed.element,
            h(
              "div.row",
              {},
              button(t("Continue from here"), (event) => this.playOn(event.currentTarget)),
              h("a.button.slim", { href: address("/api/games/{game}/export", { path: { game: state.id } }), download: `game-${state.id}.jsonl` }, t("Export game")),
              ...this.exports,
              state.is_from_seed ? h("a.button.slim", { href: writeAddress("race", [String(state.id)]) }, t("Race it")) : null,
              h("a.button.slim", { href: "#/review" }, t("Import another")),
            ),
          ),
          h("section.panel.commands", {}, this.command),
        ),
      ),
    );
    this.#endDrops = importDrops(main);
    this.board.shape = shape;
    this.show(Math.min(Math.max(at, 0), turns.length));
    if (turns.length) this.progress.begin();
    else this.progress.disable();
  }

  bands() {
    const bands = h("div.bands", { "aria-hidden": "true" });
    this.state.movers.forEach(([from, who], i) => {
      const to = this.state.movers[i + 1]?.[0] ?? this.#turns.length + 1;
      const band = h(who === "human" ? "i" : "i.ai", { title: who });
      band.style.flexGrow = String(to - from);
      bands.append(band);
    });
    return bands;
  }

  /** @param {Api.ReviewData} review */
  draw(review) {
    this.graph.draw(review, this.line.scores);
    this.moves.show(review);
    this.panels.replaceChildren(
      ...summary(review, {
        turns: this.#turns,
        nameOf: (move) => told(this.shape.moves[move].name),
        placeOf: (cell) => this.board.placeOf(cell),
        seek: (to) => this.seek(to),
        next: (grade) => this.next(grade, 1),
      }),
    );
    this.show(this.#at);
  }

  /**
   * Go to the next or previous move of a grade.
   * @param {Grade} grade
   * @param {1 | -1} by
   */
  next(grade, by) {
    const letters = this.#review?.grade_letters ?? "";
    for (let i = this.#at + by; i >= 0 && i < letters.length; i += by)
      if (BY_LETTER[letters[i]] === grade) {
        this.seek(i);
        return;
      }
    if (by > 0 && this.#at > 0 && letters.length) {
      const first = [...letters].findIndex((letter) => BY_LETTER[letter] === grade);
      if (first >= 0 && first < this.#at) this.seek(first);
    }
  }

  /** @param {number} by */
  step(by) {
    if (this.#branch) this.setBranch(by < 0 ? this.#branch.slice(0, -1) : this.#branch);
    else this.seek(this.#at + by);
  }

  /** @param {number} at */
  seek(at) {
    const to = Math.max(0, Math.min(this.#turns.length, at));
    if (to === this.#at && !this.#branch) return;
    const isNext = to === this.#at + 1 && !this.#branch;
    this.#branch = "";
    const before = this.board.ranks;
    if (isNext) {
      const next = this.#turns[to - 1];
      this.board.slide(next.move);
      this.board.spawn(next.cell, next.rank);
      this.show(to, { isDrawn: true });
      if (!this.#timer)
        say(
          sayTurn(
            told(this.shape.moves[next.move].name),
            before,
            this.shape.lines[next.move],
            next,
            (cell) => this.board.placeOf(cell),
            this.shape.free_rank,
          ),
        );
    } else {
      this.show(to);
      say(t("Move {n}", { n: to }));
    }
  }

  /**
   * @param {number} at
   * @param {{ isDrawn?: boolean }} [options]
   */
  show(at, { isDrawn = false } = {}) {
    this.#at = at;
    const last = this.#turns[at - 1];
    if (!isDrawn) this.board.show(this.line.boardAt(at), last?.cell ?? -1);
    this.pointOut(this.#review?.best[at] ?? null);
    this.slider.value = String(at);
    this.graph.mark(at);
    this.moves.mark(at);
    const grade = BY_LETTER[this.#review?.grade_letters[at] ?? ""];
    this.position.show(at, "", nextWords(this.shape, this.#turns[at], at, this.#review), { made: this.#turns[at]?.move, grade });
    this.slider.setAttribute("aria-valuetext", t("move {at} of {n}", { at, n: this.#turns.length }));
    this.facts.textContent = tn(
      this.#turns.length,
      "{at} of {n} move · score {score}",
      "{at} of {n} moves · score {score}",
      { at, score: this.line.scores[at] },
    );
    this.words.textContent = lastWords(this.shape, last, (cell) => this.board.placeOf(cell));
    this.note.show(this.state.id, at, last?.mover ?? "");
    if (!this.#timer) history.replaceState(null, "", `#${writeAddress("review", [String(this.state.id)], at ? { turn: at } : {}).replace(/^#/, "")}`);
    if (at === this.#turns.length) this.play(false);
  }

  /** @param {number | null} best */
  pointOut(best) {
    this.board.point(this.#hints === "off" ? null : best);
  }

  /** @param {Api.PositionData} found */
  onPosition(found) {
    this.pointOut(found.values[0]?.move ?? null);
    if (!this.#branch) return;
    const last = found.turns[found.turns.length - 1];
    this.board.show(found.ranks, last?.cell ?? -1);
    this.facts.textContent = tn(
      this.#branch.length,
      "What if: {n} other move · score {score}",
      "What if: {n} other moves · score {score}",
      { score: found.score },
    );
  }

  /**
   * Make another move than the game did; the same move as in the game just goes on.
   * @param {number} move
   */
  tryMove(move) {
    if (!this.#branch && this.#turns[this.#at]?.move === move) {
      this.seek(this.#at + 1);
      return;
    }
    const found = this.position.found;
    if (found && !found.values.some((each) => each.move === move)) return; // illegal
    if (!found) return; // the position is not known yet
    this.setBranch(this.#branch + this.shape.moves[move].letter);
  }

  /** @param {string} branch */
  setBranch(branch) {
    this.play(false);
    this.#branch = branch;
    if (!branch) this.show(this.#at);
    else this.position.show(this.#at, branch, t("Other moves than in the game."));
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
    this.playWords.textContent = this.#timer ? t("Pause") : t("Play");
  }

  /**
   * Start a game of its own from what is shown.
   * @param {HTMLElement | null} control
   */
  async playOn(control) {
    const [at, moves] = [this.#at, this.#branch];
    const made = await attempt(async () => {
      const game = await post("/api/games/{game}/fork", { path: { game: this.state.id }, body: { at } });
      if (moves) await post("/api/games/{game}/moves", { path: { game: game.state.id }, body: { moves, mover: "human", rev: null } });
      return game;
    }, control);
    if (made) location.hash = writeAddress("play", [], { game: made.state.id });
  }

  /** @param {HTMLElement} control */
  async makePuzzles(control) {
    const made = await attempt(() => post("/api/games/{game}/puzzles", { path: { game: this.state.id } }), control);
    if (made)
      toast(t("{found} puzzles found, {new} of them new", { found: made.found, new: made.new }), t("Solve them"), () => (location.hash = "#/puzzles"));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const key = event.key.toLowerCase();
    /** @type {Record<string, Grade>} */
    const faults = { b: "blunder", m: "mistake", i: "inaccuracy" };
    if (!event.ctrlKey && !event.metaKey && !event.altKey) {
      if (key in faults) {
        this.next(faults[key], event.shiftKey ? -1 : 1);
        return true;
      }
      if (key === "t") {
        this.#hints = this.#hints === "off" ? "best" : "off";
        this.pointOut(this.position.found?.values[0]?.move ?? this.#review?.best[this.#at] ?? null);
        return true;
      }
      if (key === "escape" && this.#branch) {
        this.setBranch("");
        return true;
      }
    }
    const wish = seeking(event);
    if (wish) {
      if (wish.seek) this.step(wish.seek);
      else if (wish.to) this.seek(wish.to === "start" ? 0 : this.#turns.length);
      else if (wish.command === "best") {
        const best = this.position.found?.values[0]?.move;
        if (best !== undefined) this.tryMove(best);
      } else if (wish.command === "auto") this.play(!this.#timer);
      else if (wish.command === "slower") this.speed.shift(-1);
      else if (wish.command === "faster") this.speed.shift(1);
      return true;
    }
    const wanted = meaning(event, this.shape.moves);
    if (wanted?.move === undefined) return false;
    this.tryMove(wanted.move);
    return true;
  }

  close() {
    clearInterval(this.#timer);
    this.#endDrops();
    this.progress.close();
    this.position.close();
    this.note.clear();
  }
}
