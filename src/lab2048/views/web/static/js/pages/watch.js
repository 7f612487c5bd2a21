// Watch: one to nine boards side by side, each with its player, started and paused together.

import { get, messageOf, post } from "../api.js";
import "../board.js";
import { attempt, button, complain, emptyState, field, h, isPointing, reveal, select, toast } from "../dom.js";
import { Game } from "../game.js";
import { MoveNote } from "../movenote.js";
import { playerList } from "../playerlist.js";
import { labelOf, MODES, playersOf } from "../players.js";
import { pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { number } from "../pure/format.js";
import { seeking } from "../pure/keys.js";
import { capital } from "../pure/words.js";
import { rulesForm } from "../rulesform.js";
import { speedControl } from "../speed.js";
import { retryUntilReady, stream } from "../stream.js";
import { t, tn } from "../text.js";

const MOST = 9;

/** @typedef {{ player: string, game: Game, element: HTMLElement }} Seat a board and its player */

/** @type {PageModule["open"]} */
export async function open(main) {
  const page = new Watch(main);
  await page.fillPlayers();
  await page.comeBack();
  return page;
}

class Watch {
  watches = true;
  hasGameKeys = true;
  #ending = new AbortController();
  /** @type {Seat[]} */
  #seats = [];
  #isRunning = false;
  /** The latest request to play or pause, which begins when the one before has ended. @type {Promise<unknown>} */
  #request = Promise.resolve();
  #requests = 0;
  /** @type {Api.PlayerList | null} */
  #players = null;

  /** @param {HTMLElement} main */
  constructor(main) {
    this.rules = rulesForm(
      { board: pref("watchBoard") ?? "4x4", goal: pref("watchGoal"), stop_at_goal: pref("watchStop") },
      { onchange: () => this.remember(), goalOnly: true },
    );
    this.seeds = select(
      [
        ["one", t("the same for all")],
        ["many", t("one for each")],
      ],
      pref("watchSeeds") ?? "one",
      (value) => setPref("watchSeeds", value),
      { name: "seeds" },
    );
    this.playerList = playerList(pref("watchPlayers") ?? [], {
      most: MOST,
      board: () => this.rules.value().board,
      onchange: (specs) => setPref("watchPlayers", specs),
    });
    this.seed = h("input", { type: "number", min: 0, placeholder: t("random"), name: "seed" });
    this.boards = h("div.boards");
    this.error = h("p.error", { role: "alert" });
    this.words = h("span", {}, t("Play"));
    this.playButton = button(this.words, () => this.toggle(), { key: "Enter", disabled: true });
    this.stepButton = button(t("Step"), () => this.step(), { key: "→", disabled: true });
    this.speed = speedControl(() => this.#isRunning && this.run(true));
    main.append(
      h("h1", {}, t("Watch")),
      h(
        "section.panel",
        {},
        h("h2", {}, t("Players"), " ", h("small", {}, t("one to nine boards"))),
        this.playerList.element,
        h(
          "div.row.modes",
          { role: "group", "aria-label": t("Add expectimax") },
          h("span.quiet.small", {}, t("Add expectimax")),
          MODES.map(([spec, name, title]) => button(name, () => this.add(spec), { slim: true, title })),
        ),
        h("div.fields.watch-fields", {}, this.rules.element, field(t("Seed"), this.seed), field(t("Seeds"), this.seeds)),
        this.error,
        h(
          "div.row",
          {},
          button(t("Start"), () => this.start(), { main: true }),
          this.playButton,
          this.stepButton,
          h("div.grow", {}, this.speed.element),
        ),
      ),
      this.boards,
    );
    this.boards.append(h("section.panel", {}, emptyState(t("Every player gets a board here, and plays on the same tiles."), t("Watch them play"), () => this.start())));
    stream.on(
      "game",
      (change) => this.#seats.find(({ game }) => game.id === change.state.id)?.game.receive(change),
      this.#ending.signal,
    );
    stream.on(
      "deleted",
      (id) => this.#seats.find(({ game }) => game.id === id)?.game.receiveDeleted(id),
      this.#ending.signal,
    );
    stream.watch([]);
  }

  /** Keep the rules for the next visit. */
  remember() {
    const { board, goal, stop_at_goal } = this.rules.value();
    setPref("watchBoard", board);
    setPref("watchGoal", goal ?? 2048);
    setPref("watchStop", stop_at_goal ?? false);
  }

  /** Propose four players in a browser that has not chosen any yet. */
  async fillPlayers() {
    if (pref("watchPlayers")) return;
    const players = await attempt(() => playersOf(this.rules.value().board));
    const fitting = players?.presets.filter(({ fits }) => fits) ?? [];
    if (players) this.playerList.set(fitting.slice(0, 4).map(({ spec }) => spec));
  }

  /** @param {string} spec */
  add(spec) {
    const specs = this.playerList.value();
    if (specs.length < MOST) this.playerList.set([...specs, spec]);
    else this.error.textContent = t("Remove a player first: {n} is the most.", { n: MOST });
  }

  /** Show the boards of the last visit again, as they are now. */
  async comeBack() {
    const before = pref("watchGames") ?? [];
    if (!before.length) return;
    this.#players = await playersOf(this.rules.value().board);
    const games = await Promise.allSettled(before.map(({ id }) => get("/api/games/{game}", { path: { game: id } })));
    const found = games.map((made, i) => made.status === "fulfilled" && this.seat(before[i].player, made.value));
    this.show(found.filter((seat) => seat !== false));
    this.#isRunning = this.#seats.some(({ game }) => game.isRunning);
    this.draw();
  }

  /** Go on after the server was away: the boards are loaded again. */
  reconnect() {
    attempt(() => this.comeBack());
  }

  /** @param {Seat[]} seats */
  show(seats) {
    this.#seats = seats;
    if (!seats.length) return;
    this.boards.className = `boards n${seats.length}`;
    this.boards.replaceChildren(...seats.map(({ element }) => element));
    this.playButton.disabled = this.stepButton.disabled = false;
    stream.watch(seats.map(({ game }) => game.id));
    setPref("watchGames", seats.map(({ player, game }) => ({ player, id: game.id })));
  }

  /** Start a new game for every player. */
  async start() {
    await this.run(false);
    this.error.textContent = "";
    const specs = this.playerList.value();
    if (!specs.length) return void (this.error.textContent = t("Add at least one player."));
    const rules = this.rules.value();
    const isOne = this.seeds.value === "one";
    let seed = this.seed.value === "" ? null : Number(this.seed.value);
    /** @type {Seat[]} */
    const started = [];
    try {
      this.#players = await playersOf(rules.board);
      for (const [i, player] of specs.entries()) {
        const made = await post("/api/games", { body: { rules, seed: seed === null || isOne ? seed : seed + i, player } });
        if (isOne && seed === null) seed = made.state.seed;
        started.push(this.seat(player, made));
      }
    } catch (error) {
      this.error.textContent = capital(messageOf(error));
      return;
    }
    this.show(started);
    reveal(this.boards);
    // Enter now pauses, and does not start once more.
    if (!isPointing()) this.playButton.focus();
    await this.run(true);
  }

  /**
   * @param {string} player
   * @param {Api.GameData} made
   * @returns {Seat}
   */
  seat(player, made) {
    const label = labelOf(player, this.#players);
    const board = h("lab-board", { quiet: true, name: t("Board of {player}", { player: label }) });
    const game = new Game(board);
    const facts = h("p.facts");
    const note = new MoveNote({ isBrief: true });
    const element = h(
      "article.panel.seat-board",
      { "aria-label": label },
      h("h2", { title: player }, label),
      board,
      facts,
      note.element,
      h(
        "div.row.spread",
        {},
        h("span.small.quiet", {}, t("seed {seed}", { seed: String(made.state.seed) })),
        h("a.small", { href: `#/play?game=${made.state.id}`, onclick: (event) => this.takeOver(event, player, game) }, t("Take over")),
      ),
    );
    const draw = () => {
      const { state } = game;
      facts.textContent = [
        number(state.score),
        tn(state.n_moves, "{n} move", "{n} moves"),
        String(state.highest),
        game.isDeleted ? t("deleted") : state.over ? t("over") : "",
      ]
        .filter(Boolean)
        .join(" · ");
      element.classList.toggle("done", game.isEnded);
      board.classList.toggle("over", game.isEnded);
      note.show(state.id, state.n_moves, state.mover);
      this.watchEnd();
    };
    game.on("change", draw);
    game.on("failure", ({ error }) => complain(error));
    game.take(made);
    return { player, game, element };
  }

  /**
   * Open a game on Play; whoever takes it over makes the next move.
   * @param {MouseEvent} event
   * @param {string} player
   * @param {Game} game
   */
  async takeOver(event, player, game) {
    if (!game.isRunning || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    await attempt(() => game.autoplay(player, pref("speed"), false));
    location.hash = writeAddress("play", [], { game: game.id });
  }

  watchEnd() {
    const unfinished = this.#seats.filter(({ game }) => !game.isEnded);
    if (!this.#seats.length || unfinished.length) return;
    this.#isRunning = false;
    this.draw();
  }

  draw() {
    this.words.textContent = this.#isRunning ? t("Pause") : t("Play");
  }

  /** @param {boolean} isRunning */
  async run(isRunning) {
    if (!this.#seats.length) return;
    this.#isRunning = isRunning;
    this.draw();
    const unfinished = this.#seats.filter(({ game }) => !game.isEnded);
    const turn = ++this.#requests;
    const send = () =>
      Promise.all(
        unfinished.map(({ player, game }) =>
          // A request that waits for kernels is dropped when there is a newer one.
          retryUntilReady({ player }, async () => turn === this.#requests && game.autoplay(player, pref("speed"), isRunning)),
        ),
      );
    this.#request = this.#request.then(() => attempt(send));
    await this.#request;
  }

  toggle() {
    this.run(!this.#isRunning);
  }

  async step() {
    if (this.#isRunning) await this.run(false);
    for (const { player, game } of this.#seats) if (!game.isEnded) game.step(player);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const wish = seeking(event);
    if (!wish || !this.#seats.length) return false;
    if (wish.command === "auto") this.toggle();
    else if (wish.command === "slower") this.speed.shift(-1);
    else if (wish.command === "faster") this.speed.shift(1);
    else if (wish.seek === 1) this.step();
    else return false;
    return true;
  }

  close() {
    this.#ending.abort();
    const playing = this.#seats.filter(({ game }) => game.isRunning && !game.isEnded);
    if (!playing.length) return;
    stream.keep(playing.map(({ game }) => game.id));
    toast(
      tn(playing.length, "{n} player on Watch goes on playing", "{n} players on Watch go on playing"),
      t("Pause"),
      () => this.run(false),
    );
  }
}
