import assert from "node:assert/strict";
import { test } from "node:test";

import { slide, tile, turn } from "../../src/lab2048/views/web/static/js/pure/slide.js";
import { golden } from "./golden.js";

test("boards slide as the reference says, on every kind of shape", () => {
  let n = 0;
  for (const { lines, holding, free, boards } of golden.slides) {
    for (const { ranks, slides, legal } of boards) {
      slides.forEach(([after, reward], move) => {
        const slid = slide(ranks, lines[move], holding[move], free);
        assert.deepEqual(slid.ranks, after);
        assert.equal(slid.reward, reward);
        assert.equal(slid.changed, legal.includes(move));
        n += 1;
      });
    }
  }
  assert.ok(n > 400);
});

test("steps carry every tile to where it shows", () => {
  for (const { lines, free, boards } of golden.slides) {
    for (const { ranks } of boards) {
      for (const each of lines) {
        const { ranks: after, steps } = slide(ranks, each, [], free);
        const built = new Array(ranks.length).fill(0);
        for (const step of steps) {
          assert.equal(step.rank, ranks[step.from]);
          built[step.to] = step.merges ? step.rank + 1 : step.rank;
        }
        assert.deepEqual(built, after);
        assert.equal(steps.length, ranks.filter(Boolean).length);
      }
    }
  }
});

test("a turn is the slide and its spawn", () => {
  const line = [[0, 1, 2, 3]];
  assert.deepEqual(turn([1, 1, 0, 2], line, { cell: 3, rank: 1 }), [2, 2, 0, 1]);
  assert.deepEqual(turn([1, 1, 1, 1], line, { cell: -1, rank: 0 }), [2, 2, 0, 0]);
  assert.deepEqual(turn([0, 15, 15, 1], line, { cell: 3, rank: 1 }, 15), [15, 15, 1, 1]);
  assert.equal(tile(11), 2048);
  assert.equal(tile(0), 0);
});
