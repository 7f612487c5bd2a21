// The turns of a game and the board after each of them.

import { turn } from "../pure/slide.js";

const EVERY = 64; // every so many boards are kept, so that any other is only a few turns away

export class Line {
  scores = [0]; // after each turn
  /** @type {number[][]} */
  #kept = [];
  #shape;

  /**
   * @param {Api.ShapeData} shape
   * @param {number[]} first the ranks of the start board
   * @param {Pick<Api.TurnData, "move" | "cell" | "rank" | "reward">[]} turns
   */
  constructor(shape, first, turns) {
    this.#shape = shape;
    this.turns = turns;
    this.#kept.push(first);
    let ranks = first;
    turns.forEach((each, i) => {
      ranks = turn(ranks, shape.lines[each.move], each, shape.free_rank);
      this.scores.push(this.scores[i] + each.reward);
      if ((i + 1) % EVERY === 0) this.#kept.push(ranks);
    });
  }

  /** @param {number} at the number of turns made */
  boardAt(at) {
    const base = Math.floor(at / EVERY);
    let ranks = this.#kept[base];
    const { lines, free_rank: free } = this.#shape;
    for (let i = base * EVERY; i < at; i += 1) ranks = turn(ranks, lines[this.turns[i].move], this.turns[i], free);
    return ranks;
  }
}
