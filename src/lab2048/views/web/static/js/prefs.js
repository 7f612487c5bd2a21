// What this browser remembers: how the page looks and behaves, never a game.

const KEY = "lab2048";
const DEFAULTS = {
  theme: "auto",
  tiles: "classic",
  motion: "auto",
  hints: "off",
  speed: 4,
  player: null,
  game: null,
  say: true,
};
const changes = new EventTarget();

let values = { ...DEFAULTS, ...read() };

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {}; // private windows may have no storage: then it is remembered until the tab is closed
  }
}

export function pref(name) {
  return values[name];
}

export function setPref(name, value) {
  values = { ...values, [name]: value };
  try {
    localStorage.setItem(KEY, JSON.stringify(values));
  } catch {
    // as above
  }
  applyPrefs();
  changes.dispatchEvent(new CustomEvent(name, { detail: value }));
}

export function onPref(name, listener, options) {
  changes.addEventListener(name, (event) => listener(event.detail), options);
}

/** Tell the style sheets. */
export function applyPrefs() {
  const root = document.documentElement;
  root.dataset.theme = values.theme;
  root.dataset.tiles = values.tiles;
  root.dataset.motion = values.motion;
}
