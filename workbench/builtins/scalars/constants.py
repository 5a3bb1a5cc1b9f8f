"""Numbers that have names: `wb.pi`, `wb.inf`.

The names are those of Python's `math`, and those that kernels elsewhere use for the same numbers (capitals, `HALF_PI`).
In a kernel each is a literal: it takes the type of what it meets, with all its digits.
"""

from __future__ import annotations

import math

CONSTANTS: dict[str, float] = {
    "pi": math.pi, "half_pi": math.pi / 2, "tau": math.tau, "e": math.e, "phi": (1 + math.sqrt(5)) / 2,
    "inf": math.inf, "nan": math.nan, "ln2": math.log(2), "ln10": math.log(10), "log2e": 1 / math.log(2),
    "log10e": 1 / math.log(10),
}  # fmt: skip
CONSTANTS.update({name.upper(): value for name, value in CONSTANTS.items()})
BARE = ("pi", "tau", "inf", "nan")
"""Constants that a `%%kernel` cell sees without an import; names of one letter are left to the user."""
