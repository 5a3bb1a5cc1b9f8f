// @ts-check
/**
 * The 32 lanes of a warp over what they touch: sectors of global memory, banks of shared memory.
 *
 * @typedef {{said: string, space: string, size: number, at: number[], wasteful: boolean}} LaneAccess
 */

import { draw } from "./parts.js";

const LANE_SIDE = 20; // pixels of a lane and of a bank
const DEEP = 76; // pixels from the lanes to what they touch

/** A box with words for a pointer. @param {string} look @param {number} x @param {number} y @param {number} w @param {number} h @param {string} told */
const boxAt = (look, x, y, w, h, told) =>
  draw("rect", { x: x.toFixed(1), y, width: w.toFixed(1), height: h, class: `wb-${look}` }, draw("title", {}, told));

/** A box for each touched sector, and where each lane's bytes are in them. @param {LaneAccess} access @param {number} width */
function sectorsOf(access, width) {
  const touched = [...new Set(access.at.filter((at) => at >= 0).map((at) => Math.floor(at / 32)))].sort((a, b) => a - b);
  const gaps = touched.filter((sector, n) => n && sector !== touched[n - 1] + 1).length;
  const each = Math.min(80, (width - 6 * gaps) / touched.length);
  const part = ((each - 2) * Math.min(access.size, 32)) / 32;
  /** @type {Map<number, number>} */
  const ends = new Map();
  const boxes = [];
  let x = 0;
  touched.forEach((sector, n) => {
    if (n && sector !== touched[n - 1] + 1) x += 6;
    boxes.push(boxAt("free", x, DEEP, each - 2, 16, `bytes ${32 * sector} to ${32 * sector + 31}`));
    for (const at of new Set(access.at.filter((a) => a >= 0 && Math.floor(a / 32) === sector))) {
      const left = x + ((at % 32) / 32) * (each - 2);
      ends.set(at, left + part / 2);
      boxes.push(boxAt("taken", left, DEEP, Math.max(1, part - 0.5), 16, `byte ${at}`));
    }
    x += each;
  });
  return { boxes, ends, deep: 16, what: "sectors of 32 bytes; blue: what the lanes use" };
}

/** A column for each bank, with a box for each word of it. @param {LaneAccess} access */
function banksOf(access) {
  /** @type {Map<number, Set<number>>} */
  const words = new Map();
  for (const at of access.at.filter((a) => a >= 0)) {
    const first = Math.floor(at / 4);
    for (let word = first; word < first + Math.max(1, Math.floor(access.size / 4)); word += 1) {
      words.set(word % 32, (words.get(word % 32) ?? new Set()).add(word));
    }
  }
  const most = Math.max(1, ...[...words.values()].map((held) => held.size));
  const tall = most <= 4 ? 16 : 4;
  const boxes = [];
  for (let bank = 0; bank < 32; bank += 1) {
    const held = [...(words.get(bank) ?? [])].sort((a, b) => a - b);
    if (!held.length) boxes.push(boxAt("free", LANE_SIDE * bank, DEEP, LANE_SIDE - 2, 16, `bank ${bank}`));
    const look = held.length > 1 && access.wasteful ? "worst" : "taken";
    held.forEach((word, k) => boxes.push(boxAt(look, LANE_SIDE * bank, DEEP + tall * k, LANE_SIDE - 2, tall - 1, `bank ${bank}: word ${word}`)));
  }
  const ends = new Map(access.at.filter((a) => a >= 0).map((at) => [at, LANE_SIDE * (Math.floor(at / 4) % 32) + LANE_SIDE / 2]));
  return { boxes, ends, deep: Math.max(16, tall * most), what: "32 banks of shared memory; a box for each word that is touched" };
}

/** The 32 lanes of a step, and what one access of it touches. @param {number} mask @param {LaneAccess | null} access */
export function lanesDrawn(mask, access) {
  const width = 32 * LANE_SIDE;
  const active = (/** @type {number} */ lane) => (access ? access.at[lane] >= 0 : Boolean((mask >>> lane) & 1));
  const lanes = [...Array(32).keys()].map((lane) => boxAt(active(lane) ? "taken" : "free", LANE_SIDE * lane, 6, LANE_SIDE - 2, LANE_SIDE - 2,
    `lane ${lane}: ${access && active(lane) ? `byte ${access.at[lane]}` : active(lane) ? "active" : "dark"}`));
  const below = access && (access.space === "global" ? sectorsOf(access, width) : banksOf(access));
  const rays = below && access ? access.at.flatMap((at, lane) => (at < 0 ? [] : [draw("path", {
    d: `M${LANE_SIDE * lane + LANE_SIDE / 2 - 1} ${LANE_SIDE + 4}L${below.ends.get(at)?.toFixed(1)} ${DEEP}`, class: "wb-ray" })])) : [];
  const height = below ? DEEP + below.deep + 20 : LANE_SIDE + 8;
  const foot = below ? [draw("text", { x: 0, y: height - 5 }, below.what)] : [];
  return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
    draw("title", {}, access ? access.said : `${lanes.filter((_, lane) => active(lane)).length} of 32 lanes active`),
    ...rays, ...lanes, ...(below?.boxes ?? []), ...foot);
}
