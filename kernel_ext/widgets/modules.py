"""A widget's ES module and style as one text each.

The modules under `static/` import what they share; a live widget and an exported page can hold one text only, so here
the imported files take the place of their imports. A front end that serves the folder needs none of this.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def imported(name: str) -> tuple[str, ...]:
    """Return the names of the modules that the module `name` needs, each after those that it needs itself."""
    needed: dict[str, None] = {}
    for other in _IMPORT.findall(_read(f"{name}.js")):
        needed |= dict.fromkeys((*imported(other), other))
    return tuple(needed)


@cache
def module_text(name: str) -> str:
    """Return the JavaScript of the module `static/name.js`, with the modules that it needs in place of its imports."""
    own = _IMPORT.sub("", _read(f"{name}.js"))
    return "\n".join([*(_EXPORT.sub("", _IMPORT.sub("", _read(f"{other}.js"))) for other in imported(name)), own])


def script_text(name: str) -> str:
    """Return the JavaScript of a module without `export`, as a script: what it exports are names of the page."""
    return _EXPORT.sub("", module_text(name))


@cache
def style_text(name: str) -> str:
    """Return the CSS of the module `name`, after that of the modules it needs; empty if they have none."""
    return "\n".join(_read(f"{other}.css") for other in (*imported(name), name) if (STATIC / f"{other}.css").is_file())


def _read(file: str) -> str:
    """Return the text of a file in `static/`."""
    return (STATIC / file).read_text(encoding="utf-8")
