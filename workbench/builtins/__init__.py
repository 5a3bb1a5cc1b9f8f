"""The vocabulary of the kernel language: importing this fills the table."""

from workbench.builtins import bits, extrema, forms, maths, operators, rounding, vectors
from workbench.builtins.declare import Builtin, Form
from workbench.builtins.refs import Ref
from workbench.builtins.table import FORMS, TABLE

__all__ = [
    "FORMS", "TABLE", "Builtin", "Form", "Ref", "bits", "extrema", "forms", "maths", "operators", "rounding", "vectors",
]  # fmt: skip
