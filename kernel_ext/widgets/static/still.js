// @ts-check
/**
 * A model without a kernel, for hosts that only have views: an exported page, a notebook opened later.
 * It holds traits and tells their listeners; it has nothing to send with, but where the host has the texts that a
 * widget asks for.
 *
 * @typedef {import("./panes.js").Answer} Answer
 */

/** @param {Record<string, any>} traits @param {Answer[]} [texts] */
export function stillModel(traits, texts = []) {
  /** @type {Record<string, Function[]>} */
  const ears = {};
  /** @param {{kernel: string, pane: string}} asked */
  const answer = (asked) => {
    const text = texts.find(({ kernel, pane }) => kernel === asked.kernel && pane === asked.pane)
      ?? { ...asked, text: "not kept in this page", first_line: 1 };
    for (const ear of ears["msg:custom"] ?? []) ear(text);
  };
  return {
    ...(texts.length ? { send: (/** @type {any} */ asked) => queueMicrotask(() => answer(asked)) } : {}),
    get: (/** @type {string} */ name) => traits[name],
    set(/** @type {string} */ name, /** @type {any} */ value) {
      traits[name] = value;
      for (const ear of ears[`change:${name}`] ?? []) ear();
    },
    save_changes() {},
    on(/** @type {string} */ event, /** @type {Function} */ ear) {
      (ears[event] ??= []).push(ear);
    },
    off(/** @type {string} */ event, /** @type {Function} */ ear) {
      ears[event] = (ears[event] ?? []).filter((other) => other !== ear);
    },
  };
}

/** The traits of a view of the widget `name`. @param {string} name @param {any} view */
export function traitsOf(name, view) {
  return { view, selected: name === "stepper" || name === "source_view" ? 0 : -1 };
}
