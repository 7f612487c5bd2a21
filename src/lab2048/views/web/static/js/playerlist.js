// An editable list of players.

import { attempt, button, h } from "./dom.js";
import { choosePlayer } from "./playerdialog.js";
import { labelOf, playersOf } from "./players.js";
import { t } from "./text.js";

/** @typedef {ReturnType<typeof playerList>} PlayerListControl */

/**
 * `most` limits their number, `board` returns the board that they play on.
 * @param {string[]} specs
 * @param {{ most: number, board: () => string, onchange: (specs: string[]) => unknown }} options
 */
export function playerList(specs, { most, board, onchange }) {
  const element = h("div.row.seats");
  /** @type {Api.PlayerList | null} */
  let players = null;
  const set = (/** @type {string[]} */ next) => {
    specs = next;
    draw();
    onchange(specs);
  };
  function draw() {
    element.replaceChildren(
      ...specs.map((spec, i) =>
        h(
          "span.seat",
          { title: spec },
          h("span", {}, labelOf(spec, players)),
          h(
            "button.icon",
            {
              type: "button",
              "aria-label": t("Remove {player}", { player: labelOf(spec, players) }),
              onclick: () => set(specs.filter((_, j) => j !== i)),
            },
            "×",
          ),
        ),
      ),
      specs.length < most
        ? button(
            t("Add a player"),
            () => attempt(() => choosePlayer(board(), (spec) => set([...specs, spec]), t("Add a player"))),
            { slim: true },
          )
        : "",
    );
  }
  draw();
  playersOf(board()).then(
    (found) => {
      players = found;
      draw();
    },
    () => {},
  );
  return { element, set, value: () => specs };
}
