// Slides in the browser, so that the board moves before the server has answered.
//
// The rules are rules/reference.py; tests/js holds this file equal to it by golden boards.
// A board is an array of ranks, one a cell: 0 is empty, 1 is the tile 2, 11 is 2048.  A line
// lists its cells from the edge that the tiles slide to.  Free large tiles have a rank of their own and never merge.

/** @typedef {{ from: number, to: number, rank: number, merges: boolean }} Step where a tile goes; two steps to one cell merge */

/**
 * Slide every line of one move.  A slide that would move an anchor changes nothing.
 * @param {number[]} ranks
 * @param {number[][]} lines
 * @param {number[]} [holding] the cells that hold anchors in place; only needed if the move may be illegal
 * @param {number} [free] the rank that never merges; 0: none
 */
export function slide(ranks, lines, holding = [], free = 0) {
  /** @type {number[]} */
  const after = new Array(ranks.length).fill(0);
  /** @type {Step[]} */
  const steps = [];
  let reward = 0;
  let changed = false;
  for (const line of lines) {
    let end = -1; // index in the line of the last tile that came to rest
    /** @type {Step | null} */
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
        /** @type {Step} */
        const step = { from, to, rank, merges: false };
        mayMerge = rank === free ? null : step;
        steps.push(step);
        after[to] = rank;
        if (to !== from) changed = true;
      }
    }
  }
  if (holding.some((cell) => after[cell] === 0)) return { ranks: [...ranks], reward: 0, steps: [], changed: false };
  return { ranks: after, reward, steps, changed };
}

/**
 * The board after a slide and its spawn.
 * @param {number[]} ranks
 * @param {number[][]} lines of the move
 * @param {{ cell: number, rank: number }} spawn cell -1: none
 * @param {number} [free] the rank that never merges; 0: none
 */
export function turn(ranks, lines, spawn, free = 0) {
  const after = slide(ranks, lines, [], free).ranks;
  if (spawn.cell >= 0) after[spawn.cell] = spawn.rank;
  return after;
}

/**
 * The number on a tile.
 * @param {number} rank
 */
export function tile(rank) {
  return rank === 0 ? 0 : 2 ** rank;
}
