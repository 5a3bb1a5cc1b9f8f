"""The live widgets: one anywidget class per file, each with one plain ES module under `static/`."""

ROOMS = {
    **dict.fromkeys(("animation", "array_view", "points"), "arrays"),
    **dict.fromkeys(("cache_table", "source_view", "status_card"), "kernels"),
    **dict.fromkeys(("controls", "grad_view", "graph_view", "profile_view", "stepper", "timeline"), "programs"),
}
"""The sub-package of each kind of widget; a kind is also the name of its file there and of its ES module."""
