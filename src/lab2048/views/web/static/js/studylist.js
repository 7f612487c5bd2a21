// The published studies: which there are, and a way to run each.

import { get, post } from "./api.js";
import { attempt, button, field, h, select } from "./dom.js";
import { stream } from "./stream.js";

const SIZES = [
  ["tiny", "a taste: seconds"],
  ["quick", "few: minutes"],
  ["full", "as many as were published: hours"],
];

export class StudyList {
  element = h("section.panel", { hidden: true });

  /** `onrun` gets the name of the job of a study that has begun. */
  constructor(onrun) {
    this.onrun = onrun;
    this.size = select(SIZES, "quick", null, { name: "size" });
  }

  async load() {
    let answer;
    try {
      answer = await get("/api/studies");
    } catch {
      return; // this lab2048 has none
    }
    if (!answer.studies.length) return;
    this.element.hidden = false;
    this.element.replaceChildren(
      h("h2", {}, "Studies ", h("small", {}, "published experiments, again")),
      field("How many games", this.size),
      ...answer.studies.map(({ name, title, doc }) =>
        h(
          "div.study",
          {},
          h("div.grow", {}, h("b", {}, title || name), h("p.small.quiet", {}, doc)),
          button("Run", (event) => this.run(name, event.currentTarget), {
            slim: true,
            "aria-label": `Run ${title || name}`,
          }),
        ),
      ),
    );
  }

  async run(name, control) {
    const job = await attempt(() => post("/api/studies", { name, size: this.size.value }), control);
    if (!job) return;
    stream.learn(job);
    this.onrun(job.id);
  }
}
