// The one stream of events of this tab: games that are watched, jobs, the state of the server.

import { TAB } from "./api.js";

const RETRY = 1500; // ms

class Stream extends EventTarget {
  jobs = new Map();
  isTold = false; // whether all jobs are known
  status = null;
  state = "waiting"; // open, waiting, lost
  #source = null;
  #games = [];
  #timer = 0;

  /** Watch these games (at most nine), and no others. */
  watch(games) {
    const same = games.length === this.#games.length && games.every((id, i) => id === this.#games[i]);
    if (same && this.#source && this.#source.readyState !== EventSource.CLOSED) return;
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
      if (source.readyState === EventSource.CLOSED) this.#timer = setTimeout(() => this.open(), RETRY);
    };
    const hear = (name, use) => source.addEventListener(name, (event) => use(JSON.parse(event.data)));
    hear("status", (status) => {
      this.status = status;
      this.#tell("status", status);
    });
    hear("jobs", ({ jobs }) => {
      this.jobs = new Map(jobs.map((job) => [job.id, job]));
      this.isTold = true;
      this.#tell("jobs", null);
    });
    hear("job", (job) => {
      const isNew = !this.jobs.has(job.id);
      if (isNew) this.jobs = new Map([[job.id, job], ...this.jobs]);
      else this.jobs.set(job.id, job);
      this.#tell("job", job);
      this.#tell("jobs", job);
    });
    hear("game", (change) => this.#tell("game", change));
  }

  /** A job that this tab has just started or ended: known before its event comes. */
  learn(job) {
    if (!this.jobs.has(job.id)) this.jobs = new Map([[job.id, job], ...this.jobs]);
    else this.jobs.set(job.id, job);
    this.#tell("job", job);
    this.#tell("jobs", job);
  }

  forget(id) {
    this.jobs.delete(id);
    this.#tell("jobs", null);
  }

  /** Listen until `signal` ends it. */
  on(name, listener, signal) {
    this.addEventListener(name, (event) => listener(event.detail), { signal });
  }

  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.#tell("connection", state);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

export const stream = new Stream();

/** Ask again, when the server says how it stands, what it could not answer yet. */
export async function patiently(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (error.status !== 503) throw error;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 2 * RETRY);
        stream.addEventListener(
          "status",
          () => {
            clearTimeout(timer);
            resolve();
          },
          { once: true },
        );
      });
    }
  }
}
