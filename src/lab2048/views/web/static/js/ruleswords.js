// Rules in words.

import { boardWords } from "./pure/words.js";
import { t } from "./text.js";

/**
 * Rules in a few words: "4x4, goal 2048".
 * @param {Api.RulesBody} rules
 */
export function rulesWords(rules) {
  const goal = String(rules.goal ?? 2048);
  const words = [
    boardWords(rules.board),
    rules.stop_at_goal ? t("goal {goal}, stops there", { goal }) : t("goal {goal}", { goal }),
  ];
  if (rules.spawner === "first") words.push(t("tiles in the first empty cell"));
  if (rules.spawner === "worst") words.push(t("tiles in the worst cell"));
  if (rules.spawn && rules.spawn !== "2:0.9,4:0.1") words.push(rules.spawn);
  return words.join(", ");
}
