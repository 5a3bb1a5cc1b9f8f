"""What LLVM can do for several threads at once."""

from __future__ import annotations

from workbench.backends.cpu.emit.elementwise import native
from workbench.backends.cpu.maths.approximations import FORMULAS
from workbench.backends.cpu.maths.vecmath import FUNCTIONS, Maths
from workbench.builtins import TABLE
from workbench.ir.ops import OPERATIONS
from workbench.ir.values import Block, Function, Op, walk
from workbench.passes.analysis.cost import constants
from workbench.passes.expand import expand
from workbench.passes.loops.divisors import DIVISIONS, divides
from workbench.types import ArrayType, element, is_integer

ONE_BY_ONE = frozenset({"trunc_div", "trunc_rem", "fmod"})


def is_wide(block: Block, maths: Maths) -> bool:
    """Whether all in a block is: divisions of integers are not, nor functions of the C library, nor 16-bit floats."""
    known = constants(block)
    for op in walk(block):
        values = (*op.operands, *op.results)
        if any(element(v.type).is_half for v in values if not isinstance(v.type, ArrayType)):
            return False
        if op.name in DIVISIONS and is_integer(op.result.type) and (op.operands[1] in known or divides(op)):
            continue
        if op.name in OPERATIONS or op.blocks:
            continue
        if any(not _has_vectors(o.name, maths) for o in expand(_alone(op), native).body.ops):
            return False
    return True


def _alone(op: Op) -> Function:
    return Function("alone", (), Block((), (op,)))


def _has_vectors(name: str, maths: Maths) -> bool:
    if name not in TABLE:
        return True
    if name in FUNCTIONS and name != "sqrt":
        return name in FORMULAS and maths.formulas
    return name not in ONE_BY_ONE
