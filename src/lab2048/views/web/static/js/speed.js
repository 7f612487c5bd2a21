// How fast players move: from one move a second to as fast as it goes.

import { h } from "./dom.js";
import { pref, setPref } from "./prefs.js";

export const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 0]; // 0 is as fast as it goes

export function speedWords(speed) {
  return speed === 0 ? "as fast as it goes" : `${speed} a second`;
}

/** A slider; `onchange` gets moves a second. */
export function speedControl(onchange, name = "speed") {
  const words = h("output", { className: "quiet small" });
  const slider = h("input", { type: "range", min: 0, max: SPEEDS.length - 1, step: 1, "aria-label": "Speed" });
  const draw = () => {
    const speed = pref(name);
    slider.value = String(Math.max(0, SPEEDS.indexOf(speed)));
    words.textContent = speedWords(speed);
    slider.setAttribute("aria-valuetext", words.textContent);
  };
  const set = (index) => {
    const speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, index))];
    if (speed === pref(name)) return;
    setPref(name, speed);
    draw();
    onchange(speed);
  };
  slider.addEventListener("input", () => set(Number(slider.value)));
  draw();
  return {
    element: h("div.speed", {}, h("span.small.quiet", { "aria-hidden": "true" }, "Speed"), slider, words),
    shift: (by) => set(SPEEDS.indexOf(pref(name)) + by),
    draw,
  };
}
