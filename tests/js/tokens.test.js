import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const CSS = readFileSync(new URL("../../src/lab2048/views/web/static/css/tokens.css", import.meta.url), "utf8");

/** The custom properties of a block that begins with `head`. */
function block(head) {
  const body = CSS.slice(CSS.indexOf(head) + head.length).split("\n}")[0];
  return Object.fromEntries(
    [...body.matchAll(/--([\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value.trim()]),
  );
}

function luminance(hex) {
  const part = (i) => {
    const share = parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(0) + 0.7152 * part(1) + 0.0722 * part(2);
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

test("every tile can be read, in both themes", () => {
  const classic = block(":root {");
  const cividis = block('[data-tiles="contrast"] {');
  for (let rank = 1; rank <= 17; rank += 1) {
    assert.ok(contrast(classic[`t${rank}`], classic.ink) >= 4.5, `classic ${rank}`);
    const ink = rank <= 8 ? cividis["ink-low"] : cividis.ink;
    assert.ok(contrast(cividis[`t${rank}`], ink) >= 4.5, `contrast ${rank}`);
  }
});

test("words can be read on the page and its panels, light and dark", () => {
  const tokens = block(":root {");
  const both = (name) => (tokens[name].match(/light-dark\((#\w+), (#\w+)\)/) ?? []).slice(1, 3);
  for (const ground of ["page", "panel"]) {
    for (const words of ["text", "quiet", "accent", "best-text", "bad"]) {
      both(words).forEach((colour, i) =>
        assert.ok(contrast(colour, both(ground)[i]) >= 4.5, `${words} on ${ground} ${i}`),
      );
    }
    both("edge").forEach((colour, i) => assert.ok(contrast(colour, both(ground)[i]) >= 3, `edge on ${ground} ${i}`));
  }
  both("accent-ink").forEach((colour, i) => assert.ok(contrast(colour, both("accent")[i]) >= 4.5));
});
