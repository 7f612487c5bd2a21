// Play: the board, who moves, hints, undo and redo.

import { Announcer } from "../announcer.js";
import { statusOf } from "../api.js";
import { Banner } from "../banner.js";
import "../board.js";
import { Chips } from "../chips.js";
import { Directions } from "../directions.js";
import { attempt, button, commandLine, complain, copy, h, say, segments, toast } from "../dom.js";
import { Game } from "../game.js";
import { Hints, MODES } from "../hints.js";
import { MoveList } from "../movelist.js";
import { MoveNote } from "../movenote.js";
import { newGameDialog } from "../newgame.js";
import { labelOf, playersOf } from "../players.js";
import { PlayerSwitch } from "../playerswitch.js";
import { onPref, pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { meaning } from "../pure/keys.js";
import { rulesWords } from "../rulesform.js";
import { speedControl } from "../speed.js";
import { stream } from "../stream.js";

const HINT_WORDS = { off: "Off", best: "Best move", all: "All values" };

/** @type {PageModule["open"]} */
export async function open(main, { query }) {
  const page = new Play(main);
  await page.start(query);
  return page;
}

class Play {
  watches = true;
  #ending = new AbortController();
  #lastError = "";
  /** @type {Api.ShapeData | null} */
  #shape = null; // that the buttons of the moves are for
  /** @type {import("../game.js").Action | null} */
  #wanted = null; // what a player was asked for before it was ready

  /** @param {HTMLElement} main */
  constructor(main) {
    this.board = h("lab-board");
    this.game = new Game(this.board);
    this.directions = new Directions(this.board, (move) => this.move(move));
    this.hints = new Hints((hint) => this.directions.show(hint, this.game.isOpen ? this.game.state.legal : [], pref("hints")));
    this.playerSwitch = new PlayerSwitch(this.game);
    this.speed = speedControl((speed) => this.game.isRunning && this.game.auto(this.playerSwitch.player, speed, true));
    this.chips = new Chips();
    this.announcer = new Announcer(this.board);
    this.banner = new Banner({ undo: () => this.game.undo(), restart: () => this.restart() });
    this.moveList = new MoveList();
    this.note = new MoveNote();
    this.undoButton = button("Undo", () => this.game.undo(), { key: "U" });
    this.redoButton = button("Redo", () => this.game.redo(), { key: "Y" });
    this.playWords = h("span", {}, "Autoplay");
    this.playButton = button(this.playWords, () => this.playerSwitch.toggle(), { key: "Enter", main: true });
    this.stepButton = button("Step", () => this.game.step(this.playerSwitch.player), { key: "Space" });
    this.newButton = button("New", () => this.restart(), { key: "N" });
    this.hintModes = segments(
      "Hints",
      MODES.map((mode) => [mode, HINT_WORDS[mode]]),
      pref("hints"),
      (mode) => setPref("hints", mode),
    );
    this.rulesLine = h("p.quiet.small");
    this.gameCommand = commandLine();
    main.append(
      h("h1.unseen", {}, "Play"),
      h(
        "div.left-col",
        {},
        this.chips.element,
        this.directions.element,
        h("div.bar", {}, this.undoButton, this.redoButton, this.playButton, this.stepButton, this.newButton),
      ),
      h(
        "aside",
        { "aria-label": "About the game" },
        this.banner.element,
        h(
          "section.panel",
          {},
          h("h2", {}, "Who moves"),
          this.playerSwitch.element,
          h("div.row.modes", {}, h("span.quiet.small", {}, "Expectimax"), this.playerSwitch.modes),
          this.speed.element,
        ),
        h(
          "section.panel",
          {},
          h("div.row.spread.tight", {}, h("h2", {}, "Hints ", this.hints.title), h("kbd", {}, "T")),
          this.hintModes,
          this.hints.element,
        ),
        this.note.element,
        this.moveList.element,
        h(
          "section.panel",
          {},
          h("h2", {}, "Game"),
          this.rulesLine,
          h(
            "div.row.actions",
            {},
            button("Other rules", () => this.changeRules(), { slim: true }),
            button("Replay", () => (location.hash = writeAddress("review", [String(this.game.id)])), { slim: true }),
            button("Copy link", () => this.link(), { slim: true }),
          ),
        ),
        h("section.panel.commands", {}, this.hints.command, this.gameCommand),
      ),
    );
    const { signal } = this.#ending;
    // A clicked button gives up the focus, so that Space plays the best move again.
    main.addEventListener(
      "click",
      ({ detail, target }) => {
        const isControl = target instanceof Element && target.closest(".bar, .stage, .seg");
        if (detail > 0 && isControl && document.activeElement instanceof HTMLElement) document.activeElement.blur();
      },
      { signal },
    );
    this.game.on("change", (change) => this.changed(change));
    this.game.on("failure", (failure) => this.failed(failure));
    this.game.on("conflict", (message) => toast(message));
    this.game.on("blocked", (move) => say(`${this.game.shape.moves[move].name}: no tile moves`));
    this.board.addEventListener("swipe", (event) => this.move(/** @type {CustomEvent<number>} */ (event).detail));
    stream.on("game", (change) => this.game.receive(change), signal);
    stream.on("deleted", (id) => this.game.receiveDeleted(id), signal);
    stream.on("status", (status) => this.onStatus(status), signal);
    onPref("hints", () => this.drawHints(), signal);
  }

  /** @param {Address["query"]} query */
  async start(query) {
    await attempt(async () => {
      if (query.board)
        await this.game.create(
          {
            board: query.board,
            goal: Number(query.goal) || undefined,
            spawn: query.spawn,
            start: query.start === undefined ? undefined : Number(query.start),
            spawner: query.spawner,
            stop_at_goal: query.stop_at_goal === "true",
          },
          query.seed === undefined ? null : Number(query.seed),
        );
      else await this.resume(query.game ? Number(query.game) : pref("game"));
      if (query.board || query.game) history.replaceState(null, "", "#/play");
    });
    if (!this.game.isOpen) await attempt(() => this.game.create({ board: "4x4" }));
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

  /** Start a new game with the same rules. */
  async restart() {
    const old = this.game.isDeleted ? null : this.game.id;
    await attempt(() => this.game.create(this.game.state.rules));
    this.offerUndo(old);
  }

  changeRules() {
    const old = this.game.isDeleted ? null : this.game.id;
    newGameDialog(this.game.state.rules, async (rules, seed) => {
      await this.game.create(rules, seed);
      this.offerUndo(old);
    });
  }

  /** @param {number | null} old the game before, unless it was deleted */
  offerUndo(old) {
    if (old !== null && this.game.id !== old)
      toast("New game; the old one is saved", "Undo", () => attempt(() => this.game.open(old)));
  }

  link() {
    const { rules, seed } = this.game.state;
    copy(location.origin + "/" + writeAddress("play", [], { ...rules, stop_at_goal: rules.stop_at_goal || undefined, seed }));
  }

  /** @param {import("../game.js").Change} change */
  changed(change) {
    const { state, id } = this.game;
    if (change.kind === "open") this.opened();
    this.chips.show(state);
    const { isEnded, isDeleted } = this.game;
    this.undoButton.disabled = isDeleted || !state.can_undo;
    this.redoButton.disabled = isDeleted || !state.can_redo;
    this.playButton.disabled = this.stepButton.disabled = isEnded;
    const words = this.game.isRunning ? "Pause" : "Autoplay";
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
    if (shape !== this.#shape) this.directions.setShape(shape);
    this.#shape = shape;
    this.rulesLine.textContent = rulesWords(state.rules);
    this.gameCommand.set(this.game.commands.play);
    playersOf(state.rules.board)
      .then((players) => {
        if (this.game.id !== id) return;
        this.playerSwitch.players = players;
        this.playerSwitch.draw();
        this.askHint();
      })
      .catch(complain);
    this.drawHints();
  }

  drawHints() {
    const mode = pref("hints");
    this.hintModes.choose(mode);
    this.hints.element.hidden = mode === "off";
    if (mode === "off") this.hints.clear("");
    else if (this.hints.hint) this.directions.show(this.hints.hint, this.game.state.legal, mode);
    else this.askHint();
  }

  askHint() {
    if (pref("hints") !== "off" && this.game.isOpen) this.hints.askSoon(this.game, () => this.playerSwitch.player);
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
      best: () => game.isEnded || game.step(this.playerSwitch.player),
      auto: () => game.isEnded || this.playerSwitch.toggle(),
      hints: () => {
        setPref("hints", MODES[(MODES.indexOf(pref("hints")) + 1) % MODES.length]);
        say(`Hints: ${HINT_WORDS[pref("hints")]}`);
      },
      new: () => this.restart(),
      slower: () => this.speed.shift(-1),
      faster: () => this.speed.shift(1),
      cursor: () => say(this.board.toggleCursor() ?? "Cursor off"),
      player: ({ number }) => this.playerSwitch.startPreset(number ?? 0),
    };
  }

  /** Let the player go on while another page is shown. */
  leave() {
    const { game, playerSwitch } = this;
    stream.keep([game.id]);
    const name = labelOf(game.state.auto?.player ?? null, playerSwitch.players);
    toast(`${name} goes on playing`, "Pause", () => game.isRunning && playerSwitch.toggle());
  }

  close() {
    this.#ending.abort();
    if (this.game.isOpen && this.game.isRunning && !this.game.isEnded) this.leave();
    this.moveList.close();
    this.note.clear();
    this.hints.close();
  }
}
