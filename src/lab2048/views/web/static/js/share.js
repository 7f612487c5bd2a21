// The dialog that shares a game: a link to the position, and one to this moment with all moves before it.

import { address } from "./api.js";
import { button, copy, dialog, h } from "./dom.js";
import { packMoves, rowsOf, writeAddress, writeMap } from "./pure/codec.js";
import { t } from "./text.js";

const MOST_MOVES = 4000; // that a link carries; browsers and chats cut longer ones

/** @param {import("./game.js").Game} game */
export function shareDialog({ state, shape, moves, id }) {
  const { rules, seed, n_moves: n } = state;
  const { board: first, start, ...others } = rules;
  const shared = { ...others, stop_at_goal: others.stop_at_goal || undefined };
  const position = writeMap(rowsOf(shape.rows, state.ranks), shape);
  const here = location.origin + "/";
  const made = moves.slice(0, n);
  const moment = { board: first, start, ...shared, seed, moves: packMoves(made, shape.moves) };
  const box = dialog(
    t("Share"),
    h(
      "div.stack",
      {},
      link(t("This position"), t("The board as it is now, to play on from it."), here + writeAddress("play", [], { board: position, ...shared })),
      n > 0 && n <= MOST_MOVES && !made.includes("?")
        ? link(
            t("This moment of the game"),
            t("The same game with all its moves: it can be undone, replayed and reviewed."),
            here + writeAddress("play", [], moment),
          )
        : null,
      link(t("The same start"), t("A new game with the same rules and the same seed."), here + writeAddress("play", [], { board: first, start, ...shared, seed })),
      h("p.small.quiet", {}, t("Links open in any lab2048 at this address. A file works everywhere.")),
      h(
        "div.row.end",
        {},
        h(
          "a.button",
          { href: address("/api/games/{game}/export", { path: { game: id } }), download: `game-${id}.jsonl` },
          t("Save as a file"),
        ),
        button(t("Close"), () => box.close(), { main: true }),
      ),
    ),
  );
}

/**
 * @param {string} title
 * @param {string} words
 * @param {string} url
 */
function link(title, words, url) {
  return h(
    "div.share",
    {},
    h("div.grow", {}, h("b", {}, title), h("p.small.quiet", {}, words)),
    button(t("Copy link"), () => copy(url), { slim: true, "aria-label": t("Copy link: {title}", { title }), "data-link": url }),
  );
}
