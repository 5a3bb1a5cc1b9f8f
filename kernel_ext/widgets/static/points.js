// @ts-check
/**
 * Points in a plane or in space, to be turned, moved and enlarged.
 *
 * @typedef {import("./cloud.js").PointsView} View
 * @typedef {import("./parts.js").Model} Model
 */

import { figure, listen, make, onWidth, place, press } from "./parts.js";
import { cloud, coloursOf } from "./cloud.js";

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const points = cloud();
  const scale = make("div", {});
  const stage = make("div", { class: "wb-stage" }, scale, points.canvas);
  const tools = make("span", { class: "wb-tools", role: "group", "aria-label": "Zoom" },
    press("−", "Smaller", () => points.zoom(0.8)), press("reset", "As at first", () => points.zoom(0)), press("+", "Larger", () => points.zoom(1.25)));
  const told = make("div", { class: "wb-told", role: "status" });
  const root = make("div", { class: "wb-box wb-points", "data-testid": "wb-points", role: "group" },
    make("div", { class: "wb-head" }, title, tools), stage, told);
  place(model, el, root);
  const view = () => /** @type {View} */ (model.get("view"));
  const redraw = () => {
    const { name, kind, count, shown, bad, low, high } = view();
    title.textContent = title.title = `${name} · ${kind}`;
    root.setAttribute("aria-label", title.textContent);
    scale.replaceChildren(coloursOf(view()));
    const corners = [low, high].map((corner) => `(${corner.map((v) => figure(v)).join(", ")})`).join(" … ");
    told.textContent = [corners, shown + bad < count ? `${shown} of ${count} drawn` : "", bad ? `${bad} NaN or infinite` : ""].filter(Boolean).join(" · ");
    points.show(view());
  };
  const fit = () => points.resize(Math.max(120, (stage.clientWidth || 560) - 16));
  redraw();
  fit();
  const still = onWidth(stage, fit);
  const deaf = listen(model, { "change:view": redraw });
  return () => {
    still();
    deaf();
    points.close();
  };
}

export default { render };
