// @ts-check
/**
 * Points on a canvas: WebGL, or without it a 2-D canvas. Dragging turns what is in space and moves what is in a plane;
 * Shift and dragging moves both; Ctrl and the wheel, or + and −, enlarge.
 *
 * @typedef {{name: string, kind: string, count: number, shown: number, flat: boolean, low: number[], high: number[],
 *   places: string, colours: string, stops: number[][], range: [number, number], size: number, bad: number}} PointsView
 */

import { figure, make, octets } from "./parts.js";

const SHAPES = `attribute vec3 place; attribute vec3 colour; uniform vec3 sides; uniform mat4 seen; uniform float size; varying vec3 shade;
  void main() { gl_Position = seen * vec4((place - 0.5) * sides, 1.0); gl_PointSize = max(1.0, size / gl_Position.w); shade = colour; }`;
const FILLS = `precision mediump float; varying vec3 shade;
  void main() { if (length(gl_PointCoord - 0.5) > 0.5) discard; gl_FragColor = vec4(shade, 1.0); }`;
const AWAY = 2.6; // of the eye, where the longest side of the box is 1
const START = { turn: 0.5, tilt: 0.35, zoom: 1, x: 0, y: 0 };
const HIGHEST = 420; // pixels

/** A program of WebGL; null if the browser has none. @param {WebGLRenderingContext} gl */
function programOf(gl) {
  const program = /** @type {WebGLProgram} */ (gl.createProgram());
  for (const [kind, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, SHAPES], [gl.FRAGMENT_SHADER, FILLS]])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

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
  const gl = canvas.getContext("webgl", { antialias: false, preserveDrawingBuffer: true });
  const program = gl && programOf(gl);
  const flatPaint = program ? null : (gl ? null : canvas.getContext("2d"));
  canvas.dataset.by = program ? "webgl" : "canvas";
  let camera = { ...START };
  /** @type {PointsView | undefined} */
  let view;
  /** @type {Uint16Array} shares of the box */
  let places = new Uint16Array(0);
  let sides = [0, 0, 0]; // of the box, the longest one 1
  /** @type {Uint8Array} */
  let colours = new Uint8Array(0);

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
  const buffers = program && gl ? [gl.createBuffer(), gl.createBuffer()] : [];
  const upload = () => {
    if (!gl || !program) return;
    gl.useProgram(program);
    for (const [k, name, data, kind] of /** @type {[number, string, any, number][]} */ ([[0, "place", places, gl.UNSIGNED_SHORT], [1, "colour", colours, gl.UNSIGNED_BYTE]])) {
      const at = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, 3, kind, true, 0, 0);
    }
  };
  const paintByHand = (/** @type {CanvasRenderingContext2D} */ paint) => {
    const [m, image] = [matrix(), paint.createImageData(canvas.width, canvas.height)];
    const wide = Math.max(1, Math.round(view?.size ?? 2));
    for (let k = 0; k < places.length; k += 3) {
      const [x, y, z] = sides.map((side, axis) => (places[k + axis] / 65535 - 0.5) * side);
      const w = m[3] * x + m[7] * y + m[11] * z + m[15];
      const across = Math.round(((m[0] * x + m[4] * y + m[8] * z + m[12]) / w + 1) * 0.5 * canvas.width - wide / 2);
      const down = Math.round((1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w) * 0.5 * canvas.height - wide / 2);
      for (let v = Math.max(0, down); v < Math.min(canvas.height, down + wide); v += 1) {
        for (let u = Math.max(0, across); u < Math.min(canvas.width, across + wide); u += 1) {
          image.data.set([colours[k], colours[k + 1], colours[k + 2], 255], 4 * (v * canvas.width + u));
        }
      }
    }
    paint.putImageData(image, 0, 0);
  };
  const paint = () => {
    if (!view || !canvas.width) return;
    if (flatPaint) return paintByHand(flatPaint);
    if (!gl || !program) return;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.uniform3fv(gl.getUniformLocation(program, "sides"), sides);
    gl.uniformMatrix4fv(gl.getUniformLocation(program, "seen"), false, matrix());
    gl.uniform1f(gl.getUniformLocation(program, "size"), view.size * (window.devicePixelRatio || 1) * (view.flat ? 1 : AWAY));
    gl.drawArrays(gl.POINTS, 0, places.length / 3);
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
    [view, places, colours] = [next, new Uint16Array(octets(next.places).buffer), octets(next.colours)];
    upload();
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
  const close = () => gl?.getExtension("WEBGL_lose_context")?.loseContext(); // a page may hold sixteen contexts
  return { canvas, show, resize, zoom, close, paint };
}
