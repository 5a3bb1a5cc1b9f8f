// @ts-check
/**
 * A graph of launches: boxes in layers, lines with the arrays they carry; a chosen box tells what it is and what it
 * waits for. Places come with the view (the layout is made in Python); this draws, zooms and selects.
 *
 * @typedef {{index: number, kind: string, name: string, dims: number[], milliseconds: number | null, critical: boolean,
 *   bodies: Record<string, number>, inside?: number, said?: [string, string][], title: string, detail: string, x: number, y: number,
 *   width: number, height: number}} Node
 * @typedef {{source: number, target: number, arrays: string[], because: string[][], data: boolean, critical: boolean,
 *   name: string, points: number[][], label: number[]}} Edge
 * @typedef {{device: string, nodes: Node[], edges: Edge[], width: number, height: number,
 *   title?: string, advice?: string, steps?: {index: number, said: [string, string][]}[]}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { draw, listen, make, place, press } from "./parts.js";
import { stepPlayer } from "./player.js";

const KINDS = ["forward", "adjoint", "tangent", "if", "while", "graph"];
const STEPS = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 3];
const [TALLEST, PAD] = [560, 12]; // pixels of the stage, as its style says
const SMALLEST = 0.75; // to this scale a tall graph is made smaller to be seen whole
const LEGIBLE = 0.45; // below this scale no label of an edge can be read, and none is drawn

/** @param {Node} node */
const kindOf = (node) => (KINDS.includes(node.kind) ? node.kind : "move");

/** A line and its tip. The tip is a path of its own: a marker is found by an id, and a page may hold this view twice. @param {Edge} edge */
function edgeNode(edge) {
  const [first, ...rest] = edge.points;
  let path = `M${first[0]} ${first[1]}`;
  let [x, y] = first;
  for (const [u, v] of rest) {
    const middle = (y + v) / 2;
    path += `C${x} ${middle} ${u} ${middle} ${u} ${v}`;
    [x, y] = [u, v];
  }
  const why = edge.because.map(([reason, array]) => `${reason} ${array}`).join("; ");
  return draw("g", { class: `wb-edge${edge.data ? "" : " wb-order"}${edge.critical ? " wb-critical" : ""}`, "data-source": edge.source, "data-target": edge.target },
    draw("title", {}, why || edge.arrays.join(", ")),
    draw("path", { d: path, fill: "none" }),
    draw("path", { d: `M${x} ${y}l-3.5 -7h7z`, class: "wb-tip" }),
    draw("text", { x: edge.label[0], y: edge.label[1] }, edge.name));
}

/** @param {Node} node */
function boxNode(node) {
  const middle = node.x + node.width / 2;
  const said = [node.kind, node.name, node.detail].filter(Boolean).join(" ");
  return draw("g", { class: `wb-node wb-k-${kindOf(node)}${node.critical ? " wb-critical" : ""}`, role: "button", tabindex: -1,
    "aria-pressed": "false", "aria-label": said, "data-index": node.index },
    draw("rect", { x: node.x, y: node.y, width: node.width, height: node.height, rx: 5 }),
    draw("text", { x: middle, y: node.y + 16, "text-anchor": "middle" }, node.title),
    draw("text", { x: middle, y: node.y + 30, "text-anchor": "middle", class: "wb-small" }, node.detail));
}

/** What is told of the chosen node. @param {View} view @param {number} index @param {number} at the step that is shown */
function details(view, index, at) {
  const node = view.nodes[index];
  if (!node) return [make("span", { class: "wb-dim" }, view.advice ?? "Choose a node: click it, or Tab and arrow keys.")];
  const list = make("dl", {});
  /** @param {string} term @param {string} text */
  const say = (term, text) => text && list.append(make("dt", {}, term), make("dd", {}, text));
  const step = view.steps?.[at];
  if (step && step.index === index) for (const [term, text] of step.said) say(term, text);
  say("what", `${node.kind} ${node.name}`);
  say("size", node.dims.join(" × "));
  if (!node.said) say("time", node.milliseconds === null ? "not timed: g.profile() measures" : `${node.milliseconds.toPrecision(3)} ms`);
  for (const [name, body] of Object.entries(node.bodies)) say(name, `${body} nodes`);
  /** @param {Edge} e @param {number} other */
  const linked = (e, other) => `${view.nodes[other].title} #${other} (${e.because.map((b) => b.join(" ")).join("; ")})`;
  say("after", view.edges.filter((e) => e.target === index).map((e) => linked(e, e.source)).join(", "));
  say("before", view.edges.filter((e) => e.source === index).map((e) => linked(e, e.target)).join(", "));
  for (const [term, text] of node.said ?? []) say(term, text);
  if (node.critical) say("path", "on the critical path");
  return [list];
}

/** Where an arrow key leads from a node. @param {View} view @param {number} index @param {string} key */
function neighbour(view, index, key) {
  const here = view.nodes[index];
  if (!here) return view.nodes.length ? 0 : -1;
  if (key === "ArrowDown") return view.edges.find((e) => e.source === index)?.target ?? index;
  if (key === "ArrowUp") return view.edges.find((e) => e.target === index)?.source ?? index;
  const row = view.nodes.filter((n) => Math.abs(n.y - here.y) < 1).sort((a, b) => a.x - b.x);
  const at = row.indexOf(here) + (key === "ArrowRight" ? 1 : -1);
  return (row[at] ?? here).index;
}

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const zoom = make("span", { class: "wb-zoom", role: "group", "aria-label": "Zoom" });
  const box = make("div", { class: "wb-scroll" });
  const told = make("div", { class: "wb-told", role: "status" });
  const steps = () => view().steps ?? [];
  let at = -1; // the step that is shown; what is chosen by hand has none
  const player = stepPlayer("the graph", { now: () => Math.max(0, at), last: () => Math.max(0, steps().length - 1), go: (step) => go(step) });
  const root = make("div", { class: "wb-graph", "data-testid": "wb-graph", role: "group", "aria-label": "Graph of launches" },
    make("div", { class: "wb-head" }, title, zoom), box, told);
  place(model, el, root);
  /** @param {number} step */
  const go = (step) => {
    at = Math.max(0, Math.min(steps().length - 1, step));
    player.tell(`step ${at} of ${steps().length - 1}`);
    select(steps()[at].index);
    drawn.nodes[steps()[at].index]?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  };

  let scale = 0; // 0: all of it if that stays legible, else as wide as there is room for; never larger than life
  /** @type {SVGElement | undefined} */
  let picture;
  const view = () => /** @type {View} */ (model.get("view"));
  const fitted = () => {
    const across = Math.min(1, ((box.clientWidth || view().width + PAD) - PAD) / view().width);
    return Math.min(across, Math.max(SMALLEST, (TALLEST - PAD) / view().height));
  };
  const shownScale = () => scale || fitted();
  const resize = () => {
    if (!picture) return;
    const width = String(Math.max(1, view().width * shownScale()));
    wireSight();
    if (picture.getAttribute("width") === width) return; // set again, it would be laid out again, with all its texts
    root.classList.toggle("wb-far", shownScale() < LEGIBLE);
    picture.setAttribute("width", width);
    picture.setAttribute("height", String(Math.max(1, view().height * shownScale())));
  };
  /** Drawn nodes and edges, where edges stand, and what is lit now. @type {{nodes: Element[], edges: Element[], wires: Element, lit: Set<Element>}} */
  let drawn = { nodes: [], edges: [], wires: draw("g", {}), lit: new Set() };
  /** @param {number} k */
  const wire = (k) => {
    if (!drawn.edges[k]) drawn.wires.append((drawn.edges[k] = edgeNode(view().edges[k])));
    return drawn.edges[k];
  };
  /** Draw the edges that are in sight or a page away: texts cost the most, and a graph of 500 nodes is ten pages tall or wide. */
  const wireSight = () => {
    const scaled = shownScale();
    const [left, top, wide] = [box.scrollLeft / scaled, box.scrollTop / scaled, (box.clientWidth || 1000) / scaled];
    const tall = TALLEST / scaled;
    view().edges.forEach(({ points }, k) => {
      const [[x, y], [u, v]] = [points[0], points[points.length - 1]];
      const outside = Math.max(x, u) < left - wide || Math.min(x, u) > left + 2 * wide || v < top - tall || y > top + 2 * tall;
      if (!outside) wire(k);
    });
  };
  const choose = () => {
    const index = Number(model.get("selected"));
    const { nodes, edges } = view();
    const mine = edges.flatMap((edge, k) => (edge.source === index || edge.target === index ? [k] : []));
    const near = new Set([index, ...mine.flatMap((k) => [edges[k].source, edges[k].target])]);
    const lit = new Set([...mine.map(wire), ...[...near].map((k) => drawn.nodes[k])].filter(Boolean));
    // Only what changes is touched: a page restyles each element whose classes are set, and there may be thousands.
    for (const old of drawn.lit) if (!lit.has(old)) old.classList.remove("wb-lit", "wb-near");
    for (const one of lit) one.classList.add(one.classList.contains("wb-node") ? "wb-near" : "wb-lit");
    drawn.lit = lit;
    root.classList.toggle("wb-chosen", index >= 0);
    const before = root.querySelector(".wb-node[aria-pressed=true]");
    before?.setAttribute("aria-pressed", "false");
    for (const tab of root.querySelectorAll(".wb-node[tabindex='0']")) tab.setAttribute("tabindex", "-1");
    drawn.nodes[index]?.setAttribute("aria-pressed", "true");
    drawn.nodes[Math.max(0, Math.min(nodes.length - 1, index))]?.setAttribute("tabindex", "0");
    told.replaceChildren(...details(view(), index, at));
  };
  /** @param {number} index @param {boolean} [focus] */
  const select = (index, focus = false) => {
    model.set("selected", index);
    model.save_changes();
    choose();
    if (focus) /** @type {any} */ (root.querySelector(`.wb-node[data-index="${index}"]`))?.focus();
  };
  const redraw = () => {
    const { nodes, edges, width, height, device } = view();
    title.textContent = title.title = view().title ?? `graph · ${nodes.length} ${nodes.length === 1 ? "node" : "nodes"} · ${edges.length} ${edges.length === 1 ? "edge" : "edges"} · ${device}`;
    drawn = { nodes: nodes.map(boxNode), edges: [], wires: draw("g", {}), lit: new Set() };
    if (steps().length) zoom.before(player.tools);
    else player.tools.remove();
    const around = new Set(nodes.map((node) => node.inside)); // the ground that nodes inside and their edges stand on
    const [outer, others] = [true, false].map((one) => drawn.nodes.filter((_, k) => around.has(k) === one));
    picture = /** @type {SVGElement} */ (draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group" },
      draw("title", {}, title.textContent), ...outer, drawn.wires, ...others));
    box.replaceChildren(); // of the size that it will have, so that all its texts are laid out once
    resize();
    choose();
    box.append(picture);
    resize(); // a tall graph's scroll bar takes some of the width
  };

  /** @param {number} by */
  const step = (by) => {
    const now = shownScale();
    const larger = STEPS.find((s) => s > now * 1.01) ?? STEPS[STEPS.length - 1];
    const smaller = [...STEPS].reverse().find((s) => s < now * 0.99) ?? STEPS[0];
    scale = by > 0 ? larger : by < 0 ? smaller : 0;
    resize();
  };
  for (const [sign, name, by] of /** @type {[string, string, number][]} */ ([["−", "Smaller", -1], ["fit", "Fit the width", 0], ["+", "Larger", 1]])) {
    zoom.append(press(sign, name, () => step(by)));
  }
  box.addEventListener("scroll", wireSight);
  box.addEventListener("click", (event) => {
    const node = /** @type {Element} */ (event.target).closest?.(".wb-node");
    const index = node ? Number(node.getAttribute("data-index")) : -1;
    at = -1;
    select(index === model.get("selected") ? -1 : index, index >= 0);
  });
  box.addEventListener("keydown", (event) => {
    const at = /** @type {Element} */ (event.target).closest?.(".wb-node");
    if (!at) return;
    const index = Number(at.getAttribute("data-index"));
    if (event.key.startsWith("Arrow")) select(neighbour(view(), index, event.key), true);
    else if (event.key === "Enter" || event.key === " ") select(index, true);
    else if (event.key === "Escape") select(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const watcher = new ResizeObserver(resize);
  watcher.observe(root);
  const begin = () => {
    at = -1;
    redraw();
    if (steps().length) go(0);
  };
  const deaf = listen(model, { "change:view": begin, "change:selected": choose });
  begin();
  return () => {
    player.stop();
    watcher.disconnect();
    deaf();
  };
}

export default { render };
