// The figures above the board: score, best, moves, highest tile, seed; and whether the last moves are saved.

import { copy, h } from "./dom.js";
import { number } from "./pure/format.js";

export class Chips {
  #moves;
  #values = { score: value(), best: value(), moves: value(), highest: value(), seed: value() };

  constructor() {
    /**
     * @param {string} label
     * @param {HTMLElement} text
     */
    const chip = (label, text) => h("div.chip", {}, h("span", {}, label), text);
    this.#moves = h("span", { role: "status" }, "Moves");
    const { score, best, moves, highest, seed } = this.#values;
    this.element = h(
      "div.chips",
      {},
      chip("Score", score),
      chip("Best", best),
      h("div.chip", {}, this.#moves, moves),
      chip("Highest", highest),
      h(
        "button.chip",
        { type: "button", title: "Copy the seed", onclick: () => copy(seed.textContent) },
        h("span", {}, "Seed"),
        seed,
      ),
    );
  }

  /**
   * The best score is that of people alone, unless a player has helped in this game.
   * @param {Api.StateData} state
   */
  show(state) {
    const isAlone = state.movers.every(([, mover]) => mover === "human");
    const texts = {
      score: number(state.score),
      best: number(Math.max(state.score, isAlone ? state.best : state.best_assisted)),
      moves: number(state.n_moves),
      highest: number(state.highest),
      seed: String(state.seed),
    };
    // A fast player's moves are saved together, a moment later.
    const isUnsaved = !state.saved && !state.auto?.running;
    const words = isUnsaved ? "Not saved yet" : "Moves";
    if (this.#moves.textContent !== words) this.#moves.textContent = words;
    this.#moves.classList.toggle("warn", isUnsaved);
    for (const [name, element] of Object.entries(this.#values)) {
      const text = texts[/** @type {keyof typeof texts} */ (name)];
      if (element.textContent !== text) element.textContent = text;
    }
  }
}

function value() {
  return h("b", {}, "-");
}
