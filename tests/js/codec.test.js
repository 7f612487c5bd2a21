import assert from "node:assert/strict";
import { test } from "node:test";

import {
  readAddress,
  rowsOf,
  writeAddress,
  writeMap,
} from "../../src/lab2048/views/web/static/js/pure/codec.js";
import { golden } from "./golden.js";

test("maps are written as Python writes them", () => {
  for (const { shape, ranks, text } of golden.maps) {
    assert.equal(writeMap(rowsOf(shape.rows, ranks), shape), text);
  }
});

test("addresses are read as they were written", () => {
  const where = { page: "games", rest: ["12", "a/b"], query: { turn: "40", rules: "2 4|# x" } };
  assert.deepEqual(readAddress(writeAddress(where.page, where.rest, where.query)), where);
  assert.deepEqual(readAddress(""), { page: "play", rest: [], query: {} });
  assert.deepEqual(readAddress("#/watch"), { page: "watch", rest: [], query: {} });
  assert.equal(readAddress("#/games/%zz").rest[0], "%zz"); // typed by hand, and no reason to fail
  assert.equal(writeAddress("play", [], { seed: undefined }), "#/play");
});
