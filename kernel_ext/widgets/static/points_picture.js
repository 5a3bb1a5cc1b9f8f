// @ts-check
/**
 * Points as a picture's data, made in the page as `views/arrays/points_view.py` makes it in Python.
 *
 * @typedef {import("./cloud.js").PointsView} PointsView
 * @typedef {{maps: Record<string, number[][]>, fixed: boolean, boxed: boolean, colours: string}} PointsLook
 */

const [MOST, PLAIN] = [200_000, [43, 123, 186]];

/** A number for each point as colours. @param {number[]} values @param {number[][]} stops @param {number[]} span */
const blended = (values, stops, [low, high]) => values.flatMap((value) => {
  const at = (Math.max(0, Math.min(1, (value - low) / (high - low || 1))) || 0) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(at));
  return stops[k].map((first, c) => Math.floor(first * (1 - (at - k)) + stops[k + 1][c] * (at - k)));
});

/** The picture of points that had the picture `first` before.
 * @param {PointsView} first @param {ArrayLike<number>} values coordinates, side by side
 * @param {ArrayLike<number> | undefined} shades a number or three for each point; none: the colours stay as they are
 * @param {PointsLook} look colour maps; whether the range of colours and the box are given
 * @returns {any} */
export function pointsAgain(first, values, shades, look) {
  const wide = first.low.length;
  const clear = [];
  for (let k = 0; k < first.count; k++) {
    let finite = true;
    for (let c = 0; c < wide; c++) finite &&= Number.isFinite(values[k * wide + c]);
    if (finite) clear.push(k);
  }
  const every = Math.max(1, Math.ceil(clear.length / MOST));
  const kept = clear.filter((_, k) => k % every === 0);
  let { low, high } = first;
  if (!look.boxed && kept.length) {
    [low, high] = [low.map(() => Infinity), high.map(() => -Infinity)];
    for (const k of kept) {
      for (let c = 0; c < wide; c++) {
        low[c] = Math.min(low[c], values[k * wide + c]);
        high[c] = Math.max(high[c], values[k * wide + c]);
      }
    }
  }
  const places = new Uint16Array(3 * kept.length);
  kept.forEach((k, n) => {
    for (let c = 0; c < wide; c++) {
      const share = (values[k * wide + c] - low[c]) / (high[c] - low[c] || 1);
      places[3 * n + c] = Math.max(0, Math.min(1, share)) * 65535 + 0.5;
    }
  });
  const moved = { ...first, shown: kept.length, low, high, places: new Uint8Array(places.buffer), bad: first.count - clear.length };
  if (!shades) return kept.length === first.shown ? moved : { ...moved, colours: Uint8Array.from(PLAIN) };
  if (shades.length !== first.count) {
    const bytes = kept.flatMap((k) => [0, 1, 2].map((c) => Math.max(0, Math.min(1, shades[3 * k + c] || 0)) * 255 + 0.5));
    return { ...moved, colours: Uint8Array.from(bytes) };
  }
  let range = first.range;
  if (!look.fixed) {
    range = [Infinity, -Infinity];
    for (let k = 0; k < shades.length; k++) if (Number.isFinite(shades[k])) range = [Math.min(range[0], shades[k]), Math.max(range[1], shades[k])];
    if (range[0] > range[1]) range = [0, 0];
  }
  const name = look.colours || (range[0] < 0 && range[1] > 0 ? "coolwarm" : "viridis");
  const most = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  const colours = Uint8Array.from(blended(kept.map((k) => shades[k]), look.maps[name], name === "coolwarm" ? [-most, most] : range));
  return { ...moved, colours, stops: look.maps[name], range };
}
