// A list of players that is added to and taken from.

import { attempt, button, h } from "./dom.js";
import { choosePlayer, labelOf, playersOf } from "./players.js";

/** `board()` says on which board they are to play; `onchange` gets the specs. */
export function seats(specs, { most, board, onchange }) {
  const element = h("div.row.seats");
  let players = null;
  const set = (next) => {
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
              "aria-label": `Remove ${labelOf(spec, players)}`,
              onclick: () => set(specs.filter((_, j) => j !== i)),
            },
            "×",
          ),
        ),
      ),
      specs.length < most
        ? button(
            "Add a player",
            () => attempt(() => choosePlayer(board(), (spec) => set([...specs, spec]), "Add a player")),
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
