// The dialog for a new game: the same board again, one of ten boards, a pasted position, or other rules.

import { get, messageOf } from "./api.js";
import "./board.js";
import { button, dialog, field, h } from "./dom.js";
import { capital } from "./pure/words.js";
import { rulesForm } from "./rulesform.js";
import { rulesWords } from "./ruleswords.js";
import { t } from "./text.js";

/** Each with a goal that can be reached by people.  @type {[board: string, goal: number, name: string][]} */
const BOARDS = [
  ["4x4", 2048, t("Classic")],
  ["3x3", 256, t("Small")],
  ["3x4", 512, t("Narrow")],
  ["5x5", 4096, t("Large")],
  ["6x6", 8192, t("Huge")],
  ["####|#xx#|#xx#|####", 128, t("Ring")],
  ["x##x|####|####|x##x", 256, t("Octagon")],
  ["#####|#x#x#|#####|#x#x#|#####", 2048, t("Pillars")],
  ["hex2", 1024, t("Hexagons")],
  ["tri4", 512, t("Triangles")],
];
const EXAMPLE = "2 4 8 16\n32 64 128 256\n. . 2 4\n. . . .";

/** @typedef {(rules: Api.RulesBody, seed: number | null) => Promise<unknown>} Create */

/** @type {Map<string, Promise<Api.ShapeData>>} */
const shapes = new Map(); // by board, asked for once

/** @param {string} board */
function shapeOf(board) {
  const known = shapes.get(board) ?? get("/api/shape", { query: { board } });
  shapes.set(board, known);
  known.catch(() => shapes.delete(board));
  return known;
}

/**
 * @param {Api.RulesBody} rules of the game before
 * @param {Create} create
 * @param {"boards" | "rules" | "paste"} [part] that is open at first
 */
export function newGameDialog(rules, create, part = "boards") {
  const error = h("p.error", { role: "alert" });
  /**
   * @param {Api.RulesBody} chosen
   * @param {number | null} seed
   */
  const begin = async (chosen, seed = null) => {
    error.textContent = "";
    try {
      await create(chosen, seed);
      box.close();
    } catch (wrong) {
      error.textContent = capital(messageOf(wrong));
      error.scrollIntoView({ block: "nearest" });
    }
  };
  const box = dialog(
    t("New game"),
    h(
      "div.stack.new-game",
      {},
      button(t("Again: {rules}", { rules: rulesWords(rules) }), () => begin(rules), { main: true, autofocus: part === "boards" }),
      h("div.thumbs", {}, BOARDS.map((each) => thumb(each, begin))),
      error,
      pastePart(rules, begin, part === "paste"),
      rulesPart(rules, begin, part === "rules"),
      h(
        "div.row.end",
        {},
        button(t("Close"), () => box.close()),
      ),
    ),
  );
}

/**
 * Scroll to a part that was opened: it opens below what is seen.
 * @param {Event & { currentTarget: HTMLDetailsElement }} event
 */
function showOpened({ currentTarget: part }) {
  if (part.open) part.scrollIntoView({ block: "start" });
}

/**
 * @param {[board: string, goal: number, name: string]} about
 * @param {(rules: Api.RulesBody) => unknown} begin
 */
function thumb([board, goal, name], begin) {
  const picture = h("lab-board", { quiet: true, "aria-hidden": "true", className: "mini" });
  shapeOf(board).then(
    (shape) => {
      picture.shape = shape;
    },
    () => {},
  );
  return h(
    "button.thumb",
    { type: "button", onclick: () => begin({ board, goal }), "aria-label": t("{name}, goal {goal}", { name, goal: String(goal) }) },
    h("span.thumb-board", {}, picture),
    h("b", {}, name),
    h("span.quiet.small", {}, t("to {goal}", { goal: String(goal) })),
  );
}

/**
 * @param {Api.RulesBody} rules
 * @param {(rules: Api.RulesBody) => unknown} begin
 * @param {boolean} isOpen
 */
function pastePart(rules, begin, isOpen) {
  const text = h("textarea", { rows: 4, spellcheck: false, placeholder: EXAMPLE, name: "position", autofocus: isOpen });
  return h(
    "details.paste",
    { open: isOpen, ontoggle: showOpened },
    h("summary", {}, t("Paste a position")),
    h(
      "form.stack",
      {
        onsubmit: (event) => {
          event.preventDefault();
          begin(positionRules(text.value, rules));
        },
      },
      field(t("Position"), text),
      h(
        "p.small.quiet",
        {},
        t("Rows of tiles with spaces, commas or |, JSON lists, sixteen ranks or hexadecimal digits: all are read, and nothing is added."),
      ),
      button(t("Play this position"), null, { type: "submit" }),
    ),
  );
}

/**
 * The rules of a game that begins with a pasted position: the server adds first tiles only to an empty board.
 * @param {string} text
 * @param {Api.RulesBody} rules of the game before
 * @returns {Api.RulesBody}
 */
export function positionRules(text, { spawn, spawner, stop_at_goal }) {
  return { board: text, spawn, spawner, stop_at_goal }; // with the usual goal: it may be another board
}

/**
 * @param {Api.RulesBody} rules
 * @param {(rules: Api.RulesBody, seed: number | null) => unknown} begin
 * @param {boolean} isOpen
 */
function rulesPart(rules, begin, isOpen) {
  const form = rulesForm(rules);
  const seed = h("input", { type: "number", min: 0, placeholder: t("random"), name: "seed" });
  return h(
    "details.rules",
    { open: isOpen, ontoggle: showOpened },
    h("summary", {}, t("Other rules")),
    h(
      "form.stack",
      {
        onsubmit: (event) => {
          event.preventDefault();
          begin(form.value(), seed.value === "" ? null : Number(seed.value));
        },
      },
      form.element,
      field(t("Seed"), seed),
      button(t("Play"), null, { type: "submit" }),
    ),
  );
}
