"""The live widgets: anywidget classes, each with one plain ES module under `static/`."""

MODULES = {
    **dict.fromkeys(("animation", "array_view", "points"), "arrays"),
    **dict.fromkeys(("cache_table", "source_view", "status_card"), "kernels"),
    **dict.fromkeys(("controls", "grad_view", "graph_view", "threads_view", "timeline"), "programs"),
    **dict.fromkeys(("profile_view", "stepper", "sweeps_view"), "programs"),
}
"""The module of each kind of widget; a kind is also the name of its ES module."""
