// Solve: exact values of small boards; start a solve, follow it layer by layer, and browse the table.

import { address, get, isAborted, messageOf, post, remove } from "../api.js";
import { clusterField } from "../clusterfield.js";
import { chart } from "../chart.js";
import { damagedList, deleteButton } from "../damaged.js";
import { jobLine, jobList } from "../joblist.js";
import { attempt, button, commandLine, emptyState, field, h, missing, reveal, select, table } from "../dom.js";
import { playersOf } from "../players.js";
import { setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { bytes, number } from "../pure/format.js";
import { Latest } from "../pure/latest.js";
import { capital } from "../pure/words.js";
import { rulesForm } from "../rulesform.js";
import { rulesWords } from "../ruleswords.js";
import { retryUntilReady, stream } from "../stream.js";
import { TableBrowser, valueTexts } from "../tablebrowser.js";
import { offerRestore, trashLine } from "../undo.js";
import { t } from "../text.js";

const REFRESH = 1000; // ms between updates of a solve that runs

/** @type {PageModule["open"]} */
export async function open(main, { rest, query }) {
  const page = new Solve(main, query);
  await page.load(rest[0] ?? null, query.position ?? null);
  return page;
}

class Solve {
  #ending = new AbortController();
  #plan = new Latest(() => post("/api/solves/plan", { body: { ...this.request(), cluster: this.cluster.value() } }), {
    answered: ({ command }) => {
      this.command.set(command);
      this.error.textContent = "";
      this.startButton.disabled = false;
      this.estimate();
    },
    failed: (wrong) => {
      this.command.set("");
      this.startButton.disabled = true;
      this.error.textContent = capital(messageOf(wrong));
    },
  });
  #timer = 0;
  /** @type {string | null} */
  #wanted = null; // the name of a table or the id of a job
  /** @type {Api.SolvedData[]} */
  #tables = [];
  /** @type {Api.DamagedData[]} */
  #others = [];
  #isAnyway = false; // the estimate says that it does not fit
  /** @type {TableBrowser | null} */
  #browser = null;
  /** @type {AbortController | null} */
  #estimating = null;
  /** @type {{ id: string, line: import("../joblist.js").JobLine, figure: import("../chart.js").Chart } | null} */
  #followed = null; // the job that is shown

  /**
   * @param {HTMLElement} main
   * @param {Address["query"]} query
   */
  constructor(main, query) {
    const plan = () => this.plan();
    this.rules = rulesForm(
      { board: "2x2", goal: 16, ...query, start: query.start || undefined },
      { onchange: plan, noStop: true },
    );
    this.objective = select(
      [
        ["win", t("the chance to reach the goal")],
        ["score", t("the expected score")],
      ],
      query.objective ?? "win",
      plan,
      { name: "objective" },
    );
    this.cluster = clusterField(plan);
    this.verdict = h("p.small.quiet", { role: "status" });
    this.startWords = h("span", {}, t("Solve"));
    this.startButton = button(this.startWords, null, { type: "submit", main: true });
    this.command = commandLine();
    this.error = h("p.error", { role: "alert" });
    this.jobs = jobList(
      () => [...stream.jobs.values()].filter(({ kind }) => kind === "solve").slice(0, 8),
      this.#ending.signal,
    );
    this.list = h("div");
    this.trash = trashLine();
    this.running = h("section.panel", { hidden: true, "aria-label": t("The solve") });
    this.panel = h("section.panel", { hidden: true, "aria-label": t("Browse a table") });
    main.append(
      h("h1", {}, t("Solve")),
      h(
        "div.two.wide",
        {},
        h("div", {}, this.running, this.panel, h("section.panel", {}, h("h2", {}, t("Tables")), this.list)),
        h(
          "aside",
          { "aria-label": t("New solve") },
          h(
            "form.panel.stack",
            { onsubmit: (event) => this.start(event) },
            h("h2", {}, t("Solve a board"), " ", h("small", {}, t("every position, exactly"))),
            this.rules.element,
            field(t("Solve for"), this.objective),
            this.cluster.element,
            this.verdict,
            this.error,
            h(
              "div.row",
              {},
              this.startButton,
              button(t("Estimate"), () => this.estimate()),
            ),
            this.command,
          ),
          h("section.panel", {}, h("h2", {}, t("Jobs")), this.jobs),
        ),
      ),
    );
    this.plan();
    stream.on("jobs", (job) => job === null && this.load(), this.#ending.signal); // the list has arrived
    stream.on("job", (job) => job.kind === "solve" && this.onJob(job), this.#ending.signal);
  }

  request() {
    const objective = /** @type {"win" | "score"} */ (this.objective.value === "win" ? "win" : "score");
    return { rules: this.rules.value(), objective };
  }

  plan() {
    this.#estimating?.abort();
    this.verdict.textContent = "";
    this.startWords.textContent = t("Solve");
    this.#isAnyway = false;
    this.#plan.ask();
  }

  async estimate() {
    this.#estimating?.abort();
    const abort = (this.#estimating = new AbortController());
    this.verdict.textContent = t("Counting boards...");
    try {
      const answer = await retryUntilReady({ solve: true }, () =>
        post("/api/design/estimate", { body: this.request(), signal: abort.signal }),
      );
      this.verdict.textContent = capital(answer.verdict) + ".";
      // An estimate is rough, so the solve can be started anyway.
      this.#isAnyway = !answer.fits || answer.is_least;
      this.startWords.textContent = this.#isAnyway ? t("Solve anyway") : t("Solve");
    } catch (wrong) {
      if (!isAborted(wrong)) this.verdict.textContent = capital(messageOf(wrong));
    }
  }

  /** @param {SubmitEvent} event */
  async start(event) {
    event.preventDefault();
    const body = { ...this.request(), cluster: this.cluster.value(), anyway: this.#isAnyway };
    await this.begin(body, event.submitter);
  }

  /**
   * @param {Api.SolveBody} body
   * @param {HTMLElement | null} control
   */
  async begin(body, control) {
    const job = await attempt(
      () => retryUntilReady({ solve: true }, () => post("/api/solves", { body })),
      control,
    );
    if (!job) return;
    this.#wanted = job.id;
    stream.addJob(job);
    reveal(this.running);
  }

  /**
   * Follow a solve that was asked for, and show its table when it is done.
   * @param {Api.JobData} job
   */
  onJob(job) {
    const isAsked = !this.#wanted || this.#wanted === job.id || !this.#browser;
    if (job.state === "done") return void this.load(isAsked ? job.id : null);
    if (isAsked || this.#followed?.id === job.id) this.follow(job);
  }

  /** @param {Api.JobData} job */
  follow(job) {
    if (this.#followed?.id !== job.id) {
      const shown = { id: job.id, line: jobLine(job), figure: chart(t("States of each layer")) };
      this.#followed = shown;
      this.running.hidden = false;
      this.running.replaceChildren(shown.line, shown.figure, commandLine(job.command));
    }
    this.#followed.line.update(job);
    if (this.#timer) return;
    this.#followed.figure.load(address("/api/solves/{solve}/chart", { path: { solve: job.id } }));
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      const now = stream.jobs.get(this.#followed?.id ?? "");
      if (now && ["running", "ending"].includes(now.state)) this.follow(now);
    }, REFRESH);
  }

  /**
   * Show all tables, and one of them by its name or the id of its job.
   * @param {string | null} [which]
   * @param {string | null} [position]
   */
  async load(which = null, position = null) {
    const answer = await attempt(() => get("/api/tables"));
    if (!answer) return;
    this.#tables = answer.tables;
    this.#others = answer.others;
    this.drawList();
    if (which) this.#wanted = which;
    const wanted = which ?? this.#wanted;
    const found = this.#tables.find(({ name, job }) => name === wanted || (wanted && job === wanted));
    const job = stream.jobs.get(wanted ?? "");
    if (found) {
      if (this.#followed && this.#followed.id === found.job) this.unfollow();
      if (this.#browser?.about.name !== found.name || which) await this.choose(found.name, position);
    } else if (job?.kind === "solve") this.follow(job);
    else if (!wanted && !this.#browser && this.#tables.length) await this.choose(this.#tables[0].name, position);
    else if (wanted && stream.hasJobs) {
      this.panel.hidden = false;
      this.panel.replaceChildren(missing(t("There is no table {name}.", { name: wanted.slice(0, 40) }), ["#/solve", t("All tables")]));
    }
  }

  unfollow() {
    this.#followed = null;
    this.running.hidden = true;
  }

  drawList() {
    this.list.replaceChildren(
      this.#tables.length
        ? table(
            t("Tables"),
            [
              [t("Table"), (each) => h("a", { href: writeAddress("solve", [each.name]) }, each.name)],
              [t("Rules"), (each) => h("span.clip", {}, rulesWords(each.rules))],
              [t("Best play"), (each) => valueTexts(each.objective, [[each.value, each.loss]])[0], "n"],
              [t("States"), (each) => number(each.states), "n"],
              [t("Layers"), (each) => number(each.layers), "n"],
              [t("Size"), (each) => bytes(each.bytes), "n"],
              ["", ({ name }) => deleteButton(name, () => this.delete(name)), "acts"],
            ],
            this.#tables,
          )
        : emptyState(
            t("None yet. A solved board has the exact value of every position. 2x2 to 16 takes a second."),
            t("Solve 2x2 to 16"),
            () => this.begin({ rules: { board: "2x2", goal: 16 }, objective: "win" }, null),
          ),
      ...damagedList(this.#others, (name) => this.delete(name)),
      this.trash,
    );
    this.trash.refresh();
  }

  /** @param {string} name */
  async delete(name) {
    const gone = await remove("/api/tables/{table}", { path: { table: name } });
    if (this.#browser?.about.name === name) {
      this.#browser = this.#wanted = null;
      this.panel.hidden = true;
    }
    offerRestore(gone, () => this.load(name));
    await this.load();
  }

  /**
   * @param {string} name
   * @param {string | null} position
   */
  async choose(name, position) {
    const about = await attempt(() => get("/api/tables/{table}", { path: { table: name } }));
    if (!about) return;
    this.#browser = new TableBrowser(about, () => this.play(about));
    this.panel.hidden = false;
    this.panel.replaceChildren(this.#browser.element);
    await this.#browser.open(position);
  }

  /** @param {Api.SolvedShown} table */
  async play({ rules, spec }) {
    await playersOf(rules.board, { fresh: true }).catch(() => {});
    setPref("player", spec);
    setPref("hints", "all");
    location.hash = writeAddress("play", [], { ...rules });
  }

  close() {
    this.#ending.abort();
    this.#estimating?.abort();
    this.#plan.stop();
    clearTimeout(this.#timer);
  }
}
