// @ts-check
/**
 * A model without a kernel, for hosts that only have views: an exported page, a notebook opened later.
 * It holds traits and tells their listeners; it has nothing to send with.
 */

/** @param {Record<string, any>} traits */
export function stillModel(traits) {
  /** @type {Record<string, Function[]>} */
  const ears = {};
  return {
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
