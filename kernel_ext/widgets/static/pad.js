// @ts-check
/** A pad beside the sliders of a vector: its dot stands for two components, and moves by pointer or arrow keys. */

import { make } from "./parts.js";

/** @typedef {import("./controls.js").Slider} Slider */

/** A value that a slider can have. @param {Slider} slider @param {number} value */
const within = ({ low, high, step }, value) => {
  const at = Math.min(high, Math.max(low, low + step * Math.round((value - low) / step)));
  return Number(at.toPrecision(12)); // 0.3, not 0.30000000000000004
};

/** A pad, and what puts its dot where the values are. @param {string} name of the vector @param {Slider[]} parts its components
 * @param {Record<string, number>} values by slider @param {() => void} moved called when it has changed them */
export function padOf(name, parts, values, moved) {
  const pairs = parts.flatMap((x, k) => parts.slice(k + 1).map((y) => [x, y]));
  let [across, up] = pairs[0];
  const dot = make("span", { class: "wb-dot", "aria-hidden": "true" });
  const pad = make("div", { class: "wb-pad", tabindex: "0", role: "application", "aria-roledescription": "pad" }, dot);
  const show = () => {
    const share = (/** @type {Slider} */ { name: of, low, high }) => `${(100 * (values[of] - low)) / (high - low)}%`;
    [dot.style.left, dot.style.bottom] = [share(across), share(up)];
    pad.setAttribute("aria-label", `${across.name} and ${up.name}: arrow keys move them`);
  };
  /** @param {number} x @param {number} y */
  const put = (x, y) => {
    [values[across.name], values[up.name]] = [within(across, x), within(up, y)];
    moved();
  };
  const follow = (/** @type {PointerEvent} */ event) => {
    if (!(event.buttons & 1)) return;
    const { left, bottom, width, height } = pad.getBoundingClientRect();
    put(across.low + ((event.clientX - left) / width) * (across.high - across.low), up.low + ((bottom - event.clientY) / height) * (up.high - up.low));
  };
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    follow(event);
  });
  pad.addEventListener("pointermove", follow);
  pad.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has its own arrow keys
    put(values[across.name] + by[0] * across.step, values[up.name] + by[1] * up.step);
  });
  const choice = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": `Components on the pad of ${name}` },
    ...pairs.map(([x, y], k) => make("option", { value: k }, `${x.name.slice(name.length + 1)} ${y.name.slice(name.length + 1)}`))));
  choice.addEventListener("change", () => {
    [across, up] = pairs[Number(choice.value)];
    show();
  });
  return { node: make("div", { class: "wb-beside" }, pad, ...(pairs.length > 1 ? [choice] : [])), show };
}
