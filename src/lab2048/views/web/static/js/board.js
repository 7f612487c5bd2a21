// <lab-board>: any shape, drawn from the places, lines and moves that the server sends.
//
// What is in the document is always the true board; motion is laid over it by animations that can
// be cancelled at any time.  So no key waits for an animation, and none is lost to one.

import { slide, tile } from "./pure/slide.js";
import { places } from "./pure/words.js";
import { Swipe } from "./pure/swipe.js";

const GAP = 0.09; // between tiles, of the distance of neighbours
const HEX_WIDE = 2 / Math.sqrt(3); // the width of a hexagon of height 1
const QUICK = 125; // ms between turns: quicker ones (8 a second) are shown without slides
const SVG = "http://www.w3.org/2000/svg";

export class LabBoard extends HTMLElement {
  #shape = null;
  #ranks = [];
  #tiles = [];
  #boxes = [];
  #size = [1, 1];
  #running = new Set();
  #ghosts = [];
  #newest = -1;
  #last = -Infinity;
  #slideEnds = 0;
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
    const now = performance.now();
    const isQuick = now - this.#last < QUICK;
    const slid = slide(this.#ranks, this.#shape.lines[move]);
    if (!slid.changed) return slid;
    this.#last = now;
    const ms = isQuick ? 0 : this.#duration("--slide");
    this.#paint(slid.ranks);
    this.#mark(-1);
    this.#slideEnds = now + ms;
    if (ms > 0) for (const step of slid.steps) this.#animate(step, ms);
    return slid;
  }

  /** The new tile of a turn. */
  spawn(cell, rank) {
    const ranks = this.#ranks.slice();
    ranks[cell] = rank;
    this.#paint(ranks);
    this.#mark(cell);
    const pop = this.#duration("--pop");
    const wait = Math.max(0, this.#slideEnds - performance.now());
    if (pop > 0 && wait > 0) {
      this.#run(this.#tiles[cell], [{ transform: "scale(0)" }, { transform: "none" }], {
        duration: pop,
        delay: wait,
        fill: "backwards",
        easing: "ease-out",
      });
    }
  }

  /** End all motion at once: the board is as it will be. */
  finish() {
    for (const animation of this.#running) animation.cancel();
    this.#running.clear();
    for (const ghost of this.#ghosts) ghost.remove();
    this.#ghosts.length = 0;
  }

  /** Point out a move, or none. */
  point(move) {
    if (!this.#arrow) return;
    this.#arrow.toggleAttribute("hidden", move === null || move === undefined);
    if (move === null || move === undefined) return;
    const { dx, dy } = this.#shape.moves[move];
    const [wide, high] = this.#size;
    // As far towards the edge as leaves the arrow on the board.
    const reach = Math.min(
      Math.abs(dx) > 0.01 ? (0.5 * wide) / Math.abs(dx) : Infinity,
      Math.abs(dy) > 0.01 ? (0.5 * high) / Math.abs(dy) : Infinity,
    );
    const share = (reach - 0.11 * wide - 0.1) / wide;
    const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
    this.#arrow.style.transform = `translate(-50%, -50%) translate(${((dx * share) / 0.22) * 100}%, ${((dy * share) / 0.22) * 250}%) rotate(${angle}deg)`;
  }

  /** Where a cell is, in words. */
  placeOf(cell) {
    return this.#names[cell] ?? `cell ${cell + 1}`;
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
    const best = this.neighbour(this.#cursor, dx, dy);
    this.#setCursor(best);
    return this.readCell(best);
  }

  readCell(cell) {
    return `${this.placeOf(cell)}: ${this.#ranks[cell] ? tile(this.#ranks[cell]) : "empty"}`;
  }

  #names = [];
  #centres = [];

  /** Show these cells as bricks, for a board that is being designed. */
  setBricks(cells) {
    this.querySelectorAll(".places > .place").forEach((place, cell) =>
      place.classList.toggle("brick", cells.has(cell)),
    );
  }

  /** Lay an element over every cell: `make(cell)` gives it. */
  overlay(make) {
    const layer = element("div", "tiles over");
    this.#boxes.forEach((box, cell) => {
      const made = make(cell);
      made.classList.add("place");
      made.style.setProperty("--x", box[0]);
      made.style.setProperty("--y", box[1]);
      layer.append(made);
    });
    this.append(layer);
    return layer;
  }

  /** The nearest cell in a direction of the screen, or the same one. */
  neighbour(from, dx, dy) {
    const here = this.#centres[from];
    let best = from;
    let least = Infinity;
    this.#centres.forEach(([x, y], cell) => {
      const along = (x - here[0]) * dx + (y - here[1]) * dy;
      const aside = Math.abs((x - here[0]) * dy - (y - here[1]) * dx);
      if (along > 0.1 && along + 3 * aside < least) [best, least] = [cell, along + 3 * aside];
    });
    return best;
  }

  #setCursor(cell) {
    this.querySelector(".cursor")?.classList.remove("cursor");
    this.#cursor = cell;
    if (cell >= 0) this.querySelectorAll(".places > .place")[cell]?.classList.add("cursor");
  }

  #build() {
    const { entries, rows, moves, hexagonal } = this.#shape;
    this.classList.toggle("hexagonal", hexagonal);
    const w = hexagonal ? HEX_WIDE : 1;
    const pad = hexagonal ? 0.1 : GAP / 2;
    const wide = Math.max(...entries.map((entry) => entry.x)) + w + 2 * pad;
    const high = Math.max(...entries.map((entry) => entry.y)) + 1 + 2 * pad;
    this.#size = [wide, high];
    this.style.setProperty("--wide", String(wide / high));
    this.style.setProperty("--span", String(wide));
    this.style.setProperty("--w", `${((w * (1 - GAP)) / wide) * 100}%`);
    this.style.setProperty("--h", `${((1 - GAP) / high) * 100}%`);
    this.style.setProperty("--side", `${((1 - GAP) / wide) * 100}cqw`);
    this.#names = places(rows, hexagonal);
    this.#boxes = [];
    this.#centres = [];
    this.#tiles = [];
    const backs = element("div", "places");
    const under = element("div", "places");
    const over = element("div", "tiles");
    for (const { x, y, cell } of [...entries].sort((a, b) => (a.cell < 0) - (b.cell < 0) || a.cell - b.cell)) {
      const box = [`${((x + pad + (w * GAP) / 2) / wide) * 100}%`, `${((y + pad + GAP / 2) / high) * 100}%`];
      const place = element("div", cell < 0 ? "place brick" : "place", box);
      under.append(place);
      if (hexagonal) backs.append(element("div", "back", box));
      if (cell < 0) continue;
      this.#boxes[cell] = box;
      this.#centres[cell] = [x, y];
      const face = element("div", "tile", box);
      face.dataset.rank = "0";
      this.#tiles[cell] = face;
      over.append(face);
    }
    for (const layer of [backs, under, over]) layer.setAttribute("aria-hidden", "true");
    this.#arrow = arrow();
    this.#table = this.#makeTable(rows, hexagonal);
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
    const size = hexagonal ? `hexagons, ${rows.length} columns` : `${rows.length} by ${rows[0].length}`;
    this.setAttribute("aria-label", `${this.getAttribute("name") ?? "Board"}, ${size}`);
  }

  #makeTable(rows, hexagonal) {
    const table = element("table", "unseen");
    table.createCaption().textContent = hexagonal ? "Tiles, a row of this table is a column of hexagons" : "Tiles";
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
    const frames = [{ transform: this.#offset(from, to) }, { transform: "none" }];
    const timing = { duration: ms, easing: "ease-in-out" };
    if (!merges) {
      if (from !== to) this.#run(this.#tiles[to], frames, timing);
      return;
    }
    const ghost = element("div", "tile", this.#boxes[to]);
    this.#face(ghost, rank);
    this.#ghosts.push(ghost);
    this.#tiles[to].parentNode.append(ghost);
    this.#run(ghost, frames, timing).onfinish = () => ghost.remove();
    const pop = this.#duration("--pop");
    this.#run(
      this.#tiles[to],
      [
        { transform: "scale(0.6)", opacity: 0 },
        { transform: "scale(1.14)", opacity: 1, offset: 0.5 },
        { transform: "none", opacity: 1 },
      ],
      { duration: pop, delay: ms, fill: "backwards", easing: "ease-out" },
    );
  }

  #run(face, frames, timing) {
    const animation = face.animate(frames, timing);
    this.#running.add(animation);
    return animation;
  }

  /** The way from one cell to another, in shares of a tile. */
  #offset(from, to) {
    const w = (this.#shape.hexagonal ? HEX_WIDE : 1) * (1 - GAP);
    const [ax, ay] = this.#centres[from];
    const [bx, by] = this.#centres[to];
    return `translate(${((ax - bx) / w) * 100}%, ${((ay - by) / (1 - GAP)) * 100}%)`;
  }

  #duration(name) {
    if (document.documentElement.dataset.motion === "off") return 0;
    const text = getComputedStyle(document.documentElement).getPropertyValue(name);
    return text.endsWith("ms") ? parseFloat(text) : parseFloat(text) * 1000 || 0;
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
  if (box) {
    made.style.setProperty("--x", box[0]);
    made.style.setProperty("--y", box[1]);
  }
  return made;
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
