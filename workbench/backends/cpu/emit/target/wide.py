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
from workbench.passes.loops.rows import Wide
from workbench.types import ArrayType, element, is_integer

ONE_BY_ONE = frozenset({"trunc_div", "trunc_rem", "fmod"})
LONG = frozenset({"mul", "floordiv", "mod", "rshift"})
"""What has no instruction for vectors of 64-bit integers before AVX-512."""
NARROW = 128
"""Bits of registers of which there are too few for groups of several rows."""
MASKED = 256
"""Bits of the vectors of machines that can read a part of one."""
FULL = 512
"""Bits of a register from which such code, and gathers, paid where it was measured."""


def side_by_side(maths: Maths) -> Wide:
    """What a target with these maths functions can do."""
    return Wide(lambda block: _is_wide(block, maths), maths.bits >= FULL, maths.bits > NARROW, maths.bits >= MASKED)


def _is_wide(block: Block, maths: Maths) -> bool:
    """Not divisions of 64-bit integers, the C library's functions, or 16-bit floats, which LLVM does one by one."""
    known = constants(block)
    for op in walk(block):
        values = (*op.operands, *op.results)
        if any(element(v.type).is_half for v in values if not isinstance(v.type, ArrayType)):
            return False
        if op.name in OPERATIONS:
            continue
        if is_integer(op.result.type):
            if op.name in LONG and element(op.result.type).bits == 64 and maths.bits < FULL:
                return False
            if op.name in DIVISIONS and (op.operands[1] in known or divides(op)):
                continue
        if not all(_has_vectors(o.name, maths) for o in _as_emitted(op)):
            return False
    return True


def _as_emitted(op: Op) -> tuple[Op, ...]:
    if native(TABLE[op.name]):
        return (op,)
    return expand(Function("alone", (), Block((), (op,))), native).body.ops


def _has_vectors(name: str, maths: Maths) -> bool:
    if name in FUNCTIONS:
        return name in FORMULAS and maths.formulas
    return name not in ONE_BY_ONE
