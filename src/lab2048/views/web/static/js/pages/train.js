// Train: networks that learn by playing; start, watch, pause, go on, and play what came of it.

import { get, post, remove } from "../api.js";
import { charts } from "../chart.js";
import { jobLine } from "../dialogs.js";
import { attempt, button, commandLine, field, h, select, table, toast } from "../dom.js";
import { playersOf } from "../players.js";
import { setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { bytes, date, number } from "../pure/format.js";
import { rulesForm } from "../rulesform.js";
import { stream } from "../stream.js";

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
  #planTimer = 0;
  #trainings = [];

  async build(main) {
    const plan = () => this.plan();
    this.name = h("input", {
      name: "name",
      value: "",
      placeholder: "chosen for you",
      maxLength: 40,
      spellcheck: false,
      oninput: plan,
    });
    this.minutes = h("input", {
      name: "minutes",
      type: "number",
      min: 0.1,
      max: 10000,
      step: "any",
      value: "1",
      oninput: plan,
    });
    this.rules = rulesForm({ board: "4x4" }, { onchange: plan, boardOnly: true });
    this.network = select([["", "as fits the board"]], "", plan, { name: "network" });
    this.options = h("div.fields");
    this.command = commandLine();
    this.error = h("p.error", { role: "alert" });
    this.list = h("div");
    this.detail = h("section.panel", { hidden: true, "aria-label": "The training" });
    main.append(
      h("h1", {}, "Train"),
      h(
        "div.two.wide",
        {},
        h("div", {}, this.detail, h("section.panel", {}, h("h2", {}, "Trainings"), this.list)),
        h(
          "aside",
          { "aria-label": "A new training" },
          h(
            "form.panel.stack",
            { onsubmit: (event) => this.start(event) },
            h("h2", {}, "A training ", h("small", {}, "a network of n-tuples plays and learns")),
            this.rules.element,
            h(
              "div.fields",
              {},
              field("Minutes", this.minutes),
              field("Network", this.network),
              field("Name", this.name),
            ),
            h("details", {}, h("summary", {}, "Options of learning"), this.options),
            this.error,
            button("Start", null, { type: "submit", main: true }),
            this.command,
          ),
        ),
      ),
    );
    stream.on("jobs", (job) => job === null && this.load(), this.#ending.signal); // all of them are known now
    stream.on("job", (job) => job.kind === "train" && this.heard(job), this.#ending.signal);
    const about = await attempt(() => get("/api/trainings/options"));
    if (about) {
      this.network.append(...about.networks.map((name) => h("option", { value: name }, name)));
      this.options.append(...about.options.map((option) => field(option.name, this.optionField(option, plan))));
    }
    this.plan();
  }

  optionField({ name, kind, default: usual, doc }, onchange) {
    if (kind === "bool")
      return select(
        [
          ["", "as usual"],
          ["true", "yes"],
          ["false", "no"],
        ],
        "",
        onchange,
        { name: `option-${name}`, title: doc },
      );
    const isNumber = kind === "int" || kind === "float";
    return h("input", {
      name: `option-${name}`,
      title: doc,
      placeholder: usual ?? "as usual",
      type: isNumber ? "number" : "text",
      step: kind === "int" ? 1 : "any",
      oninput: onchange,
    });
  }

  request() {
    const options = {};
    for (const control of this.options.querySelectorAll("input, select")) {
      if (control.value === "") continue;
      const name = control.name.slice("option-".length);
      options[name] =
        control.tagName === "SELECT"
          ? control.value === "true"
          : control.type === "number"
            ? Number(control.value)
            : control.value;
    }
    const made = {
      network: this.network.value || null,
      minutes: Number(this.minutes.value),
      rules: this.rules.value(),
      options,
    };
    made.name = this.name.value.trim() || this.freshName(made.rules.board);
    return made;
  }

  /** A name that no training has yet: the board and a number. */
  freshName(board) {
    const stem = /^[\w-]+$/.test(board) ? board : "map";
    const taken = new Set(this.#trainings.map(({ name }) => name));
    for (const job of stream.jobs.values()) if (job.kind === "train") taken.add(job.request?.name);
    let n = 1;
    while (taken.has(`${stem}-${n}`)) n += 1;
    return `${stem}-${n}`;
  }

  plan() {
    clearTimeout(this.#planTimer);
    this.#planTimer = setTimeout(async () => {
      try {
        this.command.set((await post("/api/trainings/plan", this.request())).command);
        this.error.textContent = "";
      } catch (wrong) {
        this.command.set("");
        this.error.textContent = wrong.message;
      }
    }, 250);
  }

  async start(event) {
    event.preventDefault();
    const request = this.request();
    const job = await attempt(() => post("/api/trainings", request), event.submitter);
    if (!job) return;
    stream.learn(job);
    await this.load(request.name);
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
          job: job.id,
          board: job.request.rules?.board ?? "4x4",
          spec: null,
          changed: job.created,
        });
      }
    }
    this.list.replaceChildren(
      this.#trainings.length
        ? table(
            "Trainings",
            [
              ["Name", (each) => h("a", { href: writeAddress("train", [each.name]) }, each.name)],
              ["Board", (each) => h("span.clip", {}, each.board)],
              ["Network", (each) => each.network ?? "-"],
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
    const wanted = which ?? this.#chosen?.name;
    const found =
      this.#trainings.find(({ name, job }) => name === wanted || job === wanted) ?? (which ? null : this.#trainings[0]);
    if (found) this.choose(found);
  }

  choose(training) {
    const isOther = this.#chosen?.name !== training.name;
    this.#chosen = training;
    this.detail.hidden = false;
    if (isOther) this.figures = charts("Chart", CHARTS, (name, chart) => `/api/trainings/${name}/charts/${chart}`);
    const job = this.jobOf(training);
    if (isOther || !this.line || !job) this.line = job ? jobLine(job) : null;
    else this.line.update(job);
    const can = Boolean(training.spec);
    this.detail.replaceChildren(
      h(
        "h2",
        {},
        training.name,
        h(
          "small",
          {},
          [
            training.board,
            training.n_weights ? `${number(training.n_weights)} weights` : null,
            training.n_games ? `${number(training.n_games)} games` : "not yet written",
          ]
            .filter(Boolean)
            .join(", "),
        ),
      ),
      this.line ?? "",
      this.figures,
      h(
        "div.row.actions",
        {},
        button("Play with it", () => this.play(training), { main: true, disabled: !can }),
        button("Match it", () => this.match(training), { disabled: !can }),
        can && !this.isBusy(job) ? button("Delete", () => this.delete(training), {}) : null,
      ),
      commandLine(job?.command ?? ""),
    );
    this.figures.show(training.name);
  }

  isBusy(job) {
    return Boolean(job) && ["running", "queued", "ending"].includes(job.state);
  }

  heard(job) {
    const name = job.request?.name;
    if (this.#chosen && (this.#chosen.job === job.id || this.#chosen.name === name)) this.line?.update(job);
    if (!this.isBusy(job)) {
      clearTimeout(this.#timer);
      this.#timer = 0;
      return void this.load();
    }
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      if (this.#chosen && !this.#chosen.spec) this.load();
      else if (this.#chosen) this.figures.show(this.#chosen.name);
    }, REFRESH);
  }

  async play(training) {
    await playersOf(training.board, { fresh: true }).catch(() => {});
    setPref("player", training.spec);
    location.hash = writeAddress("play", [], { board: training.board });
  }

  async match(training) {
    const players = await attempt(() => playersOf(training.board, { fresh: true }));
    const others = [players?.default].filter((spec) => spec && spec !== training.spec);
    location.hash = writeAddress("lab", [], { players: [training.spec, ...others].join("|"), board: training.board });
  }

  async delete(training) {
    await attempt(async () => {
      await remove(`/api/trainings/${training.name}`);
      this.#chosen = null;
      this.detail.hidden = true;
      toast(`${training.name} is deleted`);
      await this.load();
    });
  }

  close() {
    this.#ending.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#planTimer);
  }
}
