// Which key does what.  Moves by the place of a key (WASD stays a cross on any keyboard), by
// letter (HJKL) and by arrow, as the shape says; commands by letter, and never by one that is a move.

import { capital } from "./words.js";

/**
 * @typedef {Pick<KeyboardEvent, "code" | "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">} KeyPress
 * @typedef {{ move: number, command?: undefined } | { command: string, move?: undefined, number?: number }} Meaning
 * @typedef {{ seek?: number, to?: "start" | "end", command?: string }} Seek
 */

/** @type {Record<string, string>} */
const VI_KEYS = { up: "k", right: "l", down: "j", left: "h" };

/** @type {Record<string, string>} */
const COMMANDS = {
  u: "undo",
  backspace: "undo",
  y: "redo",
  " ": "best",
  enter: "auto",
  p: "auto",
  t: "hints",
  n: "new",
  r: "new",
  "[": "slower",
  "]": "faster",
  "?": "help",
  "`": "cursor",
  escape: "escape",
};

/**
 * What a key does: {move: 3}, {command: "undo"}, {command: "player", number: 2}, or null.
 * @param {KeyPress} event
 * @param {Pick<Api.MoveData, "letter" | "arrow_key" | "digit">[]} [moves] of a shape
 * @returns {Meaning | null}
 */
export function meaning(event, moves = []) {
  const key = event.key.toLowerCase();
  if (event.altKey) return null;
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") return { command: event.shiftKey ? "redo" : "undo" };
    if (key === "y") return { command: "redo" };
    return null; // Ctrl+V is the event "paste"
  }
  const byCode = moves.findIndex((move) => codesOf(move).includes(event.code));
  if (byCode >= 0) return { move: byCode };
  const byLetter = moves.findIndex(({ arrow_key: arrow }) => arrow && VI_KEYS[arrow] === key);
  if (byLetter >= 0) return { move: byLetter };
  if (/^Digit[1-9]$/.test(event.code) && /^[1-9]$/.test(event.key))
    return { command: "player", number: Number(event.key) };
  if (key === "backspace" && event.shiftKey) return { command: "redo" };
  if (key in COMMANDS) return { command: COMMANDS[key] };
  return null;
}

/**
 * The codes of the keys of a move.
 * @param {Pick<Api.MoveData, "letter" | "arrow_key" | "digit">} move
 */
function codesOf({ letter, arrow_key: arrow, digit }) {
  const codes = [`Key${letter.toUpperCase()}`, `Numpad${digit}`];
  return arrow ? [...codes, `Arrow${capital(arrow)}`] : codes;
}

/**
 * What a key does in a replay: {seek: -1}, {to: "end"}, or null.
 * @param {KeyPress} event
 * @returns {Seek | null}
 */
export function seeking(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  switch (event.key) {
    case "ArrowLeft":
    case ",":
      return { seek: -1 };
    case "ArrowRight":
    case ".":
      return { seek: 1 };
    case "PageUp":
      return { seek: -10 };
    case "PageDown":
      return { seek: 10 };
    case "Home":
      return { to: "start" };
    case "End":
      return { to: "end" };
    case " ":
      return { command: "best" };
    case "Enter":
    case "p":
      return { command: "auto" };
    case "[":
      return { command: "slower" };
    case "]":
      return { command: "faster" };
    default:
      return null;
  }
}

/**
 * True if keys belong to the control that has the focus, such as a text field.
 * @param {{ tagName?: string, type?: string, isContentEditable?: boolean } | null} target
 */
export function isTyping(target) {
  const tag = target?.tagName;
  if (tag === "INPUT") return !["checkbox", "radio", "button", "submit"].includes(target?.type ?? "");
  return tag === "TEXTAREA" || tag === "SELECT" || Boolean(target?.isContentEditable);
}

/**
 * True for what takes typed text, whose keys are always its own.
 * @param {{ tagName?: string, type?: string, isContentEditable?: boolean } | null} target
 */
export function isText(target) {
  return isTyping(target) && target?.tagName !== "SELECT" && target?.type !== "range";
}

/**
 * True if the browser itself handles Space and Enter: on buttons and links.
 * @param {KeyboardEvent} event
 */
export function isPressing({ key, target }) {
  if (key !== " " && key !== "Enter") return false;
  return target instanceof Element && Boolean(target.closest("button, a, summary, input, label"));
}
