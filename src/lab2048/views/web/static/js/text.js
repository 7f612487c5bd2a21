// The text of the page: t("You reached {tile}!", { tile }).
//
// The English sentence is the key, and what is shown if a language has no translation.  The catalogue of another language
// (lang/de.js) is loaded before anything that imports this file runs, so t() works in constants of modules too.
// Every key is a literal string at its t(): a test reads them and names those that a catalogue lacks.

import { language, MARKS } from "./language.js";
import { number } from "./pure/format.js";

/** @typedef {Record<string, string | number>} Values for the {names} in a sentence; numbers are formatted */

const plural = new Intl.PluralRules(language);
/** @typedef {{ sentences: Record<string, string>, words: Record<string, string> }} Catalogue */
const catalogue = await load();

/** @returns {Promise<Catalogue>} */
async function load() {
  try {
    if (language !== "en") return await import(`./lang/${language}.js`);
  } catch (error) {
    console.warn(error); // English is better than no page
  }
  return { sentences: {}, words: {} };
}

/**
 * The sentence in the language of the page.
 * @param {string} sentence in English; {name} stands for a value
 * @param {Values} [values]
 */
export function t(sentence, values) {
  const text = catalogue.sentences[sentence] ?? sentence;
  return values ? fill(text, values) : text;
}

/**
 * The sentence for a number of things: tn(n, "{n} move", "{n} moves"); `n` is also its value {n}.
 * @param {number} n
 * @param {string} one
 * @param {string} many
 * @param {Values} [values]
 */
export function tn(n, one, many, values = {}) {
  return t(plural.select(n) === "one" ? one : many, { n, ...values });
}

/**
 * A word that the server sends, such as the name of a move, the state of a job, or a short text with numbers.
 * @param {string} word in English; a catalogue has # for each number
 */
export function told(word) {
  /** @type {string[]} */
  const numbers = [];
  const found = catalogue.words[word] ?? catalogue.words[word.replace(/\d+([,.]\d+)*/g, (each) => (numbers.push(each), "#"))];
  return found?.replace(/#/g, () => inLanguage(numbers.shift() ?? "#")) ?? word;
}

/**
 * A number as the server writes it, in the language of the page.
 * @param {string} text
 */
function inLanguage(text) {
  return text.replace(/[,.]/g, (mark) => (mark === "," ? MARKS.group : MARKS.decimal));
}

/**
 * @param {string} text
 * @param {Values} values
 */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? number(value) : value;
  });
}

/** Translate the texts of index.html: data-t marks elements with a text, data-t-label those with a label. */
export function translateFrame() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.textContent ?? "");
  for (const element of document.querySelectorAll("[data-t-label]"))
    element.setAttribute("aria-label", t(element.getAttribute("aria-label") ?? ""));
}
