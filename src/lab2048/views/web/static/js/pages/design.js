// Design: paint bricks and tiles on squares or hexagons, see what the board is, play it or solve it.

import { get, post } from "../api.js";
import "../board.js";
import { attempt, button, commandLine, copy, field, h, say, segments, select } from "../dom.js";
import { writeAddress, writeMap } from "../pure/codec.js";
import { number } from "../pure/format.js";
import { meaning } from "../pure/keys.js";
import { tile } from "../pure/slide.js";
import { rulesForm } from "../rulesform.js";
import { patiently } from "../stream.js";

const BRICK = -1;
const ARROWS = { ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0] };
const SMALL = 9; // cells up to which the solver's estimate is asked for by itself

export async function open(main, { query }) {
  const page = new Design();
  await page.build(main, query);
  return page;
}

class Design {
  #marks = []; // BRICK or a rank, for every cell of the plain board
  #past = [];
  #future = [];
  #tool = BRICK;
  #stroke = null;
  #timer = 0;
  #version = 0;
  #sizes = 0;
  #estimate = null;

  async build(main, query) {
    this.board = h("lab-board", { quiet: true, name: "Drawing" });
    const redraw = () => this.resize();
    const sizes = Array.from({ length: 8 }, (_, i) => [String(i + 1), String(i + 1)]);
    this.kind = segments(
      "Cells",
      [
        ["square", "Squares"],
        ["hex", "Hexagons"],
      ],
      "square",
      (value) => {
        this.isHex = value === "hex";
        redraw();
      },
    );
    this.rows = select(sizes, "4", redraw, { name: "rows" });
    this.columns = select(sizes, "4", redraw, { name: "columns" });
    this.radius = select(
      [1, 2, 3, 4].map((n) => [String(n), `${n} (${3 * n * (n + 1) + 1} cells)`]),
      "2",
      redraw,
      { name: "radius" },
    );
    this.isHex = false;
    this.squareFields = h("div.fields", {}, field("Rows", this.rows), field("Columns", this.columns));
    this.hexFields = h("div.fields", { hidden: true }, field("Radius", this.radius));
    this.tiles = select(
      Array.from({ length: 17 }, (_, i) => [String(i + 1), String(2 ** (i + 1))]),
      "1",
      (rank) => this.take(Number(rank)),
      { name: "tile", className: "plain", "aria-label": "Tile to paint" },
    );
    this.tools = segments(
      "Paint",
      [
        ["brick", "Brick"],
        ["tile", "Tile"],
        ["erase", "Erase"],
      ],
      "brick",
      (value) => this.take(value === "brick" ? BRICK : value === "tile" ? Number(this.tiles.value) : 0, value),
    );
    this.undoButton = button("Undo", () => this.undo(), { key: "U", disabled: true });
    this.redoButton = button("Redo", () => this.redo(), { key: "Y", disabled: true });
    this.form = rulesForm(query, { onchange: () => this.describe(), noBoard: true });
    this.facts = h("dl.facts-list");
    this.error = h("p.error", { role: "alert" });
    this.verdict = h("p.verdict", { role: "status" });
    this.estimateButton = button("Can it be solved here?", () => this.ask(), { slim: true });
    this.map = h("output.map");
    this.playCommand = commandLine();
    this.solveCommand = commandLine();
    main.append(
      h("h1", {}, "Design"),
      h(
        "div.two",
        {},
        h(
          "div.left-col",
          {},
          h("div.tools", {}, h("div.grow", {}, this.tools), this.tiles),
          h("div.drawing", {}, this.board),
          h(
            "div.bar",
            {},
            this.undoButton,
            this.redoButton,
            button("Clear", () => this.clear()),
            button("Play it", () => this.play(), { main: true }),
          ),
          h(
            "p.small.quiet.center",
            {},
            "Click or drag to paint. With keys: arrows, then Space; X is a brick, Delete erases.",
          ),
        ),
        h(
          "aside",
          { "aria-label": "The rules" },
          h("section.panel.stack", {}, h("h2", {}, "Board"), this.kind, this.squareFields, this.hexFields),
          h("section.panel", {}, h("h2", {}, "Rules"), this.form.element),
          h(
            "section.panel",
            {},
            h("h2", {}, "What it is"),
            this.facts,
            this.error,
            this.verdict,
            h(
              "div.row.actions",
              {},
              this.estimateButton,
              button("Solve it", () => this.solve(), { slim: true }),
            ),
          ),
          h(
            "section.panel",
            {},
            h("h2", {}, "Text"),
            this.map,
            h(
              "div.row.actions",
              {},
              button("Copy text", () => copy(this.text()), { slim: true }),
              button("Copy link", () => this.link(), { slim: true }),
            ),
          ),
          h("section.panel.commands", {}, this.playCommand, this.solveCommand),
        ),
      ),
    );
    this.listen();
    if (query.board) await attempt(() => this.load(query.board));
    if (!this.board.shape) await this.resize();
  }

  /** Begin with a board that is given as text. */
  async load(text) {
    const { shape, ranks } = await post("/api/design", { board: text });
    this.isHex = shape.hexagonal;
    if (this.isHex) this.radius.value = String((shape.rows.length - 1) / 2);
    else [this.rows.value, this.columns.value] = [String(shape.rows.length), String(shape.rows[0].length)];
    this.kind.choose(this.isHex ? "hex" : "square");
    await this.resize();
    this.set(shape.rows.flat().map((cell) => (cell < 0 ? BRICK : ranks[cell])));
  }

  /** The plain board of the chosen size; what was painted stays where it still fits. */
  async resize() {
    this.squareFields.hidden = this.isHex;
    this.hexFields.hidden = !this.isHex;
    const name = this.isHex ? `hex${this.radius.value}` : `${this.rows.value}x${this.columns.value}`;
    const mine = ++this.#sizes;
    const shape = await attempt(() => get(`/api/shape?board=${name}`));
    if (!shape || mine !== this.#sizes) return; // another size was chosen meanwhile
    const old = this.board.shape;
    const kept = new Array(shape.n_cells).fill(0);
    if (old && old.hexagonal === shape.hexagonal && !shape.hexagonal) {
      old.rows.forEach((row, i) =>
        row.forEach((cell, j) => {
          if (shape.rows[i]?.[j] !== undefined) kept[shape.rows[i][j]] = this.#marks[cell];
        }),
      );
    }
    this.board.shape = shape;
    this.buttons = [];
    this.board.overlay(
      (cell) =>
        (this.buttons[cell] = h("button.paint", { type: "button", tabIndex: cell ? -1 : 0, "data-cell": cell })),
    );
    this.#past = [];
    this.#future = [];
    this.set(kept, { isNew: true });
  }

  listen() {
    const at = (event) => {
      const found = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
      return found && this.board.contains(found) ? Number(found.dataset.cell) : -1;
    };
    this.board.addEventListener("pointerdown", (event) => {
      const cell = at(event);
      if (cell < 0 || event.button) return;
      event.preventDefault();
      this.buttons[cell].focus({ preventScroll: true });
      // A stroke that begins on what it would paint takes it away.
      this.#stroke = { mark: this.#marks[cell] === this.#tool ? 0 : this.#tool, isFirst: true };
      this.paint(cell, this.#stroke.mark);
    });
    this.board.addEventListener("pointermove", (event) => {
      if (!this.#stroke || !event.buttons) return;
      const cell = at(event);
      if (cell >= 0) this.paint(cell, this.#stroke.mark);
    });
    addEventListener("pointerup", this.end);
    addEventListener("pointercancel", this.end);
    this.board.addEventListener("keydown", (event) => {
      const cell = Number(event.target.dataset?.cell ?? -1);
      if (cell < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in ARROWS) {
        const to = this.board.neighbour(cell, ...ARROWS[event.key]);
        this.buttons[cell].tabIndex = -1;
        this.buttons[to].tabIndex = 0;
        this.buttons[to].focus();
      } else if (event.key === " " || event.key === "Enter")
        this.put(cell, this.#marks[cell] === this.#tool ? 0 : this.#tool);
      else if (event.key === "x") this.put(cell, BRICK);
      else if (event.key === "Delete" || event.key === "Backspace") this.put(cell, 0);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  end = () => {
    this.#stroke = null;
  };

  take(tool, name = tool === BRICK ? "brick" : tool ? "tile" : "erase") {
    this.#tool = tool;
    this.tools.choose(name);
  }

  put(cell, mark) {
    this.#stroke = { isFirst: true };
    this.paint(cell, mark);
    this.#stroke = null;
    say(this.nameOf(cell));
  }

  paint(cell, mark) {
    if (this.#marks[cell] === mark) return;
    if (this.#stroke.isFirst) {
      this.#past.push(this.#marks);
      this.#future = [];
      this.#stroke.isFirst = false;
    }
    this.set(this.#marks.map((old, i) => (i === cell ? mark : old)));
  }

  undo() {
    if (!this.#past.length) return;
    this.#future.push(this.#marks);
    this.set(this.#past.pop());
  }

  redo() {
    if (!this.#future.length) return;
    this.#past.push(this.#marks);
    this.set(this.#future.pop());
  }

  clear() {
    this.#past.push(this.#marks);
    this.#future = [];
    this.set(this.#marks.map(() => 0));
  }

  nameOf(cell) {
    const mark = this.#marks[cell];
    return `${this.board.placeOf(cell)}: ${mark === BRICK ? "brick" : mark ? tile(mark) : "empty"}`;
  }

  set(marks) {
    this.#marks = marks;
    this.board.show(marks.map((mark) => Math.max(mark, 0)));
    this.board.setBricks(new Set(marks.flatMap((mark, cell) => (mark === BRICK ? [cell] : []))));
    this.buttons.forEach((each, cell) => each.setAttribute("aria-label", this.nameOf(cell)));
    this.undoButton.disabled = !this.#past.length;
    this.redoButton.disabled = !this.#future.length;
    this.map.textContent = this.text();
    this.describe();
  }

  text() {
    const rows = this.board.shape.rows.map((row) => row.map((cell) => this.#marks[cell]));
    return writeMap(rows, this.board.shape.hexagonal);
  }

  rules() {
    return { board: this.text(), ...this.form.value() };
  }

  describe() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.describeNow(), 150);
  }

  async describeNow() {
    const mine = ++this.#version;
    this.#estimate?.abort();
    this.verdict.textContent = "";
    try {
      const about = await post("/api/design", this.rules());
      if (mine !== this.#version) return;
      this.error.textContent = "";
      const fact = (name, text) => [h("dt", {}, name), h("dd", {}, text)];
      this.facts.replaceChildren(
        ...[
          fact(
            "Cells",
            about.n_empty === about.shape.n_cells
              ? `${about.n_empty}, all empty`
              : `${about.shape.n_cells}, ${about.n_empty} of them empty`,
          ),
          fact(
            "Symmetries",
            about.shape.n_symmetries === 1 ? "none" : `${about.shape.n_symmetries}, with the identity`,
          ),
          fact("Largest tile possible", about.max_tile_possible ? number(about.max_tile_possible) : "-"),
          fact("Best player here", about.default_player),
          fact("Exactly solvable", about.can_solve ? "if time and disk allow" : about.why_not || "no"),
        ].flat(),
      );
      this.about = about;
      this.estimateButton.disabled = !about.can_solve;
      this.playCommand.set(about.commands.play);
      this.solveCommand.set(about.can_solve ? about.commands.solve : "");
      if (about.can_solve && about.shape.n_cells <= SMALL) this.ask();
    } catch (wrong) {
      if (mine !== this.#version) return;
      this.error.textContent = wrong.message;
      this.facts.replaceChildren();
    }
  }

  async ask() {
    this.#estimate?.abort();
    const abort = (this.#estimate = new AbortController());
    this.verdict.textContent = "Counting boards...";
    try {
      const answer = await patiently(() =>
        post("/api/design/estimate", { rules: this.rules(), objective: "win" }, { signal: abort.signal }),
      );
      this.verdict.textContent = answer.verdict.charAt(0).toUpperCase() + answer.verdict.slice(1) + ".";
    } catch (wrong) {
      if (wrong.name !== "AbortError") this.verdict.textContent = wrong.message;
    }
  }

  play() {
    location.hash = writeAddress("play", [], this.rules());
  }

  solve() {
    location.hash = writeAddress("solve", [], this.rules());
  }

  link() {
    copy(`${location.origin}/${writeAddress("design", [], this.rules())}`);
  }

  onKey(event) {
    const wish = meaning(event);
    if (wish?.command === "undo") this.undo();
    else if (wish?.command === "redo") this.redo();
    else return false;
    return true;
  }

  close() {
    clearTimeout(this.#timer);
    this.#estimate?.abort();
    removeEventListener("pointerup", this.end);
    removeEventListener("pointercancel", this.end);
  }
}
