"""What nobody needs taken out of lowered code: indices that no element asked for, branches that do nothing."""

from __future__ import annotations

from workbench.ir.ops import LASTING, SLOT_WRITES, STRUCTURED
from workbench.ir.values import Block, Op, Value

_KEPT = LASTING | SLOT_WRITES | {"yield"}


def tidy(block: Block) -> Block:
    """The block without operations that change nothing and whose results are not used."""
    return _block(block, set())


def _block(block: Block, needed: set[Value]) -> Block:
    kept: list[Op] = []
    for op in reversed(block.ops):
        if op.name in STRUCTURED:
            # From the last block to the first: a loop's condition comes before its body.
            inner = [_block(b, needed) for b in reversed(op.blocks)][::-1]
            if not op.results and all(len(b.ops) <= 1 for b in inner) and op.name != "while":
                continue
            op = op.replace(blocks=tuple(inner))
        elif op.name not in _KEPT and not any(v in needed for v in op.results):
            continue
        needed.update(op.operands)
        kept.append(op)
    return Block(block.params, tuple(reversed(kept)))
