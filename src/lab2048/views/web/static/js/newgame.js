// A new game with other rules, asked for in a dialog.

import { button, dialog, field, h } from "./dom.js";
import { capital } from "./pure/words.js";
import { rulesForm } from "./rulesform.js";

/** Begins with the rules of the game at hand; `create(rules, seed)` makes the new one. */
export function newGame(rules, create) {
  const form = rulesForm(rules);
  const seed = h("input", { type: "number", min: 0, placeholder: "by chance", name: "seed" });
  const error = h("p.error", { role: "alert" });
  const box = dialog(
    "A new game",
    h(
      "form.stack",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          try {
            await create(form.value(), seed.value === "" ? null : Number(seed.value));
            box.close();
          } catch (wrong) {
            error.textContent = capital(wrong.message);
          }
        },
      },
      form.element,
      field("Seed", seed),
      error,
      h(
        "div.row.end",
        {},
        button("Cancel", () => box.close()),
        button("Play", null, { type: "submit", main: true }),
      ),
    ),
  );
}
