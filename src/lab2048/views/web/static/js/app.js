// The frame around the pages: routing, keys, the job tray, the connection, help and settings.

import { messageOf, onUnanswered, statusOf } from "./api.js";
import { byId, dropErrors, h, isPointing, missing, releaseFocus, say, toast } from "./dom.js";
import { titleOf } from "./players.js";
import { applyPrefs } from "./prefs.js";
import { isPressing, isText, isTyping } from "./pure/keys.js";
import { readAddress, writeAddress } from "./pure/codec.js";
import { percent } from "./pure/format.js";
import { isBusy, pageOf } from "./pure/job.js";
import { stream } from "./stream.js";
import { t, tn, translateFrame } from "./text.js";

/** @typedef {[title: string, load: () => Promise<PageModule>]} Page */

/** @type {Record<string, Page>} */
const PAGES = {
  play: [t("Play"), () => import("./pages/play.js")],
  watch: [t("Watch"), () => import("./pages/watch.js")],
  games: [t("Games"), () => import("./pages/games.js")],
  review: [t("Review"), () => import("./pages/review.js")],
  practice: [t("Practice"), () => import("./pages/practice.js")],
  puzzles: [t("Puzzles"), () => import("./pages/puzzles.js")],
  race: [t("Race the ghost"), () => import("./pages/race.js")],
  design: [t("Design"), () => import("./pages/design.js")],
  lab: [t("Lab"), () => import("./pages/lab.js")],
  studies: [t("Studies"), () => import("./pages/studies.js")],
  train: [t("Train"), () => import("./pages/train.js")],
  solve: [t("Solve"), () => import("./pages/solve.js")],
};
/** @type {Page} */
const NOT_FOUND = [
  t("Not found"),
  async () => ({
    open(main, { page }) {
      main.append(
        h("h1", {}, t("Not found")),
        missing(t("There is no page {page} here.", { page: page.slice(0, 40) }), ["#/play", t("Play")], ["#/games", t("All games")]),
      );
    },
  }),
];
const IN_BAR = /** @type {Record<string, string>} */ ({ review: "games", puzzles: "practice", race: "games" }); // which entry of the bar a page belongs to

/** @type {OpenPage | null} */
let current = null; // the page that is shown
let visit = 0;
let isBroken = false; // the page could not be shown
let hasMissed = false; // a request was not answered
let wasAway = false; // the event stream was interrupted

async function show() {
  const where = readAddress(location.hash);
  const name = Object.hasOwn(PAGES, where.page) ? where.page : "not-found";
  const [title, load] = PAGES[name] ?? NOT_FOUND;
  const mine = ++visit;
  isBroken = false;
  dropErrors();
  for (const link of document.querySelectorAll(".pages a, .tabs a"))
    mark(link, link.getAttribute("href") === `#/${IN_BAR[name] ?? name}`);
  // On a phone, pages that are not in the bar are behind its last button.
  mark(byId("more"), name in PAGES && !document.querySelector(".tabs a[aria-current]"));
  document.title = `${title} - lab2048`;
  const main = byId("page");
  try {
    const [module] = await Promise.all([load(), name === "play" ? null : styles()]);
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
    if (mine !== visit) return;
    isBroken = true;
    const status = statusOf(error); // 0: no answer; undefined: perhaps a script did not arrive
    if (status === 0 || (status === undefined && stream.state !== "open")) return drawOffline(); // shown again when the server is back
    console.error(error);
    const words = t("The page {title} could not be shown: {error}", { title, error: messageOf(error) });
    toast(words, t("Try again"), show).classList.add("is-error");
  }
}

/** @type {Promise<unknown> | null} */
let styled = null;

/** Load the style sheet that Play does without, so that the first board does not wait for it. */
function styles() {
  styled ??= new Promise((resolve, reject) => {
    const href = "/static/css/pages.css";
    const onerror = () => {
      styled = null; // the next visit tries again
      reject(new Error(href));
    };
    document.head.append(h("link", { rel: "stylesheet", href, onload: resolve, onerror }));
  });
  return styled;
}

/**
 * @param {Element} entry
 * @param {boolean} isHere
 */
function mark(entry, isHere) {
  if (isHere) entry.setAttribute("aria-current", "page");
  else entry.removeAttribute("aria-current");
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if ((event.target instanceof HTMLElement && isTyping(event.target)) || isPressing(event)) return;
  if (event.key === "?" && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openDialog("help");
    return;
  }
  if (current?.onKey?.(event)) event.preventDefault();
});

// Where keys play the game, a control that was clicked gives up the focus: arrows, Space and Enter are moves again.
// A control that was reached by the Tab key keeps it.
document.addEventListener("click", ({ detail, target }) => {
  if (detail > 0 && current?.hasGameKeys && !(target instanceof Element && target.closest("select, dialog"))) releaseFocus();
});
document.addEventListener("change", ({ target }) => {
  if (isPointing() && current?.hasGameKeys && target instanceof Element && !target.closest("dialog")) releaseFocus();
});
document.addEventListener("paste", (event) => {
  const isOurs = !document.querySelector("dialog[open]") && !(event.target instanceof HTMLElement && isText(event.target));
  if (isOurs && current?.onPaste?.(event.clipboardData?.getData("text") ?? "")) event.preventDefault();
});

/** @param {"help" | "settings" | "more" | "jobs"} name */
async function openDialog(name) {
  const dialogs = await import("./dialogs.js");
  dialogs[name]();
}

/** Show in the tray the job that runs, else one that waits or was interrupted. */
function drawTray() {
  const tray = byId("tray");
  const jobs = [...stream.jobs.values()];
  tray.hidden = jobs.length === 0;
  const busy = jobs.filter(isBusy);
  const interrupted = jobs.filter((job) => job.state === "interrupted");
  const shown = busy.find((job) => job.state === "running") ?? busy[0];
  const bar = /** @type {HTMLProgressElement} */ (tray.querySelector("progress"));
  bar.hidden = !shown;
  let name = interrupted.length ? t("{n} interrupted", { n: interrupted.length }) : t("Jobs");
  let share = interrupted.length ? "!" : String(jobs.length);
  let label = interrupted.length ? name : t("{n}, none is running", { n: jobs.length });
  if (shown) {
    const { progress, state } = shown;
    const title = titleOf(shown);
    name = busy.length > 1 ? `${title} +${busy.length - 1}` : title;
    share = progress === null ? "" : percent(Math.floor(progress * 100) / 100);
    label = `${title}, ${share || state}`;
    if (progress === null) bar.removeAttribute("value");
    else bar.value = progress;
  }
  for (const [part, text] of Object.entries({ name, share }))
    /** @type {HTMLElement} */ (tray.querySelector(`.${part}`)).textContent = text;
  tray.setAttribute("aria-label", t("Jobs: {label}", { label }));
}

function drawDot() {
  const { state, status } = stream;
  const isPreparing = state === "open" && status?.ready === false;
  const connected = isPreparing
    ? t("Connected; {doing}", { doing: status.doing || t("preparing the players") })
    : t("Connected");
  const words = { open: connected, waiting: t("Connecting"), lost: t("No connection: is lab2048 still running?") }[state];
  const dot = byId("dot");
  /** @type {HTMLElement} */ (dot.querySelector(".dot")).dataset.state = isPreparing ? "waiting" : state;
  dot.setAttribute("aria-label", words);
  dot.title = words;
}

/** One banner while the server does not answer. */
function drawOffline() {
  const line = byId("offline");
  const isGone = stream.state === "lost" || ((hasMissed || isBroken) && stream.state !== "open");
  if (line.hidden === !isGone) return;
  line.hidden = !isGone;
  line.textContent = isGone
    ? t("lab2048 does not answer. Start it again with the command lab2048; this page then goes on by itself.")
    : "";
}

/** Go on after the server was away: what could not be loaded is loaded again, and games may have gone on or been paused. */
function reconnected() {
  if (stream.state !== "open") return void (wasAway = true);
  const hadMissed = hasMissed;
  const isBack = wasAway || hadMissed;
  hasMissed = wasAway = false;
  if (isBroken) location.reload(); // the page before may still be shown, and scripts be missing
  else if (isBack && current?.reconnect) current.reconnect();
  else if (hadMissed) show();
}

/** Say how many games are not saved yet, and why; the server keeps trying. */
function drawUnsaved() {
  const { unsaved = 0, store = "" } = stream.status ?? {};
  const line = byId("unsaved");
  line.hidden = !unsaved;
  if (line.hidden) return;
  /** @type {HTMLElement} */ (line.querySelector("b")).textContent = tn(
    unsaved,
    "Not saved yet: {n} game.",
    "Not saved yet: {n} games.",
  );
  const reason = store.charAt(0).toUpperCase() + store.slice(1);
  /** @type {HTMLElement} */ (line.querySelector("span")).textContent = t(
    "{reason}. Saving is tried again automatically.",
    { reason },
  );
}

/** Ids of the jobs whose end has been announced. */
const announced = new Set();

/** @param {Api.JobData} job */
function announce(job) {
  const title = titleOf(job);
  const words = /** @type {Record<string, string>} */ ({
    done: t("{title} is done", { title }),
    failed: t("{title} failed: {message}", { title, message: job.message }),
    interrupted: t("{title} was interrupted", { title }),
  })[job.state];
  if (!words) announced.delete(job.id);
  if (!words || announced.has(job.id)) return;
  announced.add(job.id);
  const page = pageOf(job);
  const isThere = readAddress(location.hash).page === page;
  if (!page || isThere) toast(words);
  else toast(words, t("Show"), () => (location.hash = writeAddress(page, [job.id])));
}

applyPrefs();
translateFrame();
if (!location.hash && location.pathname.length > 1) {
  // A path such as /play?board=4x4, typed without the #.
  const { page, rest } = readAddress("#" + location.pathname);
  const query = Object.fromEntries(new URLSearchParams(location.search));
  history.replaceState(null, "", "/" + writeAddress(page, rest, query));
}
addEventListener("hashchange", (event) => {
  if (location.hash === "#page") {
    byId("page").focus();
    history.replaceState(null, "", new URL(event.oldURL).hash || "#/play");
    return;
  }
  show();
});
stream.on("jobs", drawTray);
stream.on("job", announce);
onUnanswered(() => {
  hasMissed = true;
  drawOffline();
});
stream.on("connection", drawDot);
stream.on("connection", drawOffline);
stream.on("connection", reconnected);
stream.on("status", drawDot);
stream.on("status", drawUnsaved);
for (const name of /** @type {const} */ (["help", "settings", "more"]))
  byId(name).addEventListener("click", () => openDialog(name));
byId("tray").addEventListener("click", () => openDialog("jobs"));
byId("dot").addEventListener("click", () => toast(byId("dot").title, null, null, { ms: 3000 }));
show();
