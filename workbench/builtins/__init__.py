"""The vocabulary of the kernel language: importing this fills the table.

A new builtin is one declaration in the fitting file of `scalars/` or `vectors/`: `@builtin` (type rule, reference,
spellings, adjoint), or `@written` for what is a few lines of the kernel language. A new file is imported here.
"""

from workbench.builtins import atomics, tiles, views
from workbench.builtins.declaration import forms
from workbench.builtins.declaration.declare import FORMS, TABLE, Builtin, Form
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.scalars import (
    bits,
    extrema,
    fused,
    inverse,
    maths,
    noises,
    operators,
    poissons,
    randoms,
    rounding,
    search,
)
from workbench.builtins.vectors import decompositions, dot_and_length, matrices, positions, quaternions, transforms

__all__ = [
    "FORMS", "TABLE", "Builtin", "Form", "Ref", "atomics", "bits", "decompositions", "dot_and_length", "extrema",
    "forms", "fused", "inverse", "maths", "matrices", "noises", "operators", "poissons", "positions", "quaternions",
    "randoms", "rounding", "search", "tiles", "transforms", "views",
]  # fmt: skip
