import assert from "node:assert/strict";
import { test } from "node:test";

import { boardWords, capital, sayTurn } from "../../src/lab2048/views/web/static/js/pure/words.js";

test("a turn in words", () => {
  const names = [1, 2, 3, 4].map((j) => `row 1 column ${j}`).concat([1, 3, 4].map((j) => `row 2 column ${j}`));
  const left = [[0, 1, 2, 3], [4], [5, 6]];
  const say = (before, spawn) => sayTurn("left", before, left, spawn, (cell) => names[cell]);
  assert.equal(
    say([2, 2, 0, 0, 1, 0, 0], { cell: 6, rank: 1 }),
    "Left. 4 and 4 made 8, plus 8. New 2 at row 2 column 4. 4 empty.",
  );
  assert.equal(say([2, 2, 2, 2, 0, 1, 1], null), "Left. 2 pairs of 4 made 8, 2 and 2 made 4, plus 20. 4 empty.");
  assert.equal(say([0, 1, 0, 0, 0, 0, 0], { cell: 1, rank: 2 }), "Left. New 4 at row 1 column 2. 5 empty.");
  assert.equal(capital("down-left"), "Down-left");
});

test("a board in a few words", () => {
  const words = {
    "4x4": "4x4",
    hex2: "hexagon, radius 2",
    tri4: "triangle, side 4",
    "####|#xx#|####": "3x4 with bricks",
    "AA#G|####": "2x4 with anchors",
    "FF##|####": "2x4 with free large tiles",
    "24#|##x": "position on 2x3",
    "1024 # / # 2": "position on 2x2",
    "tri2:#|#2#": "position on triangle, side 2",
    "tri2:#|#x#": "triangle, side 2 with bricks",
  };
  for (const [board, said] of Object.entries(words)) assert.equal(boardWords(board), said);
});
