// What cannot be used, with the reason and a button that deletes it.

import { attempt, button, h, table, toast } from "./dom.js";
import { bytes } from "./pure/format.js";
import { capital } from "./pure/words.js";

/**
 * List damaged or unfinished things; empty if there are none.
 * @param {Api.DamagedData[]} items
 * @param {(name: string) => Promise<unknown>} discard deletes one and shows the others
 * @returns {HTMLElement[]}
 */
export function damagedList(items, discard) {
  if (!items.length) return [];
  return [
    h("h3", {}, "Cannot be used"),
    table(
      "Cannot be used",
      [
        ["Name", (each) => each.name],
        ["", (each) => `${capital(each.state)}: ${each.reason}`],
        ["Size", (each) => bytes(each.bytes), "n"],
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
  const act = async () => {
    await work();
    toast(`${name} deleted`);
  };
  return button("Delete", ({ currentTarget }) => attempt(act, currentTarget), {
    slim: true,
    "aria-label": `Delete ${name}`,
  });
}
