// Jobs: long work that runs beside the page, how it stands, and what can be done about it.

import { post, remove } from "./api.js";
import { attempt, button, h } from "./dom.js";
import { writeAddress } from "./pure/codec.js";
import { clock, percent } from "./pure/format.js";
import { stream } from "./stream.js";

/** The address of the page that shows a job. */
export function jobAddress(job) {
  const page = { match: "lab", train: "train", solve: "solve", study: "lab" }[job.kind];
  return page ? writeAddress(page, [job.id]) : null;
}

/** A list of jobs that follows them; lines stay in place, so that the focus does. */
export function jobList(which, signal, leave) {
  const list = h("div.stack");
  const lines = new Map();
  const draw = () => {
    const all = which();
    for (const job of all) {
      if (lines.has(job.id)) lines.get(job.id).update(job);
      else lines.set(job.id, jobLine(job, leave));
    }
    const wanted = all.length ? all.map(({ id }) => lines.get(id)) : [h("p.quiet.small", {}, "None yet.")];
    if (wanted.length !== list.children.length || wanted.some((line, i) => line !== list.children[i]))
      list.replaceChildren(...wanted);
  };
  stream.on("jobs", draw, signal);
  draw();
  return list;
}

const isBusy = (job) => ["running", "queued", "ending"].includes(job.state);

/** What a job says, or what it is busy with while it says nothing. */
function saying({ state, message }) {
  if (state === "queued") return "waiting for its turn";
  if (state === "ending") return "keeping what it has";
  return message || (state === "running" ? stream.status?.doing || "getting ready" : "");
}

/** A job with its progress, and what can be done about it; `update` shows how it stands now. */
export function jobLine(first, leave = () => {}) {
  const { id, title, kind } = first;
  const act = (what) => (event) =>
    attempt(async () => stream.learn(await post(`/api/jobs/${id}/${what}`)), event.currentTarget);
  const address = jobAddress(first);
  const state = h("span.small.quiet");
  const bar = h("progress", { max: 1, "aria-label": `Progress of ${title}` });
  const words = h("span.small.quiet.grow");
  const acts = h("div.row");
  const element = h(
    "div.job",
    {},
    h(
      "div.row.spread.nowrap",
      {},
      address ? h("a.grow", { href: address, onclick: leave }, title) : h("b.grow", {}, title),
      state,
    ),
    bar,
    h("div.row.spread.nowrap", {}, words, acts),
  );
  let offered = null;
  let told = first;
  let toldAt = 0; // by the clock of this page, in seconds
  let timer = 0;
  const isGoing = () => ["running", "ending"].includes(told.state);
  const write = () => {
    const seconds = told.seconds + (isGoing() ? performance.now() / 1000 - toldAt : 0);
    words.textContent = [saying(told), seconds ? clock(seconds) : null].filter(Boolean).join(", ");
  };
  /** The clock goes on while a job has nothing to say. */
  const tick = () => {
    if (timer || !isGoing()) return;
    timer = setTimeout(() => {
      timer = 0;
      if (!element.isConnected) return; // the next news start it again
      write();
      tick();
    }, 1000);
  };
  element.update = (job) => {
    const isOver = !isBusy(job);
    told = job;
    toldAt = performance.now() / 1000;
    const stands = kind === "train" && job.state === "cancelled" ? "paused" : job.state; // it was Pause that was pressed
    state.textContent = isOver || job.progress === null ? stands : percent(Math.floor(job.progress * 100) / 100);
    bar.hidden = isOver;
    if (job.progress === null) bar.removeAttribute("value");
    else bar.value = job.progress;
    write();
    tick();
    const offers = `${job.state} ${job.can_cancel} ${job.can_resume}`;
    if (offers === offered) return;
    offered = offers;
    const stop = job.state === "ending" ? "End now" : kind === "train" ? "Pause" : "Stop";
    acts.replaceChildren(
      ...[
        job.can_cancel
          ? button(stop, act("cancel"), {
              slim: true,
              "aria-label": `${stop} ${title}`,
              title: job.state === "ending" ? "without waiting for what it wants to keep" : null,
            })
          : null,
        job.can_resume ? button("Resume", act("resume"), { slim: true, "aria-label": `Resume ${title}` }) : null,
        isOver
          ? button(
              "Forget",
              (event) =>
                attempt(async () => {
                  await remove(`/api/jobs/${id}`);
                  stream.forget(id);
                }, event.currentTarget),
              { slim: true, "aria-label": `Forget ${title}`, title: "off this list; what it made stays" },
            )
          : null,
      ].filter(Boolean),
    );
  };
  element.update(first);
  return element;
}
