// The last moves of a game, and who made them.

import { h } from "./dom.js";
import { labelOf } from "./players.js";
import { number } from "./pure/format.js";
import { t } from "./text.js";

/**
 * The keys that move on a shape: "an arrow key", or its letters.
 * @param {Api.ShapeData} shape
 */
export function keysOf({ moves }) {
  return moves.every(({ arrow_key: arrow }) => arrow) && moves.length === 4
    ? t("an arrow key")
    : moves.map(({ letter }) => letter.toUpperCase()).join(" ");
}

const SHOWN = 72;
const WHILE_RUNNING = 200; // ms between updates while a player plays

export class MoveList {
  #title = h("small");
  #moves = h("div.moves");
  #timer = 0;
  element = h("section.panel", {}, h("h2", {}, t("Moves"), " ", this.#title), this.#moves);

  /**
   * Draw the moves of a game, soon.
   * @param {import("./game.js").Game} game
   * @param {Api.PlayerList | null} players
   */
  show(game, players) {
    if (this.#timer) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = 0;
        this.#draw(game, players);
      },
      game.isRunning ? WHILE_RUNNING : 0,
    );
  }

  close() {
    clearTimeout(this.#timer);
  }

  /**
   * @param {import("./game.js").Game} game
   * @param {Api.PlayerList | null} players
   */
  #draw({ state, moves, shape }, players) {
    const { n_moves: n, mover, movers } = state;
    this.#title.textContent =
      mover && n
        ? mover === "human"
          ? t("{n}, last by you", { n })
          : t("{n}, last by {player}", { n, player: labelOf(mover, players) })
        : number(n);
    const glyphs = new Map(shape.moves.map(({ letter, glyph }) => [letter, glyph]));
    const first = Math.max(0, n - SHOWN);
    /** @type {{ isHuman: boolean, who: string, text: string }[]} */
    const runs = []; // consecutive moves of people, or of players
    let k = 0;
    for (let i = first; i < n; i += 1) {
      while (k + 1 < movers.length && movers[k + 1][0] <= i + 1) k += 1;
      const who = movers[k]?.[1] ?? "human";
      const isHuman = who === "human";
      if (runs.at(-1)?.isHuman !== isHuman) runs.push({ isHuman, who, text: "" });
      if (i < n - 1) runs[runs.length - 1].text += glyphs.get(moves[i]) ?? "·";
    }
    this.#moves.replaceChildren(
      ...(first > 0 ? ["…"] : []),
      ...runs
        .filter(({ text }) => text)
        .map(({ isHuman, text, who }) => h(isHuman ? "span" : "span.ai", { title: isHuman ? null : who }, text)),
      n
        ? h(runs.at(-1)?.isHuman ? "b" : "b.ai", {}, glyphs.get(moves[n - 1]) ?? "·")
        : h("span.none", {}, t("None yet: press {keys}, or swipe.", { keys: keysOf(shape) })),
    );
  }
}
