// The values of all moves as rows: the move, its value, what it gives away, and its grade.

import { h } from "../dom.js";
import { capital } from "../pure/words.js";
import { t, told } from "../text.js";
import { amount, amounts, SIGNS, WORDS } from "./grades.js";

/** @typedef {import("./grades.js").Grade} Grade */

/**
 * @param {Api.ShapeData} shape
 * @param {Api.ValueData[]} values
 * @param {string} unit
 * @param {object} [use]
 * @param {number | null} [use.made] the move that was made
 * @param {Grade} [use.grade] its grade, if it was graded before
 * @param {number} [use.score] points so far, which are added to the values
 * @param {(move: number) => unknown} [use.tryMove] makes the rows buttons
 */
export function valueRows(shape, values, unit, { made = null, grade, score = 0, tryMove } = {}) {
  const texts = amounts(
    values.map(({ value }) => (unit === "score" ? value + score : value)),
    unit,
  );
  return values.map(({ move, name, loss, grade: usual }, i) => {
    const word = (move === made && grade) || /** @type {Grade} */ (usual);
    const facts = [
      h("b", {}, `${shape.moves[move].glyph} ${capital(told(name))}`),
      h("span.figure", {}, texts[i]),
      h("span.figure.quiet", {}, loss > 0 ? `−${amount(loss, unit)}` : ""),
      h(/** @type {"span"} */ (`span.grade.${word}`), {}, SIGNS[word] ? h("b", {}, SIGNS[word]) : null, WORDS[word]),
    ];
    const current = { "aria-current": move === made ? "true" : null };
    if (!tryMove) return h("div.review-value", current, facts);
    const title = t("What if {move}?", { move: told(name) });
    return h("button.review-value", { ...current, type: "button", onclick: () => tryMove(move), title }, facts);
  });
}

/**
 * A large figure with its name.
 * @param {string} value
 * @param {string} name
 */
export function figure(value, name) {
  return h("div", {}, h("b", {}, value), h("span.quiet.small", {}, name));
}
