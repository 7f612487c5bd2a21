// A swipe, decided while the finger moves: one move a gesture, in the direction nearest to the path.

const LEAST = 24; // pixels
const SHARE = 0.06; // of the board's side
const EDGE = (8 * Math.PI) / 180; // so near to the border of two directions, wait for more

export class Swipe {
  #from = null;
  #isSpent = false;
  #fingers = new Set();

  /** `vectors` are the directions of the moves on the screen, [dx, dy], y downwards. */
  constructor(vectors, side = 0) {
    this.angles = vectors.map(([x, y]) => Math.atan2(y, x));
    this.least = Math.max(LEAST, SHARE * side);
  }

  /** A finger comes down; a second one means that this is no swipe. */
  down(id, x, y) {
    this.#fingers.add(id);
    this.#from = { id, x, y };
    this.#isSpent = this.#fingers.size > 1;
  }

  /** The finger has moved: the move that it means, or null while that is not clear. */
  moved(id, x, y) {
    if (this.#isSpent || this.#from?.id !== id) return null;
    const dx = x - this.#from.x;
    const dy = y - this.#from.y;
    if (Math.hypot(dx, dy) < this.least) return null;
    const angle = Math.atan2(dy, dx);
    const away = this.angles.map((other) => Math.abs(Math.atan2(Math.sin(angle - other), Math.cos(angle - other))));
    const move = away.indexOf(Math.min(...away));
    const second = Math.min(...away.filter((_, i) => i !== move));
    if (second - away[move] < 2 * EDGE) return null;
    this.#isSpent = true;
    return move;
  }

  /** The finger is gone. */
  up(id) {
    this.#fingers.delete(id);
    if (this.#fingers.size === 0) {
      this.#from = null;
      this.#isSpent = false;
    }
  }
}
