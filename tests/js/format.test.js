import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bytes,
  clock,
  date,
  duration,
  number,
  percent,
  short,
} from "../../src/lab2048/views/web/static/js/pure/format.js";
import { golden } from "./golden.js";

test("numbers, rates and times read as Python writes them", () => {
  for (const [value, text] of golden.numbers) assert.equal(number(value), text);
  for (const [rate, text] of golden.rates) assert.equal(percent(rate), text);
  for (const [seconds, text] of golden.seconds) assert.equal(duration(seconds), text);
});

test("short numbers fit a narrow place", () => {
  assert.deepEqual([182400, 9999, 10000, 1234567, -14500, 3.25, 999_960].map(short), [
    "182.4k",
    "9,999",
    "10.0k",
    "1.2M",
    "-14.5k",
    "3.25",
    "1.0M",
  ]);
  assert.equal(short(null), "-");
});

test("sizes, clocks and days", () => {
  assert.deepEqual([12, 4_200_000, 1.5e9].map(bytes), ["12 bytes", "4.2 MB", "1.5 GB"]);
  assert.deepEqual([3, 125, 12_000].map(clock), ["3 s", "2 min 5 s", "3 h 20 min"]);
  assert.match(date("2026-11-16T08:25:27+00:00"), /^2026-11-1[567] \d\d:\d\d$/);
  assert.equal(date("no day"), "no day");
});
