// @ts-check
/**
 * The worker of a page that computes: it holds the machines, one for each view, and answers one message after the other.
 * `halt` alone is heard at once, while a machine runs.
 *
 * @typedef {{number: number, machine: number, ask: string, [more: string]: any}} Asked
 */

import { pictureAgain } from "./array_picture.js";
import { hasVectors, openMachine } from "./machine.js";
import { pointsAgain } from "./points_picture.js";

/** @type {Awaited<ReturnType<typeof openMachine>>[]} */
const machines = [];
let last = Promise.resolve();

/** The bytes behind a text in base64 that is deflated. @param {string} text */
async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** @param {Asked} asked */
async function answer({ ask, machine, program, payload, values, rewind, times = 0, name, draw }) {
  if (ask === "open") {
    if (!hasVectors()) throw new Error("This browser has no vectors in WebAssembly (simd128), so nothing computes here.");
    machines[machine] = await openMachine(program, await inflated(payload));
    return {};
  }
  const one = machines[machine];
  if (!one) throw new Error("The kernels of this page could not be opened.");
  if (ask === "read") return { numbers: one.read(name) };
  if (rewind) one.rewind();
  for (const [key, value] of Object.entries(values ?? {})) one.set(key, value);
  const started = performance.now();
  const told = times ? await one.run(undefined, times) : {};
  return { ...told, seconds: (performance.now() - started) / 1000, picture: draw && drawn(one, draw) };
}

/** The watched array as it is drawn. @param {Awaited<ReturnType<typeof openMachine>>} one @param {{picture: any, look: any}} draw */
const drawn = (one, { picture, look }) => {
  if (!("places" in picture)) return pictureAgain(picture, one.read("watch"), look);
  return pointsAgain(picture, one.read("watch"), look.coloured && one.read("colour"), look);
};

addEventListener("message", ({ data }) => {
  if (data.ask === "halt") return machines[data.machine]?.halt();
  last = last.then(async () => {
    try {
      postMessage({ number: data.number, ...(await answer(data)) });
    } catch (error) {
      postMessage({ number: data.number, error: error instanceof Error ? error.message : String(error) });
    }
  });
});
