// Practice: choose a formation of an endgame, and drill it.

import { get } from "../api.js";
import "../board.js";
import { attempt, commandLine, h, missing } from "../dom.js";
import { writeAddress } from "../pure/codec.js";
import { bytes, chances, duration, percent } from "../pure/format.js";
import { Drill } from "../practice/drill.js";
import { t, tn } from "../text.js";

/** @type {PageModule["open"]} */
export async function open(main, { rest, query, isHere }) {
  const list = await attempt(() => get("/api/practice"));
  if (!list || !isHere()) return undefined;
  const [name] = rest;
  if (!name) return drawList(main, list);
  const formation = list.formations.find((each) => each.name === name);
  if (!formation) {
    const unbuilt = list.unbuilt.find((each) => each.name === name);
    const words = unbuilt
      ? t("The table of {name} is not built yet: run {command}", { name, command: unbuilt.command })
      : t("There is no formation {name}.", { name: name.slice(0, 40) });
    main.append(h("h1", {}, t("Practice")), missing(words, ["#/practice", t("All formations")]));
    return undefined;
  }
  const drill = new Drill(main, formation, query.position ?? null);
  await drill.open();
  return drill;
}

/**
 * @param {HTMLElement} main
 * @param {Api.PracticeList} list
 */
function drawList(main, { formations, unbuilt }) {
  main.append(
    h("h1", {}, t("Practice")),
    h("p.lead", {}, t("Drill the endgame: the large tiles stand, and the next one has to be made on the cells that are left. After every move you see the exact success rate of each.")),
    h("div.formations", {}, formations.map(card)),
    h(
      "section.panel.formations-more",
      {},
      h("h2", {}, t("Puzzles")),
      h("p.small.quiet", {}, t("Find the good move, in positions where you or a player went wrong. Mistakes that you make in practice are among them.")),
      h("a.button", { href: "#/puzzles" }, t("Puzzles")),
    ),
    ...(unbuilt.length ? [unbuiltList(unbuilt)] : []),
  );
  return undefined;
}
/** @param {Api.UnbuiltData[]} unbuilt */
function unbuiltList(unbuilt) {
  return h(
    "details.panel.formations-more",
    {},
    h("summary", {}, tn(unbuilt.length, "{n} more formation can be built", "{n} more formations can be built")),
    h("p.small.quiet", {}, t("Their tables are too large to come with lab2048. Run the command in a terminal, then load this page again.")),
    unbuilt.map(({ name, map, free, seconds, bytes: size, command }) =>
      h(
        "div.unbuilt",
        {},
        h("b", {}, name),
        h(
          "span.small.quiet",
          {},
          [map, tn(free, "{n} free cell", "{n} free cells"), bytes(size), t("about {time} on one core", { time: duration(seconds) })].join(" · "),
        ),
        commandLine(command),
      ),
    ),
  );
}

/** @param {Api.FormationData} formation */
function card({ name, shape, ranks, goal, goal_cells: cells, rate, positions, figures, shipped }) {
  const board = h("lab-board", { quiet: true, "aria-hidden": "true", className: "mini" });
  board.shape = shape;
  board.show(ranks);
  board.markGoals(cells);
  const { n_moves: n, n_good: good, streak, n_due: due } = figures;
  return h(
    "a.formation",
    { href: writeAddress("practice", [name]) },
    board,
    h("b", {}, name),
    h("span", {}, t("make {goal}: {rate} with the best moves", { goal: String(goal), rate: chances([rate])[0] })),
    h("span.small.quiet", {}, [tn(positions, "{n} position", "{n} positions"), shipped ? null : t("built here")].filter(Boolean).join(" · ")),
    h(
      "span.small",
      {},
      n
        ? [t("{share} good moves", { share: percent(good / n) }), t("streak {n}", { n: streak }), due ? t("{n} due", { n: due }) : null].filter(Boolean).join(" · ")
        : t("not practised yet"),
    ),
  );
}
