// Hints: the values of all moves by a player, asked for when the board is at rest.

import { isAborted, messageOf, post, statusOf } from "./api.js";
import { shares, valueTexts } from "./directions.js";
import { commandLine, h } from "./dom.js";
import { labelOf } from "./players.js";
import { pref } from "./prefs.js";
import { duration, short } from "./pure/format.js";
import { capital } from "./pure/words.js";
import { checkReady } from "./stream.js";
import { t, told } from "./text.js";

/** @type {import("./prefs.js").HintMode[]} */
export const MODES = ["off", "best", "all"];
const WHILE_RUNNING = 300; // ms between requests while a player plays
const AGAIN = 2000; // ms until a request that the server could not answer is sent again
/** @type {Record<string, string>} */
const QUANTITIES = { score: t("Expected further score"), chance: t("Chance to reach the goal") }; // by unit
/** @type {Record<string, string>} */
const GLYPHS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

export class Hints {
  element = h("div");
  command = commandLine();
  /** @type {Api.HintData | null} */
  hint = null;
  title = h("small");
  /** @type {Api.PlayerList | null} */
  players = null; // for their names
  #body = h("div");
  /** @type {AbortController | null} */
  #abort = null;
  #pause = 0;
  #again = 0;
  #lastAsked = 0;
  #wantedRev = 0;
  #onhint;

  /** @param {(hint: Api.HintData | null) => unknown} onhint */
  constructor(onhint) {
    this.#onhint = onhint;
    this.element.append(this.#body);
  }

  /**
   * Ask at every board of a person, and now and then while a player plays.
   * @param {import("./game.js").Game} game
   * @param {() => string | null} playerOf
   */
  askSoon(game, playerOf) {
    const wait = game.isRunning ? Math.max(0, WHILE_RUNNING - (performance.now() - this.#lastAsked)) : 0;
    if (wait > 0 && this.#pause) return;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = 0;
      this.#lastAsked = performance.now();
      this.ask(game, playerOf());
    }, wait);
  }

  /**
   * Ask about the current board of a game; the answer to an older request is ignored.
   * @param {import("./game.js").Game} game
   * @param {string | null} player
   */
  async ask(game, player) {
    const { id, rev } = game.state;
    this.#wantedRev = rev;
    clearTimeout(this.#again);
    if (game.isEnded) return this.clear(game.isDeleted ? "" : t("The game is over."));
    this.#abort?.abort();
    const { signal } = (this.#abort = new AbortController());
    try {
      await checkReady({ player });
      if (signal.aborted) return;
      const hint = await post("/api/hint", { body: { game: id, player }, signal });
      if (signal.aborted || rev !== this.#wantedRev || (hint.rev ?? rev) < rev) return;
      if (hint.move !== null) this.#draw(hint);
      this.hint = hint.move === null ? null : hint;
      this.#onhint(this.hint);
    } catch (error) {
      if (isAborted(error)) return;
      this.clear(capital(messageOf(error)) + ".");
      // Not ready, or busy: the page also asks again when the server says that it is ready.
      if (statusOf(error) === 503) this.#again = setTimeout(() => this.ask(game, player), AGAIN);
    }
  }

  /** Draw the last answer again, in the mode that is chosen now. */
  redraw() {
    if (this.hint) this.#draw(this.hint);
  }

  /** @param {string} words */
  clear(words) {
    clearTimeout(this.#again);
    this.#abort?.abort();
    this.hint = null;
    this.title.textContent = "";
    this.#body.replaceChildren(h("p.quiet.small", {}, words));
    this.command.set("");
    this.#onhint(null);
  }

  close() {
    clearTimeout(this.#pause);
    this.clear("");
  }

  /** @param {Api.HintData} hint */
  #draw(hint) {
    this.title.textContent = [
      labelOf(hint.player, this.players),
      hint.depth ? t("depth {depth}", { depth: hint.depth }) : null,
      duration(hint.ms / 1000),
    ]
      .filter(Boolean)
      .join(", ");
    this.title.title = hint.player;
    const why = hint.sentence ? h("p.why", {}, inClauses(hint.sentence)) : "";
    this.command.set(hint.command);
    if (pref("hints") === "best") {
      const best = hint.values.find(({ move }) => move === hint.move);
      this.#body.replaceChildren(h("p.advice", {}, t("Best move: {move}", { move: told(best?.name ?? "") })), why);
      return;
    }
    const long = shares(hint);
    const texts = valueTexts(hint);
    const rows = hint.values.map(({ move, name, error, grade }) => {
      const bar = h("u");
      bar.style.setProperty("--share", String(long.get(move)));
      return [
        h(move === hint.move ? "div.best" : "div", {}, capital(told(name))),
        h("div.track", {}, bar),
        h(
          "div.n",
          { title: error ? `± ${short(error)}` : null },
          GLYPHS[grade] ? h("span.glyph", { title: told(grade) }, GLYPHS[grade]) : null,
          texts.get(move),
        ),
      ];
    });
    const heading = h("p.quiet.small.quantity", {}, QUANTITIES[hint.unit] ?? t("Value by its own measure: larger is better"));
    this.#body.replaceChildren(heading, h("div.values", {}, rows), why);
  }
}

/**
 * A sentence of the server in the language of the page, clause by clause: "Left: makes 4, 14 empty cells".
 * @param {string} sentence
 */
function inClauses(sentence) {
  const [name, ...rest] = sentence.split(/(: |, )/);
  return capital(told(name.toLowerCase())) + rest.map(told).join("");
}
