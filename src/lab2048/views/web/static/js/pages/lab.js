// Lab: matches of players on the same seeds, with live charts.

import { address, get, messageOf, post, statusOf } from "../api.js";
import { chart, charts } from "../chart.js";
import { clusterField } from "../clusterfield.js";
import { jobLine } from "../joblist.js";
import { attempt, button, commandLine, complain, emptyState, field, h, missing, reveal, table } from "../dom.js";
import { playerList } from "../playerlist.js";
import { labelOf, titleOf } from "../players.js";
import { pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { date } from "../pure/format.js";
import { isBusy } from "../pure/job.js";
import { Latest } from "../pure/latest.js";
import { capital } from "../pure/words.js";
import { rulesForm } from "../rulesform.js";
import { stream } from "../stream.js";
import { t, told } from "../text.js";

/** @type {[string, string][]} */
const CHARTS = [
  ["scores", t("Mean scores")],
  ["tiles", t("Rates of tiles")],
  ["distribution", t("Distribution")],
  ["paired", t("Differences")],
];
const REFRESH = 1000; // ms between updates of a match that runs

/** @typedef {{ job: Api.JobData, line: import("../joblist.js").JobLine, figures: import("../chart.js").Charts }} Detail */

/** @type {PageModule["open"]} */
export async function open(main, { rest, query }) {
  const page = new Lab(main, query);
  page.choose(rest[0] ?? null);
  return page;
}

class Lab {
  #ending = new AbortController();
  /** @type {string | null} */
  #chosen = null; // the id of a job
  /** @type {Detail | null} */
  #detail = null; // what is shown of it
  /** @type {Set<string>} */
  #compared = new Set();
  /** @type {import("../chart.js").Chart | null} */
  #comparisonChart = null;
  #timer = 0;
  #plan = new Latest(() => post("/api/matches/plan", { body: this.request() }), {
    answered: ({ command }) => {
      this.command.set(command);
      this.error.textContent = "";
    },
    failed: (wrong) => {
      this.command.set("");
      this.error.textContent = capital(messageOf(wrong));
    },
  });
  /** @type {string | null} */
  #listed = null; // the ids that are listed; null before the list is first drawn
  /** @type {Map<string, { state: HTMLElement, message: HTMLElement }>} */
  #cells = new Map(); // the cells that change, by job
  #compareTimer = 0;

  /**
   * @param {HTMLElement} main
   * @param {Address["query"]} query
   */
  constructor(main, query) {
    const plan = () => this.plan();
    const players = query.players?.split("|") ?? pref("labPlayers") ?? ["random", "greedy"];
    this.rules = rulesForm({ board: query.board ?? "4x4", goal: query.goal }, { onchange: plan });
    this.players = playerList(players, {
      most: 8,
      board: () => this.rules.value().board,
      onchange: (specs) => {
        setPref("labPlayers", specs);
        plan();
      },
    });
    this.games = h("input", { type: "number", min: 1, max: 100000, value: "100", name: "games", oninput: plan });
    this.seed = h("input", { type: "number", min: 0, value: "1", name: "seed", oninput: plan });
    this.cluster = clusterField(plan);
    this.command = commandLine();
    this.error = h("p.error", { role: "alert" });
    this.list = h("div");
    this.detail = h("section.panel", { hidden: true, "aria-label": t("The match") });
    this.comparison = h("section.panel", { hidden: true, "aria-label": t("Comparison") });
    main.append(
      h("h1", {}, t("Lab")),
      h(
        "div.two.wide",
        {},
        h("div", {}, this.detail, this.comparison, h("section.panel", {}, h("h2", {}, t("Matches")), this.list)),
        h(
          "aside",
          { "aria-label": t("New match") },
          h(
            "form.panel.stack",
            { onsubmit: (event) => this.start(event) },
            h("h2", {}, t("New match"), " ", h("small", {}, t("all players play the same seeds"))),
            this.players.element,
            this.rules.element,
            h("div.fields", {}, field(t("Games per player"), this.games), field(t("First seed"), this.seed)),
            this.cluster.element,
            this.error,
            button(t("Start"), null, { type: "submit", main: true }),
            this.command,
          ),
        ),
      ),
    );
    this.plan();
    this.drawList();
    stream.on("jobs", () => this.drawList(), this.#ending.signal);
    stream.on("job", (job) => this.onJob(job), this.#ending.signal);
  }

  /** @param {Api.JobData} job */
  onJob(job) {
    if (job.id === this.#detail?.job.id) this.refresh(this.#detail, job);
    if (!this.#compared.has(job.id) || this.#compareTimer) return;
    this.#compareTimer = setTimeout(() => {
      this.#compareTimer = 0;
      this.drawComparison();
    }, REFRESH);
  }

  /** @returns {Api.MatchBody} */
  request() {
    return {
      players: this.players.value(),
      rules: this.rules.value(),
      games: Number(this.games.value),
      seed: Number(this.seed.value),
      cluster: this.cluster.value(),
    };
  }

  plan() {
    this.#plan.ask();
  }

  /** @param {SubmitEvent} event */
  async start(event) {
    event.preventDefault();
    const job = await attempt(() => post("/api/matches", { body: this.request() }), event.submitter, this.error);
    if (!job) return;
    stream.addJob(job);
    this.started(job.id);
  }

  /** @param {string} id */
  started(id) {
    this.choose(id);
    reveal(this.detail);
  }

  matches() {
    return [...stream.jobs.values()].filter(({ kind }) => kind === "match");
  }

  drawList() {
    const jobs = this.matches();
    if (!this.#chosen && jobs.length) this.choose(jobs[0].id);
    // Existing rows are updated in place; rows are not replaced while one has the focus.
    for (const { id, state, message } of jobs) {
      const cells = this.#cells.get(id);
      if (cells) [cells.state.textContent, cells.message.textContent] = [told(state), told(message)];
    }
    const shown = jobs.map(({ id }) => id).join();
    // The button that starts the first match has the focus too, but no row to keep.
    if (shown === this.#listed || (this.#listed && this.list.contains(document.activeElement))) return;
    this.#listed = shown;
    this.#cells = new Map(
      jobs.map(({ id, state, message }) => [id, { state: h("span", {}, told(state)), message: h("span", {}, told(message)) }]),
    );
    this.list.replaceChildren(
      jobs.length
        ? table(
            t("Matches"),
            [
              [
                "",
                (job) =>
                  h("input", {
                        type: "checkbox",
                        checked: this.#compared.has(job.id),
                        "aria-label": t("Compare {match}", { match: job.id }),
                        onchange: (event) => this.compare(job.id, event.currentTarget.checked),
                      }),
              ],
              [
                t("Match"),
                (job) =>
                  h("a", { href: writeAddress("lab", [job.id]), title: job.title }, h("span.clip.long", {}, titleOf(job))),
              ],
              [t("State"), (job) => this.#cells.get(job.id)?.state],
              ["", (job) => this.#cells.get(job.id)?.message],
              [t("Started"), (job) => date(job.created)],
            ],
            jobs,
          )
        : emptyState(
            t("None yet. A match lets players play the same seeds and compares their scores, with confidence intervals."),
            t("Start a first match"),
            () => document.querySelector("form")?.requestSubmit(),
          ),
    );
  }

  /** @param {string | null} id */
  async choose(id) {
    if (!id) return this.drawList();
    this.#chosen = id;
    const job = stream.jobs.get(id) ?? (await this.ask(id));
    if (this.#chosen !== id) return;
    this.detail.hidden = false;
    if (!job) {
      this.#detail = null;
      const words = t("There is no match {name}.", { name: id.slice(0, 40) });
      return void this.detail.replaceChildren(missing(words, ["#/lab", t("All matches")]));
    }
    const path = { match: id };
    const detail = {
      job,
      line: jobLine(job),
      figures: charts(t("Chart"), CHARTS, (match, name) =>
        address("/api/matches/{match}/charts/{chart}", { path: { match, chart: name } }),
        namesIn(job),
      ),
    };
    this.#detail = detail;
    const links = h(
      "div.row.actions",
      {},
      h("a.button.slim", { href: address("/api/matches/{match}/csv", { path }), download: `${id}.csv` }, t("Results as CSV")),
      h("a.button.slim", { href: address("/api/matches/{match}", { path }), download: `${id}.json` }, t("Results as JSON")),
    );
    this.detail.replaceChildren(
      detail.line,
      detail.figures,
      links,
      commandLine(job.command),
    );
    this.refresh(detail, job, true);
  }

  /**
   * Ask for a job that this tab has not heard of yet; null if there is none.
   * @param {string} id
   */
  async ask(id) {
    try {
      const job = await get("/api/jobs/{job}", { path: { job: id } });
      return job.kind === "match" ? job : null;
    } catch (error) {
      if (statusOf(error) !== 404) complain(error);
      return null;
    }
  }

  /**
   * Draw a job again, now or soon.
   * @param {Detail} detail
   * @param {Api.JobData} job
   */
  refresh(detail, job, isNow = false) {
    detail.line.update(job);
    const isOver = !isBusy(job);
    if (this.#timer && !isNow && !isOver) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = 0;
        if (this.#detail === detail) detail.figures.show(job.id);
      },
      isNow || isOver ? 0 : REFRESH,
    );
  }

  /**
   * @param {string} id
   * @param {boolean} isOn
   */
  compare(id, isOn) {
    if (isOn) this.#compared.add(id);
    else this.#compared.delete(id);
    this.drawComparison();
  }

  async drawComparison() {
    this.comparison.hidden = this.#compared.size < 2;
    if (this.comparison.hidden) return;
    if (!this.#comparisonChart) {
      this.#comparisonChart = chart(t("Means of several matches"), (text) => text.replace(/^.*(?= \()/, (spec) => labelOf(spec)));
      this.comparison.replaceChildren(h("h2", {}, t("Comparison")), this.#comparisonChart);
    }
    const ids = [...this.#compared].join(",");
    await this.#comparisonChart.load(address("/api/matches/compare", { query: { ids } }));
  }

  close() {
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.#plan.stop();
    clearTimeout(this.#compareTimer);
  }
}

/**
 * What the texts of a chart become: names instead of specs, unless two players would have the same.
 * @param {Api.JobData} job
 * @returns {(text: string) => string}
 */
function namesIn({ request }) {
  const specs = /** @type {string[]} */ (Array.isArray(request.names) ? request.names : []);
  const names = new Map(specs.map((spec) => [spec, labelOf(spec)]));
  if (new Set(names.values()).size < names.size) return (text) => text;
  const pairs = specs.flatMap((a) => specs.map((b) => /** @type {const} */ ([`${a} - ${b}`, `${names.get(a)} - ${names.get(b)}`])));
  const all = new Map([...names, ...pairs]);
  return (text) => all.get(text) ?? text;
}
