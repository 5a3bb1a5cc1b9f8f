// @ts-check
/**
 * An array as a picture's data, made in the page as `views/arrays/array_view.py` makes it in Python.
 *
 * @typedef {import("./pictures.js").ArrayPicture} ArrayPicture
 * @typedef {import("./pictures.js").Part} Part
 */

const [COLUMNS, BINS] = [1024, 40];

/** Where so many equal parts begin. @param {number} length @param {number} most */
function edges(length, most) {
  const count = Math.min(length, most);
  return Array.from({ length: count + 1 }, (_, k) => Math.floor((k * length) / count));
}

/** Lowest and highest finite value of each column. @param {(k: number) => number} value @param {number} length */
function line(value, length) {
  const starts = edges(length, COLUMNS);
  const columns = starts.length - 1;
  const [low, high] = [new Float32Array(columns).fill(NaN), new Float32Array(columns).fill(NaN)];
  const bad = [];
  for (let c = 0; c < columns; c++) {
    let clear = true;
    for (let k = starts[c]; k < starts[c + 1]; k++) {
      const one = value(k);
      if (!Number.isFinite(one)) clear = false;
      else {
        if (!(one >= low[c])) low[c] = one;
        if (!(one <= high[c])) high[c] = one;
      }
    }
    if (!clear) bad.push(c);
  }
  return { rows: 1, columns, low, high, bad };
}

/** The mean of the finite values of each block. @param {(k: number) => number} value @param {number[]} sizes @param {number[]} points */
function image(value, [tall, wide], [rows, columns]) {
  const [down, across] = [edges(tall, rows), edges(wide, columns)];
  const mean = new Float32Array(rows * columns);
  const bad = [];
  if (tall === rows && wide === columns) {
    for (let k = 0; k < mean.length; k++) if (!Number.isFinite((mean[k] = value(k)))) (mean[k] = NaN), bad.push(k);
    return { rows, columns, low: mean, high: "", bad };
  }
  for (let r = 0, at = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++, at++) {
      let [sum, count, all] = [0, 0, 0];
      for (let y = down[r]; y < down[r + 1]; y++) {
        for (let x = across[c]; x < across[c + 1]; x++, all++) {
          const one = value(y * wide + x);
          if (Number.isFinite(one)) (sum += one), count++;
        }
      }
      mean[at] = sum / count;
      if (count < all) bad.push(at);
    }
  }
  return { rows, columns, low: mean, high: "", bad };
}

/** Three components as bytes of colours. @param {ReturnType<typeof image>[]} means @param {number} low @param {number} high */
function colours(means, low, high) {
  const { rows, columns } = means[0];
  const bytes = new Uint8Array(3 * rows * columns);
  means.forEach((part, c) => part.low.forEach((value, k) => {
    bytes[3 * k + c] = Math.max(0, Math.min(1, ((value || 0) - low) / (high - low))) * 255 + 0.5;
  }));
  return { rows, columns, low: bytes, high: "", bad: [...new Set(means.flatMap((part) => part.bad))].sort((a, b) => a - b) };
}

/** Real and imaginary parts, one beside the other. @param {ArrayLike<number>} real @param {ArrayLike<number>} imag */
const beside = (real, imag) => Float32Array.from({ length: 2 * real.length }, (_, k) => (k % 2 ? imag : real)[k >> 1]);

/** The picture of an array that had the picture `first` before.
 * @param {ArrayPicture} first @param {ArrayLike<number | bigint>} values densely, components side by side
 * @param {{maps: Record<string, number[][]>, fixed: boolean, grows: boolean, colours: string}} look colour maps by name; whether the
 *   range stays, or takes in that of `first`
 * @returns {ArrayPicture} */
export function pictureAgain(first, values, look) {
  const numbers = typeof values[0] === "bigint" ? Float64Array.from(/** @type {ArrayLike<bigint>} */ (values), Number) : /** @type {ArrayLike<number>} */ (values);
  const sizes = first.shape;
  const count = sizes.reduce((a, b) => a * b, 1);
  const leading = first.at.reduce((at, index, axis) => at * first.sizes[axis] + index, 0);
  const inner = Math.max(1, Math.round(numbers.length / (count * first.sizes.reduce((a, b) => a * b, 1))));
  const [kind] = first.parts.map((part) => part.kind);
  // Complex numbers: the hue is the phase, the brightness the magnitude.
  const phases = kind === "rgb" && inner === 2;
  const shown = phases ? Float64Array.from({ length: numbers.length / 2 }, (_, k) => Math.hypot(numbers[2 * k], numbers[2 * k + 1])) : numbers;
  let [low, high] = [Infinity, -Infinity];
  for (let k = 0; k < shown.length; k++) {
    const one = shown[k];
    if (!Number.isFinite(one)) continue;
    if (one < low) low = one;
    if (one > high) high = one;
  }
  const none = low > high;
  if (none) [low, high] = [0, 0];
  const counts = new Array(low === high ? 1 : BINS).fill(0);
  for (let k = 0; k < shown.length; k++) {
    const one = shown[k];
    if (Number.isFinite(one)) counts[low === high ? 0 : Math.min(BINS - 1, Math.floor(((one - low) / (high - low)) * BINS))]++;
  }
  const histogram = none ? null : { counts, low, high };
  if (look.fixed || kind === "rgb") [low, high] = [first.low, first.high];
  else if (look.grows) [low, high] = [Math.min(low, first.low), Math.max(high, first.high)];
  const component = (/** @type {number} */ c) => {
    const hue = (/** @type {number} */ k) => {
      const [x, y] = [numbers[2 * (leading * count + k)], numbers[2 * (leading * count + k) + 1]];
      const place = (11 - 2 * c + Math.atan2(y, x) * (3 / Math.PI)) % 6;
      return Math.sqrt(Math.min(Math.hypot(x, y) / (high || 1), 1)) * (1 - Math.max(0, Math.min(place, 4 - place, 1)));
    };
    const value = phases && c >= 0 ? hue : (/** @type {number} */ k) => numbers[(leading * count + k) * inner + (c < 0 ? -1 - c : c)];
    return kind === "line" ? line(value, count) : image(value, sizes, [first.parts[0].rows, first.parts[0].columns]);
  };
  const parts = phases ? [{ ...first.parts[0], ...colours([0, 1, 2].map(component), 0, 1), high: beside(component(-1).low, component(-2).low) }]
    : kind === "rgb" ? [{ ...first.parts[0], ...colours([0, 1, 2].map(component), low, high) }]
    : first.parts.map((part, c) => ({ ...part, ...component(c) }));
  const name = look.colours || (low < 0 && high > 0 ? "coolwarm" : "viridis");
  const most = Math.max(Math.abs(low), Math.abs(high));
  const span = name === "coolwarm" ? [-most, most] : [low, high];
  return /** @type {any} */ ({ ...first, parts, histogram, low, high, stops: look.maps[name], span });
}
