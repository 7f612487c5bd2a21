// What a good move earns: points that rise from the score, a word for a new highest tile, sounds.

import { h } from "./dom.js";
import { number } from "./pure/format.js";
import { slide, tile } from "./pure/slide.js";
import { sounds } from "./sound.js";

const LEAST_MILESTONE = 7; // rank: 128 is the first tile that is worth a word
const SLOW = 150; // ms: turns that follow more quickly earn no words

export class Celebration {
  #score;
  #stage;
  #highest = 0; // rank
  #last = -Infinity;

  /**
   * @param {HTMLElement} score where points rise
   * @param {HTMLElement} stage the element around the board
   */
  constructor(score, stage) {
    this.#score = score;
    this.#stage = stage;
  }

  /**
   * Open a game; what it has already is not celebrated.
   * @param {number[]} ranks
   */
  open(ranks) {
    this.#highest = Math.max(0, ...ranks);
  }

  /**
   * @param {import("./game.js").Game} game
   * @param {import("./game.js").Change} change
   */
  show({ state, shape }, { turns, before }) {
    const now = performance.now();
    const isQuick = now - this.#last < SLOW;
    if (turns.length) this.#last = now; // what is shown first is no turn
    const [turn] = turns;
    const highest = Math.max(0, ...state.ranks.filter((rank) => rank !== shape.free_rank));
    const isHigher = highest > this.#highest;
    this.#highest = Math.max(highest, turns.length ? this.#highest : 0); // an undo may take it back
    if (turns.length !== 1) return;
    const { reward, steps } = slide(before, shape.lines[turn.move], [], shape.free_rank);
    if (reward && !isQuick) this.#rise(reward);
    if (isHigher && highest >= LEAST_MILESTONE && !(state.won && tile(highest) === state.rules.goal)) {
      this.#word(tile(highest));
      sounds.milestone(highest);
    } else if (!isQuick) {
      const made = steps.filter(({ merges }) => merges).map(({ rank }) => rank + 1);
      if (made.length) sounds.merge(Math.max(...made));
      else sounds.slide();
    }
  }

  /** @param {number} reward */
  #rise(reward) {
    this.#fly(this.#score, h("i.rise", { "aria-hidden": "true" }, `+${number(reward)}`));
  }

  /** @param {number} face */
  #word(face) {
    this.#fly(this.#stage, h("i.milestone", { "aria-hidden": "true" }, String(face)));
  }

  /**
   * Show an element until its animation ends; without animation it is not shown.
   * @param {HTMLElement} place
   * @param {HTMLElement} made
   */
  #fly(place, made) {
    for (const old of place.querySelectorAll(`:scope > .${made.className}`)) old.remove();
    place.append(made);
    const [animation] = made.getAnimations();
    if (!animation) return made.remove();
    animation.onfinish = () => made.remove();
    animation.oncancel = () => made.remove();
  }
}
