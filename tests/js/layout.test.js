import assert from "node:assert/strict";
import { test } from "node:test";

import { FRAME_STROKE, GAP, Layout } from "../../src/lab2048/views/web/static/js/pure/layout.js";

/**
 * A board of squares from rows of cells, as the server sends it; -1 is a brick.
 * @param {number[][]} rows
 */
function squares(rows) {
  const entries = rows.flatMap((row, y) =>
    row.map((cell, x) => ({ x, y, cell, outline: 0, name: `row ${y + 1} column ${x + 1}` })),
  );
  const [a, b] = [-0.5, 0.5];
  /** @type {[number, number][][]} */
  const outlines = [
    [
      [a, a],
      [b, a],
      [b, b],
      [a, b],
    ],
  ];
  return { entries, outlines, boxed: true, left: a, top: a, width: rows[0].length, height: rows.length };
}

const BRICKED = squares([
  [0, 1, 2],
  [3, -1, 4],
]);
const numbers = (text) => text.match(/-?[\d.]+/g) ?? [];
const near = (text, share) => assert.ok(Math.abs(parseFloat(text) - 100 * share) < 1e-6, `${text}, not ${share}`);

test("tiles and gaps fill the board", () => {
  const layout = new Layout(BRICKED);
  assert.equal(layout.names[4], "row 2 column 3");
  assert.deepEqual(
    layout.entries.map((entry) => entry.cell),
    [0, 1, 2, 3, 4, -1],
  );
  const wide = 3 + GAP;
  near(layout.boxes[0]["--x"], GAP / wide);
  near(layout.boxes[2]["--x"], (2 + GAP) / wide);
  near(layout.sizes["--w"], (1 - GAP) / wide);
  near(layout.boxes[4]["--y"], (1 + GAP) / (2 + GAP));
  assert.equal(layout.boxes.length, 5);
});

test("the frame is made of whole outlines, and fits the board with its stroke", () => {
  const layout = new Layout({ ...BRICKED, boxed: false });
  assert.equal(layout.polygons.length, 6);
  assert.equal(layout.polygons[1], "0.5,-0.5 1.5,-0.5 1.5,0.5 0.5,0.5");
  const [left, top, wide, high] = layout.viewBox.split(" ").map(Number);
  assert.ok(left <= -0.5 - FRAME_STROKE / 2 && top <= -0.5 - FRAME_STROKE / 2);
  assert.ok(left + wide >= 2.5 + FRAME_STROKE / 2 && top + high >= 1.5 + FRAME_STROKE / 2);
});

test("cells that are no boxes are cut out by their outlines, in boxes around their centres", () => {
  const half = Math.sqrt(3) / 2;
  /** @type {[number, number][]} */
  const up = [
    [0, -1],
    [half, 0.5],
    [-half, 0.5],
  ];
  /** @type {import("../../src/lab2048/views/web/static/js/pure/layout.js").DrawnShape} */
  const shape = {
    entries: [
      { x: 0, y: 0, cell: 0, outline: 0, name: "" },
      { x: half, y: -0.5, cell: 1, outline: 1, name: "" },
    ],
    outlines: [up, up.map(([x, y]) => [-x, -y])],
    boxed: false,
    left: -half,
    top: -1,
    width: 3 * half,
    height: 1.5,
  };
  const layout = new Layout(shape);
  assert.match(layout.boxes[0]["--clip"], /^polygon\(50% 0%, 100% 75%, 0% 75%\)$/);
  assert.match(layout.boxes[1]["--clip"], /^polygon\(50% 100%, 0% 25%, 100% 25%\)$/);
  assert.match(layout.boxes[0]["--ring"], /^polygon\(evenodd, /);
  near(layout.sizes["--w"], (2 * half * (1 - GAP)) / (3 * half + 0.2));
});

test("the nearest cell in a direction, past bricks and never off the board", () => {
  const layout = new Layout(BRICKED);
  assert.equal(layout.neighbour(0, 1, 0), 1);
  assert.equal(layout.neighbour(3, 1, 0), 4);
  assert.equal(layout.neighbour(1, -1, 0), 0);
  assert.equal(layout.neighbour(0, -1, 0), 0);
  assert.equal(layout.neighbour(4, 0, -1), 2);
});

test("a tile comes from where it stood", () => {
  const layout = new Layout(BRICKED);
  const [x, y] = numbers(layout.way(2, 0));
  near(x, 2 / (1 - GAP));
  near(y, 0);
});

test("an arrow points out a move and stays on the board, whatever its shape", () => {
  const column = [...Array(4).keys()].map((cell) => [cell]);
  for (const shape of [BRICKED, squares([[0, 1, 2, 3]]), squares(column)]) {
    const { sizes } = new Layout(shape);
    const [wide, high] = [Number(sizes["--span"]), Number(sizes["--span"]) / Number(sizes["--wide"])];
    for (const [dx, dy, angle] of [
      [1, 0, 0],
      [0, 1, 90],
      [-1, 0, 180],
      [0, -1, -90],
    ]) {
      const [, , x, y, turned] = numbers(new Layout(shape).pointer({ dx, dy })).map(Number);
      assert.equal(turned, angle);
      // The arrow is 0.22 of the board wide and 0.088 high; shares are of these.
      assert.ok((Math.abs(x) / 100) * 0.22 * wide <= wide / 2);
      assert.ok((Math.abs(y) / 100) * 0.088 * wide <= high / 2);
    }
  }
});
