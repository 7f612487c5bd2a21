// Which key does what.  Moves by the place of a key (WASD stays a cross on any keyboard), by
// letter (HJKL) and by arrow; commands by letter, and never by one that is a move.
//
//      w          q w e        moves are numbered clockwise from up, as in rules/move.py
//    a s d        a s d

const SQUARE_CODES = {
  ArrowUp: 0,
  ArrowRight: 1,
  ArrowDown: 2,
  ArrowLeft: 3,
  KeyW: 0,
  KeyD: 1,
  KeyS: 2,
  KeyA: 3,
  Numpad8: 0,
  Numpad6: 1,
  Numpad2: 2,
  Numpad4: 3,
};
const SQUARE_KEYS = { k: 0, l: 1, j: 2, h: 3 };
const HEXAGON_CODES = {
  ArrowUp: 0,
  ArrowDown: 3,
  KeyW: 0,
  KeyE: 1,
  KeyD: 2,
  KeyS: 3,
  KeyA: 4,
  KeyQ: 5,
  Numpad8: 0,
  Numpad9: 1,
  Numpad3: 2,
  Numpad2: 3,
  Numpad1: 4,
  Numpad7: 5,
};
const HEXAGON_KEYS = { k: 0, j: 3 };

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

/** The letters of the moves, as records hold them. */
export function letters(nMoves) {
  return nMoves === 6 ? "wedsaq" : "wdsa";
}

/** What a key press asks for: {move: 3}, {command: "undo"}, {command: "player", number: 2}, or null.
 *
 * `event` needs code, key, ctrlKey, metaKey, altKey and shiftKey only.
 */
export function meaning(event, nMoves = 4) {
  const key = event.key.toLowerCase();
  if (event.altKey) return null;
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") return { command: event.shiftKey ? "redo" : "undo" };
    if (key === "y") return { command: "redo" };
    return null;
  }
  const codes = nMoves === 6 ? HEXAGON_CODES : SQUARE_CODES;
  const keys = nMoves === 6 ? HEXAGON_KEYS : SQUARE_KEYS;
  if (event.code in codes) return { move: codes[event.code] };
  if (key in keys) return { move: keys[key] };
  if (/^Digit[1-9]$/.test(event.code) && /^[1-9]$/.test(event.key))
    return { command: "player", number: Number(event.key) };
  if (key === "backspace" && event.shiftKey) return { command: "redo" };
  if (key in COMMANDS) return { command: COMMANDS[key] };
  return null;
}

/** What a key does while a recorded game is looked at: {seek: -1}, {to: "end"}, or null. */
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

/** True where keys belong to the control that has the focus, such as a field of text. */
export function isTyping(target) {
  const tag = target?.tagName;
  if (tag === "INPUT") return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return tag === "TEXTAREA" || tag === "SELECT" || Boolean(target?.isContentEditable);
}

/** True where the browser itself answers Space and Enter: on buttons and links. */
export function isPressing(event) {
  return (
    (event.key === " " || event.key === "Enter") && Boolean(event.target?.closest?.("button, a, summary, input, label"))
  );
}
