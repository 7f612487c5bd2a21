// The position that is shown: the value of every move, the best line, and what if another move were made.

import { codeOf, isAborted, post } from "../api.js";
import { button, complain, h } from "../dom.js";
import { retryUntilReady } from "../stream.js";
import { t, told } from "../text.js";
import { valueRows } from "./values.js";

export const NO_REVIEWER = "reviewer.missing"; // code of the error
const PAUSE = 150; // ms without another step before the server is asked

/** @typedef {import("./grades.js").Grade} Grade */

export class Position {
  /** @type {Api.PositionData | null} */
  found = null;
  head = h("p.facts"); // about the move that was made here
  #values = h("div.review-values");
  #line = h("p.small.quiet");
  #branch = h("div.row", { hidden: true });
  #timer = 0;
  #abort = new AbortController();
  #key = "";
  /** @type {{ made?: number, grade?: Grade }} */
  #made = {};
  element = h("section.panel", {}, h("h2", {}, t("This position")), this.#branch, this.#values, this.#line);

  /**
   * @param {number} game
   * @param {Api.ShapeData} shape
   * @param {object} use
   * @param {(move: number) => unknown} use.tryMove
   * @param {() => unknown} use.back take back a move of the branch
   * @param {() => unknown} use.leave leave the branch
   * @param {() => unknown} use.playOn
   * @param {(found: Api.PositionData) => unknown} use.onfound
   */
  constructor(game, shape, use) {
    this.game = game;
    this.shape = shape;
    this.use = use;
  }

  /**
   * @param {number} at
   * @param {string} branch the moves after it, as letters
   * @param {string} words about the move that was made here
   * @param {{ made?: number, grade?: Grade }} [made] that move, and its grade in the review
   */
  show(at, branch, words, made = {}) {
    this.head.textContent = words;
    this.#made = made;
    const key = `${at} ${branch}`;
    this.#branch.hidden = !branch;
    const glyphs = [...branch].map((letter) => this.shape.moves.find((move) => move.letter === letter)?.glyph ?? letter);
    this.#branch.replaceChildren(
      h("span", {}, t("What if:"), " ", h("b", {}, glyphs.join(" "))),
      button(t("Back"), () => this.use.back(), { slim: true, key: "←" }),
      button(t("Return to the game"), () => this.use.leave(), { slim: true, key: "Esc" }),
    );
    if (key === this.#key) {
      if (this.found) this.#draw(this.found); // the move may have been graded meanwhile
      return;
    }
    this.#key = key;
    this.found = null;
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#abort = new AbortController();
    if (this.element.hidden) return;
    this.#timer = setTimeout(() => this.#ask(at, branch), branch ? 0 : PAUSE);
  }

  /**
   * @param {number} at
   * @param {string} moves
   */
  async #ask(at, moves) {
    const { signal } = this.#abort;
    try {
      const found = await retryUntilReady({}, () =>
        post("/api/games/{game}/position", { path: { game: this.game }, body: { at, moves, reviewer: "" }, signal }),
      );
      if (signal.aborted) return;
      this.found = found;
      this.#draw(found);
      this.use.onfound(found);
    } catch (error) {
      if (isAborted(error) || signal.aborted) return;
      if (codeOf(error) !== NO_REVIEWER) complain(error);
      else this.element.hidden = true; // the page says so once
    }
  }

  /** @param {Api.PositionData} found */
  #draw({ values, unit, line, over, score }) {
    const { tryMove } = this.use;
    this.#values.replaceChildren(...valueRows(this.shape, values, unit, { ...this.#made, score, tryMove }));
    const glyphs = line.map(({ move, cell, rank }) => `${this.shape.moves[move].glyph} (${2 ** rank} ${told(this.shape.entries.find((entry) => entry.cell === cell)?.name ?? String(cell + 1))})`);
    this.#line.textContent = over
      ? t("The game is over here.")
      : line.length
        ? t("Best line on the same dice: {moves}", { moves: glyphs.join(" ") })
        : "";
  }

  close() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }
}
