import assert from "node:assert/strict";
import { test } from "node:test";

import { Latest } from "../../src/lab2048/views/web/static/js/pure/latest.js";

/** Questions that are answered by hand, and what came of them. */
function questions() {
  /** @type {{ resolve: (answer: string) => void, reject: (error: Error) => void }[]} */
  const asked = [];
  /** @type {string[]} */
  const shown = [];
  /** @type {(() => void)[]} */
  const waiting = [];
  const ask = () =>
    new Promise((resolve, reject) => {
      asked.push({ resolve, reject });
      waiting.shift()?.();
    });
  const latest = new Latest(ask, {
    answered: (answer) => shown.push(answer),
    failed: (error) => shown.push(`failed: ${error instanceof Error ? error.message : error}`),
    pause: 0,
  });
  /** Ask, and wait until the question is sent. */
  const send = () => {
    const sent = new Promise((resolve) => waiting.push(() => resolve(undefined)));
    latest.ask();
    return sent;
  };
  return { asked, shown, latest, send };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("answers that come out of order: only the latest question's is shown", async () => {
  const { asked, shown, send } = questions();
  await send();
  await send();
  asked[1].resolve("new");
  await settle();
  asked[0].resolve("old");
  await settle();
  assert.deepEqual(shown, ["new"]);
});

test("a failure of an older question is not shown", async () => {
  const { asked, shown, send } = questions();
  await send();
  await send();
  asked[0].reject(new Error("old"));
  asked[1].reject(new Error("new"));
  await settle();
  assert.deepEqual(shown, ["failed: new"]);
});

test("after stop nothing is shown", async () => {
  const { asked, shown, latest, send } = questions();
  await send();
  latest.stop();
  asked[0].resolve("late");
  await settle();
  assert.deepEqual(shown, []);
});
