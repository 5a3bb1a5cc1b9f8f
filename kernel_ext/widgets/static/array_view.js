// @ts-check
/**
 * An array: a line or an image, a histogram, its numbers. NaN and infinities are marked. The pointer or the arrow keys
 * read single points; with a kernel, the slice of an array of more than two dimensions can be chosen.
 *
 * @typedef {import("./pictures.js").Part} Part
 * @typedef {import("./pictures.js").ArrayPicture} View
 * @typedef {import("./parts.js").Model} Model
 */

import { launched } from "./launched.js";
import { figure, listen, make, numbers, octets, onWidth, openTab, place, press, tableOf, tabList } from "./parts.js";
import { PAD, barsOf, drawPictures, hasNumbers } from "./pictures.js";

/** The point under a place of the picture: row and column. @param {Part} part @param {DOMRect} box @param {number} x @param {number} y */
function pointAt(part, box, x, y) {
  const inset = part.kind === "line" ? PAD : 0;
  const share = (x - box.left - inset) / (box.width - 2 * inset || 1);
  const column = Math.round(share * (part.columns - (part.kind === "line" ? 1 : 0)) - (part.kind === "line" ? 0 : 0.5));
  const row = part.kind === "line" ? 0 : Math.floor(((y - box.top) / (box.height || 1)) * part.rows);
  return [Math.max(0, Math.min(part.rows - 1, row)), Math.max(0, Math.min(part.columns - 1, column))];
}

/** How many elements a point stands for along an axis: the first, and the one after the last. @param {Part} part @param {View} view @param {number[]} point */
const elementsAt = (part, view, point) => (part.kind === "line" ? [point[1]] : point).map((at, axis) => {
  const points = part.kind === "line" || axis ? part.columns : part.rows;
  return [at, at + 1].map((p) => Math.floor((p * view.shape[axis]) / points));
});

/** What is told of a point. @param {Part} part @param {View} view @param {number[]} point */
function tell(part, view, [row, column]) {
  const k = row * part.columns + column;
  const index = elementsAt(part, view, [row, column]).map(([first, next]) => (next - first > 1 ? `${first}:${next}` : String(first)));
  const mean = part.kind !== "line" && index.some((i) => i.includes(":")) ? "mean " : "";
  const element = [`${view.name}[${[...view.at, ...index].join(", ")}]`, view.field, part.name].filter(Boolean).join(".");
  const bad = part.bad.includes(k) ? " (has NaN or inf)" : "";
  if (part.kind === "rgb" && hasNumbers(part)) {
    const [real, imag] = numbers(part.high).slice(2 * k, 2 * k + 2);
    return `${element} = ${mean}${figure(real, 5)} ${imag < 0 ? "−" : "+"} ${figure(Math.abs(imag), 5)}j${bad}`;
  }
  if (part.kind === "rgb") {
    const shares = [...octets(part.low).slice(3 * k, 3 * k + 3)].map((c) => figure(view.low + ((view.high - view.low) * c) / 255, 3));
    return `${element} ≈ ${mean}(${shares.join(", ")})${bad}`;
  }
  const [low, high] = [part.low, part.kind === "line" ? part.high : part.low].map((data) => numbers(data)[k]);
  const value = low === high || Number.isNaN(low) ? figure(low, 7) : `${figure(low, 7)} … ${figure(high, 7)}`;
  return `${element} = ${mean}${value}${bad}`;
}

/** Who touched an element, as the page asks it of Python: a button, then every point is told with its threads.
 * @param {Model} model @param {() => void} begin a picture is needed to point at @param {() => void} say what is told has changed */
function touching(model, begin, say) {
  /** @type {ReturnType<typeof launched> | null} */
  let facts = null;
  let [asked, said] = [-1, ""]; // the block that was asked for last; what is told in place of threads
  const answer = () => {
    const { view, parameter } = model.get("threads") ?? {};
    facts = view ? launched(view) : null;
    said = model.get("threads")?.said ?? "";
    if (view) said = view.arrays.some((/** @type {any[]} */ a) => a[0] === parameter) ? "" : `${parameter} is not among the arrays of the launch.`;
    say();
  };
  const ask = (/** @type {number} */ block) => {
    [asked, said] = [block, "asking who touched it …"];
    model.send?.({ ask: "threads", block });
    say();
  };
  const button = press("threads", "Who wrote and read each element: runs the last launch that was given this array on copies", () => (begin(), ask(0)));
  return {
    button, answer,
    offer: () => {
      [facts, asked, said] = [null, -1, ""];
      button.toggleAttribute("hidden", !model.send || !model.get("asks_threads"));
    },
    /** @param {number} element @param {number} share of all elements, where it lies */
    of(element, share) {
      if (!facts || said) return said;
      const { view, parameter } = model.get("threads");
      const found = facts.touchers(view.arrays.findIndex((/** @type {any[]} */ a) => a[0] === parameter), element);
      const by = found.map((t) => `${{ read: "read", write: "written" }[t.kind] ?? "updated"} by ${facts?.name(t.block, t.thread)} at line ${t.line}`);
      const kernel = view.title.split(" · ")[0];
      if (by.length) return `${kernel}: ${by.slice(0, 5).join(", ")}${by.length > 5 ? `, and ${by.length - 5} more` : ""}`;
      const block = Math.min(view.total - 1, Math.floor(share * view.total)); // a guess: threads in the order of elements
      const here = block >= view.first && block < view.first + facts.blocks.size;
      if (!here && block !== asked) setTimeout(() => ask(block));
      const some = facts.blocks.size < view.total ? ` of block ${view.first} to ${view.first + facts.blocks.size - 1}` : "";
      return `${kernel}: no thread${some} touched it`;
    },
  };
}

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const slices = make("span", { class: "wb-tools" });
  const stage = make("div", { class: "wb-stage wb-pictures", tabindex: 0, role: "application", "aria-label": "Array: arrow keys read points" });
  const told = make("div", { class: "wb-told wb-mono", role: "status" });
  const tabs = tabList([["picture", "picture"], ["values", "values"], ["histogram", "histogram"], ["numbers", "numbers"]], "Array", (name) => show(name));
  const threads = touching(model, () => show("picture"), () => say());
  const root = make("div", { class: "wb-box wb-array", "data-testid": "wb-array", role: "group" },
    make("div", { class: "wb-head" }, title, slices, threads.button, tabs), stage, told);
  place(model, el, root);

  let open = /** @type {View} */ (model.get("view")).few ? "values" : "picture";
  /** @type {number[]} */
  let point = [0, 0];
  let chosen = 0; // the component
  const view = () => /** @type {View} */ (model.get("view"));
  const pictures = () => [...stage.querySelectorAll(".wb-pixels, svg.wb-plot")];
  /** Who touched the first element of the point that is told. @param {Part} part */
  const touchedAt = (part) => {
    const sizes = [...view().sizes, ...view().shape];
    const index = [...view().at, ...elementsAt(part, view(), point).map(([first]) => first)];
    const element = index.reduce((all, k, axis) => all * sizes[axis] + k, 0);
    return threads.of(element, element / sizes.reduce((all, size) => all * size, 1));
  };
  const say = () => {
    const part = view().parts[chosen];
    const facts = view().facts.map(([n, v]) => `${n} ${v}`).join(" · ");
    told.textContent = open === "picture" && part ? [tell(part, view(), point), touchedAt(part)].filter(Boolean).join(" · ") : facts;
  };
  const redraw = () => {
    const width = Math.max(120, (stage.clientWidth || 560) - 16);
    const { parts, histogram, facts, name, kind } = view();
    title.textContent = `${name} · ${kind}`;
    root.setAttribute("aria-label", title.textContent);
    openTab(tabs, open);
    if (open === "numbers") stage.replaceChildren(tableOf(["", ""], facts));
    else if (open === "histogram") stage.replaceChildren(histogram ? barsOf(histogram, width) : make("div", { class: "wb-dim" }, "no finite element"));
    else if (open === "values") stage.replaceChildren(make("pre", { class: "wb-values wb-mono" }, view().values));
    else if (parts.length) drawPictures(stage, view(), width);
    else stage.replaceChildren(make("div", { class: "wb-dim" }, "no elements"));
    say();
  };
  const show = (/** @type {string} */ name) => {
    open = name;
    redraw();
  };
  /** Sliders for the dimensions that are not drawn, and a choice of fields. */
  const offer = () => {
    const { at, sizes, fields, field } = view();
    const offered = String([sizes, fields]);
    if (slices.dataset.offered === offered || !model.send) return;
    slices.dataset.offered = offered;
    const sliders = sizes.map((size, axis) => /** @type {HTMLInputElement} */ (make("input", { type: "range", min: 0, max: size - 1, value: at[axis], "aria-label": `Index of dimension ${axis}` })));
    const choice = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": "Field to draw" }, ...fields.map((name) => make("option", { value: name }, name))));
    if (fields.length) choice.value = field;
    const parts = [...sliders, ...(fields.length ? [choice] : [])];
    for (const part of parts) part.addEventListener("input", () => {
      if (part === choice) open = "picture";
      model.send?.({ ask: "slice", at: sliders.map((s) => Number(s.value)), field: choice.value });
    });
    slices.replaceChildren(...parts);
  };
  stage.addEventListener("pointermove", (event) => {
    const found = pictures().findIndex((p) => p === event.target || p.contains(/** @type {Node} */ (event.target)));
    if (found < 0) return;
    chosen = found;
    point = pointAt(view().parts[found], pictures()[found].getBoundingClientRect(), event.clientX, event.clientY);
    say();
  });
  stage.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const part = view().parts[chosen];
    if (!step || !part || open !== "picture") return;
    point = [Math.max(0, Math.min(part.rows - 1, point[0] + step[0])), Math.max(0, Math.min(part.columns - 1, point[1] + step[1]))];
    say();
    event.preventDefault();
    event.stopPropagation();
  });
  const anew = () => {
    chosen = Math.min(chosen, Math.max(0, view().parts.length - 1));
    const part = view().parts[chosen];
    point = part ? [Math.min(point[0], part.rows - 1), Math.min(point[1], part.columns - 1)] : [0, 0];
    offer();
    redraw();
  };
  threads.offer();
  anew();
  const still = onWidth(stage, redraw);
  const deaf = listen(model, { "change:view": anew, "change:asks_threads": threads.offer, "change:threads": threads.answer });
  return () => {
    still();
    deaf();
  };
}

export default { render };
