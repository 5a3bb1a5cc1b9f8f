// @ts-check
/**
 * A record as a timeline: a lane for each device and one for the host, a bar for each thing that ran in its kernel's colour
 * and with its name. Zoom, pan, choose a bar, search; below, totals per kernel. Up to 1,000 bars in sight are elements; more are painted.
 *
 * @typedef {{start: number, seconds: number | null, lane: string, kind: string, name: string, size: number[],
 *   place: string, bytes: number}} Row
 * @typedef {{kind: string, name: string, calls: number, seconds: number, share: number, colour: string}} Total
 * @typedef {{title: string, lanes: string[], rows: Row[], seconds: number, lost: number, host: Row[], notes?: string[], totals: Total[]}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { bytes, draw, listen, make, onWidth, place, press, spent, tableOf } from "./parts.js";

const PAINTED = 1000; // bars in sight from which they are painted, not elements
const LETTER = 6.7; // pixels of a letter in a bar
const [LEFT, AXIS, LANE, RIGHT] = [84, 20, 26, 8];

/** What is said of a bar. @param {Row} row @param {number} index */
function sentence(row, index) {
  const size = row.size.length ? row.size.join(" × ") : "";
  return [`#${index} ${row.kind} ${row.name}`, size, spent(row.seconds), bytes(row.bytes), row.place].filter(Boolean).join(" · ");
}

/** The lanes: devices, and the host where it did something. @param {View} view */
const lanesOfTime = (view) => [...new Set([...view.lanes, ...view.host.map((row) => row.lane)])];

/** What a total is of. @param {Total} total */
const totalName = ({ kind, name }) => (kind === "Python" ? "Python between launches" : kind === "compile" ? "compile or load" : `${name} ${kind === "forward" ? "" : kind}`.trim());

/** A time in the unit of the whole axis. @param {number} seconds @param {number} whole */
function tickOf(seconds, whole) {
  const [unit, name] = whole >= 1 ? [1, "s"] : whole >= 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
  return `${Number((seconds / unit).toPrecision(3))} ${name}`;
}

/** The record in Chrome's trace event format, which Perfetto opens. @param {View} view */
function chromeTrace(view) {
  const lanes = lanesOfTime(view);
  const events = [...view.rows, ...view.host].map((row) => ({
    name: row.kind === "forward" ? row.name : `${row.kind} ${row.name}`.trim(), cat: row.kind, ph: "X", ts: row.start * 1e6, dur: (row.seconds ?? 0) * 1e6, pid: 1,
    tid: lanes.indexOf(row.lane) + 1, args: { size: row.size, bytes: row.bytes, place: row.place },
  }));
  const names = lanes.map((lane, k) => ({ name: "thread_name", ph: "M", pid: 1, tid: k + 1, args: { name: lane } }));
  return { traceEvents: [...names, ...events], displayTimeUnit: "ns" };
}

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const tools = make("span", { class: "wb-tools", role: "group", "aria-label": "Timeline" });
  const totals = make("div", { class: "wb-totals" });
  const find = /** @type {HTMLInputElement} */ (make("input", { type: "search", placeholder: "search", "aria-label": "Search by name, kind or line" }));
  const told = make("div", { class: "wb-told", role: "status" });
  const mark = make("i", { class: "wb-mark", "aria-hidden": "true", hidden: "" });
  const stage = make("div", { class: "wb-stage", tabindex: 0, role: "application",
    "aria-label": "Timeline: arrow keys choose, plus and minus zoom, 0 shows all" });
  const root = make("div", { class: "wb-box wb-timeline", "data-testid": "wb-timeline", role: "group" },
    make("div", { class: "wb-head" }, title, tools), stage, told, totals);
  place(model, el, root);

  const view = () => /** @type {View} */ (model.get("view"));
  /** All bars: what ran, then what the host did. */
  const bars = () => [...view().rows, ...view().host];
  /** @type {Map<string, string>} */
  let colours = new Map();
  /** @param {Row} row */
  const colourOf = (row) => colours.get(`${row.kind} ${row.name}`) ?? colours.get(`${row.kind} `) ?? "#98a1aa";
  /** Whether a bar is one of those that are searched for. @param {Row} row */
  const found = (row) => !find.value || `${row.name} ${row.kind} ${row.place}`.toLowerCase().includes(find.value.toLowerCase());
  const total = () => Math.max(view().seconds, 1e-9);
  let [from, to] = [0, total()]; // seconds that are shown
  const width = () => Math.max(LEFT + RIGHT + 60, stage.clientWidth || 720);
  /** Seconds to pixels and lanes to rows, as they are now: asking the page for a width costs, once a drawing is enough. */
  const measure = () => {
    const right = width() - RIGHT;
    const scale = (right - LEFT) / (to - from);
    const rows = new Map(lanesOfTime(view()).map((lane, k) => [lane, AXIS + LANE * k + 3]));
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
  const height = () => AXIS + LANE * Math.max(1, lanesOfTime(view()).length);

  /** A bar in sight. @typedef {{row: Row, index: number, box: {x: number, y: number, width: number, height: number}}} Seen */
  /** @param {ReturnType<typeof measure>} here @param {Seen[]} seen */
  const asElements = (here, seen) => {
    const picture = draw("svg", { width: here.right + RIGHT, height: height(), role: "list", "aria-label": "Launches in the order of time" });
    for (const [k, lane] of lanesOfTime(view()).entries()) {
      const y = AXIS + LANE * k;
      picture.append(draw("text", { x: 4, y: y + 16, class: "wb-dim" }, lane.slice(0, 12)),
        draw("path", { d: `M${LEFT} ${y + LANE - 2}H${here.right}`, class: "wb-rule" }));
    }
    ticks().forEach((t, k) => picture.append(draw("text", { x: here.x(t), y: 12, class: "wb-dim",
      "text-anchor": k === 4 ? "end" : k ? "middle" : "start" }, tickOf(t, to))));
    for (const { row, index, box } of seen) {
      picture.append(draw("rect", { ...box, rx: 1.5, fill: colourOf(row), class: `wb-span${found(row) ? "" : " wb-faint"}`,
        role: "listitem", "data-index": index, "data-kind": row.kind }, draw("title", {}, sentence(row, index))));
      const room = Math.floor((box.width - 6) / LETTER), name = row.name || row.kind;
      if (room >= 3) picture.append(draw("text", { x: box.x + 3, y: box.y + 13, class: `wb-name${found(row) ? "" : " wb-faint"}`, "aria-hidden": "true" }, name.length > room ? `${name.slice(0, room - 1)}…` : name));
    }
    stage.replaceChildren(picture, mark);
  };
  /** @param {ReturnType<typeof measure>} here @param {Seen[]} seen */
  const asPaint = (here, seen) => {
    const canvas = /** @type {HTMLCanvasElement} */ (stage.querySelector("canvas") ?? make("canvas"));
    const dense = window.devicePixelRatio || 1;
    const [wide, high] = [here.right + RIGHT, height()];
    [canvas.width, canvas.height] = [wide * dense, high * dense];
    [canvas.style.width, canvas.style.height] = [`${wide}px`, `${high}px`];
    const paint = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    paint.scale(dense, dense);
    paint.font = "11px ui-monospace, monospace";
    paint.fillStyle = getComputedStyle(root).color;
    for (const [k, lane] of lanesOfTime(view()).entries()) paint.fillText(lane.slice(0, 12), 4, AXIS + LANE * k + 16);
    ticks().forEach((t, k) => {
      paint.textAlign = k === 4 ? "right" : k ? "center" : "left";
      paint.fillText(tickOf(t, to), here.x(t), 12);
    });
    paint.textAlign = "left";
    /** @type {Map<string, [string, boolean, Path2D]>} */
    const paths = new Map();
    const covered = new Set(); // of bars that would cover the same pixels in one colour, one is painted
    for (const { row, box } of seen) {
      const [colour, sought] = [colourOf(row), found(row)];
      const pixels = `${colour} ${sought} ${box.y} ${Math.round(box.x)} ${Math.round(box.width)}`;
      if (covered.has(pixels)) continue;
      covered.add(pixels);
      let path = paths.get(`${colour} ${sought}`);
      if (!path) paths.set(`${colour} ${sought}`, (path = [colour, sought, new Path2D()]));
      path[2].rect(box.x, box.y, box.width, box.height);
    }
    for (const [colour, sought, path] of paths.values()) {
      [paint.fillStyle, paint.globalAlpha] = [colour, sought ? 1 : 0.15];
      paint.fill(path);
    }
    if (!canvas.isConnected) stage.replaceChildren(canvas, mark);
  };
  /** The chosen bar: a frame over it and a sentence. Nothing else is drawn again. */
  const choose = () => {
    const index = Number(model.get("selected")), all = bars(), row = all[index];
    const box = row ? measure().bar(row) : null;
    mark.toggleAttribute("hidden", !box);
    if (box) mark.style.cssText = `left: ${box.x - 1}px; top: ${box.y - 1}px; width: ${box.width + 2}px; height: ${box.height + 2}px`;
    const matches = find.value ? `${all.filter(found).length} of ${all.length} match; Enter goes to the next` : "";
    told.textContent = row ? sentence(row, index) : matches || (view().rows.length ? "Choose a bar: click it, or use the arrow keys." : "Nothing was recorded.");
  };
  const redraw = () => {
    const { rows, lost, title: name, notes = [] } = view();
    title.textContent = `${name} · ${rows.length} recorded · ${spent(view().seconds)}${lost ? ` · ${lost} more could not be recorded` : ""}${notes.map((note) => ` · ${note}`).join("")}`;
    root.setAttribute("aria-label", title.textContent);
    const here = measure();
    const seen = bars().flatMap((row, index) => {
      const box = here.bar(row);
      return box ? [{ row, index, box }] : [];
    });
    (seen.length > PAINTED ? asPaint : asElements)(here, seen);
    choose();
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
    const row = bars()[index];
    if (row && !measure().bar(row)) pan(row.start - (from + to) / 2);
    choose();
  };
  /** The bar nearest to a point, within some pixels. @param {number} x @param {number} y */
  const at = (x, y) => {
    const lane = lanesOfTime(view())[Math.floor((y - AXIS) / LANE)];
    const here = measure();
    let [nearest, distance] = [-1, 4];
    for (const [k, row] of bars().entries()) {
      const box = row.lane === lane ? here.bar(row) : null;
      const away = box ? Math.max(box.x - x, x - box.x - box.width, 0) : Infinity;
      if (away < distance) [nearest, distance] = [k, away];
    }
    return nearest;
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
  tools.append(save, find);
  find.addEventListener("input", () => {
    if (Number(model.get("selected")) >= 0) select(-1);
    redraw();
  });
  find.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the notebook has keys of its own
    if (event.key !== "Enter" || !find.value) return;
    const all = bars(), from = Number(model.get("selected"));
    const next = all.map((_, k) => (from + 1 + k) % all.length).find((k) => found(all[k]));
    if (next !== undefined) select(next);
  });
  /** The totals: a row per kernel, which searches for it. */
  const drawTotals = () => {
    const most = Math.max(...view().totals.map(({ share }) => share));
    totals.replaceChildren(tableOf(["kernel", "calls", "total", "mean", "share", ""], view().totals.map((sum) => {
      const mark = make("i", {}), bar = make("i", { class: "wb-part" }), name = make("button", { type: "button", title: "Search for it" }, mark, ` ${totalName(sum)}`);
      [mark.style.background, bar.style.background, bar.style.width] = [sum.colour, sum.colour, `${Math.max(1, (90 * sum.share) / (most || 1))}px`];
      name.addEventListener("click", () => {
        find.value = find.value === (sum.name || sum.kind) ? "" : sum.name || sum.kind;
        if (Number(model.get("selected")) >= 0) select(-1);
        redraw();
      });
      return [name, String(sum.calls), spent(sum.seconds), spent(sum.seconds / sum.calls), `${(100 * sum.share).toFixed(1)} %`, bar];
    })));
    totals.toggleAttribute("hidden", !view().totals.length);
  };
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
    const chosen = Number(model.get("selected")), last = bars().length - 1;
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
    colours = new Map(view().totals.map(({ kind, name, colour }) => [`${kind} ${name}`, colour]));
    find.value = "";
    drawTotals();
    redraw();
  };
  begin();
  const still = onWidth(stage, redraw);
  const deaf = listen(model, { "change:view": begin, "change:selected": choose });
  return () => {
    still();
    deaf();
  };
}

export default { render };
