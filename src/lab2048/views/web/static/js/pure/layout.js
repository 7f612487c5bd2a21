// Where the places of a shape are on the screen, in shares of the board, and which cell is next to which.
//
// The server sends places as {x, y, cell}, the distance of neighbours being 1; a brick has cell -1.

import { places } from "./words.js";

export const GAP = 0.09; // between tiles, of the distance of neighbours
const HEX_WIDE = 2 / Math.sqrt(3); // the width of a hexagon of height 1
const ARROW = 0.22; // the width of an arrow that points out a move, of the board's

export class Layout {
  #shape;
  #wide; // of the board, in distances of neighbours
  #high;
  #pad; // at its edge
  #w; // of a place

  constructor(shape) {
    this.#shape = shape;
    const { entries, rows, hexagonal } = shape;
    this.#w = hexagonal ? HEX_WIDE : 1;
    this.#pad = hexagonal ? 0.1 : GAP / 2;
    this.#wide = Math.max(...entries.map((entry) => entry.x)) + this.#w + 2 * this.#pad;
    this.#high = Math.max(...entries.map((entry) => entry.y)) + 1 + 2 * this.#pad;
    this.names = places(rows, hexagonal); // of cells, in words
    this.centres = []; // of cells
    this.boxes = []; // of cells
    for (const entry of entries) {
      if (entry.cell < 0) continue;
      this.centres[entry.cell] = [entry.x, entry.y];
      this.boxes[entry.cell] = this.box(entry);
    }
  }

  /** Every place, cells in order and then bricks. */
  get entries() {
    return [...this.#shape.entries].sort((a, b) => (a.cell < 0) - (b.cell < 0) || a.cell - b.cell);
  }

  /** Left and top of what stands at a place. */
  box({ x, y }) {
    return [
      percent((x + this.#pad + (this.#w * GAP) / 2) / this.#wide),
      percent((y + this.#pad + GAP / 2) / this.#high),
    ];
  }

  /** What the style sheet must know, by the names that it has for it. */
  get sizes() {
    return {
      "--wide": String(this.#wide / this.#high),
      "--span": String(this.#wide),
      "--w": percent((this.#w * (1 - GAP)) / this.#wide),
      "--h": percent((1 - GAP) / this.#high),
      "--side": `${((1 - GAP) / this.#wide) * 100}cqw`,
    };
  }

  /** The board's size in words. */
  get words() {
    const { rows, hexagonal } = this.#shape;
    return hexagonal ? `hexagons, ${rows.length} columns` : `${rows.length} by ${rows[0].length}`;
  }

  /** The nearest cell in a direction of the screen, or the same one. */
  neighbour(from, dx, dy) {
    const here = this.centres[from];
    let best = from;
    let least = Infinity;
    this.centres.forEach(([x, y], cell) => {
      const along = (x - here[0]) * dx + (y - here[1]) * dy;
      const aside = Math.abs((x - here[0]) * dy - (y - here[1]) * dx);
      if (along > 0.1 && along + 3 * aside < least) [best, least] = [cell, along + 3 * aside];
    });
    return best;
  }

  /** From where a tile that stands at `to` has come, as a transform. */
  way(from, to) {
    const [ax, ay] = this.centres[from];
    const [bx, by] = this.centres[to];
    return `translate(${percent((ax - bx) / (this.#w * (1 - GAP)))}, ${percent((ay - by) / (1 - GAP))})`;
  }

  /** An arrow in the middle that points out a direction, as far towards the edge as leaves it on the board. */
  pointer({ dx, dy }) {
    const reach = Math.min(
      Math.abs(dx) > 0.01 ? (0.5 * this.#wide) / Math.abs(dx) : Infinity,
      Math.abs(dy) > 0.01 ? (0.5 * this.#high) / Math.abs(dy) : Infinity,
    );
    const share = (reach - (ARROW / 2) * this.#wide - 0.1) / this.#wide / ARROW;
    const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
    // Shares of the arrow itself, which is two and a half times as wide as it is high.
    return `translate(-50%, -50%) translate(${percent(dx * share)}, ${percent(dy * share * 2.5)}) rotate(${angle}deg)`;
  }
}

function percent(share) {
  return `${share * 100}%`;
}
