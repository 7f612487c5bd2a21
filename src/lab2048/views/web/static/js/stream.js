// The event stream of this tab: games that are watched, jobs, the state of the server.

import { ApiError, get, statusOf, TAB } from "./api.js";
import { Emitter } from "./emitter.js";
import { t } from "./text.js";

const RETRY = 1500; // ms
const MOST_GAMES = 9; // that the server sends to a tab

/** @typedef {"open" | "waiting" | "lost"} ConnectionState */

/**
 * `jobs` follows every change of the list, with the job that changed, or null if all may have.
 * @extends {Emitter<{ jobs: Api.JobData | null, job: Api.JobData, game: Api.ChangeData, deleted: number, status: Api.StatusData, connection: ConnectionState }>}
 */
class Stream extends Emitter {
  /** Newest first.  @type {Map<string, Api.JobData>} */
  jobs = new Map();
  hasJobs = false; // whether the list of all jobs has arrived
  /** @type {Api.StatusData | null} */
  status = null;
  /** @type {ConnectionState} */
  state = "waiting";
  /** @type {EventSource | null} */
  #source = null;
  /** @type {number[]} */
  #games = [];
  /** @type {Set<number>} */
  #background = new Set(); // games in which a player goes on while another page is shown
  #timer = 0;

  /**
   * Let the players of these games go on after their page has closed: the server pauses a game that nobody watches.
   * @param {number[]} games
   */
  keep(games) {
    for (const id of games) this.#background.add(id);
  }

  /**
   * Watch these games (at most nine), and those in the background.
   * @param {number[]} shown
   */
  watch(shown) {
    for (const id of shown) this.#background.delete(id);
    const games = [...shown, ...this.#background].slice(0, MOST_GAMES);
    const isSame = games.length === this.#games.length && games.every((id, i) => id === this.#games[i]);
    if (isSame && this.#source && this.#source.readyState !== EventSource.CLOSED) return;
    this.#games = [...games];
    this.open();
  }

  open() {
    clearTimeout(this.#timer);
    this.#source?.close();
    const source = new EventSource(
      `/api/events?tab=${TAB}${this.#games.length ? "&games=" + this.#games.join(",") : ""}`,
    );
    this.#source = source;
    source.onopen = () => this.#become("open");
    source.onerror = () => {
      if (source !== this.#source) return;
      this.#become(this.state === "open" ? "waiting" : "lost");
      if (source.readyState === EventSource.CLOSED) this.#timer = setTimeout(() => this.#retry(), RETRY);
    };
    source.addEventListener("status", ({ data }) => {
      this.status = /** @type {Api.StatusData} */ (JSON.parse(data));
      this.emit("status", this.status);
    });
    source.addEventListener("jobs", ({ data }) => {
      this.setJobs(/** @type {Api.JobList} */ (JSON.parse(data)).jobs);
    });
    source.addEventListener("job", ({ data }) => this.addJob(JSON.parse(data)));
    source.addEventListener("game", ({ data }) => {
      const change = /** @type {Api.ChangeData} */ (JSON.parse(data));
      if (!change.state.auto?.running) this.#background.delete(change.state.id);
      this.emit("game", change);
    });
    source.addEventListener("deleted", ({ data }) => {
      const { deleted } = /** @type {Api.DeletedData} */ (JSON.parse(data));
      this.emit("deleted", deleted);
    });
  }

  /**
   * Add or update a job; call it for the answer to a request, which may come before the job's event.
   * @param {Api.JobData} job
   */
  addJob(job) {
    if (!this.jobs.has(job.id)) this.jobs = new Map([[job.id, job], ...this.jobs]);
    else this.jobs.set(job.id, job);
    this.emit("job", job);
    this.emit("jobs", job);
  }

  /** Take the list of all jobs.  @param {Api.JobData[]} jobs */
  setJobs(jobs) {
    this.jobs = new Map(jobs.map((job) => [job.id, job]));
    this.hasJobs = true;
    this.emit("jobs", null);
  }

  /** @param {string} id */
  removeJob(id) {
    this.jobs.delete(id);
    this.emit("jobs", null);
  }

  /** Open the stream again; if the server was restarted with another token, load the page that asks for it. */
  async #retry() {
    try {
      await get("/api/status");
    } catch (error) {
      if (statusOf(error) === 403) return location.reload();
    }
    this.open();
  }

  /** @param {ConnectionState} state */
  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.emit("connection", state);
  }
}

export const stream = new Stream();

/** @typedef {{ player?: string | null, solve?: boolean }} Need what a request needs: a player (null: the default one), or the solver */

/**
 * Throw the error that the server would answer while the player or the solver is being prepared.
 *
 * A request that the server refuses is an error in the browser's console, so the page asks first.
 * @param {Need} need
 */
export async function checkReady({ player = null, solve = false }) {
  if (stream.status?.doing === "") return; // everything is prepared
  const { ready, doing } = await get("/api/ready", { query: { player, solve } });
  if (!ready) throw new ApiError(503, { error: t("{doing}: try again in a moment", { doing }) });
}

/**
 * Send a request as soon as what it needs is ready; try again whenever the server reports its status.
 * @template T
 * @param {Need} need
 * @param {() => Promise<T>} ask
 * @returns {Promise<T>}
 */
export async function retryUntilReady(need, ask) {
  for (;;) {
    try {
      await checkReady(need);
      return await ask();
    } catch (error) {
      if (statusOf(error) !== 503) throw error;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 2 * RETRY);
        stream.once("status", () => {
          clearTimeout(timer);
          resolve(undefined);
        });
      });
    }
  }
}
