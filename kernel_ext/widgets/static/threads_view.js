// @ts-check
/**
 * The threads of a launch: the grid with what each thread did, the arrays with who touched which element, and a block step
 * by step: its warps as rows of lanes that go dark or wait at a barrier, and what the moving warp touches.
 *
 * @typedef {import("./launched.js").ThreadsView} View
 * @typedef {import("./grids.js").Field} Field
 * @typedef {import("./parts.js").Model} Model
 * @typedef {{block: number, thread: number}} Thread
 * @typedef {{array: number, element: number}} Element
 */

import { clearBoard, fillSquare, fillSquares, groundOf, onGround, ringSquare, SHADES, squareAt, squareBoard } from "./grids.js";
import { lanesDrawn } from "./lanes.js";
import { lanesOf, launched, product, unravelled } from "./launched.js";
import { coloured } from "./panes.js";
import { listen, make, onWidth, place } from "./parts.js";
import { stepPlayer } from "./player.js";

const OUTCOMES = ["wrote", "only read", "touched no array", "past the end"];
const TALL = 250; // pixels of the grid and of an array before they get smaller squares

/** @param {{model: Model, el: HTMLElement}} context */
function render({ model, el }) {
  const view = () => /** @type {View} */ (model.get("view"));
  let facts = launched(view());
  /** @type {Thread | Element | null} */
  let pointed = null;
  /** Who touched the element that is pointed at. @type {import("./launched.js").Toucher[]} */
  let touchers = [];
  let block = facts.busy;
  /** @type {{warp: number, step: number, phase: number}[]} */
  let order = [];
  /** @type {Map<number, Field>} */
  let fields = new Map();
  /** @type {{canvas: HTMLCanvasElement, field: Field, touched: Uint8Array}[]} */
  let boards = [];

  const title = make("span", { class: "wb-title" });
  const said = make("div", { class: "wb-notes wb-dim" });
  const arrays = make("div", { class: "wb-arrays" });
  const told = make("div", { class: "wb-told wb-mono", role: "status" });
  const stepName = make("span", { class: "wb-title" });
  const code = make("div", { class: "wb-code", tabindex: 0, role: "region", "aria-label": "The kernel's lines" });
  const lanes = make("div", { class: "wb-lanes" });
  const nowTold = make("div", { class: "wb-now wb-mono", role: "status" });
  const grid = squareBoard("Threads: arrow keys go from one to the next, Enter shows its block", {
    at: (x, y) => point(threadAt(x, y)), leave: () => point(null), choose: () => choose(),
    move: (columns, rows) => {
      const from = pointed && "thread" in pointed ? pointed : { block, thread: 0 };
      const to = from.thread + columns + 32 * rows + facts.each * (from.block - view().first);
      const all = facts.each * facts.blocks.size;
      const at = Math.max(0, Math.min(all - 1, to));
      point({ block: view().first + Math.floor(at / facts.each), thread: at % facts.each });
    },
  });
  const warps = squareBoard("The block's warps, a row each: arrow keys and Enter choose one", {
    at: (x, y) => { pointedWarp = Math.max(0, Math.min(rowsOfBlock() - 1, Math.floor(y / laneSide()))); }, leave: () => {},
    choose: () => goToWarp(pointedWarp), move: (_, rows) => goToWarp(Math.max(0, Math.min(rowsOfBlock() - 1, (order[now()]?.warp ?? 0) + rows))),
  });
  let pointedWarp = 0;
  const first = /** @type {HTMLInputElement} */ (make("input", { type: "number", min: 0, "aria-label": "First block that is followed" }));
  const elsewhere = make("label", {}, "from block ", first);
  const key = make("div", { class: "wb-key" });
  const player = stepPlayer("the block", { now: () => now(), last: () => last(), go: (step) => go(step) });
  const root = make("div", { class: "wb-box wb-threads", "data-testid": "wb-threads", role: "group" },
    make("div", { class: "wb-head" }, title, elsewhere), said,
    make("div", { class: "wb-sides" }, make("div", { class: "wb-grid-side" }, make("div", { class: "wb-board" }, grid), key), arrays), told,
    make("div", { class: "wb-block" }, make("div", { class: "wb-head" }, stepName, player.tools), nowTold,
      make("div", { class: "wb-sides" }, code, make("div", { class: "wb-moving" }, make("div", { class: "wb-board" }, warps), lanes))));
  place(model, el, root);

  const last = () => Math.max(0, order.length - 1);
  const now = () => {
    const chosen = Number(model.get("selected") ?? -1);
    if (chosen >= 0) return Math.min(last(), chosen);
    const [of, thread] = wanted();
    const its = order.findLastIndex(({ warp, step }) => {
      const [, mask, , accesses] = warpsOf()[warp].steps[step];
      return block === of && warp === Math.floor(thread / 32) && ((mask >>> thread % 32) & 1) && accesses.length;
    });
    if (its >= 0) return its;
    return Math.max(0, order.findIndex(({ warp, step }) => warpsOf()[warp].steps[step][3].length));
  };
  /** The thread to open at: its block and its number within it. @returns {number[]} */
  const wanted = () => model.get("at") ?? [];
  const warpsOf = () => facts.blocks.get(block) ?? [];
  const rowsOfBlock = () => Math.max(1, warpsOf().length);
  /** @param {number} step */
  const go = (step) => {
    model.set("selected", Math.max(0, Math.min(last(), step)));
    model.save_changes();
    redraw();
  };
  /** To the first access of a warp. @param {number} warp */
  const goToWarp = (warp) => {
    const mine = order.map((at, k) => ({ ...at, k })).filter((at) => at.warp === warp);
    const found = mine.find(({ step }) => warpsOf()[warp].steps[step][3].length) ?? mine[0];
    if (found) go(found.k);
  };
  /** @param {number} number */
  const showBlock = (number) => {
    block = number;
    order = facts.order(block);
  };
  const choose = () => {
    if (!pointed || !("thread" in pointed) || !facts.blocks.has(pointed.block)) return;
    const { thread } = pointed;
    showBlock(pointed.block);
    goToWarp(Math.floor(thread / 32));
  };
  /** @param {number} x @param {number} y @returns {Thread | null} */
  const threadAt = (x, y) => {
    for (const [number, field] of fields) {
      const k = squareAt(field, x, y);
      if (k >= 0) return { block: number, thread: k };
    }
    return null;
  };
  /** @param {Thread | Element | null} to */
  const point = (to) => {
    if (JSON.stringify(to) === JSON.stringify(pointed)) return;
    pointed = to;
    touchers = to && "array" in to ? facts.touchers(to.array, to.element) : [];
    drawPointed();
  };

  /** The name of an element. @param {number} array @param {number} element */
  const elementName = (array, element) => `${view().arrays[array][0]}[${unravelled(element, view().arrays[array][1]).join(", ")}]`;
  /** Some of a list, in words. @param {string[]} all */
  const some = (all) => (all.length > 6 ? `${all.slice(0, 6).join("; ")}; and ${all.length - 6} more` : all.join("; "));
  const tell = () => {
    if (pointed && "thread" in pointed) {
      const warp = facts.blocks.get(pointed.block)?.[Math.floor(pointed.thread / 32)];
      const lane = pointed.thread % 32;
      const outcome = OUTCOMES[Number(warp?.kinds[lane] ?? 3)];
      const name = facts.name(pointed.block, pointed.thread);
      if (outcome === "past the end") return `block ${pointed.block}, lane ${lane} of warp ${Math.floor(pointed.thread / 32)}: past the end of the launch`;
      const found = facts.touchedBy(pointed.block, pointed.thread).map((t) => `line ${t.line} ${t.kind === "atomic" ? "updates" : t.kind === "write" ? "writes" : "reads"} ${elementName(t.array, t.element)}`);
      const dark = ((warp?.dark ?? 0) >>> lane) & 1 ? " · dark in part of its warp's steps" : "";
      return `${name} (${view().by_thread ? `block ${pointed.block}, ` : ""}warp ${Math.floor(pointed.thread / 32)}, lane ${lane}): ${some([...new Set(found)]) || outcome}${dark}`;
    }
    if (pointed) {
      const { array, element } = pointed;
      const by = touchers.map((t) => `${t.kind === "read" ? "read" : t.kind === "write" ? "written" : "updated"} by ${facts.name(t.block, t.thread)} at line ${t.line}`);
      const ordered = [...new Set(by.filter((text) => !text.startsWith("read"))), ...new Set(by.filter((text) => text.startsWith("read")))];
      return `${elementName(array, element)}: ${some(ordered) || "touched by no thread that was followed"}`;
    }
    return "Point at a thread or an element, or use the arrow keys.";
  };

  const ink = () => getComputedStyle(root).color;
  /** A faint square. @param {number} share */
  const faint = (share) => ink().replace(/^rgba?\(([^,]+),([^,]+),([^,)]+).*$/, `rgba($1,$2,$3,${share})`);
  /** What was drawn once, until the width or the theme is another. @type {Map<string, {key: string, made: ReturnType<typeof groundOf>}>} */
  const grounds = new Map();
  /** @param {string} name @param {number} width @param {(width: number) => ReturnType<typeof groundOf>} draw */
  const ground = (name, width, draw) => {
    const wanted = `${width} ${ink()} ${window.devicePixelRatio}`;
    let found = grounds.get(name);
    if (found?.key !== wanted) grounds.set(name, (found = { key: wanted, made: draw(width) }));
    return found.made;
  };
  /** The grid without what changes. @param {number} width */
  const groundOfGrid = (width) => {
    const numbers = [...facts.blocks.keys()];
    const rows = Math.ceil(facts.each / 32);
    const side = [12, 10, 8, 6, 5, 4, 3, 2].find((fit) => {
      const across = Math.max(1, Math.floor((width + 10) / (32 * fit + 10)));
      return 32 * fit <= width && Math.ceil(numbers.length / across) * (rows * fit + 20) <= TALL;
    }) ?? 2;
    const [wide, high] = [32 * side, rows * side];
    const across = Math.max(1, Math.floor((width + 10) / (wide + 10)));
    const shades = [SHADES.wrote, SHADES.read, faint(0.22), faint(0.05)];
    fields = new Map(numbers.map((number, k) => [number,
      { x: (k % across) * (wide + 10) + 1, y: Math.floor(k / across) * (high + 20) + 15, side, columns: 32, count: facts.each }]));
    return groundOf(Math.min(across, numbers.length) * (wide + 10), Math.ceil(numbers.length / across) * (high + 20), (paint) => {
      paint.font = "11px system-ui, sans-serif";
      for (const [number, field] of fields) {
        const held = facts.blocks.get(number) ?? [];
        paint.fillStyle = ink();
        paint.fillText(wide < 90 ? String(number) : `block ${number}`, field.x, field.y - 4);
        fillSquares(paint, field, (thread) => {
          const warp = held[Math.floor(thread / 32)], kind = warp?.kinds[thread % 32] ?? "3";
          return { fill: shades[Number(kind)], cut: Boolean(((warp?.dark ?? 0) >>> thread % 32) & 1) && kind !== "3" };
        });
      }
    });
  };
  const drawGrid = () => {
    const width = Math.max(150, grid.parentElement?.clientWidth || 420) - 2;
    const paint = onGround(grid, ground("grid", width, groundOfGrid));
    const own = fields.get(block);
    if (own && fields.size > 1) {
      paint.lineWidth = 1;
      paint.strokeStyle = ink();
      paint.strokeRect(own.x - 0.5, own.y - 1.5, 32 * own.side, Math.ceil(facts.each / 32) * own.side + 2);
    }
    for (const { block: of, thread, kind } of touchers) {
      const field = fields.get(of);
      if (field) ringSquare(paint, field, thread, kind === "read" ? SHADES.reader : SHADES.writer);
    }
    const field = pointed && "thread" in pointed && fields.get(pointed.block);
    if (pointed && "thread" in pointed && field) ringSquare(paint, field, pointed.thread, ink());
  };
  /** What the moving warp touches at this step: by array, the elements. */
  const touchedNow = () => {
    const at = order[now()], found = new Map();
    for (const access of (at && warpsOf()[at.warp].steps[at.step][3]) ?? []) {
      if (access[1] < 0) continue;
      const here = found.get(access[1]) ?? found.set(access[1], new Set()).get(access[1]);
      for (const place of lanesOf(access)) if (place >= 0) here.add(facts.elementAt(access[1], place));
    }
    return found;
  };
  /** An array without what changes. @param {number} array @param {number} width */
  const groundOfArray = (array, width) => {
    const { touched } = boards[array], shape = view().arrays[array][1], count = product(shape);
    const columns = shape.length > 1 ? shape[shape.length - 1] : Math.min(count, 32 * Math.max(1, Math.ceil(Math.sqrt(count) / 32)));
    const rows = Math.min(600, Math.ceil(count / Math.max(1, columns)));
    const side = Math.max(1, Math.min(12, Math.floor(width / columns), Math.floor(TALL / rows)));
    const field = { x: 1, y: 1, side, columns, count: Math.min(count, rows * columns) };
    boards[array].field = field;
    const none = faint(0.14);
    return groundOf(columns * side + 2, rows * side + 2, (paint) => fillSquares(paint, field, (k) => ({
      fill: touched[k] & 4 ? SHADES.updated : touched[k] & 2 ? SHADES.wrote : touched[k] & 1 ? SHADES.read : none })));
  };
  const drawArrays = () => {
    const present = touchedNow();
    const width = Math.max(150, arrays.clientWidth || 420) - 2;
    const mine = pointed && "thread" in pointed ? facts.touchedBy(pointed.block, pointed.thread) : [];
    boards.forEach(({ canvas }, array) => {
      const paint = onGround(canvas, ground(`array ${array}`, width, () => groundOfArray(array, width)));
      const { field } = boards[array];
      for (const element of present.get(array) ?? []) if (element < field.count) fillSquare(paint, field, element, SHADES.now);
      for (const t of mine) if (t.array === array) ringSquare(paint, field, t.element, t.kind === "read" ? SHADES.reader : SHADES.writer);
      if (pointed && "array" in pointed && pointed.array === array) ringSquare(paint, field, pointed.element, ink());
    });
  };
  const laneSide = () => Math.max(5, Math.min(16, Math.floor(320 / rowsOfBlock()), Math.floor((warps.parentElement?.clientWidth || 420) / 33)));
  const drawBlock = () => {
    const at = order[now()], side = laneSide(), held = warpsOf();
    const paint = clearBoard(warps, 32 * side + 2, rowsOfBlock() * side + 2);
    const done = held.map(() => -1);
    for (let k = 0; k <= now() && k < order.length; k += 1) done[order[k].warp] = k;
    const [off, faded] = [faint(0.12), faint(0.3)];
    held.forEach((warp, k) => {
      const moves = at?.warp === k;
      const before = done[k] < 0 ? null : order[done[k]];
      const step = before && warp.steps[before.step];
      const waits = Boolean(step && !moves && step[2] && before && at && at.phase === before.phase);
      const over = Boolean(before && before.step === warp.steps.length - 1);
      fillSquares(paint, { x: 1, y: 1 + side * k, side, columns: 32, count: 32 }, (lane) => {
        const active = Boolean(((step?.[1] ?? 0) >>> lane) & 1);
        if (warp.kinds[lane] === "3" && !active) return { fill: faint(0.05) };
        if (moves) return { fill: active ? SHADES.now : off };
        return { fill: waits ? SHADES.waits : over ? SHADES.read : before ? faded : off };
      });
    });
    const waiting = held.filter((warp, k) => at && k !== at.warp && done[k] >= 0 && warp.steps[order[done[k]].step][2] && order[done[k]].phase === at.phase).length;
    return waiting;
  };
  const drawStep = () => {
    const at = order[now()];
    stepName.textContent = `Block ${block}, step by step`;
    const waiting = drawBlock();
    if (!at) {
      nowTold.textContent = "The block executed nothing.";
      lanes.replaceChildren();
      return;
    }
    const [row, mask, barrier, accesses] = warpsOf()[at.warp].steps[at.step];
    const [number, text] = view().lines[row];
    const active = [...Array(32).keys()].filter((lane) => (mask >>> lane) & 1).length;
    nowTold.textContent = [`step ${now() + 1} of ${order.length}`, `warp ${at.warp}`, `line ${number}: ${text.trim()}`, `${active} of 32 lanes active`,
      barrier ? "comes to the barrier" : "", waiting ? `${waiting} ${waiting === 1 ? "warp waits" : "warps wait"} at the barrier` : ""].filter(Boolean).join(" · ");
    player.tell(nowTold.textContent);
    const shown = accesses.length ? accesses.slice(0, 4) : [null];
    lanes.replaceChildren(...shown.map((access) => {
      const phrase = access && view().phrases[access[0]];
      const drawn = phrase ? { ...phrase, at: lanesOf(access) } : null;
      return make("figure", {}, make("figcaption", phrase ? {} : { hidden: "" }, phrase?.said ?? ""), lanesDrawn(mask, drawn));
    }), ...(accesses.length > 4 ? [make("div", { class: "wb-dim" }, `and ${accesses.length - 4} more accesses at this line`)] : []));
    for (const [k, line] of [...code.children].entries()) {
      line.classList.toggle("wb-here", k === row);
      if (k === row) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    }
    const here = /** @type {HTMLElement | null} */ (code.children[row]);
    if (here) code.scrollTop = Math.max(0, here.offsetTop - code.clientHeight / 2);
  };
  const drawPointed = () => {
    told.textContent = tell();
    drawGrid();
    drawArrays();
  };
  const redraw = () => {
    drawPointed();
    drawStep();
  };
  /** A word of the key. @param {string} colour @param {string} text */
  const word = (colour, text) => {
    const mark = make("i", {});
    mark.style.background = colour;
    return make("span", {}, mark, ` ${text}`);
  };
  const begin = () => {
    player.stop();
    grounds.clear();
    facts = launched(view());
    [pointed, touchers] = [null, []];
    title.textContent = view().title;
    root.setAttribute("aria-label", `Threads of ${view().title}`);
    said.replaceChildren(make("div", {}, view().said), ...view().notes.map((note) => make("div", {}, note)));
    elsewhere.toggleAttribute("hidden", !model.send || facts.blocks.size === view().total);
    [first.max, first.value] = [String(view().total - 1), String(view().first)];
    key.replaceChildren(word(SHADES.wrote, "wrote"), word(SHADES.read, "only read"), word("rgba(128,128,128,.45)", "touched no array"),
      ...(view().arrays.some((_, k) => facts.touched(k).some((bits) => bits & 4)) ? [word(SHADES.updated, "updated by atomics")] : []),
      word(SHADES.now, "now"), word(SHADES.waits, "waits at a barrier"), "a corner is missing: dark in some steps of its warp");
    boards = view().arrays.map(([name, shape], array) => {
      /** @type {{canvas: HTMLCanvasElement, field: Field, touched: Uint8Array}} */
      const board = { touched: facts.touched(array), field: { x: 1, y: 1, side: 1, columns: 1, count: 0 },
        canvas: squareBoard(`Elements of ${name}: arrow keys go from one to the next`, {
          at: (x, y) => {
            const element = squareAt(board.field, x, y);
            point(element < 0 ? null : { array, element });
          },
          leave: () => point(null), choose: () => {},
          move: (columns, rows) => {
            const from = pointed && "array" in pointed && pointed.array === array ? pointed.element : 0;
            point({ array, element: Math.max(0, Math.min(board.field.count - 1, from + columns + rows * board.field.columns)) });
          },
        }) };
      return board;
    });
    arrays.replaceChildren(...boards.map((board, array) => {
      const [name, shape] = view().arrays[array];
      return make("figure", {}, make("figcaption", { class: "wb-mono" }, `${name} · ${shape.join(" × ")}`), make("div", { class: "wb-board" }, board.canvas));
    }));
    const digits = String(Math.max(0, ...view().lines.map(([number]) => number))).length;
    code.replaceChildren(...view().lines.map(([number, text, where]) => make("div", { class: "wb-row", title: where || null },
      make("span", { class: "wb-no", "aria-hidden": "true" }, String(number).padStart(digits)), make("code", {}, ...coloured(text, "source")))));
    const [of, thread] = wanted();
    const there = facts.blocks.has(of);
    if (there) pointed = { block: of, thread };
    showBlock(there ? of : facts.busy);
    redraw();
  };
  first.addEventListener("change", () => model.send?.({ ask: "first", block: Number(first.value) }));
  begin();
  const still = onWidth(root, redraw);
  const deaf = listen(model, { "change:view": begin, "change:selected": redraw });
  return () => {
    player.stop();
    still();
    deaf();
  };
}

export default { render };
