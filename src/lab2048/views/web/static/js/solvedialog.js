// The dialog that shows the estimate of a solve before it starts.

import { ApiError, isAborted, messageOf, post } from "./api.js";
import { button, dialog, h } from "./dom.js";
import { writeAddress } from "./pure/codec.js";
import { capital } from "./pure/words.js";
import { rulesWords } from "./ruleswords.js";
import { retryUntilReady, stream } from "./stream.js";
import { t } from "./text.js";

/**
 * Show the estimate for the chance to win; the button starts the solve and goes to its page.
 * @param {Api.RulesBody} rules
 */
export function solveDialog(rules) {
  const abort = new AbortController();
  const verdict = h("p.told", { role: "status" }, t("Counting boards..."));
  const error = h("p.error", { role: "alert" });
  /** @type {Api.SolveBody} */
  const body = { rules, objective: "win" };
  const start = button(t("Solve it"), () => begin(), { main: true, disabled: true });
  /** @param {string} name of a job or a table */
  const leave = (name) => {
    box.close();
    location.hash = writeAddress("solve", [name]);
  };
  async function begin() {
    start.disabled = true;
    try {
      const job = await post("/api/solves", { body });
      stream.addJob(job);
      leave(job.id);
    } catch (wrong) {
      const table = wrong instanceof ApiError ? wrong.body?.table : null;
      if (table) return leave(table); // it is solved already, or being solved
      error.textContent = capital(messageOf(wrong));
      start.disabled = false;
    }
  }
  const box = dialog(
    t("Solve this board"),
    h("p.quiet.small", {}, t("{rules}: the chance to reach the goal from every position.", { rules: rulesWords(rules) })),
    verdict,
    error,
    h(
      "div.row.end",
      {},
      button(t("Cancel"), () => box.close()),
      start,
    ),
  );
  box.addEventListener("close", () => abort.abort());
  retryUntilReady({ solve: true }, () => post("/api/design/estimate", { body, signal: abort.signal })).then(
    (answer) => {
      verdict.textContent = capital(answer.verdict) + ".";
      start.disabled = !answer.fits || answer.is_least;
      if (!start.disabled) start.focus();
    },
    (wrong) => {
      if (isAborted(wrong)) return;
      verdict.textContent = "";
      error.textContent = capital(messageOf(wrong));
    },
  );
}
