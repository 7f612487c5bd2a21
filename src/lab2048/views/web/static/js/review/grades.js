// Grades of moves: a sign, a word and a colour each, never the colour alone.

import { chances, number, short } from "../pure/format.js";
import { t, tn } from "../text.js";

/** @typedef {"best" | "good" | "inaccuracy" | "mistake" | "blunder" | "unclear"} Grade */

/** @type {Record<string, Grade>} */
export const BY_LETTER = { b: "best", g: "good", i: "inaccuracy", m: "mistake", x: "blunder", u: "unclear" };

/** @type {Record<Grade, string>} */
export const SIGNS = { best: "", good: "", inaccuracy: "?!", mistake: "?", blunder: "??", unclear: "" };

/** @type {Grade[]} */
export const FAULTS = ["inaccuracy", "mistake", "blunder"];

/** @type {Record<Grade, string>} */
export const WORDS = {
  best: t("best"),
  good: t("good"),
  inaccuracy: t("inaccuracy"),
  mistake: t("mistake"),
  blunder: t("blunder"),
  unclear: t("unclear"),
};

/** @type {Record<Grade, (n: number) => string>} */
export const COUNTS = {
  best: (n) => tn(n, "{n} best move", "{n} best moves"),
  good: (n) => tn(n, "{n} good move", "{n} good moves"),
  inaccuracy: (n) => tn(n, "{n} inaccuracy", "{n} inaccuracies"),
  mistake: (n) => tn(n, "{n} mistake", "{n} mistakes"),
  blunder: (n) => tn(n, "{n} blunder", "{n} blunders"),
  unclear: (n) => tn(n, "{n} unclear move", "{n} unclear moves"),
};

/**
 * An amount of points, or of a chance.
 * @param {number} value
 * @param {string} unit
 */
export function amount(value, unit) {
  if (unit === "chance") return chances([value])[0];
  return Math.abs(value) >= 100000 ? short(value) : number(Math.round(value));
}

/**
 * Several of them, with enough digits to tell them apart.
 * @param {number[]} values
 * @param {string} unit
 */
export function amounts(values, unit) {
  return unit === "chance" ? chances(values) : values.map((value) => amount(value, unit));
}

/**
 * The same with its sign.
 * @param {number} value
 * @param {string} unit
 */
export function signed(value, unit) {
  return value < 0 ? `−${amount(-value, unit)}` : `+${amount(value, unit)}`;
}
