// The fields of rules: board, goal, spawns, first tiles, spawner.

import { field, h, select } from "./dom.js";

/** @type {import("./dom.js").Option[]} */
const BOARDS = [
  ["4x4", "4x4, the classic"],
  ["3x3", "3x3"],
  ["5x5", "5x5"],
  ["2x2", "2x2"],
  ["2x3", "2x3"],
  ["3x4", "3x4"],
  ["8x8", "8x8"],
  ["hex1", "hexagons, 7"],
  ["hex2", "hexagons, 19"],
  ["hex3", "hexagons, 37"],
  ["####|#xx#|####", "a ring"],
  ["xx#xx|x###x|#####|x###x|xx#xx", "a diamond"],
];
/** @type {import("./dom.js").Option[]} */
const GOALS = Array.from({ length: 16 }, (_, i) => 2 ** (i + 2)).map((tile) => [String(tile), String(tile)]);

/** @typedef {ReturnType<typeof rulesForm>} RulesForm */

/**
 * Make the fields for rules; `value()` returns what was entered.  With `boardOnly` it has only the board,
 * with `noBoard` the board is "".
 * @param {{ board?: string, goal?: string | number, spawn?: string, start?: string | number | null, spawner?: string }} rules
 * @param {{ onchange?: () => unknown, boardOnly?: boolean, noBoard?: boolean }} [options]
 */
export function rulesForm(rules, { onchange = () => {}, boardOnly = false, noBoard = false } = {}) {
  const board = h("input", {
    value: rules.board ?? "4x4",
    name: "board",
    spellcheck: false,
    autocomplete: "off",
    required: true,
  });
  const known = select(
    [...BOARDS, ["", "another map"]],
    BOARDS.some(([text]) => text === board.value) ? board.value : "",
    (text) => {
      if (text) board.value = text;
      else board.select();
      onchange();
    },
    { name: "preset" },
  );
  board.addEventListener("input", () => {
    known.value = BOARDS.some(([text]) => text === board.value.trim()) ? board.value.trim() : "";
    onchange();
  });
  const goal = select(GOALS, String(rules.goal ?? 2048), onchange, { name: "goal" });
  const spawn = h("input", {
    value: rules.spawn ?? "2:0.9,4:0.1",
    name: "spawn",
    spellcheck: false,
    oninput: onchange,
  });
  const start = h("input", {
    value: rules.start ?? "",
    name: "start",
    type: "number",
    min: 0,
    max: 64,
    placeholder: "default",
    oninput: onchange,
  });
  const spawner = select(
    [
      ["fair", "random"],
      ["first", "first empty cell"],
      ["worst", "worst cell for you"],
    ],
    rules.spawner ?? "fair",
    onchange,
    { name: "spawner" },
  );
  const element = h(
    "div.fields",
    {},
    noBoard ? null : [field("Board", known), field("Map", board)],
    boardOnly
      ? null
      : [field("Goal", goal), field("New tiles", spawn), field("First tiles", start), field("Placed by", spawner)],
  );
  return {
    element,
    /** @returns {Api.RulesBody} */
    value() {
      const text = noBoard ? "" : board.value.trim();
      if (boardOnly) return { board: text };
      return {
        board: text,
        goal: Number(goal.value),
        spawn: spawn.value.trim(),
        spawner: spawner.value,
        ...(start.value === "" ? {} : { start: Number(start.value) }),
      };
    },
  };
}

/**
 * Rules in a few words: "4x4, goal 2048".
 * @param {Api.RulesBody} rules
 */
export function rulesWords(rules) {
  const words = [rules.board.length > 24 ? "a map" : rules.board, `goal ${rules.goal}`];
  if (rules.spawner && rules.spawner !== "fair") words.push(`${rules.spawner} spawner`);
  if (rules.spawn && rules.spawn !== "2:0.9,4:0.1") words.push(rules.spawn);
  return words.join(", ");
}
