// How far the review of a game is: starts it, asks for it until it is done, and stops it.

import { codeOf, get, post, remove } from "../api.js";
import { attempt, button, complain, h } from "../dom.js";
import { labelOf } from "../players.js";
import { retryUntilReady } from "../stream.js";
import { t } from "../text.js";
import { NO_REVIEWER } from "./position.js";

const EVERY = 400; // ms between questions

export class ReviewProgress {
  #timer = 0;
  #version = "";
  #isThere = false; // a review, perhaps the quick one
  #isClosed = false;
  #button = button(t("Review game"), () => this.begin(), { slim: true });
  #stop = button(t("Stop"), () => this.#stopReview(), { slim: true, hidden: true });
  #bar = h("progress", { hidden: true, "aria-label": t("Review") });
  status = h("p.quiet.small.told", { role: "status" });
  element = h("div.row", {}, this.#button, this.#stop, this.#bar);

  /**
   * @param {number} game
   * @param {object} use
   * @param {(review: Api.ReviewData, command: string) => unknown} use.onreview there is a review, or a better one
   * @param {(isDone: boolean) => unknown} use.onstate
   */
  constructor(game, use) {
    this.game = game;
    this.use = use;
  }

  /** Start the review, or continue it: the server keeps what it has. */
  async begin() {
    this.#button.hidden = true;
    try {
      this.#show(await retryUntilReady({}, () => post("/api/games/{game}/review", { path: { game: this.game }, body: { reviewer: "" } })));
    } catch (error) {
      if (this.#isClosed) return;
      if (codeOf(error) === NO_REVIEWER) {
        const link = (/** @type {string} */ href, /** @type {string} */ text) => h("a.button.slim", { href }, text);
        const links = h("span.row", {}, link("#/train", t("Train")), link("#/solve", t("Solve")));
        this.status.replaceChildren(t("This board has no reviewer yet: train a network for it, or solve it."), links);
        return;
      }
      this.#button.hidden = false;
      complain(error);
    }
  }

  /** There is nothing to review. */
  disable() {
    this.#button.disabled = true;
  }

  async #stopReview() {
    clearTimeout(this.#timer);
    const found = await attempt(() => remove("/api/games/{game}/review", { path: { game: this.game } }));
    if (found) this.#show(found);
  }

  async #ask() {
    try {
      this.#show(await get("/api/games/{game}/review", { path: { game: this.game }, query: { known: this.#version } }));
    } catch (error) {
      if (!this.#isClosed) complain(error);
    }
  }

  /** @param {Api.ReviewState} found */
  #show({ state, n_done: nDone, n_moves: nMoves, review, error, version, command, reviewer }) {
    if (this.#isClosed) return;
    const isRunning = state === "running";
    this.#button.hidden = isRunning || state === "done";
    this.#button.textContent = nDone ? t("Continue the review") : t("Review game");
    this.#stop.hidden = this.#bar.hidden = !isRunning;
    this.#bar.max = Math.max(1, nMoves);
    this.#bar.value = nDone;
    this.#version = version;
    this.use.onstate(state === "done");
    if (review) {
      this.#isThere = true;
      this.use.onreview(review, command);
    }
    if (isRunning) {
      this.status.textContent = t("{done} of {all} moves", { done: nDone, all: nMoves });
      this.#timer = setTimeout(() => this.#ask(), EVERY);
    } else if (error) this.status.textContent = error;
    else
      this.status.textContent =
        state === "done" && this.#isThere
          ? t("Every move is reviewed by {reviewer}. Drift says how far it is to be believed.", { reviewer: labelOf(reviewer) })
          : "";
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
