"""What all our widgets are: an anywidget that leaves nothing behind when it is closed.

A page never forgets a module that it imported, and anywidget imports `_esm` anew for each widget. So `_esm` is a few
lines that import the real module, from a trait, once for all widgets of its kind: a cell may be run again all day.
"""

from __future__ import annotations

import anywidget

LOADER = """
const modules = (globalThis.workbenchModules ??= new Map());
export default {
  async render(context) {
    const text = context.model.get("_module");
    if (!modules.has(text)) {
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      modules.set(text, import(address).finally(() => URL.revokeObjectURL(address)));
    }
    const module = await modules.get(text);
    return module.default.render(context);
  },
};
"""


class Live(anywidget.AnyWidget):
    """A widget whose layout, a model of its own that ipywidgets makes with it, goes when it goes.

    A kind of widget has its module's text in a trait `_module`, with a `render` as anywidget's modules have.
    """

    _esm = LOADER

    def close(self) -> None:
        """Close it and its layout, here and in the front end."""
        layout = self.layout
        super().close()
        if layout is not None:
            layout.close()
