// What a player thinks of the board: asked for when the board rests, shown around it and in a panel.

import { post } from "./api.js";
import { shares, worth } from "./directions.js";
import { commandLine, h } from "./dom.js";
import { duration, short } from "./pure/format.js";
import { capital } from "./pure/words.js";

export const MODES = ["off", "best", "all"];
const GLYPHS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

export class Hints {
  element = h("div");
  command = commandLine();
  hint = null;
  title = h("small");
  #body = h("div");
  #abort = null;
  #timer = 0;
  #wanted = null;

  constructor(onhint) {
    this.onhint = onhint;
    this.element.append(this.#body);
  }

  /** Ask about a game as it stands; a newer question takes the place of an older one. */
  ask(game, player, { wait = 0 } = {}) {
    this.#wanted = { id: game.id, rev: game.state.rev, player };
    clearTimeout(this.#timer);
    if (game.state.over) return this.clear("The game is over.");
    this.#timer = setTimeout(() => this.#send(this.#wanted), wait);
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
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.hint = null;
    this.title.textContent = "";
    this.#body.replaceChildren(h("p.quiet.small", {}, words));
    this.command.set("");
    this.onhint(null);
  }

  draw() {
    const { hint } = this;
    const long = shares(hint.values);
    this.title.textContent = [hint.player, hint.depth ? `depth ${hint.depth}` : null, duration(hint.ms / 1000)]
      .filter(Boolean)
      .join(", ");
    const rows = hint.values.map(({ move, name, value, loss, error, grade }) => {
      const bar = h("u");
      bar.style.setProperty("--share", String(long.get(move)));
      const text =
        move === hint.move || loss === 0
          ? worth(value, hint.unit)
          : hint.unit === "chance"
            ? worth(value, hint.unit)
            : `-${short(loss)}`;
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
