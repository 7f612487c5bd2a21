// The widget: a game and a player in one file, without a server.

import "../board.js";
import { isPressing, isTyping, meaning } from "../pure/keys.js";
import { tile } from "../pure/slide.js";
import { Game } from "./game.js";
import { Network } from "./network.js";
import { Player } from "./player.js";

/**
 * @typedef {object} WidgetData
 * @property {Api.ShapeData} shape
 * @property {import("./game.js").Spawn[]} spawns
 * @property {number} n_start
 * @property {number} goal a rank
 * @property {string} name of the player
 * @property {import("./network.js").NetworkData | null} network
 */

const BEST = "lab2048-widget-best";
const THINKING = 40; // ms of a search, of the 50 that a move may take
const PACE = 140; // ms between moves of the player

/** @type {WidgetData} */
const data = JSON.parse(byId("data").textContent ?? "");
const board = /** @type {import("../board.js").LabBoard} */ (byId("board"));
/** @type {Player | null} */
let player = null;
let game = newGame();
let timer = 0; // of autoplay
let isWon = false;
let best = readBest();

/** @param {string} id */
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

function newGame() {
  return new Game(data.shape, data.spawns, data.n_start);
}

function readBest() {
  try {
    return Number(localStorage.getItem(BEST)) || 0;
  } catch {
    return 0; // pages from a file may have no storage
  }
}

/** @param {number} score */
function keepBest(score) {
  if (score <= best) return;
  best = score;
  try {
    localStorage.setItem(BEST, String(best));
  } catch {
    // as above
  }
}

/** Show everything but the board. @param {string} [words] for everyone */
function show(words) {
  keepBest(game.score);
  byId("score").textContent = game.score.toLocaleString("en");
  byId("best").textContent = best.toLocaleString("en");
  byId("undo").toggleAttribute("disabled", game.nMoves === 0);
  byId("auto").textContent = timer ? "Pause" : "Autoplay";
  byId("auto").setAttribute("aria-pressed", String(timer !== 0));
  if (words !== undefined) byId("status").textContent = words;
}

/** @param {number} move */
function play(move) {
  const spawn = game.play(move);
  board.point(null);
  if (!spawn) return false;
  board.slide(move);
  board.spawn(spawn.cell, spawn.rank);
  let words = "";
  if (!isWon && game.highest >= data.goal) {
    isWon = true;
    words = `You made ${tile(data.goal)}. Play on!`;
  }
  if (game.isOver) {
    pause();
    words = `Game over: ${game.score.toLocaleString("en")} points, highest tile ${tile(game.highest)}.`;
  }
  show(words);
  return true;
}

function undo() {
  pause();
  if (game.undo()) board.show(game.ranks);
  board.point(null);
  show("");
}

function restart() {
  pause();
  game = newGame();
  isWon = false;
  board.point(null);
  board.show(game.ranks);
  show("");
}

function hint() {
  pause();
  const decision = player?.choose(game.ranks, THINKING);
  if (!decision || decision.move < 0) return show("No move is legal.");
  board.point(decision.move);
  show(`${data.name} would move ${data.shape.moves[decision.move].name}.`);
}

function step() {
  if (!player || !timer) return;
  const began = performance.now();
  const { move } = player.choose(game.ranks, THINKING);
  if (move < 0 || !play(move)) return pause();
  if (timer) timer = setTimeout(step, Math.max(0, PACE - (performance.now() - began)));
}

function auto() {
  if (!player || timer) return pause();
  if (game.isOver) restart();
  timer = setTimeout(step, 0);
  show("");
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  show();
}

const ACTIONS = /** @type {const} */ ({ undo, new: restart, auto, best: hint });
for (const [name, action] of Object.entries({ undo, new: restart, auto, hint })) {
  byId(name).addEventListener("click", () => action());
}
board.addEventListener("swipe", (event) => {
  pause();
  play(/** @type {CustomEvent<number>} */ (event).detail);
});
document.addEventListener("keydown", (event) => {
  if (isTyping(/** @type {HTMLElement} */ (event.target)) || isPressing(event)) return;
  const found = meaning(event, data.shape.moves);
  if (!found) return;
  if (found.move !== undefined) {
    pause();
    play(found.move);
  } else if (found.command in ACTIONS && (player || found.command === "undo" || found.command === "new")) {
    ACTIONS[/** @type {keyof typeof ACTIONS} */ (found.command)]();
  } else return;
  event.preventDefault();
});

board.shape = data.shape;
board.show(game.ranks);
show("");
if (data.network) {
  player = new Player(await Network.load(data.network), data.shape.lines, data.spawns);
  for (const name of ["auto", "hint"]) byId(name).removeAttribute("disabled");
}

// For tests and for those who want to measure: a whole game at once.
Object.assign(window, {
  widget: {
    /** @param {number} ms time for each move */
    playGame(ms = THINKING) {
      const one = newGame();
      const began = performance.now();
      while (player && !one.isOver) one.play(player.choose(one.ranks, ms).move);
      return { score: one.score, highest: tile(one.highest), moves: one.nMoves, ms: performance.now() - began };
    },
  },
});
