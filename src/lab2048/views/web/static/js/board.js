// <lab-board>: any shape, drawn from the outlines, lines and moves that the server sends.
//
// The document always has the current board; animations are laid over it and can be cancelled at any time.
// So no key waits for an animation or is lost to one.

import { element, makeArrow, makeFrame, makeTable, markOf, put, setFace } from "./boardparts.js";
import { Motion } from "./motion.js";
import { ANCHOR, BRICK, FREE } from "./pure/codec.js";
import { Layout } from "./pure/layout.js";
import { slide, tile } from "./pure/slide.js";
import { Swipe } from "./pure/swipe.js";
import { t, told } from "./text.js";

/**
 * What is made for a shape.
 * @typedef {{ shape: Api.ShapeData, layout: Layout, tiles: HTMLElement[], arrow: SVGElement, table: HTMLElement, swipe: Swipe }} Drawn
 */

export class LabBoard extends HTMLElement {
  /** @type {Drawn | null} */
  #drawn = null;
  /** @type {number[]} */
  #ranks = [];
  /** @type {number[]} */
  #marks = []; // BRICK, ANCHOR, FREE or a rank, on a board that is being designed
  #motion = new Motion();
  #newest = -1;
  #tableTimer = 0;
  #cursor = -1;

  /** What belongs to the shape; a board has none before its shape is set. */
  get #parts() {
    if (!this.#drawn) throw new Error("the board has no shape yet");
    return this.#drawn;
  }

  /** The ranks that are shown. */
  get ranks() {
    return this.#ranks;
  }

  /** @returns {Api.ShapeData | null} */
  get shape() {
    return this.#drawn?.shape ?? null;
  }

  /**
   * Take a new shape, with an empty board.
   * @param {Api.ShapeData} shape
   */
  set shape(shape) {
    if (shape === this.shape) return;
    this.finish();
    this.#ranks = new Array(shape.n_cells).fill(0);
    this.#marks = [];
    this.#newest = -1;
    this.#cursor = -1;
    this.#build(shape);
  }

  /**
   * Show a board without animation; `spawned` is the cell of the newest tile.
   * @param {number[]} ranks
   */
  show(ranks, spawned = -1) {
    this.finish();
    this.#paint(ranks);
    this.#mark(spawned);
  }

  /**
   * Slide the tiles that are shown; returns what slide() returns.
   * @param {number} move
   */
  slide(move) {
    this.finish();
    const { lines, holding, free_rank: free } = this.#parts.shape;
    const slid = slide(this.#ranks, lines[move], holding[move], free);
    if (!slid.changed) return slid;
    const ms = this.#motion.begin();
    this.#paint(slid.ranks);
    this.#mark(-1);
    if (ms > 0) {
      for (const step of slid.steps) this.#animate(step, ms);
      for (const cell of new Set(slid.steps.filter(({ merges }) => merges).map(({ to }) => to)))
        this.#motion.merge(this.#parts.tiles[cell], ms);
    }
    return slid;
  }

  /**
   * Show the new tile of a turn.
   * @param {number} cell
   * @param {number} rank
   */
  spawn(cell, rank) {
    const ranks = this.#ranks.slice();
    ranks[cell] = rank;
    this.#paint(ranks);
    this.#mark(cell);
    this.#motion.pop(this.#parts.tiles[cell]);
  }

  /** End all animations. */
  finish() {
    this.#motion.finish();
  }

  /**
   * Point out a move by an arrow, or none.
   * @param {number | null} move
   */
  point(move) {
    if (!this.#drawn) return;
    const { arrow, layout, shape } = this.#drawn;
    arrow.toggleAttribute("hidden", move === null);
    if (move !== null) arrow.style.transform = layout.pointer(shape.moves[move]);
  }

  /**
   * The place of a cell, in words.
   * @param {number} cell
   */
  placeOf(cell) {
    const name = this.#parts.layout.names[cell];
    return name ? told(name) : t("cell {n}", { n: cell + 1 });
  }

  /** Switch the cursor that arrow keys move; returns what is in its cell, or null when it is off. */
  toggleCursor() {
    this.#setCursor(this.#cursor < 0 ? 0 : -1);
    return this.#cursor < 0 ? null : this.readCell(this.#cursor);
  }

  get hasCursor() {
    return this.#cursor >= 0;
  }

  /**
   * Move the cursor to the nearest cell in the direction of a move; returns what is there.
   * @param {number} move
   */
  moveCursor(move) {
    const { dx, dy } = this.#parts.shape.moves[move];
    this.#setCursor(this.neighbour(this.#cursor, dx, dy));
    return this.readCell(this.#cursor);
  }

  /** @param {number} cell */
  readCell(cell) {
    return `${this.placeOf(cell)}: ${this.#contentOf(cell)}`;
  }

  /** @param {number} cell */
  #contentOf(cell) {
    if (this.#marks[cell] < 0) return told(markOf(this.#marks[cell]));
    const rank = this.#ranks[cell];
    if (rank && rank === this.#parts.shape.free_rank) return told(markOf(FREE));
    return rank ? String(tile(rank)) : t("empty");
  }

  /**
   * Show the bricks, anchors and free large tiles among these marks, for a board that is being designed.
   * @param {number[]} marks
   */
  setMarks(marks) {
    this.#marks = marks;
    this.querySelectorAll(".places > .place").forEach((place, cell) => {
      place.classList.toggle("brick", marks[cell] === BRICK);
      place.classList.toggle("anchor", marks[cell] === ANCHOR);
      place.classList.toggle("free", marks[cell] === FREE);
    });
  }

  /**
   * Mark the cells where the goal counts.
   * @param {number[]} cells
   */
  markGoals(cells) {
    const { layout } = this.#parts;
    this.querySelectorAll(".places > .place").forEach((place, i) => place.classList.toggle("goal", cells.includes(layout.entries[i].cell)));
  }

  /**
   * Lay an element over every cell.
   * @param {(cell: number) => HTMLElement} make
   */
  overlay(make) {
    const layer = element("div", "tiles over");
    this.#parts.layout.boxes.forEach((box, cell) => {
      const made = make(cell);
      made.classList.add("place");
      put(made, box);
      layer.append(made);
    });
    this.append(layer);
    return layer;
  }

  /**
   * The nearest cell in a direction of the screen, or the same one.
   * @param {number} from
   * @param {number} dx
   * @param {number} dy
   */
  neighbour(from, dx, dy) {
    return this.#parts.layout.neighbour(from, dx, dy);
  }

  /** @param {number} cell */
  #setCursor(cell) {
    this.querySelector(".cursor")?.classList.remove("cursor");
    this.#cursor = cell;
    if (cell >= 0) this.querySelectorAll(".places > .place")[cell]?.classList.add("cursor");
  }

  /** @param {Api.ShapeData} shape */
  #build(shape) {
    const { moves, boxed } = shape;
    this.classList.toggle("polygons", !boxed);
    const layout = new Layout(shape);
    for (const [name, size] of Object.entries(layout.sizes)) this.style.setProperty(name, size);
    /** @type {HTMLElement[]} */
    const tiles = [];
    const under = element("div", "places");
    const over = element("div", "tiles");
    for (const entry of layout.entries) {
      const box = layout.box(entry);
      under.append(element("div", entry.cell < 0 ? `place ${markOf(entry.cell)}` : "place", box));
      if (entry.cell < 0) continue;
      const face = element("div", "tile", box);
      face.dataset.rank = "0";
      tiles[entry.cell] = face;
      over.append(face);
    }
    for (const layer of [under, over]) layer.setAttribute("aria-hidden", "true");
    const arrow = makeArrow();
    const table = makeTable(shape);
    // A table is never narrower than its text, so a box hides it: otherwise it widens the page on a phone.
    const unseen = element("div", "unseen");
    unseen.append(table);
    this.replaceChildren(...(boxed ? [] : [makeFrame(layout)]), under, over, arrow, unseen);
    const swipe = new Swipe(
      moves.map(({ dx, dy }) => [dx, dy]),
      this.clientWidth,
    );
    this.#drawn = { shape, layout, tiles, arrow, table, swipe };
    const isQuiet = this.hasAttribute("quiet");
    if (!isQuiet) this.tabIndex = 0;
    this.setAttribute("role", isQuiet ? "group" : "application");
    this.setAttribute("aria-label", `${this.getAttribute("name") ?? t("Board")}, ${shape.size_text}`);
  }

  /** @param {number[]} ranks */
  #paint(ranks) {
    for (let cell = 0; cell < ranks.length; cell += 1) {
      if (ranks[cell] !== this.#ranks[cell]) setFace(this.#parts.tiles[cell], ranks[cell], this.#parts.shape.free_rank);
    }
    this.#ranks = ranks.slice();
    // The table is for screen readers, which do not need every frame of a fast game.
    if (this.#tableTimer) return;
    this.#tableTimer = setTimeout(() => {
      this.#tableTimer = 0;
      /** @type {NodeListOf<HTMLElement>} */
      const entries = this.#parts.table.querySelectorAll("[data-cell]");
      for (const entry of entries) {
        const text = this.#contentOf(Number(entry.dataset.cell));
        if (entry.textContent !== text) entry.textContent = text;
      }
    }, 150);
  }

  /** @param {number} cell */
  #mark(cell) {
    const { tiles } = this.#parts;
    tiles[this.#newest]?.classList.remove("new");
    this.#newest = cell;
    tiles[cell]?.classList.add("new");
  }

  /**
   * @param {import("./pure/slide.js").Step} step
   * @param {number} ms
   */
  #animate({ from, to, rank, merges }, ms) {
    const { layout, tiles } = this.#parts;
    const way = layout.way(from, to);
    if (merges) {
      const ghost = element("div", "tile", layout.boxes[to]);
      setFace(ghost, rank, 0); // what merges is no free large tile
      this.#motion.join(tiles[to], ghost, way, ms);
    } else if (from !== to) this.#motion.slide(tiles[to], way, ms);
  }

  connectedCallback() {
    if (this.hasAttribute("quiet") || this.#isListening) return;
    this.#isListening = true;
    this.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button !== 0) return;
      const swipe = this.#drawn?.swipe;
      if (swipe) {
        swipe.least = Math.max(24, 0.06 * this.clientWidth);
        swipe.down(event.pointerId, event.clientX, event.clientY);
      }
      try {
        this.setPointerCapture(event.pointerId);
      } catch {
        // the pointer is gone already
      }
    });
    this.addEventListener("pointermove", (event) => {
      const move = this.#drawn?.swipe.moved(event.pointerId, event.clientX, event.clientY) ?? null;
      if (move !== null) this.dispatchEvent(new CustomEvent("swipe", { detail: move, bubbles: true }));
    });
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      this.addEventListener(name, (event) => this.#drawn?.swipe.up(event.pointerId));
    }
  }

  #isListening = false;
}

customElements.define("lab-board", LabBoard);
