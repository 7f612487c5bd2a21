// Practise one formation: make moves, see the exact success rate of each, and meet your mistakes again.

import { post } from "../api.js";
import "../board.js";
import { Directions } from "../directions.js";
import { attempt, button, commandLine, copy, field, h, segments } from "../dom.js";
import { pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { chances, number, percent } from "../pure/format.js";
import { meaning } from "../pure/keys.js";
import { capital } from "../pure/words.js";
import { WORDS } from "../review/grades.js";
import { figure, valueRows } from "../review/values.js";
import { t, tn, told } from "../text.js";

/** @type {[Api.PracticeDraw["difficulty"] & string, string][]} */
const LEVELS = [
  ["start", t("Start")],
  ["easy", t("Easy")],
  ["medium", t("Medium")],
  ["hard", t("Hard")],
];
const STEP = 10; // per cent of the slider that a key moves

export class Drill {
  hasGameKeys = true;
  /** @type {Api.PracticePosition | null} */
  #position = null;
  /** @type {Api.PracticePosition[]} */
  #past = []; // positions that can be taken back
  /** @type {Api.PracticeMade[]} */
  #made = []; // what came of the moves after them
  #isBusy = false;
  /** @type {number | null} */
  #wanted = null; // the move that was made while another one was on its way
  #visit = 0; // counts positions, so that a late answer is dropped

  /**
   * @param {HTMLElement} main
   * @param {Api.FormationData} formation
   * @param {string | null} position to begin with
   */
  constructor(main, formation, position) {
    this.formation = formation;
    this.board = h("lab-board", { name: formation.name });
    this.board.addEventListener("swipe", (event) => this.make(/** @type {CustomEvent<number>} */ (event).detail));
    this.directions = new Directions(this.board, (move) => this.make(move), h("div", { hidden: true }));
    this.directions.setShape(formation.shape);
    this.board.shape = formation.shape;
    this.board.markGoals(formation.goal_cells);
    this.words = h("p.facts.practice-words", { role: "status" });
    this.nextButton = button(t("Next position"), () => this.next(), { main: true, key: "N" });
    this.backButton = button(t("Take back"), () => this.takeBack(), { disabled: true, key: "U" });
    this.linkButton = button(t("Copy link"), () => this.share(), { slim: true });
    this.values = h("div.review-values");
    this.figures = h("div.review-figures");
    this.notes = h("p.small.quiet");
    this.command = commandLine();
    this.slider = h("input", { type: "range", min: 0, max: 100, step: 5, value: String(pref("practiceWorst")), "aria-label": t("Spawner") });
    this.slider.addEventListener("input", () => this.setWorst(Number(this.slider.value)));
    this.spawner = h("output", { className: "quiet small" });
    this.levels = segments(t("Difficulty"), LEVELS, pref("practiceLevel"), (level) => {
      setPref("practiceLevel", level);
      this.next();
    });
    this.mistakes = h("input", { type: "checkbox", checked: pref("practiceMistakes") });
    this.mistakes.addEventListener("change", () => setPref("practiceMistakes", this.mistakes.checked));
    main.append(
      h("h1", {}, t("Practice"), " ", h("small", {}, formation.name)),
      h(
        "div.two.review",
        {},
        h(
          "div.left-col",
          {},
          h("p.small.quiet.center", {}, this.task()),
          this.directions.element,
          this.words,
          h("div.row", {}, this.nextButton, this.backButton),
        ),
        h(
          "aside",
          {},
          h("section.panel", {}, h("h2", {}, t("Success rates")), this.values, this.command, h("div.row", {}, this.linkButton)),
          h(
            "section.panel.stack",
            {},
            h("h2", {}, t("Your practice")),
            this.figures,
            this.notes,
            field(t("Positions"), this.levels),
            h("div.speed", {}, h("span.small.quiet", { "aria-hidden": "true" }, t("Spawner")), this.slider, this.spawner),
            h("label.check", {}, this.mistakes, " ", t("Mistakes return until you have solved them")),
            h("a.button.slim", { href: "#/practice" }, t("All formations")),
          ),
        ),
      ),
    );
    this.setWorst(pref("practiceWorst"));
    this.showFigures(formation.figures);
    this.first = position;
  }

  task() {
    const { goal, goal_cells: cells, shape } = this.formation;
    const places = cells.map((cell) => this.board.placeOf(cell)).join(", ");
    if (shape.free_rank) return t("Make {goal}. The large tiles never merge: those marked F move, those marked A do not.", { goal: String(goal) });
    return cells.length
      ? t("Make {goal} on a marked cell ({places}). The tiles marked A are large: they never move.", { goal: String(goal), places })
      : t("Make {goal}. The tiles marked A are large: they never move.", { goal: String(goal) });
  }

  async open() {
    const board = this.first;
    this.first = null;
    await this.next(board);
  }

  /** @param {string | null} [board] a given position, instead of a random one */
  async next(board = null) {
    const visit = ++this.#visit;
    const body = { difficulty: pref("practiceLevel"), mistakes: pref("practiceMistakes"), board };
    const found = await attempt(() => post("/api/practice/{formation}/position", { path: { formation: this.formation.name }, body }));
    if (!found || visit !== this.#visit) return;
    this.#past = [];
    this.#made = [];
    this.values.replaceChildren(h("p.small.quiet", {}, t("They appear when you have moved.")));
    this.show(found);
    const words = found.puzzle ? t("From your notebook: find a good move.") : t("Your move.");
    this.tell(found.legal.length ? words : t("This position is over: no move is left."));
  }

  /** @param {Api.PracticePosition} position */
  show(position) {
    this.#position = position;
    this.board.show(position.ranks);
    this.offer(position);
  }

  /** @param {Api.PracticePosition} position */
  offer(position) {
    this.directions.show(null, position.legal, "off");
    this.backButton.disabled = !this.#past.length;
    this.command.set(position.command);
    const address = writeAddress("practice", [this.formation.name], { position: position.board });
    history.replaceState(null, "", address);
  }

  /** @param {number} move */
  async make(move) {
    const position = this.#position;
    if (this.#isBusy) this.#wanted = move;
    if (!position || this.#isBusy || !position.legal.includes(move)) return;
    this.#isBusy = true;
    this.#wanted = null;
    const visit = this.#visit;
    this.board.slide(move);
    const made = await attempt(() =>
      post("/api/practice/{formation}/move", {
        path: { formation: this.formation.name },
        body: { board: position.board, move, worst: pref("practiceWorst") / 100, puzzle: position.puzzle },
      }),
    );
    this.#isBusy = false;
    if (visit !== this.#visit) return;
    if (!made) return this.board.show(position.ranks);
    this.#past.push({ ...position, puzzle: null }); // when it is taken back, it has been answered
    this.#made.push(made);
    this.#position = made.position;
    if (made.spawn) this.board.spawn(made.spawn.cell, made.spawn.rank);
    this.offer(made.position);
    this.showMade(made);
    this.showFigures(made.figures);
    // What was pressed before the rates of a mistake could be read is not meant.
    if (this.#wanted !== null && made.good) this.make(this.#wanted);
  }

  /** @param {Api.PracticeMade} made */
  showMade(made) {
    const { values, best, move, unit, outcome } = made;
    this.values.replaceChildren(...valueRows(this.formation.shape, values, unit, { made: move }));
    const chosen = values.find((each) => each.move === move) ?? values[0];
    const texts = chances([chosen.value, values[0].value]);
    const nameOf = (/** @type {number} */ each) => capital(told(this.formation.shape.moves[each].name));
    const grade = /** @type {import("../review/grades.js").Grade} */ (chosen.grade);
    const judged = made.good
      ? t("{move}: {value}, {grade}.", { move: nameOf(move), value: texts[0], grade: WORDS[grade] })
      : t("{move}: {value}, {grade}. {best} keeps {most}.", {
          move: nameOf(move),
          value: texts[0],
          grade: WORDS[grade],
          best: nameOf(best),
          most: texts[1],
        });
    const goal = String(this.formation.goal);
    const end = outcome && {
      won: t("You made {goal}!", { goal }),
      lost: t("No move is left that keeps the large tiles."),
      misplaced: t("{goal} was made on a cell where it does not count.", { goal }),
    }[outcome];
    this.tell([judged, end].filter(Boolean).join(" "), made.good ? "" : "bad");
    if (outcome) this.nextButton.focus();
  }

  takeBack() {
    const position = this.#past.pop();
    const made = this.#made.pop();
    if (!position || !made || this.#isBusy) return;
    this.show(position);
    this.board.point(made.best);
    this.tell(t("The arrow shows the best move."));
  }

  /**
   * @param {string} text
   * @param {string} [kind]
   */
  tell(text, kind = "") {
    this.words.textContent = text;
    this.words.classList.toggle("bad", kind === "bad");
  }

  /** @param {Api.PracticeFiguresData} figures */
  showFigures({ n_moves: n, n_good: good, n_ended: ended, n_won: won, streak, best_streak: most, n_mistakes: all, n_due: due }) {
    this.figures.replaceChildren(
      figure(number(streak), t("streak")),
      figure(number(most), t("longest")),
      figure(n ? percent(good / n) : "-", t("good moves")),
      figure(`${number(won)} / ${number(ended)}`, t("won")),
    );
    const notes = tn(all, "{n} mistake in your notebook", "{n} mistakes in your notebook");
    this.notes.textContent = all ? `${notes}, ${t("{n} due", { n: due })}` : t("Mistakes go into your notebook and return, like puzzles.");
  }

  /** @param {number} worst in per cent */
  setWorst(worst) {
    const value = Math.max(0, Math.min(100, worst));
    if (value !== pref("practiceWorst")) setPref("practiceWorst", value);
    this.slider.value = String(value);
    this.spawner.textContent =
      value === 0 ? t("fair") : value === 100 ? t("always the worst tile") : t("{n} of 100 tiles are the worst", { n: value });
    this.slider.setAttribute("aria-valuetext", this.spawner.textContent);
  }

  share() {
    copy(location.href);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const wish = meaning(event, this.formation.shape.moves);
    if (wish?.move !== undefined) {
      this.make(wish.move);
      return true;
    }
    const act = {
      undo: () => this.takeBack(),
      new: () => this.next(),
      slower: () => this.setWorst(pref("practiceWorst") - STEP),
      faster: () => this.setWorst(pref("practiceWorst") + STEP),
    }[wish?.command ?? ""];
    act?.();
    return Boolean(act);
  }

  close() {
    this.#visit += 1;
    this.#position = null;
  }
}
