// Says that a game has just been won, is over or was deleted.

import { button, h, say } from "./dom.js";
import { count, number } from "./pure/format.js";

export class Banner {
  element = h("div.banner", { role: "status" });
  #kind = "";
  #wasWon = false;
  #wasOver = false;

  #undo;
  #restart;

  /** @param {{ undo: () => void, restart: () => void }} actions */
  constructor({ undo, restart }) {
    this.#undo = undo;
    this.#restart = restart;
  }

  /**
   * Open a game; what happened in it before is not announced.
   * @param {Api.StateData} state
   */
  open(state) {
    this.#wasWon = state.won;
    this.#wasOver = state.over;
  }

  /** @param {import("./game.js").Game} game */
  show({ state, isDeleted }) {
    if (isDeleted) {
      this.#set(
        "deleted",
        h("p", {}, h("b", {}, "This game was deleted. "), "It takes no more moves."),
        button("New game", this.#restart, { slim: true }),
      );
      say("This game was deleted");
    } else if (state.over) {
      this.#set(
        "over",
        h(
          "p",
          {},
          h("b", {}, state.won ? `Game over: you reached ${state.rules.goal}! ` : "Game over. "),
          `Final score ${number(state.score)} in ${count(state.n_moves, "move")}, highest tile ${state.highest}.`,
        ),
        button("Undo", this.#undo, { slim: true }),
        button("New game", this.#restart, { slim: true }),
      );
      if (!this.#wasOver) say(`Game over${state.won ? " and won" : ""}, score ${number(state.score)}`);
    } else if (state.won && !this.#wasWon) {
      this.#set(
        "won",
        h("p", {}, h("b", {}, `${state.rules.goal}! `), "You can keep playing."),
        button("OK", () => this.#set(""), { slim: true }),
      );
    } else if (!state.won || this.#kind !== "won") this.#set("");
    this.#wasWon = state.won;
    this.#wasOver = state.over;
  }

  /**
   * @param {"" | "won" | "over" | "deleted"} kind
   * @param {...Node} content
   */
  #set(kind, ...content) {
    if (kind && kind === this.#kind) return;
    this.#kind = kind;
    this.element.className = kind ? `banner ${kind}` : "banner";
    this.element.replaceChildren(...content);
  }
}
