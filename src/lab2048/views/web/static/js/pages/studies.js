// Studies: published experiments, run again here; a card for each, and a report with verdicts, tables and a chart.

import { address, get, post } from "../api.js";
import { clusterField } from "../clusterfield.js";
import { attempt, button, commandLine, h, missing, segments, table } from "../dom.js";
import { jobLine } from "../joblist.js";
import { pref, setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { isBusy } from "../pure/job.js";
import { stream } from "../stream.js";
import { t, told } from "../text.js";

/** @typedef {NonNullable<Api.StudyBody["size"]>} StudySize */

/** @type {[StudySize, string][]} */
const SIZES = [
  ["tiny", t("Seconds")],
  ["quick", t("Minutes")],
  ["full", t("Hours, as published")],
];
const REFRESH = 2000; // ms between reports of a study that runs

/** @type {PageModule["open"]} */
export async function open(main, { rest }) {
  const { studies } = await get("/api/studies");
  const [wanted] = rest;
  if (!wanted) return showCards(main, studies);
  // An address names a study, or one of its jobs.
  const job = stream.jobs.get(wanted) ?? (wanted.startsWith("study-") ? await findJob(wanted) : null);
  const name = String(job?.request.name ?? wanted);
  const about = studies.find((each) => each.name === name);
  if (about) return new StudyPage(main, about, job);
  main.append(
    h("h1", {}, t("Studies")),
    missing(t("There is no study {name}.", { name: wanted.slice(0, 40) }), ["#/studies", t("All studies")]),
  );
}

/** @param {string} id */
async function findJob(id) {
  return get("/api/jobs/{job}", { path: { job: id } }).catch(() => null);
}

/** @param {string} name of a study */
function jobsOf(name) {
  return [...stream.jobs.values()].filter(({ kind, request }) => kind === "study" && request.name === name);
}

/**
 * @param {HTMLElement} main
 * @param {Api.StudyData[]} studies
 */
function showCards(main, studies) {
  const cards = h("div.cards");
  main.append(
    h("h1", {}, t("Studies")),
    h(
      "p.quiet.lead",
      {},
      t("Published experiments about 2048, run again on your machine. Each report puts our figures beside the published ones and says whether they agree."),
    ),
    cards,
  );
  const ending = new AbortController();
  const draw = () => cards.contains(document.activeElement) || cards.replaceChildren(...studies.map(card));
  stream.on("jobs", draw, ending.signal);
  draw();
  return { close: () => ending.abort() };
}

/** @param {Api.StudyData} study */
function card({ name, title, doc }) {
  const [job] = jobsOf(name);
  return h(
    "a.card",
    { href: writeAddress("studies", [name]) },
    h("b", {}, title || name),
    h("span.small.quiet", {}, doc),
    h("span.small.state", {}, job ? told(job.state) : t("not run yet")),
  );
}

class StudyPage {
  #ending = new AbortController();
  #timer = 0;
  /** @type {import("../joblist.js").JobLine | null} */
  #line = null;
  #job;

  /**
   * @param {HTMLElement} main
   * @param {Api.StudyData} about
   * @param {Api.JobData | null} job
   */
  constructor(main, about, job) {
    this.name = about.name;
    this.#job = job ?? jobsOf(about.name)[0] ?? null;
    /** @type {StudySize} */
    this.size = /** @type {StudySize} */ (this.#job?.request.size ?? pref("studySize"));
    this.sizes = segments(t("How long"), SIZES, this.size, (size) => {
      this.size = size;
      setPref("studySize", size);
      this.load();
    });
    this.runButton = button(t("Run"), (event) => this.run(event.currentTarget), { main: true, "aria-label": t("Run {title}", { title: about.title }) });
    this.cluster = clusterField();
    this.progress = h("div");
    this.report = h("div", { role: "region", "aria-label": t("The report") });
    main.append(
      h("p.small", {}, h("a", { href: "#/studies" }, t("All studies"))),
      h("h1", {}, about.title || about.name),
      h("p.quiet.lead", {}, about.doc),
      h("section.panel.stack", {}, h("div.row.study-run", {}, h("div.grow", {}, this.sizes), this.runButton), this.cluster.element, this.progress),
      this.report,
    );
    stream.on("job", (changed) => this.onJob(changed), this.#ending.signal);
    this.drawJob();
    this.load();
  }

  /** @param {HTMLElement} control */
  async run(control) {
    const job = await attempt(() => post("/api/studies", { body: { name: this.name, size: this.size, cluster: this.cluster.value() } }), control);
    if (!job) return;
    stream.addJob(job);
  }

  /** @param {Api.JobData} job */
  onJob(job) {
    if (job.kind !== "study" || job.request.name !== this.name) return;
    this.#job = job;
    this.drawJob();
    if (this.#timer && isBusy(job)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = 0;
        this.load();
      },
      isBusy(job) ? REFRESH : 0,
    );
  }

  drawJob() {
    const job = this.#job;
    if (!job) return;
    if (this.#line) this.#line.update(job);
    else {
      this.#line = jobLine(job);
      this.progress.replaceChildren(this.#line);
    }
    this.runButton.disabled = isBusy(job);
  }

  async load() {
    const { size } = this;
    const found = await attempt(() => get("/api/studies/{study}/report", { path: { study: this.name }, query: { size } }));
    if (!found || size !== this.size) return;
    if (!found.n_measured) {
      this.report.replaceChildren(
        h("section.panel.missing", {}, h("h2", {}, t("No results of this size yet")), h("p.quiet", {}, t("Run it: the first figures appear here while it goes on."))),
      );
      return;
    }
    this.report.replaceChildren(
      h("section.panel", {}, h("h2", {}, t("Verdict")), h("p", {}, found.summary), h("p.small.quiet", {}, t("Agreement is decided by the confidence intervals; with fewer than 20 games there is no verdict."))),
      ...found.rankings.map(({ title, heads, rows }) =>
        h("section.panel", {}, h("h2", {}, title), table(title, heads.map((head, i) => [head, (/** @type {string[]} */ row) => row[i]]), rows)),
      ),
      h("section.panel", {}, h("h2", {}, t("Figures")), found.groups.map((group) => this.group(group))),
      h(
        "section.panel",
        {},
        h("h2", {}, t("Chart")),
        h("img.study-chart", {
          alt: t("Our figures beside the published ones, with their intervals; the tables above have the numbers"),
          src: address("/api/studies/{study}/chart", { path: { study: this.name }, query: { size } }) + `&at=${Date.now()}`,
        }),
      ),
      found.assumptions.length
        ? h("section.panel", {}, h("h2", {}, t("Assumptions")), h("ul", {}, found.assumptions.map((each) => h("li", {}, each))))
        : "",
      h("section.plain", {}, h("p.small.quiet", {}, found.source), commandLine(found.command)),
    );
  }

  /** @param {Api.FigureGroup} group */
  group({ title, figures }) {
    return h(
      "div.study-row",
      {},
      h("h3", {}, title),
      table(
        title,
        [
          [t("Measured"), (each) => each.measure],
          [t("Published"), (each) => each.published, "n"],
          [t("Ours"), (each) => each.ours, "n"],
          [t("95% interval"), (each) => each.interval, "n"],
          [t("Games"), (each) => each.n, "n"],
          [t("Agreement"), (each) => h(`span.verdict-${each.word.replace(/ /g, "-")}`, { title: each.agreement }, each.agreement)],
        ],
        figures,
      ),
    );
  }

  close() {
    this.#ending.abort();
    clearTimeout(this.#timer);
  }
}
