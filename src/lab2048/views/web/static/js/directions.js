// The moves around a board: buttons to make them, and bars that say what each is worth.

import { h } from "./dom.js";
import { chances, percent, short } from "./pure/format.js";
import { capital } from "./pure/words.js";

/** A value in the words of its unit. */
export function worth(value, unit) {
  return unit === "chance" ? percent(value) : short(value);
}

/** What every move of a hint is worth, by move: chances with the digits that tell them apart. */
export function worths({ unit, values }) {
  const texts =
    unit === "chance" ? chances(values.map(({ value }) => value)) : values.map(({ value }) => worth(value, unit));
  return new Map(values.map(({ move }, i) => [move, texts[i]]));
}

/** How long the bar of each move is, 0 to 1: the best is full, the worst a quarter. */
export function shares(values) {
  const most = Math.max(...values.map(({ loss }) => loss), 0);
  return new Map(values.map(({ move, loss }) => [move, most > 0 ? 1 - (0.75 * loss) / most : 1]));
}

/** What a bar says: the value, or what it is less than the best where both would read the same. */
function label({ move, loss }, { move: best, unit }, texts) {
  const text = texts.get(move);
  return move !== best && loss > 0 && text === texts.get(best) ? `-${worth(loss, unit)}` : text;
}

export class Directions {
  element = h("div.stage");
  #buttons = [];

  constructor(board, onmove) {
    this.board = board;
    this.onmove = onmove;
  }

  /** Buttons for the moves of a shape: where they stand follows from where they point. */
  setShape(shape) {
    const sides = shape.moves.map(
      ({ dx, dy }) => (dy < -0.1 ? "n" : dy > 0.1 ? "s" : "") + (dx < -0.1 ? "w" : dx > 0.1 ? "e" : ""),
    );
    this.#buttons = shape.moves.map(({ name }, move) => {
      const made = h(
        `button.dir.${sides[move]}`,
        { type: "button", "aria-label": capital(name), onclick: () => this.onmove(move) },
        h("span"),
        h("i"),
        h("em"),
      );
      made.name_ = capital(name);
      return made;
    });
    this.element.className = "stage";
    this.element.classList.toggle("corners", sides.includes("nw"));
    this.element.classList.toggle("sides", sides.includes("w"));
    this.element.replaceChildren(...this.#buttons, this.board);
    this.show(null, [], "off");
  }

  /** Show a hint as `mode` says: off, best or all. */
  show(hint, legal, mode) {
    const share = hint && mode === "all" ? shares(hint.values) : new Map();
    const texts = hint && mode === "all" ? worths(hint) : null;
    this.#buttons.forEach((made, move) => {
      const value = hint?.values.find((each) => each.move === move);
      const isBest = Boolean(hint) && mode !== "off" && hint.move === move;
      const text = texts && value ? label(value, hint, texts) : "";
      made.classList.toggle("best", isBest);
      made.classList.toggle("can", legal.includes(move));
      made.querySelector("span").textContent = text;
      made.style.setProperty("--share", String(share.get(move) ?? 0));
      const words = [made.name_];
      if (isBest) words.push("best");
      if (text) words.push(`worth ${text}`);
      if (legal.length && !legal.includes(move)) words.push("not possible");
      made.setAttribute("aria-label", words.join(", "));
    });
    this.board.point(hint && mode !== "off" ? hint.move : null);
  }
}
