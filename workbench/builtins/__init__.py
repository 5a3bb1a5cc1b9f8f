"""The vocabulary of the kernel language: importing this fills the table."""

from workbench.builtins import atomics, tiles, views
from workbench.builtins.declaration import forms
from workbench.builtins.declaration.declare import FORMS, TABLE, Builtin, Form
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.scalars import bits, extrema, inverse, maths, noises, operators, randoms, rounding, search
from workbench.builtins.vectors import decompositions, matrices, positions, quaternions, transforms, vectors

__all__ = [
    "FORMS", "TABLE", "Builtin", "Form", "Ref", "atomics", "bits", "decompositions", "extrema", "forms", "inverse",
    "maths", "matrices", "noises", "operators", "positions", "quaternions", "randoms", "rounding", "search",
    "tiles", "transforms", "vectors", "views",
]  # fmt: skip
