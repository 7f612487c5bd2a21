// What a board is made of: tiles, the frame around polygons, the arrow of a hint, and the table for screen readers.

import { ANCHOR, FREE } from "./pure/codec.js";
import { FRAME_STROKE } from "./pure/layout.js";
import { tile } from "./pure/slide.js";
import { t, told } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {HTMLElement} face
 * @param {number} rank
 * @param {number} free the rank of free large tiles; 0: none
 */
export function setFace(face, rank, free) {
  face.dataset.rank = String(Math.min(rank, 17));
  const text = !rank ? "" : rank === free ? "F" : String(tile(rank));
  face.dataset.digits = String(Math.min(text.length, 7));
  face.textContent = text;
}

/**
 * What stands on an entry of the map that is not a cell, or is a free large tile in a drawing.
 * @param {number} cell
 */
export function markOf(cell) {
  if (cell === FREE) return "free large tile";
  return cell === ANCHOR ? "anchor" : "brick";
}

/**
 * The tiles as a table, for screen readers.
 * @param {Api.ShapeData} shape
 */
export function makeTable({ rows, kind, row_noun: noun }) {
  const table = document.createElement("table");
  table.createCaption().textContent = t("Tiles, one {noun} of {kind} per row of this table", { noun: told(noun), kind: told(kind) });
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const cell of row) {
      const entry = line.insertCell();
      entry.textContent = cell < 0 ? told(markOf(cell)) : t("empty");
      if (cell >= 0) entry.dataset.cell = String(cell);
    }
  }
  return table;
}

/**
 * @param {"div"} tag
 * @param {string} name
 * @param {Record<string, string> | null} [box]
 */
export function element(tag, name, box = null) {
  const made = document.createElement(tag);
  made.className = name;
  if (box) put(made, box);
  return made;
}

/**
 * @param {HTMLElement} made
 * @param {Record<string, string>} box custom properties
 */
export function put(made, box) {
  for (const [name, value] of Object.entries(box)) made.style.setProperty(name, value);
}

/**
 * The frame of a board whose cells are no boxes: their outlines, joined by strokes with round corners.
 * @param {import("./pure/layout.js").Layout} layout
 */
export function makeFrame(layout) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", layout.viewBox);
  svg.setAttribute("class", "frame");
  svg.setAttribute("aria-hidden", "true");
  for (const points of layout.polygons) {
    const polygon = document.createElementNS(SVG, "polygon");
    polygon.setAttribute("points", points);
    polygon.setAttribute("stroke-width", String(FRAME_STROKE));
    svg.append(polygon);
  }
  return svg;
}

/** An arrow that points to the right, 100 by 40. */
export function makeArrow() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 40");
  svg.setAttribute("class", "arrow");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("hidden", "");
  for (const [d, width] of [
    ["M4 20H76", "11"],
    ["M70 4 96 20 70 36z", "2"],
  ]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    path.setAttribute("stroke-width", width);
    path.setAttribute("stroke-linecap", "round");
    path.setAttribute("stroke-linejoin", "round");
    svg.append(path);
  }
  return svg;
}
