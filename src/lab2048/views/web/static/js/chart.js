// Charts: Python makes the figure and plotly draws it; its script is loaded with the first chart.

import { getChart, messageOf } from "./api.js";
import { button, h, table } from "./dom.js";
import { number } from "./pure/format.js";
import { t, told } from "./text.js";

/** @type {Promise<Plotly> | null} */
let plotly = null;

/**
 * Load plotly once.
 *
 * It adds inline styles for its maps, which this page forbids, unless elements with their ids exist; so they are made.
 */
function loadPlotly() {
  plotly ??= (async () => {
    const text = await (await fetch("/plotly.js")).text();
    for (const [, name] of text.matchAll(/getElementById\("([0-9a-f]{64})"\)/g))
      document.head.append(h("meta", { id: name }));
    await new Promise((resolve, reject) => {
      document.head.append(
        h("script", {
          src: "/plotly.js",
          onload: resolve,
          onerror: () => reject(new Error("plotly could not be loaded")),
        }),
      );
    });
    if (!globalThis.Plotly) throw new Error("plotly could not be loaded");
    return globalThis.Plotly;
  })();
  plotly.catch(() => (plotly = null));
  return plotly;
}

/** @typedef {ReturnType<typeof chart>} Chart */

/**
 * Make a figure with its table; `load(url)` shows a chart of the server.
 * @param {string} label
 * @param {(text: string) => string} nameOf what its texts become, such as specs of players
 */
export function chart(label, nameOf = (text) => text) {
  const canvas = h("div.canvas", { role: "img", "aria-label": label });
  const caption = h("figcaption", {}, label);
  const numbers = h("div");
  const words = h("p.empty", {}, t("Nothing to show yet."));
  const csv = h("a.button.slim", { download: true }, "CSV");
  const json = h("a.button.slim", { download: true }, "JSON");
  const details = h("details", {}, h("summary", {}, t("Table")), numbers);
  const element = h(
    "figure.chart",
    {},
    h("div.row.spread", {}, caption, h("div.row", {}, csv, json)),
    words,
    canvas,
    details,
  );
  let shown = 0;
  let isDrawn = false;

  /** @param {string} text */
  function hide(text) {
    words.textContent = text;
    words.hidden = false;
    canvas.hidden = true;
    details.hidden = csv.hidden = json.hidden = true;
  }
  hide(t("Nothing to show yet."));

  /** @param {string} url */
  async function load(url) {
    const mine = ++shown;
    if (!isDrawn) hide(t("One moment"));
    let answer;
    try {
      answer = await getChart(url);
    } catch (error) {
      if (mine === shown && !isDrawn) hide(messageOf(error));
      return;
    }
    if (mine !== shown) return;
    const figure = renamed(/** @type {Figure} */ (answer.figure), nameOf);
    if (!figure.data.length || !answer.table.rows.length) return hide(t("Nothing to show yet."));
    const Plotly = await loadPlotly();
    if (mine !== shown) return;
    words.hidden = true;
    canvas.hidden = details.hidden = csv.hidden = json.hidden = false;
    const title = answer.title ? told(answer.title) : label;
    caption.textContent = title;
    canvas.setAttribute("aria-label", t("{title}; the table below has its numbers", { title }));
    csv.href = answer.csv;
    csv.download = "chart.csv";
    json.href = url;
    json.download = "chart.json";
    const { columns, rows } = answer.table;
    const isNumber = columns.map((_, i) => rows.some((row) => typeof row[i] === "number"));
    numbers.replaceChildren(
      table(
        title,
        columns.map((name, i) => [told(name), (/** @type {unknown[]} */ row) => cellText(row[i], nameOf), isNumber[i] ? "n" : ""]),
        rows,
      ),
    );
    await Plotly.react(canvas, ...inColours(figure), {
      responsive: true,
      displayModeBar: false,
      displaylogo: false,
    });
    isDrawn = true;
  }

  function clear() {
    shown += 1;
    isDrawn = false;
    if (globalThis.Plotly) globalThis.Plotly.purge(canvas);
    hide(t("Nothing to show yet."));
  }
  return Object.assign(element, { load, clear });
}

/**
 * @param {unknown} value
 * @param {(text: string) => string} nameOf
 */
function cellText(value, nameOf) {
  return typeof value === "number" ? number(value) : nameOf(String(value ?? "-"));
}

/** @typedef {{ name?: string, hovertemplate?: string, x?: unknown, y?: unknown, error_y?: object }} Trace */
/** @typedef {{ data: Trace[], layout: Record<string, any> }} Figure plotly's own format */

/**
 * A figure with other names.
 * @param {Figure} figure
 * @param {(text: string) => string} nameOf
 * @returns {Figure}
 */
function renamed({ data, layout }, nameOf) {
  const along = (/** @type {unknown} */ values) =>
    Array.isArray(values) ? values.map((value) => (typeof value === "string" ? nameOf(value) : value)) : values;
  const traces = data.map((trace) => {
    const { name = "", hovertemplate: words } = trace;
    const made = { ...trace, name: nameOf(name), x: along(trace.x), y: along(trace.y) };
    return words?.startsWith(`${name}:`) ? { ...made, hovertemplate: nameOf(name) + words.slice(name.length) } : made;
  });
  return { data: traces, layout };
}

/**
 * The data and layout of a figure in the colours of the page.
 * @param {Figure} figure
 * @returns {[object[], object]}
 */
function inColours({ data, layout }) {
  const style = getComputedStyle(document.documentElement);
  // Plotly cannot read light-dark(), so the browser computes the colour.
  const probe = h("i.unseen");
  document.body.append(probe);
  const colour = (/** @type {string} */ name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const [text, line, quiet] = ["--text", "--line", "--quiet"].map(colour);
  probe.remove();
  const names = new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((name) => /^[xy]axis/.test(name))]);
  const axes = Object.fromEntries(
    [...names].map((name) => [
      name,
      { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true, ...layout[name], title: { text: told(layout[name]?.title?.text ?? "") } },
    ]),
  );
  const traces = data.map((trace) =>
    trace.error_y ? { ...trace, error_y: { ...trace.error_y, color: text } } : trace,
  );
  const figure = {
    ...layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: style.getPropertyValue("--font"), size: 13, ...layout.font, color: text },
    ...axes,
    title: undefined,
    width: undefined,
    height: layout.height ?? 320,
    margin: { l: 50, r: 12, t: 12, b: 40 },
    // Above the plot, and growing upwards: where it takes several lines, as on phones, it must not cover the bars.
    legend: { ...layout.legend, orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { color: quiet } },
    autosize: true,
  };
  return [traces, figure];
}

/** @typedef {ReturnType<typeof charts>} Charts */

/**
 * Make a chart with a button for each of several figures; `show(id)` draws the chosen one for a job or training.
 * @param {string} label
 * @param {[name: string, label: string][]} names
 * @param {(id: string, name: string) => string} urlOf
 * @param {(text: string) => string} [nameOf] what the texts of the figures become
 */
export function charts(label, names, urlOf, nameOf) {
  let at = names[0][0];
  /** @type {string | null} */
  let id = null;
  const figure = chart(names[0][1], nameOf);
  const buttons = names.map(([name, text]) =>
    button(
      text,
      () => {
        at = name;
        mark();
        figure.clear();
        if (id) figure.load(urlOf(id, at));
      },
      { slim: true },
    ),
  );
  const mark = () => buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(names[i][0] === at)));
  mark();
  const element = h("div", {}, h("div.row.chart-names", { role: "group", "aria-label": label }, buttons), figure);
  return Object.assign(element, {
    /** @param {string} which */
    show(which) {
      if (which !== id) figure.clear();
      id = which;
      figure.load(urlOf(id, at));
    },
  });
}
