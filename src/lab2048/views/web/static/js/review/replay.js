// A game as it is replayed: all its turns, loaded in parts.

import { get, statusOf } from "../api.js";

const AT_ONCE = 20000; // turns per request, the most that the server sends

/**
 * Load all turns of a game; null if there is no such game.
 * @param {string} id
 * @param {() => boolean} isHere
 */
export async function loadReplay(id, isHere) {
  if (!/^[1-9]\d{0,17}$/.test(id)) return null;
  const ask = (/** @type {number} */ first) =>
    get("/api/games/{game}/replay", { path: { game: Number(id) }, query: { first, last: first + AT_ONCE - 1 } });
  try {
    const replay = await ask(1);
    while (isHere() && replay.turns.length < replay.state.n_moves) {
      const { turns } = await ask(replay.turns.length + 1);
      if (!turns.length) break;
      replay.turns = replay.turns.concat(turns);
    }
    return replay;
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    return null;
  }
}
