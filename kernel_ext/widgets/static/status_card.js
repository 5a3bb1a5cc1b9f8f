// @ts-check
/**
 * The status card: a badge and one line; unfolded, the stages, reasons and errors, and texts about each kernel.
 *
 * Everything shown comes from the `view` trait; a pane's text is asked for when its tab is first opened. A plain
 * module: no bundler, no import.
 *
 * @typedef {{name: string, seconds: number}} Stage
 * @typedef {{kernel: string, direction: string, state: string, key: string, seconds: number, stages: Stage[],
 *   why: string[], facts: string[], built: number | null, backend: string, target: string}} Row
 * @typedef {{kind: string, line: number, message: string}} Failure
 * @typedef {{cell: string, state: string, headline: string, rows: Row[], kernels: string[], errors: Failure[],
 *   notices: string[], remarks: string[], outdated: string}} View
 * @typedef {import("./panes.js").Answer} Answer
 * @typedef {import("./parts.js").Model} Model
 */

import { codeView, linkLines } from "./panes.js";
import { digits, listen, make, moveFocus, place, uniqueId } from "./parts.js";

const LEADS = {
  compiling: "compiling", compiled: "compiled", recompiled: "recompiled", failed: "failed", ready: "ready",
  "memory hit": "cache hit", "disk hit": "cache hit",
};
const TIMELESS = { compiling: "…", failed: "" };
const WIDE = 720; // pixels from which the source stands beside another pane
/** A duration in seconds as the kernel writes it. @param {number} value */
function took(value) {
  if (value >= 0.5) return `${digits(value)} s`;
  if (value >= 1e-3) return `${digits(value * 1e3)} ms`;
  return `${digits(value * 1e6)} µs`;
}

/** The headline without its first words, which the badge shows. @param {View} view */
function rest(view) {
  const lead = LEADS[view.state] ?? "";
  return (view.headline.startsWith(lead) ? view.headline.slice(lead.length) : view.headline).replace(/^[\s·:]+/, "");
}

/** The stages of one row as a bar; `full` is the time of a whole bar. @param {Row} row @param {number} full */
function bar(row, full) {
  if (!row.stages.length) return make("td");
  const track = make("div", { class: "wb-bar", "aria-hidden": "true" });
  for (const stage of row.stages) {
    const part = make("span", { title: `${stage.name} ${took(stage.seconds)}` });
    part.style.width = `${(100 * stage.seconds) / full}%`;
    track.append(part);
  }
  const list = row.stages.map((s) => `${s.name} ${digits(s.seconds * 1e3)}`).join(" · ");
  return make("td", { class: "wb-stages" }, track, make("div", { class: "wb-dim" }, list));
}

/** @param {View} view */
function stageTable(view) {
  const full = Math.max(1e-9, ...view.rows.map((r) => r.stages.reduce((sum, s) => sum + s.seconds, 0)));
  const head = make("tr", {}, ...["kernel", "direction", "what", "time", "stages (ms)", "key", "target"].map(
    (name) => make("th", { scope: "col" }, name)));
  const rows = view.rows.map((row) => make("tr", {},
    make("td", {}, row.kernel), make("td", {}, row.direction), make("td", {}, row.state),
    make("td", { class: "wb-number" }, TIMELESS[row.state] ?? took(row.seconds)), bar(row, full),
    make("td", { title: row.key }, row.key.slice(0, 8)),
    make("td", {}, [row.backend, row.target, ...row.facts].filter(Boolean).join(" "))));
  return make("table", { class: "wb-table" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** What the unfolded card says besides panes. @param {View} view */
function details(view) {
  /** @type {Node[]} */
  const parts = view.errors.map((e) =>
    make("div", { class: "wb-error" }, make("b", {}, e.line ? `line ${e.line}` : e.kind), ` ${e.message}`));
  for (const notice of view.notices) parts.push(make("div", { class: "wb-dim" }, notice));
  for (const row of view.rows) {
    for (const why of row.why) {
      parts.push(make("div", {}, make("b", {}, `${row.kernel} ${row.direction}`), ` recompiled because: ${why}`));
    }
  }
  if (view.rows.length) parts.push(stageTable(view));
  return parts;
}

/** What the card says without being unfolded. @param {View} view @param {Model} model */
function remarksOf(view, model) {
  /** @type {Node[]} */
  const parts = (view.remarks ?? []).map((remark) => make("div", {}, remark));
  if (view.outdated && !model.send) parts.push(make("div", {}, `${view.outdated}: call jax.clear_caches()`));
  if (view.outdated && model.send) {
    const clear = make("button", { type: "button", class: "wb-clear" }, "jax.clear_caches()");
    clear.addEventListener("click", () => {
      clear.setAttribute("disabled", "");
      model.send?.({ ask: "clear" });
    });
    parts.push(make("div", {}, `${view.outdated} `, clear));
  }
  return parts;
}

/**
 * Tabs over the panes of the cell's kernels. `ask` requests a text, `texts` holds those that came.
 * @param {Model} model @param {string} id
 */
function paneBox(model, id) {
  /** @type {Map<string, Answer>} */
  const texts = new Map();
  const asked = new Set();
  const names = /** @type {[string, string][]} */ (model.get("panes") ?? []);
  const choice = make("select", { class: "wb-kernels", "aria-label": "Kernel" });
  const tabs = make("div", { class: "wb-tabs", role: "tablist", "aria-label": "Texts" });
  const panel = make("div", { class: "wb-panel", role: "tabpanel", id: `${id}-panel`, hidden: "" });
  const box = make("div", { class: "wb-panes" }, make("div", { class: "wb-bar-row" }, choice, tabs), panel);
  let open = "";

  const kernel = () => /** @type {HTMLSelectElement} */ (choice).value;
  /** @param {string} pane */
  const textOf = (pane) => {
    const key = `${kernel()} ${pane}`;
    const known = texts.get(key);
    if (!asked.has(key)) model.send?.({ ask: "pane", kernel: kernel(), pane });
    asked.add(key);
    return known ? codeView(known) : make("div", { class: "wb-dim wb-wait" }, "asking the kernel …");
  };
  const draw = () => {
    for (const tab of tabs.children) {
      const chosen = tab.getAttribute("data-pane") === open;
      tab.setAttribute("aria-selected", String(chosen));
      tab.setAttribute("tabindex", chosen || (!open && tab === tabs.firstChild) ? "0" : "-1");
    }
    panel.toggleAttribute("hidden", !open);
    if (!open) return panel.replaceChildren();
    const beside = open !== "source" && open !== "key" && box.clientWidth >= WIDE;
    panel.classList.toggle("wb-two", beside);
    panel.replaceChildren(...(beside ? [textOf("source")] : []), textOf(open));
  };
  /** @param {string} pane */
  const choose = (pane) => {
    open = open === pane ? "" : pane;
    draw();
  };
  names.forEach(([pane, title]) => {
    const tab = make("button", { type: "button", role: "tab", "data-pane": pane, "aria-controls": `${id}-panel` }, title);
    tab.addEventListener("click", () => choose(pane));
    tabs.append(tab);
  });
  tabs.addEventListener("keydown", (event) => moveFocus(event, tabs));
  choice.addEventListener("change", draw);
  linkLines(panel);
  draw();
  return {
    box,
    draw,
    /** @param {Answer} answer */
    take(answer) {
      texts.set(`${answer.kernel} ${answer.pane}`, answer);
      if (open) draw();
    },
    /** @param {string[]} kernels */
    offer(kernels) {
      const before = kernel();
      choice.replaceChildren(...kernels.map((name) => make("option", { value: name }, name)));
      if (kernels.includes(before)) /** @type {HTMLSelectElement} */ (choice).value = before;
      choice.toggleAttribute("hidden", kernels.length < 2);
      box.toggleAttribute("hidden", kernels.length === 0);
    },
  };
}

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const id = uniqueId("card");
  const badge = make("span", { class: "wb-badge" });
  const line = make("span", { class: "wb-line", role: "status" });
  const about = make("span", { class: "wb-about" });
  const facts = make("div", { class: "wb-facts" });
  const panes = paneBox(model, id);
  const remarks = make("div", { class: "wb-remarks" });
  const body = make("div", { class: "wb-body" }, facts, panes.box);
  const fold = make("details", {}, make("summary", {}, badge, " ", line, " ", about), body);
  const root = make("div", { class: "wb-card", "data-testid": "wb-status", role: "group" }, fold, remarks);
  place(model, el, root);

  const began = performance.now();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let clock;
  const draw = () => {
    const view = /** @type {View} */ (model.get("view"));
    const busy = view.state === "compiling";
    const hit = view.state.endsWith("hit");
    const tell = () => {
      const elapsed = (performance.now() - began) / 1e3;
      line.textContent = rest(view) + (busy && elapsed > 0.3 ? ` · ${digits(elapsed)} s` : "");
    };
    root.setAttribute("data-state", view.state);
    root.setAttribute("aria-label", `${view.cell}: ${view.headline}`);
    badge.textContent = LEADS[view.state] ?? view.state;
    about.textContent = [...new Set([...(hit ? [view.kernels.join(", ")] : []), view.cell])].filter(Boolean).join(" · ");
    facts.replaceChildren(...details(view));
    remarks.replaceChildren(...remarksOf(view, model));
    panes.offer(busy || view.state === "failed" || !model.send ? [] : view.kernels);
    clearInterval(clock);
    if (busy) clock = setInterval(tell, 100);
    tell();
  };
  /** @param {Answer} answer */
  const hear = (answer) => answer?.pane && panes.take(answer);
  let wide = false;
  const watcher = new ResizeObserver(() => {
    if (wide !== (wide = root.clientWidth >= WIDE)) panes.draw();
  });
  watcher.observe(root);
  const deaf = listen(model, { "change:view": draw, "msg:custom": hear });
  draw();
  return () => {
    clearInterval(clock);
    watcher.disconnect();
    deaf();
  };
}

export default { render };
