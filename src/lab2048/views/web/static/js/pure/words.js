// A turn in words, for those who hear the board.

import { number } from "./format.js";
import { slide, tile } from "./slide.js";

/** "Left. 4 and 4 made 8, plus 8. New 2 at row 3 column 1. 6 empty." */
export function sayTurn(name, before, lines, spawn, placeOf) {
  const { ranks, steps, reward } = slide(before, lines);
  const made = [];
  const seen = new Set();
  for (const step of steps) {
    if (!step.merges || seen.has(step.to)) continue;
    seen.add(step.to);
    made.push(step.rank);
  }
  const words = [capital(name) + "."];
  const counts = new Map();
  made.sort((a, b) => b - a).forEach((rank) => counts.set(rank, (counts.get(rank) ?? 0) + 1));
  const merges = [...counts].map(([rank, n]) =>
    n === 1
      ? `${tile(rank)} and ${tile(rank)} made ${tile(rank + 1)}`
      : `${n} pairs of ${tile(rank)} made ${tile(rank + 1)}`,
  );
  if (merges.length) words.push(`${merges.join(", ")}, plus ${number(reward)}.`);
  let empty = ranks.filter((rank) => rank === 0).length;
  if (spawn && spawn.cell >= 0) {
    words.push(`New ${tile(spawn.rank)} at ${placeOf(spawn.cell)}.`);
    empty -= 1;
  }
  words.push(`${empty} empty.`);
  return words.join(" ");
}

/** Where a cell is, in words: rows and columns of squares, columns of hexagons from the left. */
export function places(rows, hexagonal) {
  const names = [];
  rows.forEach((row, i) =>
    row.forEach((cell, j) => {
      if (cell >= 0) names[cell] = hexagonal ? `column ${i + 1} cell ${j + 1}` : `row ${i + 1} column ${j + 1}`;
    }),
  );
  return names;
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
