// The list of published studies, each with a button to run it.

import { get, post } from "./api.js";
import { attempt, button, field, h, select } from "./dom.js";
import { stream } from "./stream.js";
import { t } from "./text.js";

/** @typedef {NonNullable<Api.StudyBody["size"]>} StudySize */

/** @type {[StudySize, string][]} */
const SIZES = [
  ["tiny", t("very few (seconds)")],
  ["quick", t("few (minutes)")],
  ["full", t("as many as published (hours)")],
];

export class StudyList {
  element = h("section.panel", { hidden: true });

  #onrun;

  /** @param {(job: string) => unknown} onrun called with the id of a job that has started */
  constructor(onrun) {
    this.#onrun = onrun;
    this.size = select(SIZES, "quick", null, { name: "size" });
  }

  async load() {
    let answer;
    try {
      answer = await get("/api/studies");
    } catch {
      return; // without the list there is only no list
    }
    if (!answer.studies.length) return;
    this.element.hidden = false;
    this.element.replaceChildren(
      h("h2", {}, t("Studies"), " ", h("small", {}, t("published experiments, reproduced"))),
      field(t("How many games"), this.size),
      ...answer.studies.map(({ name, title, doc }) =>
        h(
          "div.study",
          {},
          h("div.grow", {}, h("b", {}, title || name), h("p.small.quiet", {}, doc)),
          button(t("Run"), (event) => this.run(name, event.currentTarget), {
            slim: true,
            "aria-label": t("Run {title}", { title: title || name }),
          }),
        ),
      ),
    );
  }

  /**
   * @param {string} name
   * @param {HTMLElement} control
   */
  async run(name, control) {
    const size = /** @type {StudySize} */ (this.size.value);
    const job = await attempt(() => post("/api/studies", { body: { name, size } }), control);
    if (!job) return;
    stream.addJob(job);
    this.#onrun(job.id);
  }
}
