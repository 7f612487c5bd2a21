// Lab: matches of players on the same seeds, with live charts; and the published studies.

import { get, post, withQuery } from "../api.js";
import { chart, charts } from "../chart.js";
import { jobLine } from "../joblist.js";
import { attempt, button, commandLine, complain, field, h, missing, reveal, table } from "../dom.js";
import { pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { date } from "../pure/format.js";
import { capital } from "../pure/words.js";
import { rulesForm } from "../rulesform.js";
import { seats } from "../seats.js";
import { stream } from "../stream.js";
import { StudyList } from "../studylist.js";

const CHARTS = [
  ["scores", "Mean scores"],
  ["tiles", "Rates of tiles"],
  ["distribution", "Distribution"],
  ["paired", "Differences"],
];
const REFRESH = 1000; // ms between looks at a match that runs

export async function open(main, { rest, query }) {
  const page = new Lab();
  page.build(main, query);
  page.choose(rest[0] ?? null);
  page.studies.load();
  return page;
}

class Lab {
  #ending = new AbortController();
  #chosen = null;
  #compared = new Set();
  #timer = 0;
  #planTimer = 0;
  #shownRuns = null;
  #cells = new Map(); // of the rows that change: job -> how it stands
  #compareTimer = 0;

  build(main, query) {
    const plan = () => this.plan();
    const players = query.players?.split("|") ?? pref("labPlayers") ?? ["random", "first:order=as"];
    this.rules = rulesForm({ board: query.board ?? "4x4", goal: query.goal }, { onchange: plan });
    this.seats = seats(players, {
      most: 8,
      board: () => this.rules.value().board,
      onchange: (specs) => {
        setPref("labPlayers", specs);
        plan();
      },
    });
    this.games = h("input", { type: "number", min: 1, max: 100000, value: "100", name: "games", oninput: plan });
    this.seed = h("input", { type: "number", min: 0, value: "1", name: "seed", oninput: plan });
    this.command = commandLine();
    this.error = h("p.error", { role: "alert" });
    this.runs = h("div");
    this.detail = h("section.panel", { hidden: true, "aria-label": "The match" });
    this.comparison = h("section.panel", { hidden: true, "aria-label": "Comparison" });
    this.studies = new StudyList((id) => this.begun(id));
    main.append(
      h("h1", {}, "Lab"),
      h(
        "div.two.wide",
        {},
        h("div", {}, this.detail, this.comparison, h("section.panel", {}, h("h2", {}, "Matches"), this.runs)),
        h(
          "aside",
          { "aria-label": "A new match" },
          h(
            "form.panel.stack",
            { onsubmit: (event) => this.start(event) },
            h("h2", {}, "A match ", h("small", {}, "all players meet the same seeds")),
            this.seats.element,
            this.rules.element,
            h("div.fields", {}, field("Games each", this.games), field("First seed", this.seed)),
            this.error,
            button("Start", null, { type: "submit", main: true }),
            this.command,
          ),
          this.studies.element,
        ),
      ),
    );
    this.plan();
    this.drawRuns();
    stream.on("jobs", () => this.drawRuns(), this.#ending.signal);
    stream.on("job", (job) => this.heard(job), this.#ending.signal);
  }

  heard(job) {
    if (job.id === this.#chosen && this.line) this.refresh(job);
    if (!this.#compared.has(job.id) || this.#compareTimer) return;
    this.#compareTimer = setTimeout(() => {
      this.#compareTimer = 0;
      this.drawComparison();
    }, REFRESH);
  }

  request() {
    return {
      players: this.seats.value(),
      rules: this.rules.value(),
      games: Number(this.games.value),
      seed: Number(this.seed.value),
    };
  }

  plan() {
    clearTimeout(this.#planTimer);
    this.#planTimer = setTimeout(async () => {
      try {
        this.command.set((await post("/api/matches/plan", this.request())).command);
        this.error.textContent = "";
      } catch (wrong) {
        this.command.set("");
        this.error.textContent = capital(wrong.message);
      }
    }, 200);
  }

  async start(event) {
    event.preventDefault();
    const job = await attempt(() => post("/api/matches", this.request()), event.submitter);
    if (!job) return;
    stream.learn(job);
    this.begun(job.id);
  }

  begun(id) {
    this.choose(id);
    reveal(this.detail);
  }

  matches() {
    return [...stream.jobs.values()].filter(({ kind }) => kind === "match" || kind === "study");
  }

  drawRuns() {
    const jobs = this.matches();
    if (!this.#chosen && jobs.length) this.choose(jobs[0].id);
    // How matches stand is written into their rows; new rows never come under the fingers of someone who uses the table.
    for (const { id, state, message } of jobs) {
      const cells = this.#cells.get(id);
      if (cells) [cells.state.textContent, cells.message.textContent] = [state, message];
    }
    const shown = jobs.map(({ id }) => id).join();
    if (shown === this.#shownRuns || this.runs.contains(document.activeElement)) return;
    this.#shownRuns = shown;
    this.#cells = new Map(
      jobs.map(({ id, state, message }) => [id, { state: h("span", {}, state), message: h("span", {}, message) }]),
    );
    this.runs.replaceChildren(
      jobs.length
        ? table(
            "Matches",
            [
              [
                "",
                (job) =>
                  job.kind === "match"
                    ? h("input", {
                        type: "checkbox",
                        checked: this.#compared.has(job.id),
                        "aria-label": `Compare ${job.id}`,
                        onchange: (event) => this.compare(job.id, event.target.checked),
                      })
                    : "",
              ],
              [
                "Match",
                (job) =>
                  h("a", { href: writeAddress("lab", [job.id]), title: job.title }, h("span.clip.long", {}, job.title)),
              ],
              ["State", (job) => this.#cells.get(job.id).state],
              ["", (job) => this.#cells.get(job.id).message],
              ["Begun", (job) => date(job.created)],
            ],
            jobs,
          )
        : h("p.empty", {}, "None yet: start one."),
    );
  }

  async choose(id) {
    if (!id) return this.drawRuns();
    this.#chosen = id;
    this.figures = charts("Chart", CHARTS, (match, name) => `/api/matches/${match}/charts/${name}`);
    this.log = h("pre.log", { tabIndex: 0, role: "region", "aria-label": "What it said" });
    const job = stream.jobs.get(id) ?? (await this.ask(id));
    if (this.#chosen !== id) return;
    this.detail.hidden = false;
    if (!job)
      return void this.detail.replaceChildren(
        missing(`There is no match ${id.slice(0, 40)}.`, ["#/lab", "All matches"]),
      );
    this.line = jobLine(job);
    const isMatch = job.kind === "match";
    this.detail.replaceChildren(
      this.line,
      ...(isMatch
        ? [
            this.figures,
            h(
              "div.row.actions",
              {},
              h("a.button.slim", { href: `/api/matches/${id}/csv`, download: `${id}.csv` }, "Results as CSV"),
              h("a.button.slim", { href: `/api/matches/${id}`, download: `${id}.json` }, "Results as JSON"),
            ),
          ]
        : [this.log]),
      commandLine(job.command),
    );
    this.refresh(job, true);
  }

  /** A job that this tab has not heard of yet; nothing if there is none. */
  async ask(id) {
    try {
      const job = await get(`/api/jobs/${encodeURIComponent(id)}`);
      return ["match", "study"].includes(job.kind) ? job : null;
    } catch (error) {
      if (error.status !== 404) complain(error);
      return null;
    }
  }

  /** Draw a match again, now or soon. */
  refresh(job, isNow = false) {
    this.line.update(job);
    if (job.kind !== "match") return void this.readLog(job.id);
    const isOver = !["running", "queued", "ending"].includes(job.state);
    if (this.#timer && !isNow && !isOver) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = 0;
        if (this.#chosen === job.id) this.figures.show(job.id);
      },
      isNow || isOver ? 0 : REFRESH,
    );
  }

  async readLog(id) {
    const answer = await attempt(() => get(`/api/jobs/${id}/log`));
    if (answer && this.#chosen === id) this.log.textContent = answer.lines.join("\n");
  }

  compare(id, isOn) {
    if (isOn) this.#compared.add(id);
    else this.#compared.delete(id);
    this.drawComparison();
  }

  async drawComparison() {
    this.comparison.hidden = this.#compared.size < 2;
    if (this.comparison.hidden) return;
    if (!this.compareChart) {
      this.compareChart = chart("Means of several matches");
      this.comparison.replaceChildren(h("h2", {}, "Comparison"), this.compareChart);
    }
    await this.compareChart.load(withQuery("/api/matches/compare", { ids: [...this.#compared].join(",") }));
  }

  close() {
    this.#ending.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#planTimer);
    clearTimeout(this.#compareTimer);
  }
}
