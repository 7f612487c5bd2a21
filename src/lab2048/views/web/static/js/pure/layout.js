// The positions of the entries of a shape on the screen, as fractions of the board, and the neighbours of cells.
//
// The server sends entries as {x, y, cell, outline, name}: x and y are the centre, the distance between
// neighbours is 1, a brick has cell -1, and an outline is a polygon around the centre.

export const GAP = 0.09; // between tiles, of the distance of neighbours
const PAD = 0.1; // around a board whose cells are no boxes
export const FRAME_STROKE = 1.6 * PAD; // half of it lies outside the outlines, so all of it is inside the board
const ARROW = 0.22; // the width of an arrow that points out a move, of the board's
const RING = 0.92; // the inner edge of the ring that marks a new tile, of its outline

/** @typedef {Pick<Api.ShapeData, "entries" | "outlines" | "boxed" | "left" | "top" | "width" | "height">} DrawnShape */

export class Layout {
  #shape;
  #wide; // of the board, in distances of neighbours
  #high;
  #pad; // at its edge
  #w; // of the box around a tile, the same for all, its centre being the centre of the tile
  #h;
  #clips; // of outlines

  /** @param {DrawnShape} shape */
  constructor(shape) {
    this.#shape = shape;
    const { entries, outlines, boxed, width, height } = shape;
    const points = outlines.flat();
    this.#w = 2 * Math.max(...points.map(([x]) => Math.abs(x)));
    this.#h = 2 * Math.max(...points.map(([, y]) => Math.abs(y)));
    this.#pad = boxed ? GAP / 2 : PAD;
    this.#wide = width + 2 * this.#pad;
    this.#high = height + 2 * this.#pad;
    this.#clips = boxed ? [] : outlines.map((outline) => this.#clip(outline));
    /** @type {string[]} */
    this.names = []; // of cells, in words
    /** @type {[number, number][]} */
    this.centres = []; // of cells
    /** @type {Record<string, string>[]} */
    this.boxes = []; // of cells
    for (const entry of entries) {
      if (entry.cell < 0) continue;
      this.names[entry.cell] = entry.name;
      this.centres[entry.cell] = [entry.x, entry.y];
      this.boxes[entry.cell] = this.box(entry);
    }
  }

  /** Every entry, cells in order and then bricks. */
  get entries() {
    return [...this.#shape.entries].sort((a, b) => Number(a.cell < 0) - Number(b.cell < 0) || a.cell - b.cell);
  }

  /** The whole board in the units of the shape, as the attribute of an SVG image. */
  get viewBox() {
    const { left, top } = this.#shape;
    return [left - this.#pad, top - this.#pad, this.#wide, this.#high].join(" ");
  }

  /** The outline of every entry, as the attribute `points` of an SVG polygon. */
  get polygons() {
    const { entries, outlines } = this.#shape;
    return entries.map(({ x, y, outline }) => outlines[outline].map(([dx, dy]) => `${x + dx},${y + dy}`).join(" "));
  }

  /**
   * Custom properties of the style sheet: where an entry is and how it is cut out of its box.
   * @param {Api.EntryData} entry
   * @returns {Record<string, string>}
   */
  box({ x, y, outline }) {
    const { left, top } = this.#shape;
    return {
      "--x": percent((x - left + this.#pad - (this.#w * (1 - GAP)) / 2) / this.#wide),
      "--y": percent((y - top + this.#pad - (this.#h * (1 - GAP)) / 2) / this.#high),
      ...this.#clips[outline],
    };
  }

  /**
   * A polygon and the ring inside its edge, as fractions of a box.
   * @param {[number, number][]} outline
   */
  #clip(outline) {
    const corners = (/** @type {number} */ scale) =>
      outline.map(([x, y]) => `${percent(0.5 + (scale * x) / this.#w)} ${percent(0.5 + (scale * y) / this.#h)}`);
    const [outer, inner] = [corners(1), corners(RING)];
    const ring = [...outer, outer[0], inner[0], ...inner.slice(1).reverse(), inner[0]];
    return { "--clip": `polygon(${outer.join(", ")})`, "--ring": `polygon(evenodd, ${ring.join(", ")})` };
  }

  /** Custom properties of the style sheet: the sizes of board and tiles. */
  get sizes() {
    return {
      "--wide": String(this.#wide / this.#high),
      "--span": String(this.#wide),
      "--w": percent((this.#w * (1 - GAP)) / this.#wide),
      "--h": percent((this.#h * (1 - GAP)) / this.#high),
      "--side": `${((1 - GAP) / this.#wide) * 100}cqw`,
    };
  }

  /**
   * The nearest cell in a direction of the screen, or the same one.
   * @param {number} from
   * @param {number} dx
   * @param {number} dy
   */
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

  /**
   * The CSS transform that moves a tile from its cell `to` back to `from`.
   * @param {number} from
   * @param {number} to
   */
  way(from, to) {
    const [ax, ay] = this.centres[from];
    const [bx, by] = this.centres[to];
    return `translate(${percent((ax - bx) / (this.#w * (1 - GAP)))}, ${percent((ay - by) / (this.#h * (1 - GAP)))})`;
  }

  /**
   * The CSS transform of the arrow that points out a move, as near to the edge as it fits.
   * @param {Pick<Api.MoveData, "dx" | "dy">} move
   */
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

/** @param {number} share */
function percent(share) {
  return `${share * 100}%`;
}
