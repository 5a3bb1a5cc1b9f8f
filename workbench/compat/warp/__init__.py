"""`import workbench.compat.warp as wp`: a program written for NVIDIA Warp 1.19 runs with this import changed.

Names in `names.TABLE` are Warp's where ours differ in spelling or meaning; all others are `workbench`'s own, with its
errors and advice. Kernels and funcs made here give Warp's numbers where the language's own would differ
(`builtins/warp.py`), and a warning at each line that cannot. What has no effect here is accepted and mentioned once.
"""

from typing import Any

import workbench
from workbench.builtins.warp import MEANINGS
from workbench.compat.warp.launches import of_numbers
from workbench.compat.warp.names import TABLE


def __getattr__(name: str) -> Any:
    if name in TABLE:
        found = TABLE[name].value
    elif (name, "form") in MEANINGS:
        found = MEANINGS[name, "form"]
    else:
        found = of_numbers(name) if {(name, "int"), (name, "float")} & {*MEANINGS} else getattr(workbench, name)
    globals()[name] = found  # found directly the next time
    return found


def __dir__() -> list[str]:
    return sorted({*dir(workbench), *TABLE})
