import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bytes,
  chances,
  clock,
  date,
  duration,
  number,
  percent,
  scores,
  short, shorts,
} from "../../src/lab2048/views/web/static/js/pure/format.js";
import { golden } from "./golden.js";

test("numbers, rates and times read as Python writes them", () => {
  for (const [value, text] of golden.numbers) assert.equal(number(value), text);
  for (const [rate, text] of golden.rates) assert.equal(percent(rate), text);
  for (const [seconds, text] of golden.seconds) assert.equal(duration(seconds), text);
});

test("short numbers have enough digits to tell them apart", () => {
  assert.deepEqual(shorts([182_412, 182_380, 150_000]), ["182,412", "182,380", "150,000"]); // no longer than 182.41k
  assert.deepEqual(shorts([2_406_443, 2_405_214]), ["2.406M", "2.405M"]);
  assert.deepEqual(shorts([182_400, 150_000]), ["182.4k", "150.0k"]);
  assert.deepEqual(shorts([182_412.1, 182_412.2]), ["182,412.1", "182,412.2"]);
  assert.deepEqual(shorts([182_412.11, 182_412.12]), ["182,412", "182,412"]); // the same, but for noise
  assert.deepEqual(shorts([512.25, 512]), ["512.3", "512.0"]);
  assert.deepEqual(shorts([]), []);
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

test("values of moves have the digits that tell them apart", () => {
  assert.deepEqual(chances([0.999999, 0.99999]), ["99.99990%", "99.99900%"]);
  assert.deepEqual(chances([0.5, 0.25]), ["50%", "25%"]);
  assert.deepEqual(chances([0.96251125, 0.9625]), ["96.251%", "96.250%"]);
  assert.deepEqual(chances([0.8, 0.8]), ["80%", "80%"]);
  assert.deepEqual(chances([1, 0]), ["100%", "0%"]);
  assert.deepEqual(chances([0.123456789, 0.12345679]), ["12%", "12%"], "less than a table knows");
  assert.deepEqual(chances([0.03, 0.97]), ["3.0%", "97.0%"]);
  assert.deepEqual(chances([1, 1], [1.2e-13, 1.3e-13]), ["99.999999999988%", "99.999999999987%"]);
  assert.deepEqual(chances([]), []);
  assert.deepEqual(scores([1234.44, 1234.31, 90]), ["1,234.4", "1,234.3", "90.0"]);
  assert.deepEqual(scores([68, 12.5]), ["68", "12.5"]);
  assert.deepEqual(scores([-3.25, -3.251]), ["-3.250", "-3.251"]);
});
