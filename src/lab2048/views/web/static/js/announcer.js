// Announces turns to screen readers: every move of a person, and now and then how a player is doing.

import { say } from "./dom.js";
import { sayTurn } from "./pure/words.js";
import { t, tn, told } from "./text.js";

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
    if (kind === "undo") return say(t("Undone. Score {score}.", { score: state.score }));
    if (!last) return;
    if (last.mover === "human") {
      const { name } = shape.moves[last.move];
      const words = sayTurn(told(name), before, shape.lines[last.move], last, (cell) => this.#board.placeOf(cell), shape.free_rank);
      return say(turns.length === 1 ? words : tn(turns.length, "{n} move. Score {score}.", "{n} moves. Score {score}.", { score: state.score }));
    }
    const now = performance.now();
    if (now - this.#last < PAUSE) return;
    this.#last = now;
    say(t("Highest tile {tile}, score {score}", { tile: String(state.highest), score: state.score }));
  }
}
