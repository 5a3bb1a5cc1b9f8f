// @ts-check
/**
 * A kernel's texts side by side. Lines that come from one line of the cell light up together; a click, or the arrow keys
 * in the source, choose a line and bring its rows into sight in every pane.
 *
 * @typedef {{kernel: string, name: string, text: string, first_line: number}} Pane
 * @typedef {{kernel: string, panes: Pane[], said?: string}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { codeView, linkLines } from "./panes.js";
import { listen, make, moveFocus, onWidth, place } from "./parts.js";

const COLUMN = 300; // pixels below which a pane is not worth having beside another
const NAMES = { source: "Source", ir: "IR", adjoint: "Adjoint", tangent: "Tangent", cuda: "CUDA", llvm: "LLVM", ptx: "PTX",
  sass: "SASS", asm: "Assembly", key: "Key" };

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const about = make("span", { class: "wb-dim wb-about" });
  const tabs = make("div", { class: "wb-tools", role: "toolbar", "aria-label": "Texts" });
  const stage = make("div", { class: "wb-columns" });
  const told = make("div", { class: "wb-told", role: "status" });
  const root = make("div", { class: "wb-box wb-source", "data-testid": "wb-source", role: "group" },
    make("div", { class: "wb-head" }, title, about, tabs), stage, told);
  place(model, el, root);

  /** @type {Map<string, Pane | null>} */
  const texts = new Map(); // null: asked for
  /** @type {string[]} */
  let open = [];
  const view = () => /** @type {View} */ (model.get("view"));
  const offered = () => /** @type {[string, string][]} */ (model.get("panes") ?? view().panes.map((p) => [p.name, NAMES[p.name] ?? p.name]));

  const light = () => {
    const line = Number(model.get("selected") ?? 0);
    let rows = 0;
    for (const box of stage.querySelectorAll(".wb-code")) {
      const mine = [...box.querySelectorAll(".wb-row")].filter((row) => row.getAttribute("data-at") === String(line));
      for (const row of box.querySelectorAll(".wb-row")) row.classList.toggle("wb-pinned", mine.includes(row));
      const first = /** @type {HTMLElement | undefined} */ (mine[0]);
      if (first) box.scrollTop = first.offsetTop - box.clientHeight / 3;
      if (box.getAttribute("data-pane") !== "source") rows += mine.length;
    }
    told.textContent = line ? `line ${line}: ${rows} ${rows === 1 ? "row" : "rows"} of the other texts` : "Choose a line: click it, or use the arrow keys in the source.";
  };
  const redraw = () => {
    title.textContent = view().kernel;
    about.textContent = about.title = view().said ?? "";
    root.setAttribute("aria-label", `texts about ${view().kernel}`);
    tabs.replaceChildren(...offered().map(([name, text], k) => {
      const button = make("button", { type: "button", "aria-pressed": String(open.includes(name)), "data-tab": name, tabindex: k ? -1 : 0 }, text);
      button.addEventListener("click", () => toggle(name));
      return button;
    }));
    const room = Math.max(1, Math.floor((stage.clientWidth || 900) / COLUMN));
    stage.style.gridTemplateColumns = `repeat(${Math.max(1, Math.min(room, open.length))}, minmax(0, 1fr))`;
    stage.replaceChildren(...open.map((name) => {
      const pane = texts.get(name);
      const code = pane ? codeView({ kernel: view().kernel, pane: name, text: pane.text, first_line: pane.first_line })
        : make("div", { class: "wb-dim wb-wait" }, "asking the kernel …");
      return make("figure", { "data-pane": name }, make("figcaption", {}, NAMES[name] ?? name), code);
    }));
    light();
  };
  /** @param {string} name */
  const toggle = (name) => {
    open = open.includes(name) ? open.filter((o) => o !== name) : offered().map(([n]) => n).filter((n) => n === name || open.includes(n));
    if (open.includes(name) && !texts.has(name)) {
      texts.set(name, null);
      model.send?.({ ask: "pane", kernel: view().kernel, pane: name });
    }
    redraw();
    /** @type {HTMLElement | null} */ (tabs.querySelector(`[data-tab="${name}"]`))?.focus();
  };
  /** @param {number} line */
  const choose = (line) => {
    model.set("selected", line);
    model.save_changes();
    light();
  };
  stage.addEventListener("click", (event) => {
    const at = Number(/** @type {Element} */ (event.target).closest?.(".wb-row")?.getAttribute("data-at") ?? 0);
    choose(at === Number(model.get("selected")) ? 0 : at);
  });
  stage.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const source = view().panes.find((p) => p.name === "source") ?? texts.get("source");
    if (event.key === "Escape") choose(0);
    else if (step && source) {
      const last = source.first_line + source.text.replace(/\n+$/, "").split("\n").length - 1;
      const now = Number(model.get("selected")) || source.first_line - step;
      choose(Math.max(source.first_line, Math.min(last, now + step)));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  tabs.addEventListener("keydown", (event) => moveFocus(event, tabs));
  linkLines(stage);
  const begin = () => {
    texts.clear();
    for (const pane of view().panes) texts.set(pane.name, pane);
    open = view().panes.map((p) => p.name);
    redraw();
  };
  begin();
  const still = onWidth(stage, redraw);
  /** @param {any} answer */
  const hear = (answer) => {
    if (answer?.kernel !== view().kernel || !answer.pane) return;
    texts.set(answer.pane, { ...answer, name: answer.pane });
    redraw();
  };
  const deaf = listen(model, { "change:view": begin, "change:selected": light, "msg:custom": hear });
  return () => {
    still();
    deaf();
  };
}

export default { render };
