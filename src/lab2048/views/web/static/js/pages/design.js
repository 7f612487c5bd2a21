// Design: paint bricks and tiles on any kind of cells, see what the board is, play it or solve it.

import { get, isAborted, messageOf, post } from "../api.js";
import { attempt, button, commandLine, copy, field, h, segments, select } from "../dom.js";
import { Drawing } from "../drawing.js";
import { BRICK, FREE, writeAddress } from "../pure/codec.js";
import { number } from "../pure/format.js";
import { meaning } from "../pure/keys.js";
import { capital } from "../pure/words.js";
import { labelOf } from "../players.js";
import { pref, setPref } from "../prefs.js";
import { rulesForm } from "../rulesform.js";
import { solveDialog } from "../solvedialog.js";
import { retryUntilReady } from "../stream.js";
import { t, told } from "../text.js";

const SMALL = 9; // cells up to which the solver's estimate is asked for by itself

/** @type {PageModule["open"]} */
export async function open(main, { query }) {
  const kinds = await get("/api/shape/kinds");
  /** @type {Address["query"]} */
  const rules = query.board ? query : Object.fromEntries(Object.entries(pref("design") ?? {}).map(([name, value]) => [name, String(value)]));
  const page = new Design(main, rules, kinds);
  await page.start(rules.board);
  return page;
}

class Design {
  #timer = 0;
  #isClosed = false;
  #isTouched = false; // until then the address stays as it was opened
  #version = 0;
  #resizes = 0;
  #kind = "";
  /** @type {Map<string, { prefix: string, fields: HTMLSelectElement[], element: HTMLElement }>} */
  #sizes; // for each kind of cells its fields, which make the name of a plain board
  /** @type {AbortController | null} */
  #estimate = null;

  /**
   * @param {HTMLElement} main
   * @param {Address["query"]} query
   * @param {Api.KindData[]} kinds
   */
  constructor(main, query, kinds) {
    this.drawing = new Drawing();
    this.drawing.on("change", () => this.changed());
    const redraw = () => {
      this.#isTouched = true;
      this.resize();
    };
    this.kind = segments(
      t("Cells"),
      kinds.map(({ kind }) => [kind, capital(told(kind))]),
      kinds[0].kind,
      (name) => {
        this.#kind = name;
        redraw();
      },
    );
    this.#kind = kinds[0].kind;
    this.#sizes = new Map(
      kinds.map(({ kind, prefix, parameters }) => {
        const fields = parameters.map(({ name, options, default: size }) =>
          select(
            options.map(([value, text]) => [String(value), text]),
            String(size),
            redraw,
            { name },
          ),
        );
        const element = h("div.fields", {}, ...fields.map((each, i) => field(capital(told(parameters[i].name)), each)));
        return [kind, { prefix, fields, element }];
      }),
    );
    this.tiles = select(
      Array.from({ length: 17 }, (_, i) => [String(i + 1), String(2 ** (i + 1))]),
      "1",
      (rank) => this.take(Number(rank)),
      { name: "tile", className: "plain", "aria-label": t("Tile to paint") },
    );
    this.tools = segments(
      t("Paint"),
      [
        ["brick", t("Brick")],
        ["tile", t("Tile")],
        ["erase", t("Erase")],
      ],
      "brick",
      (value) => this.take(value === "brick" ? BRICK : value === "tile" ? Number(this.tiles.value) : 0),
    );
    this.undoButton = button(t("Undo"), () => this.drawing.undo(), { key: "U", disabled: true });
    this.redoButton = button(t("Redo"), () => this.drawing.redo(), { key: "Y", disabled: true });
    this.form = rulesForm(query, { onchange: () => this.ruled(), noBoard: true });
    this.facts = h("dl.facts-list");
    this.error = h("p.error", { role: "alert" });
    this.verdict = h("p.verdict", { role: "status" });
    // Enabled when the server has described the board.
    this.estimateButton = button(t("Can it be solved here?"), () => this.ask(), { slim: true, disabled: true });
    this.solveButton = button(t("Solve it"), () => this.solve(), { slim: true, disabled: true });
    this.playButton = button(t("Play it"), () => this.play(), { main: true, disabled: true });
    this.map = h("output.map");
    this.playCommand = commandLine();
    this.solveCommand = commandLine();
    main.append(
      h("h1", {}, t("Design")),
      h(
        "div.two",
        {},
        h(
          "div.left-col",
          {},
          h("div.tools", {}, h("div.grow", {}, this.tools), this.tiles),
          h("div.drawing", {}, this.drawing.board),
          h(
            "div.bar",
            {},
            this.undoButton,
            this.redoButton,
            button(t("Clear"), () => this.drawing.clear()),
            this.playButton,
          ),
          h(
            "p.small.quiet.center",
            {},
            t("Click or drag to paint. With keys: arrows, then Space; X is a brick, Delete erases."),
          ),
        ),
        h(
          "aside",
          { "aria-label": t("The rules") },
          h("section.panel.stack", {}, h("h2", {}, t("Board")), this.kind, ...[...this.#sizes.values()].map(({ element }) => element)),
          h("section.panel", {}, h("h2", {}, t("Rules")), this.form.element),
          h(
            "section.panel",
            {},
            h("h2", {}, t("What it is")),
            this.facts,
            this.error,
            this.verdict,
            h("div.row.actions", {}, this.estimateButton, this.solveButton),
          ),
          h(
            "section.panel",
            {},
            h("h2", {}, t("Text")),
            this.map,
            h(
              "div.row.actions",
              {},
              button(t("Copy text"), () => copy(this.drawing.text()), { slim: true }),
              button(t("Copy link"), () => this.link(), { slim: true }),
            ),
          ),
          h("section.panel.commands", {}, this.playCommand, this.solveCommand),
        ),
      ),
    );
  }

  /** @param {string | undefined} board */
  async start(board) {
    if (board) await attempt(() => this.load(board));
    if (!this.drawing.shape) await this.resize();
    this.#isTouched = true; // by whatever changes from now on
  }

  /**
   * Start with a board that is given as text.
   * @param {string} text
   */
  async load(text) {
    const { shape, ranks } = await post("/api/design", { body: { board: text } });
    this.#choose(shape);
    await this.resize();
    const markOf = (/** @type {number} */ rank) => (rank && rank === shape.free_rank ? FREE : rank);
    this.drawing.set(shape.rows.flat().map((cell) => (cell < 0 ? cell : markOf(ranks[cell]))));
  }

  /**
   * Let the fields show the kind and the size of a board.
   * @param {Api.ShapeData} shape
   */
  #choose({ kind, sizes }) {
    this.#kind = kind;
    this.kind.choose(kind);
    for (const [name, { element }] of this.#sizes) element.hidden = name !== kind;
    this.#sizes.get(kind)?.fields.forEach((each, i) => (each.value = String(sizes[i])));
  }

  /** Change to the plain board of the chosen size; what was painted stays where it fits. */
  async resize() {
    for (const [kind, { element }] of this.#sizes) element.hidden = kind !== this.#kind;
    const chosen = this.#sizes.get(this.#kind);
    if (!chosen) return;
    const name = chosen.prefix + chosen.fields.map((each) => each.value).join("x");
    const mine = ++this.#resizes;
    const shape = await attempt(() => get("/api/shape", { query: { board: name } }));
    if (!shape || mine !== this.#resizes) return; // another size was chosen meanwhile
    this.drawing.setShape(shape);
  }

  /** @param {number} tool BRICK, a rank, or 0 to erase */
  take(tool) {
    this.drawing.tool = tool;
    this.tools.choose(tool === BRICK ? "brick" : tool ? "tile" : "erase");
  }

  changed() {
    this.undoButton.disabled = !this.drawing.canUndo;
    this.redoButton.disabled = !this.drawing.canRedo;
    if (this.drawing.shape) this.#choose(this.drawing.shape); // after an undo it may be another one
    this.map.textContent = this.drawing.text();
    this.keep();
    this.describe();
  }

  ruled() {
    this.#isTouched = true;
    this.keep();
    this.describe();
  }

  rules() {
    return { ...this.form.value(), board: this.drawing.text() };
  }

  /** Keep the drawing for who comes back from another page; once it was changed also in the address, for a reload. */
  keep() {
    if (!this.drawing.text() || this.#isClosed) return;
    setPref("design", this.rules());
    if (this.#isTouched) history.replaceState(null, "", writeAddress("design", [], this.rules()));
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
      const about = await post("/api/design", { body: this.rules() });
      if (mine !== this.#version) return;
      this.error.textContent = "";
      /**
       * @param {string} name
       * @param {string} text
       */
      const fact = (name, text) => [h("dt", {}, name), h("dd", {}, text)];
      this.facts.replaceChildren(
        ...[
          fact(
            t("Cells"),
            about.n_empty === about.shape.n_cells
              ? t("{n}, all empty", { n: about.n_empty })
              : t("{n}, {empty} of them empty", { n: about.shape.n_cells, empty: about.n_empty }),
          ),
          fact(
            t("Symmetries"),
            about.shape.n_symmetries === 1 ? t("none") : t("{n}, with the identity", { n: about.shape.n_symmetries }),
          ),
          fact(t("Largest tile possible"), about.max_tile_possible ? number(about.max_tile_possible) : "-"),
          fact(t("Best player here"), labelOf(about.default_player)),
          fact(t("Exactly solvable"), about.can_solve ? t("if time and disk allow") : about.why_not || t("no")),
        ].flat(),
      );
      if (about.max_tile_possible) this.form.limitGoal(about.max_tile_possible);
      this.estimateButton.disabled = this.solveButton.disabled = !about.can_solve;
      this.playButton.disabled = false;
      this.playCommand.set(about.commands.play);
      this.solveCommand.set(about.can_solve ? about.commands.solve : "");
      if (about.can_solve && about.shape.n_cells <= SMALL) this.ask();
    } catch (wrong) {
      if (mine !== this.#version) return;
      this.error.textContent = capital(messageOf(wrong));
      this.facts.replaceChildren();
      this.estimateButton.disabled = this.solveButton.disabled = this.playButton.disabled = true;
    }
  }

  async ask() {
    this.#estimate?.abort();
    const abort = (this.#estimate = new AbortController());
    this.verdict.textContent = t("Counting boards...");
    try {
      const answer = await retryUntilReady({ solve: true }, () =>
        post("/api/design/estimate", { body: { rules: this.rules(), objective: "win" }, signal: abort.signal }),
      );
      this.verdict.textContent = capital(answer.verdict) + ".";
    } catch (wrong) {
      if (!isAborted(wrong)) this.verdict.textContent = capital(messageOf(wrong));
    }
  }

  play() {
    location.hash = writeAddress("play", [], this.rules());
  }

  solve() {
    this.#estimate?.abort();
    if (!this.verdict.textContent.includes("solved")) this.verdict.textContent = "";
    solveDialog(this.rules());
  }

  link() {
    copy(`${location.origin}/${writeAddress("design", [], this.rules())}`);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const wish = meaning(event);
    if (wish?.command === "undo") this.drawing.undo();
    else if (wish?.command === "redo") this.drawing.redo();
    else return false;
    return true;
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#estimate?.abort();
    this.drawing.close();
  }
}
