// @ts-check
/**
 * Two ways to paint points on a canvas, with the same picture: WebGL, and a rasteriser for browsers that have no WebGL or
 * do it in software, where a frame of 10⁵ points takes 100 ms and more by WebGL and 10 ms by this.
 *
 * @typedef {{by: string, take(places: Uint16Array, colours: Uint8Array): void, close(): void,
 *   paint(matrix: number[], sides: number[], size: number, flat: boolean): void}} Painter
 */

const SMALLEST_POINT = 1.5; // pixels: a disc of this size covers the centre of a pixel wherever it stands
const SHAPES = `attribute vec3 place; attribute vec3 colour; uniform vec3 sides; uniform mat4 seen; uniform float size; varying vec3 shade;
  void main() { gl_Position = seen * vec4((place - 0.5) * sides, 1.0); gl_PointSize = max(${SMALLEST_POINT}, size / gl_Position.w); shade = colour; }`;
const FILLS = `precision mediump float; varying vec3 shade;
  void main() { if (length(gl_PointCoord - 0.5) > 0.5) discard; gl_FragColor = vec4(shade, 1.0); }`;
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** @type {boolean | undefined} */
let graphicsCard;
/** Whether WebGL is there and not done in software: asked once for each page, of a canvas that is thrown away. */
function hasGraphicsCard() {
  if (graphicsCard !== undefined) return graphicsCard;
  const gl = document.createElement("canvas").getContext("webgl");
  const unmasked = gl?.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
  graphicsCard = Boolean(gl && programOf(gl)) && !SOFTWARE.test(String(gl?.getParameter(unmasked ?? gl.RENDERER)));
  release(gl);
  return graphicsCard;
}

/** Give a context back: a page may hold sixteen. @param {WebGLRenderingContext | null} gl */
const release = (gl) => gl?.getExtension("WEBGL_lose_context")?.loseContext();

/** A program of WebGL; null if it cannot be built. @param {WebGLRenderingContext} gl */
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

/** @param {HTMLCanvasElement} canvas @returns {Painter | null} */
function graphicsPainter(canvas) {
  const gl = canvas.getContext("webgl", { antialias: false, preserveDrawingBuffer: true });
  const program = gl && programOf(gl);
  if (!gl || !program) return null;
  const buffers = [gl.createBuffer(), gl.createBuffer()];
  let count = 0;
  gl.useProgram(program);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  return {
    by: "webgl",
    take(places, colours) {
      count = places.length / 3;
      for (const [k, name, data, kind] of /** @type {[number, string, any, number][]} */ ([[0, "place", places, gl.UNSIGNED_SHORT], [1, "colour", colours, gl.UNSIGNED_BYTE]])) {
        const at = gl.getAttribLocation(program, name);
        if (data.length === 3 && count > 1) { // one colour for all
          gl.disableVertexAttribArray(at);
          gl.vertexAttrib3f(at, data[0] / 255, data[1] / 255, data[2] / 255);
          continue;
        }
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
        gl.enableVertexAttribArray(at);
        gl.vertexAttribPointer(at, 3, kind, true, 0, 0);
      }
    },
    paint(matrix, sides, size) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.uniform3fv(gl.getUniformLocation(program, "sides"), sides);
      gl.uniformMatrix4fv(gl.getUniformLocation(program, "seen"), false, matrix);
      gl.uniform1f(gl.getUniformLocation(program, "size"), size);
      gl.drawArrays(gl.POINTS, 0, count);
    },
    close: () => release(gl),
  };
}

/** Discs with a depth for each pixel: of two points the nearer one is seen, in a plane the later one.
 * @param {HTMLCanvasElement} canvas @returns {Painter} */
function softwarePainter(canvas) {
  const paper = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  let places = new Uint16Array(0);
  let inks = new Uint32Array(0); // a pixel each
  let image = new ImageData(1, 1);
  let [pixels, depths] = [new Uint32Array(1), new Float32Array(1)];
  return {
    by: "canvas",
    take(shares, colours) {
      places = shares;
      inks = new Uint32Array(shares.length / 3);
      const each = colours.length > 3 ? 3 : 0; // one colour may be that of all
      for (let k = 0; k < inks.length; k += 1) inks[k] = 0xff000000 | (colours[each * k + 2] << 16) | (colours[each * k + 1] << 8) | colours[each * k];
    },
    paint(matrix, sides, size, flat) {
      const { width, height } = canvas;
      if (image.width !== width || image.height !== height) {
        image = new ImageData(width, height);
        [pixels, depths] = [new Uint32Array(image.data.buffer), new Float32Array(width * height)];
      }
      pixels.fill(0);
      depths.fill(Infinity);
      // A row of the matrix for shares of 0 to 65,535 instead of places around the middle of the box.
      const row = (/** @type {number} */ k) => {
        const by = sides.map((side, axis) => side * matrix[4 * axis + k]);
        return [...by.map((v) => v / 65535), matrix[12 + k] - (by[0] + by[1] + by[2]) / 2];
      };
      const [[xa, xb, xc, xd], [ya, yb, yc, yd], [wa, wb, wc, wd]] = [row(0), row(1), row(3)];
      for (let n = 0; n < inks.length; n += 1) {
        const a = places[3 * n];
        const b = places[3 * n + 1];
        const c = places[3 * n + 2];
        const w = wa * a + wb * b + wc * c + wd;
        const x = ((xa * a + xb * b + xc * c + xd) / w + 1) * 0.5 * width;
        const y = (1 - (ya * a + yb * b + yc * c + yd) / w) * 0.5 * height;
        const r = Math.max(SMALLEST_POINT, size / w) / 2;
        const bottom = Math.min(height - 1, Math.floor(y + r - 0.5));
        for (let v = Math.max(0, Math.ceil(y - r - 0.5)); v <= bottom; v += 1) {
          const half = Math.sqrt(r * r - (v + 0.5 - y) ** 2);
          const last = v * width + Math.min(width - 1, Math.floor(x + half - 0.5));
          for (let at = v * width + Math.max(0, Math.ceil(x - half - 0.5)); at <= last; at += 1) {
            if (!flat && w > depths[at]) continue;
            depths[at] = w;
            pixels[at] = inks[n];
          }
        }
      }
      paper.putImageData(image, 0, 0);
    },
    close() {},
  };
}

/** What paints fastest here. @param {HTMLCanvasElement} canvas @returns {Painter} */
export const painterOf = (canvas) => (hasGraphicsCard() && graphicsPainter(canvas)) || softwarePainter(canvas);
