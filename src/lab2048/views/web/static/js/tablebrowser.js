// The browser of a solved table: the value of every move and spawn of a board, and the hardest boards.

import { address, get, post } from "./api.js";
import "./board.js";
import { chart } from "./chart.js";
import { attempt, button, commandLine, h } from "./dom.js";
import { chances, percent, scores } from "./pure/format.js";
import { tile } from "./pure/slide.js";
import { capital } from "./pure/words.js";
import { rulesWords } from "./ruleswords.js";
import { t, told } from "./text.js";

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
  #asked = 0; // questions

  /**
   * @param {Api.SolvedShown} about
   * @param {() => unknown} play opens a game with the rules of the table
   */
  constructor(about, play) {
    this.about = about;
    this.path = { table: about.name };
    this.board = h("lab-board", { quiet: true, name: t("Position") });
    this.text = h("input.plain", { name: "position", "aria-label": t("Position"), spellcheck: false });
    this.value = h("p.value");
    this.moves = h("div.values");
    this.spawns = h("div.spawns");
    this.spawnTitle = h("h2");
    this.hardTitle = h("h2.space", { hidden: true });
    this.hard = h("div.row");
    this.layers = chart(t("Boards by their tile sum"));
    this.command = commandLine();
    this.backButton = button(t("Back"), () => this.back(), { disabled: true });
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
            button(t("Look up"), null, { type: "submit", slim: true }),
          ),
          h(
            "div.row",
            {},
            this.backButton,
            button(t("Start"), () => this.probe({})),
            button(t("Play it"), play, { main: true, title: t("with perfect hints") }),
          ),
        ),
        h(
          "div.stack",
          {},
          this.value,
          this.moves,
          this.spawnTitle,
          this.spawns,
        ),
      ),
      this.hardTitle,
      this.hard,
      h("h2.space", {}, t("Layers")),
      this.layers,
      this.command,
    );
    this.board.shape = about.shape;
  }

  sentence() {
    const { rules, objective, value, loss } = this.about;
    const what = objective === "win" ? t("chance to win") : t("expected score");
    return t("{rules}; {what} {value} with optimal play", {
      rules: rulesWords(rules),
      what,
      value: valueTexts(objective, [[value, loss]])[0],
    });
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
    const traps = hardest.positions.filter(({ is_trap: isTrap }) => isTrap);
    const shown = traps.length ? traps : hardest.positions;
    this.hardTitle.replaceChildren(
      traps.length ? t("Positions that people get wrong") : t("Positions with one good move"),
      " ",
      h("small", {}, traps.length ? t("where the move that merges most is not the best") : t("the second-best move loses most")),
    );
    this.hard.replaceChildren(
      ...shown.map((each) => {
        const [best, wrong] = valueTexts(this.about.objective, [
          [each.value, each.loss],
          [each.obvious_value, each.obvious_loss],
        ]);
        const [good, bad] = [told(each.best_name), told(each.obvious_name)];
        return button(
          h(
            "span",
            {},
            this.mini(each.ranks),
            h("span.small.good", {}, `${capital(good)} ${best}`),
            h("span.small.bad", {}, `${capital(bad)} ${wrong}`),
          ),
          () => this.probe({ ranks: each.ranks }),
          {
            "aria-label": t("{board}: {good} is worth {best}, {bad} {wrong}", {
              board: each.board,
              good,
              best,
              bad,
              wrong,
            }),
          },
        );
      }),
    );
    this.hard.className = "row hard";
    this.hardTitle.hidden = !hardest.positions.length;
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
    const number = ++this.#asked;
    const typed = this.text.value;
    const answer = await attempt(() => post("/api/tables/{table}/probe", { path: this.path, body }));
    if (!answer || number !== this.#asked) return;
    const isSame = this.#ranks?.join() === answer.ranks.join();
    if (this.#ranks && !isBack && !isSame) this.#past.push(this.#ranks);
    this.#ranks = answer.ranks;
    this.backButton.disabled = !this.#past.length;
    this.board.show(answer.ranks);
    this.board.point(answer.over ? null : answer.followed);
    if (this.text.value === typed) this.text.value = answer.board; // or the next board is being typed
    this.drawMoves(answer);
    this.drawSpawns(answer);
    this.command.set(answer.command);
  }

  /** @param {Api.ProbeData} answer */
  drawMoves({ moves, best, followed, value, loss, won, over, ranks }) {
    const texts = valueTexts(
      this.about.objective,
      moves.map((each) => [each.value, each.loss]),
    );
    const at = moves.findIndex(({ move }) => move === best);
    const words = this.about.objective === "win" ? t("Chance to win") : t("Expected score to come");
    this.value.replaceChildren(
      `${words} `,
      h("b", {}, texts[at] ?? valueTexts(this.about.objective, [[value, loss]])),
      " ",
      won ? t("(the goal is reached)") : over ? t("(no move is left)") : "",
    );
    // Lengths are true to the values; what a move costs is written beside it.
    const most = this.about.objective === "win" ? 1 : Math.max(...moves.map((each) => each.value), 1e-9);
    const top = moves[at]?.value ?? value;
    const costs = valueTexts(
      this.about.objective,
      moves.map((each) => [Math.max(0, top - each.value), null]),
    );
    this.moves.replaceChildren(
      ...moves.flatMap((each, i) => {
        const bar = h("u");
        bar.style.setProperty("--share", String(Math.max(0, each.value / most)));
        const name = capital(told(each.name));
        const cost = each.move === best || top - each.value <= 0 ? "" : t("costs {value}", { value: costs[i] });
        return [
          h(
            each.move === best ? "button.best" : "button",
            {
              type: "button",
              "aria-pressed": String(each.move === followed),
              "aria-label": [name, texts[i], each.move === best ? t("best") : cost].filter(Boolean).join(", "),
              onclick: () => this.probe({ ranks, move: each.move }),
            },
            name,
          ),
          h("div.track", {}, bar),
          h("div.n", {}, texts[i], h("small.quiet", {}, cost)),
        ];
      }),
    );
    const name = moves.find(({ move }) => move === followed)?.name;
    this.spawnTitle.replaceChildren(
      name ? t("Spawns after {move}", { move: told(name) }) : "",
      " ",
      h("small", {}, name ? t("best first; select a move above or a spawn to follow it") : ""),
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
        const tail = isSame ? "" : i === 0 ? t("best") : i === spawns.length - 1 ? t("worst") : "";
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
    if (!spawns.length) this.spawns.replaceChildren(h("p.quiet.small", {}, t("None: the game ends here.")));
  }

  back() {
    const ranks = this.#past.pop();
    if (ranks) this.probe({ ranks }, { isBack: true });
  }
}
