"""Which arrays a kernel reads before it has written them: the thread itself, at the same index, on every path.

XLA's outputs are undefined until they are written, so the order decides what a kernel may do with one. What another
thread wrote does not count: threads have no order.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from workbench.errors import LaunchError
from workbench.ir.attributes import MESSAGE, Attributes
from workbench.ir.ops import EFFECTS, READS, STRUCTURED
from workbench.ir.values import Block, Function, Op, Value, written_arrays
from workbench.types import ArrayType

Element = tuple[str, tuple[Hashable, ...]]


def check_access(
    function: Function, inputs: Collection[str], in_out: Collection[str], outputs: Collection[str],
    init: Collection[str],
) -> None:  # fmt: skip
    """Refuse what XLA's buffers do not allow.

    Args:
        function: the kernel's IR.
        inputs, outputs: names of parameters.
        in_out: inputs that come out.
        init: outputs that are given a value first.

    Raises:
        LaunchError: the kernel writes to an input, or reads what an output held.
    """
    name = function.name
    for parameter in sorted(written_arrays(function) & set(inputs) - set(in_out)):
        raise LaunchError(
            f"{name} writes to {parameter}, which is an input, and JAX's arrays do not change.",
            advice=f'Pass in_out_argnames=["{parameter}"]; it then is a result too and counts in num_outputs.',
            function=name,
            parameter=parameter,
        )
    for parameter in sorted(read_before_written(function) & set(outputs) - set(init)):
        raise LaunchError(
            f"{name} reads or adds to its output {parameter}, which XLA passes uninitialised.",
            advice=f'Pass init={{"{parameter}": "zeros"}} (or a number), or pass it in: '
            f'in_out_argnames=["{parameter}"].',
            function=name,
            parameter=parameter,
        )


def read_before_written(function: Function) -> frozenset[str]:
    """Names of the array parameters of which an element may be read, or added to, before this thread has stored it."""
    walk = _Walk()
    walk.block(function.body, frozenset())
    return frozenset(walk.early)


class _Walk:
    """Follows the order of a thread; equal pure expressions are one index."""

    def __init__(self) -> None:
        self.early: set[str] = set()
        self._forms: dict[Value, Hashable] = {}

    def block(self, block: Block, written: frozenset[Element]) -> frozenset[Element]:
        """What is written for certain after the block; notes what is read before."""
        for op in block.ops:
            written = self._op(op, written)
        return written

    def _op(self, op: Op, written: frozenset[Element]) -> frozenset[Element]:
        if op.name in STRUCTURED or op.name == "tile_map":
            after = [self.block(inner, written) for inner in op.blocks]
            # Written for certain only if both sides do it; a loop may have no turn.
            return frozenset.intersection(*after) if op.name == "if" and after else written
        if op.name in READS or op.name == "store":
            count = op.operands[0].type.ndim if isinstance(op.operands[0].type, ArrayType) else 0
            element = (op.operands[0].name, tuple(map(self._form, op.operands[1 : 1 + count])))
            if op.name == "store":
                return written | {element}
            if element not in written:
                self.early.add(op.operands[0].name)
        # Equal expressions of equal operands are one index: `x[i + 1]` read after `x[i + 1]` was stored.
        elif op.name not in EFFECTS and len(op.results) == 1:
            self._forms[op.result] = (op.name, _facts(op.attrs), *map(self._form, op.operands))
        return written

    def _form(self, value: Value) -> Hashable:
        return self._forms.get(value, value)


def _facts(attrs: Attributes) -> str:
    return repr(sorted((k, v) for k, v in attrs.items() if k != MESSAGE))
