// Preferences of this browser: how the page looks and behaves, never a game.

import { Emitter } from "./emitter.js";

const KEY = "lab2048";

/**
 * @typedef {object} Preferences
 * @property {string} theme auto, light or dark
 * @property {string} tiles classic, contrast, colourblind or sea
 * @property {string} motion auto or off
 * @property {string} sound on or off
 * @property {string} language auto, or one of language.js
 * @property {HintMode} hints
 * @property {number} speed in moves per second; 0 is as fast as possible
 * @property {string | null} player the spec of the player chosen last
 * @property {number | null} game the game played last
 * @property {Api.RulesBody | null} design what was drawn last
 * @property {{ player: string, id: number }[] | null} watchGames the boards of Watch
 * @property {string} studySize tiny, quick or full
 * @property {string[] | null} labPlayers
 * @property {string | null} watchBoard
 * @property {number} watchGoal
 * @property {boolean} watchStop whether games stop at the goal
 * @property {string | null} watchSeeds
 * @property {string[] | null} watchPlayers
 * @property {"start" | "easy" | "medium" | "hard"} practiceLevel
 * @property {number} practiceWorst share of hostile tiles, in per cent
 * @property {boolean} practiceMistakes whether mistakes return
 */
/** @typedef {"off" | "best" | "all"} HintMode */

/** @type {Preferences} */
const DEFAULTS = {
  theme: "auto",
  tiles: "classic",
  motion: "auto",
  sound: "off",
  language: "auto",
  hints: "off",
  speed: 4,
  player: null,
  game: null,
  design: null,
  watchGames: null,
  studySize: "quick",
  labPlayers: null,
  watchBoard: null,
  watchGoal: 2048,
  watchStop: false,
  watchSeeds: null,
  watchPlayers: null,
  practiceLevel: "medium",
  practiceWorst: 0,
  practiceMistakes: true,
};
/** @type {Emitter<Preferences>} */
const changes = new Emitter();

let values = { ...DEFAULTS, ...read() };

/** @returns {Partial<Preferences>} */
function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {}; // private windows may have no storage: preferences then last until the tab is closed
  }
}

/**
 * @template {keyof Preferences} Name
 * @param {Name} name
 * @returns {Preferences[Name]}
 */
export function pref(name) {
  return values[name];
}

/**
 * @template {keyof Preferences} Name
 * @param {Name} name
 * @param {Preferences[Name]} value
 */
export function setPref(name, value) {
  values = { ...values, [name]: value };
  try {
    localStorage.setItem(KEY, JSON.stringify(values));
  } catch {
    // as above
  }
  applyPrefs();
  changes.emit(name, value);
}

/**
 * @template {keyof Preferences} Name
 * @param {Name} name
 * @param {(value: Preferences[Name]) => unknown} listener
 * @param {AbortSignal} [signal]
 */
export function onPref(name, listener, signal) {
  changes.on(name, listener, signal);
}

/** Set the attributes that the style sheets read. */
export function applyPrefs() {
  const root = document.documentElement;
  root.dataset.theme = values.theme;
  root.dataset.tiles = values.tiles;
  root.dataset.motion = values.motion;
}
