// @ts-check
/**
 * Rows of small squares on a canvas: the threads of a grid, the elements of an array. A square is found under the pointer,
 * and the arrow keys move from one to the next.
 *
 * @typedef {{fill: string, cut?: boolean}} Square
 * @typedef {{x: number, y: number, side: number, columns: number, count: number}} Field
 */

import { make } from "./parts.js";

export const SHADES = {
  wrote: "#2b7bba", read: "#8fbfe0", updated: "#7b5ea7", now: "#d6604d", waits: "#dfa32b", reader: "#3a9a6a", writer: "#d6604d",
};

/** A canvas for squares that can be pointed at. @param {string} label @param {{at: (x: number, y: number) => void,
 *   leave: () => void, choose: () => void, move: (columns: number, rows: number) => void}} acts */
export function squareBoard(label, acts) {
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { tabindex: 0, role: "application", "aria-label": label }));
  canvas.addEventListener("pointermove", (event) => acts.at(event.offsetX, event.offsetY));
  canvas.addEventListener("pointerleave", acts.leave);
  canvas.addEventListener("click", (event) => {
    acts.at(event.offsetX, event.offsetY);
    acts.choose();
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (by) acts.move(by[0], by[1]);
    else if (event.key === "Enter" || event.key === " ") acts.choose();
    else return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has its own keys
  });
  return canvas;
}

/** A canvas of a size in pixels, cleared; its painter. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function clearBoard(canvas, width, height) {
  const dense = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.ceil(width * dense), Math.ceil(height * dense)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const paint = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  paint.scale(dense, dense);
  return paint;
}

/** A picture that is drawn once and put under what changes. @param {number} width @param {number} height
 * @param {(paint: CanvasRenderingContext2D) => void} draw */
export function groundOf(width, height, draw) {
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas"));
  draw(clearBoard(canvas, width, height));
  return { width, height, canvas };
}

/** A canvas with a ground on it; its painter. @param {HTMLCanvasElement} canvas @param {ReturnType<typeof groundOf>} ground */
export function onGround(canvas, ground) {
  const paint = clearBoard(canvas, ground.width, ground.height);
  paint.drawImage(ground.canvas, 0, 0, ground.width, ground.height);
  return paint;
}

/** The place of a square. @param {Field} field @param {number} k @returns {[number, number]} */
const cornerOf = (field, k) => [field.x + (k % field.columns) * field.side, field.y + Math.floor(k / field.columns) * field.side];

/** Fill one square. @param {CanvasRenderingContext2D} paint @param {Field} field @param {number} k @param {string} colour */
export function fillSquare(paint, field, k, colour) {
  const gap = field.side >= 4 ? 1 : 0, [x, y] = cornerOf(field, k);
  paint.fillStyle = colour;
  paint.fillRect(x, y, field.side - gap, field.side - gap);
}

/** Draw around one square. @param {CanvasRenderingContext2D} paint @param {Field} field @param {number} k @param {string} colour */
export function ringSquare(paint, field, k, colour) {
  const [x, y] = cornerOf(field, k), side = Math.max(3, field.side - (field.side >= 4 ? 1 : 0));
  paint.lineWidth = 2;
  paint.strokeStyle = colour;
  paint.strokeRect(x, y, side, side);
}

/** Fill all squares of a field; small ones of one colour together. @param {CanvasRenderingContext2D} paint @param {Field} field
 * @param {(k: number) => Square} look */
export function fillSquares(paint, field, look) {
  if (field.side >= 4) {
    for (let k = 0; k < field.count; k += 1) {
      const { fill, cut } = look(k), [x, y] = cornerOf(field, k);
      fillSquare(paint, field, k, fill);
      if (cut) paint.clearRect(x + field.side / 2, y + field.side / 2, field.side / 2, field.side / 2);
    }
    return;
  }
  for (let k = 0; k < field.count;) {
    const { fill } = look(k), [x, y] = cornerOf(field, k), end = Math.min(field.count, k - (k % field.columns) + field.columns);
    let next = k + 1;
    while (next < end && look(next).fill === fill) next += 1;
    paint.fillStyle = fill;
    paint.fillRect(x, y, (next - k) * field.side, field.side);
    k = next;
  }
}

/** Which square of a field is at a place; -1 where there is none. @param {Field} field @param {number} x @param {number} y */
export function squareAt(field, x, y) {
  const column = Math.floor((x - field.x) / field.side), row = Math.floor((y - field.y) / field.side);
  const k = row * field.columns + column;
  return column >= 0 && column < field.columns && row >= 0 && k < field.count ? k : -1;
}
