// @ts-check
/**
 * Texts about a kernel with line numbers, coloured lightly; rows of several texts that come from one line of the cell
 * light up together.
 *
 * @typedef {{kernel: string, pane: string, text: string, first_line: number, lines?: (number | null)[]}} Answer
 */

import { make } from "./parts.js";

const COMMENTS = { source: "#.*", key: null, ir: null, adjoint: null, llvm: ";.*", default: "//.*" };
const WORDS = "def|return|if|elif|else|for|while|in|range|and|or|not|break|continue|pass|True|False|None|const|int|float"
  + "|double|void|bool|extern|define|declare|ret|br|phi|load|store|call|fmul|fadd|fsub|fdiv|icmp|fcmp|yield";

/** One line of code as nodes, coloured lightly. @param {string} line @param {string} pane */
export function coloured(line, pane) {
  const comment = pane in COMMENTS ? COMMENTS[pane] : COMMENTS.default;
  const rule = new RegExp(
    `(?<c>${comment ?? "(?!)"})|(?<s>"(?:[^"\\\\]|\\\\.)*")|(?<v>[%@][\\w.$]+)|(?<n>\\b\\d[\\w.]*)|(?<k>\\b(?:${WORDS})\\b)`, "g");
  const nodes = [];
  let from = 0;
  for (const match of line.matchAll(rule)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? ["x"];
    nodes.push(line.slice(from, match.index), make("span", { class: `wb-${kind}` }, match[0]));
    from = match.index + match[0].length;
  }
  return [...nodes, line.slice(from)];
}

/** A pane's text with line numbers; rows that belong to a line of the cell carry it. @param {Answer} answer */
export function codeView(answer) {
  const box = make("div", { class: "wb-code", role: "region", tabindex: 0, "data-pane": answer.pane,
    "aria-label": `${answer.pane} of ${answer.kernel}` });
  answer.text.replace(/\n+$/, "").split("\n").forEach((line, i) => {
    const number = answer.first_line + i;
    const at = answer.pane === "source" ? number : (answer.lines?.[i] ?? line.match(/@ (\d+)\s*$/)?.[1]);
    box.append(make("div", { class: "wb-row", "data-at": at },
      make("span", { class: "wb-no", "aria-hidden": "true" }, String(number)),
      make("code", {}, ...coloured(line, answer.pane))));
  });
  return box;
}

/** Light the rows of all panes that come from the line under the pointer. @param {HTMLElement} box */
export function linkLines(box) {
  box.addEventListener("pointerover", (event) => {
    const at = /** @type {HTMLElement} */ (event.target).closest?.(".wb-row")?.getAttribute("data-at");
    for (const row of box.querySelectorAll(".wb-row")) {
      row.classList.toggle("wb-lit", at !== undefined && at !== null && row.getAttribute("data-at") === at);
    }
  });
  box.addEventListener("pointerleave", () => {
    for (const row of box.querySelectorAll(".wb-lit")) row.classList.remove("wb-lit");
  });
}
