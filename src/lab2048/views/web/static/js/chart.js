// Charts: the figure is made by Python, plotly draws it; its script is loaded with the first one.

import { get } from "./api.js";
import { button, h, table } from "./dom.js";
import { number } from "./pure/format.js";

let plotly = null;

/** Plotly, once.
 *
 * It brings the styles of its maps inline, which this page forbids; where an element of their name is there
 * already it leaves them out, so there is one.
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
    return globalThis.Plotly;
  })();
  plotly.catch(() => (plotly = null));
  return plotly;
}

/** A figure with its table; `load(path)` shows a chart of the server, again when it has changed. */
export function chart(label) {
  const canvas = h("div.canvas", { role: "img", "aria-label": label });
  const caption = h("figcaption", {}, label);
  const numbers = h("div");
  const words = h("p.empty", {}, "Nothing to show yet.");
  const csv = h("a.button.slim", { download: true }, "CSV");
  const json = h("a.button.slim", { download: true }, "JSON");
  const details = h("details", {}, h("summary", {}, "Table"), numbers);
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

  function hide(text) {
    words.textContent = text;
    words.hidden = false;
    canvas.hidden = true;
    details.hidden = csv.hidden = json.hidden = true;
  }
  hide("Nothing to show yet.");

  element.load = async (path) => {
    const mine = ++shown;
    let answer;
    try {
      answer = await get(path);
    } catch (error) {
      if (mine === shown && !isDrawn) hide(error.message);
      return;
    }
    if (mine !== shown) return;
    if (!answer.figure.data.length || !answer.table.rows.length) return hide("Nothing to show yet.");
    const Plotly = await loadPlotly();
    if (mine !== shown) return;
    words.hidden = true;
    canvas.hidden = details.hidden = csv.hidden = json.hidden = false;
    caption.textContent = answer.title || label;
    canvas.setAttribute("aria-label", `${answer.title || label}; the table below has its numbers`);
    csv.href = answer.csv;
    csv.download = "chart.csv";
    json.href = path;
    json.download = "chart.json";
    const { columns, rows } = answer.table;
    const isNumber = columns.map((_, i) => rows.some((row) => typeof row[i] === "number"));
    numbers.replaceChildren(
      table(
        answer.title || label,
        columns.map((name, i) => [
          name,
          (row) => (typeof row[i] === "number" ? number(row[i]) : String(row[i] ?? "-")),
          isNumber[i] ? "n" : "",
        ]),
        rows,
      ),
    );
    await Plotly.react(canvas, ...dress(answer.figure), {
      responsive: true,
      displayModeBar: false,
      displaylogo: false,
    });
    isDrawn = true;
  };
  element.forget = () => {
    shown += 1;
    isDrawn = false;
    if (globalThis.Plotly) globalThis.Plotly.purge(canvas);
    hide("Nothing to show yet.");
  };
  return element;
}

/** A figure in the colours of the page. */
function dress({ data, layout }) {
  const style = getComputedStyle(document.documentElement);
  // light-dark() is not a colour that plotly reads, so the browser is asked what it comes to.
  const probe = h("i.unseen");
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const [text, line, quiet] = ["--text", "--line", "--quiet"].map(colour);
  probe.remove();
  const axes = {};
  for (const [name, value] of Object.entries(layout)) {
    if (/^[xy]axis/.test(name))
      axes[name] = { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true, ...value };
  }
  const traces = data.map((trace) =>
    trace.error_y ? { ...trace, error_y: { ...trace.error_y, color: text } } : trace,
  );
  const figure = {
    ...layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: style.getPropertyValue("--font"), size: 13, ...layout.font, color: text },
    xaxis: { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true, ...layout.xaxis },
    yaxis: { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true, ...layout.yaxis },
    ...axes,
    title: undefined,
    width: undefined,
    height: layout.height ?? 320,
    margin: { l: 50, r: 12, t: 12, b: 40 },
    legend: { orientation: "h", y: 1.12, x: 0, ...layout.legend, font: { color: quiet } },
    autosize: true,
  };
  return [traces, figure];
}

/** Several charts of which one is shown: [[name, label]]. */
export function charts(label, names, pathOf) {
  let at = names[0][0];
  let id = null;
  const figure = chart(names[0][1]);
  const buttons = names.map(([name, text]) =>
    button(
      text,
      () => {
        at = name;
        mark();
        figure.forget();
        if (id) figure.load(pathOf(id, at));
      },
      { slim: true },
    ),
  );
  const mark = () => buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(names[i][0] === at)));
  mark();
  const element = h("div", {}, h("div.row.chart-names", { role: "group", "aria-label": label }, buttons), figure);
  element.show = (which) => {
    if (which !== id) figure.forget();
    id = which;
    if (id) figure.load(pathOf(id, at));
  };
  return element;
}
