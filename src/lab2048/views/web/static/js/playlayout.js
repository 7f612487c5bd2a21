// Where the parts of Play are: the board and its buttons, and the panels beside it.

import { button, h } from "./dom.js";
import { t } from "./text.js";

/**
 * The elements of the page.
 * @param {import("./pages/play.js").Play} page
 */
export function playLayout(page) {
  return [
    h(
      "div.left-col",
      {},
      page.chips.element,
      page.directions.element,
      h("div.bar", {}, page.newButton, page.undoButton, page.redoButton, page.stepButton, page.playButton),
    ),
    h(
      "aside",
      { "aria-label": t("About the game") },
      h(
        "section.welcome",
        {},
        page.title,
        h("p.quiet", {}, t("Play with arrow keys or swipes. Every move can be undone, and every player can show you its best move.")),
        h(
          "div.ways",
          {},
          way(page.championWords, t("a new game by the best player"), () => page.watchChampion()),
          way(h("b", {}, t("Ask for a hint")), t("see the best move"), () => page.askForHint()),
          way(h("b", {}, t("Other boards")), t("3x3, 5x5, hexagons, bricks"), () => page.changeRules("boards")),
        ),
      ),
      h(
        "section.panel",
        {},
        h("h2", {}, t("Who moves")),
        page.playerSwitch.element,
        page.speed.element,
        h("div.row.modes", {}, h("span.quiet.small", {}, t("Expectimax")), page.playerSwitch.modes),
      ),
      h(
        "section.panel",
        {},
        h("div.row.spread.tight", {}, h("h2", {}, t("Hints"), " ", page.hints.title), h("kbd", {}, "T")),
        page.hintModes,
        page.hints.element,
      ),
      page.note.element,
      page.moveList.element,
      h(
        "section.plain",
        {},
        h("h2", {}, t("Game"), " ", page.seed),
        page.rulesLine,
        h(
          "div.row.actions",
          {},
          button(t("Review"), () => page.review(), { slim: true, title: t("Replay the game and see its best and worst moves") }),
          button(t("Share"), () => page.share(), { slim: true }),
          button(t("Paste a position"), () => page.changeRules("paste"), { slim: true, title: t("Ctrl+V also works") }),
          button(t("Other rules"), () => page.changeRules("rules"), { slim: true }),
        ),
      ),
      h("section.plain.commands", {}, page.hints.command, page.gameCommand),
    ),
  ];
}

/**
 * A button of the first screen.
 * @param {HTMLElement} title
 * @param {string} words
 * @param {() => unknown} act
 */
function way(title, words, act) {
  return h("button.way", { type: "button", onclick: act }, title, h("span", {}, words));
}

/**
 * A picture of 24 by 24, drawn by lines.
 * @param {string} path
 */
export function glyph(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "glyph-icon");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}
