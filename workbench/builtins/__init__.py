"""The vocabulary of the kernel language: importing this fills the table.

A new builtin is one declaration in the fitting file of `scalars/` or `vectors/`: `@builtin` (type rule, reference,
spellings, adjoint), or `@written` for what is a few lines of the kernel language. A new file is imported here.
"""

from workbench.builtins import atomics, tile_algorithms, tiles, views
from workbench.builtins.declaration import forms
from workbench.builtins.declaration.declare import FORMS, TABLE, Builtin, Form
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.geometry import meshes, points, trees, triangles
from workbench.builtins.scalars import bits, extrema, maths, noises, operators, randoms, rounding, search
from workbench.builtins.vectors import (
    complex_numbers,
    decompositions,
    dot_and_length,
    hash_grids,
    matrices,
    positions,
    rotations,
)

__all__ = [
    "FORMS",
    "TABLE",
    "Builtin",
    "Form",
    "Ref",
    "atomics",
    "bits",
    "complex_numbers",
    "decompositions",
    "dot_and_length",
    "extrema",
    "forms",
    "hash_grids",
    "maths",
    "matrices",
    "meshes",
    "noises",
    "operators",
    "points",
    "positions",
    "randoms",
    "rotations",
    "rounding",
    "search",
    "tile_algorithms",
    "tiles",
    "trees",
    "triangles",
    "views",
]  # fmt: skip
