import assert from "node:assert/strict";
import { test } from "node:test";

import { isTyping, meaning, seeking } from "../../src/lab2048/views/web/static/js/pure/keys.js";
import { golden } from "./golden.js";

const press = (code, key, more = {}) => ({
  code,
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});

const { squares: SQUARES, hexagons: HEXAGONS } = golden.moves;

test("the letters of moves are the keys that make them, on every kind of board", () => {
  for (const moves of Object.values(golden.moves)) {
    moves.forEach(({ letter, digit }, move) => {
      assert.deepEqual(meaning(press(`Key${letter.toUpperCase()}`, letter), moves), { move });
      assert.deepEqual(meaning(press(`Numpad${digit}`, digit), moves), { move });
    });
  }
});

test("WASD is a place on the keyboard, HJKL are letters", () => {
  assert.deepEqual(meaning(press("KeyW", "z"), SQUARES), { move: 0 }); // a French keyboard
  assert.deepEqual(meaning(press("KeyC", "j"), SQUARES), { move: 2 }); // Dvorak
  for (const [key, move] of [
    ["k", 0],
    ["l", 1],
    ["j", 2],
    ["h", 3],
  ])
    assert.deepEqual(meaning(press("Key?", key), SQUARES), { move });
  for (const [code, move] of [
    ["ArrowUp", 0],
    ["ArrowRight", 1],
    ["ArrowDown", 2],
    ["ArrowLeft", 3],
  ]) {
    assert.deepEqual(meaning(press(code, code), SQUARES), { move });
  }
  assert.equal(meaning(press("ArrowLeft", "ArrowLeft"), HEXAGONS), null); // hexagons have no left
  assert.deepEqual(meaning(press("Numpad4", "4"), SQUARES), { move: 3 });
});

test("commands", () => {
  for (const [key, command] of [
    ["u", "undo"],
    ["y", "redo"],
    [" ", "best"],
    ["Enter", "auto"],
    ["t", "hints"],
    ["n", "new"],
    ["[", "slower"],
    ["]", "faster"],
    ["?", "help"],
    ["Backspace", "undo"],
    ["T", "hints"],
  ]) {
    assert.deepEqual(meaning(press("", key), SQUARES), { command });
  }
  assert.deepEqual(meaning(press("KeyZ", "z", { ctrlKey: true })), { command: "undo" });
  assert.deepEqual(meaning(press("KeyZ", "Z", { metaKey: true, shiftKey: true })), { command: "redo" });
  assert.deepEqual(meaning(press("Backspace", "Backspace", { shiftKey: true })), { command: "redo" });
  assert.deepEqual(meaning(press("Digit2", "2")), { command: "player", number: 2 });
  assert.equal(meaning(press("KeyR", "r", { ctrlKey: true })), null); // the browser's own
  assert.equal(meaning(press("KeyA", "a", { ctrlKey: true })), null);
  assert.equal(meaning(press("ArrowLeft", "ArrowLeft", { altKey: true })), null);
});

test("seeking in a recorded game", () => {
  assert.deepEqual(seeking(press("", "ArrowLeft")), { seek: -1 });
  assert.deepEqual(seeking(press("", "PageDown")), { seek: 10 });
  assert.deepEqual(seeking(press("", "End")), { to: "end" });
  assert.equal(seeking(press("", "x")), null);
});

test("keys belong to fields while one types", () => {
  assert.ok(isTyping({ tagName: "INPUT", type: "text" }));
  assert.ok(isTyping({ tagName: "SELECT" }));
  assert.ok(!isTyping({ tagName: "INPUT", type: "checkbox" }));
  assert.ok(!isTyping({ tagName: "BUTTON" }));
  assert.ok(!isTyping(null));
});
