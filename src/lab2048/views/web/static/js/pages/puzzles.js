// Puzzles: find the only good move.  What you got wrong returns.

import { get, post } from "../api.js";
import "../board.js";
import { attempt, button, emptyState, h } from "../dom.js";
import { number } from "../pure/format.js";
import { meaning } from "../pure/keys.js";
import { capital } from "../pure/words.js";
import { figure, valueRows } from "../review/values.js";
import { t, told } from "../text.js";

/** @type {PageModule["open"]} */
export async function open(main) {
  const page = new Puzzles(main);
  await page.next();
  return page;
}

class Puzzles {
  /** @type {Api.PuzzleData | null} */
  #puzzle = null;
  #isTried = false;

  /** @param {HTMLElement} main */
  constructor(main) {
    this.board = h("lab-board", { quiet: true, tabIndex: 0 });
    this.words = h("p.facts", { role: "status" });
    this.moves = h("div.row.puzzle-moves");
    this.values = h("div.review-values");
    this.figures = h("div.review-figures");
    this.more = button(t("Next puzzle"), () => this.next(), { main: true, hidden: true, key: "N" });
    this.source = h("p.quiet.small");
    this.rating = h("section.panel", {}, h("h2", {}, t("Your rating")), this.figures, this.source);
    this.answer = h("section.panel", { hidden: true }, h("h2", {}, t("Values")), this.values);
    this.empty = h("div", { hidden: true });
    main.append(
      h("h1", {}, t("Puzzles")),
      h(
        "div.two.review",
        {},
        h("div.left-col", {}, this.empty, this.board, this.words, this.moves, this.more),
        h(
          "aside",
          {},
          this.rating,
          this.answer,
          h(
            "section.panel",
            {},
            h("h2", {}, t("Where puzzles come from")),
            h("p.small.quiet", {}, t("From mistakes in reviewed games with only one good move: open a game, and choose Make puzzles. And from your mistakes in practice. What you got wrong returns after a minute, what you solved after 1, 3, 7 and 21 days.")),
            h("div.row", {}, h("a.button", { href: "#/games" }, t("All games")), h("a.button", { href: "#/practice" }, t("Practice"))),
          ),
        ),
      ),
    );
  }

  async next() {
    const answer = await attempt(() => get("/api/puzzles/next"));
    if (!answer) return;
    this.#puzzle = answer.puzzle;
    this.#isTried = false;
    this.more.hidden = true;
    this.values.replaceChildren();
    this.answer.hidden = true;
    this.showProgress(answer.progress);
    const puzzle = answer.puzzle;
    this.board.hidden = !puzzle;
    if (!puzzle) {
      const hasSome = answer.progress.n_puzzles > 0;
      this.rating.hidden = !hasSome;
      this.empty.hidden = false;
      this.empty.replaceChildren(
        hasSome
          ? emptyState(t("Nothing is due now. Puzzles that you got wrong come back after a while."), t("Practice"), () => (location.hash = "#/practice"))
          : emptyState(t("There are no puzzles yet: review a game, and choose Make puzzles."), t("Choose a game"), () => (location.hash = "#/games")),
      );
      this.words.textContent = "";
      this.moves.replaceChildren();
      this.source.textContent = "";
      return;
    }
    this.empty.hidden = true;
    this.rating.hidden = false;
    this.board.shape = puzzle.shape;
    this.board.show(puzzle.ranks);
    this.board.point(null);
    this.words.textContent = t("Find the good move.");
    this.source.textContent = t("Puzzle {id}, rating {rating}", { id: String(puzzle.id), rating: number(puzzle.rating) });
    this.moves.replaceChildren(
      ...puzzle.legal.map((move) =>
        button(`${puzzle.shape.moves[move].glyph} ${capital(told(puzzle.shape.moves[move].name))}`, () => this.try(move)),
      ),
    );
  }

  /** @param {number} move */
  async try(move) {
    const puzzle = this.#puzzle;
    if (!puzzle || this.#isTried || !puzzle.legal.includes(move)) return;
    this.#isTried = true;
    const answer = await attempt(() => post("/api/puzzles/{puzzle}", { path: { puzzle: puzzle.id }, body: { move } }));
    if (!answer) {
      this.#isTried = false;
      return;
    }
    const nameOf = (/** @type {number} */ each) => told(puzzle.shape.moves[each].name);
    this.words.textContent = answer.right
      ? t("Correct: {move}.", { move: nameOf(answer.best) })
      : t("Wrong: {best} is the best move.", { best: nameOf(answer.best) });
    this.source.textContent = t("{source}: {move} was played", { source: puzzle.source, move: nameOf(answer.made) });
    this.board.point(answer.best);
    this.values.replaceChildren(...valueRows(puzzle.shape, answer.values, answer.unit, { made: move }));
    this.answer.hidden = false;
    this.showProgress(answer.progress);
    this.more.hidden = false;
    this.more.focus();
  }

  /** @param {Api.ProgressData} progress */
  showProgress({ rating, n_attempts: n, n_right: right, n_due: due, n_puzzles: all }) {
    this.figures.replaceChildren(
      figure(number(Math.round(rating)), t("rating")),
      figure(`${number(right)} / ${number(n)}`, t("solved")),
      figure(`${number(due)} / ${number(all)}`, t("due")),
    );
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key.toLowerCase() === "n" && !this.more.hidden) {
      this.next();
      return true;
    }
    const wish = meaning(event, this.#puzzle?.shape.moves ?? []);
    if (wish?.move === undefined) return false;
    this.try(wish.move);
    return true;
  }

  close() {
    this.#puzzle = null;
  }
}
