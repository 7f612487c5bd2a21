// Before a solve starts: what it will take, and a way out.

import { post } from "./api.js";
import { button, dialog, h } from "./dom.js";
import { writeAddress } from "./pure/codec.js";
import { capital } from "./pure/words.js";
import { rulesWords } from "./rulesform.js";
import { patiently, stream } from "./stream.js";

/** Show the estimate of a board; when that is wished, solve it and go where it can be followed. */
export function solveDialog(rules, objective = "win") {
  const abort = new AbortController();
  const verdict = h("p.told", { role: "status" }, "Counting boards...");
  const error = h("p.error", { role: "alert" });
  const request = { rules, objective };
  const start = button("Solve it", () => begin(), { main: true, disabled: true });
  const leave = (...rest) => {
    box.close();
    location.hash = writeAddress("solve", rest);
  };
  async function begin() {
    start.disabled = true;
    try {
      const job = await post("/api/solves", request);
      stream.learn(job);
      leave(job.id);
    } catch (wrong) {
      if (wrong.body?.table) return leave(wrong.body.table); // it is solved already, or being solved
      error.textContent = capital(wrong.message);
      start.disabled = false;
    }
  }
  const box = dialog(
    "Solve this board",
    h("p.quiet.small", {}, `${rulesWords(rules)}: the chance to reach the goal, of every position.`),
    verdict,
    error,
    h(
      "div.row.end",
      {},
      button("Cancel", () => box.close()),
      start,
    ),
  );
  box.addEventListener("close", () => abort.abort());
  patiently(() => post("/api/design/estimate", request, { signal: abort.signal })).then(
    (answer) => {
      verdict.textContent = capital(answer.verdict) + ".";
      start.disabled = !answer.fits || answer.is_least;
      if (!start.disabled) start.focus();
    },
    (wrong) => {
      if (wrong.name === "AbortError") return;
      verdict.textContent = "";
      error.textContent = capital(wrong.message);
    },
  );
}
