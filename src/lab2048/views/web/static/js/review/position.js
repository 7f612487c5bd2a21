// The position that is shown: the value of every move, the best line, and what if another move were made.

import { isAborted, post } from "../api.js";
import { button, complain, h } from "../dom.js";
import { capital } from "../pure/words.js";
import { retryUntilReady } from "../stream.js";
import { t } from "../text.js";
import { amount, SIGNS, WORDS } from "./grades.js";

const PAUSE = 150; // ms without another step before the server is asked

/** @typedef {import("./grades.js").Grade} Grade */

export class Position {
  /** @type {Api.PositionData | null} */
  found = null;
  #head = h("p.small");
  #values = h("div.review-values");
  #line = h("p.small.quiet");
  #branch = h("div.row", { hidden: true });
  #timer = 0;
  #abort = new AbortController();
  #key = "";
  element = h("section.panel", {}, h("h2", {}, t("This position")), this.#head, this.#branch, this.#values, this.#line);

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
   */
  show(at, branch, words) {
    this.#head.textContent = words;
    const key = `${at} ${branch}`;
    this.#branch.hidden = !branch;
    const glyphs = [...branch].map((letter) => this.shape.moves.find((move) => move.letter === letter)?.glyph ?? letter);
    this.#branch.replaceChildren(
      h("span", {}, t("What if:"), " ", h("b", {}, glyphs.join(" "))),
      button(t("Back"), () => this.use.back(), { slim: true, key: "←" }),
      button(t("Return to the game"), () => this.use.leave(), { slim: true, key: "Esc" }),
    );
    if (key === this.#key) return;
    this.#key = key;
    this.found = null;
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#abort = new AbortController();
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
      if (!isAborted(error) && !signal.aborted) complain(error);
    }
  }

  /** @param {Api.PositionData} found */
  #draw({ values, unit, line, over, score }) {
    const best = values[0]?.value ?? 0;
    const least = values[values.length - 1]?.value ?? 0;
    this.#values.replaceChildren(
      ...values.map(({ move, name, value, loss, grade }) => {
        const bar = h("i");
        bar.style.width = `${best > least ? Math.max(4, (100 * (value - least)) / (best - least)) : 100}%`;
        const word = /** @type {Grade} */ (grade);
        return h(
          "button.review-value",
          { type: "button", onclick: () => this.use.tryMove(move), title: t("What if {move}?", { move: name }) },
          h("b", {}, `${this.shape.moves[move].glyph} ${capital(name)}`),
          h("span.figure", {}, amount(unit === "score" ? value + score : value, unit)),
          h("span.figure.quiet", {}, loss > 0 ? `−${amount(loss, unit)}` : ""),
          h(/** @type {"span"} */ (`span.grade.${grade}`), {}, SIGNS[word] ? h("b", {}, SIGNS[word]) : null, WORDS[word]),
          bar,
        );
      }),
    );
    const glyphs = line.map(({ move, cell, rank }) => `${this.shape.moves[move].glyph} (${2 ** rank} ${this.shape.entries.find((entry) => entry.cell === cell)?.name ?? cell + 1})`);
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
