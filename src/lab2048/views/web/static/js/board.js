// <lab-board>: any shape, drawn from the outlines, lines and moves that the server sends.
//
// What is in the document is always the true board; motion is laid over it by animations that can
// be cancelled at any time.  So no key waits for an animation, and none is lost to one.

import { Motion } from "./motion.js";
import { Layout } from "./pure/layout.js";
import { slide, tile } from "./pure/slide.js";
import { Swipe } from "./pure/swipe.js";

const SVG = "http://www.w3.org/2000/svg";

export class LabBoard extends HTMLElement {
  #shape = null;
  #ranks = [];
  #tiles = [];
  #layout = null;
  #motion = new Motion();
  #newest = -1;
  #arrow = null;
  #table = null;
  #tableTimer = 0;
  #swipe = null;
  #cursor = -1;

  /** The ranks that are shown. */
  get ranks() {
    return this.#ranks;
  }

  get shape() {
    return this.#shape;
  }

  /** Take a new shape, with an empty board. */
  set shape(shape) {
    if (shape === this.#shape) return;
    this.finish();
    this.#shape = shape;
    this.#ranks = new Array(shape.n_cells).fill(0);
    this.#newest = -1;
    this.#cursor = -1;
    this.#build();
  }

  /** Show a board as it is, without motion; `spawned` is the cell of the newest tile. */
  show(ranks, spawned = -1) {
    this.finish();
    this.#paint(ranks);
    this.#mark(spawned);
  }

  /** Slide the tiles that are shown; says what came of it, as slide() does. */
  slide(move) {
    this.finish();
    const slid = slide(this.#ranks, this.#shape.lines[move]);
    if (!slid.changed) return slid;
    const ms = this.#motion.begin();
    this.#paint(slid.ranks);
    this.#mark(-1);
    if (ms > 0) for (const step of slid.steps) this.#animate(step, ms);
    return slid;
  }

  /** The new tile of a turn. */
  spawn(cell, rank) {
    const ranks = this.#ranks.slice();
    ranks[cell] = rank;
    this.#paint(ranks);
    this.#mark(cell);
    this.#motion.pop(this.#tiles[cell]);
  }

  /** End all motion at once: the board is as it will be. */
  finish() {
    this.#motion.finish();
  }

  /** Point out a move, or none. */
  point(move) {
    if (!this.#arrow) return;
    const direction = this.#shape.moves[move]; // of no move, none
    this.#arrow.toggleAttribute("hidden", !direction);
    if (direction) this.#arrow.style.transform = this.#layout.pointer(direction);
  }

  /** Where a cell is, in words. */
  placeOf(cell) {
    return this.#layout.names[cell] ?? `cell ${cell + 1}`;
  }

  /** Put a cursor on the cells that arrow keys lead about; says what is there, or null when it is off. */
  toggleCursor() {
    this.#setCursor(this.#cursor < 0 ? 0 : -1);
    return this.#cursor < 0 ? null : this.readCell(this.#cursor);
  }

  get hasCursor() {
    return this.#cursor >= 0;
  }

  /** Lead the cursor to the nearest cell in the direction of a move; says what is there. */
  moveCursor(move) {
    const { dx, dy } = this.#shape.moves[move];
    this.#setCursor(this.neighbour(this.#cursor, dx, dy));
    return this.readCell(this.#cursor);
  }

  readCell(cell) {
    return `${this.placeOf(cell)}: ${this.#ranks[cell] ? tile(this.#ranks[cell]) : "empty"}`;
  }

  /** Show these cells as bricks, for a board that is being designed. */
  setBricks(cells) {
    this.querySelectorAll(".places > .place").forEach((place, cell) =>
      place.classList.toggle("brick", cells.has(cell)),
    );
  }

  /** Lay an element over every cell: `make(cell)` gives it. */
  overlay(make) {
    const layer = element("div", "tiles over");
    this.#layout.boxes.forEach((box, cell) => {
      const made = make(cell);
      made.classList.add("place");
      put(made, box);
      layer.append(made);
    });
    this.append(layer);
    return layer;
  }

  /** The nearest cell in a direction of the screen, or the same one. */
  neighbour(from, dx, dy) {
    return this.#layout.neighbour(from, dx, dy);
  }

  #setCursor(cell) {
    this.querySelector(".cursor")?.classList.remove("cursor");
    this.#cursor = cell;
    if (cell >= 0) this.querySelectorAll(".places > .place")[cell]?.classList.add("cursor");
  }

  #build() {
    const { moves, boxed, size_text: sizeText } = this.#shape;
    this.classList.toggle("polygons", !boxed);
    this.#layout = new Layout(this.#shape);
    for (const [name, size] of Object.entries(this.#layout.sizes)) this.style.setProperty(name, size);
    this.#tiles = [];
    const backs = element("div", "places");
    const under = element("div", "places");
    const over = element("div", "tiles");
    for (const entry of this.#layout.entries) {
      const box = this.#layout.box(entry);
      under.append(element("div", entry.cell < 0 ? "place brick" : "place", box));
      if (!boxed) backs.append(element("div", "back", box));
      if (entry.cell < 0) continue;
      const face = element("div", "tile", box);
      face.dataset.rank = "0";
      this.#tiles[entry.cell] = face;
      over.append(face);
    }
    for (const layer of [backs, under, over]) layer.setAttribute("aria-hidden", "true");
    this.#arrow = arrow();
    this.#table = this.#makeTable(this.#shape);
    this.replaceChildren(backs, under, over, this.#arrow, this.#table);
    this.#swipe = new Swipe(
      moves.map(({ dx, dy }) => [dx, dy]),
      this.clientWidth,
    );
    if (!this.hasAttribute("quiet")) {
      this.tabIndex = 0;
      this.setAttribute("role", "application");
    } else {
      this.setAttribute("role", "group");
    }
    this.setAttribute("aria-label", `${this.getAttribute("name") ?? "Board"}, ${sizeText}`);
  }

  #makeTable({ rows, kind, row_noun: noun }) {
    const table = element("table", "unseen");
    table.createCaption().textContent = `Tiles, one ${noun} of ${kind} per row of this table`;
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const cell of row) {
        const entry = line.insertCell();
        entry.textContent = cell < 0 ? "brick" : "empty";
        if (cell >= 0) entry.dataset.cell = String(cell);
      }
    }
    return table;
  }

  #paint(ranks) {
    for (let cell = 0; cell < ranks.length; cell += 1) {
      if (ranks[cell] !== this.#ranks[cell]) this.#face(this.#tiles[cell], ranks[cell]);
    }
    this.#ranks = ranks.slice();
    // The table is for those who read it, who need no frame of a race.
    if (!this.#tableTimer) {
      this.#tableTimer = setTimeout(() => {
        this.#tableTimer = 0;
        for (const entry of this.#table.querySelectorAll("[data-cell]")) {
          const rank = this.#ranks[Number(entry.dataset.cell)];
          const text = rank ? String(tile(rank)) : "empty";
          if (entry.textContent !== text) entry.textContent = text;
        }
      }, 150);
    }
  }

  #face(face, rank) {
    face.dataset.rank = String(Math.min(rank, 17));
    const text = rank ? String(tile(rank)) : "";
    face.dataset.digits = String(Math.min(text.length, 7));
    face.textContent = text;
  }

  #mark(cell) {
    if (this.#newest >= 0) this.#tiles[this.#newest]?.classList.remove("new");
    this.#newest = cell;
    if (cell >= 0) this.#tiles[cell]?.classList.add("new");
  }

  #animate({ from, to, rank, merges }, ms) {
    const way = this.#layout.way(from, to);
    if (merges) {
      const ghost = element("div", "tile", this.#layout.boxes[to]);
      this.#face(ghost, rank);
      this.#motion.merge(this.#tiles[to], ghost, way, ms);
    } else if (from !== to) this.#motion.slide(this.#tiles[to], way, ms);
  }

  connectedCallback() {
    if (this.hasAttribute("quiet") || this.#isListening) return;
    this.#isListening = true;
    this.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button !== 0) return;
      if (this.#swipe) {
        this.#swipe.least = Math.max(24, 0.06 * this.clientWidth);
        this.#swipe.down(event.pointerId, event.clientX, event.clientY);
      }
      try {
        this.setPointerCapture(event.pointerId);
      } catch {
        // the pointer is gone already, and its swipe with it
      }
    });
    this.addEventListener("pointermove", (event) => {
      const move = this.#swipe?.moved(event.pointerId, event.clientX, event.clientY) ?? null;
      if (move !== null) this.dispatchEvent(new CustomEvent("swipe", { detail: move, bubbles: true }));
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.addEventListener(name, (event) => this.#swipe?.up(event.pointerId));
    }
  }

  #isListening = false;
}

function element(tag, name, box = null) {
  const made = document.createElement(tag);
  made.className = name;
  if (box) put(made, box);
  return made;
}

function put(made, box) {
  for (const [name, value] of Object.entries(box)) made.style.setProperty(name, value);
}

/** An arrow that points to the right, 100 by 40. */
function arrow() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 40");
  svg.setAttribute("class", "arrow");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("hidden", "");
  for (const [d, width] of [
    ["M4 20H76", 11],
    ["M70 4 96 20 70 36z", 2],
  ]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    path.setAttribute("stroke-width", String(width));
    path.setAttribute("stroke-linecap", "round");
    path.setAttribute("stroke-linejoin", "round");
    svg.append(path);
  }
  return svg;
}

customElements.define("lab-board", LabBoard);
