// Animations of tiles that slide, merge and appear.  The board below is already right, so they can end at any time.
//
// A slide takes a part of the time between turns, so the faster the turns, the shorter the slides: each ends before the next
// begins.  Two tiles that merge slide as ghosts below the merged tile, which is hidden until they have arrived.  So at every
// moment either the two or the merged one can be seen.

const SLIDE_SHARE = 0.6; // of the time between turns
const POP_SHARE = 0.35;
const LEAST = 14; // ms: less than a frame is no slide
const STEADY = 1000; // ms without a turn: the pace is unknown again

export class Motion {
  /** @type {Set<Animation>} */
  #running = new Set();
  /** @type {HTMLElement[]} */
  #ghosts = [];
  #last = -Infinity;
  #ends = 0;
  #pop = 0;

  /** Start a slide and return its duration in ms, 0 if it is not animated. */
  begin() {
    const now = performance.now();
    const gap = now - this.#last;
    const pace = gap < STEADY ? gap : Infinity;
    const isSlow = SLIDE_SHARE * pace >= LEAST;
    const ms = isSlow ? Math.min(duration("--slide"), SLIDE_SHARE * pace) : 0;
    this.#pop = isSlow ? Math.min(duration("--pop"), POP_SHARE * pace) : 0;
    this.#last = now;
    this.#ends = now + ms;
    return ms;
  }

  /**
   * Move a tile from `way` to its cell.
   * @param {HTMLElement} face
   * @param {string} way a CSS transform
   * @param {number} ms
   */
  slide(face, way, ms) {
    this.#run(face, [{ transform: way }, { transform: "none" }], { duration: ms, easing: "ease-in-out" });
  }

  /**
   * Move one of two merging tiles, a `ghost`, to its cell.
   * @param {HTMLElement} face of the merged tile
   * @param {HTMLElement} ghost
   * @param {string} way a CSS transform
   * @param {number} ms
   */
  join(face, ghost, way, ms) {
    this.#ghosts.push(ghost);
    face.parentElement?.prepend(ghost);
    this.slide(ghost, way, ms);
  }

  /**
   * Let the merged tile appear over its two ghosts when they have arrived.
   * @param {HTMLElement} face
   * @param {number} ms of the slide
   */
  merge(face, ms) {
    const all = ms + Math.max(this.#pop, 1);
    const arrived = ms / all;
    const frames = [
      { opacity: 0, transform: "none", offset: 0 },
      { opacity: 0, transform: "none", offset: arrived },
      { opacity: 1, transform: "none", offset: arrived },
      { opacity: 1, transform: "scale(1.13)", offset: (1 + arrived) / 2 },
      { opacity: 1, transform: "none", offset: 1 },
    ];
    this.#run(face, frames, { duration: all });
  }

  /**
   * Let a new tile appear after the slide; without animation it is there at once.
   * @param {HTMLElement} face
   */
  pop(face) {
    const delay = Math.max(0, this.#ends - performance.now());
    if (this.#pop < LEAST || delay === 0) return;
    const frames = [{ transform: "scale(0)" }, { transform: "none" }];
    this.#run(face, frames, { duration: this.#pop, delay, fill: "backwards", easing: "ease-out" });
  }

  /** End all animations. */
  finish() {
    for (const animation of this.#running) animation.cancel();
    this.#running.clear();
    for (const ghost of this.#ghosts) ghost.remove();
    this.#ghosts.length = 0;
  }

  /**
   * @param {HTMLElement} face
   * @param {Keyframe[]} frames
   * @param {KeyframeAnimationOptions} timing
   */
  #run(face, frames, timing) {
    const animation = face.animate(frames, timing);
    this.#running.add(animation);
    animation.onfinish = () => {
      this.#running.delete(animation);
      // Nothing hides a merged tile any more, so what is below it can go.
      if (!this.#running.size) this.finish();
    };
  }
}

/**
 * The value of a custom property in ms; 0 if animations are off.
 * @param {string} name
 */
function duration(name) {
  if (document.documentElement.dataset.motion === "off") return 0;
  const text = getComputedStyle(document.documentElement).getPropertyValue(name);
  return text.endsWith("ms") ? parseFloat(text) : parseFloat(text) * 1000 || 0;
}
