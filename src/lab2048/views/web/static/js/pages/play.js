// Play: the board, who moves, hints, and every way to go back.

import { Banner } from "../banner.js";
import "../board.js";
import { Chips } from "../chips.js";
import { Directions } from "../directions.js";
import { attempt, button, commandLine, complain, copy, h, say, segments, toast } from "../dom.js";
import { Game } from "../game.js";
import { Hints, MODES } from "../hints.js";
import { newGame } from "../newgame.js";
import { playersOf } from "../players.js";
import { onPref, pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { meaning } from "../pure/keys.js";
import { Ribbon } from "../ribbon.js";
import { rulesWords } from "../rulesform.js";
import { speedControl } from "../speed.js";
import { stream } from "../stream.js";
import { Voice } from "../voice.js";
import { Who } from "../who.js";

const HINT_WORDS = { off: "Off", best: "Best move", all: "All values" };

export async function open(main, where) {
  const page = new Play();
  page.build(main);
  await page.start(where.query);
  return page;
}

class Play {
  watches = true;
  #ending = new AbortController();
  #lastError = "";
  #wanted = null;

  build(main) {
    this.board = h("lab-board");
    this.game = new Game(this.board);
    this.directions = new Directions(this.board, (move) => this.move(move));
    this.hints = new Hints((hint) => this.directions.show(hint, this.game.state?.legal ?? [], pref("hints")));
    this.speed = speedControl((speed) => this.game.isRunning && this.game.auto(this.who.player, speed, true));
    this.chips = new Chips();
    this.voice = new Voice(this.board);
    this.banner = new Banner({ undo: () => this.game.undo(), fresh: () => this.fresh() });
    this.ribbon = new Ribbon();
    this.undoButton = button("Undo", () => this.game.undo(), { key: "U" });
    this.redoButton = button("Redo", () => this.game.redo(), { key: "Y" });
    this.playWords = h("span", {}, "Play on");
    this.playButton = button(this.playWords, () => this.toggle(), { key: "Enter", main: true });
    this.stepButton = button("Step", () => this.game.step(this.who.player), { key: "Space" });
    this.newButton = button("New", () => this.fresh(), { key: "N" });
    this.who = new Who(this.game);
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
        h("section.panel", {}, h("h2", {}, "Who moves"), this.who.element, this.speed.element),
        h(
          "section.panel",
          {},
          h("div.row.spread.tight", {}, h("h2", {}, "Hints ", this.hints.title), h("kbd", {}, "T")),
          this.hintModes,
          this.hints.element,
        ),
        this.ribbon.element,
        h(
          "section.panel",
          {},
          h("h2", {}, "Game"),
          this.rulesLine,
          h(
            "div.row.actions",
            {},
            button("Other rules", () => this.other(), { slim: true }),
            button("Replay", () => (location.hash = writeAddress("review", [this.game.id])), { slim: true }),
            button("Copy link", () => this.link(), { slim: true }),
          ),
        ),
        h("section.panel.commands", {}, this.hints.command, this.gameCommand),
      ),
    );
    // A button that was clicked does not keep the keys: Space is the best move again.
    main.addEventListener(
      "click",
      (event) => {
        if (event.detail > 0 && event.target.closest(".bar, .stage, .seg")) document.activeElement?.blur();
      },
      { signal: this.#ending.signal },
    );
    for (const name of ["open", "change"]) this.game.addEventListener(name, (event) => this.changed(event.detail));
    this.game.addEventListener("failure", (event) => this.failed(event.detail));
    this.game.addEventListener("blocked", (event) => say(`${this.game.shape.moves[event.detail].name}: nothing moves`));
    this.board.addEventListener("swipe", (event) => this.move(event.detail));
    stream.on("game", (change) => this.game.receive(change), this.#ending.signal);
    stream.on("status", (status) => this.heard(status), this.#ending.signal);
    onPref("hints", () => this.drawHints(), { signal: this.#ending.signal });
  }

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
          },
          query.seed === undefined ? null : Number(query.seed),
        );
      else await this.resume(query.game ?? pref("game"));
      if (query.board || query.game) history.replaceState(null, "", "#/play");
    });
    if (!this.game.state) await attempt(() => this.game.create({ board: "4x4" }));
  }

  /** The game this browser played last; without one, a new one. */
  async resume(id) {
    if (id !== null && id !== undefined) {
      try {
        return await this.game.open(id);
      } catch (error) {
        if (error.status !== 404 && error.status !== 422) throw error;
      }
    }
    return this.game.create({ board: "4x4" });
  }

  /** What a player was asked for before it was ready is done when it is, unless someone moves first. */
  failed({ error, action }) {
    this.#wanted = error.status === 503 && ["auto", "step"].includes(action.kind) ? action : null;
    complain(error);
  }

  heard(status) {
    this.askHint();
    const wanted = this.#wanted;
    if (!status.ready || !wanted) return;
    this.#wanted = null;
    if (wanted.kind === "step") this.game.step(wanted.player);
    else this.game.auto(wanted.player, pref("speed"), wanted.running);
  }

  move(move) {
    this.#wanted = null;
    this.game.move(move);
  }

  toggle() {
    this.game.auto(this.who.player, pref("speed"), !this.game.isRunning);
  }

  async fresh(rules = null, seed = null) {
    const old = this.game.id;
    await attempt(() => this.game.create(rules ?? this.game.state.rules, seed));
    this.offerBack(old);
  }

  other() {
    const old = this.game.id;
    newGame(this.game.state.rules, async (rules, seed) => {
      await this.game.create(rules, seed);
      this.offerBack(old);
    });
  }

  offerBack(old) {
    if (this.game.id !== old) toast("New game; the old one is kept", "Undo", () => attempt(() => this.game.open(old)));
  }

  link() {
    const { rules, seed } = this.game.state;
    copy(location.origin + "/" + writeAddress("play", [], { ...rules, seed }));
  }

  changed({ turns, kind, before }) {
    const { state, id } = this.game;
    if (kind === "open") this.opened();
    this.chips.show(state);
    this.undoButton.disabled = !state.can_undo;
    this.redoButton.disabled = !state.can_redo;
    this.playButton.disabled = this.stepButton.disabled = state.over;
    const words = this.game.isRunning ? "Pause" : "Play on";
    if (this.playWords.textContent !== words) this.playWords.textContent = words;
    this.board.classList.toggle("over", state.over);
    if (state.auto?.error && state.auto.error !== this.#lastError) toast(state.auto.error);
    this.#lastError = state.auto?.error ?? "";
    this.who.draw();
    this.ribbon.show(this.game, this.who.players);
    this.banner.show(state);
    this.voice.tell(this.game, { turns, kind, before });
    if (!this.game.isRunning || state.over) this.directions.show(null, state.legal, pref("hints"));
    this.askHint();
    if (pref("game") !== id) setPref("game", id);
  }

  opened() {
    const { state, shape, id } = this.game;
    stream.watch([id]);
    this.banner.open(state);
    if (shape !== this.directions.shape) {
      this.directions.shape = shape;
      this.directions.setShape(shape);
    }
    this.rulesLine.textContent = rulesWords(state.rules);
    this.gameCommand.set(this.game.commands.play);
    playersOf(state.rules.board)
      .then((players) => {
        if (this.game.id !== id) return;
        this.who.players = players;
        this.who.draw();
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
    if (pref("hints") !== "off" && this.game.state) this.hints.askSoon(this.game, () => this.who.player);
  }

  onKey(event) {
    const { game } = this;
    if (!game.shape) return false;
    const wish = meaning(event, game.shape.moves.length);
    if (!wish) return false;
    if ("move" in wish) {
      if (this.board.hasCursor && event.key.startsWith("Arrow")) say(this.board.moveCursor(wish.move));
      else this.move(wish.move);
      return true;
    }
    if (event.repeat && !["undo", "redo", "best"].includes(wish.command)) return true;
    const act = this.commands()[wish.command];
    act?.(wish);
    return Boolean(act);
  }

  /** What the keys that are no moves do. */
  commands() {
    const { game } = this;
    return {
      undo: () => game.undo(),
      redo: () => game.redo(),
      best: () => game.state.over || game.step(this.who.player),
      auto: () => game.state.over || this.toggle(),
      hints: () => {
        setPref("hints", MODES[(MODES.indexOf(pref("hints")) + 1) % MODES.length]);
        say(`Hints: ${HINT_WORDS[pref("hints")]}`);
      },
      new: () => this.fresh(),
      slower: () => this.speed.shift(-1),
      faster: () => this.speed.shift(1),
      cursor: () => say(this.board.toggleCursor() ?? "Cursor off"),
      player: ({ number }) => this.who.letNumber(number),
    };
  }

  close() {
    this.#ending.abort();
    if (this.game.isRunning) this.game.auto(this.who.player, pref("speed"), false);
    this.ribbon.close();
    this.hints.close();
  }
}
