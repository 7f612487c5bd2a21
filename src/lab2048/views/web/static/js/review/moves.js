// The annotated moves of a game; only the rows in view are in the document, because there may be 20,000.

import { h, select } from "../dom.js";
import { number } from "../pure/format.js";
import { capital } from "../pure/words.js";
import { t, told } from "../text.js";
import { amount, BY_LETTER, FAULTS, SIGNS, signed, WORDS } from "./grades.js";

const ROW = 30; // px
const SPARE = 6; // rows above and below the view

export class ReviewMoves {
  /** @type {Api.ReviewData | null} */
  #review = null;
  /** @type {number[]} */
  #rows = []; // indexes of the moves that are listed
  #at = 0;
  #turns;
  #names;
  #seek;
  #body = h("div.review-rows");
  #view = h("div.review-moves", { tabIndex: 0, role: "list", "aria-label": t("Moves"), onscroll: () => this.#draw() }, this.#body);
  #filter = select(
    [
      ["all", t("All moves")],
      ["faults", t("Inaccuracies, mistakes and blunders")],
      ["blunder", t("Blunders")],
      ["unclear", t("Unclear moves")],
    ],
    "all",
    () => this.#choose(),
    { className: "plain", "aria-label": t("Which moves") },
  );
  #head = h(
    "div.review-row.review-head",
    { "aria-hidden": "true" }, // a reader hears the grade and the figures with every move
    [h("span"), h("span", {}, t("Move")), h("span", {}, t("Grade")), h("span.figure", {}, t("Loss")), h("span.figure", {}, t("Luck"))],
  );
  element = h("section.panel", {}, h("h2", {}, t("Moves")), this.#filter, this.#head, this.#view);

  /**
   * @param {Api.TurnData[]} turns
   * @param {{ name: string, glyph: string }[]} names of the moves of the shape
   * @param {(at: number) => unknown} seek to the position before a move
   */
  constructor(turns, names, seek) {
    this.#turns = turns;
    this.#names = names;
    this.#seek = seek;
    this.#choose();
    new ResizeObserver(() => this.#draw()).observe(this.#view);
  }

  /** @param {Api.ReviewData} review */
  show(review) {
    this.#review = review;
    this.#choose();
  }

  #choose() {
    const wish = this.#filter.value;
    const letters = this.#review?.grade_letters ?? "";
    this.#rows = [];
    for (let i = 0; i < this.#turns.length; i += 1) {
      const grade = BY_LETTER[letters[i]];
      if (wish === "all" || grade === wish || (wish === "faults" && FAULTS.includes(grade))) this.#rows.push(i);
    }
    this.#body.style.height = `${ROW * this.#rows.length}px`;
    this.#draw();
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.#view.scrollTop / ROW) - SPARE);
    const last = Math.min(this.#rows.length, Math.ceil((this.#view.scrollTop + this.#view.clientHeight) / ROW) + SPARE);
    const made = [];
    for (let k = first; k < last; k += 1) made.push(this.#row(this.#rows[k], k));
    this.#body.replaceChildren(...(made.length ? made : [h("p.quiet.small", {}, t("None."))]));
  }

  /**
   * @param {number} i
   * @param {number} k its row
   */
  #row(i, k) {
    const { move } = this.#turns[i];
    const review = this.#review;
    const grade = review ? BY_LETTER[review.grade_letters[i]] : undefined;
    const { name, glyph } = this.#names[move];
    const row = h(
      "button.review-row",
      { type: "button", role: "listitem", onclick: () => this.#seek(i), "aria-current": i === this.#at ? "true" : null },
      h("span.quiet", {}, number(i + 1)),
      h("span", {}, `${glyph} ${capital(told(name))}`),
      grade
        ? h(/** @type {"span"} */ (`span.grade.${grade}`), {}, SIGNS[grade] ? h("b", {}, SIGNS[grade]) : null, WORDS[grade])
        : h("span"),
      h("span.figure", {}, review && review.losses[i] > 0 ? `−${amount(review.losses[i], review.unit)}` : ""),
      h("span.figure.quiet", { title: t("Luck of the spawn") }, review && i < review.lucks.length ? signed(review.lucks[i], review.unit) : ""),
    );
    row.style.top = `${ROW * k}px`;
    return row;
  }

  /**
   * Show where the replay is, and scroll there.
   * @param {number} at
   */
  mark(at) {
    this.#at = at;
    const k = this.#rows.findIndex((i) => i >= at);
    if (k >= 0) {
      const top = ROW * k;
      const { scrollTop, clientHeight } = this.#view;
      if (top < scrollTop || top > scrollTop + clientHeight - ROW) this.#view.scrollTop = Math.max(0, top - clientHeight / 2);
    }
    this.#draw();
  }
}
