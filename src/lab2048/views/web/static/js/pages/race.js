// Race a ghost: play a seed beside the replay of a game on the same dice.  Without a ghost: the board of the day.

import { get, post, statusOf } from "../api.js";
import "../board.js";
import { attempt, button, h, missing, say } from "../dom.js";
import { labelOf } from "../players.js";
import { writeAddress } from "../pure/codec.js";
import { day as dayText, number } from "../pure/format.js";
import { meaning } from "../pure/keys.js";
import { Line } from "../review/line.js";
import { t } from "../text.js";

const AGAIN = 1500; // ms until the champion's game is asked for again

/** @type {PageModule["open"]} */
export async function open(main, { rest, isHere }) {
  if (!rest[0]) return new Daily(main);
  const ghost = /^[1-9]\d{0,17}$/.test(rest[0]) ? await find(Number(rest[0])) : null;
  if (!isHere()) return undefined;
  if (!ghost) {
    main.append(h("h1", {}, t("Race the ghost")), missing(t("There is no game {id}.", { id: rest[0].slice(0, 40) }), ["#/games", t("All games")]));
    return undefined;
  }
  if (!ghost.state.is_from_seed) {
    const why = t("The tiles of game {id} were recorded elsewhere, so no other game can get them.", { id: rest[0] });
    main.append(h("h1", {}, t("Race the ghost")), missing(why, ["#/games", t("All games")]));
    return undefined;
  }
  const mine = await attempt(() =>
    post("/api/games", { body: { rules: ghost.state.rules, seed: ghost.state.seed, player: "human" } }),
  );
  return mine && isHere() ? new Race(main, ghost, mine) : undefined;
}

/**
 * The game that is raced; null if it does not exist.
 * @param {number} id
 */
async function find(id) {
  try {
    return await get("/api/games/{game}/replay", { path: { game: id } });
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    return null;
  }
}

/** The board of the day: the same tiles for everyone. */
class Daily {
  #timer = 0;
  #isClosed = false;
  #shown = ""; // what the box says, so that its button stays while nothing has changed

  /** @param {HTMLElement} main */
  constructor(main) {
    this.box = h("section.panel.stack");
    main.append(h("h1", {}, t("Board of the day")), this.box);
    this.show();
  }

  async show() {
    const day = await attempt(() => get("/api/daily"));
    if (!day || this.#isClosed) return;
    const { mine, champion, seed } = day;
    if (!champion) this.#timer = setTimeout(() => this.show(), AGAIN);
    const shown = JSON.stringify(day);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.box.replaceChildren(
      h("p", {}, t("Everyone gets the same tiles on {date}.", { date: dayText(day.date) })),
      h("p", {}, mine ? t("Your best score: {score}", { score: mine.score }) : t("You have not played it yet.")),
      h("p", {}, champion ? t("The champion scores {score}", { score: champion.score }) : t("The champion is playing now.")),
      h(
        "div.row",
        {},
        button(t("Play the board of the day"), (event) => this.begin(seed, event.currentTarget), { main: true }),
        champion ? h("a.button", { href: writeAddress("race", [String(champion.game)]) }, t("Race the champion")) : null,
        mine ? h("a.button", { href: writeAddress("race", [String(mine.game)]) }, t("Race yourself")) : null,
        mine ? h("a.button", { href: writeAddress("review", [String(mine.game)]) }, t("Review")) : null,
      ),
    );
  }

  /**
   * @param {number} seed
   * @param {HTMLElement} control
   */
  async begin(seed, control) {
    const made = await attempt(() => post("/api/games", { body: { rules: { board: "4x4" }, seed, player: "human" } }), control);
    if (made) location.hash = writeAddress("play", [], { game: made.state.id });
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

class Race {
  #line;
  #turns;
  #queue = Promise.resolve();
  #isClosed = false;

  /**
   * @param {HTMLElement} main
   * @param {Api.ReplayData} ghost
   * @param {Api.GameData} mine
   */
  constructor(main, ghost, mine) {
    this.mine = mine;
    this.state = mine.state;
    this.#turns = ghost.turns;
    this.#line = new Line(ghost.shape, ghost.first, ghost.turns);
    this.board = h("lab-board", { tabIndex: 0 });
    this.other = h("lab-board", { quiet: true });
    this.words = h("p.facts", { role: "status" });
    const who = ghost.state.movers[0]?.[1] ?? "human";
    main.append(
      h("h1", {}, t("Race the ghost")),
      h(
        "div.stack",
        {},
      this.words,
      h(
        "div.ghosts",
        {},
        h("div", {}, h("h2", {}, t("You")), this.board),
        h("div", {}, h("h2", { title: who }, who === "human" ? t("Your earlier game") : labelOf(who)), this.other),
      ),
      h(
        "div.row",
        {},
        h("a.button", { href: writeAddress("play", [], { game: mine.state.id }) }, t("Play on alone")),
        h("a.button", { href: writeAddress("review", [String(mine.state.id)]) }, t("Review")),
      ),
      ),
    );
    this.board.shape = mine.shape;
    this.other.shape = ghost.shape;
    this.board.addEventListener("swipe", (event) => this.move(/** @type {CustomEvent<number>} */ (event).detail));
    this.board.show(mine.state.ranks);
    this.show();
  }

  show() {
    const n = this.state.n_moves;
    const at = Math.min(n, this.#turns.length);
    this.other.show(this.#line.boardAt(at), this.#turns[at - 1]?.cell ?? -1);
    const theirs = this.#line.scores[at];
    const lead = this.state.score - theirs;
    this.words.textContent = `${t("Move {n}", { n })} · ${number(this.state.score)} : ${number(theirs)} (${lead < 0 ? "−" : "+"}${number(Math.abs(lead))})${this.state.over ? ` · ${t("Game over")}` : ""}`;
  }

  /** @param {number} move */
  move(move) {
    this.#queue = this.#queue.then(async () => {
      if (this.#isClosed || this.state.over || !this.state.legal.includes(move)) return;
      const letter = this.mine.shape.moves[move].letter;
      const change = await attempt(() =>
        post("/api/games/{game}/moves", { path: { game: this.state.id }, body: { moves: letter, mover: "human", rev: null } }),
      );
      if (!change || this.#isClosed) return;
      for (const made of change.turns) {
        this.board.slide(made.move);
        this.board.spawn(made.cell, made.rank);
      }
      this.state = change.state;
      this.show();
      if (this.state.over) say(this.words.textContent ?? "");
    });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const wish = meaning(event, this.mine.shape.moves);
    if (wish?.move === undefined) return false;
    this.move(wish.move);
    return true;
  }

  close() {
    this.#isClosed = true;
  }
}
