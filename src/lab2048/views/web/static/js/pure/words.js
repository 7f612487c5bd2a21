// A turn in words, for screen readers.

import { t } from "../text.js";
import { slide, tile } from "./slide.js";

/**
 * "Left. 4 and 4 made 8, plus 8. New 2 at row 3 column 1. 6 empty."
 * @param {string} name of the move
 * @param {number[]} before ranks
 * @param {number[][]} lines of the move
 * @param {{ cell: number, rank: number } | null} spawn
 * @param {(cell: number) => string} placeOf
 * @param {number} [free] the rank that never merges; 0: none
 */
export function sayTurn(name, before, lines, spawn, placeOf, free = 0) {
  const { ranks, steps, reward } = slide(before, lines, [], free);
  const merged = new Map(steps.filter((step) => step.merges).map((step) => [step.to, step.rank])); // by cell
  const words = [capital(name) + "."];
  /** @type {Map<number, number>} */
  const counts = new Map(); // pairs that merged, by rank
  for (const rank of [...merged.values()].sort((a, b) => b - a)) counts.set(rank, (counts.get(rank) ?? 0) + 1);
  const merges = [...counts].map(([rank, n]) =>
    n === 1
      ? t("{old} and {old} made {made}", { old: String(tile(rank)), made: String(tile(rank + 1)) })
      : t("{n} pairs of {old} made {made}", { n, old: String(tile(rank)), made: String(tile(rank + 1)) }),
  );
  if (merges.length) words.push(t("{merges}, plus {reward}.", { merges: merges.join(", "), reward }));
  let empty = ranks.filter((rank) => rank === 0).length;
  if (spawn && spawn.cell >= 0) {
    words.push(t("New {tile} at {place}.", { tile: String(tile(spawn.rank)), place: placeOf(spawn.cell) }));
    empty -= 1;
  }
  words.push(t("{n} empty.", { n: empty }));
  return words.join(" ");
}

/**
 * A board in a few words: "4x4", "triangle, side 4", "4x4 with bricks", "position on 4x4".
 * @param {string} board as rules write it
 */
export function boardWords(board) {
  const [name, kind, n] = /^(hex|tri)(\d+):?/.exec(board) ?? [""];
  const map = /^\d+x\d+$/.test(board) ? "" : board.slice(name.length);
  const [first, ...others] = map.split(/ ?[|/] ?/);
  const inSquares = map ? `${others.length + 1}x${(first.includes(" ") ? first.split(" ") : first).length}` : board;
  const size = kind === "hex" ? t("hexagon, radius {n}", { n }) : kind === "tri" ? t("triangle, side {n}", { n }) : inSquares;
  if (/\d/.test(map)) return t("position on {board}", { board: size });
  if (/x/.test(map)) return t("{board} with bricks", { board: size });
  if (/A/.test(map)) return t("{board} with anchors", { board: size });
  return /F/.test(map) ? t("{board} with free large tiles", { board: size }) : size;
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
