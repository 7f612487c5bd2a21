// Train: networks that learn by playing; start, watch, pause, go on, and play what came of it.

import { get, post, remove } from "../api.js";
import { charts } from "../chart.js";
import { CheckpointList } from "../checkpoints.js";
import { jobLine } from "../joblist.js";
import { attempt, button, commandLine, h, missing, reveal, table, toast } from "../dom.js";
import { playersOf } from "../players.js";
import { setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { bytes, count, date, number } from "../pure/format.js";
import { stream } from "../stream.js";
import { TrainForm } from "../trainform.js";

const CHARTS = [
  ["score", "Mean score"],
  ["tiles", "Rates of tiles"],
  ["learning", "Learning"],
];
const REFRESH = 1500;

export async function open(main, { rest }) {
  const page = new Train();
  await page.build(main);
  await page.load(rest[0] ?? null);
  return page;
}

class Train {
  #ending = new AbortController();
  #chosen = null;
  #timer = 0;
  #trainings = [];
  #wanted = null;

  async build(main) {
    this.form = new TrainForm({
      freshName: (board) => this.freshName(board),
      onstart: (request, control) => this.start(request, control),
    });
    this.list = h("div");
    this.detail = h("section.panel", { hidden: true, "aria-label": "The training" });
    main.append(
      h("h1", {}, "Train"),
      h(
        "div.two.wide",
        {},
        h("div", {}, this.detail, h("section.panel", {}, h("h2", {}, "Trainings"), this.list)),
        h("aside", { "aria-label": "A new training" }, this.form.element),
      ),
    );
    stream.on("jobs", (job) => job === null && this.load(), this.#ending.signal); // all of them are known now
    stream.on("job", (job) => job.kind === "train" && this.heard(job), this.#ending.signal);
    await this.form.load();
  }

  /** A name that no training has yet: the board and a number. */
  freshName(board) {
    const stem = /^[a-z0-9][a-z0-9_-]{0,30}$/.test(board) ? board : "map";
    const taken = new Set(this.#trainings.map(({ name }) => name));
    for (const job of stream.jobs.values()) if (job.kind === "train") taken.add(job.request?.name);
    let n = 1;
    while (taken.has(`${stem}-${n}`)) n += 1;
    return `${stem}-${n}`;
  }

  async start(request, control) {
    const job = await attempt(() => post("/api/trainings", request), control);
    if (!job) return;
    stream.learn(job);
    await this.load(request.name);
    reveal(this.detail);
  }

  jobOf(training) {
    return (
      stream.jobs.get(training.job) ??
      [...stream.jobs.values()].find((job) => job.kind === "train" && job.request?.name === training.name) ??
      null
    );
  }

  /** Show all trainings, and one of them: by its name, or the name of its job. */
  async load(which = null) {
    const answer = await attempt(() => get("/api/trainings"));
    if (!answer) return;
    this.#trainings = answer.trainings;
    const names = new Set(answer.trainings.map(({ name }) => name));
    // A training that has only begun has no file yet.
    for (const job of stream.jobs.values()) {
      if (job.kind === "train" && job.request?.name && !names.has(job.request.name)) {
        names.add(job.request.name);
        this.#trainings.push({
          name: job.request.name,
          method: job.request.method,
          job: job.id,
          board: job.request.rules?.board ?? "4x4",
          spec: null,
          changed: job.created,
        });
      }
    }
    this.drawList();
    if (which) this.#wanted = which;
    const wanted = which ?? this.#chosen?.name ?? this.#wanted;
    const found = wanted
      ? this.#trainings.find(({ name, job }) => name === wanted || job === wanted)
      : this.#trainings[0];
    if (found) return this.choose(found);
    if (!wanted || !stream.isTold) return; // before all jobs are known nobody can say what there is
    this.detail.hidden = false;
    this.detail.replaceChildren(missing(`There is no training ${wanted.slice(0, 40)}.`, ["#/train", "All trainings"]));
  }

  drawList() {
    this.list.replaceChildren(
      this.#trainings.length
        ? table(
            "Trainings",
            [
              ["Name", (each) => h("a", { href: writeAddress("train", [each.name]) }, each.name)],
              ["Board", (each) => h("span.clip", { title: each.board }, each.board)],
              ["Method", (each) => each.method ?? "-"],
              ["Network", (each) => h("span.clip", { title: each.network }, each.network || "-")],
              ["Mean score", (each) => (each.mean ? number(each.mean) : "-"), "n"],
              ["Games", (each) => (each.n_games ? number(each.n_games) : "-"), "n"],
              ["Minutes", (each) => (each.minutes ? each.minutes.toFixed(1) : "-"), "n"],
              ["Size", (each) => (each.bytes ? bytes(each.bytes) : "-"), "n"],
              ["Changed", (each) => date(each.changed)],
            ],
            this.#trainings,
          )
        : h("p.empty", {}, "None yet: a minute is enough to see one learn."),
    );
  }

  choose(training) {
    const isOther = this.#chosen?.name !== training.name;
    this.#chosen = training;
    this.detail.hidden = false;
    if (isOther) {
      this.figures = charts("Chart", CHARTS, (name, chart) => `/api/trainings/${name}/charts/${chart}`);
      this.checkpoints = new CheckpointList(training.name, {
        play: (spec) => this.play(training.board, spec),
        match: (specs) => this.match(training.board, specs),
      });
    }
    const job = this.jobOf(training);
    if (isOther || !this.line || !job) this.line = job ? jobLine(job) : null;
    else this.line.update(job);
    const can = Boolean(training.spec);
    this.deleteButton = button("Delete", () => this.delete(training), { hidden: !can || this.isBusy(job) });
    const facts = [
      training.board,
      training.n_weights ? count(training.n_weights, "weight") : null,
      training.n_games ? count(training.n_games, "game") : "not yet written",
    ];
    this.detail.replaceChildren(
      h("h2", {}, training.name, h("small", {}, facts.filter(Boolean).join(", "))),
      this.line ?? "",
      this.figures,
      h(
        "div.row.actions",
        {},
        button("Play with it", () => this.play(training.board, training.spec), { main: true, disabled: !can }),
        button("Match it", () => this.match(training.board, [training.spec]), { disabled: !can }),
        this.deleteButton,
      ),
      this.checkpoints.element,
      commandLine(job?.command ?? ""),
    );
    this.figures.show(training.name);
    this.checkpoints.refresh();
  }

  isBusy(job) {
    return Boolean(job) && ["running", "queued", "ending"].includes(job.state);
  }

  heard(job) {
    const name = job.request?.name;
    if (this.#chosen && (this.#chosen.job === job.id || this.#chosen.name === name)) {
      this.line?.update(job);
      this.deleteButton.hidden = !this.#chosen.spec || this.isBusy(job);
    }
    if (!this.isBusy(job)) {
      clearTimeout(this.#timer);
      this.#timer = 0;
      return void this.load();
    }
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      if (this.#chosen && !this.#chosen.spec) this.load();
      else if (this.#chosen) {
        this.figures.show(this.#chosen.name);
        this.checkpoints.refresh();
      }
    }, REFRESH);
  }

  async play(board, spec) {
    await playersOf(board, { fresh: true }).catch(() => {});
    setPref("player", spec);
    location.hash = writeAddress("play", [], { board });
  }

  /** Let networks meet; one alone meets the player that is usual on its board. */
  async match(board, specs) {
    const players = await attempt(() => playersOf(board, { fresh: true }));
    const others = specs.length > 1 ? [] : [players?.default].filter((spec) => spec && !specs.includes(spec));
    location.hash = writeAddress("lab", [], { players: [...specs, ...others].join("|"), board });
  }

  async delete(training) {
    await attempt(async () => {
      await remove(`/api/trainings/${training.name}`);
      this.#chosen = this.#wanted = null;
      this.detail.hidden = true;
      toast(`${training.name} is deleted`);
      await this.load();
    });
  }

  close() {
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.form.close();
  }
}
