// What happens on the board in words, for those who hear the page: a person's moves in full, a player's now and then.

import { say } from "./dom.js";
import { count, number } from "./pure/format.js";
import { sayTurn } from "./pure/words.js";

const PAUSE = 2000; // ms between two lines while a player plays

export class Voice {
  #last = 0;

  constructor(board) {
    this.board = board;
  }

  /** Turns that were made; `before` is the board before the last one. */
  tell({ state, shape }, { turns, kind, before }) {
    const last = turns.at(-1);
    if (kind === "undo") return say(`Undone. Score ${number(state.score)}.`);
    if (!last) return;
    if (last.mover === "human") {
      const { name } = shape.moves[last.move];
      const words = sayTurn(name, before, shape.lines[last.move], last, (cell) => this.board.placeOf(cell));
      return say(turns.length === 1 ? words : `${count(turns.length, "move")}. Score ${number(state.score)}.`);
    }
    const now = performance.now();
    if (now - this.#last < PAUSE) return;
    this.#last = now;
    say(`${state.highest} highest, score ${number(state.score)}`);
  }
}
