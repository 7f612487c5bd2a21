// Facts about a job that several parts of the page need.

/** @type {Record<string, string>} */
const PAGES = { match: "lab", train: "train", solve: "solve", study: "studies" }; // by the kind of a job

/**
 * The page that shows a job, if there is one.
 * @param {Api.JobData} job
 */
export function pageOf(job) {
  return job.state !== "damaged" && Object.hasOwn(PAGES, job.kind) ? PAGES[job.kind] : null;
}

/** @param {Api.JobData} job */
export function isBusy(job) {
  return ["running", "queued", "ending"].includes(job.state);
}
