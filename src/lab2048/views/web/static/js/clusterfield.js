// The choice where a job runs: on this machine, or on a Ray cluster.

import { get } from "./api.js";
import { attempt, field, select } from "./dom.js";
import { t } from "./text.js";

/** @typedef {"auto" | "local" | null} Cluster */

/**
 * Hidden where Ray is not installed.
 * @param {() => unknown} onchange
 */
export function clusterField(onchange = () => {}) {
  const choice = select(
    [
      ["", t("this machine")],
      ["auto", t("a Ray cluster")],
      ["local", t("Ray on this machine")],
    ],
    "",
    onchange,
    { name: "cluster" },
  );
  const element = field(t("Run on"), choice);
  element.hidden = true;
  attempt(() => get("/api/jobs/options")).then((found) => {
    element.hidden = !found?.has_cluster;
  });
  return { element, value: () => /** @type {Cluster} */ (choice.value || null) };
}
