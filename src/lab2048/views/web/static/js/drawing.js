// A board that is painted: bricks and tiles on a plain shape, with a pointer or with keys, and every way back.

import "./board.js";
import { h, say } from "./dom.js";
import { writeMap } from "./pure/codec.js";
import { tile } from "./pure/slide.js";

export const BRICK = -1;
const ARROWS = { ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0] };

/** Tells of every change by the event `change`. */
export class Drawing extends EventTarget {
  tool = BRICK; // what is painted: BRICK, a rank, or 0 to erase
  #marks = []; // BRICK or a rank, for every cell of the plain board
  #past = [];
  #future = [];
  #stroke = null;
  #buttons = [];

  constructor() {
    super();
    this.board = h("lab-board", { quiet: true, name: "Drawing" });
    this.#listen();
  }

  get shape() {
    return this.board.shape;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Another plain board; what was painted stays where it still fits. */
  setShape(shape) {
    const old = this.board.shape;
    const kept = new Array(shape.n_cells).fill(0);
    if (old?.kind === shape.kind && shape.boxed) {
      old.rows.forEach((row, i) =>
        row.forEach((cell, j) => {
          if (shape.rows[i]?.[j] !== undefined) kept[shape.rows[i][j]] = this.#marks[cell];
        }),
      );
    }
    this.board.shape = shape;
    this.#buttons = [];
    this.board.overlay(
      (cell) =>
        (this.#buttons[cell] = h("button.paint", { type: "button", tabIndex: cell ? -1 : 0, "data-cell": cell })),
    );
    this.#past = [];
    this.#future = [];
    this.set(kept);
  }

  /** The marks of all cells at once. */
  set(marks) {
    this.#marks = marks;
    this.board.show(marks.map((mark) => Math.max(mark, 0)));
    this.board.setBricks(new Set(marks.flatMap((mark, cell) => (mark === BRICK ? [cell] : []))));
    this.#buttons.forEach((each, cell) => each.setAttribute("aria-label", this.#nameOf(cell)));
    this.dispatchEvent(new Event("change"));
  }

  /** The board as text. */
  text() {
    const { shape } = this.board;
    return writeMap(
      shape.rows.map((row) => row.map((cell) => this.#marks[cell])),
      shape,
    );
  }

  undo() {
    if (!this.canUndo) return;
    this.#future.push(this.#marks);
    this.set(this.#past.pop());
  }

  redo() {
    if (!this.canRedo) return;
    this.#past.push(this.#marks);
    this.set(this.#future.pop());
  }

  clear() {
    this.#remember();
    this.set(this.#marks.map(() => 0));
  }

  #remember() {
    this.#past.push(this.#marks);
    this.#future = [];
  }

  #nameOf(cell) {
    const mark = this.#marks[cell];
    return `${this.board.placeOf(cell)}: ${mark === BRICK ? "brick" : mark ? tile(mark) : "empty"}`;
  }

  /** What the tool makes of a cell: a stroke that begins on what it would paint takes it away. */
  #mark(cell) {
    return this.#marks[cell] === this.tool ? 0 : this.tool;
  }

  #put(cell, mark) {
    this.#stroke = { isFirst: true };
    this.#paint(cell, mark);
    this.#stroke = null;
    say(this.#nameOf(cell));
  }

  #paint(cell, mark) {
    if (this.#marks[cell] === mark) return;
    if (this.#stroke.isFirst) {
      this.#remember();
      this.#stroke.isFirst = false;
    }
    this.set(this.#marks.map((old, i) => (i === cell ? mark : old)));
  }

  #listen() {
    const at = (event) => {
      const found = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
      return found && this.board.contains(found) ? Number(found.dataset.cell) : -1;
    };
    this.board.addEventListener("pointerdown", (event) => {
      const cell = at(event);
      if (cell < 0 || event.button) return;
      event.preventDefault();
      this.#buttons[cell].focus({ preventScroll: true });
      this.#stroke = { mark: this.#mark(cell), isFirst: true };
      this.#paint(cell, this.#stroke.mark);
    });
    this.board.addEventListener("pointermove", (event) => {
      if (!this.#stroke || !event.buttons) return;
      const cell = at(event);
      if (cell >= 0) this.#paint(cell, this.#stroke.mark);
    });
    addEventListener("pointerup", this.#end);
    addEventListener("pointercancel", this.#end);
    this.board.addEventListener("keydown", (event) => {
      const cell = Number(event.target.dataset?.cell ?? -1);
      if (cell < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in ARROWS) this.#walk(cell, this.board.neighbour(cell, ...ARROWS[event.key]));
      else if (event.key === " " || event.key === "Enter") this.#put(cell, this.#mark(cell));
      else if (event.key === "x") this.#put(cell, BRICK);
      else if (event.key === "Delete" || event.key === "Backspace") this.#put(cell, 0);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  #walk(from, to) {
    this.#buttons[from].tabIndex = -1;
    this.#buttons[to].tabIndex = 0;
    this.#buttons[to].focus();
  }

  #end = () => {
    this.#stroke = null;
  };

  close() {
    removeEventListener("pointerup", this.#end);
    removeEventListener("pointercancel", this.#end);
  }
}
