// The panel over the board when a game is won, over or deleted, with what can be done next.

import { button, h, say } from "./dom.js";
import { number } from "./pure/format.js";
import { sounds } from "./sound.js";
import { t, tn } from "./text.js";

const N_PIECES = 36; // of confetti

/** @typedef {{ undo: () => void, restart: () => void, again: () => void, review: () => void, share: () => void }} Actions */

export class Banner {
  element = h("div.banner", { role: "status" });
  #kind = "";
  #wasWon = false;
  #wasOver = false;
  #do;

  /** @param {Actions} actions */
  constructor(actions) {
    this.#do = actions;
  }

  /**
   * Open a game; what happened in it before is not announced.
   * @param {Api.StateData} state
   */
  open(state) {
    this.#wasWon = state.won;
    this.#wasOver = state.over;
    this.#set("");
  }

  /** @param {import("./game.js").Game} game */
  show({ state, isDeleted }) {
    const { goal } = state.rules;
    const { undo, restart, again, review, share } = this.#do;
    if (isDeleted) {
      if (this.#kind !== "deleted") say(t("This game was deleted"));
      this.#set(
        "deleted",
        h("p", {}, h("b", {}, t("This game was deleted.")), " ", t("It takes no more moves.")),
        h("div.row", {}, button(t("New game"), restart, { main: true })),
      );
    } else if (state.over) {
      const isNew = !this.#wasOver && this.#kind !== "over";
      this.#set(
        "over",
        h("h2", {}, state.won ? t("Game over: you reached {goal}!", { goal: String(goal) }) : t("Game over")),
        h("p", {}, result(state)),
        h(
          "div.row",
          {},
          button(t("New game"), restart, { main: true }),
          button(t("Undo"), undo),
          button(t("Review"), review, { title: t("Replay the game and see its best and worst moves") }),
          button(t("Same seed"), again, { title: t("The same start and the same luck once more") }),
          button(t("Share"), share),
        ),
      );
      if (isNew) {
        sounds.over();
        say(t("Game over, score {score}", { score: state.score }));
      }
    } else if (state.won && !this.#wasWon) {
      this.#set(
        "won",
        confetti(),
        h("h2", {}, t("{goal}! You win.", { goal: String(goal) })),
        h("p", {}, t("You can keep playing. {result}", { result: result(state) })),
        h(
          "div.row",
          {},
          button(t("Keep playing"), () => this.#set(""), { main: true }),
          button(t("Review"), review),
          button(t("Share"), share),
          button(t("New game"), restart),
        ),
      );
      sounds.won();
      say(t("{goal} reached, score {score}", { goal: String(goal), score: state.score }));
    } else if (!state.won || this.#kind !== "won") this.#set("");
    else this.element.classList.add("seen"); // played on: it makes room
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

/** @param {Api.StateData} state */
function result({ score, n_moves: n, highest }) {
  return tn(n, "Score {score} in {n} move, highest tile {highest}.", "Score {score} in {n} moves, highest tile {highest}.", {
    score: number(score),
    highest: String(highest),
  });
}

/** Coloured pieces that fall once; the style sheet moves them, or hides them where motion is not wanted. */
function confetti() {
  const box = h("div.confetti", { "aria-hidden": "true" });
  for (let i = 0; i < N_PIECES; i += 1) {
    const piece = h("i");
    piece.style.setProperty("--at", `${(100 * i) / N_PIECES}%`);
    piece.style.setProperty("--turn", `${(i * 137) % 360}deg`);
    piece.style.setProperty("--late", `${(i * 53) % 400}ms`);
    piece.style.setProperty("--paint", `var(--t${3 + (i % 10)})`);
    box.append(piece);
  }
  return box;
}
