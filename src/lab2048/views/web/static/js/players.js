// The players of a board, and their names.

import { get } from "./api.js";
import { t, tn } from "./text.js";

/** @type {Map<string, Promise<Api.PlayerList>>} */
const cache = new Map(); // by board

/**
 * The players for a board.  Answers are cached; `fresh` asks again, because trainings and tables add players.
 * @param {string} board
 * @param {{ fresh?: boolean }} [options]
 */
export async function playersOf(board, { fresh = false } = {}) {
  if (fresh) cache.clear();
  const cached = cache.get(board);
  if (cached) return cached;
  const asked = get("/api/players", { query: { board } });
  cache.set(board, asked);
  asked.catch(() => cache.delete(board));
  return asked;
}

/** The modes of expectimax, after Miah 2023: spec, name and what it does.  @type {[string, string, string][]} */
export const MODES = [
  ["expectimax:mode=fast", t("Fast"), t("Looks two moves ahead")],
  ["expectimax:mode=normal", t("Normal"), t("Looks three moves ahead")],
  ["expectimax:mode=optimal", t("Optimal"), t("Looks three moves ahead on a crowded board, else two")],
];

/** Names of players, by the first word of their specs.  @type {Record<string, string>} */
const NAMES = {
  human: t("Me"),
  ntuple: t("Champion"),
  expectimax: t("Expectimax"),
  montecarlo: t("Monte Carlo"),
  mcts: t("Tree search"),
  optimal: t("Perfect play"),
  lookahead: t("Lookahead"),
  greedy: t("Greedy"),
  first: t("First legal move"),
  random: t("Random"),
};

/**
 * The name of a spec, with its options: "Champion", "Expectimax, depth=3"; the name of a training or table made here.
 * @param {string | null} spec
 * @param {Api.PlayerList | null} [players]
 */
export function labelOf(spec, players) {
  if (!spec) return t("Player");
  const mode = MODES.find(([each]) => each === spec);
  if (mode) return `${NAMES.expectimax}, ${mode[1].toLowerCase()}`;
  if (NAMES[spec]) return NAMES[spec];
  const [name, ...options] = spec.split(/[:,]/);
  // Networks and tables made here have names of their own.
  const own = options.find((each) => /^(weights|table)=/.test(each))?.split("=")[1];
  const rest = options.filter((each) => !/^(weights|table)=/.test(each));
  if (own || NAMES[name]) return [own ?? NAMES[name], ...rest].join(", ");
  return players?.presets.find((preset) => preset.spec === spec)?.label ?? spec;
}

/**
 * The title of a job; a match has the names of its players instead of their specs.
 * @param {Api.JobData} job
 */
export function titleOf({ kind, title, request }) {
  const { names, games, rules } = /** @type {{ names?: string[], games?: number, rules?: Api.RulesBody }} */ (request);
  if (kind !== "match" || !names || !games || !rules) return title;
  const players = names.map((name) => labelOf(name)).join(", ");
  return tn(games, "{players} on {board}, {n} game", "{players} on {board}, {n} games", { players, board: rules.board });
}
