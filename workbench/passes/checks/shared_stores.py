"""Stores of a value of each thread at one place for all threads: which of them stays is left to chance.

Only what is sure is reported: nothing under a condition that differs between threads, which may leave one of them, and
no index that comes from memory.
"""

from __future__ import annotations

from workbench.ir.ops import TILED
from workbench.ir.values import Block, Function, Op, Value
from workbench.types import ArrayType

_LOOPS = ("for", "while")


def shared_stores(function: Function) -> list[Op]:
    """Return the stores of a kernel whose value differs between threads while their index is the same for all.

    Empty for a kernel of tiles or without threads.
    """
    if not function.launch_ndim or function.block_dim:
        return []
    stores: list[Op] = []
    _Lanes(stores).block(function.body, False)
    return stores


class _Lanes:
    """Tracks which values differ between threads, and which come from memory; collects the stores.

    Attributes:
        varying: values that differ between threads.
        from_memory: values that come from memory.
        found: the stores.
    """

    def __init__(self, stores: list[Op]) -> None:
        self.varying: set[Value] = set()
        self.from_memory: set[Value] = set()
        self.found = stores

    def block(self, block: Block, divergent: bool) -> None:
        """Follow the operations of a block; `divergent`: not all threads run it."""
        for op in block.ops:
            if op.name == "store" and not divergent:
                self._store(op)
            inside = divergent or (bool(op.blocks) and self._varies(op.operands))
            # Twice, since a loop carries values back.
            for _ in range(2 if op.name in _LOOPS else 1):
                for each in op.blocks:
                    self._mark(op, each.params, self._varies((*op.operands, *each.yielded)), inside)
                    self.block(each, inside or (op.name == "while" and self._varies(op.blocks[0].yielded)))
            varies = op.name == "tid" or op.name in TILED or self._varies(op.operands)
            varies = varies or inside or any(self._varies(each.yielded) for each in op.blocks)
            self._mark(op, op.results, varies, inside)

    def _mark(self, op: Op, values: tuple[Value, ...], varies: bool, inside: bool) -> None:
        """Record which of `values`, results of an operation or parameters of its block, vary or come from memory.

        Args:
            op: the operation.
            values: its results or parameters.
            varies: they depend on something that varies.
            inside: not all threads run the operation.
        """
        arrays = any(isinstance(v.type, ArrayType) for v in op.operands)
        if varies or inside:
            self.varying.update(values)
        if (arrays and op.name != "shape") or any(v in self.from_memory for v in op.operands) or op.blocks:
            self.from_memory.update(values if op.name not in _LOOPS else ())

    def _varies(self, values: tuple[Value, ...]) -> bool:
        """Return whether any of the values differs between threads."""
        return any(v in self.varying for v in values)

    def _store(self, op: Op) -> None:
        """Collect a store of a varying value at indices that neither vary nor come from memory."""
        indices, value = op.operands[1:-1], op.operands[-1]
        same = not any(i in self.varying or i in self.from_memory for i in indices)
        if same and value in self.varying and op not in self.found:
            self.found.append(op)
