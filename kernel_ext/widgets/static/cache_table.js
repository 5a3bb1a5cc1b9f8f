// @ts-check
/**
 * The cache: sums on top, one row per module; columns sort, a field searches, a module can be removed. Why a kernel was
 * rebuilt stands below its row.
 *
 * @typedef {{digest: string, name: string, backend: string, target: string, bytes: number, built: number, used: number,
 *   where: string, why: string[]}} Entry
 * @typedef {{modules: number, bytes: number, hits_memory: number, hits_disk: number, misses: number, path: string,
 *   problem: string, entries: Entry[]}} View
 * @typedef {import("./parts.js").Model} Model
 */

import { bytes, listen, make, place, press } from "./parts.js";

const COLUMNS = /** @type {[string, string][]} */ ([["digest", "key"], ["name", "kernel"], ["backend", "backend"],
  ["target", "target"], ["bytes", "size"], ["built", "built"], ["used", "used"], ["where", "where"]]);

const SHARED = ["backend", "target", "where"];
const BATCH = 100; // rows that are drawn at once; the next ones when the reader scrolls to them

/** @param {number} seconds */
function ago(seconds) {
  const [unit, name] = seconds >= 86400 ? [86400, "d"] : seconds >= 3600 ? [3600, "h"] : [60, "min"];
  return seconds < 60 ? "just now" : `${Math.floor(seconds / unit)} ${name} ago`;
}

const SHOWS = {
  digest: (/** @type {Entry} */ e) => e.digest.slice(0, 8), bytes: (/** @type {Entry} */ e) => bytes(e.bytes),
  built: (/** @type {Entry} */ e) => ago(e.built), used: (/** @type {Entry} */ e) => ago(e.used),
};

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const title = make("span", { class: "wb-title" });
  const search = /** @type {HTMLInputElement} */ (make("input", { type: "search", placeholder: "kernel, key, target", "aria-label": "Search" }));
  const sums = make("div", { class: "wb-sums" });
  const table = make("div", { class: "wb-wide" });
  const told = make("div", { class: "wb-told", role: "status" });
  const tools = make("span", { class: "wb-tools" }, search);
  const root = make("div", { class: "wb-box wb-cache", "data-testid": "wb-cache", role: "group", "aria-label": "Cache" },
    make("div", { class: "wb-head" }, title, tools), sums, table, told);
  place(model, el, root);
  if (model.send) tools.append(press("refresh", "Look again", () => model.send?.({ ask: "look" })));

  let [by, down] = ["used", false];
  const view = () => /** @type {View} */ (model.get("view"));
  const rows = () => {
    const wanted = search.value.toLowerCase();
    const kept = view().entries.filter((e) => [e.name, e.digest, e.target, e.backend].some((t) => t.toLowerCase().includes(wanted)));
    const sign = down ? -1 : 1;
    return kept.sort((a, b) => sign * (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0));
  };
  /** Columns in which rows differ; what all of them share stands above the table. */
  const columns = () => COLUMNS.filter(([key]) => !SHARED.includes(key) || new Set(view().entries.map((e) => e[key])).size > 1);
  const head = (/** @type {[string, string][]} */ shown) => make("tr", {}, ...shown.map(([key, name]) => {
    const cell = make("th", { scope: "col", "data-key": key, "aria-sort": key === by ? (down ? "descending" : "ascending") : "none" });
    cell.append(press(key === by ? `${name} ${down ? "▼" : "▲"}` : name, `Sort by ${name}`, () => {
      [by, down] = [key, key === by && !down];
      redraw();
      /** @type {HTMLElement | null} */ (table.querySelector(`[aria-label="Sort by ${name}"]`))?.focus();
    }));
    return cell;
  }), make("td", {}));
  const body = (/** @type {Entry} */ entry, /** @type {[string, string][]} */ shown) => {
    const cells = shown.map(([key]) => make("td", { "data-key": key, title: key in SHOWS && key !== "digest" ? null : entry[key], class: key === "digest" ? "wb-mono" : null },
      String(SHOWS[key]?.(entry) ?? entry[key])));
    const last = make("td", {});
    if (model.send) last.append(press("evict", `Remove ${entry.name} ${entry.digest.slice(0, 8)}`, () => model.send?.({ ask: "evict", digest: entry.digest })));
    const row = make("tr", { "data-digest": entry.digest }, ...cells, last);
    const why = entry.why.length ? [make("tr", { class: "wb-why" }, make("td", {}), make("td", { colspan: shown.length }, `rebuilt: ${entry.why.join("; ")}`))] : [];
    return [row, ...why];
  };
  let more = () => {};
  const redraw = () => {
    const { modules, hits_memory: memory, hits_disk: disk, misses, path, problem, entries } = view();
    const asked = memory + disk + misses;
    title.textContent = `cache · ${modules} ${modules === 1 ? "module" : "modules"}, ${bytes(view().bytes)}`;
    const parts = /** @type {[string, number][]} */ ([["memory", memory], ["disk", disk], ["miss", misses]]);
    const bar = make("span", { class: "wb-share", "aria-hidden": "true" }, ...parts.map(([name, count]) => {
      const part = make("i", { class: `wb-${name}` });
      part.style.width = `${asked ? (100 * count) / asked : 0}%`;
      return part;
    }));
    const shared = SHARED.filter((key) => new Set(entries.map((e) => e[key])).size === 1).map((key) => entries[0][key]);
    sums.replaceChildren(bar, ` hits: memory ${memory}, disk ${disk}; misses ${misses}`, make("span", { class: "wb-dim" }, [...shared, path].map((text) => ` · ${text}`).join("")),
      ...(problem ? [make("div", { class: "wb-fault" }, `not usable: ${problem}`)] : []));
    const [kept, shown, list] = [rows(), columns(), make("tbody", {})];
    more = () => list.append(...kept.splice(0, BATCH).flatMap((entry) => body(entry, shown)));
    told.textContent = String(model.get("said") ?? "") || (entries.length ? `${kept.length} of ${entries.length}` : "nothing is cached yet");
    more();
    table.replaceChildren(make("table", { class: "wb-grid" }, make("thead", {}, head(shown)), list));
  };
  table.addEventListener("scroll", () => table.scrollTop + 2 * table.clientHeight > table.scrollHeight && more());
  search.addEventListener("input", redraw);
  redraw();
  return listen(model, { "change:view": redraw, "change:said": redraw });
}

export default { render };
