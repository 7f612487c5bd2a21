// Motion: tiles slide, merge and pop.  It only lies over a board that is true already, and can end at any time.

const QUICK = 125; // ms between turns: quicker ones (8 a second) are shown without slides

export class Motion {
  #running = new Set();
  #ghosts = [];
  #last = -Infinity;
  #ends = 0;

  /** A slide begins; says how many ms it takes, 0 if nothing is to move. */
  begin() {
    const now = performance.now();
    const ms = now - this.#last < QUICK ? 0 : duration("--slide");
    this.#last = now;
    this.#ends = now + ms;
    return ms;
  }

  /** A tile comes to where it stands. */
  slide(face, way, ms) {
    return this.#run(face, [{ transform: way }, { transform: "none" }], { duration: ms, easing: "ease-in-out" });
  }

  /** One of two tiles that merge comes along, as a ghost; what they have become shows when it is there. */
  merge(face, ghost, way, ms) {
    this.#ghosts.push(ghost);
    face.parentNode.append(ghost);
    this.slide(ghost, way, ms).onfinish = () => ghost.remove();
    const frames = [
      { transform: "scale(0.6)", opacity: 0 },
      { transform: "scale(1.14)", opacity: 1, offset: 0.5 },
      { transform: "none", opacity: 1 },
    ];
    this.#run(face, frames, { duration: duration("--pop"), delay: ms, fill: "backwards", easing: "ease-out" });
  }

  /** A new tile shows when the slide is over; without one it is simply there. */
  pop(face) {
    const ms = duration("--pop");
    const delay = Math.max(0, this.#ends - performance.now());
    if (ms === 0 || delay === 0) return;
    const frames = [{ transform: "scale(0)" }, { transform: "none" }];
    this.#run(face, frames, { duration: ms, delay, fill: "backwards", easing: "ease-out" });
  }

  /** End all motion at once. */
  finish() {
    for (const animation of this.#running) animation.cancel();
    this.#running.clear();
    for (const ghost of this.#ghosts) ghost.remove();
    this.#ghosts.length = 0;
  }

  #run(face, frames, timing) {
    const animation = face.animate(frames, timing);
    this.#running.add(animation);
    return animation;
  }
}

function duration(name) {
  if (document.documentElement.dataset.motion === "off") return 0;
  const text = getComputedStyle(document.documentElement).getPropertyValue(name);
  return text.endsWith("ms") ? parseFloat(text) : parseFloat(text) * 1000 || 0;
}
