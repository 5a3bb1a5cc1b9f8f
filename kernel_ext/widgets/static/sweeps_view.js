// @ts-check
/**
 * A warp forwards and backwards: a row per step with a square per lane. Values fill in on the left, downwards; then cotangents
 * on the right, upwards, while the values that they replace drain.
 *
 * @typedef {{name: string, indices: string, texts: string, floating: boolean, when: number}} Item
 * @typedef {{name: string, labels: string[], values: number[], texts: string[], floating: boolean, when: number}} Strip
 * @typedef {{line: number, text: string, items: Item[], back: Item[]}} Row
 * @typedef {{kernel: string, threads: string[], seeds: string, note: string, rows: Row[], turns: [number, string, number][]}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { coloured } from "./panes.js";
import { listen, make, place } from "./parts.js";
import { stepPlayer } from "./player.js";

const SQUARE = 10; // pixels of a lane, before the page makes it narrower

/** From blue below zero over grey to red above. @param {number} value @param {number} most */
function signed(value, most) {
  const share = most ? Math.max(-1, Math.min(1, value / most)) : 0;
  const end = share < 0 ? [43, 107, 201] : [208, 62, 40];
  return `rgb(${[190, 190, 190].map((grey, k) => Math.round(grey + (end[k] - grey) * Math.sqrt(Math.abs(share)))).join(",")})`;
}

/** An item with its lanes apart; a vector's value is its length. @param {Item} item @returns {Strip} */
function stripOf({ name, indices, texts, floating, when }) {
  const places = indices.split("|"), all = texts.split("|");
  const labels = all.map((_, k) => `${name}${places[k] ? `[${places[k]}]` : ""}`);
  const values = all.map((text) => (text.startsWith("(") ? Math.hypot(...text.slice(1, -1).split(", ").map(Number)) : Number(text.replace("inf", "Infinity"))));
  return { name, labels, values, texts: all, floating, when };
}

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const view = () => /** @type {View} */ (model.get("view"));
  const title = make("span", { class: "wb-title" });
  const about = make("div", { class: "wb-notes wb-dim" });
  const list = make("div", { class: "wb-list", role: "table", "aria-label": "Steps" });
  const told = make("div", { class: "wb-told wb-mono", role: "status" });
  const lane = /** @type {HTMLInputElement} */ (make("input", { type: "number", min: 0, value: 0, "aria-label": "Lane whose numbers are written" }));
  const last = () => Math.max(0, view().rows.length + view().turns.length - 1);
  const now = () => {
    const chosen = Number(model.get("selected") ?? -1);
    return chosen < 0 ? Math.max(0, view().rows.length - 1) : Math.min(last(), chosen);
  };
  /** @param {number} step */
  const go = (step) => {
    model.set("selected", Math.max(0, Math.min(last(), step)));
    model.save_changes();
    redraw();
  };
  const player = stepPlayer("both sweeps", { now, last, go });
  player.tools.append(make("label", {}, "lane ", lane));
  const root = make("div", { class: "wb-box wb-sweeps", "data-testid": "wb-sweeps", role: "group" },
    make("div", { class: "wb-head" }, title, player.tools), about, list, told);
  place(model, el, root);
  const shown = () => Math.max(0, Math.min(view().threads.length - 1, Number(lane.value) || 0));

  /** @type {{item: Strip, box: HTMLElement, number: HTMLElement, row: number, back: boolean}[]} */
  let items = [];
  /** A value per lane. @param {Strip} item @param {number} row @param {boolean} back @param {number} most */
  const strip = (item, row, back, most) => {
    const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { width: SQUARE * item.values.length, height: 12, "aria-hidden": "true" }));
    const paint = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    item.values.forEach((value, k) => {
      if (!item.texts[k]) return; // a lane that was dark
      paint.fillStyle = !Number.isFinite(value) && item.floating ? "#d7301f" : item.floating ? signed(value, most) : "#9aa3ad";
      paint.fillRect(SQUARE * k, 0, SQUARE - 1, 12);
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = Math.floor((event.offsetX / (canvas.clientWidth || 1)) * item.values.length);
      if (at === shown()) return;
      lane.value = String(Math.max(0, Math.min(item.values.length - 1, at)));
      write();
    });
    const number = make("span", { class: "wb-mono" });
    const box = make("div", { class: "wb-item" }, number, canvas);
    items.push({ item, box, number, row, back });
    return box;
  };
  const write = () => {
    const k = shown();
    for (const { item, number } of items) {
      number.textContent = item.texts[k] ? `${item.labels[k]} = ${item.texts[k]}` : `${item.name}: dark`;
      number.title = number.textContent;
    }
    tell();
  };
  const tell = () => {
    const { rows, turns, threads, kernel } = view();
    const at = now(), forward = at < rows.length;
    const [line, text] = forward ? [rows[at]?.line, rows[at]?.text] : turns[at - rows.length];
    title.textContent = `${kernel} · ${threads.length} threads · ${forward ? "forwards" : "backwards"}`;
    const found = items.filter(({ item }) => item.when === at).map(({ number }) => number.textContent);
    told.textContent = `step ${at + 1} of ${last() + 1} · line ${line}: ${(text ?? "").trim()} · thread ${threads[shown()]}: ${found.join(", ") || "nothing"}`;
    player.tell(told.textContent);
  };
  const redraw = () => {
    const { rows, turns } = view();
    const at = now();
    // The reverse sweep has come down to this row; what stands at or after it is used up.
    const reached = Math.min(rows.length, ...turns.slice(0, Math.max(0, at - rows.length + 1)).map(([, , row]) => row));
    for (const { item, box, row, back } of items) {
      box.classList.toggle("wb-later", item.when > at);
      box.classList.toggle("wb-now", item.when === at);
      box.classList.toggle("wb-drained", !back && row >= reached && item.when !== at);
    }
    const line = at < rows.length ? at : -1;
    [...list.children].forEach((row, k) => {
      const here = k > 0 && (k - 1 === line) || (line < 0 && rows[k - 1]?.back.some(({ when }) => when === at));
      row.classList.toggle("wb-here", here);
      if (here) list.scrollTop = Math.max(0, /** @type {HTMLElement} */ (row).offsetTop - list.clientHeight / 2);
    });
    tell();
  };
  const begin = () => {
    player.stop();
    items = [];
    const { seeds, note } = view();
    const rows = view().rows.map(({ line, text, items: own, back }) => ({ line, text, items: own.map(stripOf), back: back.map(stripOf) }));
    // The numbers are those of the lane that does most.
    const busy = view().threads.map((_, k) => rows.flatMap((row) => [...row.items, ...row.back]).filter((item) => item.texts[k]).length);
    [lane.max, lane.value] = [String(busy.length - 1), String(busy.indexOf(Math.max(...busy)))];
    root.setAttribute("aria-label", `${view().kernel} forwards and backwards`);
    about.replaceChildren(make("div", {}, seeds, " · red: above zero, blue: below, grey: near zero or no float; an empty square: a dark lane"), ...(note ? [make("div", {}, note)] : []));
    /** @type {Map<string, number>} */
    const most = new Map();
    for (const item of rows.flatMap((row) => [...row.items, ...row.back])) {
      most.set(item.name, Math.max(most.get(item.name) ?? 0, ...item.values.filter(Number.isFinite).map(Math.abs)));
    }
    /** @param {Strip[]} all @param {number} row @param {boolean} back */
    const side = (all, row, back) => make("div", { class: back ? "wb-back" : "wb-values", role: "cell" }, ...all.map((item) => strip(item, row, back, most.get(item.name) ?? 0)));
    const head = make("div", { class: "wb-step wb-dim", role: "row" }, ...["statement", "values ↓", "cotangents ↑"].map((name) => make("div", { role: "columnheader" }, name)));
    list.replaceChildren(head, ...rows.map((row, k) => make("div", { class: "wb-step", role: "row" },
      make("div", { class: "wb-statement wb-mono", role: "rowheader" }, make("span", { class: "wb-no", "aria-hidden": "true" }, String(row.line)),
        make("code", {}, ...coloured(row.text, "source"))),
      side(row.items, k, false), side(row.back, k, true))));
    write();
    redraw();
  };
  lane.addEventListener("input", write);
  lane.addEventListener("change", () => (lane.value = String(shown()))); // one that is not there is the nearest that is
  begin();
  const deaf = listen(model, { "change:view": begin, "change:selected": redraw });
  return () => {
    player.stop();
    deaf();
  };
}

export default { render };
