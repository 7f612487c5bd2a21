// The speed of players, from one move per second to as fast as possible.

import { h } from "./dom.js";
import { pref, setPref } from "./prefs.js";
import { t } from "./text.js";

const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 0]; // moves per second; 0 is as fast as possible

/**
 * Make the slider of the preference `speed`.
 * @param {(speed: number) => unknown} onchange
 */
export function speedControl(onchange) {
  const words = h("output", { className: "quiet small" });
  const slider = h("input", { type: "range", min: 0, max: SPEEDS.length - 1, step: 1, "aria-label": t("Speed") });
  const draw = () => {
    const speed = pref("speed");
    slider.value = String(Math.max(0, SPEEDS.indexOf(speed)));
    words.textContent = speed === 0 ? t("as fast as possible") : t("{n} per second", { n: speed });
    slider.setAttribute("aria-valuetext", words.textContent);
  };
  const set = (/** @type {number} */ index) => {
    const speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, index))];
    if (speed === pref("speed")) return;
    setPref("speed", speed);
    draw();
    onchange(speed);
  };
  slider.addEventListener("input", () => set(Number(slider.value)));
  draw();
  return {
    element: h("div.speed", {}, h("span.small.quiet", { "aria-hidden": "true" }, t("Speed")), slider, words),
    /** @param {number} by */
    shift: (by) => set(SPEEDS.indexOf(pref("speed")) + by),
  };
}
