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

const THEMES = {
  classic: ":root {",
  contrast: '[data-tiles="contrast"] {',
  colourblind: '[data-tiles="colourblind"] {',
  sea: '[data-tiles="sea"] {',
};

test("every tile can be read, in every theme", () => {
  for (const [name, head] of Object.entries(THEMES)) {
    const theme = block(head);
    for (let rank = 1; rank <= 17; rank += 1)
      assert.ok(contrast(theme[`t${rank}`], theme[`i${rank}`]) >= 4.5, `${name} ${rank}`);
  }
});

const linear = (hex) =>
  [1, 3, 5].map((i) => {
    const share = parseInt(hex.slice(i, i + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });

// Machado, Oliveira and Fernandes 2009, severity 1.
const VISION = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** CIELAB of a colour as a kind of vision sees it. */
function labOf(hex, matrix) {
  const rgb = linear(hex);
  const [r, g, b] = matrix.map((row) => Math.min(1, Math.max(0, row.reduce((sum, m, i) => sum + m * rgb[i], 0))));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** The CIEDE2000 difference of two colours. */
function difference(one, two) {
  const [l1, a1, b1] = one;
  const [l2, a2, b2] = two;
  const rad = Math.PI / 180;
  const c = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)));
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (a, b) => (a || b ? (Math.atan2(b, a) / rad + 360) % 360 : 0);
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)];
  const turn = c1 * c2 === 0 ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dh = 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * rad);
  const [lm, cm] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const hm = c1 * c2 === 0 ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const t =
    1 - 0.17 * Math.cos((hm - 30) * rad) + 0.24 * Math.cos(2 * hm * rad) + 0.32 * Math.cos((3 * hm + 6) * rad) - 0.2 * Math.cos((4 * hm - 63) * rad);
  const rc = 2 * Math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7));
  const rt = -Math.sin(60 * Math.exp(-(((hm - 275) / 25) ** 2)) * rad) * rc;
  const sl = 1 + (0.015 * (lm - 50) ** 2) / Math.sqrt(20 + (lm - 50) ** 2);
  const [x, y, z] = [(l2 - l1) / sl, (c2 - c1) / (1 + 0.045 * cm), dh / (1 + 0.015 * cm * t)];
  return Math.sqrt(x * x + y * y + z * z + rt * y * z);
}

test("colour-blind tiles of neighbouring values are easy to tell apart for every kind of vision", () => {
  const theme = block(THEMES.colourblind);
  for (const [name, matrix] of Object.entries(VISION)) {
    for (let rank = 1; rank < 17; rank += 1) {
      const [a, b] = [rank, rank + 1].map((each) => labOf(theme[`t${each}`], matrix));
      assert.ok(difference(a, b) >= 20, `${name}: ${2 ** rank} and ${2 ** (rank + 1)}`);
    }
  }
});

test("words can be read on the page and its panels, light and dark", () => {
  const tokens = block(":root {");
  const sea = { ...tokens, ...block(THEMES.sea) };
  for (const theme of [tokens, sea]) checkWords(theme);
});

function checkWords(tokens) {
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
}
