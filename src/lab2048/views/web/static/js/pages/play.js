// Play: the board, who moves, hints, undo and redo.

import { Announcer } from "../announcer.js";
import { post, statusOf } from "../api.js";
import { Banner } from "../banner.js";
import "../board.js";
import { Celebration } from "../celebration.js";
import { Chips } from "../chips.js";
import { Directions } from "../directions.js";
import { attempt, button, commandLine, complain, copy, dropErrors, h, missing, say, segments, toast } from "../dom.js";
import { Game } from "../game.js";
import { Hints, MODES } from "../hints.js";
import { MoveList } from "../movelist.js";
import { MoveNote } from "../movenote.js";
import { labelOf, playersOf } from "../players.js";
import { glyph, playLayout } from "../playlayout.js";
import { PlayerSwitch } from "../playerswitch.js";
import { onPref, pref, setPref } from "../prefs.js";
import { linkedGame, unpackMoves, writeAddress } from "../pure/codec.js";
import { day as dayText } from "../pure/format.js";
import { meaning } from "../pure/keys.js";
import { rulesWords } from "../ruleswords.js";
import { speedControl } from "../speed.js";
import { stream } from "../stream.js";
import { t, told } from "../text.js";

const HINT_WORDS = { off: t("Off"), best: t("Best move"), all: t("All values") };
const AT_ONCE = 100; // moves per request
const AGAIN = 1000; // ms until a player that was not ready is asked again

/** @type {PageModule["open"]} */
export async function open(main, { query }) {
  const page = new Play(main);
  await page.start(query);
  return page;
}

export class Play {
  watches = true;
  hasGameKeys = true;
  #ending = new AbortController();
  #lastError = "";
  /** @type {Api.ShapeData | null} */
  #shape = null; // that the buttons of the moves are for
  /** @type {import("../game.js").Action | null} */
  #wanted = null; // what a player was asked for before it was ready
  /** @type {Address["query"]} */
  #query = {};
  /** @type {HTMLElement | null} */
  #offer = null; // to go back to the game before

  /** @param {HTMLElement} main */
  constructor(main) {
    this.main = main;
    this.board = h("lab-board");
    this.game = new Game(this.board);
    this.banner = new Banner({
      undo: () => this.game.undo(),
      restart: () => this.restart(),
      again: () => this.restart(this.game.state.seed),
      review: () => this.review(),
      share: () => this.share(),
    });
    this.directions = new Directions(this.board, (move) => this.move(move), this.banner.element);
    this.hints = new Hints((hint) => this.directions.show(hint, this.game.isOpen ? this.game.state.legal : [], pref("hints")));
    this.playerSwitch = new PlayerSwitch(this.game);
    this.speed = speedControl((speed) => this.game.isRunning && this.game.auto(this.playerSwitch.player, speed, true));
    this.chips = new Chips();
    this.celebration = new Celebration(this.chips.score, this.directions.element);
    this.announcer = new Announcer(this.board);
    this.moveList = new MoveList();
    this.note = new MoveNote();
    this.newButton = button(t("New"), () => this.changeRules("boards"), { key: "N", main: true });
    this.undoButton = button(glyph("M9 7H4V2M4 7a8 8 0 1 1-1 8"), () => this.game.undo(), { "aria-label": t("Undo"), title: t("Undo (U)") });
    this.redoButton = button(glyph("M15 7h5V2M20 7a8 8 0 1 0 1 8"), () => this.game.redo(), { "aria-label": t("Redo"), title: t("Redo (Y)") });
    this.stepButton = button(t("Play best move"), () => this.game.step(this.playerSwitch.adviser), { key: "Space", title: t("Let the player make one move") });
    this.playWords = h("span", {}, t("Autoplay"));
    this.playButton = button(this.playWords, () => this.playerSwitch.toggle(), { key: "Enter" });
    this.playButton.disabled = this.stepButton.disabled = true; // until there is a game
    this.hintModes = segments(
      t("Hints"),
      MODES.map((mode) => [mode, HINT_WORDS[mode]]),
      pref("hints"),
      (mode) => setPref("hints", mode),
    );
    this.title = h("h1", {}, t("Play"));
    this.rulesLine = h("p.quiet.small");
    this.seed = h("button.seed", { type: "button", title: t("Copy the seed"), onclick: () => copy(String(this.game.state.seed)) });
    this.gameCommand = commandLine();
    this.championWords = h("b", {}, t("Watch the champion"));
    main.append(...playLayout(this));
    const { signal } = this.#ending;
    this.game.on("change", (change) => this.changed(change));
    this.game.on("failure", (failure) => this.failed(failure));
    this.game.on("conflict", (message) => toast(message));
    this.game.on("blocked", (move) => say(t("{move}: no tile moves", { move: told(this.game.shape.moves[move].name) })));
    this.board.addEventListener("swipe", (event) => this.move(/** @type {CustomEvent<number>} */ (event).detail));
    stream.on("game", (change) => this.game.receive(change), signal);
    stream.on("deleted", (id) => this.game.receiveDeleted(id), signal);
    stream.on("status", (status) => this.onStatus(status), signal);
    onPref("hints", () => this.drawHints(), signal);
  }

  /** @param {Address["query"]} query */
  async start(query) {
    this.#query = query;
    await attempt(async () => {
      if (query.board) await this.open(query);
      else if (query.game) await this.openAsked(query.game);
      else await this.resume(pref("game"));
    });
    // A link to a board that does not exist leaves the game in progress as it is.
    if (!this.game.isOpen && query.board) await attempt(() => this.resume(pref("game")));
    else if (!this.game.isOpen && !query.game) await attempt(() => this.game.create({ board: "4x4" }));
    if (this.game.isOpen && (query.board || query.game)) history.replaceState(null, "", "#/play");
  }

  /** Go on after the server was away. */
  reconnect() {
    if (this.game.isOpen) attempt(() => this.game.open(this.game.id));
    else this.start(this.#query);
  }

  /**
   * Start the game of a link; with moves, it goes on where they end.
   * @param {Address["query"]} query
   */
  async open(query) {
    const { rules, seed } = linkedGame(query);
    await this.game.create(rules, seed);
    const { moves } = query;
    const letters = moves ? unpackMoves(moves, this.game.shape.moves) : "";
    if (letters === null) return void toast(t("The moves of this link are damaged: the game starts at its first board."));
    const { id } = this.game;
    for (let i = 0; i < letters.length; i += AT_ONCE) {
      const body = { moves: letters.slice(i, i + AT_ONCE), mover: "human" };
      await post("/api/games/{game}/moves", { path: { game: id }, body });
    }
    if (letters) await this.game.open(id);
  }

  /**
   * Open a game that the address names, or say that it does not exist.
   * @param {string} id
   */
  async openAsked(id) {
    const isNumber = /^[1-9]\d{0,15}$/.test(id);
    try {
      if (isNumber) return await this.game.open(Number(id));
    } catch (error) {
      if (![404, 422].includes(statusOf(error) ?? 0)) throw error;
    }
    this.main.replaceChildren(
      missing(t("There is no game {id}.", { id: id.slice(0, 40) }), ["#/play", t("Play")], ["#/games", t("All games")]),
    );
  }

  /**
   * Open a game; a new one if it does not exist.
   * @param {number | null} id
   */
  async resume(id) {
    if (id !== null) {
      try {
        return await this.game.open(id);
      } catch (error) {
        if (![404, 422].includes(statusOf(error) ?? 0)) throw error;
      }
    }
    return this.game.create({ board: "4x4" });
  }

  /**
   * Remember what a player was asked for before it was ready; it is done then, unless someone moves first.
   * @param {{ error: unknown, action: import("../game.js").Action }} failure
   */
  failed({ error, action }) {
    this.#wanted = statusOf(error) === 503 && ["auto", "step"].includes(action.kind) ? action : null;
    complain(error);
    // The news that the player is ready may have overtaken the refusal, and is not told twice.
    setTimeout(() => this.#wanted && stream.status?.ready && this.onStatus(stream.status), AGAIN);
  }

  /** @param {Api.StatusData} status */
  onStatus(status) {
    this.askHint();
    const wanted = this.#wanted;
    if (!status.ready || !wanted) return;
    this.#wanted = null;
    if (wanted.kind === "step") this.game.step(wanted.player);
    else if (wanted.kind === "auto") this.game.auto(wanted.player, pref("speed"), wanted.running);
  }

  /** @param {number} move */
  move(move) {
    this.#wanted = null;
    this.game.move(move);
  }

  /**
   * Start a new game with the same rules.
   * @param {number | null} [seed]
   */
  restart(seed = null) {
    return attempt(() => this.begin(this.game.state.rules, seed));
  }

  /**
   * Start another game, and offer to go back to the one before if it has moves.
   * @param {Api.RulesBody} rules
   * @param {number | null} [seed]
   */
  async begin(rules, seed = null) {
    const { id, isDeleted, state } = this.game;
    await this.game.create(rules, seed);
    dropErrors(); // a position that was refused before is replaced
    scrollTo({ top: 0 }); // where the board is
    if (isDeleted || !state.n_moves) return;
    this.#offer?.remove();
    this.#offer = toast(t("New game; the old one is saved"), t("Undo"), () => attempt(() => this.game.open(id)));
  }

  // Dialogs are loaded when they are first opened, so that the first board does not wait for them.

  share() {
    return attempt(async () => {
      const { shareDialog } = await import("../share.js");
      shareDialog(this.game);
    });
  }

  /** @param {"boards" | "rules" | "paste"} part */
  async changeRules(part) {
    if (!this.game.isOpen) return;
    const dialogs = await attempt(() => import("../newgame.js"));
    dialogs?.newGameDialog(this.game.state.rules, (rules, seed) => this.begin(rules, seed), part);
  }

  /**
   * Play a pasted position.
   * @param {string} text
   */
  onPaste(text) {
    if (!this.game.isOpen || !text.trim()) return false;
    attempt(async () => {
      const { positionRules } = await import("../newgame.js");
      await this.begin(positionRules(text, this.game.state.rules));
    });
    return true;
  }

  /** Let the default player play: a game that a person has begun is kept as it is. */
  async watchChampion() {
    const { game, playerSwitch } = this;
    if (!game.isOpen) return;
    scrollTo({ top: 0 }); // on a phone the board is above
    if (game.isEnded || game.state.n_moves > 0) await this.restart();
    playerSwitch.start(playerSwitch.players?.default ?? null);
  }

  askForHint() {
    scrollTo({ top: 0 });
    if (pref("hints") === "off") setPref("hints", "best");
    else this.askHint();
  }

  review() {
    location.hash = writeAddress("review", [String(this.game.id)]);
  }

  /** @param {import("../game.js").Change} change */
  changed(change) {
    const { state, id } = this.game;
    if (change.kind === "open") this.opened();
    const { auto } = state;
    const who = this.game.isRunning && auto ? labelOf(auto.player, this.playerSwitch.players) : t("You");
    this.chips.show(state, who);
    this.celebration.show(this.game, change);
    const { isEnded, isDeleted } = this.game;
    this.undoButton.disabled = isDeleted || !state.can_undo;
    this.redoButton.disabled = isDeleted || !state.can_redo;
    this.playButton.disabled = this.stepButton.disabled = isEnded;
    const words = this.game.isRunning ? t("Pause") : t("Autoplay");
    if (this.playWords.textContent !== words) this.playWords.textContent = words;
    this.board.classList.toggle("over", isEnded);
    if (state.auto?.error && state.auto.error !== this.#lastError) toast(state.auto.error);
    this.#lastError = state.auto?.error ?? "";
    this.playerSwitch.draw();
    this.moveList.show(this.game, this.playerSwitch.players);
    this.note.show(this.game.id, this.game.state.n_moves, this.game.state.mover);
    this.banner.show(this.game);
    if (change.kind !== "deleted") this.announcer.announce(this.game, change);
    if (!this.game.isRunning || isEnded) this.directions.show(null, isDeleted ? [] : state.legal, pref("hints"));
    this.askHint();
    if (pref("game") !== id) setPref("game", id);
  }

  opened() {
    const { state, shape, id } = this.game;
    stream.watch([id]);
    this.banner.open(state);
    this.celebration.open(state.ranks);
    this.seed.textContent = t("seed {seed}", { seed: String(state.seed) });
    if (shape !== this.#shape) this.directions.setShape(shape);
    this.#shape = shape;
    this.title.textContent = t("Merge equal tiles, reach {goal}", { goal: String(state.rules.goal) });
    const { day } = this.game;
    const words = rulesWords(state.rules);
    this.rulesLine.textContent = day ? `${t("Board of the day, {date}", { date: dayText(day) })}: ${words}` : words;
    this.rulesLine.title = state.rules.board;
    this.gameCommand.set(this.game.commands.play);
    playersOf(state.rules.board)
      .then((players) => {
        if (this.game.id !== id) return;
        this.playerSwitch.players = this.hints.players = players;
        this.playerSwitch.draw();
        this.championWords.textContent =
          players.default === "ntuple"
            ? t("Watch the champion")
            : t("Watch {player}", { player: labelOf(players.default, players) });
        this.askHint();
      })
      .catch(complain);
    this.hints.clear(""); // it is about another board, perhaps of another shape
    this.drawHints();
  }

  drawHints() {
    const mode = pref("hints");
    this.hintModes.choose(mode);
    this.hints.element.hidden = mode === "off";
    if (mode === "off") this.hints.clear("");
    else if (this.hints.hint) {
      this.hints.redraw();
      this.directions.show(this.hints.hint, this.game.state.legal, mode);
    } else this.askHint();
  }

  askHint() {
    if (pref("hints") !== "off" && this.game.isOpen) this.hints.askSoon(this.game, () => this.playerSwitch.adviser);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { game } = this;
    if (!game.isOpen) return false;
    const wish = meaning(event, game.shape.moves);
    if (!wish) return false;
    if (wish.move !== undefined) {
      if (this.board.hasCursor && event.key.startsWith("Arrow")) say(this.board.moveCursor(wish.move));
      else this.move(wish.move);
      return true;
    }
    if (event.repeat && !["undo", "redo", "best"].includes(wish.command)) return true;
    const act = this.commands()[wish.command];
    act?.(wish);
    return Boolean(act);
  }

  /**
   * What the keys that are not moves do.
   * @returns {Record<string, (wish: { number?: number }) => unknown>}
   */
  commands() {
    const { game } = this;
    return {
      undo: () => game.undo(),
      redo: () => game.redo(),
      best: () => game.isEnded || game.step(this.playerSwitch.adviser),
      auto: () => game.isEnded || this.playerSwitch.toggle(),
      hints: () => {
        setPref("hints", MODES[(MODES.indexOf(pref("hints")) + 1) % MODES.length]);
        say(t("Hints: {mode}", { mode: HINT_WORDS[pref("hints")] }));
      },
      new: () => this.restart(),
      slower: () => this.speed.shift(-1),
      faster: () => this.speed.shift(1),
      cursor: () => say(this.board.toggleCursor() ?? t("Cursor off")),
      player: ({ number }) => this.playerSwitch.startPreset(number ?? 0),
    };
  }

  /** Let the player go on while another page is shown. */
  leave() {
    const { game, playerSwitch } = this;
    stream.keep([game.id]);
    const name = labelOf(game.state.auto?.player ?? null, playerSwitch.players);
    toast(t("{name} goes on playing", { name }), t("Pause"), () => game.isRunning && playerSwitch.toggle());
  }

  close() {
    this.#ending.abort();
    this.#wanted = null;
    if (this.game.isOpen && this.game.isRunning && !this.game.isEnded) this.leave();
    this.moveList.close();
    this.note.clear();
    this.hints.close();
  }
}
