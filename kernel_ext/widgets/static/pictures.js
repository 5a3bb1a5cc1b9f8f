// @ts-check
/**
 * Pictures of arrays: a line, an image, a histogram; used by every widget that shows one.
 *
 * @typedef {{name: string, kind: string, rows: number, columns: number, low: any, high: any, bad: number[]}} Part
 * @typedef {{name: string, kind: string, shape: number[], at: number[], sizes: number[], parts: Part[],
 *   histogram: {counts: number[], low: number, high: number} | null, facts: [string, string][], low: number, high: number,
 *   stops: number[][], span: [number, number], values: string, few: boolean, fields: string[], field: string}} ArrayPicture
 */

import { draw, figure, make, numbers, octets } from "./parts.js";

const BAD = [255, 0, 200];
const [TALL, FOOT] = [180, 20];
const LOW = 110; // pixels of a component's line, so that three are seen at once
const [GAP, LEAST] = [14, 150]; // pixels between images, and of an image beside others
export const PAD = 8; // pixels left and right of a plot

/** A value's colour. @param {number} value @param {number[][]} stops @param {number[]} span the values at both ends of the map */
export function blend(value, stops, [low, high]) {
  const at = (Math.max(0, Math.min(1, (value - low) / (high - low || 1))) || 0) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(at));
  return stops[k].map((first, c) => first + (stops[k + 1][c] - first) * (at - k));
}

const SHADES = 1024; // of a colour map: more than a screen tells apart

/** A pixel of a colour, opaque. @param {number} red @param {number} green @param {number} blue */
const pixel = (red, green, blue) => 0xff000000 | (blue << 16) | (green << 8) | red;

/** @type {Map<string, Uint32Array>} the pixels of colour maps, by their stops */
const tables = new Map();

/** The pixels of a colour map: a table, since a frame of 256 × 256 leaves no time for arithmetic with colours. @param {number[][]} stops */
function tableFor(stops) {
  const key = stops.join();
  let table = tables.get(key);
  if (!table) {
    table = Uint32Array.from({ length: SHADES }, (_, k) => {
      const [red, green, blue] = blend(k, stops, [0, SHADES - 1]).map(Math.round);
      return pixel(red, green, blue);
    });
    tables.set(key, table);
  }
  return table;
}

/** @type {WeakMap<HTMLCanvasElement, [CanvasRenderingContext2D, ImageData, Uint32Array]>} what each canvas is painted with */
const papers = new WeakMap();

/** Paint a 2-D part on its canvas. @param {HTMLCanvasElement} canvas @param {Part} part @param {ArrayPicture} view */
function paintImage(canvas, part, { stops, span: [low, high] }) {
  let paper = papers.get(canvas);
  if (!paper) {
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(part.columns, part.rows);
    papers.set(canvas, (paper = [context, image, new Uint32Array(image.data.buffer)]));
  }
  const [context, image, pixels] = paper;
  if (part.kind === "rgb") {
    const colours = octets(part.low);
    for (let k = 0; k < pixels.length; k += 1) pixels[k] = pixel(colours[3 * k], colours[3 * k + 1], colours[3 * k + 2]);
  } else {
    const [values, table, scale] = [numbers(part.low), tableFor(stops), (SHADES - 1) / (high - low || 1)];
    for (let k = 0; k < pixels.length; k += 1) {
      const at = (values[k] - low) * scale + 0.5;
      pixels[k] = table[at >= SHADES ? SHADES - 1 : at > 0 ? Math.floor(at) : 0]; // NaN is not above 0
    }
  }
  for (const k of part.bad) pixels[k] = pixel(BAD[0], BAD[1], BAD[2]);
  context.putImageData(image, 0, 0);
}

/** The picture of a 2-D part. @param {Part} part @param {ArrayPicture} view */
function imageOf(part, view) {
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { width: part.columns, height: part.rows, class: "wb-pixels", role: "img", "aria-label": `${view.name} ${part.name}`.trim() }));
  paintImage(canvas, part, view);
  return canvas;
}

/** The plot of a 1-D part. @param {Part} part @param {ArrayPicture} view @param {number} width @param {number} tall */
function plotOf(part, view, width, tall = TALL) {
  const [low, high] = [numbers(part.low), numbers(part.high)];
  const step = (width - 2 * PAD) / Math.max(1, part.columns - 1);
  /** @param {number} value */
  const y = (value) => PAD + (tall - PAD - FOOT) * (1 - (value - view.low) / (view.high - view.low || 1));
  let path = "", pen = "M";
  low.forEach((value, k) => {
    if (Number.isNaN(value)) return void (pen = "M");
    path += `${pen}${(PAD + k * step).toFixed(1)} ${y(value).toFixed(1)}`;
    if (high[k] > value) path += `V${y(high[k]).toFixed(1)}`;
    pen = "L";
  });
  const marks = part.bad.map((k) => draw("path", { d: `M${PAD + k * step} 2V${tall - FOOT}`, class: "wb-bad" }));
  const zero = view.low < 0 && view.high > 0 ? [draw("path", { d: `M${PAD} ${y(0)}H${width - PAD}`, class: "wb-rule" })] : [];
  /** @param {number} k */
  const none = (k) => !(k in low) || Number.isNaN(low[k]);
  const alone = [...low.keys()].filter((k) => !none(k) && none(k - 1) && none(k + 1));
  const dots = alone.map((k) => draw("circle", { cx: PAD + k * step, cy: y(low[k]), r: 3 }));
  return draw("svg", { width, height: tall, role: "img", class: "wb-plot" }, draw("title", {}, `${view.name} ${part.name}`), ...zero,
    draw("path", { d: path, class: "wb-curve" }), ...dots, ...marks,
    draw("text", { x: PAD, y: tall - 4 }, `${figure(view.low)} … ${figure(view.high)}`),
    draw("text", { x: width - PAD, y: tall - 4, "text-anchor": "end" }, `${view.shape[0]} elements`));
}

/** @param {NonNullable<ArrayPicture["histogram"]>} spread @param {number} width */
export function barsOf(spread, width) {
  const most = Math.max(...spread.counts);
  const step = (width - 2 * PAD) / spread.counts.length;
  const edge = (/** @type {number} */ k) => figure(spread.low + ((spread.high - spread.low) * k) / spread.counts.length);
  const bars = spread.counts.map((count, k) => {
    const tall = ((TALL - PAD - FOOT) * count) / most;
    return draw("rect", { x: PAD + k * step, y: TALL - FOOT - tall, width: Math.max(1, step - 1), height: tall, class: "wb-count" },
      draw("title", {}, `${edge(k)} to ${edge(k + 1)}: ${count}`));
  });
  return draw("svg", { width, height: TALL, role: "img", class: "wb-plot" }, draw("title", {}, "histogram"), ...bars,
    draw("text", { x: PAD, y: TALL - 4 }, figure(spread.low)),
    draw("text", { x: width - PAD, y: TALL - 4, "text-anchor": "end" }, `${figure(spread.high)} · most ${most}`));
}

/** Whether a picture in colours is of complex numbers, and holds them. @param {Part} part */
export const hasNumbers = (part) => part.kind === "rgb" && (part.high.byteLength ?? part.high.length) > 0;

/** What the colours of complex numbers mean: red, yellow, …, from the phase −π on. @param {ArrayPicture} view */
function phasesOf(view) {
  const ramp = make("i", { class: "wb-ramp" });
  ramp.style.background = "linear-gradient(to right, cyan, blue, magenta, red, yellow, lime, cyan)";
  return ["phase −π", ramp, `π · full brightness from ${figure(view.high)}`];
}

/** What the colours of images mean; empty where all parts are lines. @param {ArrayPicture} view */
export function scaleOf(view) {
  const images = view.parts.filter((part) => part.kind !== "line");
  const stops = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((k) => `rgb(${blend(view.low + ((view.high - view.low) * k) / 8, view.stops, view.span).join(" ")})`);
  const [bar, mark] = [make("i", { class: "wb-ramp" }), make("i", { class: "wb-ramp wb-none" })];
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const range = view.histogram && images.some((part) => part.kind === "image") ? [figure(view.low), bar, figure(view.high)]
    : images.some(hasNumbers) ? phasesOf(view) : [];
  const bad = images.some((part) => part.bad.length) ? [mark, "NaN or infinite"] : [];
  return range.length || bad.length ? make("div", { class: "wb-scale" }, ...range, ...bad) : make("div", { hidden: "" });
}

/** The picture of a part, at most so wide. @param {Part} part @param {ArrayPicture} view @param {number} width @param {number} [tall] */
export function pictureOf(part, view, width, tall = TALL) {
  if (part.kind === "line") return plotOf(part, view, width, tall);
  const image = imageOf(part, view);
  image.style.width = `${Math.min(width, Math.max(tall, part.columns * (tall === TALL ? 3 : 1)))}px`;
  return image;
}

/** What the elements of pictures depend on, all but their pixels. @param {ArrayPicture} view @param {number} width */
const frameOf = (view, width) => JSON.stringify([width, view.name, view.parts.map((p) => [p.name, p.kind, p.rows, p.columns])]);

/** Draw all parts into a place. Images of the size that stands there are painted again in place: elements that come and go cost
 * the page more than their pixels. @param {HTMLElement} stage @param {ArrayPicture} view @param {number} width */
export function drawPictures(stage, view, width) {
  const canvases = /** @type {HTMLCanvasElement[]} */ ([...stage.querySelectorAll("canvas.wb-pixels")]);
  const frame = frameOf(view, width);
  if (!canvases.length || canvases.length !== view.parts.length || framed.get(canvases[0]) !== frame) {
    stage.replaceChildren(...picturesOf(view, width));
    const first = stage.querySelector("canvas.wb-pixels");
    if (first) framed.set(first, frame);
    return;
  }
  canvases.forEach((canvas, k) => paintImage(canvas, view.parts[k], view));
  const [scale, before] = [scaleOf(view), stage.children[0]];
  if (!before.isEqualNode(scale)) before.replaceWith(scale);
}

/** @type {WeakMap<Element, string>} what the elements were made for, by their first canvas */
const framed = new WeakMap();

/** All parts with their names and what their colours mean. Images stand side by side if they stay large enough.
 * @param {ArrayPicture} view @param {number} width */
function picturesOf(view, width) {
  const count = view.parts.length;
  const beside = count > 1 && width / count - GAP >= LEAST ? width / count - GAP : width;
  return [scaleOf(view), ...view.parts.map((part) => make("figure", { class: "wb-figure" },
    ...(part.name ? [make("figcaption", { class: "wb-dim" }, part.name)] : []),
    part.kind === "line" ? plotOf(part, view, width, count > 1 ? LOW : TALL) : pictureOf(part, view, beside)))];
}
