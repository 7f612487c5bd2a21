// The review of a game: the board, the graph of luck and skill, every move with its grade, and what if.

import { address, codeOf, get, post, remove, statusOf } from "../api.js";
import "../board.js";
import { attempt, button, commandLine, complain, field, h, missing, say, toast } from "../dom.js";
import { MoveNote } from "../movenote.js";
import { labelOf } from "../players.js";
import { pref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { number } from "../pure/format.js";
import { meaning, seeking } from "../pure/keys.js";
import { tile } from "../pure/slide.js";
import { capital, sayTurn } from "../pure/words.js";
import { BY_LETTER, SIGNS, WORDS, amount } from "../review/grades.js";
import { ReviewGraph } from "../review/graph.js";
import { Line } from "../review/line.js";
import { ReviewMoves } from "../review/moves.js";
import { NO_REVIEWER, Position } from "../review/position.js";
import { summary } from "../review/summary.js";
import { rulesWords } from "../ruleswords.js";
import { speedControl } from "../speed.js";
import { retryUntilReady } from "../stream.js";
import { t, tn, told } from "../text.js";

const AT_ONCE = 20000; // turns per request, the most that the server sends
const EVERY = 400; // ms between questions how far a review is

/** @typedef {import("../review/grades.js").Grade} Grade */

/** @type {PageModule["open"]} */
export async function open(main, { rest, query, isHere }) {
  if (!rest[0]) return importPage(main);
  const replay = await load(rest[0], isHere);
  if (!isHere()) return; // another page has been opened meanwhile
  if (replay) return new Review(main, replay, Number(query.turn) || 0);
  main.append(
    h("h1", {}, t("Review")),
    missing(t("There is no game {id}.", { id: rest[0].slice(0, 40) }), ["#/games", t("All games")], ["#/play", t("Play")]),
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
    if (statusOf(error) !== 404) throw error;
    return null;
  }
}

/**
 * Import a game and open its review.
 * @param {string | Blob} body
 */
async function importGame(body) {
  const answer = await attempt(() => post("/api/games/import", { body: /** @type {string} */ (body) }));
  if (!answer) return;
  const [first] = answer.ids;
  if (first) location.hash = writeAddress("review", [String(first)]);
  else toast(t("Refused: {reason}", { reason: answer.errors[0] ?? "" }));
}

/**
 * Take files that are dropped on an element.
 * @param {HTMLElement} element
 */
function takeDrops(element) {
  element.addEventListener("dragover", (event) => event.preventDefault());
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    const text = event.dataTransfer?.getData("text/plain");
    if (file || text) importGame(file ?? text ?? "");
  });
}

/** @param {HTMLElement} main */
function importPage(main) {
  const text = h("textarea", { name: "replay", rows: 5, spellcheck: false });
  const file = h("input", {
    type: "file",
    hidden: true,
    onchange: ({ currentTarget }) => {
      if (currentTarget.files?.[0]) importGame(currentTarget.files[0]);
    },
  });
  main.append(
    h("h1", {}, t("Review")),
    h(
      "section.panel.stack",
      {},
      h("p", {}, t("Choose one of your games, or bring one from elsewhere: a replay of 2048verse, 2048next, 2048league or 2048EndgameTablebase, or a line that Export wrote. Paste it, drop it here, or choose a file.")),
      field(t("Paste it here"), text),
      h(
        "div.row",
        {},
        button(t("Review"), (event) => (text.value.trim() ? attempt(() => importGame(text.value), event.currentTarget) : text.focus()), { main: true }),
        button(t("From a file"), () => file.click()),
        h("a.button", { href: "#/games" }, t("All games")),
        file,
      ),
    ),
  );
  takeDrops(main);
  return undefined;
}

class Review {
  #turns;
  #at = 0;
  #timer = 0;
  #asking = 0;
  /** @type {Api.ReviewData | null} */
  #review = null;
  #version = "";
  #branch = ""; // moves of "what if", as letters
  #hints = "best"; // which arrows: off, best
  #isClosed = false;

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
    this.progress = h("progress", { hidden: true, "aria-label": t("Review") });
    this.status = h("p.quiet.small.told", { role: "status" });
    this.button = button(t("Review game"), () => this.begin(), { slim: true, disabled: !turns.length });
    this.stop = button(t("Stop"), () => this.stopReview(), { slim: true, hidden: true });
    this.panels = h("div.review-panels");
    this.command = commandLine(command);
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
          h("section.panel", {}, h("h2", {}, t("Value, luck and skill")), h("div.row", {}, this.button, this.stop, this.progress), this.graph.element, this.status),
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
    takeDrops(main);
    this.board.shape = shape;
    this.show(Math.min(Math.max(at, 0), turns.length));
    if (turns.length) this.begin();
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

  /** Start the review, or continue it: the server keeps what it has. */
  async begin() {
    this.button.hidden = true;
    try {
      this.progressed(await retryUntilReady({}, () => post("/api/games/{game}/review", { path: { game: this.state.id }, body: { reviewer: "" } })));
    } catch (error) {
      if (this.#isClosed) return;
      if (codeOf(error) === NO_REVIEWER) {
        const link = (/** @type {string} */ href, /** @type {string} */ text) => h("a.button.slim", { href }, text);
        const links = h("span.row", {}, link("#/train", t("Train")), link("#/solve", t("Solve")));
        this.status.replaceChildren(t("This board has no reviewer yet: train a network for it, or solve it."), links);
        return;
      }
      this.button.hidden = false;
      complain(error);
    }
  }

  async stopReview() {
    clearTimeout(this.#asking);
    const found = await attempt(() => remove("/api/games/{game}/review", { path: { game: this.state.id } }));
    if (found) this.progressed(found);
  }

  async ask() {
    try {
      this.progressed(await get("/api/games/{game}/review", { path: { game: this.state.id }, query: { known: this.#version } }));
    } catch (error) {
      if (!this.#isClosed) complain(error);
    }
  }

  /** @param {Api.ReviewState} found */
  progressed(found) {
    if (this.#isClosed) return;
    const { state, n_done: nDone, n_moves: nMoves, review, error, version, command } = found;
    const isRunning = state === "running";
    this.button.hidden = isRunning || state === "done";
    this.button.textContent = nDone ? t("Continue the review") : t("Review game");
    this.stop.hidden = this.progress.hidden = !isRunning;
    this.progress.max = Math.max(1, nMoves);
    this.progress.value = nDone;
    this.#version = version;
    for (const link of this.exports) link.hidden = state !== "done";
    if (review) {
      this.#review = review;
      this.draw(review);
      this.command.replaceWith((this.command = commandLine(command)));
    }
    if (isRunning) {
      this.status.textContent = t("{done} of {all} moves", { done: nDone, all: nMoves });
      this.#asking = setTimeout(() => this.ask(), EVERY);
    } else if (error) this.status.textContent = error;
    else
      this.status.textContent =
        state === "done" && this.#review
          ? t("Every move is reviewed by {reviewer}. Drift says how far it is to be believed.", { reviewer: labelOf(found.reviewer) })
          : "";
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
        say(sayTurn(told(this.shape.moves[next.move].name), before, this.shape.lines[next.move], next, (cell) => this.board.placeOf(cell)));
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
    this.position.show(at, "", this.nextWords(at), { made: this.#turns[at]?.move, grade });
    this.slider.setAttribute("aria-valuetext", t("move {at} of {n}", { at, n: this.#turns.length }));
    this.facts.textContent = tn(
      this.#turns.length,
      "{at} of {n} move · score {score}",
      "{at} of {n} moves · score {score}",
      { at, score: this.line.scores[at] },
    );
    this.words.textContent = last
      ? t("{move} by {player}, plus {reward}; then a {tile} at {place}.", {
          move: capital(told(this.shape.moves[last.move].name)),
          player: last.mover === "human" ? t("me") : labelOf(last.mover),
          reward: last.reward,
          tile: tile(last.rank),
          place: this.board.placeOf(last.cell),
        })
      : t("The first board.");
    this.note.show(this.state.id, at, last?.mover ?? "");
    if (!this.#timer) history.replaceState(null, "", `#${writeAddress("review", [String(this.state.id)], at ? { turn: at } : {}).replace(/^#/, "")}`);
    if (at === this.#turns.length) this.play(false);
  }

  /**
   * What was played here, and how good it was.
   * @param {number} at
   */
  nextWords(at) {
    const next = this.#turns[at];
    if (!next) return t("The last board.");
    const review = this.#review;
    const made = `${number(at + 1)} ${capital(told(this.shape.moves[next.move].name))}`;
    if (!review || at >= review.grade_letters.length) return t("Next: {move}", { move: made });
    const grade = BY_LETTER[review.grade_letters[at]];
    if (grade === "best") return t("Next: {move}, the best move", { move: made });
    if (grade === "unclear") return t("Next: {move}, unclear: a second look does not confirm a loss", { move: made });
    return t("Next: {move}{sign}, {grade}: it loses {loss}; {best} is better", {
      move: made,
      sign: SIGNS[grade],
      grade: WORDS[grade],
      loss: amount(review.losses[at], review.unit),
      best: told(this.shape.moves[review.best[at]].name),
    });
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
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#asking);
    this.position.close();
    this.note.clear();
  }
}
