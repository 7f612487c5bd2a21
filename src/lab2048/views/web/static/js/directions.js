// The buttons of the moves around a board, with bars that show the values of a hint.

import { h } from "./dom.js";
import { chances, scores, shorts } from "./pure/format.js";
import { capital } from "./pure/words.js";
import { t, told } from "./text.js";

const LOST = -1e300; // the server's number for the value of a lost game, where that is minus infinity

/**
 * The value of every move of a hint as text, by move, with enough digits to tell them apart.
 * @param {Api.HintData} hint
 * @param {{ isNarrow?: boolean }} [options]
 * @returns {Map<number, string>}
 */
export function valueTexts({ unit, values }, { isNarrow = false } = {}) {
  const finite = values.filter(({ value }) => value > LOST);
  const write = unit === "chance" ? chances : isNarrow ? shorts : scores;
  const texts = write(finite.map(({ value }) => value));
  const found = new Map(values.map(({ move }) => [move, t("lost")]));
  finite.forEach(({ move }, i) => found.set(move, texts[i]));
  return found;
}

/**
 * The length of the bar of each move, 0 to 1.  Lengths are true to the values: a chance of one half is half a bar, and a move
 * that keeps nine tenths of the best score has nine tenths of its bar.  Values of a heuristic have no zero, so their bars
 * shrink with the loss in units of the best value.
 * @param {Pick<Api.HintData, "unit" | "values">} hint
 * @returns {Map<number, number>}
 */
export function shares({ unit, values }) {
  const known = values.filter(({ value }) => value > LOST);
  const best = Math.max(0, ...known.map(({ value }) => value));
  return new Map(
    values.map(({ move, value }) => {
      if (value <= LOST) return [move, 0];
      const share = unit === "chance" ? value : best > 0 ? value / best : Number(value === Math.max(...known.map((each) => each.value)));
      return [move, Math.min(1, Math.max(0, share))];
    }),
  );
}

export class Directions {
  element = h("div.stage");
  /** @type {{ name: string, button: HTMLButtonElement, value: HTMLElement }[]} */
  #buttons = []; // by move
  #board;
  #onmove;
  #over;

  /**
   * @param {import("./board.js").LabBoard} board
   * @param {(move: number) => unknown} onmove
   * @param {HTMLElement} over what is shown over the board
   */
  constructor(board, onmove, over) {
    this.#board = board;
    this.#onmove = onmove;
    this.#over = over;
  }

  /**
   * Make the buttons of a shape; each is on the side of the board that it points to.
   * @param {Api.ShapeData} shape
   */
  setShape(shape) {
    const sides = shape.moves.map(
      ({ dx, dy }) => (dy < -0.1 ? "n" : dy > 0.1 ? "s" : "") + (dx < -0.1 ? "w" : dx > 0.1 ? "e" : ""),
    );
    this.#buttons = shape.moves.map(({ name }, move) => {
      const value = h("span");
      const button = h(
        `button.dir.${sides[move]}`,
        { type: "button", "aria-label": capital(told(name)), onclick: () => this.#onmove(move) },
        value,
        h("i"),
        h("em"),
      );
      return { name: capital(told(name)), button, value };
    });
    this.element.className = "stage";
    this.element.classList.toggle("corners", sides.includes("nw"));
    this.element.classList.toggle("sides", sides.includes("w"));
    this.element.replaceChildren(...this.#buttons.map(({ button }) => button), this.#board, this.#over);
    this.show(null, [], "off");
  }

  /**
   * @param {Api.HintData | null} hint
   * @param {number[]} legal
   * @param {import("./prefs.js").HintMode} mode
   */
  show(hint, legal, mode) {
    const detailed = mode === "all" ? hint : null;
    const share = shares(detailed ?? { unit: "", values: [] });
    const texts = detailed ? valueTexts(detailed, { isNarrow: true }) : new Map();
    const best = mode === "off" ? null : (hint?.move ?? null);
    this.#buttons.forEach(({ name, button, value }, move) => {
      const text = texts.get(move) ?? "";
      const isLegal = legal.includes(move);
      button.classList.toggle("best", move === best);
      button.classList.toggle("can", isLegal);
      button.style.setProperty("--share", String(share.get(move) ?? 0));
      value.textContent = text;
      const words = [name];
      if (move === best) words.push(t("best"));
      if (text) words.push(t("worth {value}", { value: text }));
      if (legal.length && !isLegal) words.push(t("not possible"));
      button.setAttribute("aria-label", words.join(", "));
    });
    this.#board.point(best);
  }
}
