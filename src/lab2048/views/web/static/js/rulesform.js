// The fields of rules: board, goal, whether a game stops there, spawns, first tiles, spawner.

import { get } from "./api.js";
import { complain, field, h, select } from "./dom.js";
import { t, told } from "./text.js";

/** @type {Promise<Api.KindData[]> | null} */
let kinds = null; // asked for once

/** @type {import("./dom.js").Option[]} */
const GOALS = Array.from({ length: 16 }, (_, i) => 2 ** (i + 2)).map((tile) => [String(tile), String(tile)]);

/** @typedef {ReturnType<typeof rulesForm>} RulesForm */

/**
 * Make the fields for rules; `value()` returns what was entered.  With `boardOnly` it has only the board, with
 * `goalOnly` only board and goal, with `noBoard` the board is "", with `noStop` it does not ask whether games stop at the goal.
 * @param {{ board?: string, goal?: string | number, stop_at_goal?: string | boolean, spawn?: string,
 *   start?: string | number | null, spawner?: string }} rules
 * @param {{ onchange?: () => unknown, boardOnly?: boolean, goalOnly?: boolean, noBoard?: boolean, noStop?: boolean }} [options]
 */
export function rulesForm(
  rules,
  { onchange = () => {}, boardOnly = false, goalOnly = false, noBoard = false, noStop = false } = {},
) {
  const board = h("input", {
    value: rules.board ?? "4x4",
    name: "board",
    spellcheck: false,
    autocomplete: "off",
    required: true,
  });
  const known = select(
    [["", t("another map")]],
    "",
    (text) => {
      if (text) board.value = text;
      else board.select();
      forgetStart();
      onchange();
    },
    { name: "preset" },
  );
  const choose = () => {
    const text = board.value.trim();
    known.value = [...known.options].some(({ value }) => value === text) ? text : "";
  };
  kinds ??= get("/api/shape/kinds");
  kinds.then((found) => {
    const presets = found.flatMap((kind) => kind.presets);
    known.prepend(...presets.map((preset) => h("option", { value: preset.board }, told(preset.label))));
    choose();
  }, (error) => {
    kinds = null;
    complain(error);
  });
  // The number of first tiles belongs to the board before: another one has its own, unless it was typed here.
  let isStartTyped = false;
  const forgetStart = () => {
    if (!isStartTyped) start.value = "";
  };
  board.addEventListener("input", () => {
    choose();
    forgetStart();
    onchange();
  });
  const goal = select(GOALS, String(rules.goal ?? 2048), onchange, { name: "goal" });
  const stop = select(
    [
      ["false", t("keep playing")],
      ["true", t("stop")],
    ],
    String(rules.stop_at_goal ?? false),
    onchange,
    { name: "stop_at_goal" },
  );
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
    placeholder: t("default"),
    oninput: () => {
      isStartTyped = true;
      onchange();
    },
  });
  const spawner = select(
    [
      ["fair", t("random")],
      ["first", t("first empty cell")],
      ["worst", t("worst cell for you")],
    ],
    rules.spawner ?? "fair",
    onchange,
    { name: "spawner" },
  );
  const element = h(
    "div.fields",
    {},
    noBoard ? null : [field(t("Board"), known), field(t("Map"), board)],
    boardOnly ? null : [field(t("Goal"), goal), noStop ? null : field(t("At the goal"), stop)],
    boardOnly || goalOnly
      ? null
      : [field(t("New tiles"), spawn), field(t("First tiles"), start), field(t("Placed by"), spawner)],
  );
  return {
    element,
    /**
     * Offer no goal above the largest tile that the board can hold.
     * @param {number} most
     */
    limitGoal(most) {
      for (const option of goal.options) option.disabled = Number(option.value) > most;
      if (Number(goal.value) <= most) return;
      goal.value = [...goal.options].filter(({ disabled }) => !disabled).at(-1)?.value ?? goal.value;
      onchange();
    },
    /** @returns {Api.RulesBody} */
    value() {
      const text = noBoard ? "" : board.value.trim();
      if (boardOnly) return { board: text };
      const aims = { board: text, goal: Number(goal.value), ...(stop.value === "true" ? { stop_at_goal: true } : {}) };
      if (goalOnly) return aims;
      return {
        ...aims,
        spawn: spawn.value.trim(),
        spawner: spawner.value,
        ...(start.value === "" ? {} : { start: Number(start.value) }),
      };
    },
  };
}
