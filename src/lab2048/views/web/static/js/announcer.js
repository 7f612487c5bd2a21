// Announces turns to screen readers: every move of a person, and now and then how a player is doing.

import { say } from "./dom.js";
import { count, number } from "./pure/format.js";
import { sayTurn } from "./pure/words.js";

const PAUSE = 2000; // ms between announcements while a player plays

export class Announcer {
  #last = 0;
  #board;

  /** @param {import("./board.js").LabBoard} board */
  constructor(board) {
    this.#board = board;
  }

  /**
   * @param {import("./game.js").Game} game
   * @param {import("./game.js").Change} change
   */
  announce({ state, shape }, { turns, kind, before }) {
    const last = turns.at(-1);
    if (kind === "undo") return say(`Undone. Score ${number(state.score)}.`);
    if (!last) return;
    if (last.mover === "human") {
      const { name } = shape.moves[last.move];
      const words = sayTurn(name, before, shape.lines[last.move], last, (cell) => this.#board.placeOf(cell));
      return say(turns.length === 1 ? words : `${count(turns.length, "move")}. Score ${number(state.score)}.`);
    }
    const now = performance.now();
    if (now - this.#last < PAUSE) return;
    this.#last = now;
    say(`Highest tile ${state.highest}, score ${number(state.score)}`);
  }
}
