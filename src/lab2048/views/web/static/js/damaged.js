// What cannot be used, with the reason and a button that deletes it.

import { attempt, button, h, table } from "./dom.js";
import { bytes } from "./pure/format.js";
import { capital } from "./pure/words.js";
import { t, told } from "./text.js";

/**
 * List damaged or unfinished things; empty if there are none.
 * @param {Api.DamagedData[]} items
 * @param {(name: string) => Promise<unknown>} discard deletes one and shows the others
 * @returns {HTMLElement[]}
 */
export function damagedList(items, discard) {
  if (!items.length) return [];
  return [
    h("h3", {}, t("Cannot be used")),
    table(
      t("Cannot be used"),
      [
        [t("Name"), (each) => each.name],
        ["", (each) => `${capital(told(each.state))}: ${each.reason}`],
        [t("Size"), (each) => bytes(each.bytes), "n"],
        ["", ({ name }) => deleteButton(name, () => discard(name)), "acts"],
      ],
      items,
    ),
  ];
}

/**
 * @param {string} name
 * @param {() => Promise<unknown>} work
 */
export function deleteButton(name, work) {
  return button(t("Delete"), ({ currentTarget }) => attempt(work, currentTarget), {
    slim: true,
    "aria-label": t("Delete {name}", { name }),
  });
}
