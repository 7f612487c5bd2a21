// The board editor: paints bricks and tiles on a plain shape, with a pointer or with keys, with undo and redo.

import "./board.js";
import { h, say } from "./dom.js";
import { Emitter } from "./emitter.js";
import { BRICK, writeMap } from "./pure/codec.js";
import { t } from "./text.js";

/** @type {Record<string, [dx: number, dy: number]>} */
const ARROWS = { ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0] };

/** @typedef {{ shape: Api.ShapeData, marks: number[] }} Step a drawing to go back to */

/** @extends {Emitter<{ change: null }>} */
export class Drawing extends Emitter {
  tool = BRICK; // what is painted: BRICK, a rank, or 0 to erase
  /** @type {number[]} */
  #marks = []; // BRICK, ANCHOR, FREE or a rank, for every cell of the plain board
  /** @type {Step[]} */
  #past = [];
  /** @type {Step[]} */
  #future = [];
  /** @type {{ mark: number, isFirst: boolean } | null} */
  #stroke = null; // from a press to the release
  /** @type {HTMLButtonElement[]} */
  #buttons = [];

  constructor() {
    super();
    this.board = h("lab-board", { quiet: true, name: t("Drawing") });
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

  /**
   * Change to another plain board, which can be undone; what was painted stays where it fits.
   * @param {Api.ShapeData} shape
   */
  setShape(shape) {
    const old = this.board.shape;
    const kept = new Array(shape.n_cells).fill(0);
    if (old && old.kind === shape.kind && shape.boxed) {
      old.rows.forEach((row, i) =>
        row.forEach((cell, j) => {
          if (shape.rows[i]?.[j] !== undefined) kept[shape.rows[i][j]] = this.#marks[cell];
        }),
      );
    }
    this.#remember();
    this.#become({ shape, marks: kept });
  }

  /** @param {Step} step */
  #become({ shape, marks }) {
    if (shape !== this.board.shape) {
      this.board.shape = shape;
      this.#buttons = [];
      this.board.overlay(
        (cell) =>
          (this.#buttons[cell] = h("button.paint", { type: "button", tabIndex: cell ? -1 : 0, "data-cell": cell })),
      );
    }
    this.set(marks);
  }

  /**
   * Set the marks of all cells.
   * @param {number[]} marks
   */
  set(marks) {
    this.#marks = marks;
    this.board.show(marks.map((mark) => Math.max(mark, 0)));
    this.board.setMarks(marks);
    this.#buttons.forEach((each, cell) => each.setAttribute("aria-label", this.board.readCell(cell)));
    this.emit("change", null);
  }

  /** The board as text; "" before it has a shape. */
  text() {
    const { shape } = this.board;
    if (!shape) return "";
    return writeMap(
      shape.rows.map((row) => row.map((cell) => this.#marks[cell])),
      shape,
    );
  }

  undo() {
    const step = this.#past.pop();
    if (!step) return;
    this.#future.push(...this.#now());
    this.#become(step);
  }

  redo() {
    const step = this.#future.pop();
    if (!step) return;
    this.#past.push(...this.#now());
    this.#become(step);
  }

  clear() {
    this.#remember();
    this.set(this.#marks.map(() => 0));
  }

  /** The drawing as it is; none before it has a shape.  @returns {Step[]} */
  #now() {
    const { shape } = this.board;
    return shape ? [{ shape, marks: this.#marks }] : [];
  }

  #remember() {
    this.#past.push(...this.#now());
    this.#future = [];
  }

  /**
   * What a stroke that starts at a cell paints: it erases if the cell has the mark of the tool already.
   * @param {number} cell
   */
  #mark(cell) {
    return this.#marks[cell] === this.tool ? 0 : this.tool;
  }

  /**
   * @param {number} cell
   * @param {number} mark
   */
  #put(cell, mark) {
    this.#paint(cell, { mark, isFirst: true });
    say(this.board.readCell(cell));
  }

  /**
   * @param {number} cell
   * @param {{ mark: number, isFirst: boolean }} stroke
   */
  #paint(cell, stroke) {
    if (this.#marks[cell] === stroke.mark) return;
    if (stroke.isFirst) this.#remember();
    stroke.isFirst = false;
    this.set(this.#marks.map((old, i) => (i === cell ? stroke.mark : old)));
  }

  #listen() {
    const at = (/** @type {PointerEvent} */ event) => {
      const found = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
      return found instanceof HTMLElement && this.board.contains(found) ? Number(found.dataset.cell) : -1;
    };
    this.board.addEventListener("pointerdown", (event) => {
      const cell = at(event);
      if (cell < 0 || event.button) return;
      event.preventDefault();
      this.#buttons[cell].focus({ preventScroll: true });
      this.#stroke = { mark: this.#mark(cell), isFirst: true };
      this.#paint(cell, this.#stroke);
    });
    this.board.addEventListener("pointermove", (event) => {
      if (!this.#stroke || !event.buttons) return;
      const cell = at(event);
      if (cell >= 0) this.#paint(cell, this.#stroke);
    });
    addEventListener("pointerup", this.#end);
    addEventListener("pointercancel", this.#end);
    this.board.addEventListener("keydown", (event) => {
      const cell = Number(event.target instanceof HTMLElement ? (event.target.dataset.cell ?? -1) : -1);
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

  /**
   * @param {number} from
   * @param {number} to
   */
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
