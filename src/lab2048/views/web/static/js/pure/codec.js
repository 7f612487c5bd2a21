// Boards and games as text: the maps of rules/notation.py, and addresses inside the page.
//
// Python reads and checks every text; here a painted board is only written, and the words after
// the # of the page's address are read.

export const BRICK = -1;
export const ANCHOR = -3;
export const FREE = -4; // a free large tile on a board that is being designed
const SIZE = /^\d{1,9}[xX]\d{1,9}$/;

/**
 * The shortest text that reads as this board.
 * @param {number[][]} rows ranks, BRICK and ANCHOR
 * @param {Pick<Api.ShapeData, "name" | "map_prefix" | "free_rank">} shape
 */
export function writeMap(rows, { name, map_prefix: prefix, free_rank: free }) {
  const flat = rows.flat();
  if (flat.every((entry) => entry === 0)) return name;
  const words = rows.map((row) => row.map((entry) => wordOf(entry, free)));
  const compact = words.map((row) => row.join("")).join("|");
  // The one row with the tiles 2 and 4 beside a brick would read as a size: 2x4.
  if (flat.some((entry) => entry > 3 && entry !== free) || SIZE.test(compact)) return prefix + words.map((row) => row.join(" ")).join(" / ");
  return prefix + compact;
}

/**
 * The rows of a shape, filled with ranks.
 * @param {number[][]} rows
 * @param {number[]} ranks
 */
export function rowsOf(rows, ranks) {
  return rows.map((row) => row.map((cell) => (cell < 0 ? cell : ranks[cell])));
}

/**
 * @param {number} entry a rank, BRICK, ANCHOR or FREE
 * @param {number} free the rank of free large tiles; 0: none
 */
function wordOf(entry, free) {
  if (entry === FREE || (entry > 0 && entry === free)) return "F";
  if (entry < 0) return entry === ANCHOR ? "A" : "x";
  return entry === 0 ? "#" : String(2 ** entry);
}

/**
 * Read an address inside the page: "#/games/12?turn=40" is games, ["12"], {turn: "40"}.
 * @param {string} hash
 * @returns {Address}
 */
export function readAddress(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page, ...rest] = path.split("/").filter(Boolean).map(decode);
  return { page: page || "play", rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Write an address inside the page: the inverse of readAddress.
 * @param {string} page
 * @param {string[]} [rest]
 * @param {Record<string, unknown>} [query]
 */
export function writeAddress(page, rest = [], query = {}) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") words.set(name, String(value));
  }
  const tail = words.toString();
  return "#/" + [page, ...rest].map(encodeURIComponent).join("/") + (tail ? "?" + tail : "");
}

/**
 * The rules and the seed of a link.  What should be a number and is none is passed on as it is, so that the server says what is wrong.
 * @param {Address["query"]} query
 * @returns {{ rules: Api.RulesBody, seed: number | null }}
 */
export function linkedGame({ board = "4x4", goal, spawn, start, spawner, stop_at_goal: stops, seed }) {
  return {
    rules: { board, goal: numberOf(goal), spawn, start: numberOf(start), spawner, stop_at_goal: stops === "true" },
    seed: numberOf(seed) ?? null,
  };
}

/**
 * @param {string} [word]
 * @returns {number | undefined}
 */
function numberOf(word) {
  if (!word) return undefined;
  return /^-?\d{1,15}$/.test(word) ? Number(word) : /** @type {never} */ (word);
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"; // base64url

/**
 * Moves for a link: 2 bits for each of four directions, 3 for each of six, six bits per digit, after their number.
 * @param {string} letters
 * @param {Pick<Api.MoveData, "letter">[]} moves of the shape
 */
export function packMoves(letters, moves) {
  const width = Math.ceil(Math.log2(moves.length));
  const perDigit = 6 / width;
  let text = "";
  for (let i = 0; i < letters.length; i += perDigit) {
    let digit = 0;
    for (let k = 0; k < perDigit; k += 1) {
      const move = i + k < letters.length ? moves.findIndex(({ letter }) => letter === letters[i + k]) : 0;
      digit = digit * 2 ** width + move;
    }
    text += DIGITS[digit];
  }
  return `${letters.length}.${text}`;
}

/**
 * The moves of a link: the inverse of packMoves; null for anything else.
 * @param {string} text
 * @param {Pick<Api.MoveData, "letter">[]} moves of the shape
 */
export function unpackMoves(text, moves) {
  const found = /^(\d{1,6})\.([\w-]*)$/.exec(text);
  if (!found) return null;
  const width = Math.ceil(Math.log2(moves.length));
  const perDigit = 6 / width;
  const n = Number(found[1]);
  if (found[2].length !== Math.ceil(n / perDigit)) return null;
  let letters = "";
  for (const digit of found[2]) {
    for (let k = perDigit - 1; k >= 0; k -= 1) {
      const move = moves[(DIGITS.indexOf(digit) >> (k * width)) & (2 ** width - 1)];
      if (!move) return null;
      letters += move.letter;
    }
  }
  return letters.slice(0, n);
}

/** @param {string} word */
function decode(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
