// Games from elsewhere: pasted, dropped or from a file.

import { post } from "../api.js";
import { attempt, button, field, h, toast } from "../dom.js";
import { takeDrops } from "../drops.js";
import { writeAddress } from "../pure/codec.js";
import { t } from "../text.js";

/**
 * Import a game and open its review.
 * @param {string | Blob} body
 */
async function importGame(body) {
  const answer = await attempt(() => post("/api/games/import", { body: /** @type {string} */ (body) }));
  if (!answer) return;
  const [first] = answer.ids;
  if (first) location.hash = writeAddress("review", [String(first)]);
  else toast(t("Refused: {reason}", { reason: answer.errors[0] ?? "" }));
}

/**
 * Import what is dropped on an element, until the function that is returned is called.
 * @param {HTMLElement} element
 */
export function importDrops(element) {
  return takeDrops(element, (dropped) => {
    const body = dropped?.files[0] ?? dropped?.getData("text/plain");
    if (body) importGame(body);
  });
}

/**
 * The page that imports a game to review.
 * @param {HTMLElement} main
 */
export function importPage(main) {
  const text = h("textarea", { name: "replay", rows: 5, spellcheck: false });
  const file = h("input", {
    type: "file",
    hidden: true,
    onchange: ({ currentTarget }) => {
      if (currentTarget.files?.[0]) importGame(currentTarget.files[0]);
    },
  });
  main.append(
    h("h1", {}, t("Review")),
    h(
      "section.panel.stack",
      {},
      h("p", {}, t("Choose one of your games, or bring one from elsewhere: a replay of 2048verse, 2048next, 2048league or 2048EndgameTablebase, or a line that Export wrote. Paste it, drop it here, or choose a file.")),
      field(t("Paste it here"), text),
      h(
        "div.row",
        {},
        button(t("Review"), (event) => (text.value.trim() ? attempt(() => importGame(text.value), event.currentTarget) : text.focus()), { main: true }),
        button(t("From a file"), () => file.click()),
        h("a.button", { href: "#/games" }, t("All games")),
        file,
      ),
    ),
  );
  return { close: importDrops(main) };
}
