// @ts-check
/**
 * Gradients: what a gradcheck compared, each error on a scale of powers of ten with the tolerance marked; and arrays
 * beside their adjoints.
 *
 * @typedef {import("./pictures.js").ArrayPicture} ArrayPicture
 * @typedef {{place: string, adjoint: number, difference: number, error: number, line: string}} Point
 * @typedef {{name: string, value: ArrayPicture | null, adjoint: ArrayPicture}} Pair
 * @typedef {{title: string, pairs: Pair[],
 *   check: {ok: boolean, said: string, tolerance: number, points: Point[]} | null}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { draw, figure, listen, make, onWidth, place, tableOf } from "./parts.js";
import { pictureOf } from "./pictures.js";

const [LOWEST, SCALE] = [-16, 130]; // the exponent at the left end of the scale, and its width in pixels

/** A bar as long as the error's exponent, with a mark at the tolerance. @param {Point} point @param {number} tolerance */
function errorBar(point, tolerance) {
  const at = (/** @type {number} */ value) => SCALE * Math.max(0.02, Math.min(1, (Math.log10(Math.max(value, 1e-16)) - LOWEST) / -LOWEST));
  const fine = point.error <= tolerance;
  return draw("svg", { width: SCALE, height: 12, role: "img" }, draw("title", {}, `error ${point.error.toExponential(1)}, tolerance ${tolerance}`),
    draw("rect", { x: 0, y: 2, width: SCALE, height: 8, class: "wb-track" }),
    draw("rect", { x: 0, y: 2, width: at(Number.isFinite(point.error) ? point.error : 1), height: 8, class: fine ? "wb-fine" : "wb-wrong" }),
    draw("path", { d: `M${at(tolerance)} 0V12`, class: "wb-mark" }));
}

/** What there is to draw of a pair. @param {Pair} pair */
const sidesOf = (pair) => (pair.value ? [pair.value, pair.adjoint] : [pair.adjoint]);

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const badge = make("span", { class: "wb-verdict" });
  const points = make("div", { class: "wb-wide" });
  const pairs = make("div", { class: "wb-pairs" });
  const told = make("div", { class: "wb-told", role: "status" });
  const root = make("div", { class: "wb-box wb-grad", "data-testid": "wb-grad", role: "group" },
    make("div", { class: "wb-head" }, title, badge), points, pairs, told);
  place(model, el, root);

  const view = () => /** @type {View} */ (model.get("view"));
  const pictures = () => {
    const room = pairs.clientWidth || 640;
    const width = Math.max(120, (room > 520 ? room / 2 : room) - 14);
    pairs.replaceChildren(...view().pairs.map((pair) => make("div", { class: "wb-pair", "data-name": pair.name },
      ...sidesOf(pair).map((side) => make("figure", {}, make("figcaption", {}, `${side.name} `, make("span", { class: "wb-dim" }, side.kind)),
        ...side.parts.map((part) => pictureOf(part, side, width, 110)))))));
  };
  const redraw = () => {
    const { check } = view();
    title.textContent = view().title;
    root.setAttribute("aria-label", view().title);
    badge.toggleAttribute("hidden", !check);
    points.toggleAttribute("hidden", !check?.points.length);
    if (check) {
      badge.textContent = check.ok ? "right" : check.points.length ? "WRONG" : "no verdict";
      badge.setAttribute("data-ok", String(check.ok));
      points.replaceChildren(tableOf(["input", "adjoint", "difference", "error", "", "where"], check.points.map((p) => [
        p.place, figure(p.adjoint, 9), figure(p.difference, 9), p.error.toExponential(1), errorBar(p, check.tolerance), p.line])));
    }
    const wrong = view().pairs.flatMap(sidesOf).flatMap((side) =>
      side.facts.filter(([name]) => name === "NaN" || name === "infinite").map(([name, value]) => `${side.name}: ${name} ${value}`));
    told.textContent = [check?.said, ...wrong].filter(Boolean).join(" · ") || "Every value and every adjoint is finite.";
    pictures();
  };
  redraw();
  const still = onWidth(pairs, pictures);
  const deaf = listen(model, { "change:view": redraw });
  return () => {
    still();
    deaf();
  };
}

export default { render };
