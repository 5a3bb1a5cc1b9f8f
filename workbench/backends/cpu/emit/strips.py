"""How a launch can be stopped: loops look now and then at a word that asks them to end.

A loop that may run long is cut into strips: an inner loop of a limited number of turns, which LLVM vectorises as it
would the whole, and a look after each strip that is not the last. How many turns a strip has follows from what a turn
costs, so that looks are some ten microseconds apart or more. Loops whose turns are few and known have none.

`%stop` points to the word, and behind it the function that decides (`backends/cpu/native/stopping.py`): it is called
where the word is not 0, and returns whether the launch ends.
"""

from __future__ import annotations

from workbench.ir.values import Block, Function, Op, walk
from workbench.types import element

SHORT, LONG = 2**16, 2**22
"""Operations of a strip of an innermost loop; of one whose turns hold loops that look, and of threads."""
SELDOM = 16  # turns that a loop over the edge of a tile counts as
LANES = 8  # multiply-adds that a product of tiles does at a time


class Strips:
    """How many turns the strips of a function's loops have.

    Attributes:
        threads: of the loop over threads.
    """

    def __init__(self, function: Function) -> None:
        """For a function as it is emitted."""
        self._turns: dict[Op, int] = {}
        self._known = {op.result: op.attrs["value"] for op in walk(function.body) if op.name == "const"}
        self.threads = _strip(self._cost(function.body), LONG)

    def turns(self, op: Op) -> int:
        """Turns of a strip of a `for` or `while`; 0: the loop does not look."""
        return self._turns[op]

    def _cost(self, block: Block) -> int:
        """Operations that a block does before a look in it, at most."""
        return 1 + sum(self._cost_of(op) for op in block.ops)

    def _cost_of(self, op: Op) -> int:
        inner = sum(self._cost(block) for block in op.blocks)
        if op.name == "slot_matmul":
            m, n, k = op.attrs["shape"]
            return m * n * k // LANES
        if op.name not in ("for", "while"):
            return 1 + inner
        total = self._trips(op) * inner
        if 0 <= total <= LONG:
            self._turns[op] = 0
            return 1 + total
        turns = _strip(inner, LONG if inner > SHORT // 2 else SHORT)
        self._turns[op] = turns = min(turns, 2 ** (_bits(op) - 2))
        return turns * inner

    def _trips(self, op: Op) -> int:
        """The most turns that a loop can have, where that is known; else -1."""
        if op.attrs.get("cold"):
            return SELDOM
        if op.name == "while":
            return -1
        start, stop, step = (self._known.get(v) for v in op.operands[:3])
        if start is None or stop is None or step is None:
            return 2 ** _bits(op) if _bits(op) < 32 else -1
        return len(range(int(start), int(stop), int(step))) if step else 0


def _bits(op: Op) -> int:
    """Bits of what counts a loop's turns."""
    return element(op.operands[0].type).bits if op.name == "for" else 32


def _strip(cost: int, most: int) -> int:
    """The power of two of turns that cost at most so much together."""
    return 1 << max(0, (most // max(1, cost)).bit_length() - 1)
