// The checkpoints of a training: play with one, compare them in a match, keep or delete one.

import { get, post, remove } from "./api.js";
import { damagedList } from "./damaged.js";
import { attempt, button, h, table } from "./dom.js";
import { bytes, number } from "./pure/format.js";
import { t } from "./text.js";
import { offerRestore } from "./undo.js";

const IN_A_MATCH = 8;

export class CheckpointList {
  element = h("div.checkpoints");
  #shown = "";

  /**
   * @param {string} name of the training
   * @param {{ play: (spec: string) => unknown, match: (specs: string[]) => unknown }} actions
   */
  constructor(name, { play, match }) {
    this.name = name;
    this.play = play;
    this.match = match;
  }

  /** Draw the list again if it has changed, but not while it has the focus. */
  async refresh() {
    let answer;
    try {
      answer = await get("/api/trainings/{training}", { path: { training: this.name } });
    } catch {
      return; // it has only started, or has been deleted
    }
    const shown = JSON.stringify([answer.checkpoints, answer.damaged]);
    if (shown === this.#shown || this.element.contains(document.activeElement)) return;
    this.#shown = shown;
    this.draw(answer.checkpoints, answer.damaged);
  }

  /**
   * @param {Api.CheckpointData[]} checkpoints
   * @param {Api.DamagedData[]} damaged
   */
  draw(checkpoints, damaged) {
    const spread = spreadOut(checkpoints, IN_A_MATCH).map(({ spec }) => spec);
    this.element.replaceChildren(
      ...(checkpoints.length
        ? [
            h(
              "div.row.spread.space",
              {},
              h("h2", {}, t("Checkpoints"), " ", h("small", {}, t("newest first"))),
              spread.length > 1
                ? button(
                    spread.length < checkpoints.length ? t("Match {n} of them", { n: spread.length }) : t("Match them all"),
                    () => this.match(spread),
                    { slim: true, title: t("a match on the same seeds shows the progress") },
                  )
                : null,
            ),
            table(
              t("Checkpoints"),
              [
                ["", (each) => h("b", {}, each.number ? `@${each.number}` : t("last"))],
                [t("Games"), (each) => number(each.n_games), "n"],
                [t("Minutes"), (each) => each.minutes.toFixed(1), "n"],
                [t("Mean score"), (each) => (each.mean ? number(each.mean) : "-"), "n"],
                [t("Size"), (each) => bytes(each.bytes), "n"],
                ["", (each) => this.acts(each), "acts"],
              ],
              checkpoints,
            ),
          ]
        : []),
      ...damagedList(damaged, async (name) => {
        const path = { training: this.name, number: Number(name.split("@")[1]) };
        await remove("/api/trainings/{training}/checkpoints/{number}", { path });
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
        await this.refresh();
      }),
    );
  }

  /** @param {Api.CheckpointData} checkpoint */
  acts({ number: n, spec, wished }) {
    const what = n ? t("checkpoint {n}", { n: String(n) }) : t("the last checkpoint");
    /**
     * @param {string} text
     * @param {string} label
     * @param {(control: HTMLElement) => unknown} work
     */
    const act = (text, label, work) => button(text, (event) => work(event.currentTarget), { slim: true, "aria-label": label });
    /** @param {() => Promise<unknown>} work */
    const thenRefresh = (work) => (/** @type {HTMLElement} */ control) =>
      attempt(async () => {
        await work();
        control.blur();
        await this.refresh();
      }, control);
    const training = this.name;
    const keep = () =>
      n
        ? post("/api/trainings/{training}/checkpoints/{number}", { path: { training, number: n } })
        : post("/api/trainings/{training}/checkpoints", { path: { training } });
    const discard = async () => {
      const gone = await remove("/api/trainings/{training}/checkpoints/{number}", { path: { training, number: n } });
      offerRestore(gone, () => this.refresh());
    };
    return h(
      "span.row.nowrap",
      {},
      act(t("Play"), t("Play with {what}", { what }), () => this.play(spec)),
      act(t("Match"), t("Match {what}", { what }), () => this.match([spec])),
      wished
        ? h("span.small.quiet", {}, t("kept"))
        : act(n ? t("Keep") : t("Keep this checkpoint"), t("Keep {what}", { what }), thenRefresh(keep)),
      n ? act(t("Delete"), t("Delete {name}", { name: what }), thenRefresh(discard)) : null,
    );
  }
}

/**
 * At most `most` items of a list, evenly spread, including the first and the last.
 * @template T
 * @param {T[]} list
 * @param {number} most
 */
function spreadOut(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))]);
}
