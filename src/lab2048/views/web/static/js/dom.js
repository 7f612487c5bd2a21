// Small helpers to build the document, and what every page shares: toasts, dialogs, command lines, tables.

import { ApiError } from "./api.js";

/** An element: h("button.main", {onclick, disabled}, "text", child). */
export function h(name, props = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && !key.startsWith("aria") && !["list", "form", "width", "height"].includes(key))
      element[key] = value;
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** A button that acts; `main` is the one that matters. */
export function button(text, onclick, { key, main, slim, ...props } = {}) {
  const name = "button.button" + (main ? ".main" : "") + (slim ? ".slim" : "");
  return h(name, { type: "button", onclick, ...props }, text, key ? h("kbd", { "aria-hidden": "true" }, key) : null);
}

/** Bring what somebody has just asked for into view, if it begins elsewhere: on a phone, forms stand below. */
export function reveal(element) {
  const { top } = element.getBoundingClientRect();
  if (top < 0 || top > 0.7 * innerHeight) element.scrollIntoView({ block: "start" });
}

/** A label around a control. */
export function field(label, control) {
  return h("label.field", {}, h("span", {}, label), control);
}

export function select(options, value, onchange, props = {}) {
  const made = h(
    "select",
    props,
    options.map(([name, text]) => h("option", { value: name, selected: name === value }, text)),
  );
  if (onchange) made.addEventListener("change", () => onchange(made.value));
  return made;
}

/** Buttons of which one is chosen; `choose` shows another one, without asking `onchange`. */
export function segments(label, options, value, onchange) {
  const buttons = options.map(([name, text]) =>
    h("button", { type: "button", onclick: () => (made.choose(name), onchange(name)) }, text),
  );
  const made = h("div.seg", { role: "group", "aria-label": label }, buttons);
  made.choose = (name) =>
    buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(options[i][0] === name)));
  made.choose(value);
  return made;
}

let lastWords = "";

/** Say something to those who hear the page; equal words are said again. */
export function say(words) {
  lastWords = words === lastWords ? words + " " : words;
  document.getElementById("live").textContent = lastWords;
}

/** A line that goes away by itself, with something to do about it. */
export function toast(text, action = null, act = null, { ms = 8000 } = {}) {
  const box = document.getElementById("toasts");
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
            act();
          },
        },
        action,
      ),
    );
  }
  made.append(h("button", { type: "button", "aria-label": "Close", onclick: leave }, "×"));
  while (box.children.length >= 3) box.firstChild.remove();
  box.append(made);
  let timer = setTimeout(leave, ms);
  for (const name of ["pointerenter", "focusin"]) made.addEventListener(name, () => clearTimeout(timer));
  for (const name of ["pointerleave", "focusout"]) made.addEventListener(name, () => (timer = setTimeout(leave, ms)));
  return made;
}

/** Show what went wrong; what was aborted on purpose did not. */
export function complain(error) {
  if (error?.name === "AbortError") return;
  if (!(error instanceof ApiError)) console.error(error);
  toast(error instanceof ApiError ? capital(error.message) : `Something went wrong here: ${error.message ?? error}`);
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Run something that asks the server, and complain if it fails; a button waits meanwhile. */
export async function attempt(work, control = null) {
  if (control) control.disabled = true;
  try {
    return await work();
  } catch (error) {
    complain(error);
    return undefined;
  } finally {
    if (control) control.disabled = false;
  }
}

/** Copy text; pages that are not from this machine have no clipboard, so there is an older way. */
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
  toast("Copied", null, null, { ms: 2000 });
}

/** The command that does the same; `set` changes it. */
export function commandLine(text = "") {
  const code = h("code", { title: text }, text);
  const made = h(
    "div.cmd",
    {},
    code,
    button("Copy", () => copy(code.textContent), { slim: true, "aria-label": "Copy the command" }),
  );
  made.set = (words) => {
    code.textContent = words ?? "";
    code.title = words ?? "";
    made.hidden = !words;
  };
  made.hidden = !text;
  return made;
}

/** A modal dialog with a heading; gone when it is closed. */
export function dialog(title, ...children) {
  const heading = h("h2", { id: "dialog-title" }, title);
  const made = h("dialog", { "aria-labelledby": "dialog-title" }, heading, ...children);
  made.addEventListener("close", () => made.remove());
  made.addEventListener("click", (event) => {
    const box = made.getBoundingClientRect();
    const isInside =
      event.clientX >= box.left &&
      event.clientX <= box.right &&
      event.clientY >= box.top &&
      event.clientY <= box.bottom;
    if (event.target === made && !isInside && event.detail > 0) made.close();
  });
  document.body.append(made);
  made.showModal();
  return made;
}

/** Instead of a page or a part of it: what was asked for is not there, and where to go; links are [address, text]. */
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

/** A table of rows; columns are [heading, cell of a row, "n" for numbers].  Roles are said, because phones show rows as cards. */
export function table(caption, columns, rows) {
  const line = (name, cells) =>
    h(
      "tr",
      { role: "row" },
      cells.map((cell, i) =>
        h(name, { role: name === "th" ? "columnheader" : "cell", className: columns[i][2] ?? "" }, cell),
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
