// What a player thinks of the board: asked for when the board rests, shown around it and in a panel.

import { post } from "./api.js";
import { shares, worths } from "./directions.js";
import { commandLine, h } from "./dom.js";
import { duration, short } from "./pure/format.js";
import { capital } from "./pure/words.js";

export const MODES = ["off", "best", "all"];
const WHILE_RUNNING = 300; // ms between questions while a player plays
const GLYPHS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

export class Hints {
  element = h("div");
  command = commandLine();
  hint = null;
  title = h("small");
  #body = h("div");
  #abort = null;
  #pause = 0;
  #lastAsked = 0;
  #wanted = null;

  constructor(onhint) {
    this.onhint = onhint;
    this.element.append(this.#body);
  }

  /** Ask soon: of a player that runs fast now and then, of a person at every board. */
  askSoon(game, playerOf) {
    const wait = game.isRunning ? Math.max(0, WHILE_RUNNING - (performance.now() - this.#lastAsked)) : 0;
    if (wait > 0 && this.#pause) return;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = 0;
      this.#lastAsked = performance.now();
      if (game.state) this.ask(game, playerOf());
    }, wait);
  }

  /** Ask about a game as it stands; a newer question takes the place of an older one. */
  ask(game, player) {
    this.#wanted = { id: game.id, rev: game.state.rev, player };
    if (game.state.over) return this.clear("The game is over.");
    this.#send(this.#wanted);
  }

  async #send({ id, rev, player }) {
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    try {
      const hint = await post("/api/hint", { game: id, player }, { signal: abort.signal });
      if (abort.signal.aborted || hint.rev < this.#wanted?.rev || rev !== this.#wanted?.rev) return;
      this.hint = hint.move === null ? null : hint;
      this.draw();
      this.onhint(this.hint);
    } catch (error) {
      if (error.name === "AbortError") return;
      // What is not ready yet is asked again when the server says that it is.
      this.clear(capital(error.message) + ".");
    }
  }

  /** Forget what was thought: the board has changed. */
  stale() {
    this.hint = null;
    this.onhint(null);
  }

  clear(words) {
    this.#abort?.abort();
    this.hint = null;
    this.title.textContent = "";
    this.#body.replaceChildren(h("p.quiet.small", {}, words));
    this.command.set("");
    this.onhint(null);
  }

  close() {
    clearTimeout(this.#pause);
    this.clear("");
  }

  draw() {
    const { hint } = this;
    const long = shares(hint.values);
    const texts = worths(hint);
    this.title.textContent = [hint.player, hint.depth ? `depth ${hint.depth}` : null, duration(hint.ms / 1000)]
      .filter(Boolean)
      .join(", ");
    const rows = hint.values.map(({ move, name, loss, error, grade }) => {
      const bar = h("u");
      bar.style.setProperty("--share", String(long.get(move)));
      const isValue = move === hint.move || loss === 0 || hint.unit === "chance";
      const text = isValue ? texts.get(move) : `-${short(loss)}`;
      return [
        h(move === hint.move ? "div.best" : "div", {}, capital(name)),
        h("div.track", {}, bar),
        h(
          "div.n",
          { title: error ? `± ${short(error)}` : null },
          GLYPHS[grade] ? h("span.glyph", { title: grade }, GLYPHS[grade]) : null,
          text,
        ),
      ];
    });
    this.#body.replaceChildren(h("div.values", {}, rows), hint.sentence ? h("p.why", {}, hint.sentence) : "");
    this.command.set(hint.command);
  }
}
