// The fields of rules: board, goal, spawns, first tiles, who places them.

import { field, h, select } from "./dom.js";

export const BOARDS = [
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
const GOALS = Array.from({ length: 16 }, (_, i) => 2 ** (i + 2)).map((tile) => [String(tile), String(tile)]);

/** Fields for rules; `value()` gives them, with what was left alone left out. */
export function rulesForm(rules = {}, { onchange = () => {}, boardOnly = false, noBoard = false } = {}) {
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
    placeholder: "as usual",
    oninput: onchange,
  });
  const spawner = select(
    [
      ["fair", "fair dice"],
      ["first", "always the first cell"],
      ["worst", "the worst for you"],
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
    value() {
      const made = noBoard ? {} : { board: board.value.trim() };
      if (boardOnly) return made;
      made.goal = Number(goal.value);
      made.spawn = spawn.value.trim();
      made.spawner = spawner.value;
      if (start.value !== "") made.start = Number(start.value);
      return made;
    },
  };
}

/** Rules in a few words: "4x4, goal 2048". */
export function rulesWords(rules) {
  const words = [rules.board.length > 24 ? "a map" : rules.board, `goal ${rules.goal}`];
  if (rules.spawner && rules.spawner !== "fair") words.push(`${rules.spawner} spawner`);
  if (rules.spawn && rules.spawn !== "2:0.9,4:0.1") words.push(rules.spawn);
  return words.join(", ");
}
