"""The intermediate form: typed, structured, single-assignment, with a place in the user's text on every operation."""

from workbench.ir.build import Builder
from workbench.ir.values import Block, Captured, Function, Op, Value

__all__ = ["Block", "Builder", "Captured", "Function", "Op", "Value"]
