// Choosing a player: the presets of a board, or any spec by hand.

import { get, post, withQuery } from "./api.js";
import { button, dialog, field, h } from "./dom.js";
import { capital } from "./pure/words.js";

const known = new Map(); // board -> players

/** Who can play on a board; the answer is kept until `fresh`, as trainings and tables add to it. */
export async function playersOf(board, { fresh = false } = {}) {
  if (fresh) known.clear();
  if (!known.has(board)) {
    const asked = get(withQuery("/api/players", { board }));
    known.set(board, asked);
    asked.catch(() => known.delete(board));
  }
  return known.get(board);
}

/** A short name for a spec. */
export function labelOf(spec, players) {
  if (!spec) return "Player";
  if (spec === "human") return "Me";
  return players?.presets.find((preset) => preset.spec === spec)?.label ?? spec;
}

/** A dialog to choose a player; calls `use` with its spec. */
export async function choosePlayer(board, use, title = "Who moves") {
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
  const pick = (spec) => {
    box.close();
    use(spec);
  };
  const describe = () => {
    const found = players.players.find(({ name }) => name === words.value.split(":")[0].trim());
    doc.replaceChildren(
      found ? h("p", {}, found.doc) : "",
      ...(found?.options ?? []).map((option) =>
        h("p", {}, h("b", {}, option.name), ` ${option.doc} `, option.default === null ? "" : `(${option.default})`),
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
          pick((await post("/api/players/check", { spec: words.value })).spec);
        } catch (wrong) {
          error.textContent = capital(wrong.message);
        }
      },
    },
    h(
      "div.row",
      {},
      h("div.grow", {}, field("Any player, with its options", words)),
      button("Use", null, { main: true, type: "submit" }),
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
  const choice = ({ spec, label, doc: about, fits }, i) =>
    h(
      "button.choice",
      { type: "button", disabled: fits === false, onclick: () => pick(spec) },
      h("b", {}, label),
      h("span", {}, about),
      i < 9 ? h("kbd", {}, i + 1) : null,
    );
  const minor = players.presets.filter((preset) => preset.minor);
  const list = h(
    "div.choices",
    {},
    players.presets.filter((preset) => !preset.minor).map(choice),
    minor.length
      ? h(
          "details",
          {},
          h("summary", {}, "Checkpoints of trainings"),
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
        button("Close", () => box.close()),
      ),
    ),
  );
}
