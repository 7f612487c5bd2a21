// A game that is open in this tab, and the requests about it.
//
// The server has the truth.  A key slides the tiles at once and sends the move; keys that come before the
// answer wait in a queue and are sent together, so none is lost.  If the answer differs from what was
// shown, the board shows the answer.

import { ApiError, get, messageOf, post, put, statusOf } from "./api.js";
import { Emitter } from "./emitter.js";
import { checkReady } from "./stream.js";

const MANY = 4; // from this many turns on, an answer is not animated turn by turn
const MOST_WAITING = 3; // moves of a player that wait for their frame; more would lag behind

/**
 * @typedef {{ kind: "moves", move: number } | { kind: "undo" | "redo", n: number } | { kind: "step", player: string | null }
 *   | { kind: "auto", player: string | null, speed: number, running: boolean }} Action
 * @typedef {{ turns: Api.TurnData[], kind: Api.ChangeData["kind"] | "deleted", before: number[] }} Change `before`: the ranks before the last turn
 * @typedef {{ move: number, before: number[] }} Slid a slide that is shown already
 */

/** @extends {Emitter<{ change: Change, failure: { error: unknown, action: Action }, conflict: string, blocked: number }>} */
export class Game extends Emitter {
  moves = ""; // letters, including those that were undone
  isDeleted = false; // from the store, by another tab or program; the game takes no more moves
  /** @type {Api.GameData | null} */
  #game = null;
  #board;
  /** @type {Action[]} */
  #queue = [];
  #isBusy = false;
  /** @type {Api.ChangeData | null} */
  #missed = null;
  /** @type {Api.ChangeData[]} */
  #waiting = []; // moves of a player, one for each of the next frames
  #hasFrame = false;

  /** @param {import("./board.js").LabBoard} board shows the game */
  constructor(board) {
    super();
    this.#board = board;
  }

  get isOpen() {
    return this.#game !== null;
  }

  get #opened() {
    if (!this.#game) throw new Error("no game is open");
    return this.#game;
  }

  get state() {
    return this.#opened.state;
  }

  get shape() {
    return this.#opened.shape;
  }

  /** The day whose board of the day it is, if it is one. */
  get day() {
    return this.#opened.day;
  }

  /** The command lines that do the same, by what they do. */
  get commands() {
    return this.#opened.commands;
  }

  get id() {
    return this.state.id;
  }

  get isRunning() {
    return Boolean(this.#game?.state.auto?.running);
  }

  /** Whether the game takes no more moves. */
  get isEnded() {
    return this.isDeleted || this.state.over;
  }

  /**
   * Show another game.
   * @param {Api.GameData} game
   */
  take(game) {
    this.#game = { ...game };
    this.isDeleted = false;
    this.moves = game.moves;
    this.#queue.length = 0;
    this.#waiting.length = 0;
    this.#missed = null;
    this.#board.shape = game.shape;
    this.#board.show(game.state.ranks);
    this.emit("change", { turns: [], kind: "open", before: game.state.ranks });
  }

  /** @param {number} id */
  async open(id) {
    this.take(await get("/api/games/{game}", { path: { game: id } }));
  }

  /**
   * @param {Api.RulesBody} rules
   * @param {number | null} [seed]
   */
  async create(rules, seed = null) {
    this.take(await post("/api/games", { body: { rules, seed, player: "human" } }));
  }

  /** @param {number} move */
  move(move) {
    this.#push({ kind: "moves", move });
  }

  undo(n = 1) {
    this.#push({ kind: "undo", n });
  }

  redo(n = 1) {
    this.#push({ kind: "redo", n });
  }

  /** @param {string | null} player */
  step(player) {
    this.#push({ kind: "step", player });
  }

  /**
   * @param {string | null} player
   * @param {number} speed
   * @param {boolean} running
   */
  auto(player, speed, running) {
    this.#push({ kind: "auto", player, speed, running });
  }

  /**
   * Take a change made by another tab or by autoplay.
   * @param {Api.ChangeData} change
   */
  receive(change) {
    if (!this.isOpen || change.state.id !== this.id || change.state.rev < this.state.rev) return;
    // A stream begins with the game as it is: where that is known already, no game has been opened.
    if (change.kind === "open" && change.state.rev === this.state.rev) change = { ...change, kind: "auto" };
    if (this.#isBusy) this.#missed = change;
    else if (change.turns.length && this.isRunning && !document.hidden) this.#wait(change);
    else {
      this.#catchUp();
      this.#apply(change, null);
    }
  }

  /**
   * Show a move in a frame of its own: two that arrive between two frames would be painted as one.
   * @param {Api.ChangeData} change
   */
  #wait(change) {
    this.#waiting.push(change);
    this.#catchUp(MOST_WAITING);
    if (this.#hasFrame) return;
    this.#hasFrame = true;
    requestAnimationFrame(() => this.#showWaiting());
  }

  #showWaiting() {
    const next = this.#waiting.shift();
    this.#hasFrame = Boolean(next);
    if (!next) return;
    this.#apply(next, null);
    requestAnimationFrame(() => this.#showWaiting());
  }

  /** Show the moves that wait, but the last `rest`. */
  #catchUp(rest = 0) {
    while (this.#waiting.length > rest) this.#apply(/** @type {Api.ChangeData} */ (this.#waiting.shift()), null);
  }

  /**
   * Note that the game was deleted; it stays on the screen.
   * @param {number} id
   */
  receiveDeleted(id) {
    if (!this.isOpen || id !== this.id || this.isDeleted) return;
    this.isDeleted = true;
    this.#queue.length = 0;
    this.#waiting.length = 0;
    this.#missed = null;
    this.#opened.state = { ...this.state, auto: null };
    this.#board.show(this.state.ranks);
    this.emit("change", { turns: [], kind: "deleted", before: this.state.ranks });
  }

  /** @param {Action} action */
  #push(action) {
    if (!this.isOpen || this.isDeleted) return;
    this.#catchUp();
    this.#queue.push(action);
    if (!this.#isBusy) this.#pump();
  }

  async #pump() {
    this.#isBusy = true;
    this.#board.toggleAttribute("data-busy", true);
    while (this.#queue.length) {
      const slid = this.#slideFirst();
      const action = this.#queue.shift();
      if (!action) break;
      try {
        await this.#send(action, slid);
      } catch (error) {
        this.#queue.length = 0;
        const newer = error instanceof ApiError && error.status === 409 ? error.body?.state : null;
        if (newer) {
          this.#apply({ state: newer, turns: [], kind: "open" }, null);
          this.emit("conflict", messageOf(error));
        } else if (statusOf(error) === 404) this.receiveDeleted(this.id);
        else {
          this.#board.show(this.state.ranks);
          this.emit("failure", { error, action });
        }
      }
    }
    this.#isBusy = false;
    this.#board.toggleAttribute("data-busy", false);
    // What came while an answer was awaited may be newer than the answer.
    const missed = this.#missed;
    this.#missed = null;
    if (missed && missed.state.rev > this.state.rev) this.receive(missed);
  }

  /** Slide the first legal move of the queue before the server answers; illegal ones before it are dropped. */
  #slideFirst() {
    for (let first = this.#queue[0]; first?.kind === "moves"; first = this.#queue[0]) {
      const { move } = first;
      const before = this.#board.ranks;
      if (this.#board.slide(move).changed) return { move, before };
      this.#queue.shift();
      this.emit("blocked", move);
    }
    return null;
  }

  /**
   * @param {Action} action
   * @param {Slid | null} slid
   */
  async #send(action, slid) {
    const path = { game: this.id };
    // Whoever takes over from a running player cannot know how far it is.
    const rev = this.isRunning ? null : this.state.rev;
    if (action.kind === "moves") {
      const moves = [action.move];
      for (let next = this.#queue[0]; next?.kind === "moves" && moves.length < 100; next = this.#queue[0]) {
        moves.push(next.move);
        this.#queue.shift();
      }
      const letters = moves.map((move) => this.shape.moves[move].letter).join("");
      const body = { moves: letters, rev, mover: "human" };
      this.#apply(await post("/api/games/{game}/moves", { path, body }), slid);
    } else if (action.kind === "auto") {
      const { player, speed, running } = action;
      if (running) await checkReady({ player });
      await this.autoplay(player, speed, running);
    } else if (action.kind === "step") {
      await checkReady({ player: action.player });
      this.#apply(await post("/api/games/{game}/step", { path, body: { player: action.player, rev } }), null);
    } else {
      this.#apply(await post(`/api/games/{game}/${action.kind}`, { path, body: { n: action.n, rev } }), null);
    }
  }

  /**
   * Let a player play, or pause it, at once.
   * @param {string | null} player
   * @param {number} speed
   * @param {boolean} running
   */
  async autoplay(player, speed, running) {
    const state = await put("/api/games/{game}/auto", { path: { game: this.id }, body: { player, speed, running } });
    // A quick player's moves may have arrived before this answer.
    if (state.rev >= this.state.rev) this.#apply({ state, turns: [], kind: "auto" }, null);
  }

  /**
   * @param {Api.ChangeData} change
   * @param {Slid | null} slid
   */
  #apply({ state, turns, kind }, slid) {
    if (state.id !== this.id) return; // another game has been opened meanwhile
    this.isDeleted = false; // or it has been restored
    const isNext = turns.length > 0 && state.n_moves === this.state.n_moves + turns.length;
    let before = slid?.before ?? this.#board.ranks;
    if (isNext && turns.length < MANY) {
      turns.forEach((turn, i) => {
        if (i > 0) before = this.#board.ranks;
        if (i > 0 || slid?.move !== turn.move) this.#board.slide(turn.move);
        this.#board.spawn(turn.cell, turn.rank);
      });
    }
    if (!isSame(this.#board.ranks, state.ranks)) this.#board.show(state.ranks, isNext ? turns.at(-1)?.cell : -1);
    this.#remember(state, turns, isNext);
    this.#opened.state = state;
    this.emit("change", { turns, kind, before });
  }

  /**
   * @param {Api.StateData} state
   * @param {Api.TurnData[]} turns
   * @param {boolean} isNext
   */
  #remember(state, turns, isNext) {
    if (isNext) {
      const made = turns.map((turn) => this.shape.moves[turn.move].letter).join("");
      const at = state.n_moves - turns.length;
      if (!this.moves.startsWith(made, at)) this.moves = this.moves.slice(0, at) + made;
    } else if (state.n_moves > this.moves.length) {
      this.moves = this.moves.padEnd(state.n_moves, "?");
    }
  }
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function isSame(a, b) {
  return a.length === b.length && a.every((rank, i) => rank === b[i]);
}
