"""A PTX function's basic blocks, in an order in which diverged lanes converge again.

A warp always runs the waiting lanes with the lowest block number. In this order a join comes after both sides of a
branch, and the blocks of a loop are adjacent, with the loop's exits after them. So the lanes that arrive first at a
join wait there for the others.
"""

from __future__ import annotations

import msgspec

from workbench.backends.ptx.syntax.program import Function, Instruction, Symbol, unsupported

ENDS = frozenset(("bra", "brx", "ret", "exit", "trap"))
GATHERS = frozenset(
    ("shfl", "vote", "match", "redux", "mma", "ldmatrix", "stmatrix", "movmatrix", "elect", "activemask", "wmma")
)
"""Instructions that the lanes of a warp execute together."""
BARRIERS = frozenset(("bar", "barrier"))


class Block(msgspec.Struct):
    """A basic block of PTX; its number is its index in the list of blocks.

    Attributes:
        code: its instructions; a jump can only be the last.
        jump: number of the block that a `bra` at its end goes to; None if it has none.
        table: numbers of the blocks that a `brx` at its end may go to.
        after: the block that follows, for lanes that do not jump; None if none does.
        gathers: it is an instruction that the lanes of a warp execute together.
        barrier: it is a barrier of the thread block.
        backs: successors that do not come after it in the list: heads of loops.
    """

    code: tuple[Instruction, ...]
    jump: int | None = None
    table: tuple[int, ...] = ()
    after: int | None = None
    gathers: bool = False
    barrier: bool = False
    backs: set[int] = msgspec.field(default_factory=set[int])

    @property
    def successors(self) -> tuple[int, ...]:
        """The numbers of all blocks that lanes may go to from this one."""
        targets = [self.after, self.jump, *self.table]
        return tuple(dict.fromkeys(n for n in targets if n is not None))


def basic_blocks(function: Function) -> list[Block]:
    """Return the reachable basic blocks of a function whose calls are inlined, in the order that lanes converge in.

    The first is the entry. `Block.backs` holds the successors of a block that do not come after it: the back edges.

    Raises:
        BuildError: a target of a `brx` is no label.
    """
    raw = _split(function)
    order = _ordered(raw)
    position = {old: new for new, old in enumerate(order)}
    blocks: list[Block] = []
    for new, old in enumerate(order):
        b = raw[old]
        b.jump = position[b.jump] if b.jump is not None else None
        b.after = position[b.after] if b.after is not None else None
        b.table = tuple(position[t] for t in b.table)
        b.backs = {s for s in b.successors if s <= new}
        blocks.append(b)
    return blocks


def _split(function: Function) -> list[Block]:
    """Return the basic blocks of a function in the order of its text, with an empty last one that ends the thread.

    An instruction that lanes execute together, or a barrier, is alone in its block.
    """
    code = function.code
    leaders = {0, *function.labels.values()}
    for n, instruction in enumerate(code):
        alone = instruction.opcode in GATHERS or instruction.opcode in BARRIERS or _is_warp_barrier(instruction)
        if instruction.opcode in ENDS or alone:
            leaders.add(n + 1)
        if alone:
            # Alone in its block: lanes must be able to wait right before it.
            leaders.add(n)
    starts = sorted(n for n in leaders if n < len(code))
    number = {start: index for index, start in enumerate(starts)}
    last = len(starts)  # an empty block that ends the thread: code may run off its end
    number[len(code)] = last
    labels = {name: number[at] for name, at in function.labels.items()}
    blocks: list[Block] = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(code)
        final = code[end - 1]
        block = Block(code[start:end], after=index + 1)
        if final.opcode in ENDS:
            if final.guard is None:
                block.after = None
            if final.opcode == "bra":
                block.jump = labels[_label(final)]
            elif final.opcode == "brx":
                table = next(o.name for o in final.operands if isinstance(o, Symbol))
                block.table = tuple(labels[_unscoped(name, labels, final)] for name in function.targets[table])
        block.gathers = final.opcode in GATHERS or _is_warp_barrier(final)
        block.barrier = final.opcode in BARRIERS and not block.gathers
        blocks.append(block)
    blocks.append(Block(()))
    return blocks


def _is_warp_barrier(instruction: Instruction) -> bool:
    """Return whether an instruction is `bar.warp`, a barrier of the threads of a warp."""
    return instruction.opcode == "bar" and "warp" in instruction.modifiers


def _label(jump: Instruction) -> str:
    """Return the name of the label that a `bra` jumps to."""
    (target,) = jump.operands
    assert isinstance(target, Symbol)
    return target.name


def _unscoped(name: str, labels: dict[str, int], jump: Instruction) -> str:
    """Return the label `name` of a table of a `brx` as it is, after a check that the function has it.

    Raises:
        BuildError: it has no such label.
    """
    if name not in labels:
        raise unsupported(f"There is no label {name!r}", jump.line)
    return name


def _ordered(blocks: list[Block]) -> list[int]:
    """Return the numbers of the reachable blocks in the order in which diverged lanes converge.

    Strongly connected components come in topological order, and so do, within each, its parts without the edges back to
    its head. The work is one sweep over the edges for each level of loops.
    """
    before = predecessors(blocks)
    reachable, todo = set[int](), [0]
    while todo:
        n = todo.pop()
        if n not in reachable:
            reachable.add(n)
            todo += blocks[n].successors
    out: list[int] = []
    work: list[tuple[set[int], int]] = [(reachable, 0)]
    while work:
        nodes, entry = work.pop()
        if len(nodes) == 1:
            out += nodes
            continue
        # Without the edges back to its head a loop falls into parts that can be ordered; inner loops are cut in their
        # turn.
        cut = entry if not nodes.isdisjoint(before[entry]) else None
        for part in reversed(_components(blocks, nodes, entry, cut)):  # a stack: the last one pushed is the first out
            heads = (n for n in part if n == entry or any(p in reachable and p not in part for p in before[n]))
            work.append((part, min(heads, default=min(part))))
    return out


def predecessors(blocks: list[Block]) -> list[list[int]]:
    """Return for each block the numbers of the blocks that may jump or fall through to it, in ascending order."""
    before: list[list[int]] = [[] for _ in blocks]
    for n, block in enumerate(blocks):
        for s in block.successors:
            before[s].append(n)
    return before


def _components(blocks: list[Block], nodes: set[int], entry: int, cut: int | None) -> list[set[int]]:
    """Return the strongly connected components (Tarjan) of some of the blocks, in topological order.

    Args:
        blocks: all blocks.
        nodes: numbers of the blocks that count; edges to others are ignored.
        entry: number of the block to begin with.
        cut: number of a block whose incoming edges are ignored; None: none.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on: set[int] = set()
    components: list[set[int]] = []

    def edges(n: int) -> list[int]:
        return [s for s in blocks[n].successors if s in nodes and s != cut]

    for root in (entry, *sorted(nodes)):
        if root in index:
            continue
        # With a stack of our own: a long kernel has more blocks than Python's recursion allows.
        calls = [(root, iter(edges(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while calls:
            n, rest = calls[-1]
            for s in rest:
                if s not in index:
                    index[s] = low[s] = len(index)
                    stack.append(s)
                    on.add(s)
                    calls.append((s, iter(edges(s))))
                    break
                if s in on:
                    low[n] = min(low[n], index[s])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[n])
                if low[n] == index[n]:
                    part: set[int] = set()
                    while n not in part:
                        part.add(stack.pop())
                    on -= part
                    components.append(part)
    return components[::-1]
