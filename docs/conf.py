"""How Sphinx reads the staged sources; `build.py` stages them. Nothing in the pages is fetched from elsewhere."""

project = "Workbench"
author = "The Workbench authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["pictures"]
html_theme = "furo"
html_title = "Workbench"
html_show_sourcelink = False
html_extra_path = ["extra"]  # the pages that compute
html_copy_source = False
# Notebooks are shown with the outputs they were committed with.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True
# Cell magics are no Python that a lexer knows, and tracebacks are no Python at all.
suppress_warnings = ["misc.highlighting_failure", "mystnb.mime_priority", "mystnb.unknown_mime_type", "ref.python"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
default_role = "literal"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True


def mark_examples(app, what, name, obj, options, lines: list[str]) -> None:
    """Indented programs in a docstring's prose become literal blocks, as they read; sections stay Napoleon's."""
    marked: list[str] = []
    section = False
    for line in lines:
        if line and not line.startswith(" "):
            section = line.endswith(":") and line[:-1] in ("Args", "Attributes", "Raises", "Returns", "Yields")
        starts = line.startswith("    ") and bool(marked) and not marked[-1] and not section
        if starts and not previous_words(marked).startswith(" ") and not previous_words(marked).endswith("::"):
            marked += ["::", ""]
        marked.append(line)
    lines[:] = marked


def previous_words(lines: list[str]) -> str:
    """The last line that is not empty."""
    return next((line for line in reversed(lines) if line.strip()), "")


def setup(app) -> None:
    """Sphinx calls this. Before Napoleon, which reads the same lines."""
    app.connect("autodoc-process-docstring", mark_examples, priority=400)
