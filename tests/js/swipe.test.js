import assert from "node:assert/strict";
import { test } from "node:test";

import { Swipe } from "../../src/lab2048/views/web/static/js/pure/swipe.js";

const SQUARE = [
  [0, -1],
  [1, 0],
  [0, 1],
  [-1, 0],
];
const A = Math.sqrt(3) / 2;
const HEXAGON = [
  [0, -1],
  [A, -0.5],
  [A, 0.5],
  [0, 1],
  [-A, 0.5],
  [-A, -0.5],
];

function swiped(vectors, dx, dy, side = 0) {
  const swipe = new Swipe(vectors, side);
  swipe.down(1, 100, 100);
  return swipe.moved(1, 100 + dx, 100 + dy);
}

test("a swipe is decided at 24 pixels, by the nearest direction", () => {
  assert.equal(swiped(SQUARE, -20, 0), null);
  assert.equal(swiped(SQUARE, -24, 3), 3);
  assert.equal(swiped(SQUARE, 2, 40), 2);
  assert.equal(swiped(SQUARE, 25, 23), null); // between two directions: wait
  assert.equal(swiped(SQUARE, -24, 0, 600), null); // 6% of a large board
  HEXAGON.forEach(([x, y], move) => assert.equal(swiped(HEXAGON, 30 * x, 30 * y), move));
});

test("one move a gesture, and two fingers are none", () => {
  const swipe = new Swipe(SQUARE);
  swipe.down(1, 0, 0);
  assert.equal(swipe.moved(1, 30, 0), 1);
  assert.equal(swipe.moved(1, 90, 0), null);
  swipe.up(1);
  swipe.down(2, 0, 0);
  assert.equal(swipe.moved(2, 0, -30), 0);
  swipe.up(2);
  swipe.down(3, 0, 0);
  swipe.down(4, 50, 50);
  assert.equal(swipe.moved(4, 50, 90), null);
  assert.equal(swipe.moved(3, 0, 90), null);
  swipe.up(4);
  assert.equal(swipe.moved(3, 0, 90), null);
  swipe.up(3);
  swipe.down(5, 0, 0);
  assert.equal(swipe.moved(5, 0, 30), 2);
});
