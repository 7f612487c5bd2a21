// The figures above the board: score, best, moves, highest tile, seed.

import { copy, h } from "./dom.js";
import { number } from "./pure/format.js";

export class Chips {
  #values = {};

  constructor() {
    const chip = (name, label, tag = "div.chip", props = {}) => {
      this.#values[name] = h("b", {}, "-");
      return h(tag, props, h("span", {}, label), this.#values[name]);
    };
    this.element = h(
      "div.chips",
      {},
      chip("score", "Score"),
      chip("best", "Best"),
      chip("moves", "Moves"),
      chip("highest", "Highest"),
      chip("seed", "Seed", "button.chip", {
        type: "button",
        title: "Copy the seed",
        onclick: () => copy(this.#values.seed.textContent),
      }),
    );
  }

  /** The best score is that of people alone, unless a player has helped in this game. */
  show(state) {
    const isAlone = state.movers.every(([, mover]) => mover === "human");
    this.#set("score", number(state.score));
    this.#set("best", number(Math.max(state.score, (isAlone ? state.best : state.best_assisted) ?? 0)));
    this.#set("moves", number(state.n_moves));
    this.#set("highest", number(state.highest));
    this.#set("seed", String(state.seed));
  }

  #set(name, text) {
    if (this.#values[name].textContent !== text) this.#values[name].textContent = text;
  }
}
