// Expectimax with a network, deepened until its time is up.

/** @typedef {import("./network.js").Network} Network */
/** @typedef {{ move: number, values: (number | null)[], depth: number }} Decision move -1: none is legal */

const MAX_DEPTH = 4;
const LOOK_EVERY = 256; // states between two looks at the clock
const TIME_IS_UP = Symbol("time is up");

export class Player {
  #network;
  #lines;
  #spawns;
  #states = 0;
  #deadline = Infinity;

  /**
   * @param {Network} network
   * @param {number[][][]} lines of each move
   * @param {{ rank: number, probability: number }[]} spawns
   */
  constructor(network, lines, spawns) {
    this.#network = network;
    this.#lines = lines.map((each) => each.map((line) => Uint8Array.from(line)));
    this.#spawns = spawns;
  }

  /**
   * The best move, and the expected future score after each move; null for illegal ones.
   * @param {number[]} ranks
   * @param {number} ms time; the first depth is always searched
   * @returns {Decision}
   */
  choose(ranks, ms) {
    const state = Uint8Array.from(ranks);
    this.#deadline = Infinity;
    let decision = this.#search(state, 1);
    const begin = performance.now();
    this.#deadline = begin + ms;
    for (let depth = 2; depth <= MAX_DEPTH && decision.move >= 0; depth += 1) {
      try {
        decision = this.#search(state, depth);
      } catch (error) {
        if (error !== TIME_IS_UP) throw error;
        break;
      }
      if (performance.now() - begin > ms / 8) break; // the next depth takes at least ten times as long
    }
    return decision;
  }

  /**
   * @param {Uint8Array} state
   * @param {number} depth
   * @returns {Decision}
   */
  #search(state, depth) {
    let move = -1;
    let best = -Infinity;
    const values = this.#lines.map((_, each) => {
      const after = new Uint8Array(state.length);
      const reward = slideInto(state, this.#lines[each], after);
      if (reward < 0) return null;
      const value = reward + this.#expect(after, depth - 1);
      if (value > best) [best, move] = [value, each];
      return value;
    });
    return { move, values, depth };
  }

  /**
   * The expected future score of an afterstate.
   * @param {Uint8Array} after
   * @param {number} depth moves to look ahead
   * @returns {number}
   */
  #expect(after, depth) {
    if (depth === 0) return this.#network.value(after);
    const next = new Uint8Array(after.length);
    let total = 0;
    let nEmpty = 0;
    for (let cell = 0; cell < after.length; cell += 1) {
      if (after[cell] !== 0) continue;
      nEmpty += 1;
      for (const { rank, probability } of this.#spawns) {
        after[cell] = rank;
        let best = 0; // of a lost board
        for (const lines of this.#lines) {
          const reward = slideInto(after, lines, next);
          if (reward >= 0) best = Math.max(best, reward + this.#expect(next, depth - 1));
        }
        total += probability * best;
        this.#states += 1;
        if (this.#states % LOOK_EVERY === 0 && performance.now() > this.#deadline) {
          throw TIME_IS_UP;
        }
      }
      after[cell] = 0;
    }
    return nEmpty > 0 ? total / nEmpty : this.#network.value(after);
  }
}

/**
 * Slide into `after`; returns the reward, -1 if nothing moves.  The rules are those of pure/slide.js.
 * @param {Uint8Array} state
 * @param {Uint8Array[]} lines
 * @param {Uint8Array} after
 */
export function slideInto(state, lines, after) {
  let reward = 0;
  let isChanged = false;
  for (const line of lines) {
    let end = 0; // where the next tile comes to rest
    let last = 0; // the rank of the tile before it, while it may still merge
    for (let i = 0; i < line.length; i += 1) {
      const rank = state[line[i]];
      if (rank === 0) continue;
      if (rank === last) {
        after[line[end - 1]] = rank + 1;
        reward += 2 ** (rank + 1);
        last = 0;
        isChanged = true;
      } else {
        if (end !== i) isChanged = true;
        after[line[end]] = rank;
        last = rank;
        end += 1;
      }
    }
    for (; end < line.length; end += 1) after[line[end]] = 0;
  }
  return isChanged ? reward : -1;
}
