"""`import workbench.compat.warp as wp`: a program written for NVIDIA Warp 1.19 runs with this import changed.

With `python -m workbench.compat.warp program.py`, or after `install()`, it runs with no import changed.

Names in `names.TABLE` are Warp's where ours differ in spelling or meaning; all others are `workbench`'s own, with its
errors and advice. Kernels and funcs made here give Warp's numbers where the language's own would differ
(`builtins/warp.py`), and a warning at each line that cannot. What has no effect here is accepted and mentioned once.
"""

import sys
from importlib import import_module
from typing import Any

import workbench
from workbench.builtins import TABLE as BUILTINS
from workbench.builtins.warp import MEANINGS
from workbench.compat.warp.finder import ELSE, FINDER, FROM_WHEEL, OURS
from workbench.compat.warp.finder import install as install
from workbench.compat.warp.kinds import NUMBERS, apply, number_type
from workbench.compat.warp.launches import of_numbers
from workbench.compat.warp.names import TABLE, from_wheel

apply()
if FINDER not in sys.meta_path:
    sys.meta_path.append(FINDER)  # for submodules; `install` puts it first, for `warp` itself


def __getattr__(name: str) -> Any:
    """Return what a name of Warp means here, and store it in this module, so that it is computed once.

    Raises:
        AttributeError: neither Warp's names nor Workbench's have it.
    """
    if name == "__all__":
        return [n for n in __dir__() if not n.startswith("_")]
    if name in TABLE:
        value = TABLE[name].value
    elif name in OURS:
        value = import_module(f"{__name__}.modules.{name}")
    elif name == "_src" and sys.modules.get("warp") is sys.modules[__name__]:
        value = import_module("warp._src")
    elif name in ELSE:
        root = "warp" if sys.modules.get("warp") is sys.modules[__name__] else __name__
        value = import_module(f"{root}.{name}")
    elif name in NUMBERS:
        value = NUMBERS[name]
    elif name in FROM_WHEEL:
        value = from_wheel(name)
    elif (name, "form") in MEANINGS:
        value = MEANINGS[name, "form"]
    else:
        is_builtin = name in BUILTINS and not BUILTINS[name].hidden
        value = of_numbers(name) if is_builtin else number_type(getattr(workbench, name))
    globals()[name] = value  # read directly the next time
    return value


def __dir__() -> list[str]:
    """Return the sorted names of this module: Workbench's own and Warp's."""
    return sorted({*dir(workbench), *TABLE, *OURS, "install"})
