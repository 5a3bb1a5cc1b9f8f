// @ts-check
/**
 * What every widget draws with: elements, figures, the rule that hides a static fallback.
 *
 * Widgets import from here; where only one text can be given (a live widget, an exported page), Python puts this file
 * in the place of the import. So names on this level are unique among all modules.
 *
 * @typedef {{get(name: string): any, set(name: string, value: any): void, save_changes(): void, send?(content: any): void,
 *   on(event: string, f: Function): void, off(event: string, f: Function): void}} Model
 */

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** @param {Element} node @param {Record<string, any>} attributes @param {(Node | string)[]} children */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) node.setAttribute(name, String(value));
  }
  node.append(...children);
}

/** An element. @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node | string)} children */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

/** An SVG element. @param {string} tag @param {Record<string, any>} attributes @param {...(Node | string)} children */
export function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG_SPACE, tag);
  fill(node, attributes, children);
  return node;
}

/** An id that no other view of the page has; a page may hold this module more than once. @param {string} name */
export const uniqueId = (name) => `wb-${name}-${Math.random().toString(36).slice(2, 12)}`;

/** Two significant digits. @param {number} value */
export const digits = (value) => (value < 9.95 ? value.toFixed(1) : value.toFixed(0));

/** A duration in seconds with three figures. @param {number | null} value */
export function spent(value) {
  if (value === null) return "time not known";
  const [unit, name] = value >= 0.9995 ? [1, "s"] : value >= 0.9995e-3 ? [1e-3, "ms"] : [1e-6, "µs"]; // three figures of 0.9996 s are 1 s
  return `${Number((value / unit).toPrecision(3))} ${name}`;
}

/** A duration that a browser's clock measured, which may tell 0 for less than its step of 0.1 ms. @param {number} value */
export const clocked = (value) => (value ? spent(value) : "less than 0.1 ms");

/** A number of bytes with three figures. @param {number} count */
export const bytes = (count) =>
  count < 1e3 ? `${count} B` : count < 1e6 ? `${(count / 1e3).toPrecision(3)} kB` : `${(count / 1e6).toPrecision(3)} MB`;

/** A number with so many figures. @param {number} value @param {number} [count] */
export function figure(value, count = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  return size && (size < 1e-4 || size >= 1e6) ? value.toExponential(count - 2) : String(Number(value.toPrecision(count)));
}

/** What shows whether the view of a model, placed last, is stale. @type {WeakMap<Model, () => void>} */
const marks = new WeakMap();

/**
 * Put a widget's root into its place. The static fallback stands in an output above it and is hidden by a rule, because a
 * front end may draw that again. What is typed into its inputs stays there.
 * @param {Model} model @param {HTMLElement} el @param {HTMLElement} root
 */
export function place(model, el, root) {
  root.classList.add("wb-live");
  root.addEventListener("keydown", (event) => { // the notebook has its own keys: arrows choose cells, letters add some
    if (/** @type {Element} */ (event.target).matches("input, select")) event.stopPropagation();
  });
  const twin = String(model.get("twin") ?? "").replace(/[^\w-]/g, "");
  const rule = twin ? `.jp-OutputArea-child:has(.${twin}), .${twin} { display: none !important }` : "";
  el.append(make("style", {}, rule), root);
  const mark = make("div", { class: "wb-stale", role: "status" });
  root.prepend(mark);
  const tell = () => {
    const said = String(model.get("stale") ?? "");
    mark.hidden = !said;
    // The button stands where our extension hears it; the words where a reader has to do it.
    mark.replaceChildren(...(said ? [`${said} · `, make("span", { class: "wb-by-hand" }, "run the cell again"), make("span", { class: "wb-pressed", hidden: "" },
      make("button", { type: "button", "data-workbench-run": "", title: "Run the cell again" }, "run"))] : []));
  };
  tell();
  marks.set(model, tell);
}

/** @param {string} sign @param {string} name @param {() => void} act */
export function press(sign, name, act) {
  const button = make("button", { type: "button", "aria-label": name, title: name }, sign);
  button.addEventListener("click", act);
  return button;
}

/** Show that a button plays or pauses; the sign is drawn, because not every machine has a font with it.
 * @param {Element} button @param {boolean} playing @param {boolean} [inWords] */
export function markPlaying(button, playing, inWords = false) {
  const name = playing ? "Pause" : "Play";
  button.replaceChildren(draw("svg", { viewBox: "0 0 10 10", width: "0.8em", height: "0.8em", fill: "currentColor", "aria-hidden": "true" },
    draw("path", { d: playing ? "M1 0h3v10H1zM6 0h3v10H6z" : "M1 0l9 5l-9 5z" })), inWords ? ` ${name.toLowerCase()}` : "");
  button.setAttribute("aria-label", name);
  button.setAttribute("title", name);
}

/** Send a message, unless the kernel is gone, as the view's mark says then: ipywidgets throws. @param {Model} model @param {any} content */
function sendIfLive(model, content) {
  try {
    model.send?.(content);
  } catch (error) {
    if (!model.get("stale")) console.warn(error);
  }
}

/** Tell the kernel half a second after the last call that the picture has come to rest, so that it draws what a saved
 * notebook shows. @param {Model} model */
export function resting(model) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => sendIfLive(model, { ask: "rest" }), 500);
  };
}

const SHORT = 0.02; // seconds of the kernel's work below which the way there and back takes longer

/** Messages that the kernel answers with its trait `answered`. Two may be on the way while its work is short, so that it
 * works while an answer travels; of what would be sent beyond that, a widget sends the latest when there is room.
 * @param {Model} model @param {() => number} seconds that the kernel worked for its last answer */
export function messenger(model, seconds) {
  const answered = () => Number(model.get("answered") ?? 0);
  let number = answered(); // of the last message; the page may have been loaded again
  return {
    busy: () => number > answered(),
    full: () => number - answered() >= (seconds() < SHORT ? 2 : 1),
    send(/** @type {Record<string, any>} */ content) {
      number = Math.max(number, answered()) + 1;
      sendIfLive(model, { ...content, number });
    },
  };
}

/** Arrow keys, Home and End move among the children of a tab list. @param {KeyboardEvent} event @param {HTMLElement} tabs */
export function moveFocus(event, tabs) {
  const all = /** @type {HTMLElement[]} */ ([...tabs.children]);
  const here = all.indexOf(/** @type {HTMLElement} */ (event.target));
  const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation(); // the notebook has its own arrow keys
  all[(to + all.length) % all.length]?.focus();
}

/** A list of tabs; `chosen` is told the name of the one that was pressed. @param {[string, string][]} names
 * @param {string} label @param {(name: string) => void} chosen */
export function tabList(names, label, chosen) {
  const tabs = make("div", { class: "wb-tabs", role: "tablist", "aria-label": label });
  for (const [name, title] of names) {
    const tab = make("button", { type: "button", role: "tab", "data-tab": name }, title);
    tab.addEventListener("click", () => chosen(name));
    tabs.append(tab);
  }
  tabs.addEventListener("keydown", (event) => moveFocus(event, tabs));
  return tabs;
}

/** Mark one tab as the one that is open. @param {HTMLElement} tabs @param {string} name */
export function openTab(tabs, name) {
  for (const tab of tabs.children) {
    const mine = tab.getAttribute("data-tab") === name;
    tab.setAttribute("aria-selected", String(mine));
    tab.setAttribute("tabindex", mine ? "0" : "-1");
  }
}

/** A table with a head. @param {(string | Node)[]} head @param {(string | Node)[][]} rows */
export function tableOf(head, rows) {
  /** @param {string} tag @param {(string | Node)[]} cells */
  const row = (tag, cells) => make("tr", {}, ...cells.map((cell) => (tag === "th" && cell ? make("th", { scope: "col" }, cell) : make("td", {}, cell))));
  return make("table", { class: "wb-grid" }, make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((r) => row("td", r))));
}

/** Call `act` when the width of `node` changes, also from and to nothing; gives the way to stop. @param {Element} node @param {() => void} act */
export function onWidth(node, act) {
  let seen = node.clientWidth;
  const watcher = new ResizeObserver(() => {
    if (seen !== (seen = node.clientWidth)) act();
  });
  watcher.observe(node);
  return () => watcher.disconnect();
}

/** Listen to a model whose view was placed; gives the way to stop. @param {Model} model @param {Record<string, Function>} ears */
export function listen(model, ears) {
  const all = Object.entries({ ...ears, "change:stale": marks.get(model) ?? (() => {}) });
  for (const [event, act] of all) model.on(event, act);
  return () => {
    for (const [event, act] of all) model.off(event, act);
  };
}

/** Bytes as a kernel sends them, as a file holds them (base64), or as a page made them. @param {string | DataView | Uint8Array} data */
export function octets(data) {
  if (data instanceof DataView) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (typeof data !== "string") return data;
  const letters = atob(data);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** Such bytes as the elements of a typed array, without a copy where they are aligned.
 * @template T @param {{BYTES_PER_ELEMENT: number, new (buffer: ArrayBufferLike, first: number, count: number): T}} Kind @param {string | DataView | Uint8Array} data */
export function elementsOf(Kind, data) {
  let bytes = octets(data);
  if (bytes.byteOffset % Kind.BYTES_PER_ELEMENT) bytes = bytes.slice();
  return new Kind(bytes.buffer, bytes.byteOffset, bytes.byteLength / Kind.BYTES_PER_ELEMENT);
}

/** Numbers of float32 from such bytes, or those that a page made. @param {string | DataView | Float32Array} data */
export const numbers = (data) => (data instanceof Float32Array ? data : elementsOf(Float32Array, data));
