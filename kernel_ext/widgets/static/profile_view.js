// @ts-check
/**
 * A profile: counts per line with bars, a sentence per finding, the roofline and the occupancy, and the first warp step by
 * step: lanes that go dark, and the sectors or banks that each access touches.
 *
 * @typedef {{kind: string, look: string, at: number[], text: string, anchor: string}} Mark
 * @typedef {{title: string, width: number, height: number, shapes: Mark[]}} Drawn
 * @typedef {import("./lanes.js").LaneAccess} Access
 * @typedef {{row: number, mask: number, accesses: Access[]}} WarpStep
 * @typedef {{number: number, text: string, share: number, cells: string[], executed: boolean}} LineRow
 * @typedef {{title: string, notes: string[], bars: string, heads: string[], rows: LineRow[], total: string[],
 *   advice: {row: number, where: string, text: string}[], pictures: Drawn[], steps: WarpStep[], start: number, ends: boolean}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { lanesDrawn } from "./lanes.js";
import { draw, listen, make, onWidth, place, press } from "./parts.js";

const NARROW = 760; // pixels of the card below which a line stands above its numbers

/** A picture that Python placed. @param {Drawn} picture */
function drawnOf(picture) {
  const shapes = picture.shapes.map(({ kind, look, at, text, anchor }) => {
    const told = text && kind !== "text" ? [draw("title", {}, text)] : [];
    const style = `wb-${look}`;
    if (kind === "text") return draw("text", { x: at[0], y: at[1], "text-anchor": anchor, class: style }, text);
    if (kind === "line") return draw("path", { d: `M${at[0]} ${at[1]}L${at[2]} ${at[3]}`, class: style }, ...told);
    if (kind === "dot") return draw("circle", { cx: at[0], cy: at[1], r: at[2], class: style }, ...told);
    return draw("rect", { x: at[0], y: at[1], width: at[2], height: at[3], class: style }, ...told);
  });
  return draw("svg", { width: picture.width, height: picture.height, viewBox: `0 0 ${picture.width} ${picture.height}`, role: "img" },
    draw("title", {}, picture.title), ...shapes);
}

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const notes = make("div", { class: "wb-notes wb-dim" });
  const advice = make("ul", { class: "wb-advice", "aria-label": "Findings, the worst first" });
  const table = make("div", { class: "wb-wide" });
  const pictures = make("div", { class: "wb-pictures" });
  const slider = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: 0, step: 1, "aria-label": "Step of the warp" }));
  const told = make("div", { class: "wb-told", role: "status" });
  const lanes = make("div", { class: "wb-lanes" });
  const view = () => /** @type {View} */ (model.get("view"));
  const last = () => Math.max(0, view().steps.length - 1);
  const now = () => {
    const chosen = Number(model.get("selected") ?? -1);
    return Math.max(0, Math.min(last(), chosen < 0 ? view().start : chosen));
  };
  /** @param {number} step */
  const go = (step) => {
    model.set("selected", Math.max(0, Math.min(last(), step)));
    model.save_changes();
    redraw();
  };
  const tools = make("span", { class: "wb-tools", role: "toolbar", "aria-label": "Steps of the first warp" },
    press("|←", "First step", () => go(0)), press("←", "Step back", () => go(now() - 1)), press("→", "Step", () => go(now() + 1)),
    press("→|", "Last step", () => go(last())), slider);
  const warp = make("div", { class: "wb-warp", role: "group", "aria-label": "The first warp, step by step" },
    make("div", { class: "wb-head" }, make("span", { class: "wb-title" }, "The first warp, line by line"), tools), told, lanes);
  const root = make("div", { class: "wb-box wb-profile", "data-testid": "wb-profile", role: "group" },
    make("div", { class: "wb-head" }, title), notes, advice, table, pictures, warp);
  place(model, el, root);

  /** To the first step of a row, the most wasteful one if it is there. @param {number} row */
  const goToRow = (row) => {
    const steps = view().steps.map((step, at) => ({ step, at })).filter(({ step }) => step.row === row);
    const found = steps.find(({ step }) => step.accesses.some((a) => a.wasteful)) ?? steps.find(({ step }) => step.accesses.length) ?? steps[0];
    if (found) go(found.at);
  };
  const begin = () => {
    const { rows, heads, total, bars, steps } = view();
    title.textContent = view().title;
    root.setAttribute("aria-label", `Profile of ${view().title}`);
    notes.replaceChildren(...view().notes.map((note) => make("div", {}, note)));
    advice.toggleAttribute("hidden", !view().advice.length);
    advice.replaceChildren(...view().advice.map(({ row, where, text }) => {
      const button = make("button", { type: "button", title: "Show this line in the first warp" }, make("b", {}, where), ` ${text}`);
      button.addEventListener("click", () => goToRow(row));
      return make("li", {}, button);
    }));
    const worst = Math.max(...rows.map((row) => row.share));
    const reached = new Set(steps.map((step) => step.row));
    /** @param {LineRow} row @param {number} index */
    const numberOf = (row, index) => (reached.has(index) ? press(String(row.number), `Line ${row.number} in the first warp`, () => goToRow(index)) : `${row.number}`);
    const narrow = root.clientWidth < NARROW;
    /** @param {LineRow} row @param {Record<string, any>} [more] */
    const lineOf = (row, more) => make("td", { class: "wb-line", ...more }, make("code", {}, row.text));
    /** @param {LineRow} row @param {number} index @param {...HTMLElement} cells */
    const rowOf = (row, index, ...cells) => make("tr", { class: row.executed ? "" : "wb-unused", "data-row": index }, ...cells);
    /** @param {LineRow} row @param {number} index */
    const headOf = (row, index) => make("th", { scope: "row", class: "wb-number" }, numberOf(row, index));
    /** @param {LineRow} row */
    const cellsOf = (row) => [make("td", { class: "wb-share", "aria-label": `${Math.round(100 * row.share)} % of ${bars}` }, row.share
        ? draw("svg", { width: 64, height: 9, "aria-hidden": "true" }, draw("rect", { width: Math.max(1, 64 * row.share), height: 9, class: row.share === worst ? "wb-worst" : "wb-heat" })) : ""),
      ...row.cells.map((cell) => make("td", { class: "wb-number" }, cell))];
    const body = rows.flatMap((row, index) => (narrow
      ? [rowOf(row, index, headOf(row, index), lineOf(row, { colspan: heads.length + 1 })),
        ...(row.executed ? [rowOf(row, index, make("td"), ...cellsOf(row))] : [])]
      : [rowOf(row, index, headOf(row, index), ...cellsOf(row), lineOf(row))]));
    const sum = make("tr", { class: "wb-total" }, make("th", { scope: "row", class: "wb-number" }, "all"), make("td", {}),
      ...total.map((cell) => make("td", { class: "wb-number" }, cell)), ...(narrow ? [] : [make("td", {})]));
    const head = make("tr", {}, ...["line", bars, ...heads, ...(narrow ? [] : ["source"])].map((name, k) =>
      make("th", { scope: "col", class: k === 1 || k === heads.length + 2 ? "" : "wb-number" }, name)));
    table.replaceChildren(make("table", { class: "wb-grid wb-mono" }, make("thead", {}, head), make("tbody", {}, ...body, sum)));
    pictures.replaceChildren(...view().pictures.map(drawnOf));
    warp.toggleAttribute("hidden", !steps.length);
    redraw();
  };
  const redraw = () => {
    const { steps, rows, ends } = view();
    const step = steps[now()];
    if (!step) return;
    [slider.max, slider.value] = [String(last()), String(now())];
    const active = [...Array(32).keys()].filter((lane) => (step.mask >>> lane) & 1).length;
    const row = rows[step.row];
    told.textContent = `step ${now() + 1} of ${ends ? "" : "the first "}${steps.length}${row ? `, line ${row.number}: ${row.text.trim()}` : ""} · ${active} of 32 lanes active`;
    slider.setAttribute("aria-valuetext", told.textContent);
    for (const line of table.querySelectorAll("tr[data-row]")) {
      line.classList.toggle("wb-here", line.getAttribute("data-row") === String(step.row));
    }
    const shown = step.accesses.length ? step.accesses.slice(0, 4) : [null];
    const more = step.accesses.length - shown.length;
    lanes.replaceChildren(...shown.map((access) => make("figure", {},
      make("figcaption", access ? {} : { hidden: "" }, access?.said ?? ""), lanesDrawn(step.mask, access))),
      ...(more > 0 ? [make("div", { class: "wb-dim" }, `and ${more} more accesses at this line`)] : []));
  };
  slider.addEventListener("input", () => go(Number(slider.value)));
  begin();
  const still = onWidth(root, begin);
  const deaf = listen(model, { "change:view": begin, "change:selected": redraw });
  return () => {
    still();
    deaf();
  };
}

export default { render };
