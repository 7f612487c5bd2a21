// The dialog to choose a player: one of the presets of a board, or any spec.

import { messageOf, post } from "./api.js";
import { button, dialog, field, h } from "./dom.js";
import { labelOf, playersOf } from "./players.js";
import { capital } from "./pure/words.js";
import { t } from "./text.js";

/**
 * Open a dialog to choose a player; calls `use` with its spec.
 * @param {string} board
 * @param {(spec: string) => unknown} use
 */
export async function choosePlayer(board, use, title = t("Who moves")) {
  const players = await playersOf(board, { fresh: true });
  const words = h("input", {
    value: "",
    placeholder: "expectimax:depth=3",
    autocomplete: "off",
    spellcheck: false,
    name: "spec",
  });
  const error = h("p.error", { role: "alert" });
  const doc = h("div.quiet.small.options");
  const pick = (/** @type {string} */ spec) => {
    box.close();
    use(spec);
  };
  const describe = () => {
    const found = players.players.find(({ name }) => name === words.value.split(":")[0].trim());
    doc.replaceChildren(
      found ? h("p", {}, found.doc) : "",
      ...(found?.options ?? []).map((option) =>
        h("p", {}, h("b", {}, option.name), ` ${option.doc} `, option.default === null ? "" : t("(default {value})", { value: String(option.default) })),
      ),
    );
  };
  words.addEventListener("input", describe);
  const form = h(
    "form.stack",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          pick((await post("/api/players/check", { body: { spec: words.value, board } })).spec);
        } catch (wrong) {
          error.textContent = capital(messageOf(wrong));
        }
      },
    },
    h(
      "div.row",
      {},
      h("div.grow", {}, field(t("Any player, with its options"), words)),
      button(t("Use"), null, { main: true, type: "submit" }),
    ),
    error,
    h(
      "div.row.names",
      {},
      players.players.map(({ name }) =>
        button(
          name,
          () => {
            words.value = name;
            describe();
            words.focus();
          },
          { slim: true },
        ),
      ),
    ),
    doc,
  );
  /**
   * @param {Api.PresetData} preset
   * @param {number} i
   */
  const choice = ({ spec, doc: about, fits }, i) =>
    h(
      "button.choice",
      { type: "button", disabled: !fits, onclick: () => pick(spec), title: fits ? spec : t("for another board") },
      h("b", {}, labelOf(spec, players)),
      h("span", {}, about),
      i < 9 ? h("kbd", {}, i + 1) : null,
    );
  const main = players.presets.filter((preset) => !preset.minor);
  const minor = players.presets.filter((preset) => preset.minor);
  const list = h(
    "div.choices",
    {},
    main.map(choice),
    minor.length
      ? h(
          "details",
          {},
          h("summary", {}, t("Checkpoints of trainings")),
          h(
            "div.choices",
            {},
            minor.map((preset) => choice(preset, 9)),
          ),
        )
      : null,
  );
  const box = dialog(
    title,
    h(
      "div.stack",
      {},
      list,
      form,
      h(
        "div.row.end",
        {},
        button(t("Close"), () => box.close()),
      ),
    ),
  );
  box.addEventListener("keydown", (event) => {
    if (event.target === words || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
    const preset = main[Number(event.key) - 1];
    if (preset?.fits) pick(preset.spec);
  });
}
