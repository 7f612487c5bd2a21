// Who moves: me, or a player, switched at any moment.

import { attempt, segments } from "./dom.js";
import { choosePlayer, labelOf } from "./players.js";
import { pref, setPref } from "./prefs.js";

export class Who {
  players = null; // who can play on the board, when the server has said so
  #game;

  constructor(game) {
    this.#game = game;
    this.element = segments(
      "Who moves",
      [
        ["me", "Me"],
        ["player", "Player"],
        ["choose", "Choose..."],
      ],
      "me",
      (which) => this.turnTo(which),
    );
  }

  /** Who plays when asked to: who was chosen, if that player fits this board. */
  get player() {
    const chosen = pref("player");
    const preset = this.players?.presets.find(({ spec }) => spec === chosen);
    // Networks and tables are for the board that they were made for; it lists them.
    const isForeign = preset ? preset.fits === false : /weights=|table=/.test(chosen ?? "") && this.players;
    return chosen && !isForeign ? chosen : (this.players?.default ?? null);
  }

  draw() {
    const { isRunning, state } = this.#game;
    this.element.choose(isRunning ? "player" : "me");
    const entry = this.element.children[1];
    const label = labelOf(isRunning ? state.auto.player : this.player, this.players);
    if (entry.textContent !== label) entry.textContent = label;
    entry.title = this.player ?? "";
    entry.disabled = !this.player;
  }

  turnTo(which) {
    if (which === "player") this.let(this.player);
    else if (which === "me" && this.#game.isRunning) this.run(false);
    else if (which === "choose") {
      this.draw();
      attempt(() => choosePlayer(this.#game.state.rules.board, (spec) => this.let(spec)));
    }
  }

  /** Let a player move from now on. */
  let(player) {
    setPref("player", player);
    this.run(true);
  }

  /** Let one of those move who are offered first, by its number. */
  letNumber(number) {
    const preset = this.players?.presets[number - 1];
    if (preset && preset.fits !== false && !preset.minor) this.let(preset.spec);
  }

  run(isRunning) {
    this.#game.auto(this.player, pref("speed"), isRunning);
  }
}
