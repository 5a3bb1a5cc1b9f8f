// @ts-check
/**
 * One thread through a kernel, statement by statement: the lines, the values of the names, what was loaded and stored.
 *
 * @typedef {{name: string, value: string, changed: boolean}} Name
 * @typedef {{line: number, text: string, function: string, depth: number, names: Name[], memory: string[], printed: string,
 *   fault: string}} Row
 * @typedef {{kernel: string, thread: number[], note: string, lines: [string, number, string][], rows: Row[]}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { coloured } from "./panes.js";
import { listen, make, place, press, tableOf } from "./parts.js";

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const code = make("div", { class: "wb-code", tabindex: 0, role: "region", "aria-label": "Lines" });
  const facts = make("div", { class: "wb-facts wb-mono", tabindex: "0", role: "group", "aria-label": "Values" });
  const told = make("div", { class: "wb-told wb-mono", role: "status" });
  const slider = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: 0, step: 1, "aria-label": "Step" }));
  const view = () => /** @type {View} */ (model.get("view"));
  const last = () => Math.max(0, view().rows.length - 1);
  const now = () => Math.max(0, Math.min(last(), Number(model.get("selected") ?? 0)));
  /** @param {number} step */
  const go = (step) => {
    model.set("selected", Math.max(0, Math.min(last(), step)));
    model.save_changes();
    redraw();
  };
  /** The next step that stands no deeper: over a call. @param {number} by */
  const over = (by) => {
    const depth = view().rows[now()]?.depth ?? 0;
    let at = now() + by;
    while (at > 0 && at < last() && view().rows[at].depth > depth) at += by;
    go(at);
  };
  const tools = make("span", { class: "wb-tools", role: "toolbar", "aria-label": "Steps" },
    press("|←", "First step", () => go(0)), press("←", "Step back", () => go(now() - 1)), press("→", "Step", () => go(now() + 1)),
    press("↷", "Step over a call", () => over(1)), press("→|", "Last step", () => go(last())), slider);
  const root = make("div", { class: "wb-box wb-stepper", "data-testid": "wb-stepper", role: "group" },
    make("div", { class: "wb-head" }, title, tools), make("div", { class: "wb-two-sides", tabindex: 0, role: "application",
      "aria-label": "Steps: arrow keys step, Home and End go to the ends" }, code, facts), told);
  place(model, el, root);

  const redraw = () => {
    const { rows, kernel, thread, note } = view();
    const row = rows[now()];
    title.textContent = `${kernel} · thread ${thread.join(", ")} · step ${rows.length ? now() : 0} of ${last()}`;
    root.setAttribute("aria-label", title.textContent);
    [slider.max, slider.value] = [String(last()), String(now())];
    if (!row) {
      told.textContent = "no step";
      return;
    }
    for (const line of code.children) {
      const here = line.getAttribute("data-line") === `${row.function} ${row.line}`;
      line.classList.toggle("wb-here", here);
      if (here) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    }
    const here = /** @type {HTMLElement | null} */ (code.querySelector(".wb-here"));
    if (here) code.scrollTop = Math.max(0, here.offsetTop - code.clientHeight / 2);
    const names = tableOf(["name", "value"], row.names.map((n) => [n.name, n.changed ? make("b", { title: "changed" }, n.value) : n.value]));
    facts.replaceChildren(make("div", { class: "wb-dim" }, row.depth > 1 ? `in ${row.function}` : "before the statement"), names);
    told.classList.toggle("wb-fault", Boolean(row.fault));
    told.textContent = [row.fault && `fault: ${row.fault}`, ...row.memory, row.printed && `prints ${JSON.stringify(row.printed)}`,
      now() === last() && note].filter(Boolean).join(" · ") || (row.text ? "touches no memory" : "the kernel ends here");
  };
  const begin = () => {
    const width = String(Math.max(0, ...view().lines.map(([, number]) => number))).length;
    code.replaceChildren(...view().lines.map(([name, number, text], k) => make("div", {
      class: k && view().lines[k - 1][0] !== name ? "wb-row wb-other" : "wb-row", "data-line": `${name} ${number}` },
      make("span", { class: "wb-no", "aria-hidden": "true" }, String(number).padStart(width)), make("code", {}, ...coloured(text, "source")))));
    redraw();
  };
  slider.addEventListener("input", () => go(Number(slider.value)));
  root.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: now() + 1, ArrowDown: now() + 1, ArrowLeft: now() - 1, ArrowUp: now() - 1, Home: 0, End: last() };
    if (!(event.key in moves)) return;
    go(moves[event.key]);
    event.preventDefault();
    event.stopPropagation();
  });
  begin();
  return listen(model, { "change:view": begin, "change:selected": redraw });
}

export default { render };
