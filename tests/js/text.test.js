import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { t, tn } from "../../src/lab2048/views/web/static/js/text.js";

const STATIC = new URL("../../src/lab2048/views/web/static/", import.meta.url);
const STRING = String.raw`"(?:[^"\\\n]|\\.)*"`;
const CALL = new RegExp(String.raw`(?<![\w.$])t\(\s*(${STRING})`, "g");
const PLURAL = new RegExp(String.raw`(?<![\w.$])tn\(\s*[^"]+?,\s*(${STRING}),\s*(${STRING})`, "g");
const ANY_CALL = /(?<![\w.$])tn?\(/g;

/** All scripts of the page, without catalogues and comments. */
function scripts() {
  return readdirSync(new URL("js/", STATIC), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".js") && !name.startsWith("lang") && name !== "text.js")
    .map((name) => {
      const text = readFileSync(new URL(`js/${name}`, STATIC), "utf8");
      return [name, text.replace(/\/\*[^]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "")];
    });
}

/** Every sentence that the page shows. */
function sentences() {
  const found = scripts().flatMap(([name, text]) => {
    const calls = [...text.matchAll(CALL)].map(([, sentence]) => [sentence]);
    const plurals = [...text.matchAll(PLURAL)].map(([, one, many]) => [one, many]);
    assert.equal(calls.length + plurals.length, [...text.matchAll(ANY_CALL)].length, `${name}: t() needs a literal string`);
    return [...calls, ...plurals].flat().map((literal) => JSON.parse(literal));
  });
  const frame = readFileSync(new URL("index.html", STATIC), "utf8");
  const texts = [...frame.matchAll(/ data-t>([^<]+)</g)].map(([, text]) => text);
  const labels = [...frame.matchAll(/aria-label="([^"]+)" data-t-label/g)].map(([, text]) => text);
  return new Set([...found, ...texts, ...labels]);
}

const names = (sentence) => [...sentence.matchAll(/\{\w+\}/g)].map(String).sort().join();

for (const file of readdirSync(new URL("js/lang/", STATIC))) {
  test(`${file} has every sentence of the page`, async () => {
    const { sentences: known } = await import(new URL(`js/lang/${file}`, STATIC).href);
    const wanted = sentences();
    const lacking = [...wanted].filter((each) => !known[each]);
    assert.ok(!lacking.length, `${file} lacks: ${lacking.map((each) => JSON.stringify(each)).join(", ")}`);
    const unused = Object.keys(known).filter((each) => !wanted.has(each));
    assert.ok(!unused.length, `${file} has what the page does not say: ${unused.map((each) => JSON.stringify(each)).join(", ")}`);
  });

  test(`the sentences of ${file} keep their values`, async () => {
    const { sentences: known } = await import(new URL(`js/lang/${file}`, STATIC).href);
    for (const [english, other] of Object.entries(known)) assert.equal(names(other), names(english), english);
  });
}

test("values are filled in, numbers as numbers", () => {
  assert.equal(t("Score {score} by {who}", { score: 12345, who: "me" }), "Score 12,345 by me");
  assert.equal(t("Score {score}"), "Score {score}");
  assert.equal(tn(1, "{n} move", "{n} moves"), "1 move");
  assert.equal(tn(1200, "{n} move", "{n} moves"), "1,200 moves");
});
