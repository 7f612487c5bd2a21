// A review in one file, without a server: the board, the graph, the summary and the moves.

import "../board.js";
import { button, byId, h } from "../dom.js";
import { seeking } from "../pure/keys.js";
import { t, told } from "../text.js";
import { BY_LETTER } from "./grades.js";
import { ReviewGraph } from "./graph.js";
import { Line } from "./line.js";
import { ReviewMoves } from "./moves.js";
import { summary } from "./summary.js";

/**
 * @typedef {object} FileData
 * @property {string} title
 * @property {Api.ShapeData} shape
 * @property {number[]} first
 * @property {[move: number, reward: number, cell: number, rank: number][]} turns
 * @property {Api.ReviewData} review
 */

/** @type {FileData} */
const data = JSON.parse(byId("data").textContent ?? "");
const { shape, review } = data;
const turns = data.turns.map(([move, reward, cell, rank], i) => ({ number: i + 1, move, reward, cell, rank, mover: "" }));
const line = new Line(shape, data.first, turns);
const board = h("lab-board", { quiet: true });
const facts = h("p.facts");
const graph = new ReviewGraph(seek);
const moves = new ReviewMoves(turns, shape.moves, seek);
const slider = h("input", { type: "range", min: 0, max: turns.length, "aria-label": t("Move"), oninput: ({ currentTarget }) => seek(Number(currentTarget.value)) });
let now = 0;

/** @param {number} at */
function seek(at) {
  now = Math.max(0, Math.min(turns.length, at));
  board.show(line.boardAt(now), turns[now - 1]?.cell ?? -1);
  board.point(review.best[now] ?? null);
  slider.value = String(now);
  facts.textContent = t("{at} of {n} moves · score {score}", { at: now, n: turns.length, score: line.scores[now] });
  graph.mark(now);
  moves.mark(now);
}

/** @param {import("./grades.js").Grade} grade */
function next(grade) {
  const letters = [...review.grade_letters];
  const later = letters.findIndex((letter, i) => i > now && BY_LETTER[letter] === grade);
  const first = letters.findIndex((letter) => BY_LETTER[letter] === grade);
  if (later >= 0 || first >= 0) seek(later >= 0 ? later : first);
}

board.shape = shape;
byId("main").append(
  h("h1", {}, data.title),
  h(
    "div.two.review",
    {},
    h(
      "div.left-col",
      {},
      board,
      facts,
      slider,
      h("div.bar", {}, button("‹", () => seek(now - 1), { "aria-label": t("One move back") }), button("›", () => seek(now + 1), { "aria-label": t("One move forward") })),
      h("section.panel", {}, h("h2", {}, t("Value, luck and skill")), graph.element),
    ),
    h(
      "aside",
      {},
      ...summary(review, { turns, nameOf: (move) => told(shape.moves[move].name), placeOf: (cell) => board.placeOf(cell), seek, next }),
      moves.element,
    ),
  ),
);
graph.draw(review, line.scores);
moves.show(review);
seek(0);
document.addEventListener("keydown", (event) => {
  const wish = seeking(event);
  if (!wish || (!wish.seek && !wish.to)) return;
  event.preventDefault();
  seek(wish.to ? (wish.to === "start" ? 0 : turns.length) : now + (wish.seek ?? 0));
});
