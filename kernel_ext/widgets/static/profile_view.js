// @ts-check
/**
 * A profile: counts per line with bars, a sentence per finding, the roofline and the occupancy, and the first warp step by
 * step: lanes that go dark, and the sectors or banks that each access touches.
 *
 * @typedef {{kind: string, look: string, at: number[], text: string, anchor: string}} Mark
 * @typedef {{title: string, width: number, height: number, shapes: Mark[]}} Drawn
 * @typedef {{said: string, space: string, size: number, at: number[], wasteful: boolean}} Access
 * @typedef {{row: number, mask: number, accesses: Access[]}} WarpStep
 * @typedef {{number: number, text: string, share: number, cells: string[], executed: boolean}} LineRow
 * @typedef {{title: string, notes: string[], bars: string, heads: string[], rows: LineRow[], total: string[],
 *   advice: {row: number, where: string, text: string}[], pictures: Drawn[], steps: WarpStep[], start: number, ends: boolean}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { draw, listen, make, onWidth, place, press } from "./parts.js";

const LANE_SIDE = 20; // pixels of a lane and of a bank
const NARROW = 760; // pixels of the card below which a line stands above its numbers
const DEEP = 76; // pixels from the lanes to what they touch

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

/** A box with words for a pointer. @param {string} look @param {number} x @param {number} y @param {number} w @param {number} h @param {string} told */
const boxAt = (look, x, y, w, h, told) =>
  draw("rect", { x: x.toFixed(1), y, width: w.toFixed(1), height: h, class: `wb-${look}` }, draw("title", {}, told));

/** A box for each touched sector, and where each lane's bytes are in them. @param {Access} access @param {number} width */
function sectorsOf(access, width) {
  const touched = [...new Set(access.at.filter((at) => at >= 0).map((at) => Math.floor(at / 32)))].sort((a, b) => a - b);
  const gaps = touched.filter((sector, n) => n && sector !== touched[n - 1] + 1).length;
  const each = Math.min(80, (width - 6 * gaps) / touched.length);
  const part = ((each - 2) * Math.min(access.size, 32)) / 32;
  /** @type {Map<number, number>} */
  const ends = new Map();
  const boxes = [];
  let x = 0;
  touched.forEach((sector, n) => {
    if (n && sector !== touched[n - 1] + 1) x += 6;
    boxes.push(boxAt("free", x, DEEP, each - 2, 16, `bytes ${32 * sector} to ${32 * sector + 31}`));
    for (const at of new Set(access.at.filter((a) => a >= 0 && Math.floor(a / 32) === sector))) {
      const left = x + ((at % 32) / 32) * (each - 2);
      ends.set(at, left + part / 2);
      boxes.push(boxAt("taken", left, DEEP, Math.max(1, part - 0.5), 16, `byte ${at}`));
    }
    x += each;
  });
  return { boxes, ends, deep: 16, what: "sectors of 32 bytes; blue: what the lanes use" };
}

/** A column for each bank, with a box for each word of it. @param {Access} access */
function banksOf(access) {
  /** @type {Map<number, Set<number>>} */
  const words = new Map();
  for (const at of access.at.filter((a) => a >= 0)) {
    const first = Math.floor(at / 4);
    for (let word = first; word < first + Math.max(1, Math.floor(access.size / 4)); word += 1) {
      words.set(word % 32, (words.get(word % 32) ?? new Set()).add(word));
    }
  }
  const most = Math.max(1, ...[...words.values()].map((held) => held.size));
  const tall = most <= 4 ? 16 : 4;
  const boxes = [];
  for (let bank = 0; bank < 32; bank += 1) {
    const held = [...(words.get(bank) ?? [])].sort((a, b) => a - b);
    if (!held.length) boxes.push(boxAt("free", LANE_SIDE * bank, DEEP, LANE_SIDE - 2, 16, `bank ${bank}`));
    const look = held.length > 1 && access.wasteful ? "worst" : "taken";
    held.forEach((word, k) => boxes.push(boxAt(look, LANE_SIDE * bank, DEEP + tall * k, LANE_SIDE - 2, tall - 1, `bank ${bank}: word ${word}`)));
  }
  const ends = new Map(access.at.filter((a) => a >= 0).map((at) => [at, LANE_SIDE * (Math.floor(at / 4) % 32) + LANE_SIDE / 2]));
  return { boxes, ends, deep: Math.max(16, tall * most), what: "32 banks of shared memory; a box for each word that is touched" };
}

/** The 32 lanes of a step, and what one access of it touches. @param {number} mask @param {Access | null} access */
function lanesDrawn(mask, access) {
  const width = 32 * LANE_SIDE;
  const active = (/** @type {number} */ lane) => (access ? access.at[lane] >= 0 : Boolean((mask >>> lane) & 1));
  const lanes = [...Array(32).keys()].map((lane) => boxAt(active(lane) ? "taken" : "free", LANE_SIDE * lane, 6, LANE_SIDE - 2, LANE_SIDE - 2,
    `lane ${lane}: ${access && active(lane) ? `byte ${access.at[lane]}` : active(lane) ? "active" : "dark"}`));
  const below = access && (access.space === "global" ? sectorsOf(access, width) : banksOf(access));
  const rays = below && access ? access.at.flatMap((at, lane) => (at < 0 ? [] : [draw("path", {
    d: `M${LANE_SIDE * lane + LANE_SIDE / 2 - 1} ${LANE_SIDE + 4}L${below.ends.get(at)?.toFixed(1)} ${DEEP}`, class: "wb-ray" })])) : [];
  const height = below ? DEEP + below.deep + 20 : LANE_SIDE + 8;
  const foot = below ? [draw("text", { x: 0, y: height - 5 }, below.what)] : [];
  return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
    draw("title", {}, access ? access.said : `${lanes.filter((_, lane) => active(lane)).length} of 32 lanes active`),
    ...rays, ...lanes, ...(below?.boxes ?? []), ...foot);
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
