"""The live widgets: one anywidget class a file, each with one plain ES module under `static/`."""
