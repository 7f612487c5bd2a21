// The values of all moves as rows: the move, its value, what it gives away, and its grade.

import { h } from "../dom.js";
import { capital } from "../pure/words.js";
import { told } from "../text.js";
import { amount, amounts, SIGNS, WORDS } from "./grades.js";

/**
 * @param {Api.ShapeData} shape
 * @param {Api.ValueData[]} values
 * @param {string} unit
 * @param {number | null} [made] the move that was made
 */
export function valueRows(shape, values, unit, made = null) {
  const texts = amounts(
    values.map(({ value }) => value),
    unit,
  );
  return values.map(({ move, name, loss, grade }, i) => {
    const word = /** @type {import("./grades.js").Grade} */ (grade);
    return h(
      "div.review-value",
      { "aria-current": move === made ? "true" : null },
      h("b", {}, `${shape.moves[move].glyph} ${capital(told(name))}`),
      h("span.figure", {}, texts[i]),
      h("span.figure.quiet", {}, loss > 0 ? `−${amount(loss, unit)}` : ""),
      h(/** @type {"span"} */ (`span.grade.${grade}`), {}, SIGNS[word] ? h("b", {}, SIGNS[word]) : null, WORDS[word]),
    );
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
