// What every deletion offers: a message with a button that takes it back.

import { get, post, remove } from "./api.js";
import { attempt, button, h, toast } from "./dom.js";
import { bytes } from "./pure/format.js";
import { t } from "./text.js";

const LEAST = 1e8; // bytes of deleted things that are worth a line

/**
 * Say what was deleted; Undo restores it and calls `after`.
 * @param {Api.GoneData} gone
 * @param {() => unknown} after
 */
export function offerRestore({ deleted, undo }, after, words = t("{name} deleted", { name: deleted })) {
  toast(words, t("Undo"), () =>
    attempt(async () => {
      await post("/api/trash/{key}/restore", { path: { key: undo } });
      await after();
    }),
  );
}

/** A line that says how much disk space deleted things still take, and frees it. */
export function trashLine() {
  const words = h("span");
  const free = button(t("Free it now"), () => attempt(async () => show(await remove("/api/trash"))), {
    slim: true,
    title: t("They can then no longer be restored"),
  });
  const line = h("p.row.small.quiet", { hidden: true }, words, free);
  const show = (/** @type {Api.TrashData} */ trash) => {
    line.hidden = trash.bytes < LEAST;
    words.textContent = t("Deleted things take {size} until lab2048 ends.", { size: bytes(trash.bytes) });
  };
  return Object.assign(line, {
    refresh: () => get("/api/trash").then(show, () => {}),
  });
}
