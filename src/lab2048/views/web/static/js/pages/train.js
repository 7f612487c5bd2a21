// Train: networks that learn by playing; start, follow, pause and resume trainings, and play with the result.

import { address, get, post, remove } from "../api.js";
import { charts } from "../chart.js";
import { CheckpointList } from "../checkpoints.js";
import { damagedList } from "../damaged.js";
import { jobLine } from "../joblist.js";
import { attempt, button, commandLine, emptyState, h, missing, reveal, table } from "../dom.js";
import { playersOf } from "../players.js";
import { setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { bytes, date, number } from "../pure/format.js";
import { isBusy } from "../pure/job.js";
import { boardWords } from "../pure/words.js";
import { stream } from "../stream.js";
import { TrainForm } from "../trainform.js";
import { offerRestore, trashLine } from "../undo.js";
import { t, tn } from "../text.js";

/** @type {[string, string][]} */
const CHARTS = [
  ["score", t("Mean score")],
  ["tiles", t("Rates of tiles")],
  ["learning", t("Learning")],
];
const REFRESH = 1500; // ms between updates of a training that runs

/**
 * What is known of a training; one that has only started has a job and no network yet.
 * @typedef {Partial<Api.TrainingData> & { name: string, board: string, changed: string, method: string }} Training
 */

/** @type {PageModule["open"]} */
export async function open(main, { rest }) {
  const page = new Train(main);
  await page.form.load();
  await page.load(rest[0] ?? null);
  return page;
}

/**
 * The request of a training's job.
 * @param {Api.JobData} job
 */
function requestOf(job) {
  return /** @type {Partial<Api.TrainingBody>} */ (job.request);
}

class Train {
  #ending = new AbortController();
  /** @type {Training | null} */
  #chosen = null;
  #timer = 0;
  /** @type {Training[]} */
  #trainings = [];
  /** @type {Api.DamagedData[]} */
  #damaged = [];
  /** @type {string | null} */
  #wanted = null;
  /** @type {import("../joblist.js").JobLine | null} */
  #line = null;
  /** @type {import("../chart.js").Charts | null} */
  #figures = null;
  /** @type {CheckpointList | null} */
  #checkpoints = null;
  /** @type {HTMLButtonElement | null} */
  #deleteButton = null;

  /** @param {HTMLElement} main */
  constructor(main) {
    this.form = new TrainForm({
      unusedName: (board) => this.unusedName(board),
      onstart: (request, control) => this.start(request, control, this.form.error),
    });
    this.list = h("div");
    this.trash = trashLine();
    this.detail = h("section.panel", { hidden: true, "aria-label": t("The training") });
    main.append(
      h("h1", {}, t("Train")),
      h(
        "div.two.wide",
        {},
        h("div", {}, this.detail, h("section.panel", {}, h("h2", {}, t("Trainings")), this.list)),
        h("aside", { "aria-label": t("New training") }, this.form.element),
      ),
    );
    stream.on("jobs", (job) => job === null && this.load(), this.#ending.signal); // the list has arrived
    stream.on("job", (job) => job.kind === "train" && this.onJob(job), this.#ending.signal);
  }

  /**
   * A name that no training has yet: the board and a number.
   * @param {string} board
   */
  unusedName(board) {
    const stem = /^[a-z0-9][a-z0-9_-]{0,30}$/.test(board) ? board : "map";
    const taken = new Set(this.#trainings.map(({ name }) => name));
    for (const job of stream.jobs.values()) if (job.kind === "train") taken.add(String(requestOf(job).name));
    let n = 1;
    while (taken.has(`${stem}-${n}`)) n += 1;
    return `${stem}-${n}`;
  }

  /**
   * @param {Api.TrainingBody} body
   * @param {HTMLElement} control
   * @param {HTMLElement | null} [line] that shows an error
   */
  async start(body, control, line = null) {
    const job = await attempt(() => post("/api/trainings", { body }), control, line);
    if (!job) return;
    stream.addJob(job);
    await this.load(body.name);
    reveal(this.detail);
  }

  /** Start a small training, for people who have none yet. */
  begin() {
    const name = this.unusedName("3x3");
    this.start({ name, method: "ntuple", network: "rows", minutes: 1, rules: { board: "3x3" }, options: {} }, this.list);
  }

  /** @param {Training} training */
  jobOf(training) {
    return (
      stream.jobs.get(training.job ?? "") ??
      [...stream.jobs.values()].find((job) => job.kind === "train" && requestOf(job).name === training.name) ??
      null
    );
  }

  /**
   * Show all trainings, and one of them by its name or the id of its job.
   * @param {string | null} [which]
   */
  async load(which = null) {
    const answer = await attempt(() => get("/api/trainings"));
    if (!answer) return;
    this.#trainings = answer.trainings;
    this.#damaged = answer.damaged;
    const names = new Set(answer.trainings.map(({ name }) => name));
    // A training that has only started has no file yet, nor has one that failed.  One that ended well was deleted.
    for (const job of stream.jobs.values()) {
      const { name, method = "-", rules } = requestOf(job);
      if (job.kind !== "train" || !name || names.has(name) || ["done", "cancelled"].includes(job.state)) continue;
      names.add(name);
      this.#trainings.push({ name, method, job: job.id, board: rules?.board ?? "4x4", changed: job.created });
    }
    this.drawList();
    if (which) this.#wanted = which;
    const wanted = which ?? this.#chosen?.name ?? this.#wanted;
    const found = wanted
      ? this.#trainings.find(({ name, job }) => name === wanted || job === wanted)
      : this.#trainings[0];
    if (found) return this.choose(found);
    if (!wanted || !stream.hasJobs) return; // it may be the name of a job that is not known yet
    this.detail.hidden = false;
    this.detail.replaceChildren(missing(t("There is no training {name}.", { name: wanted.slice(0, 40) }), ["#/train", t("All trainings")]));
  }

  drawList() {
    this.list.replaceChildren(
      this.#trainings.length
        ? table(
            t("Trainings"),
            [
              [t("Name"), (each) => h("a", { href: writeAddress("train", [each.name]) }, each.name)],
              [t("Board"), (each) => h("span.clip", { title: each.board }, boardWords(each.board))],
              [t("Method"), (each) => each.method],
              [t("Network"), (each) => h("span.clip", { title: each.network }, each.network || "-")],
              [t("Mean score"), (each) => (each.mean ? number(each.mean) : "-"), "n"],
              [t("Games"), (each) => (each.n_games ? number(each.n_games) : "-"), "n"],
              [t("Minutes"), (each) => (each.minutes ? each.minutes.toFixed(1) : "-"), "n"],
              [t("Size"), (each) => (each.bytes ? bytes(each.bytes) : "-"), "n"],
              [t("Changed"), (each) => date(each.changed)],
            ],
            this.#trainings,
          )
        : emptyState(
            t("None yet. A network learns by playing; on 3x3 a minute is enough to see its curve rise."),
            t("Train on 3x3 for a minute"),
            () => this.begin(),
          ),
      ...damagedList(this.#damaged, (name) => this.delete(name)),
      this.trash,
    );
    this.trash.refresh();
  }

  /** @param {Training} training */
  choose(training) {
    const { name, board, spec } = training;
    const job = this.jobOf(training);
    if (this.#chosen?.name !== name || !this.#figures || !this.#checkpoints) {
      this.#line = null;
      this.#figures = charts(t("Chart"), CHARTS, (id, chart) =>
        address("/api/trainings/{training}/charts/{chart}", { path: { training: id, chart } }),
      );
      this.#checkpoints = new CheckpointList(name, {
        play: (chosen) => this.play(chosen),
        match: (specs) => this.match(board, specs),
      });
    }
    this.#chosen = training;
    if (job && this.#line) this.#line.update(job);
    else this.#line = job && jobLine(job);
    this.#deleteButton = button(t("Delete"), () => this.delete(name), { hidden: !spec || (job && isBusy(job)) });
    const facts = [
      boardWords(board),
      training.n_weights ? tn(training.n_weights, "{n} weight", "{n} weights") : null,
      training.n_games ? tn(training.n_games, "{n} game", "{n} games") : t("not written yet"),
    ];
    this.detail.hidden = false;
    this.detail.replaceChildren(
      h("h2", {}, name, h("small", {}, facts.filter(Boolean).join(", "))),
      this.#line ?? "",
      this.#figures,
      h(
        "div.row.actions",
        {},
        button(t("Play with it"), () => spec && this.play(spec), { main: true, disabled: !spec }),
        button(t("Match it"), () => spec && this.match(board, [spec]), { disabled: !spec }),
        this.#deleteButton,
      ),
      this.#checkpoints.element,
      commandLine(job?.command),
    );
    this.#figures.show(name);
    this.#checkpoints.refresh();
  }

  /** @param {Api.JobData} job */
  onJob(job) {
    const chosen = this.#chosen;
    if (chosen && (chosen.job === job.id || chosen.name === requestOf(job).name)) {
      this.#line?.update(job);
      if (this.#deleteButton) this.#deleteButton.hidden = !chosen.spec || isBusy(job);
    }
    if (!isBusy(job)) {
      clearTimeout(this.#timer);
      this.#timer = 0;
      return void this.load();
    }
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      if (!this.#chosen) return;
      if (!this.#chosen.spec) return void this.load();
      this.#figures?.show(this.#chosen.name);
      this.#checkpoints?.refresh();
    }, REFRESH);
  }

  /**
   * Play with the chosen training, by the rules that it learned by.
   * @param {string} spec of its network or of one of its checkpoints
   */
  async play(spec) {
    const rules = this.#chosen?.rules;
    if (!rules) return;
    await playersOf(rules.board, { fresh: true }).catch(() => {});
    setPref("player", spec);
    location.hash = writeAddress("play", [], { ...rules });
  }

  /**
   * Prepare a match of networks; one alone plays against the default player of its board.
   * @param {string} board
   * @param {string[]} specs
   */
  async match(board, specs) {
    const players = await attempt(() => playersOf(board, { fresh: true }));
    const others = specs.length > 1 ? [] : [players?.default].filter((spec) => spec && !specs.includes(spec));
    location.hash = writeAddress("lab", [], { players: [...specs, ...others].join("|"), board });
  }

  /** @param {string} name */
  async delete(name) {
    await attempt(async () => {
      const gone = await remove("/api/trainings/{training}", { path: { training: name } });
      if (this.#chosen?.name === name) {
        this.#chosen = this.#wanted = null;
        this.detail.hidden = true;
      }
      offerRestore(gone, () => this.load(name));
      await this.load();
    });
  }

  close() {
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.form.close();
  }
}
