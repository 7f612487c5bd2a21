// The summary of a review: accuracy, the ledger, grades, phases, key moments and spawns.

import { button, h } from "../dom.js";
import { labelOf } from "../players.js";
import { number } from "../pure/format.js";
import { capital } from "../pure/words.js";
import { t, tn } from "../text.js";
import { amount, COUNTS, SIGNS, signed } from "./grades.js";

/** @typedef {import("./grades.js").Grade} Grade */

/**
 * @param {Api.ReviewData} review
 * @param {object} use
 * @param {Api.TurnData[]} use.turns
 * @param {(move: number) => string} use.nameOf
 * @param {(cell: number) => string} use.placeOf
 * @param {(at: number) => unknown} use.seek
 * @param {(grade: Grade) => unknown} use.next go to the next move of a grade
 * @returns {HTMLElement[]} panels
 */
export function summary(review, { turns, nameOf, placeOf, seek, next }) {
  const { unit } = review;
  const grades = /** @type {[Grade, number][]} */ (Object.entries(review.grades));
  const ledger = [
    [t("Value at the start"), amount(review.initial_value, unit), ""],
    [t("Luck"), signed(review.luck, unit), t("what the spawns gave")],
    [t("Skill"), signed(review.skill, unit), t("what the moves lost")],
    [t("Drift"), signed(review.drift, unit), t("what the reviewer changed its mind by")],
    [review.is_over ? t("Final score") : t("Expected result"), amount(review.final_score, unit), ""],
  ];
  /**
   * @param {number} move from 1
   * @param {string} text
   * @param {string} change
   */
  const moment = (move, text, change) =>
    h(
      "button.review-moment",
      { type: "button", onclick: () => seek(move - 1) },
      h("b", {}, number(move)),
      h("span", {}, text),
      h("span.figure", {}, change),
    );
  /** @param {Api.SpawnData} spawn */
  const spawned = ({ move, cell, tile, luck }) => moment(move, t("{tile} at {place}", { tile: String(tile), place: placeOf(cell) }), signed(luck, unit));
  /** @param {number} move */
  const bad = (move) => {
    const [made, best] = [turns[move - 1].move, review.best[move - 1]];
    return moment(
      move,
      t("{made}; {best} is better", { made: capital(nameOf(made)), best: nameOf(best) }),
      `−${amount(review.losses[move - 1], unit)}`,
    );
  };
  return [
    h(
      "section.panel",
      {},
      h("h2", {}, t("Review"), " ", h("small", { title: review.reviewer }, t("by {reviewer}", { reviewer: labelOf(review.reviewer) }))),
      h(
        "div.review-figures",
        {},
        figure(accuracyText(review.accuracy), t("accuracy")),
        turns.length < 1000
          ? figure(amount(-review.skill, unit), t("lost in the game"))
          : figure(amount(review.error_rate, unit), t("lost per 1,000 moves")),
        figure(amount(review.luck_adjusted_score, unit), t("score without luck")),
      ),
      h(
        "div.row.grades",
        {},
        grades.map(([grade, n]) =>
          button(h("span", {}, SIGNS[grade] ? `${SIGNS[grade]} ` : "", COUNTS[grade](n)), () => next(grade), {
            slim: true,
            disabled: !n,
            className: `button slim grade ${grade}`,
          }),
        ),
      ),
      h(
        "table.ledger",
        {},
        ledger.map(([name, value, words]) => h("tr", {}, h("th", { scope: "row" }, name), h("td.figure", {}, value), h("td.quiet.small", {}, words))),
      ),
    ),
    review.phases.length > 1
      ? h(
          "section.panel",
          {},
          h("h2", {}, t("Phases")),
          h(
            "table.ledger",
            {},
            h("tr", {}, ...[t("Phase"), t("Moves"), t("Accuracy"), t("Luck"), t("Skill")].map((name) => h("th", { scope: "col" }, name))),
            review.phases.map((phase) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, capital(phase.name)),
                h("td.figure", {}, number(phase.n_moves)),
                h("td.figure", {}, accuracyText(phase.accuracy)),
                h("td.figure", {}, signed(phase.luck, unit)),
                h("td.figure", {}, signed(phase.skill, unit)),
              ),
            ),
          ),
        )
      : h("span", { hidden: true }),
    h(
      "section.panel",
      {},
      h("h2", {}, t("Key moments")),
      h("div.review-moments", {}, review.worst_moves.length ? review.worst_moves.map(bad) : h("p.quiet.small", {}, t("No bad moves."))),
      h("details", {}, h("summary", {}, t("Luckiest spawns")), h("div.review-moments", {}, review.luckiest.map(spawned))),
      h("details", {}, h("summary", {}, t("Unluckiest spawns")), h("div.review-moments", {}, review.unluckiest.map(spawned))),
      review.milestones.length
        ? h(
            "div.row",
            {},
            h("span.quiet.small", {}, t("New tiles")),
            review.milestones
              .slice(-10)
              .map(({ tile, move }) => button(String(tile), () => seek(move), { slim: true, title: tn(move, "{n} move", "{n} moves") })),
          )
        : null,
    ),
  ];
}

/**
 * @param {string} value
 * @param {string} name
 */
function figure(value, name) {
  return h("div", {}, h("b", {}, value), h("span.quiet.small", {}, name));
}

/**
 * Rounded down: 100% means that nothing was lost.
 * @param {number} accuracy
 */
function accuracyText(accuracy) {
  return `${(Math.floor(10 * accuracy + 1e-9) / 10).toFixed(1)}%`;
}
