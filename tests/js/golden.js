// What Python says: tests/data/page.json, written anew by script/goldens.
import { readFileSync } from "node:fs";

export const golden = JSON.parse(readFileSync(new URL("../data/page.json", import.meta.url), "utf8"));
export const PURE = new URL("../../src/lab2048/views/web/static/js/pure/", import.meta.url);
