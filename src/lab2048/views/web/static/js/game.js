// A game that is played here: what this tab knows of it, and what it has asked the server for.
//
// The server is the truth.  A key slides the tiles at once and asks; keys that come before the
// answer wait in a queue and go out together, so none is lost.  If the answer is another than was
// shown, the board shows the answer.

import { get, post, put } from "./api.js";
import { legalMoves } from "./pure/slide.js";

const MANY = 4; // more turns at once than these are not played one by one

export class Game extends EventTarget {
  id = null;
  state = null;
  shape = null;
  moves = ""; // letters, as far as the game has been played or undone
  commands = {}; // command lines that do the same
  #board;
  #queue = [];
  #isBusy = false;
  #missed = null;

  /** `board` is the <lab-board> that shows the game. */
  constructor(board) {
    super();
    this.#board = board;
  }

  get isRunning() {
    return Boolean(this.state?.auto?.running);
  }

  /** Show another game: what the server answered to GET or POST /api/games. */
  take(game) {
    this.id = game.state.id;
    this.shape = game.shape;
    this.moves = game.moves;
    this.commands = game.commands;
    this.state = game.state;
    this.#queue.length = 0;
    this.#missed = null;
    this.#board.shape = game.shape;
    this.#board.show(game.state.ranks);
    this.#tell("open", { turns: [], kind: "open" });
  }

  async open(id) {
    this.take(await get(`/api/games/${id}`));
  }

  async create(rules, seed = null) {
    this.take(await post("/api/games", { rules, seed, player: "human" }));
  }

  move(move) {
    this.#push({ kind: "moves", move });
  }

  undo(n = 1) {
    this.#push({ kind: "undo", n });
  }

  redo(n = 1) {
    this.#push({ kind: "redo", n });
  }

  step(player) {
    this.#push({ kind: "step", player });
  }

  auto(player, speed, running) {
    this.#push({ kind: "auto", player, speed, running });
  }

  /** A change that another tab or auto-play made. */
  receive(change) {
    if (change.state.id !== this.id || change.state.rev < this.state.rev) return;
    if (this.#isBusy) this.#missed = change;
    else this.#apply(change, null);
  }

  #push(action) {
    this.#queue.push(action);
    if (!this.#isBusy) this.#pump();
  }

  async #pump() {
    this.#isBusy = true;
    this.#board.toggleAttribute("data-busy", true);
    while (this.#queue.length) {
      const slid = this.#queue[0].kind === "moves" ? this.#slideFirst() : null;
      if (!this.#queue.length) break;
      const action = this.#queue.shift();
      try {
        await this.#send(action, slid);
      } catch (error) {
        this.#queue.length = 0;
        if (error.status === 409 && error.body?.state)
          this.#apply({ state: error.body.state, turns: [], kind: "open" }, null);
        else {
          this.#board.show(this.state.ranks);
          this.dispatchEvent(new CustomEvent("failure", { detail: { error, action } }));
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

  /** Slide the first move of the queue that can be made, before anyone is asked; the others are dropped as keys that do nothing. */
  #slideFirst() {
    while (this.#queue[0]?.kind === "moves") {
      const { move } = this.#queue[0];
      const before = this.#board.ranks;
      if (this.#board.slide(move).changed) return { move, before };
      this.#queue.shift();
      this.dispatchEvent(new CustomEvent("blocked", { detail: move }));
    }
    return null;
  }

  async #send(action, slid) {
    const path = `/api/games/${this.id}`;
    // Who takes over from a player that runs cannot know how far it is.
    const rev = this.isRunning ? null : this.state.rev;
    if (action.kind === "moves") {
      const moves = [action.move];
      while (this.#queue[0]?.kind === "moves" && moves.length < 100) moves.push(this.#queue.shift().move);
      const letters = moves.map((move) => this.shape.moves[move].letter).join("");
      this.#apply(await post(`${path}/moves`, { moves: letters, rev, mover: "human" }), slid);
    } else if (action.kind === "auto") {
      const { player, speed, running } = action;
      const state = await put(`${path}/auto`, { player, speed, running });
      this.#apply({ state, turns: [], kind: "auto" }, null);
    } else {
      const { kind, n, player } = action;
      this.#apply(await post(`${path}/${kind}`, kind === "step" ? { player, rev } : { n, rev }), null);
    }
  }

  #apply(change, slid) {
    const { state, turns, kind } = change;
    if (state.id !== this.id) return; // another game has been opened meanwhile
    const from = this.state.n_moves;
    const isNext = turns.length > 0 && state.n_moves === from + turns.length;
    const last = turns.at(-1);
    let before = slid?.before ?? this.#board.ranks;
    if (isNext && turns.length < MANY) {
      turns.forEach((turn, i) => {
        if (i > 0) before = this.#board.ranks;
        if (i > 0 || slid?.move !== turn.move) this.#board.slide(turn.move);
        this.#board.spawn(turn.cell, turn.rank);
      });
    }
    if (!same(this.#board.ranks, state.ranks)) this.#board.show(state.ranks, isNext ? last.cell : -1);
    this.#remember(state, turns, isNext);
    this.state = state;
    this.#tell("change", { turns, kind, before, from });
  }

  #remember(state, turns, isNext) {
    if (isNext) {
      const made = turns.map((turn) => this.shape.moves[turn.move].letter).join("");
      const at = state.n_moves - turns.length;
      if (!this.moves.startsWith(made, at)) this.moves = this.moves.slice(0, at) + made;
    } else if (state.n_moves > this.moves.length) {
      this.moves = this.moves.padEnd(state.n_moves, "?");
    }
  }

  /** Legal moves of what is shown, also while an answer is awaited. */
  legal() {
    return legalMoves(this.#board.ranks, this.shape.lines);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function same(a, b) {
  return a.length === b.length && a.every((rank, i) => rank === b[i]);
}
