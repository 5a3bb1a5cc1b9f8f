// @ts-check
/**
 * Sliders bound to numbers of a record or a launch. A move asks for a replay; while one runs (or two, if they are short),
 * later moves wait, and only the last of them is sent. Without a kernel the sliders show where they stood.
 *
 * @typedef {{name: string, value: number, low: number, high: number, step: number, integer: boolean}} Slider
 * @typedef {{title: string, sliders: Slider[], runs: number, seconds: number, compiled: number, said: string, note: string,
 *   picture: import("./pictures.js").ArrayPicture | null}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { clocked, figure, listen, make, messenger, onWidth, place, press, resting, uniqueId } from "./parts.js";
import { padOf } from "./pad.js";
import { drawPictures } from "./pictures.js";

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const id = uniqueId("controls");
  const title = make("span", { class: "wb-title" });
  const tools = make("span", { class: "wb-tools" });
  const rows = make("div", { class: "wb-sliders" });
  const stage = make("div", { class: "wb-stage wb-pictures" });
  const told = make("div", { class: "wb-told", role: "status" });
  const root = make("div", { class: "wb-box wb-controls", "data-testid": "wb-controls", role: "group" },
    make("div", { class: "wb-head" }, title, tools), rows, stage, told);
  place(model, el, root);

  const view = () => /** @type {View} */ (model.get("view"));
  const first = Object.fromEntries(view().sliders.map((s) => [s.name, s.value]));
  /** @type {Record<string, number>} */
  const values = { ...first };
  let waiting = false; // for room to send what the sliders say now
  const { busy, full, send } = messenger(model, () => view().seconds);
  const ask = () => {
    if (!model.send) return;
    waiting = full();
    if (waiting) return;
    send({ ask: "replay", values: { ...values } });
    tell();
  };
  /** @type {{node: Element, show: () => void}[]} */
  const pads = [];
  const show = () => {
    for (const pad of pads) pad.show();
    for (const input of rows.querySelectorAll("input")) {
      const value = values[String(input.getAttribute("data-name"))];
      if (Number(input.value) !== value) input.value = String(value);
    }
    for (const output of rows.querySelectorAll("output")) output.textContent = figure(values[String(output.getAttribute("data-name"))]);
  };
  const tell = () => {
    const { runs, seconds, compiled, said, note } = view();
    told.classList.toggle("wb-fault", Boolean(said));
    told.textContent = said || (!model.send ? "Sliders need the notebook's kernel."
      : busy() ? "replaying …" : note ? note
        : runs ? `replayed in ${clocked(seconds)} · ${runs} ${runs === 1 ? "replay" : "replays"}, ${compiled} compiled`
          : "Move a slider: it replays, nothing is compiled.");
  };
  const picture = () => {
    const shown = view().picture;
    if (shown) drawPictures(stage, shown, Math.max(120, (stage.clientWidth || 560) - 16));
    else stage.replaceChildren();
  };
  const redraw = () => {
    if (!busy() && !waiting) { // another view, or a page's own program, may have moved them
      for (const slider of view().sliders) values[slider.name] = slider.value;
      show();
    }
    title.textContent = view().title;
    root.setAttribute("aria-label", `sliders of a ${view().title}`);
    picture();
    tell();
    if (waiting) ask();
  };
  const moved = () => {
    show();
    ask();
  };
  const lines = view().sliders.map((slider, k) => {
    const range = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: slider.low, max: slider.high,
      step: slider.step, id: `${id}-${k}`, "data-name": slider.name, ...(model.send ? {} : { disabled: "" }) }));
    range.addEventListener("input", () => {
      values[slider.name] = Number(range.value);
      moved();
    });
    return make("div", { class: "wb-slider" }, make("label", { for: `${id}-${k}` }, slider.name), range,
      make("output", { for: `${id}-${k}`, "data-name": slider.name, class: "wb-mono" }));
  });
  for (let k = 0; k < lines.length;) { // components of a vector, `light.x`, share a box with a pad
    const [name, axis] = view().sliders[k].name.split(".");
    const parts = axis ? view().sliders.filter((s) => s.name.startsWith(`${name}.`)) : [view().sliders[k]];
    const own = lines.slice(k, (k += parts.length));
    if (parts.length < 2 || !model.send) {
      rows.append(...own);
      continue;
    }
    pads.push(padOf(name, parts, values, moved));
    rows.append(make("div", { class: "wb-vector" }, make("div", { class: "wb-sliders" }, ...own), pads[pads.length - 1].node));
  }
  if (model.send) {
    tools.append(press("reset", "Back to the first values", () => {
      Object.assign(values, first);
      moved();
    }));
  }
  show();
  redraw();
  const still = onWidth(stage, picture);
  const rest = resting(model);
  const deaf = listen(model, { "change:view": redraw, "change:answered": () => (redraw(), rest()) });
  return () => {
    still();
    deaf();
  };
}

export default { render };
