"""Arrays that share no memory: the entry checks, and LLVM is given the result.

Nothing is said of arguments by themselves: two may be one array. LLVM then tests for overlap before each loop that it
vectorises, and keeps the loop a second time, which accesses slots at indices that vary: so these stay in memory. For a
group of threads that is too often, and too much. The entry looks once; groups have code for arrays that lie apart.
"""

from __future__ import annotations

from workbench.backends.cpu.emit import memory
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.text.values import width
from workbench.ir.ops import ACCESSES, EFFECTS
from workbench.ir.values import Value, walk
from workbench.types import ArrayType, element


def lie_apart(emitter: Emitter) -> str:
    """Whether no array that the function changes shares memory with another one that it accesses, as an i1.

    An empty string: that cannot be found so (strides, fields of structs).
    """
    accesses = [op for op in walk(emitter.function.body) if op.name in ACCESSES]
    arrays = list(dict.fromkeys(op.operands[0] for op in accesses))
    if not emitter.options.contiguous or any(isinstance(a.type, ArrayType) and a.type.pitch for a in arrays):
        return ""
    changed = {op.operands[0] for op in accesses if op.name in EFFECTS}
    pairs = [(a, b) for n, a in enumerate(arrays) for b in arrays[:n] if a in changed or b in changed]
    found = "true"
    once = emitter.writer.once
    for a, b in pairs:
        behind = [
            once(("apart", x.name, y.name), f"icmp uge ptr {memory.data(emitter, x)}, {_end(emitter, y)}")
            for x, y in ((a, b), (b, a))
        ]
        two = once(("apart", a.name, b.name, "either"), f"or i1 {behind[0]}, {behind[1]}")
        found = once(("apart", a.name, b.name, "all"), f"and i1 {found}, {two}", "apart")
    emitter.scopes = {array: n for n, array in enumerate(arrays)}
    return found


def _end(emitter: Emitter, array: Value) -> str:
    """The pointer behind the last element."""
    once, type = emitter.writer.once, array.type
    assert isinstance(type, ArrayType)
    count = str(width(type.dtype) * element(type.dtype).size)
    for axis in range(type.ndim):
        count = once(("bytes", array.name, axis), f"mul i64 {count}, {memory.size(emitter, array, axis)}")
    return once(("end", array.name), f"getelementptr i8, ptr {memory.data(emitter, array)}, i64 {count}")
