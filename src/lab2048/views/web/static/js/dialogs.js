// Dialogs: help, settings, jobs, and the pages that have no room in the bar of a phone.

import { get } from "./api.js";
import { button, dialog, h, segments } from "./dom.js";
import { jobList } from "./joblist.js";
import { pref, setPref } from "./prefs.js";
import { stream } from "./stream.js";

/** @type {[keys: string[], meaning: string][]} */
const KEYS = [
  [["←", "↑", "→", "↓"], "move; also W A S D, H J K L and the number pad"],
  [["U", "Backspace"], "undo"],
  [["Y"], "redo"],
  [["Space"], "the best move, once"],
  [["Enter", "P"], "start or pause autoplay"],
  [["T"], "hints: off, the best move, all values"],
  [["N"], "new game; the old one is saved"],
  [["1", "...", "9"], "start one of the presets"],
  [["[", "]"], "slower, faster"],
  [["`"], "a cursor that reads cells aloud with a screen reader"],
  [["?"], "this help"],
];

/**
 * @param {[keys: string[], meaning: string]} line
 * @returns {HTMLElement[]}
 */
function keyLine([keys, words]) {
  const shown = keys.map((key) => [h("kbd", {}, key), " "]);
  return [h("dt", {}, shown), h("dd", {}, words)];
}

export function help() {
  const [first, ...others] = KEYS;
  const list = h("dl.keys", {}, keyLine(first), others.map(keyLine));
  // Kinds of boards with other keys follow the first line when the server has named them.
  get("/api/shape/kinds").then(
    ([, ...kinds]) =>
      list.children[1].after(
        ...kinds.flatMap(({ kind, keys }) => keyLine([keys.toUpperCase().split(/[ /]+/), `move on ${kind}`])),
      ),
    () => {},
  );
  const box = dialog(
    "Keys",
    list,
    h(
      "p.small.quiet",
      {},
      "In a replay: ← → a move, Page Up and Page Down ten, Home and End. On a phone: swipe over the board, or tap the bars around it.",
    ),
    h(
      "p.small.quiet",
      {},
      "Tiles slide as far as they can, and two equal ones that meet become one. Undo and the same move give the same new tile: the dice are decided by the seed.",
    ),
    h(
      "div.row.end",
      {},
      button("Close", () => box.close(), { main: true, autofocus: true }),
    ),
  );
}

export function settings() {
  /**
   * @param {string} label
   * @param {"theme" | "tiles" | "motion"} name
   * @param {import("./dom.js").Option[]} options
   */
  const line = (label, name, options) =>
    h(
      "div.field",
      {},
      h("span", {}, label),
      segments(label, options, pref(name), (value) => setPref(name, value)),
    );
  const box = dialog(
    "Settings",
    h(
      "div.stack",
      {},
      line("Light or dark", "theme", [
        ["auto", "Auto"],
        ["light", "Light"],
        ["dark", "Dark"],
      ]),
      line("Tiles", "tiles", [
        ["classic", "Classic"],
        ["contrast", "Colour-blind"],
      ]),
      line("Motion", "motion", [
        ["auto", "Auto"],
        ["off", "None"],
      ]),
      h("p.small.quiet", {}, "Settings are saved in this browser, games on this machine. Nothing is sent anywhere else."),
    ),
    h(
      "div.row.end",
      {},
      button("Close", () => box.close(), { main: true }),
    ),
  );
}

export function more() {
  /**
   * @param {string} page
   * @param {string} text
   * @param {string} words
   */
  const link = (page, text, words) =>
    h("a.choice", { href: `#/${page}`, onclick: () => box.close() }, h("b", {}, text), h("span", {}, words));
  const box = dialog(
    "More",
    h(
      "div.choices",
      {},
      link("watch", "Watch", "players side by side"),
      link("train", "Train", "networks that learn by playing"),
      link("solve", "Solve", "boards solved exactly"),
    ),
    h(
      "div.row.end",
      {},
      button("Keys", () => {
        box.close();
        help();
      }),
      button("Settings", () => {
        box.close();
        settings();
      }),
      button("Close", () => box.close(), { main: true }),
    ),
  );
}

export function jobs() {
  const ending = new AbortController();
  const list = jobList(
    () => [...stream.jobs.values()].slice(0, 30),
    ending.signal,
    () => box.close(),
  );
  const box = dialog(
    "Jobs",
    list,
    h(
      "div.row.end",
      {},
      button("Close", () => box.close(), { main: true }),
    ),
  );
  box.addEventListener("close", () => ending.abort());
}
