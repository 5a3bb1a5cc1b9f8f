// @ts-check
/**
 * Points on a canvas, and the camera that sees them. Dragging turns what is in space and moves what is in a plane;
 * Shift and dragging moves both; Ctrl and the wheel, or + and −, enlarge.
 *
 * @typedef {{name: string, kind: string, count: number, shown: number, flat: boolean, low: number[], high: number[],
 *   places: any, colours: any, stops: number[][], range: [number, number], size: number, bad: number}} PointsView
 */

import { elementsOf, figure, make, octets } from "./parts.js";
import { painterOf } from "./point_painters.js";

const AWAY = 2.6; // of the eye, where the longest side of the box is 1
const START = { turn: 0.5, tilt: 0.35, zoom: 1, x: 0, y: 0 };
const HIGHEST = 420; // pixels

/** What the colours mean; empty if they are no values. @param {PointsView} view */
export function coloursOf(view) {
  if (!view.stops.length) return make("div", { hidden: "" });
  const bar = make("i", { class: "wb-ramp" });
  bar.style.background = `linear-gradient(to right, ${view.stops.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
  return make("div", { class: "wb-scale" }, figure(view.range[0]), bar, figure(view.range[1]));
}

/** A canvas with points: `show` takes other points, `resize` another width, `zoom` a factor (0: as at first). */
export function cloud() {
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { class: "wb-cloud", tabindex: 0, role: "img", "aria-label": "Points: drag or arrow keys turn, plus and minus enlarge" }));
  const painter = painterOf(canvas);
  canvas.dataset.by = painter.by;
  let camera = { ...START };
  /** @type {PointsView | undefined} */
  let view;
  let sides = [0, 0, 0]; // of the box, the longest one 1

  /** The camera as a matrix, a column after the other. */
  const matrix = () => {
    const flat = Boolean(view?.flat);
    const [a, b] = flat ? [0, 0] : [camera.turn, camera.tilt];
    const [c, s, d, t] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
    const wide = canvas.width / canvas.height || 1;
    const k = camera.zoom * (flat ? 1.85 : AWAY * 1.25);
    const [across, up] = wide > 1 ? [k / wide, k] : [k, k * wide];
    const rows = [[c, 0, s], [s * t, d, -c * t], [-s * d, t, c * d]]; // turned about y, then about x
    const w = flat ? [0, 0, 0, 1] : [-rows[2][0], -rows[2][1], -rows[2][2], AWAY];
    const x = [...rows[0].map((v) => v * across), camera.x * w[3]];
    const y = [...rows[1].map((v) => v * up), camera.y * w[3]];
    const z = flat ? [0, 0, 0, 0] : [...rows[2].map((v) => -0.5 * v), 0];
    return [0, 1, 2, 3].flatMap((j) => [x[j], y[j], z[j], w[j]]);
  };
  const paint = () => {
    if (!view || !canvas.width) return;
    const size = view.size * (window.devicePixelRatio || 1) * (view.flat ? 1 : AWAY);
    painter.paint(matrix(), sides, size, view.flat);
  };
  let due = 0;
  const later = () => {
    due ||= requestAnimationFrame(() => {
      due = 0;
      paint();
    });
  };
  const show = (/** @type {PointsView} */ next) => {
    const size = next.low.map((low, k) => next.high[k] - low);
    const most = Math.max(...size) || 1;
    sides = [0, 1, 2].map((axis) => (size[axis] ?? 0) / most);
    view = next;
    painter.take(elementsOf(Uint16Array, next.places), octets(next.colours));
    later();
  };
  const resize = (/** @type {number} */ width) => {
    const tall = Math.min(HIGHEST, Math.max(160, width * 0.6));
    const sharp = window.devicePixelRatio || 1;
    [canvas.style.width, canvas.style.height] = [`${width}px`, `${tall}px`];
    [canvas.width, canvas.height] = [Math.round(width * sharp), Math.round(tall * sharp)];
    paint();
  };
  const zoom = (/** @type {number} */ factor) => {
    camera = factor ? { ...camera, zoom: Math.max(0.2, Math.min(60, camera.zoom * factor)) } : { ...START };
    later();
  };
  const move = (/** @type {number} */ dx, /** @type {number} */ dy, /** @type {boolean} */ along) => {
    if (along) camera = { ...camera, x: camera.x + (2 * dx) / canvas.clientWidth, y: camera.y - (2 * dy) / canvas.clientHeight };
    else camera = { ...camera, turn: camera.turn + dx * 0.01, tilt: Math.max(-1.57, Math.min(1.57, camera.tilt + dy * 0.01)) };
    later();
  };
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) move(event.movementX, event.movementY, event.shiftKey || Boolean(view?.flat));
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the page scrolls over it
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] }[event.key];
    if (step) move(step[0], step[1], Boolean(view?.flat));
    else if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return { canvas, show, resize, zoom, close: painter.close, paint };
}
