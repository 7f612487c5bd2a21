// Swipes, decided while the finger moves: one move per gesture, in the nearest direction.

const LEAST = 24; // pixels
const SHARE = 0.06; // of the board's side
const EDGE = (8 * Math.PI) / 180; // this close to the border between two directions, wait for more

export class Swipe {
  /** @type {{ id: number, x: number, y: number } | null} */
  #from = null;
  #isSpent = false;
  #fingers = new Set();

  /**
   * @param {number[][]} vectors the directions of the moves on the screen, [dx, dy], y downwards
   * @param {number} [side] of the board in pixels
   */
  constructor(vectors, side = 0) {
    this.angles = vectors.map(([x, y]) => Math.atan2(y, x));
    this.least = Math.max(LEAST, SHARE * side);
  }

  /**
   * A finger touches the board; with a second one it is no swipe.
   * @param {number} id
   * @param {number} x
   * @param {number} y
   */
  down(id, x, y) {
    this.#fingers.add(id);
    this.#from = { id, x, y };
    this.#isSpent = this.#fingers.size > 1;
  }

  /**
   * The finger has moved: returns the move, or null as long as it is not clear.
   * @param {number} id
   * @param {number} x
   * @param {number} y
   */
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

  /**
   * The finger has left the board.
   * @param {number} id
   */
  up(id) {
    this.#fingers.delete(id);
    if (this.#fingers.size === 0) {
      this.#from = null;
      this.#isSpent = false;
    }
  }
}
