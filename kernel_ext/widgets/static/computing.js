// @ts-check
/**
 * What makes views of an exported page compute: a worker with their machines, answers to what widgets ask a kernel for,
 * the buttons that run a program, and `window.workbench` for tests and curious readers.
 *
 * @typedef {import("./parts.js").Model} Model
 * @typedef {{view: number, program: any, payload: string, rewind: boolean, look: any, subject: string,
 *   timelines: number[]}} Computed
 */

import { make, markPlaying, press } from "./parts.js";

const OFTEN = 250; // milliseconds between two times that a timeline shows
const REFUSED = "This place lets no worker run, so nothing computes here.";

/** The worker's side of a page: `ask(machine, message)` resolves with its answer. @param {string} text */
function workerOf(text) {
  const bytes = new TextEncoder().encode(text);
  /** @type {Map<number, (answer: any) => void>} */
  const waiting = new Map();
  let [number, ended] = [0, ""]; // messages so far; why there are no more answers
  const end = (/** @type {string} */ said) => {
    ended = said;
    for (const tell of waiting.values()) tell({ error: said });
    waiting.clear();
  };
  /** @type {Worker | undefined} */
  let worker;
  try { // as data: where notebooks are shown, workers from blob: may be refused (VS Code)
    worker = new Worker(`data:text/javascript;base64,${btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""))}`);
    worker.addEventListener("message", ({ data }) => {
      waiting.get(data.number)?.(data);
      waiting.delete(data.number);
    });
    worker.addEventListener("error", (event) => end(event.message || REFUSED));
  } catch {
    end(REFUSED);
  }
  return {
    halt: (/** @type {number} */ machine) => worker?.postMessage({ ask: "halt", machine }),
    ask: (/** @type {number} */ machine, /** @type {Record<string, any>} */ message) => new Promise((resolve) => {
      if (ended) return void resolve({ error: ended });
      waiting.set(++number, resolve);
      worker?.postMessage({ ...message, machine, number });
    }),
  };
}

/** Opens the programs of a page and gives their views' models what a kernel would answer. Beside the place of each view
 * stands its static picture; it goes if the program opens, else the widget does.
 * @param {string} text the worker's @param {Computed[]} found @param {Model[]} models by view @param {HTMLElement[]} places by view */
export async function startComputing(text, found, models, places) {
  const worker = workerOf(text);
  /** @type {any[]} */
  const api = [];
  for (const [machine, one] of found.entries()) {
    const [model, place] = [models[one.view], places[one.view]];
    const bar = make("div", { class: "wb-runner", role: "group", "aria-label": "Run" });
    if (one.subject === "controls") place.before(bar);
    let opened = await worker.ask(machine, { ask: "open", program: one.program, payload: one.payload });
    if (!opened.error) opened = await worker.ask(machine, { ask: "run", times: 0, draw: drawing(model.get("view").picture, one) });
    if (opened.error) {
      place.before(make("p", { role: "status" }, `${opened.error} The picture is as it was saved.`));
      place.hidden = true;
      bar.remove();
      continue;
    }
    place.nextElementSibling?.remove();
    model.set("view", { ...model.get("view"), picture: opened.picture ?? model.get("view").picture });
    let [last, runs, due] = [-OFTEN, 0, 0]; // `due`: the timer of what the last runs took
    /** @type {number[]} milliseconds of all runs, by row: browsers' clocks are too coarse for one */
    const times = one.program.owners.map(() => 0);
    const showTimes = () => {
      [last, due] = [performance.now(), 0];
      const means = times.map((time) => time / runs);
      for (const k of one.timelines) models[k].set("view", measured(models[k].get("view"), means, one.program.owners));
    };
    const ask = async (/** @type {Record<string, any>} */ message) => {
      const told = await worker.ask(machine, message);
      if (!told.times?.length) return told;
      runs += 1;
      told.times.forEach((/** @type {number} */ time, /** @type {number} */ row) => (times[row] += time));
      if (performance.now() - last >= OFTEN) showTimes();
      else due ||= window.setTimeout(showTimes, OFTEN);
      return told;
    };
    const own = one.subject === "animation" ? frames(model, one, ask) : sliders(model, one, ask, bar, () => worker.halt(machine));
    api.push({ ...own, read: async (/** @type {string} */ name) => {
      const { numbers, error } = await ask({ ask: "read", name });
      if (error) throw new Error(error);
      return numbers;
    } });
  }
  /** @type {any} */ (window).workbench = Object.freeze({ ...api[0], views: Object.freeze(api) });
}

/** A timeline with the times that were measured here. @param {any} view @param {number[]} times milliseconds by row, means of all runs
 * @param {number[]} owners the entry of each row */
function measured(view, times, owners) {
  const spent = view.rows.map(() => 0);
  times.forEach((time, row) => (spent[owners[row]] += time / 1000));
  let at = 0;
  const rows = view.rows.map((/** @type {any} */ row, /** @type {number} */ k) => ({ ...row, lane: "browser", start: (at += spent[k]) - spent[k], seconds: spent[k] }));
  const totals = view.totals.filter((/** @type {any} */ total) => rows.some((/** @type {any} */ row) => sameKind(row, total)));
  for (const [k, total] of totals.entries()) {
    const seconds = rows.reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum + (sameKind(row, total) ? row.seconds : 0), 0);
    totals[k] = { ...total, seconds, share: at ? seconds / at : 0 };
  }
  return { ...view, lanes: ["browser"], rows, host: [], seconds: at, totals: totals.sort((/** @type {any} */ a, /** @type {any} */ b) => b.seconds - a.seconds) };
}

const sameKind = (/** @type {any} */ row, /** @type {any} */ total) => row.kind === total.kind && (!total.name || row.name === total.name);

/** What the worker draws: a picture without its numbers, and how; nothing if no array is watched. @param {any} picture @param {Computed} one */
const drawing = (picture, one) => (picture && "watch" in one.program.arrays ? { look: one.look, picture: emptied(picture) } : undefined);

/** @param {any} picture */
const emptied = (picture) => ("places" in picture ? { ...picture, places: "" }
  : { ...picture, parts: picture.parts.map((/** @type {any} */ part) => ({ ...part, low: "", high: "", bad: [] })) });

/** Sliders of a program: a move replays; buttons run it on and on, or put the arrays back.
 * @param {Model} model @param {Computed} one @param {(message: any) => Promise<any>} ask @param {HTMLElement} bar @param {() => void} halt */
function sliders(model, one, ask, bar, halt) {
  const printed = make("pre", { class: "wb-values wb-mono wb-printed", hidden: "" });
  bar.after(printed);
  let playing = false;
  const run = async (/** @type {Record<string, any>} */ more) => {
    const told = await ask({ ask: "run", draw: drawing(model.get("view").picture, one), ...more });
    const view = model.get("view");
    const values = more.values ?? {};
    const runs = view.runs + (more.times ?? 0);
    model.set("view", { ...view, sliders: view.sliders.map((/** @type {any} */ s) => ({ ...s, value: values[s.name] ?? s.value })),
      runs, seconds: more.times ? told.seconds ?? 0 : view.seconds, said: told.error ?? told.said ?? "", picture: told.picture ?? view.picture });
    printed.textContent = (printed.textContent + (told.text ?? "")).slice(-20_000);
    printed.hidden = !printed.textContent;
    return told;
  };
  const first = Object.fromEntries(model.get("view").sliders.map((/** @type {any} */ s) => [s.name, s.value]));
  model.send = async ({ ask: wanted, values, number }) => {
    if (wanted !== "replay") return;
    await run({ values, rewind: one.rewind, times: 1 });
    model.set("answered", number);
  };
  const play = press("", "Play", () => toggle());
  markPlaying(play, false, true);
  const toggle = async (on = !playing) => {
    if (playing === on) return;
    playing = on;
    markPlaying(play, playing, true);
    while (playing) {
      const told = await run({ times: 1 });
      if (told.error || told.said) return void toggle(false);
      await new Promise((next) => requestAnimationFrame(next));
    }
  };
  const rewind = async () => {
    await toggle(false);
    await run({ rewind: true, values: first, times: 0 });
  };
  bar.append(play, press("step", "Run once more", () => toggle(false).then(() => run({ times: 1 }))),
    press("rewind", "Put the arrays back", rewind), press("stop", "Stop what runs", () => (toggle(false), halt())));
  const checked = async (/** @type {Promise<any>} */ answer) => {
    const { error, said, seconds, text, times } = await answer;
    if (error || said) throw new Error(error || said);
    return { seconds, text, times };
  };
  return {
    set: (/** @type {string} */ key, /** @type {number} */ value) => checked(run({ values: { [key]: value }, times: 0 })),
    run: (times = 1) => checked(run({ times })),
    rewind: () => checked(run({ rewind: true, values: first, times: 0 })),
  };
}

/** Frames of a program, made when they are asked for and kept. @param {Model} model @param {Computed} one @param {(message: any) => Promise<any>} ask */
function frames(model, one, ask) {
  const kept = [model.get("view").picture];
  const frame = async (/** @type {number} */ wanted) => {
    const view = model.get("view");
    let [said, seconds] = ["", view.seconds];
    while (kept.length <= wanted && !said) {
      const told = await ask({ ask: "run", times: 1, draw: drawing(kept[kept.length - 1], one) });
      said = told.error ?? told.said ?? "";
      seconds = told.seconds ?? 0;
      if (said) break;
      kept.push(told.picture);
    }
    const at = Math.min(wanted, kept.length - 1);
    model.set("view", { ...view, frame: at, kept: kept.length, seconds, said, picture: kept[at] });
  };
  model.send = async ({ ask: wanted, at, number }) => {
    if (wanted !== "frame") return;
    await frame(at);
    model.set("answered", number);
  };
  return { run: (times = 1) => frame(model.get("view").frame + times), rewind: () => frame(0) };
}
