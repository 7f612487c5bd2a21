// Play: the board, who moves, hints, and every way to go back.

import { Banner } from "../banner.js";
import "../board.js";
import { Chips } from "../chips.js";
import { Directions } from "../directions.js";
import { attempt, button, commandLine, complain, copy, dialog, field, h, say, segments, toast } from "../dom.js";
import { Game } from "../game.js";
import { Hints, MODES } from "../hints.js";
import { choosePlayer, labelOf, playersOf } from "../players.js";
import { onPref, pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { number } from "../pure/format.js";
import { meaning } from "../pure/keys.js";
import { sayTurn } from "../pure/words.js";
import { Ribbon } from "../ribbon.js";
import { rulesForm, rulesWords } from "../rulesform.js";
import { speedControl } from "../speed.js";
import { stream } from "../stream.js";

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
  #players = null;
  #lastSaid = 0;
  #lastHint = 0;
  #lastError = "";
  #wanted = null;

  build(main) {
    this.board = h("lab-board");
    this.game = new Game(this.board);
    this.directions = new Directions(this.board, (move) => this.move(move));
    this.hints = new Hints((hint) => this.directions.show(hint, this.game.state?.legal ?? [], pref("hints")));
    this.speed = speedControl((speed) => this.game.isRunning && this.game.auto(this.player, speed, true));
    this.chips = new Chips();
    this.banner = new Banner({ undo: () => this.game.undo(), fresh: () => this.fresh() });
    this.ribbon = new Ribbon();
    this.undoButton = button("Undo", () => this.game.undo(), { key: "U" });
    this.redoButton = button("Redo", () => this.game.redo(), { key: "Y" });
    this.playWords = h("span", {}, "Play on");
    this.playButton = button(this.playWords, () => this.toggle(), { key: "Enter", main: true });
    this.stepButton = button("Step", () => this.game.step(this.player), { key: "Space" });
    this.newButton = button("New", () => this.fresh(), { key: "N" });
    this.who = segments(
      "Who moves",
      [
        ["me", "Me"],
        ["player", "Player"],
        ["choose", "Choose..."],
      ],
      "me",
      (which) => this.turnTo(which),
    );
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
        h("section.panel", {}, h("h2", {}, "Who moves"), this.who, this.speed.element),
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

  /** Who plays when asked to: who was chosen, if that player fits this board. */
  get player() {
    const chosen = pref("player");
    const usual = this.#players?.default ?? null;
    const preset = this.#players?.presets.find(({ spec }) => spec === chosen);
    // Networks and tables are for the board that they were made for; it lists them.
    const isForeign = preset ? preset.fits === false : /weights=|table=/.test(chosen ?? "") && this.#players;
    return chosen && !isForeign ? chosen : usual;
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
    this.game.auto(this.player, pref("speed"), !this.game.isRunning);
  }

  async fresh(rules = null, seed = null) {
    const old = this.game.id;
    await attempt(() => this.game.create(rules ?? this.game.state.rules, seed));
    if (this.game.id !== old) toast("New game; the old one is kept", "Undo", () => attempt(() => this.game.open(old)));
  }

  other() {
    const form = rulesForm(this.game.state.rules);
    const seed = h("input", { type: "number", min: 0, placeholder: "by chance", name: "seed" });
    const error = h("p.error", { role: "alert" });
    const box = dialog(
      "A new game",
      h(
        "form.stack",
        {
          onsubmit: async (event) => {
            event.preventDefault();
            const old = this.game.id;
            try {
              await this.game.create(form.value(), seed.value === "" ? null : Number(seed.value));
              box.close();
              toast("New game; the old one is kept", "Undo", () => attempt(() => this.game.open(old)));
            } catch (wrong) {
              error.textContent = wrong.message;
            }
          },
        },
        form.element,
        field("Seed", seed),
        error,
        h(
          "div.row.end",
          {},
          button("Cancel", () => box.close()),
          button("Play", null, { type: "submit", main: true }),
        ),
      ),
    );
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
    this.drawWho();
    this.ribbon.show(this.game, this.#players);
    this.banner.show(state);
    this.speak(turns, kind, before);
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
    this.gameCommand.set(
      `lab2048 play --rules ${quote(state.rules.board)} --goal ${state.rules.goal} --seed ${state.seed}`,
    );
    playersOf(state.rules.board)
      .then((players) => {
        if (this.game.id !== id) return;
        this.#players = players;
        this.drawWho();
        this.askHint();
      })
      .catch(complain);
    this.drawHints();
  }

  drawWho() {
    const player = this.player;
    this.who.choose(this.game.isRunning ? "player" : "me");
    const entry = this.who.children[1];
    const label = labelOf(this.game.isRunning ? this.game.state.auto.player : player, this.#players);
    if (entry.textContent !== label) entry.textContent = label;
    entry.title = player ?? "";
    entry.disabled = !player;
  }

  turnTo(which) {
    if (which === "player") this.let(this.player);
    else if (which === "me" && this.game.isRunning) this.game.auto(this.player, pref("speed"), false);
    else if (which === "choose") {
      this.drawWho();
      attempt(() => choosePlayer(this.game.state.rules.board, (spec) => this.let(spec)));
    }
  }

  /** Let a player move from now on. */
  let(player) {
    setPref("player", player);
    this.game.auto(player, pref("speed"), true);
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
    if (pref("hints") === "off" || !this.game.state) return;
    // A player that runs fast is asked now and then; a person gets an answer for every board.
    const wait = this.game.isRunning ? Math.max(0, 300 - (performance.now() - this.#lastHint)) : 0;
    if (wait > 0 && this.hintTimer) return;
    clearTimeout(this.hintTimer);
    this.hintTimer = setTimeout(() => {
      this.hintTimer = 0;
      this.#lastHint = performance.now();
      if (this.game.state) this.hints.ask(this.game, this.player);
    }, wait);
  }

  speak(turns, kind, before) {
    const { state, shape } = this.game;
    const last = turns.at(-1);
    if (kind === "undo") return say(`Undone. Score ${number(state.score)}.`);
    if (!last) return;
    if (last.mover === "human") {
      const words = sayTurn(shape.moves[last.move].name, before, shape.lines[last.move], last, (cell) =>
        this.board.placeOf(cell),
      );
      return say(turns.length === 1 ? words : `${turns.length} moves. Score ${number(state.score)}.`);
    }
    const now = performance.now();
    if (now - this.#lastSaid < 2000) return;
    this.#lastSaid = now;
    say(`${state.highest} highest, score ${number(state.score)}`);
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
    switch (wish.command) {
      case "undo":
        game.undo();
        break;
      case "redo":
        game.redo();
        break;
      case "best":
        if (!game.state.over) game.step(this.player);
        break;
      case "auto":
        if (!game.state.over) this.toggle();
        break;
      case "hints":
        setPref("hints", MODES[(MODES.indexOf(pref("hints")) + 1) % MODES.length]);
        say(`Hints: ${HINT_WORDS[pref("hints")]}`);
        break;
      case "new":
        this.fresh();
        break;
      case "slower":
        this.speed.shift(-1);
        break;
      case "faster":
        this.speed.shift(1);
        break;
      case "cursor":
        say(this.board.toggleCursor() ?? "Cursor off");
        break;
      case "player": {
        const preset = this.#players?.presets[wish.number - 1];
        if (preset && preset.fits !== false) this.let(preset.spec);
        break;
      }
      default:
        return false;
    }
    return true;
  }

  close() {
    this.#ending.abort();
    if (this.game.isRunning) this.game.auto(this.player, pref("speed"), false);
    clearTimeout(this.hintTimer);
    this.ribbon.close();
    this.hints.clear("");
  }
}

function quote(text) {
  return /^[\w:.,=-]+$/.test(text) ? text : `"${text}"`;
}
