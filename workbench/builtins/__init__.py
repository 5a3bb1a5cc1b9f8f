"""The vocabulary of the kernel language: importing this fills the table."""

from workbench.builtins import (
    atomics,
    bits,
    decompositions,
    extrema,
    forms,
    inverse,
    maths,
    matrices,
    noises,
    operators,
    positions,
    quaternions,
    randoms,
    rounding,
    search,
    tiles,
    transforms,
    vectors,
    views,
)
from workbench.builtins.declare import Builtin, Form
from workbench.builtins.refs import Ref
from workbench.builtins.table import FORMS, TABLE

__all__ = [
    "FORMS", "TABLE", "Builtin", "Form", "Ref", "atomics", "bits", "decompositions", "extrema", "forms", "inverse",
    "maths", "matrices", "noises", "operators", "positions", "quaternions", "randoms", "rounding", "search",
    "tiles", "transforms", "vectors", "views",
]  # fmt: skip
