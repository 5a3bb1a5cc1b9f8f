"""The live widgets: anywidget classes, each with one plain ES module under `static/`."""

MODULES = {
    **{kind: f"arrays.{kind}" for kind in ("animation", "array_view", "points")},
    **{kind: f"kernels.{kind}" for kind in ("cache_table", "source_view", "status_card")},
    **{kind: f"programs.{kind}" for kind in ("controls", "grad_view", "graph_view", "threads_view", "timeline")},
    **dict.fromkeys(("profile_view", "stepper", "sweeps_view"), "programs.steps"),
}
"""The module of each kind of widget; a kind is also the name of its ES module."""
