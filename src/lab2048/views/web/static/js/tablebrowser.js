// The browser of a solved table: the value of every move and spawn of a board, and the hardest boards.

import { address, get, post } from "./api.js";
import "./board.js";
import { chart } from "./chart.js";
import { attempt, button, commandLine, h } from "./dom.js";
import { chances, percent, scores } from "./pure/format.js";
import { tile } from "./pure/slide.js";
import { capital } from "./pure/words.js";
import { rulesWords } from "./rulesform.js";

/**
 * Values of a table as text, with enough digits to tell them apart.
 * @param {string} objective
 * @param {[value: number, loss: number | null][]} pairs
 */
export function valueTexts(objective, pairs) {
  return objective === "win"
    ? chances(
        pairs.map(([value]) => value),
        pairs.map(([, loss]) => loss),
      )
    : scores(pairs.map(([value]) => value));
}

export class TableBrowser {
  /** @type {number[][]} */
  #past = []; // boards that were shown before
  /** @type {number[] | null} */
  #ranks = null;

  /**
   * @param {Api.SolvedShown} about
   * @param {() => unknown} play opens a game with the rules of the table
   */
  constructor(about, play) {
    this.about = about;
    this.path = { table: about.name };
    this.board = h("lab-board", { quiet: true, name: "Position" });
    this.text = h("input.plain", { name: "position", "aria-label": "Position", spellcheck: false });
    this.value = h("p.value");
    this.moves = h("div.values");
    this.spawns = h("div.spawns");
    this.hard = h("div.row");
    this.layers = chart("Boards by their tile sum");
    this.command = commandLine();
    this.backButton = button("Back", () => this.back(), { disabled: true });
    this.element = h(
      "div",
      {},
      h("h2", {}, about.name, h("small", {}, this.sentence())),
      h(
        "div.browse",
        {},
        h(
          "div.stack",
          {},
          this.board,
          h(
            "form.row",
            {
              onsubmit: (event) => {
                event.preventDefault();
                this.probe({ board: this.text.value });
              },
            },
            h("div.grow", {}, this.text),
            button("Look up", null, { type: "submit", slim: true }),
          ),
          h(
            "div.row",
            {},
            this.backButton,
            button("Start", () => this.probe({})),
            button("Play it", play, { main: true, title: "with perfect hints" }),
          ),
        ),
        h(
          "div.stack",
          {},
          this.value,
          this.moves,
          h("h2", {}, "Spawns after the best move ", h("small", {}, "best first")),
          this.spawns,
        ),
      ),
      h("h2.space", {}, "Hardest positions ", h("small", {}, "where the second-best move loses most")),
      this.hard,
      h("h2.space", {}, "Layers"),
      this.layers,
      this.command,
    );
    this.board.shape = about.shape;
  }

  sentence() {
    const { rules, objective, value, loss } = this.about;
    const what = objective === "win" ? "chance to win" : "expected score";
    return `${rulesWords(rules)}; ${what} ${valueTexts(objective, [[value, loss]])} with optimal play`;
  }

  /**
   * Show a board, by default a start board; then load what takes longer.
   * @param {string | null} position
   */
  async open(position) {
    await this.probe(position ? { board: position } : {});
    this.layers.load(address("/api/tables/{table}/layers", { path: this.path }));
    const hardest = await attempt(() => get("/api/tables/{table}/hardest", { path: this.path, query: { n: 8 } }));
    if (!hardest) return;
    this.hard.replaceChildren(
      ...hardest.positions
        .filter(({ value, second }) => value - second > 1e-9)
        .map((each) => {
          const [best, second] = valueTexts(this.about.objective, [
            [each.value, each.loss],
            [each.second, each.second_loss],
          ]);
          return button(
            h("span", {}, this.mini(each.ranks), h("span.small", {}, `${best} or ${second}`)),
            () => this.probe({ ranks: each.ranks }),
            { "aria-label": `${each.board}: ${best}, second best ${second}` },
          );
        }),
    );
    this.hard.className = "row hard";
  }

  /** @param {number[]} ranks */
  mini(ranks) {
    const board = h("lab-board", { quiet: true, "aria-hidden": "true", className: "mini" });
    board.shape = this.about.shape;
    board.show(ranks);
    return board;
  }

  /**
   * @param {Api.ProbeBody} body
   * @param {{ isBack?: boolean }} [options]
   */
  async probe(body, { isBack = false } = {}) {
    const answer = await attempt(() => post("/api/tables/{table}/probe", { path: this.path, body }));
    if (!answer) return;
    if (this.#ranks && !isBack) this.#past.push(this.#ranks);
    this.#ranks = answer.ranks;
    this.backButton.disabled = !this.#past.length;
    this.board.show(answer.ranks);
    this.board.point(answer.over ? null : answer.best);
    this.text.value = answer.board;
    this.drawMoves(answer);
    this.drawSpawns(answer);
    this.command.set(answer.command);
  }

  /** @param {Api.ProbeData} answer */
  drawMoves({ moves, best, value, loss, won, over }) {
    const texts = valueTexts(
      this.about.objective,
      moves.map((each) => [each.value, each.loss]),
    );
    const at = moves.findIndex(({ move }) => move === best);
    const words = this.about.objective === "win" ? "Chance to win" : "Expected score to come";
    this.value.replaceChildren(
      `${words} `,
      h("b", {}, texts[at] ?? valueTexts(this.about.objective, [[value, loss]])),
      won ? " (the goal is reached)" : over ? " (no move is left)" : "",
    );
    // Bars show the loss against the best move: the values themselves may differ only in their last digits.
    const worst = Math.max(...moves.map((each) => value - each.value), 0);
    this.moves.replaceChildren(
      ...moves.flatMap((each, i) => {
        const bar = h("u");
        bar.style.setProperty("--share", String(worst > 0 ? 1 - (0.75 * (value - each.value)) / worst : 1));
        return [
          h(each.move === best ? "div.best" : "div", {}, capital(each.name)),
          h("div.track", {}, bar),
          h("div.n", {}, texts[i]),
        ];
      }),
    );
  }

  /** @param {Api.ProbeData} answer */
  drawSpawns({ spawns }) {
    const texts = valueTexts(
      this.about.objective,
      spawns.map((each) => [each.value, each.loss]),
    );
    const isSame = new Set(texts).size < 2;
    this.spawns.replaceChildren(
      ...spawns.map(({ cell, rank, probability, ranks }, i) => {
        const tail = isSame ? "" : i === 0 ? "best" : i === spawns.length - 1 ? "worst" : "";
        return h(
          "button.spawn",
          { type: "button", onclick: () => this.probe({ ranks }) },
          h("b", {}, tile(rank)),
          h("span.grow", {}, this.board.placeOf(cell)),
          h("span.quiet", {}, percent(probability)),
          h("span", {}, texts[i]),
          h(i ? "span.small.bad" : "span.small.good", {}, tail),
        );
      }),
    );
    if (!spawns.length) this.spawns.replaceChildren(h("p.quiet.small", {}, "None: the game ends here."));
  }

  back() {
    const ranks = this.#past.pop();
    if (ranks) this.probe({ ranks }, { isBack: true });
  }
}
