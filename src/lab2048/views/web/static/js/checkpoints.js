// The checkpoints of a training: play or match any of them, keep one, let one go.

import { get, post, remove } from "./api.js";
import { attempt, button, h, table, toast } from "./dom.js";
import { bytes, number } from "./pure/format.js";

const IN_A_MATCH = 8;

export class CheckpointList {
  element = h("div.checkpoints");
  #shown = "";

  /** `play(spec)` and `match(specs)` go to the pages that do it. */
  constructor(name, { play, match }) {
    this.name = name;
    this.path = `/api/trainings/${encodeURIComponent(name)}`;
    this.play = play;
    this.match = match;
  }

  /** Draw what there is now, if it is another than before; never under the fingers of someone who uses it. */
  async refresh() {
    let answer;
    try {
      answer = await get(this.path);
    } catch {
      return; // it has only begun, or is gone
    }
    const shown = JSON.stringify(answer.checkpoints);
    if (shown === this.#shown || this.element.contains(document.activeElement)) return;
    this.#shown = shown;
    this.draw(answer.checkpoints);
  }

  draw(checkpoints) {
    const spread = spreadOut(checkpoints, IN_A_MATCH).map(({ spec }) => spec);
    this.element.replaceChildren(
      ...(checkpoints.length
        ? [
            h(
              "div.row.spread.space",
              {},
              h("h2", {}, "Checkpoints ", h("small", {}, "newest first")),
              spread.length > 1
                ? button(
                    spread.length < checkpoints.length ? `Match ${spread.length} of them` : "Match them all",
                    () => this.match(spread),
                    { slim: true, title: "on the same seeds: how it has learnt" },
                  )
                : null,
            ),
            table(
              "Checkpoints",
              [
                ["", (each) => h("b", {}, each.number ? `@${each.number}` : "last")],
                ["Games", (each) => number(each.n_games), "n"],
                ["Minutes", (each) => each.minutes.toFixed(1), "n"],
                ["Mean score", (each) => (each.mean ? number(each.mean) : "-"), "n"],
                ["Size", (each) => bytes(each.bytes), "n"],
                ["", (each) => this.acts(each), "acts"],
              ],
              checkpoints,
            ),
          ]
        : []),
    );
  }

  acts(each) {
    const what = each.number ? `checkpoint ${each.number}` : "the last checkpoint";
    const act = (text, label, work) =>
      button(text, (event) => work(event.currentTarget), { slim: true, "aria-label": `${label} ${what}` });
    const path = `${this.path}/checkpoints`;
    const after = (work) => (control) =>
      attempt(async () => {
        await work();
        control.blur();
        await this.refresh();
      }, control);
    return h(
      "span.row.nowrap",
      {},
      act("Play", "Play with", () => this.play(each.spec)),
      act("Match", "Match", () => this.match([each.spec])),
      each.wished
        ? h("span.small.quiet", {}, "kept")
        : act(
            each.number ? "Keep" : "Keep this checkpoint",
            "Keep",
            after(() => post(each.number ? `${path}/${each.number}` : path)),
          ),
      each.number
        ? act(
            "Delete",
            "Delete",
            after(async () => {
              await remove(`${path}/${each.number}`);
              toast(`${this.name}@${each.number} is deleted`);
            }),
          )
        : null,
    );
  }
}

/** So many of a list, evenly spread, the first and the last among them. */
function spreadOut(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))]);
}
