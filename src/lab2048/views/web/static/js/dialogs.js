// Help, settings, the jobs, and the pages that have no room in the bar of a phone.

import { post, remove } from "./api.js";
import { attempt, button, dialog, h, segments } from "./dom.js";
import { pref, setPref } from "./prefs.js";
import { writeAddress } from "./pure/codec.js";
import { clock, percent } from "./pure/format.js";
import { stream } from "./stream.js";

const KEYS = [
  [["←", "↑", "→", "↓"], "move; also W A S D, H J K L and the number pad"],
  [["Q", "W", "E", "A", "S", "D"], "move on hexagons"],
  [["U", "Backspace"], "undo"],
  [["Y"], "redo"],
  [["Space"], "the best move, once"],
  [["Enter", "P"], "let the player play on; pause"],
  [["T"], "hints: off, the best move, all values"],
  [["N"], "new game; the old one is kept"],
  [["1", "...", "9"], "let one of the players move"],
  [["[", "]"], "slower, faster"],
  [["`"], "a cursor that reads cells to those who hear the page"],
  [["?"], "this help"],
];

export function help() {
  const box = dialog(
    "Keys",
    h(
      "dl.keys",
      {},
      KEYS.map(([keys, words]) => [
        h(
          "dt",
          {},
          keys.map((key) => [h("kbd", {}, key), " "]),
        ),
        h("dd", {}, words),
      ]),
    ),
    h(
      "p.small.quiet",
      {},
      "In a replay: ← → a move, Page Up and Page Down ten, Home and End. On a phone: swipe over the board, or tap the bars around it.",
    ),
    h(
      "p.small.quiet",
      {},
      "Tiles slide as far as they can, and two equal ones that meet become one. Undo and the same move give the same new tile: the dice are decided by the seed.",
    ),
    h(
      "div.row.end",
      {},
      button("Close", () => box.close(), { main: true, autofocus: true }),
    ),
  );
}

export function settings() {
  const line = (label, name, options) =>
    h(
      "div.field",
      {},
      h("span", {}, label),
      segments(label, options, pref(name), (value) => setPref(name, value)),
    );
  const box = dialog(
    "Settings",
    h(
      "div.stack",
      {},
      line("Light or dark", "theme", [
        ["auto", "Auto"],
        ["light", "Light"],
        ["dark", "Dark"],
      ]),
      line("Tiles", "tiles", [
        ["classic", "Classic"],
        ["contrast", "Colour-blind"],
      ]),
      line("Motion", "motion", [
        ["auto", "Auto"],
        ["off", "None"],
      ]),
      h("p.small.quiet", {}, "Kept in this browser. Games are kept by lab2048 on this machine; nothing leaves it."),
    ),
    h(
      "div.row.end",
      {},
      button("Close", () => box.close(), { main: true }),
    ),
  );
}

export function more() {
  const link = (page, text, words) =>
    h("a.choice", { href: `#/${page}`, onclick: () => box.close() }, h("b", {}, text), h("span", {}, words));
  const box = dialog(
    "More",
    h(
      "div.choices",
      {},
      link("watch", "Watch", "players side by side"),
      link("train", "Train", "networks that learn by playing"),
      link("solve", "Solve", "boards solved exactly"),
    ),
    h(
      "div.row.end",
      {},
      button("Keys", () => {
        box.close();
        help();
      }),
      button("Settings", () => {
        box.close();
        settings();
      }),
      button("Close", () => box.close(), { main: true }),
    ),
  );
}

/** The address of the page that shows a job. */
export function jobAddress(job) {
  const page = { match: "lab", train: "train", solve: "solve", study: "lab" }[job.kind];
  return page ? writeAddress(page, [job.id]) : null;
}

export function jobs() {
  const ending = new AbortController();
  const list = jobList(
    () => [...stream.jobs.values()].slice(0, 30),
    ending.signal,
    () => box.close(),
  );
  const box = dialog(
    "Jobs",
    list,
    h(
      "div.row.end",
      {},
      button("Close", () => box.close(), { main: true }),
    ),
  );
  box.addEventListener("close", () => ending.abort());
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
  element.update = (job) => {
    const isOver = !isBusy(job);
    state.textContent = isOver || job.progress === null ? job.state : percent(Math.floor(job.progress * 100) / 100);
    bar.hidden = isOver;
    if (job.progress === null) bar.removeAttribute("value");
    else bar.value = job.progress;
    words.textContent = [job.message, job.seconds ? clock(job.seconds) : null].filter(Boolean).join(", ");
    const offers = `${job.can_cancel} ${job.can_resume} ${isOver}`;
    if (offers === offered) return;
    offered = offers;
    acts.replaceChildren(
      ...[
        job.can_cancel
          ? button(kind === "train" ? "Pause" : "Stop", act("cancel"), {
              slim: true,
              "aria-label": `${kind === "train" ? "Pause" : "Stop"} ${title}`,
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
              { slim: true, "aria-label": `Forget ${title}` },
            )
          : null,
      ].filter(Boolean),
    );
  };
  element.update(first);
  return element;
}
