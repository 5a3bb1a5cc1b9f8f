"""The base class of all widgets: reused by later runs of a cell, and free of leaks when closed.

A page never forgets a module that it imported, and anywidget imports `_esm` again for each widget. So `_esm` is a few
lines that import the real module, from a trait, once for all widgets of its kind. Nor does JupyterLab forget the
models of closed widgets, or the elements of views that were removed; so a cell that runs again reuses the widgets of
its earlier run (`renew`), and a view that is removed clears its contents.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any, ClassVar

import anywidget
import traitlets
from ipywidgets import Layout, widget_serialization
from ipywidgets.widgets.trait_types import InstanceDict

from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.modules import module_text, style_text

# anywidget gives a model two seconds to begin. If the page is busy for longer (a Run All while JupyterLab starts), it
# says "Failed to initialize model", and from then on drops each message to that model: a card says "compiling" for
# ever, a slider waits. So our message waits as those do; if it is dropped, the model takes its messages
# itself, as ipywidgets' own models do, and asks for its state (anywidget 0.11.0, `Runtime.ready`).
LOADER = """
const modules = (globalThis.workbenchModules ??= new Map());
async function keepListening(proxy) {
  const model = await proxy.widget_manager.get_model(proxy.get("_own"));
  model.on("comm_live_update", () => { // the kernel was restarted or ended: nothing here answers any more
    if (model.comm_live === false) proxy.set("stale", "its kernel is gone");
  });
  let kind = Object.getPrototypeOf(model);
  while (!Object.hasOwn(kind, "_handle_comm_msg")) kind = Object.getPrototypeOf(kind);
  const take = Object.getPrototypeOf(kind)._handle_comm_msg;
  model._handle_comm_msg({ content: { data: {} } }).catch(() => {
    if (!take || !model.comm) return;
    model.comm.on_msg((message) => take.call(model, message));
    model.comm.send({ method: "request_state" }, {});
  });
}
export default {
  initialize({ model }) {
    keepListening(model).catch(() => {}); // a host whose models are not ipywidgets'
  },
  async render(context) {
    const text = context.model.get("_module");
    if (!modules.has(text)) {
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      modules.set(text, import(address).finally(() => URL.revokeObjectURL(address)));
    }
    const module = await modules.get(text);
    const leave = await module.default.render(context);
    return () => {
      leave?.();
      context.el.replaceChildren();
    };
  },
};
"""


class Live(anywidget.AnyWidget):
    """The base of widgets: a view that is drawn in the page by the ES module of its kind, in the trait `_module`.

    Attributes:
        kind: the name of its ES module and style.
        layout: a model of its own, which goes when the widget goes; None with a twin: then it lies in a cell's output.
        view: what it shows, as JSON values.
        twin: class of the static output that it hides.
        stale: why running the cell again would show something else; empty if nothing is known.
        again: returns a later view of what it shows; None if there is none.
        rested: called with the latest view when a film or a slider has come to rest, to draw the static output again.
        _own: the id of its model, by which the page finds that.
    """

    _esm = LOADER

    kind: ClassVar[str] = ""
    again: Callable[[], Any] | None = None
    rested: Callable[[Any], None] | None = None
    _own = traitlets.Unicode().tag(sync=True)
    _module = traitlets.Unicode().tag(sync=True)

    layout = InstanceDict(Layout, allow_none=True).tag(sync=True, **widget_serialization)
    view = traitlets.Dict().tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)
    stale = traitlets.Unicode("").tag(sync=True)

    # An attribute, not a keyword of the class: the metaclass of traitlets 5.7, Colab's, takes none.
    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give a class of widgets that states its kind the style of that kind."""
        if "kind" in vars(cls):
            cls._css = style_text(cls.kind)
        super().__init_subclass__(**kwargs)

    @traitlets.default("_module")
    def _module_of_kind(self) -> str:
        """Return the text of the ES module of this kind: the trait's default."""
        return module_text(self.kind)

    def __init__(self, view: Any, twin: str = "", **more: Any) -> None:
        """Create the widget of a view; `twin` is the class of the static output to hide, `more` goes to `take`."""
        self._hearing = threading.Lock()
        own = uuid.uuid4().hex
        super().__init__(model_id=own, _own=own, twin=twin, layout=None if twin else {}, **self.take(view, **more))
        self.on_msg(self._heard)

    def take(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the traits that show a view; a subclass also stores what messages from the page will need."""
        return {"view": as_data(*args, **kwargs)}

    def show(self, view: Any) -> None:
        """Show another view, or the same one after its values changed."""
        self.view = as_data(view)

    def redraw(self) -> Any:
        """Make the view again from current values and show it; return it, or None if nothing has changed."""
        view = self.again() if self.again is not None and not self.closed else None
        if view is not None:
            Live.show(self, view)
        return view

    def on_message(self, content: dict[str, Any]) -> None:
        """Handle a message from the page, one at a time; a subclass overrides this, which does nothing."""

    def renew(self, view: Any, twin: str = "", **more: Any) -> None:
        """Show another view from now on, as a widget that was just created."""
        traits = self.take(view, **more)
        with self.hold_sync():
            for name, value in {"twin": twin, "stale": "", **traits}.items():
                setattr(self, name, value)

    @property
    def closed(self) -> bool:
        """Return whether the widget was closed, here or by its host, so that it can show nothing more."""
        return self.comm is None or getattr(self.comm, "_closed", False)  # marimo closes only the comm

    def close(self) -> None:
        """Close the widget and its layout, here and in the front end."""
        layout = self.layout
        super().close()
        if layout is not None:
            layout.close()

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        """Handle a message of the front end, one at a time: `rest` by `rested`, all others by `on_message`."""
        # ipykernel may call from another thread while a cell runs.
        if isinstance(content, dict):
            with self._hearing:
                if content.get("ask") == "rest" and self.rested is not None:
                    self.rested(self.latest())
                else:
                    self.on_message(content)

    def latest(self) -> Any:
        """Return the view that is shown now, as the value that it was made of; only `Answering` has one.

        Raises:
            NotImplementedError: the widget has no such value.
        """
        raise NotImplementedError


class Answering(Live):
    """The base of widgets whose views are made when the page requests them, one after the other.

    Attributes:
        answered: number of the browser's last message that was answered; it sends the next one then.
        source: what makes the views, and has the latest one as `view`; None if nothing does.
    """

    answered = traitlets.Int(0).tag(sync=True)
    source: Any

    def take(self, view: Any, source: Any = None) -> dict[str, Any]:
        """Store what makes later views; return the traits that show the first one."""
        self.source = source
        return {"view": as_data(view), "answered": 0}

    def answer(self, content: dict[str, Any], view: Any, source: Any) -> None:
        """Show the view that a message requested of `source`, unless the widget shows something else by now."""
        if source is self.source:
            with self.hold_sync():
                self.show(view)
                self.answered = int(content.get("number") or 0)

    def latest(self) -> Any:
        """Return the view of the last run; None if nothing makes views."""
        return self.source.view if self.source is not None else None
