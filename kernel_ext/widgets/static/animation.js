// @ts-check
/**
 * Frames of a program with play, pause and a slider. The browser asks for a frame and, when it is there and the animation
 * plays, for the next one, or for two if they are quick: a slow program plays slowly and builds up no queue.
 *
 * @typedef {{title: string, frames: number, frame: number, kept: number, fps: number, seconds: number | null, said: string,
 *   picture: any, others: any[]}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { clocked, listen, make, markPlaying, messenger, onWidth, place, press, resting } from "./parts.js";
import { drawPictures } from "./pictures.js";
import { cloud, coloursOf } from "./cloud.js";

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const view = () => /** @type {View} */ (model.get("view"));
  const pictures = () => [view().picture, ...view().others];
  const screens = pictures().map((picture) => {
    const points = "places" in picture ? cloud() : null;
    const scale = make("div", {});
    const stage = make("div", { class: `wb-stage ${points ? "" : "wb-pictures"}` }, ...(points ? [scale, points.canvas] : []));
    return { points, scale, stage };
  });
  const title = make("span", { class: "wb-title" });
  const stages = make("div", { class: "wb-screens" }, ...screens.map(({ stage }) => stage));
  const told = make("div", { class: "wb-told", role: "status" });
  const play = press("", "Play", () => toggle());
  const slider = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: 0, max: view().frames - 1, value: view().frame, "aria-label": "Frame" }));
  const label = make("output", { class: "wb-mono" });
  const root = make("div", { class: "wb-box wb-animation", "data-testid": "wb-animation", role: "group" },
    make("div", { class: "wb-head" }, title), make("div", { class: "wb-player" }, play, slider, label), stages, told);
  place(model, el, root);

  let [playing, timer, due, last] = [false, 0, 0, 0]; // `due`: when the next frame is; `last`: the one asked for last
  /** @type {number | null} a frame to be asked for as soon as there is room for a message */
  let waiting = null;
  const rest = resting(model);
  const { busy, full, send } = messenger(model, () => view().seconds ?? 0);
  const ask = (/** @type {number} */ at) => {
    waiting = full() ? at : null;
    if (!model.send || waiting !== null) return;
    last = at;
    send({ ask: "frame", at });
  };
  const next = () => {
    const now = performance.now();
    due = Math.max(due + 1000 / view().fps, now); // one that came late does not hurry the next ones
    ask((last + 1) % view().frames);
    timer = window.setTimeout(next, due - now);
  };
  const toggle = (on = !playing) => {
    playing = on && Boolean(model.send);
    markPlaying(play, playing);
    clearTimeout(timer);
    if (playing) {
      last = view().frame;
      next();
    } else waiting = null;
  };
  const resize = () => screens.forEach(({ points, stage }, k) => {
    const width = Math.max(120, (stage.clientWidth || 560) - 16);
    if (points) points.resize(width);
    else drawPictures(stage, pictures()[k], width);
  });
  const redraw = () => {
    const { frames, frame, kept, seconds, said } = view();
    title.textContent = title.title = view().title;
    root.setAttribute("aria-label", view().title);
    slider.max = String(frames - 1); // before its value, which a slider keeps below
    if (document.activeElement !== slider || playing) slider.value = String(frame);
    label.textContent = `${frame} / ${frames - 1}`;
    screens.forEach(({ points, scale }, k) => {
      if (!points) return;
      scale.replaceChildren(coloursOf(pictures()[k]));
      points.show(pictures()[k]);
    });
    if (screens.some(({ points }) => !points)) resize();
    told.classList.toggle("wb-fault", Boolean(said));
    told.textContent = said || (model.send ? (kept > 1 ? `${kept} ${kept === 1 ? "frame" : "frames"} ${seconds === null ? "kept" : `made · the last in ${clocked(seconds)}`}` : "Play: each step makes a frame, and frames are kept.")
      : "It plays with the notebook's kernel.");
    if (said) toggle(false);
  };
  const answer = () => {
    if (waiting !== null) ask(waiting);
    else if (!busy()) rest();
  };
  slider.addEventListener("input", () => {
    toggle(false);
    label.textContent = `${slider.value} / ${view().frames - 1}`;
    ask(Number(slider.value));
  });
  for (const control of [play, slider]) if (!model.send) control.setAttribute("disabled", "");
  markPlaying(play, false);
  redraw();
  if (screens.some(({ points }) => points)) resize();
  const still = onWidth(stages, resize);
  const deaf = listen(model, { "change:view": redraw, "change:answered": answer });
  return () => {
    toggle(false);
    still();
    deaf();
    for (const { points } of screens) points?.close();
  };
}

export default { render };
