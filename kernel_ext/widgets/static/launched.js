// @ts-check
/**
 * What a launch's threads did, as the page asks it: who touched an element, what a thread touched, which warp moves at a step.
 *
 * @typedef {[number, number, number, any[][]]} Step line, mask of active lanes, 1 before a barrier, accesses
 * @typedef {{block: number, warp: number, kinds: string, dark: number, steps: Step[]}} Warp
 * @typedef {{block: number, warp: number, kinds: string, dark: number, steps: string}} Sent its steps are JSON
 * @typedef {{said: string, kind: string, space: string, size: number, wasteful: boolean}} Phrase
 * @typedef {{title: string, said: string, notes: string[], dim: number[], grid: number[], block: number[], by_thread: boolean,
 *   first: number, total: number, lines: [number, string, string][], phrases: Phrase[],
 *   arrays: [string, number[], number, number[]][], warps: Sent[]}} ThreadsView
 * @typedef {{block: number, thread: number, kind: string, line: number}} Toucher
 */

/** @param {number[]} sizes */
export const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

/** An index for each dimension. @param {number} number @param {number[]} sizes */
export function unravelled(number, sizes) {
  const index = [];
  for (let axis = sizes.length - 1; axis >= 0; axis -= 1) {
    index.unshift(axis ? number % sizes[axis] : number); // so that a number past the end stays one
    number = Math.floor(number / sizes[axis]);
  }
  return index;
}

/** Where each lane of an access begins, -1 for a lane that takes no part. @param {any[]} access @returns {number[]} */
export function lanesOf([, , first, apart, mask]) {
  if (Array.isArray(first)) return first;
  return Array.from({ length: 32 }, (_, lane) => ((mask >>> lane) & 1 ? first + apart * lane : -1));
}

/** Lanes of an access that begin in some bytes: of evenly spaced ones only those are looked at that may.
 * @param {any[]} access @param {number} from @param {number} to */
function lanesWithin(access, from, to) {
  const [, , first, apart, mask] = access;
  if (Array.isArray(first)) return first.flatMap((at, lane) => (at >= from && at < to ? [lane] : []));
  const ends = apart ? [(from - first) / apart, (to - 1 - first) / apart] : first >= from && first < to ? [0, 31] : [1, 0];
  const low = Math.max(0, Math.ceil(Math.min(...ends))), high = Math.min(31, Math.floor(Math.max(...ends)));
  const found = [];
  for (let lane = low; lane <= high && (apart || ends[0] <= ends[1]); lane += 1) if ((mask >>> lane) & 1) found.push(lane);
  return found;
}

/** Answers about a launch. @param {ThreadsView} view */
export function launched(view) {
  const each = product(view.block);
  /** @type {Warp[]} */
  const warps = view.warps.map((warp) => ({ ...warp, steps: JSON.parse(warp.steps) }));
  /** @type {Map<number, Warp[]>} */
  const blocks = new Map();
  for (const warp of warps) {
    if (!blocks.has(warp.block)) blocks.set(warp.block, []);
    blocks.get(warp.block)?.push(warp);
  }
  /** The number of the element at a byte of an array; past its end a larger one than it has. @param {number} array @param {number} at */
  const elementAt = (array, at) => {
    const [, shape, , strides] = view.arrays[array];
    let number = 0;
    shape.forEach((size, axis) => {
      const k = strides[axis] > 0 ? Math.min(Math.floor(at / strides[axis]), axis ? size - 1 : Infinity) : 0;
      at -= k * strides[axis];
      number = number * size + k;
    });
    return number;
  };
  /** Call `act` with each access to an array. @param {number} array @param {(warp: Warp, step: Step, access: any[]) => void} act */
  const eachAccess = (array, act) => {
    for (const warp of warps) for (const step of warp.steps) for (const access of step[3]) if (access[1] === array) act(warp, step, access);
  };
  return {
    each, blocks, elementAt,
    /** The first block that touches memory, else the first. */
    busy: warps.find((warp) => warp.steps.some((step) => step[3].length))?.block ?? view.first,
    /** What a thread is called. @param {number} block @param {number} thread */
    name(block, thread) {
      if (view.by_thread) return `thread ${unravelled(block * each + thread, view.dim).join(", ")}`;
      const [x, y, z] = view.block;
      const own = [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))].slice(0, z > 1 ? 3 : y > 1 ? 2 : 1);
      return `block ${block}, thread ${own.join(", ")}`;
    },
    /** Of each element whether it was read (1), written (2), updated (4). @param {number} array */
    touched(array) {
      const found = new Uint8Array(product(view.arrays[array][1]));
      eachAccess(array, (_, __, access) => {
        const bit = { read: 1, write: 2, atomic: 4 }[view.phrases[access[0]].kind] ?? 0;
        for (const at of lanesOf(access)) if (at >= 0) found[elementAt(array, at)] |= bit;
      });
      return found;
    },
    /** Who touched an element. @param {number} array @param {number} element @returns {Toucher[]} */
    touchers(array, element) {
      const [, shape, size, strides] = view.arrays[array];
      const from = unravelled(element, shape).reduce((at, k, axis) => at + k * strides[axis], 0);
      /** @type {Toucher[]} */
      const found = [];
      eachAccess(array, (warp, step, access) => {
        for (const lane of lanesWithin(access, from, from + size)) {
          found.push({ block: warp.block, thread: 32 * warp.warp + lane, kind: view.phrases[access[0]].kind, line: view.lines[step[0]][0] });
        }
      });
      return found;
    },
    /** What a thread touched: array, element, how, at which line. @param {number} block @param {number} thread */
    touchedBy(block, thread) {
      const [lane, found] = [thread % 32, /** @type {{array: number, element: number, kind: string, line: number}[]} */ ([])];
      for (const step of blocks.get(block)?.find((w) => w.warp === Math.floor(thread / 32))?.steps ?? []) {
        for (const access of step[3]) {
          const at = access[1] < 0 ? -1 : lanesOf(access)[lane];
          if (at >= 0) found.push({ array: access[1], element: elementAt(access[1], at), kind: view.phrases[access[0]].kind, line: view.lines[step[0]][0] });
        }
      }
      return found;
    },
    /** The steps of a block in the order of the emulation: each warp goes on to the next barrier, then the next warp does.
     * @param {number} block */
    order(block) {
      const own = blocks.get(block) ?? [];
      /** @type {{warp: number, step: number, phase: number}[]} */
      const order = [];
      const next = own.map(() => 0);
      for (let phase = 0; own.some((warp, k) => next[k] < warp.steps.length); phase += 1) {
        own.forEach((warp, k) => {
          while (next[k] < warp.steps.length) {
            order.push({ warp: k, step: next[k], phase });
            if (warp.steps[next[k]++][2]) break;
          }
        });
      }
      return order;
    },
  };
}
