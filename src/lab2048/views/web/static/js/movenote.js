// Why a player made its last move: what the strategy of a shield calls safe, what was proposed, and what became of it.

import { get } from "./api.js";
import { h } from "./dom.js";
import { Latest } from "./pure/latest.js";
import { capital } from "./pure/words.js";
import { t, told } from "./text.js";

const EXPLAINS = /^shield\b/; // players that explain their moves
const PAUSE = 50; // ms without another move before the server is asked

export class MoveNote {
  #game = 0;
  #turn = 0;
  #text = h("p.small");
  #table = h("tbody");
  #latest = new Latest(
    () => get("/api/games/{game}/notes/{turn}", { path: { game: this.#game, turn: this.#turn } }),
    { answered: (note) => this.#draw(note), failed: () => this.clear(), pause: PAUSE },
  );
  element;

  /** @param {{ isBrief?: boolean }} [options] brief: the sentences alone */
  constructor({ isBrief = false } = {}) {
    const heads = [t("After"), t("Safe"), t("State score"), t("Mergeable"), t("Locked")];
    const head = h("thead", {}, h("tr", {}, ...heads.map((each) => h("th", { scope: "col" }, each))));
    const table = h("div.table", {}, h("table", {}, head, this.#table));
    this.element = isBrief
      ? h("div.note", { hidden: true }, this.#text)
      : h("section.panel.note", { hidden: true }, h("h2", {}, t("Why this move")), this.#text, table);
  }

  /**
   * Explain a move, unless it is the first board or its player has nothing to say.
   * @param {number} game
   * @param {number} turn
   * @param {string} mover
   */
  show(game, turn, mover) {
    if (!turn || !EXPLAINS.test(mover)) return this.clear();
    if (this.#game === game && this.#turn === turn) return;
    this.#game = game;
    this.#turn = turn;
    this.#latest.ask();
  }

  clear() {
    this.#latest.stop();
    this.#turn = 0;
    this.element.hidden = true;
  }

  /** @param {Api.NoteData} note */
  #draw({ text, considered, made }) {
    this.element.hidden = !text;
    this.#text.textContent = text;
    this.#table.replaceChildren(
      ...considered.map((each) =>
        h(
          "tr",
          { "aria-selected": each.move === made ? "true" : null },
          h("td", {}, capital(told(each.move))),
          h("td", {}, each.is_safe ? t("yes") : t("no")),
          h("td", {}, String(each.state_score)),
          h("td", {}, String(each.mergeable)),
          h("td", {}, each.is_locked ? t("yes") : t("no")),
        ),
      ),
    );
  }
}
