import assert from "node:assert/strict";
import { test } from "node:test";

import { Game } from "../../src/lab2048/views/web/static/js/widget/game.js";
import { Network } from "../../src/lab2048/views/web/static/js/widget/network.js";
import { Player, slideInto } from "../../src/lab2048/views/web/static/js/widget/player.js";
import { golden } from "./golden.js";

const SPAWNS = [
  { rank: 1, probability: 0.9 },
  { rank: 2, probability: 0.1 },
];

test("the search slides boards as the page does", () => {
  for (const { lines, holding, boards } of golden.slides) {
    if (holding.some((cells) => cells.length)) continue; // networks of the widget know no anchors
    for (const { ranks, slides, legal } of boards) {
      slides.forEach(([expected, reward], move) => {
        const after = new Uint8Array(ranks.length).fill(9);
        const typed = lines[move].map((line) => Uint8Array.from(line));
        const found = slideInto(Uint8Array.from(ranks), typed, after);
        assert.equal(found, legal.includes(move) ? reward : -1);
        if (found >= 0) assert.deepEqual([...after], expected);
      });
    }
  }
});

test("a value is the sum of the weights, by the stage of the highest tile", () => {
  const lookups = [
    { table: 0, cells: [0, 1] },
    { table: 0, cells: [1, 0] },
  ];
  const data = { radix: 3, step: 0.5, stages: [2], sizes: [9, 9], lookups, weights: "" };
  const network = new Network(data, [
    Int16Array.from([0, 1, 2, 3, 4, 5, 6, 7, 8]),
    Int16Array.from([0, 10, 20, 30, 40, 50, 60, 70, 80]),
  ]);
  assert.equal(network.value(Uint8Array.from([1, 0])), 0.5 * (1 + 3));
  assert.equal(network.value(Uint8Array.from([2, 1])), 0.5 * (50 + 70));
  assert.equal(network.value(Uint8Array.from([5, 1])), 0.5 * (50 + 70)); // above the radix: clamped
});

test("a network is read from its compressed bytes", async () => {
  const bytes = await new Response(
    new Blob([Uint8Array.from([1, 0, 255, 255])]).stream().pipeThrough(new CompressionStream("gzip")),
  ).arrayBuffer();
  const weights = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  const lookups = [{ table: 0, cells: [0] }];
  const network = await Network.load({ radix: 2, step: 1, stages: [], sizes: [2], lookups, weights });
  assert.equal(network.value(Uint8Array.from([0])), 1);
  assert.equal(network.value(Uint8Array.from([1])), -1);
});

test("the player takes the reward that it sees, at every depth", () => {
  const zero = new Network({ radix: 16, step: 1, stages: [], sizes: [16], lookups: [], weights: "" }, [
    new Int16Array(16),
  ]);
  const classic = golden.slides.find(({ boards }) => boards[0].ranks.length === 16);
  assert.ok(classic);
  const player = new Player(zero, classic.lines, SPAWNS);
  const ranks = [5, 5, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (const ms of [0, 20]) {
    const { move, values } = player.choose(ranks, ms);
    assert.ok((values[move] ?? 0) >= 64);
  }
  assert.equal(player.choose([1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6, 4, 5, 6, 7], 5).move, -1);
});

test("a game spawns, scores, ends and goes back", () => {
  const classic = golden.slides.find(({ boards }) => boards[0].ranks.length === 16);
  assert.ok(classic);
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const game = new Game({ n_cells: 16, lines: classic.lines }, SPAWNS, 2, random);
  assert.equal(game.ranks.filter(Boolean).length, 2);
  assert.equal(game.undo(), false);
  const states = [];
  while (!game.isOver) {
    states.push([...game.ranks]);
    if (![0, 1, 2, 3].some((move) => game.play(move))) break;
  }
  assert.equal(game.nMoves, states.length);
  assert.ok(game.score > 0 && game.highest > 3);
  for (const state of states.reverse()) {
    assert.ok(game.undo());
    assert.deepEqual(game.ranks, state);
  }
  assert.equal(game.score, 0);
});
