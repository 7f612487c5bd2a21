// The language of the page: the browser's own, unless the settings name one.

import { pref } from "./prefs.js";

/** Each with its own name.  @type {[name: string, title: string][]} */
export const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
];

/** @returns {string} */
function choose() {
  const known = LANGUAGES.map(([name]) => name);
  const asked = pref("language");
  if (known.includes(asked)) return asked;
  // A document that is not the page, such as the widget, is in English.
  if (typeof document === "undefined" || !document.getElementById("page")) return "en";
  const wanted = navigator.languages.map((name) => name.toLowerCase().split("-")[0]);
  return wanted.find((name) => known.includes(name)) ?? "en";
}

export const language = choose();

/** What separates thousands and decimals; files and commands are always written in the English way. */
export const MARKS = language === "de" ? { group: ".", decimal: "," } : { group: ",", decimal: "." };
