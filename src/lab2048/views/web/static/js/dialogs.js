// Dialogs: help, settings, jobs, and the pages that have no room in the bar of a phone.

import { get } from "./api.js";
import { button, dialog, h, segments } from "./dom.js";
import { jobList } from "./joblist.js";
import { LANGUAGES } from "./language.js";
import { pref, setPref } from "./prefs.js";
import { stream } from "./stream.js";
import { t } from "./text.js";

/** @type {[keys: string[], meaning: string][]} */
const KEYS = [
  [["←", "↑", "→", "↓"], t("move; also W A S D, H J K L and the number pad")],
  [["U", "Backspace"], t("undo")],
  [["Y"], t("redo")],
  [["Space"], t("the best move, once")],
  [["Enter", "P"], t("start or pause autoplay")],
  [["T"], t("hints: off, the best move, all values")],
  [["Ctrl", "V"], t("play a pasted position")],
  [["N"], t("new game; the old one is saved")],
  [["1", "...", "9"], t("let one of the players of the list play")],
  [["[", "]"], t("slower, faster")],
  [["`"], t("a cursor that reads cells aloud with a screen reader")],
  [["?"], t("this help")],
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
        ...kinds.flatMap(({ kind, keys }) => keyLine([keys.toUpperCase().split(/[ /]+/), t("move on {kind}", { kind })])),
      ),
    () => {},
  );
  const box = dialog(
    t("Keys"),
    list,
    h(
      "p.small.quiet",
      {},
      t("In a replay: ← → a move, Page Up and Page Down ten, Home and End. On a phone: swipe over the board, or tap the bars around it."),
    ),
    h(
      "p.small.quiet",
      {},
      t("Tiles slide as far as they can, and two equal ones that meet become one. Undo and the same move give the same new tile: the dice are decided by the seed."),
    ),
    h(
      "div.row.end",
      {},
      button(t("Close"), () => box.close(), { main: true, autofocus: true }),
    ),
  );
}

export function settings() {
  /**
   * @param {string} label
   * @param {"theme" | "tiles" | "motion" | "sound"} name
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
    t("Settings"),
    h(
      "div.stack",
      {},
      line(t("Light or dark"), "theme", [
        ["auto", t("Auto")],
        ["light", t("Light")],
        ["dark", t("Dark")],
      ]),
      line(t("Tiles"), "tiles", [
        ["classic", t("Classic")],
        ["contrast", t("High contrast")],
        ["colourblind", t("Colour-blind")],
        ["sea", t("Sea")],
      ]),
      line(t("Motion"), "motion", [
        ["auto", t("Auto")],
        ["off", t("None")],
      ]),
      line(t("Sound"), "sound", [
        ["off", t("Off")],
        ["on", t("On")],
      ]),
      h(
        "div.field",
        {},
        h("span", {}, t("Language")),
        segments(t("Language"), [["auto", t("Auto")], ...LANGUAGES], pref("language"), (value) => {
          setPref("language", value);
          location.reload(); // texts are made once
        }),
      ),
      h("p.small.quiet", {}, t("Settings are saved in this browser, games on this machine. Nothing is sent anywhere else.")),
    ),
    h(
      "div.row.end",
      {},
      button(t("Close"), () => box.close(), { main: true }),
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
    t("More"),
    h(
      "div.choices",
      {},
      link("watch", t("Watch"), t("players side by side")),
      link("practice", t("Practice"), t("endgames and puzzles")),
      link("studies", t("Studies"), t("published experiments, reproduced")),
      link("train", t("Train"), t("networks that learn by playing")),
      link("solve", t("Solve"), t("boards solved exactly")),
    ),
    h(
      "div.row.end",
      {},
      button(t("Keys"), () => {
        box.close();
        help();
      }),
      button(t("Settings"), () => {
        box.close();
        settings();
      }),
      button(t("Close"), () => box.close(), { main: true }),
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
    t("Jobs"),
    list,
    h(
      "div.row.end",
      {},
      button(t("Close"), () => box.close(), { main: true }),
    ),
  );
  box.addEventListener("close", () => ending.abort());
}
