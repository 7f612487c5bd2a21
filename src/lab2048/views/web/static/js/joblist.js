// Jobs: their progress, and buttons to stop, resume and remove them.

import { get, post, remove } from "./api.js";
import { attempt, button, h } from "./dom.js";
import { titleOf } from "./players.js";
import { writeAddress } from "./pure/codec.js";
import { clock, percent } from "./pure/format.js";
import { isBusy, pageOf } from "./pure/job.js";
import { stream } from "./stream.js";
import { t, told } from "./text.js";
import { offerRestore } from "./undo.js";

/**
 * Make a list of jobs that updates itself.  Lines are reused, so that the focus stays.
 * @param {() => Api.JobData[]} which
 * @param {AbortSignal} signal
 * @param {() => void} [leave] called when a link is followed
 */
export function jobList(which, signal, leave) {
  const list = h("div.stack");
  /** @type {Map<string, JobLine>} */
  const lines = new Map();
  const draw = () => {
    const wanted = which().map((job) => {
      const line = lines.get(job.id) ?? jobLine(job, leave);
      lines.set(job.id, line);
      line.update(job);
      return /** @type {HTMLElement} */ (line);
    });
    if (!wanted.length) wanted.push(h("p.quiet.small", {}, t("None yet.")));
    if (wanted.length !== list.children.length || wanted.some((line, i) => line !== list.children[i]))
      list.replaceChildren(...wanted);
  };
  stream.on("jobs", draw, signal);
  draw();
  return list;
}

/**
 * The message of a job, or what it is doing while it has none.
 * @param {Api.JobData} job
 */
function activity({ kind, state, message }) {
  if (kind === "study" && state === "done") return ""; // its last line is a command, for a terminal
  if (state === "queued") return message || t("waiting for its turn");
  if (state === "ending") return t("saving what it has");
  return told(message) || (state === "running" ? stream.status?.doing || t("getting ready") : "");
}

/** @typedef {ReturnType<typeof jobLine>} JobLine */

/**
 * Show a job with its progress and buttons; `update` shows its new state.
 * @param {Api.JobData} first
 * @param {() => void} [leave] called when its link is followed
 */
export function jobLine(first, leave = () => {}) {
  const { id, kind } = first;
  const title = titleOf(first);
  /**
   * @param {string} text
   * @param {() => Promise<unknown>} work
   * @param {string} [tip]
   */
  const action = (text, work, tip) =>
    button(text, ({ currentTarget }) => attempt(work, currentTarget), {
      slim: true,
      "aria-label": t("{action} {title}", { action: text, title }),
      title: tip,
    });
  const path = { job: id };
  const page = pageOf(first);
  const state = h("span.small.quiet");
  const bar = h("progress", { max: 1, "aria-label": t("Progress of {title}", { title }) });
  const words = h("span.small.quiet.grow");
  const acts = h("div.row");
  const element = h(
    "div.job",
    {},
    h(
      "div.row.spread.nowrap",
      {},
      page ? h("a.grow", { href: writeAddress(page, [id]), onclick: leave }, title) : h("b.grow", {}, title),
      state,
    ),
    bar,
    h("div.row.spread.nowrap", {}, words, acts),
  );
  let offered = "";
  let shown = first;
  let updatedAt = 0; // by the clock of this page, in seconds
  let timer = 0;
  let wasShown = false; // a line may be made some time before it is shown
  const isTimed = () => ["running", "ending"].includes(shown.state);
  const write = () => {
    const seconds = shown.seconds + (isTimed() ? performance.now() / 1000 - updatedAt : 0);
    words.textContent = [activity(shown), seconds ? clock(seconds) : null].filter(Boolean).join(", ");
  };
  /** Keep the clock going between updates. */
  const tick = () => {
    if (timer || !isTimed()) return;
    timer = setTimeout(() => {
      timer = 0;
      if (wasShown && !element.isConnected) return; // the next update starts it again
      wasShown = element.isConnected;
      write();
      tick();
    }, 1000);
  };
  /** @param {Api.JobData} job */
  const update = (job) => {
    const isOver = !isBusy(job);
    shown = job;
    updatedAt = performance.now() / 1000;
    const name = kind === "train" && job.state === "cancelled" ? t("paused") : told(job.state); // its button says Pause
    state.textContent = isOver || job.progress === null ? name : percent(Math.floor(job.progress * 100) / 100);
    bar.hidden = isOver;
    if (job.progress === null) bar.removeAttribute("value");
    else bar.value = job.progress;
    write();
    tick();
    const offers = `${job.state} ${job.can_cancel} ${job.can_resume}`;
    if (offers === offered) return;
    offered = offers;
    const buttons = [];
    if (job.can_cancel) {
      const isEnding = job.state === "ending";
      const stop = isEnding ? t("End now") : kind === "train" ? t("Pause") : t("Stop");
      const cancel = async () => stream.addJob(await post("/api/jobs/{job}/cancel", { path }));
      buttons.push(action(stop, cancel, isEnding ? t("without waiting until it has saved") : undefined));
    }
    if (job.can_resume)
      buttons.push(action(t("Resume"), async () => stream.addJob(await post("/api/jobs/{job}/resume", { path }))));
    if (kind === "study" && page && job.state === "done")
      buttons.push(h("a.button.slim", { href: writeAddress(page, [id]), onclick: leave }, t("Report")));
    if (isOver) {
      const forget = async () => {
        const gone = await remove("/api/jobs/{job}", { path });
        stream.removeJob(id);
        const putBack = async () => stream.setJobs((await get("/api/jobs")).jobs);
        offerRestore(gone, putBack, t("{name} removed from the list; its results stay", { name: title }));
      };
      buttons.push(action(t("Forget"), forget, t("remove from this list; its results stay")));
    }
    acts.replaceChildren(...buttons);
  };
  update(first);
  return Object.assign(element, { update });
}
