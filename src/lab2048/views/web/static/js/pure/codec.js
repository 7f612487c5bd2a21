// Boards and games as text: the maps of rules/notation.py, and addresses inside the page.
//
// Python reads and checks every text; here a painted board is only written, and the words after
// the # of the page's address are read.

const BRICK = -1;
const SIZE = /^\d{1,9}[xX]\d{1,9}$/;

/** The shortest text that reads as this board; `rows` holds ranks, BRICK (-1) for bricks, on a shape that the server sent. */
export function writeMap(rows, { name, map_prefix: prefix }) {
  const flat = rows.flat();
  if (flat.every((entry) => entry === 0)) return name;
  const words = rows.map((row) => row.map((entry) => (entry === BRICK ? "x" : entry === 0 ? "#" : String(2 ** entry))));
  const compact = words.map((row) => row.join("")).join("|");
  // The one row with the tiles 2 and 4 beside a brick would read as a size: 2x4.
  if (Math.max(...flat) > 3 || SIZE.test(compact)) return prefix + words.map((row) => row.join(" ")).join(" / ");
  return prefix + compact;
}

/** The rows of a shape that the server sent, filled with its ranks. */
export function rowsOf(rows, ranks) {
  return rows.map((row) => row.map((cell) => (cell === BRICK ? BRICK : ranks[cell])));
}

/** The page and its words in an address: "#/games/12?turn=40" is games, ["12"], {turn: "40"}. */
export function readAddress(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page, ...rest] = path.split("/").filter(Boolean).map(decode);
  return { page: page || "play", rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a page: the inverse of readAddress. */
export function writeAddress(page, rest = [], query = {}) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") words.set(name, value);
  }
  const tail = words.toString();
  return "#/" + [page, ...rest].map(encodeURIComponent).join("/") + (tail ? "?" + tail : "");
}

function decode(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
