// What has just happened to a game: won, and play goes on; or over.  It is never in the way.

import { button, h, say } from "./dom.js";
import { count, number } from "./pure/format.js";

export class Banner {
  element = h("div.banner", { role: "status" });
  #kind = "";
  #wasWon = false;
  #wasOver = false;

  constructor({ undo, fresh }) {
    this.undo = undo;
    this.fresh = fresh;
  }

  /** Begin with a game as it stands: what happened before is no news. */
  open(state) {
    this.#wasWon = state.won;
    this.#wasOver = state.over;
  }

  show(state) {
    if (state.over) {
      this.#set(
        "over",
        h(
          "p",
          {},
          h("b", {}, state.won ? `Game over, and won: ${state.rules.goal} was reached. ` : "Game over. "),
          `${number(state.score)} in ${count(state.n_moves, "move")}, highest tile ${state.highest}.`,
        ),
        button("Undo", this.undo, { slim: true }),
        button("New game", this.fresh, { slim: true }),
      );
      if (!this.#wasOver) say(`Game over${state.won ? " and won" : ""}, score ${number(state.score)}`);
    } else if (state.won && !this.#wasWon) {
      this.#set(
        "won",
        h("p", {}, h("b", {}, `${state.rules.goal}! `), "You can play on."),
        button("OK", () => this.#set(""), { slim: true }),
      );
    } else if (!state.won || this.#kind === "over") this.#set("");
    this.#wasWon = state.won;
    this.#wasOver = state.over;
  }

  #set(kind, ...content) {
    if (kind && kind === this.#kind) return;
    this.#kind = kind;
    this.element.className = kind ? `banner ${kind}` : "banner";
    this.element.replaceChildren(...content);
  }
}
