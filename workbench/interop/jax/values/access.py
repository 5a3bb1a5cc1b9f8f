"""Arrays that a kernel reads before it has written them: the thread itself, at the same index, on every path.

XLA's outputs are undefined until they are written, so the order decides what a kernel may do with one. What another
thread wrote does not count: threads have no order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workbench.errors import LaunchError
from workbench.ir.analysis import Analysis
from workbench.ir.ops import READS, STRUCTURED
from workbench.ir.values import Block, Function, Value, indices_of, written_arrays

Element = tuple[str, tuple[Value, ...]]


def check_access(
    function: Function,
    inputs: Collection[str],
    in_out: Collection[str],
    outputs: Collection[str],
    init: Collection[str],
) -> None:
    """Check that a kernel does with its arrays what XLA's buffers allow.

    Args:
        function: the kernel's IR.
        inputs, outputs: names of parameters.
        in_out: inputs that come out.
        init: outputs that have an initial value.

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
    """Return the array parameters of which an element may be read, or added to, before this thread has stored it."""
    early: set[str] = set()
    _follow(function.body, frozenset(), Analysis(function).representatives, early)
    return frozenset(early)


def _follow(
    block: Block, written: frozenset[Element], equal: Mapping[Value, Value], early: set[str]
) -> frozenset[Element]:
    """Return the elements that have certainly been written after the block; add arrays read before that to `early`."""
    for op in block.ops:
        if op.name in STRUCTURED or op.name == "tile_map":
            after = [_follow(inner, written, equal, early) for inner in op.blocks]
            # Written for certain only if both sides do it; a loop may have no turn.
            written = frozenset.intersection(*after) if op.name == "if" and after else written
        elif op.name in READS or op.name == "store":
            # Equal expressions of equal operands are one index: `x[i + 1]` read after `x[i + 1]` was stored.
            element = (op.operands[0].name, tuple(equal[v] for v in indices_of(op)))
            if op.name == "store":
                written |= {element}
            elif element not in written:
                early.add(op.operands[0].name)
    return written
