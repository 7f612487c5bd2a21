// The dialog for a new game with other rules.

import { messageOf } from "./api.js";
import { button, dialog, field, h } from "./dom.js";
import { capital } from "./pure/words.js";
import { rulesForm } from "./rulesform.js";

/**
 * @param {Api.RulesBody} rules to start from
 * @param {(rules: Api.RulesBody, seed: number | null) => Promise<unknown>} create
 */
export function newGameDialog(rules, create) {
  const form = rulesForm(rules);
  const seed = h("input", { type: "number", min: 0, placeholder: "random", name: "seed" });
  const error = h("p.error", { role: "alert" });
  const box = dialog(
    "New game",
    h(
      "form.stack",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          try {
            await create(form.value(), seed.value === "" ? null : Number(seed.value));
            box.close();
          } catch (wrong) {
            error.textContent = capital(messageOf(wrong));
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
