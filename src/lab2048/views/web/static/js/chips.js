// The figures above the board: score, best, moves, highest tile, and who moves; and whether the last moves are saved.

import { h } from "./dom.js";
import { number } from "./pure/format.js";
import { t } from "./text.js";

export class Chips {
  #moves;
  #values = { score: value(), best: value(), moves: value(), highest: value(), who: value() };
  score; // the element that points rise from
  #who;

  constructor() {
    /**
     * @param {string} label
     * @param {HTMLElement} text
     */
    const chip = (label, text) => h("div.chip", {}, h("span", {}, label), text);
    this.#moves = h("span", { role: "status" }, t("Moves"));
    const { score, best, moves, highest, who } = this.#values;
    this.score = chip(t("Score"), score);
    this.#who = chip(t("To move"), who);
    this.#who.classList.add("who");
    this.element = h(
      "div.chips",
      {},
      this.score,
      chip(t("My best"), best),
      h("div.chip", {}, this.#moves, moves),
      chip(t("Highest"), highest),
      this.#who,
    );
  }

  /**
   * The best score is that of people alone; a game that a player helped with counts for itself only.
   * @param {Api.StateData} state
   * @param {string} who moves
   */
  show(state, who) {
    const isAlone = state.movers.every(([, mover]) => mover === "human");
    const isRunning = Boolean(state.auto?.running);
    const texts = {
      score: number(state.score),
      best: number(isAlone ? Math.max(state.score, state.best) : state.best),
      moves: number(state.n_moves),
      highest: number(state.highest),
      who: state.over ? "-" : who,
    };
    // A fast player's moves are saved together, a moment later.
    const isUnsaved = !state.saved && !isRunning;
    const words = isUnsaved ? t("Not saved yet") : t("Moves");
    if (this.#moves.textContent !== words) this.#moves.textContent = words;
    this.#moves.classList.toggle("warn", isUnsaved);
    this.#who.classList.toggle("plays", isRunning);
    for (const [name, element] of Object.entries(this.#values)) {
      const text = texts[/** @type {keyof typeof texts} */ (name)];
      if (element.textContent !== text) element.textContent = text;
    }
  }
}

function value() {
  return h("b", {}, "-");
}
