// Animations of tiles that slide, merge and appear.  The board below is already right, so they can end at any time.

const QUICK = 125; // ms between turns: faster ones (8 per second) are shown without slides

export class Motion {
  /** @type {Set<Animation>} */
  #running = new Set();
  /** @type {HTMLElement[]} */
  #ghosts = [];
  #last = -Infinity;
  #ends = 0;

  /** Start a slide and return its duration in ms, 0 if it is not animated. */
  begin() {
    const now = performance.now();
    const ms = now - this.#last < QUICK ? 0 : duration("--slide");
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
    return this.#run(face, [{ transform: way }, { transform: "none" }], { duration: ms, easing: "ease-in-out" });
  }

  /**
   * Move one of two merging tiles, a `ghost`, to its cell, where the merged tile `face` then appears.
   * @param {HTMLElement} face
   * @param {HTMLElement} ghost
   * @param {string} way a CSS transform
   * @param {number} ms
   */
  merge(face, ghost, way, ms) {
    this.#ghosts.push(ghost);
    face.parentElement?.append(ghost);
    this.slide(ghost, way, ms).onfinish = () => ghost.remove();
    const frames = [
      { transform: "scale(0.6)", opacity: 0 },
      { transform: "scale(1.14)", opacity: 1, offset: 0.5 },
      { transform: "none", opacity: 1 },
    ];
    this.#run(face, frames, { duration: duration("--pop"), delay: ms, fill: "backwards", easing: "ease-out" });
  }

  /**
   * Let a new tile appear after the slide; without animation it is there at once.
   * @param {HTMLElement} face
   */
  pop(face) {
    const ms = duration("--pop");
    const delay = Math.max(0, this.#ends - performance.now());
    if (ms === 0 || delay === 0) return;
    const frames = [{ transform: "scale(0)" }, { transform: "none" }];
    this.#run(face, frames, { duration: ms, delay, fill: "backwards", easing: "ease-out" });
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
    return animation;
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
