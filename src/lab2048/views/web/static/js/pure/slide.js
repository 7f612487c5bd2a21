// What a slide does to the tiles, so that the board can move before the server has answered.
//
// The rules are rules/reference.py; tests/js holds this file equal to it by golden boards.
// A board is an array of ranks, one a cell: 0 is empty, 1 is the tile 2, 11 is 2048.  A line
// lists its cells from the edge that the tiles slide to.

/** Slide every line of one move.
 *
 * `steps` says where each tile goes: {from, to, rank, merges}; two steps to one cell merge there.
 */
export function slide(ranks, lines) {
  const after = new Array(ranks.length).fill(0);
  const steps = [];
  let reward = 0;
  let changed = false;
  for (const line of lines) {
    let end = -1; // index in the line of the last tile that came to rest
    let mayMerge = null; // its step, while it may still merge
    for (const from of line) {
      const rank = ranks[from];
      if (rank === 0) continue;
      if (mayMerge !== null && mayMerge.rank === rank) {
        const to = line[end];
        mayMerge.merges = true;
        steps.push({ from, to, rank, merges: true });
        after[to] = rank + 1;
        reward += 2 ** (rank + 1);
        changed = true;
        mayMerge = null;
      } else {
        end += 1;
        const to = line[end];
        mayMerge = { from, to, rank, merges: false };
        steps.push(mayMerge);
        after[to] = rank;
        if (to !== from) changed = true;
      }
    }
  }
  return { ranks: after, reward, steps, changed };
}

/** The moves that change the board, in order; none of them means that the game is over. */
export function legalMoves(ranks, linesOfMoves) {
  const legal = [];
  linesOfMoves.forEach((lines, move) => {
    if (slide(ranks, lines).changed) legal.push(move);
  });
  return legal;
}

/** The board after one recorded turn: the slide, then its spawn ({cell, rank}, or null). */
export function turn(ranks, lines, spawn) {
  const after = slide(ranks, lines).ranks;
  if (spawn && spawn.cell !== null && spawn.cell !== undefined && spawn.cell >= 0) after[spawn.cell] = spawn.rank;
  return after;
}

/** The face of a tile. */
export function tile(rank) {
  return rank === 0 ? 0 : 2 ** rank;
}
