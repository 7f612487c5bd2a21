// The graph of a review: the expected result, the luck so far and the losses, one below the other.

import { h } from "../dom.js";
import { t } from "../text.js";
import { amount, BY_LETTER, FAULTS, signed } from "./grades.js";

const NS = "http://www.w3.org/2000/svg";
const WIDTH = 1000;
const COLUMNS = 500; // points of a line, and bars
/** Top and height of each part. */
const PARTS = { value: [14, 120], luck: [150, 64], loss: [230, 44] };
const HEIGHT = 280;
const LABEL = 0.1; // width of a label of a tile on a phone, of the width of the graph

export class ReviewGraph {
  #svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": t("Nothing to show yet."), class: "graph review-graph" });
  #cursor = svg("line", { y1: 0, y2: HEIGHT, class: "cursor" });
  #flags = h("div.flags", { "aria-hidden": "true" });
  #legend = h("div.graph-legend");
  #n = 0;
  #at = 0;
  element = h("figure.review-figure", {}, h("div.graph-box", {}, this.#svg, this.#flags), this.#legend);

  /** @param {(at: number) => unknown} seek */
  constructor(seek) {
    const go = (/** @type {PointerEvent} */ event) => {
      const box = this.#svg.getBoundingClientRect();
      seek(Math.round((this.#n * (event.clientX - box.left)) / Math.max(1, box.width)));
    };
    this.#svg.addEventListener("pointerdown", (event) => {
      this.#svg.setPointerCapture(event.pointerId);
      go(event);
    });
    this.#svg.addEventListener("pointermove", (event) => this.#svg.hasPointerCapture(event.pointerId) && go(event));
  }

  /**
   * Draw a review.
   * @param {Api.ReviewData} review
   * @param {number[]} scores after each move, the first is 0
   */
  draw(review, scores) {
    const { unit, values, lucks, losses, grade_letters: letters } = review;
    const n = (this.#n = lucks.length);
    const results = values.map((value, i) => (unit === "score" ? value + scores[i] : value));
    const luck = [0];
    for (const each of lucks) luck.push(luck[luck.length - 1] + each);
    const lost = losses.map((loss, i) => (FAULTS.includes(BY_LETTER[letters[i]]) ? loss : 0));
    const value = line(results, PARTS.value, n);
    const total = line(luck, PARTS.luck, n, true);
    const worst = Math.max(...lost, 0);
    this.#svg.replaceChildren(
      svg("path", { d: `${total.d} L${WIDTH},${total.zero} L0,${total.zero} Z`, class: "luck-area" }),
      svg("line", { x1: 0, x2: WIDTH, y1: total.zero, y2: total.zero, class: "zero" }),
      svg("path", { d: total.d, class: "luck-line" }),
      svg("path", { d: value.d, class: "value-line" }),
      ...bars(lost, letters, worst),
      this.#cursor,
    );
    this.#flags.replaceChildren(
      ...apart(review.milestones, n).map(({ tile, move }) => {
        const flag = h("span", {}, String(tile));
        flag.style.left = `${(100 * move) / Math.max(1, n)}%`;
        return flag;
      }),
    );
    const words = [
      [t("Expected result"), `${amount(value.low, unit)} – ${amount(value.high, unit)}`, "value"],
      [t("Luck so far"), `${signed(total.low, unit)} … ${signed(total.high, unit)}`, "luck"],
      [t("Losses by bad moves"), worst ? t("at most {loss}", { loss: amount(worst, unit) }) : t("none"), "loss"],
    ];
    this.#legend.replaceChildren(
      ...words.map(([name, range, kind]) => h("span", {}, h(/** @type {"i"} */ (`i.key-${kind}`)), `${name}: ${range}`)),
    );
    this.#svg.setAttribute("aria-label", words.map(([name, range]) => `${name}: ${range}`).join(". "));
    this.mark(this.#at);
  }

  /** @param {number} at */
  mark(at) {
    this.#at = at;
    const x = ((WIDTH * at) / Math.max(1, this.#n)).toFixed(1);
    for (const name of ["x1", "x2"]) this.#cursor.setAttribute(name, x);
  }
}

/**
 * The milestones whose labels do not overlap, the higher tile first.
 * @param {Api.ReviewData["milestones"]} milestones in order
 * @param {number} n moves
 */
function apart(milestones, n) {
  let last = Infinity; // the place of the last label taken, from the right
  return [...milestones].reverse().filter(({ move }) => {
    const hasRoom = move <= last - LABEL * n;
    if (hasRoom) last = move;
    return hasRoom;
  });
}

/**
 * A line through the means of its columns.
 * @param {number[]} heights
 * @param {number[]} part
 * @param {number} n
 */
function line(heights, [top, height], n, hasZero = false) {
  const step = Math.max(1, Math.ceil(heights.length / COLUMNS));
  const points = [];
  for (let i = 0; i < heights.length; i += step) points.push([i, heights[i]]);
  points.push([heights.length - 1, heights[heights.length - 1]]);
  const all = points.map(([, value]) => value);
  const low = Math.min(...all, ...(hasZero ? [0] : []));
  const high = Math.max(...all, ...(hasZero ? [0] : []));
  const y = (/** @type {number} */ value) =>
    (high > low ? top + height - (height * (value - low)) / (high - low) : top + height / 2).toFixed(1);
  const d = points.map(([i, value], k) => `${k ? "L" : "M"}${((WIDTH * i) / Math.max(1, n)).toFixed(1)},${y(value)}`).join(" ");
  return { d, low, high, zero: y(0) };
}

/**
 * The largest loss of each column.
 * @param {number[]} lost
 * @param {string} letters
 * @param {number} worst
 */
function bars(lost, letters, worst) {
  if (!worst) return [];
  const [top, height] = PARTS.loss;
  const step = Math.max(1, Math.ceil(lost.length / COLUMNS));
  const found = [];
  for (let from = 0; from < lost.length; from += step) {
    let most = from;
    for (let i = from; i < Math.min(lost.length, from + step); i += 1) if (lost[i] > lost[most]) most = i;
    if (!lost[most]) continue;
    const tall = Math.max(2, height * Math.sqrt(lost[most] / worst));
    found.push(
      svg("rect", {
        x: ((WIDTH * most) / lost.length).toFixed(1),
        y: top,
        width: Math.max(1.5, (WIDTH * step) / lost.length - 0.5).toFixed(1),
        height: tall.toFixed(1),
        class: `loss ${BY_LETTER[letters[most]]}`,
      }),
    );
  }
  return found;
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number>} attributes
 */
function svg(name, attributes) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
