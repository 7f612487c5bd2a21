// The switch between the person and a player.

import { attempt, segments } from "./dom.js";
import { labelOf, MODES } from "./players.js";
import { pref, setPref } from "./prefs.js";
import { t } from "./text.js";

export class PlayerSwitch {
  /** @type {Api.PlayerList | null} */
  players = null; // of this board, once the server has answered
  #game;

  /** @param {import("./game.js").Game} game */
  constructor(game) {
    this.#game = game;
    this.element = segments(
      t("Who moves"),
      /** @type {["me" | "player" | "choose", string][]} */ ([
        ["me", t("Me")],
        ["player", t("Player")],
        ["choose", t("Choose...")],
      ]),
      "me",
      (which) => this.#choose(which),
    );
    this.modes = segments(
      t("Expectimax plays"),
      MODES.map(([spec, name]) => [spec, name]),
      "",
      (spec) => this.start(spec),
    );
    this.modes.buttons.forEach((each, i) => (each.title = MODES[i][2]));
  }

  /** The spec of the player: the one chosen last if it fits this board, else the default player. */
  get player() {
    const chosen = pref("player");
    const preset = this.players?.presets.find(({ spec }) => spec === chosen);
    // Networks and tables fit only their own board, whose presets include them; the champion is the default of its own.
    const isOwn = /weights=|table=/.test(chosen ?? "");
    const isChampion = /^ntuple\b/.test(chosen ?? "") && this.players?.default !== "ntuple";
    const isForeign = preset ? !preset.fits : (isOwn || isChampion) && this.players;
    return chosen && !isForeign ? chosen : (this.players?.default ?? null);
  }

  /** Who gives hints: the player, or the default one in place of a player that cannot tell good moves from bad ones. */
  get adviser() {
    const isBlind = /^(random|first)\b/.test(this.player ?? "");
    return isBlind && this.players ? this.players.default : this.player;
  }

  draw() {
    const { isRunning, state } = this.#game;
    this.element.choose(isRunning ? "player" : "me");
    const entry = this.element.buttons[1];
    const label = labelOf(isRunning && state.auto ? state.auto.player : this.player, this.players);
    if (entry.textContent !== label) entry.textContent = label;
    entry.title = this.player ?? "";
    entry.disabled = !this.player;
    this.modes.choose(isRunning && state.auto ? state.auto.player : "");
  }

  /** @param {"me" | "player" | "choose"} which */
  #choose(which) {
    if (which === "player") this.start(this.player);
    else if (which === "me" && this.#game.isRunning) this.#run(false);
    else if (which === "choose") {
      this.draw();
      attempt(async () => {
        // Loaded when it is first opened, so that the first board does not wait for it.
        const { choosePlayer } = await import("./playerdialog.js");
        await choosePlayer(this.#game.state.rules.board, (spec) => this.start(spec));
      });
    }
  }

  /** Let a player move from now on.  @param {string | null} player */
  start(player) {
    setPref("player", player);
    this.#run(true);
  }

  /**
   * Start the preset with this number, counted from 1.
   * @param {number} number
   */
  startPreset(number) {
    const preset = this.players?.presets[number - 1];
    if (preset?.fits && !preset.minor) this.start(preset.spec);
  }

  toggle() {
    this.#run(!this.#game.isRunning);
  }

  /** @param {boolean} isRunning */
  #run(isRunning) {
    this.#game.auto(this.player, pref("speed"), isRunning);
  }
}
