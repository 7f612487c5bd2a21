// A game in the browser alone: its board, score and history.

import { slide } from "../pure/slide.js";

/** @typedef {{ ranks: number[], score: number }} State */
/** @typedef {{ rank: number, probability: number }} Spawn */

export class Game {
  /** @type {State[]} */
  #past = [];
  /** @type {State} */
  #state;
  #lines;
  #spawns;
  #random;

  /**
   * @param {{ n_cells: number, lines: number[][][] }} shape
   * @param {Spawn[]} spawns
   * @param {number} nStart tiles at the start
   * @param {() => number} [random]
   */
  constructor({ n_cells: nCells, lines }, spawns, nStart, random = Math.random) {
    this.#lines = lines;
    this.#spawns = spawns;
    this.#random = random;
    this.#state = { ranks: new Array(nCells).fill(0), score: 0 };
    for (let i = 0; i < nStart; i += 1) this.#spawn(this.#state.ranks);
  }

  get ranks() {
    return this.#state.ranks;
  }

  get score() {
    return this.#state.score;
  }

  get highest() {
    return Math.max(...this.#state.ranks);
  }

  get nMoves() {
    return this.#past.length;
  }

  get isOver() {
    return this.#lines.every((lines) => !slide(this.#state.ranks, lines).changed);
  }

  /**
   * Make a move; returns the new tile, or null if the move is illegal.
   * @param {number} move
   */
  play(move) {
    const { ranks, reward, changed } = slide(this.#state.ranks, this.#lines[move]);
    if (!changed) return null;
    this.#past.push(this.#state);
    const spawn = this.#spawn(ranks);
    this.#state = { ranks, score: this.#state.score + reward };
    return spawn;
  }

  /** Take the last move back; returns false if there is none. */
  undo() {
    const before = this.#past.pop();
    if (before) this.#state = before;
    return before !== undefined;
  }

  /** @param {number[]} ranks */
  #spawn(ranks) {
    const empty = ranks.flatMap((rank, cell) => (rank === 0 ? [cell] : []));
    if (empty.length === 0) return { cell: -1, rank: 0 };
    const cell = empty[Math.floor(this.#random() * empty.length)];
    let left = this.#random();
    const spawn = this.#spawns.find(({ probability }) => (left -= probability) < 0) ?? this.#spawns[0];
    ranks[cell] = spawn.rank;
    return { cell, rank: spawn.rank };
  }
}
