"""What all our widgets are: an anywidget that leaves nothing behind when it is closed."""

from __future__ import annotations

import anywidget


class Live(anywidget.AnyWidget):
    """A widget whose layout, a model of its own that ipywidgets makes with it, goes when it goes."""

    def close(self) -> None:
        """Close it and its layout, here and in the front end."""
        layout = self.layout
        super().close()
        if layout is not None:
            layout.close()
