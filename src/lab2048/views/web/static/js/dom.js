// Helpers that build the document, and what every page shares: toasts, dialogs, command lines, tables.

import { ApiError, isAborted, messageOf, statusOf } from "./api.js";
import { isText } from "./pure/keys.js";
import { capital } from "./pure/words.js";
import { t } from "./text.js";

/**
 * Make an element: h("button.main", {onclick, disabled}, "text", child).
 * @template {string} Name
 * @param {Name} name a tag and classes, as in CSS
 * @param {Props<ElementOf<Name>>} [props]
 * @param {...Child} children
 * @returns {ElementOf<Name>}
 */
export function h(name, props, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else if (key in element && !key.startsWith("aria") && !["list", "form", "width", "height"].includes(key))
      Object.assign(element, { [key]: value });
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, String(value));
  }
  element.append(...nodes(children));
  return /** @type {ElementOf<Name>} */ (element);
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    if (Array.isArray(child)) return nodes(child);
    return [typeof child === "number" ? String(child) : child];
  });
}

/**
 * The element of index.html with this id.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}`);
  return found;
}

/**
 * Make a button; a page has one `main` button.
 * @param {Child} text
 * @param {((event: MouseEvent & { currentTarget: HTMLButtonElement }) => unknown) | null} onclick
 * @param {Props<HTMLButtonElement> & { key?: string, main?: boolean, slim?: boolean }} [options]
 */
export function button(text, onclick, { key, main, slim, ...props } = {}) {
  const name = /** @type {"button"} */ ("button.button" + (main ? ".main" : "") + (slim ? ".slim" : ""));
  return h(name, { type: "button", onclick, ...props }, text, key ? h("kbd", { "aria-hidden": "true" }, key) : null);
}

/**
 * Scroll to an element that starts outside the window; on a phone, forms are below what they change.
 * @param {Element} element
 */
export function reveal(element) {
  const { top } = element.getBoundingClientRect();
  if (top < 0 || top > 0.7 * innerHeight) element.scrollIntoView({ block: "start" });
}

/**
 * Wrap a control in a label.
 * @param {string} label
 * @param {HTMLElement} control
 */
export function field(label, control) {
  return h("label.field", {}, h("span", {}, label), control);
}

/** @typedef {[name: string, text: string]} Option a value, and how it is shown */

/**
 * @param {Option[]} options
 * @param {string | null} value
 * @param {((value: string) => unknown) | null} onchange
 * @param {Props<HTMLSelectElement>} [props]
 */
export function select(options, value, onchange, props = {}) {
  const made = h(
    "select",
    props,
    options.map(([name, text]) => h("option", { value: name, selected: name === value }, text)),
  );
  if (onchange) made.addEventListener("change", () => onchange(made.value));
  return made;
}

/** @typedef {ReturnType<typeof segments>} Segments */

/**
 * Make a group of buttons of which one is pressed; `choose` presses another one without calling `onchange`.
 * @template {string} Value
 * @param {string} label
 * @param {[Value, string][]} options
 * @param {Value} value
 * @param {(value: Value) => unknown} onchange
 */
export function segments(label, options, value, onchange) {
  const press = (/** @type {Value} */ name) => {
    choose(name);
    onchange(name);
  };
  const buttons = options.map(([name, text]) => h("button", { type: "button", onclick: () => press(name) }, text));
  /** @param {Value} name */
  function choose(name) {
    buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(options[i][0] === name)));
  }
  choose(value);
  return Object.assign(h("div.seg", { role: "group", "aria-label": label }, buttons), { choose, buttons });
}

let announced = "";

/**
 * Announce a text to screen readers, even if it is the same as the last one.
 * @param {string} text
 */
export function say(text) {
  announced = text === announced ? text + " " : text;
  byId("live").textContent = announced;
}

/**
 * Show a message for some seconds, with a button `action` that calls `act`.
 * @param {string} text
 * @param {string | null} [action]
 * @param {(() => unknown) | null} [act]
 * @param {{ ms?: number }} [options]
 */
export function toast(text, action = null, act = null, { ms = 8000 } = {}) {
  const box = byId("toasts");
  const made = h("div.toast", { role: "status" }, h("span", {}, text));
  const leave = () => made.remove();
  if (action) {
    made.append(
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            leave();
            act?.();
          },
        },
        action,
      ),
    );
  }
  made.append(h("button", { type: "button", "aria-label": t("Close"), onclick: leave }, "×"));
  while (box.children.length >= 3) box.firstElementChild?.remove();
  box.append(made);
  let timer = setTimeout(leave, ms);
  for (const name of ["pointerenter", "focusin"]) made.addEventListener(name, () => clearTimeout(timer));
  for (const name of ["pointerleave", "focusout"]) made.addEventListener(name, () => (timer = setTimeout(leave, ms)));
  return made;
}

/**
 * Show an error as a message; requests that were aborted are no errors.
 * @param {unknown} error
 */
export function complain(error) {
  if (isAborted(error)) return;
  if (statusOf(error) === 0) return; // the banner of the frame says that the server does not answer, once
  if (!(error instanceof ApiError)) console.error(error);
  dropErrors();
  toast(
    error instanceof ApiError
      ? capital(error.message)
      : t("Something went wrong here: {error}", { error: messageOf(error) }),
  ).classList.add("is-error");
}

/** Remove the message of an error that is over: a newer one replaced it, a retry succeeded, or the page was left. */
export function dropErrors() {
  for (const each of document.querySelectorAll(".toast.is-error")) each.remove();
}

/**
 * Run a request and show its error, if any; `control` is disabled meanwhile.  Returns undefined after an error.
 * @template T
 * @param {() => Promise<T>} work
 * @param {HTMLElement | null} [control]
 * @param {HTMLElement | null} [line] that shows the error, instead of a message
 * @returns {Promise<T | undefined>}
 */
export async function attempt(work, control = null, line = null) {
  control?.toggleAttribute("disabled", true);
  if (line) line.textContent = "";
  try {
    const answer = await work();
    if (control) dropErrors(); // what was tried again has succeeded
    return answer;
  } catch (error) {
    if (line && error instanceof ApiError && statusOf(error) !== 0) line.textContent = capital(error.message);
    else complain(error);
    return undefined;
  } finally {
    control?.toggleAttribute("disabled", false);
  }
}

/**
 * Copy text to the clipboard.  Over plain HTTP from another machine there is no clipboard API, only the older way.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea.unseen", { value: text });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(t("Copied"), null, null, { ms: 2000 });
}

/** @typedef {ReturnType<typeof commandLine>} CommandLine */

/** Show a shell command with a button that copies it; hidden while the text is empty. */
export function commandLine(text = "") {
  const code = h("code", { title: text }, text);
  const made = h(
    "div.cmd",
    { hidden: !text },
    code,
    button(t("Copy"), () => copy(code.textContent), { slim: true, "aria-label": t("Copy the command") }),
  );
  return Object.assign(made, {
    /** @param {string} command */
    set(command) {
      code.textContent = code.title = command;
      made.hidden = !command;
    },
  });
}

let wasPointer = false; // whether the last input was by mouse, pen or finger

for (const name of ["pointerdown", "keydown"])
  addEventListener(name, () => (wasPointer = name === "pointerdown"), { capture: true });

/** Whether the last input was by mouse, pen or finger. */
export function isPointing() {
  return wasPointer;
}

/** Take the focus from a control that is no text field, so that keys reach the page. */
export function releaseFocus() {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && !isText(activeElement)) activeElement.blur();
}

/**
 * Open a modal dialog, which is removed when it is closed.
 * @param {string} title
 * @param {...Child} children
 */
export function dialog(title, ...children) {
  const heading = h("h2", { id: "dialog-title" }, title);
  const made = h("dialog", { "aria-labelledby": "dialog-title" }, heading, ...children);
  const isByPointer = wasPointer;
  const leave = () => {
    if (!made.isConnected) return;
    made.remove();
    // Who opened it with the pointer goes on with the keys of the page, not with the button.
    if (isByPointer) releaseFocus();
  };
  made.addEventListener("close", leave);
  // The event comes a moment later, and a key that is pressed before it must not reach the button.
  made.close = (value) => {
    HTMLDialogElement.prototype.close.call(made, value);
    leave();
  };
  made.addEventListener("click", (event) => {
    const box = made.getBoundingClientRect();
    const isInside =
      event.clientX >= box.left &&
      event.clientX <= box.right &&
      event.clientY >= box.top &&
      event.clientY <= box.bottom;
    if (event.target === made && !isInside && event.detail > 0) made.close();
  });
  // The page behind it is another one then.
  addEventListener("hashchange", () => made.isConnected && made.close(), { once: true });
  document.body.append(made);
  made.showModal();
  return made;
}

/**
 * Say that what the address names does not exist, with links to go on.
 * @param {string} words
 * @param {...[href: string, text: string]} links
 */
export function missing(words, ...links) {
  return h(
    "section.panel.missing",
    { role: "alert" },
    h("h2", {}, words),
    h(
      "div.row",
      {},
      links.map(([href, text]) => h("a.button", { href }, text)),
    ),
  );
}

/**
 * What a list without entries shows: a picture, what will appear here, and a button that makes the first one.
 * @param {string} words
 * @param {string} action
 * @param {() => unknown} act
 */
export function emptyState(words, action, act) {
  const picture = h("div.empty-picture", { "aria-hidden": "true" }, [1, 2, 3, 4].map((n) => h(`i.e${n}`)));
  return h("div.empty-state", {}, picture, h("p", {}, words), button(action, act));
}

/**
 * Make a table.  Roles are explicit, because phones show rows as cards (display: block drops the implicit ones).
 * @template Row
 * @param {string} caption
 * @param {[heading: string, cell: (row: Row) => Child, className?: string][]} columns "n" is the class of numbers
 * @param {Row[]} rows
 */
export function table(caption, columns, rows) {
  /**
   * @param {"th" | "td"} name
   * @param {Child[]} cells
   */
  const line = (name, cells) =>
    h(
      "tr",
      { role: "row" },
      cells.map((cell, i) =>
        h(name, { role: name === "th" ? "columnheader" : "cell", className: columns[i][2] ?? "", "data-label": columns[i][0] }, cell),
      ),
    );
  return h(
    "div.table",
    { tabIndex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      { role: "table" },
      h("caption.unseen", {}, caption),
      h(
        "thead",
        { role: "rowgroup" },
        line(
          "th",
          columns.map(([heading]) => heading),
        ),
      ),
      h(
        "tbody",
        { role: "rowgroup" },
        rows.map((row) =>
          line(
            "td",
            columns.map(([, cell]) => cell(row)),
          ),
        ),
      ),
    ),
  );
}
