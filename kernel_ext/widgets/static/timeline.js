// @ts-check
/**
 * A record as a timeline: a lane for each device, a bar for each thing that ran. Zoom, pan, choose a bar; the table
 * of facts is one line about the chosen bar. Up to 5,000 bars are elements; more are painted.
 *
 * @typedef {{start: number, seconds: number | null, lane: string, kind: string, name: string, size: number[],
 *   place: string, bytes: number}} Row
 * @typedef {{title: string, lanes: string[], rows: Row[], seconds: number, lost: number}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { bytes, draw, listen, make, onWidth, place, press, spent } from "./parts.js";

const COLOURS = {
  forward: "#2b7bba", adjoint: "#d9793b", tangent: "#7b5ea7", copy: "#7a8794", add: "#9a8f5a", fill: "#a3adb8",
  graph: "#3a9a6a", jax: "#b8559a",
};
const OTHER = "#7a8794";
const PAINTED = 5000; // bars from which they are painted, not elements
const [LEFT, AXIS, LANE, RIGHT] = [84, 20, 26, 8];

/** What is said of a bar. @param {Row} row @param {number} index */
function sentence(row, index) {
  const size = row.size.length ? row.size.join(" × ") : "";
  return [`#${index} ${row.kind} ${row.name}`, size, spent(row.seconds), bytes(row.bytes), row.place].filter(Boolean).join(" · ");
}

/** The record in Chrome's trace event format. @param {View} view */
function chromeTrace(view) {
  const events = view.rows.map((row) => ({
    name: row.name, cat: row.kind, ph: "X", ts: row.start * 1e6, dur: (row.seconds ?? 0) * 1e6, pid: 1,
    tid: view.lanes.indexOf(row.lane) + 1, args: { size: row.size, bytes: row.bytes, place: row.place },
  }));
  const names = view.lanes.map((lane, k) => ({ name: "thread_name", ph: "M", pid: 1, tid: k + 1, args: { name: lane } }));
  return { traceEvents: [...names, ...events], displayTimeUnit: "ns" };
}

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const tools = make("span", { class: "wb-tools", role: "group", "aria-label": "Timeline" });
  const legend = make("div", { class: "wb-legend" });
  const told = make("div", { class: "wb-told", role: "status" });
  const stage = make("div", { class: "wb-stage", tabindex: 0, role: "application",
    "aria-label": "Timeline: arrow keys choose, plus and minus zoom, 0 shows all" });
  const root = make("div", { class: "wb-timeline", "data-testid": "wb-timeline", role: "group" },
    make("div", { class: "wb-head" }, title, tools), stage, legend, told);
  place(model, el, root);

  const view = () => /** @type {View} */ (model.get("view"));
  const total = () => Math.max(view().seconds, 1e-9);
  let [from, to] = [0, total()]; // seconds that are shown
  const width = () => Math.max(LEFT + RIGHT + 60, stage.clientWidth || 720);
  /** Seconds to pixels and lanes to rows, as they are now: asking the page for a width costs, once a drawing is enough. */
  const measure = () => {
    const right = width() - RIGHT;
    const scale = (right - LEFT) / (to - from);
    const rows = new Map(view().lanes.map((lane, k) => [lane, AXIS + LANE * k + 3]));
    return {
      right,
      /** @param {number} seconds */
      x: (seconds) => LEFT + (seconds - from) * scale,
      /** Where a bar stands; null where it is out of sight. @param {Row} row */
      bar(row) {
        const end = row.start + (row.seconds ?? 0);
        if (end < from || row.start > to) return null;
        const x = Math.max(LEFT, this.x(row.start));
        return { x, y: rows.get(row.lane) ?? AXIS + 3, width: Math.max(1, Math.min(right, this.x(end)) - x), height: LANE - 8 };
      },
    };
  };
  /** @param {number} x */
  const time = (x) => from + ((x - LEFT) / (width() - LEFT - RIGHT)) * (to - from);
  const ticks = () => (view().rows.length ? [0, 1, 2, 3, 4] : []).map((k) => from + ((to - from) * k) / 4);
  const height = () => AXIS + LANE * Math.max(1, view().lanes.length);

  const asElements = () => {
    const here = measure();
    const picture = draw("svg", { width: here.right + RIGHT, height: height(), role: "list" });
    for (const [k, lane] of view().lanes.entries()) {
      const y = AXIS + LANE * k;
      picture.append(draw("text", { x: 4, y: y + 16, class: "wb-dim" }, lane.slice(0, 12)),
        draw("path", { d: `M${LEFT} ${y + LANE - 2}H${here.right}`, class: "wb-rule" }));
    }
    ticks().forEach((t, k) => picture.append(draw("text", { x: here.x(t), y: 12, class: "wb-dim",
      "text-anchor": k === 4 ? "end" : k ? "middle" : "start" }, spent(t))));
    const chosen = Number(model.get("selected"));
    for (const [k, row] of view().rows.entries()) {
      const box = here.bar(row);
      if (!box) continue;
      picture.append(draw("rect", { ...box, rx: 1.5, fill: COLOURS[row.kind] ?? OTHER, class: `wb-span${k === chosen ? " wb-on" : ""}`,
        role: "listitem", "data-index": k, "data-kind": row.kind }, draw("title", {}, sentence(row, k))));
    }
    stage.replaceChildren(picture);
  };
  const asPaint = () => {
    const canvas = /** @type {HTMLCanvasElement} */ (stage.querySelector("canvas") ?? make("canvas"));
    const here = measure();
    const dense = window.devicePixelRatio || 1;
    const [wide, high] = [here.right + RIGHT, height()];
    [canvas.width, canvas.height] = [wide * dense, high * dense];
    [canvas.style.width, canvas.style.height] = [`${wide}px`, `${high}px`];
    const paint = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    paint.scale(dense, dense);
    paint.font = "11px ui-monospace, monospace";
    paint.fillStyle = getComputedStyle(root).color;
    for (const [k, lane] of view().lanes.entries()) paint.fillText(lane.slice(0, 12), 4, AXIS + LANE * k + 16);
    ticks().forEach((t, k) => {
      paint.textAlign = k === 4 ? "right" : k ? "center" : "left";
      paint.fillText(spent(t), here.x(t), 12);
    });
    paint.textAlign = "left";
    const chosen = Number(model.get("selected"));
    /** @type {Map<string, Path2D>} */
    const kinds = new Map();
    for (const row of view().rows) {
      const box = here.bar(row);
      if (!box) continue;
      let path = kinds.get(row.kind);
      if (!path) kinds.set(row.kind, (path = new Path2D()));
      path.rect(box.x, box.y, box.width, box.height);
    }
    for (const [kind, path] of kinds) {
      paint.fillStyle = COLOURS[kind] ?? OTHER;
      paint.fill(path);
    }
    const box = view().rows[chosen] && here.bar(view().rows[chosen]);
    if (box) paint.strokeRect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
    if (!canvas.isConnected) stage.replaceChildren(canvas);
  };
  const redraw = () => {
    const { rows, lost, title: name } = view();
    title.textContent = `${name} · ${rows.length} recorded · ${spent(view().seconds)}${lost ? ` · ${lost} more could not be recorded` : ""}`;
    root.setAttribute("aria-label", title.textContent);
    (rows.length > PAINTED ? asPaint : asElements)();
    const kinds = [...new Set(rows.map((row) => row.kind))];
    legend.replaceChildren(...kinds.map((kind) => {
      const mark = make("i", {});
      mark.style.background = COLOURS[kind] ?? OTHER;
      return make("span", {}, mark, ` ${kind}`);
    }));
    const row = rows[Number(model.get("selected"))];
    told.textContent = row ? sentence(row, Number(model.get("selected"))) : rows.length ? "Choose a bar: click it, or use the arrow keys." : "Nothing was recorded.";
  };
  /** @param {number} factor @param {number} [about] */
  const zoom = (factor, about = (from + to) / 2) => {
    const span = Math.min(total(), Math.max(total() / 1e6, (to - from) * factor));
    const share = (about - from) / (to - from);
    from = Math.max(0, Math.min(total() - span, about - share * span));
    to = from + span;
    redraw();
  };
  /** @param {number} seconds */
  const pan = (seconds) => {
    const by = Math.max(-from, Math.min(total() - to, seconds));
    [from, to] = [from + by, to + by];
    redraw();
  };
  /** @param {number} index */
  const select = (index) => {
    model.set("selected", index);
    model.save_changes();
    const row = view().rows[index];
    if (row && !measure().bar(row)) pan(row.start - (from + to) / 2);
    redraw();
  };
  /** The bar nearest to a point, within some pixels. @param {number} x @param {number} y */
  const at = (x, y) => {
    const lane = view().lanes[Math.floor((y - AXIS) / LANE)];
    const here = measure();
    let [found, distance] = [-1, 4];
    for (const [k, row] of view().rows.entries()) {
      const box = row.lane === lane ? here.bar(row) : null;
      const away = box ? Math.max(box.x - x, x - box.x - box.width, 0) : Infinity;
      if (away < distance) [found, distance] = [k, away];
    }
    return found;
  };

  const save = make("a", { role: "button", tabindex: 0, download: "timeline.json", title: "For chrome://tracing and Perfetto" }, "trace");
  save.addEventListener("click", () => {
    const text = JSON.stringify(chromeTrace(view()));
    save.setAttribute("href", URL.createObjectURL(new Blob([text], { type: "application/json" })));
    setTimeout(() => URL.revokeObjectURL(save.getAttribute("href") ?? ""), 10000);
  });
  save.addEventListener("keydown", (event) => { // a link without an address knows no keys
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    save.click();
  });
  for (const [sign, name, factor] of /** @type {[string, string, number][]} */ ([["−", "Show more time", 2], ["all", "Show all", 1e9], ["+", "Show less time", 0.5]])) {
    tools.append(press(sign, name, () => zoom(factor)));
  }
  tools.append(save);
  let held = NaN, moved = false;
  stage.addEventListener("pointerdown", (event) => { [held, moved] = [event.offsetX, false]; });
  stage.addEventListener("pointermove", (event) => {
    if (!event.buttons || Number.isNaN(held) || Math.abs(event.offsetX - held) < 3) return;
    moved = true;
    pan(time(held) - time(event.offsetX));
    held = event.offsetX;
  });
  stage.addEventListener("click", (event) => {
    const box = stage.getBoundingClientRect();
    if (!moved) select(at(event.clientX - box.left, event.clientY - box.top));
  });
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls, unless asked otherwise
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, time(event.clientX - stage.getBoundingClientRect().left));
  }, { passive: false });
  stage.addEventListener("keydown", (event) => {
    const chosen = Number(model.get("selected")), last = view().rows.length - 1;
    const moves = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: last };
    if (event.key in moves) select(Math.max(0, Math.min(last, moves[event.key])));
    else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") zoom(1e9);
    else if (event.key === "Escape") select(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const begin = () => {
    [from, to] = [0, total()];
    redraw();
  };
  begin();
  const still = onWidth(stage, redraw);
  const deaf = listen(model, { "change:view": begin, "change:selected": redraw });
  return () => {
    still();
    deaf();
  };
}

export default { render };
