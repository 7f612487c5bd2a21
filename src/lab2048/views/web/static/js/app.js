// The frame: which page is shown, keys, the job tray, the connection, help and settings.

import { h, missing, say, toast } from "./dom.js";
import { applyPrefs } from "./prefs.js";
import { isPressing, isTyping } from "./pure/keys.js";
import { readAddress, writeAddress } from "./pure/codec.js";
import { percent } from "./pure/format.js";
import { stream } from "./stream.js";

const PAGES = {
  play: ["Play", () => import("./pages/play.js")],
  watch: ["Watch", () => import("./pages/watch.js")],
  games: ["Games", () => import("./pages/games.js")],
  review: ["Replay", () => import("./pages/review.js")],
  design: ["Design", () => import("./pages/design.js")],
  lab: ["Lab", () => import("./pages/lab.js")],
  train: ["Train", () => import("./pages/train.js")],
  solve: ["Solve", () => import("./pages/solve.js")],
};
const NOWHERE = [
  "Not found",
  async () => ({
    open: (main, { page }) =>
      void main.append(
        h("h1", {}, "Not found"),
        missing(`There is no page ${page.slice(0, 40)} here.`, ["#/play", "Play"], ["#/games", "All games"]),
      ),
  }),
];
const IN_BAR = { review: "games" }; // which entry of the bar a page belongs to

let current = null; // the page that is shown: {onKey?, close?}
let visit = 0;

async function show() {
  const where = readAddress(location.hash);
  const name = Object.hasOwn(PAGES, where.page) ? where.page : "nowhere";
  const [title, load] = PAGES[name] ?? NOWHERE;
  const mine = ++visit;
  for (const link of document.querySelectorAll(".pages a, .tabs a"))
    mark(link, link.getAttribute("href") === `#/${IN_BAR[name] ?? name}`);
  // On a phone, pages without a place in the bar are behind its last button.
  mark(document.getElementById("more"), name in PAGES && !document.querySelector(".tabs a[aria-current]"));
  document.title = `${title} - lab2048`;
  const main = document.getElementById("page");
  try {
    const module = await load();
    if (mine !== visit) return;
    current?.close?.();
    current = null;
    main.replaceChildren();
    main.className = name;
    if (mine > 1) {
      // At once: whoever moves the focus while the page fills keeps it where it is.
      main.focus({ preventScroll: true });
      scrollTo(0, 0);
      say(title);
    }
    const opened = (await module.open(main, { ...where, isHere: () => mine === visit })) ?? {};
    if (mine !== visit) return void opened.close?.();
    current = opened;
    if (!current.watches) stream.watch([]);
  } catch (error) {
    console.error(error);
    toast(`The page ${title} could not be shown: ${error.message}`, "Again", show);
  }
}

function mark(entry, isHere) {
  if (isHere) entry.setAttribute("aria-current", "page");
  else entry.removeAttribute("aria-current");
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target) || isPressing(event)) return;
  if (event.key === "?" && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openDialog("help");
    return;
  }
  if (current?.onKey?.(event)) event.preventDefault();
});

async function openDialog(name) {
  const dialogs = await import("./dialogs.js");
  dialogs[name]();
}

/** The job that the tray shows: one that runs, or waits; then none. */
function drawTray() {
  const tray = document.getElementById("tray");
  const busy = [...stream.jobs.values()].filter((job) => ["running", "queued", "ending"].includes(job.state));
  const broken = [...stream.jobs.values()].filter((job) => job.state === "interrupted");
  const shown = busy.find((job) => job.state === "running") ?? busy[0] ?? broken[0];
  tray.hidden = stream.jobs.size === 0;
  if (tray.hidden) return;
  const bar = tray.querySelector("progress");
  bar.hidden = !busy.length;
  const name = !shown ? "Jobs" : busy.length ? shown.title : `${broken.length} interrupted`;
  tray.querySelector(".name").textContent = busy.length > 1 ? `${name} +${busy.length - 1}` : name;
  if (busy.length && shown.progress !== null) bar.value = shown.progress;
  else bar.removeAttribute("value");
  const share = busy.length
    ? shown.progress === null
      ? ""
      : percent(Math.floor(shown.progress * 100) / 100)
    : shown
      ? "!"
      : String(stream.jobs.size);
  tray.querySelector(".share").textContent = share;
  tray.setAttribute(
    "aria-label",
    busy.length
      ? `Jobs: ${shown.title}, ${share || shown.state}`
      : shown
        ? `Jobs: ${name}`
        : `Jobs: ${stream.jobs.size}, none runs`,
  );
}

function drawDot() {
  const { state, status } = stream;
  const words =
    state === "open"
      ? status?.ready === false
        ? `Connected; ${status.doing || "players are made ready"}`
        : "Connected"
      : state === "waiting"
        ? "Connecting"
        : "No connection: is lab2048 still running?";
  const dot = document.querySelector("#dot .dot");
  dot.dataset.state = state === "open" && status?.ready === false ? "waiting" : state;
  document.getElementById("dot").setAttribute("aria-label", words);
  document.getElementById("dot").title = words;
}

const finished = new Set();

function announce(job) {
  const isOver = ["done", "failed", "interrupted"].includes(job.state);
  if (!isOver) finished.delete(job.id);
  if (!isOver || finished.has(job.id)) return;
  finished.add(job.id);
  const page = { match: "lab", train: "train", solve: "solve", study: "lab" }[job.kind];
  const words = { done: "is done", failed: `failed: ${job.message}`, interrupted: "was interrupted" }[job.state];
  const isThere = readAddress(location.hash).page === page;
  toast(
    `${job.title} ${words}`,
    page && !isThere ? "Show" : null,
    () => (location.hash = writeAddress(page, [job.id])),
  );
}

applyPrefs();
if (!location.hash && location.pathname.length > 1) {
  history.replaceState(null, "", "/" + writeAddress(...pathPage(location.pathname)) + "");
}
function pathPage(path) {
  const { page, rest } = readAddress("#" + path);
  return [page, rest, Object.fromEntries(new URLSearchParams(location.search))];
}
addEventListener("hashchange", (event) => {
  if (location.hash === "#page") {
    document.getElementById("page").focus();
    history.replaceState(null, "", new URL(event.oldURL).hash || "#/play");
    return;
  }
  show();
});
stream.on("jobs", drawTray);
stream.on("job", announce);
stream.on("connection", drawDot);
stream.on("status", drawDot);
for (const name of ["help", "settings", "more"])
  document.getElementById(name).addEventListener("click", () => openDialog(name));
document.getElementById("tray").addEventListener("click", () => openDialog("jobs"));
document
  .getElementById("dot")
  .addEventListener("click", () => toast(document.getElementById("dot").title, null, null, { ms: 3000 }));
show();
