// The moves around a position of a review, in words.

import { labelOf } from "../players.js";
import { number } from "../pure/format.js";
import { tile } from "../pure/slide.js";
import { capital } from "../pure/words.js";
import { t, told } from "../text.js";
import { BY_LETTER, SIGNS, WORDS, amount } from "./grades.js";

/**
 * The move that led to a position.
 * @param {Api.ShapeData} shape
 * @param {Api.TurnData | undefined} last
 * @param {(cell: number) => string} placeOf
 */
export function lastWords(shape, last, placeOf) {
  if (!last) return t("The first board.");
  return t("{move} by {player}, plus {reward}; then a {tile} at {place}.", {
    move: capital(told(shape.moves[last.move].name)),
    player: last.mover === "human" ? t("me") : labelOf(last.mover),
    reward: last.reward,
    tile: tile(last.rank),
    place: placeOf(last.cell),
  });
}

/**
 * What was played here, and how good it was.
 * @param {Api.ShapeData} shape
 * @param {Api.TurnData | undefined} next
 * @param {number} at the number of moves before it
 * @param {Api.ReviewData | null} review
 */
export function nextWords(shape, next, at, review) {
  if (!next) return t("The last board.");
  const made = `${number(at + 1)} ${capital(told(shape.moves[next.move].name))}`;
  if (!review || at >= review.grade_letters.length) return t("Next: {move}", { move: made });
  const grade = BY_LETTER[review.grade_letters[at]];
  if (grade === "best") return t("Next: {move}, the best move", { move: made });
  if (grade === "unclear") return t("Next: {move}, unclear: a second look does not confirm a loss", { move: made });
  return t("Next: {move}{sign}, {grade}: it loses {loss}; {best} is better", {
    move: made,
    sign: SIGNS[grade],
    grade: WORDS[grade],
    loss: amount(review.losses[at], review.unit),
    best: told(shape.moves[review.best[at]].name),
  });
}
