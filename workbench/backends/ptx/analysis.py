"""Analyses of a kernel's registers: which are the same in all lanes, which are live across blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from workbench.backends.ptx.flow import Block, predecessors
from workbench.backends.ptx.syntax.program import (
    Address,
    Group,
    Instruction,
    Negated,
    Operand,
    Register,
    Special,
    Symbol,
)

_UNIFORM = frozenset(
    "add sub mul mad fma and or xor not shl shr min max neg abs mov cvt selp setp cvta ld mul24 popc clz brev".split()
)
"""PTX instructions whose result is the same in all lanes if their operands are."""
_LANES = frozenset(("%tid", "%laneid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"))
_CHANGING = ("%clock", "%globaltimer")
_NO_RESULT = frozenset(
    "st red bra brx ret exit trap membar fence prefetch cp bar barrier call nanosleep stmatrix".split()
)
_SPINS = frozenset(("atom", "nanosleep"))
_ORDERED = frozenset(("volatile", "relaxed", "acquire", "mmio"))


def results(i: Instruction) -> tuple[Operand, ...]:
    """Return the operands that an instruction writes: its destination, or each item of a group of destinations.

    The tuple is empty for an instruction without a result, such as a store or a branch.
    """
    if i.opcode in _NO_RESULT and not (i.opcode in ("bar", "barrier") and "red" in i.modifiers):
        return ()
    if not i.operands:
        return ()
    first = i.operands[0]
    if isinstance(first, Address):
        return ()
    return first.items if isinstance(first, Group) else (first,)


def registers(operand: Operand) -> Iterator[str]:
    """Yield the names of the registers in an operand, including those inside an address, a group or a negation."""
    match operand:
        case Register(name):
            yield name
        case Address(base):
            yield from registers(base)
        case Group(items):
            for item in items:
                yield from registers(item)
        case Negated(inner):
            yield from registers(inner)
        case _:
            pass


def reads(i: Instruction) -> Iterator[str]:
    """Yield the names of the registers that an instruction reads.

    They include its guard and, if it has one, its destinations: lanes whose guard is false keep their old values.
    """
    if i.guard is not None:
        yield i.guard.name
        for operand in results(i):  # what a false guard leaves as it was
            yield from registers(operand)
    skipped = 1 if results(i) else 0
    for operand in i.operands[skipped:]:
        yield from registers(operand)


def writes(i: Instruction) -> Iterator[str]:
    """Yield the names of the registers that an instruction writes; with a guard, in some lanes only."""
    for operand in results(i):
        if isinstance(operand, Register):
            yield operand.name


def uniform_registers(code: tuple[Instruction, ...]) -> frozenset[str]:
    """Return the names of registers that are certain to hold one value in all lanes of a warp.

    Each has a single definition, which depends only on the launch, the block, constants and other registers that
    are certain to. The result may lack some that do hold one value.
    """
    definitions = Counter(name for i in code for name in writes(i))
    uniform: set[str] = set()
    for _ in range(4):  # text order is nearly the order of definitions
        before = len(uniform)
        for i in code:
            names = tuple(writes(i))
            # With one definition the value is the same wherever it is read; with two it depends on the way there.
            once = names and all(definitions[n] == 1 for n in names) and names[0] not in uniform
            if once and _is_uniform(i, uniform):
                uniform.update(names)
        if len(uniform) == before:
            break
    return frozenset(uniform)


def _is_uniform(i: Instruction, uniform: set[str]) -> bool:
    """Return whether an instruction computes the same in all lanes, if the registers in `uniform` hold one value."""
    if i.guard is not None or i.opcode not in _UNIFORM or "cc" in i.modifiers:
        return False
    # Memory may change between two looks; a launch's parameters do not.
    if i.opcode == "ld" and i.modifiers[0] != "param":
        return False
    if i.opcode == "ld" and not (isinstance(i.operands[1], Address) and isinstance(i.operands[1].base, Symbol)):
        return False
    if i.opcode == "cvta" and "local" in i.modifiers:
        return False
    if i.opcode == "cvt" and not _cheap(i):
        return False
    for operand in i.operands[1:]:
        inner = operand.operand if isinstance(operand, Negated) else operand
        if isinstance(inner, Special) and (inner.name.split(".")[0] in _LANES or inner.name.startswith(_CHANGING)):
            return False
    return all(name in uniform for name in reads(i))


def _cheap(i: Instruction) -> bool:
    """Return whether a cvt converts between two plain types, and not from a float to an integer."""
    kinds = [m for m in i.modifiers if m[0] in "usbf" and m[1:].isdigit()]
    return len(kinds) == 2 and not (kinds[0][0] != "f" and kinds[1][0] == "f")


class Liveness(msgspec.Struct, frozen=True):
    """The live registers of a function: by the number of a basic block, those live at its end and at its start.

    Attributes:
        out: names of registers that a successor may read before it writes them.
        into: names of registers that this block or a later one may read before they are written again.
    """

    out: tuple[frozenset[str], ...]
    into: tuple[frozenset[str], ...]


def liveness(blocks: list[Block]) -> Liveness:
    """Return which registers are live at the start and the end of each basic block.

    The work is proportional to the size of the result: most registers never leave their block.
    """
    killed = [{name for i in b.code if i.guard is None for name in writes(i)} for b in blocks]
    before = predecessors(blocks)
    into: list[set[str]] = [set() for _ in blocks]
    out: list[set[str]] = [set() for _ in blocks]
    for n, block in enumerate(blocks):
        todo = [(n, name) for name in _read_first(block) if name not in into[n]]
        while todo:
            at, name = todo.pop()
            if name in into[at]:
                continue
            into[at].add(name)
            for p in before[at]:
                if name not in out[p]:
                    out[p].add(name)
                    if name not in killed[p]:
                        todo.append((p, name))
    return Liveness(tuple(map(frozenset, out)), tuple(map(frozenset, into)))


def _read_first(block: Block) -> Iterator[str]:
    """Yield names of registers that a block reads before it has surely written them; guarded writes do not count."""
    written = set[str]()
    for i in block.code:
        yield from (name for name in reads(i) if name not in written)
        if i.guard is None:
            # A guarded write leaves other lanes' values alive.
            written.update(writes(i))


def speculated(blocks: list[Block]) -> frozenset[int]:
    """Return the `id`s of load instructions whose result a `selp` in the same block may discard.

    A compiler moves a load before the test that guards it if the access cannot fail, as in shared and local memory. The
    load may then read memory that nothing has written, and that is no fault.
    """
    loads = set[int]()
    for block in blocks:
        chosen = set[str]()
        for i in reversed(block.code):
            if i.opcode == "selp":
                chosen.update(name for operand in i.operands[1:3] for name in registers(operand))
            elif not chosen.isdisjoint(writes(i)):
                if i.opcode == "ld":
                    loads.add(id(i))
                else:
                    chosen.update(reads(i))
    return frozenset(loads)


def loop_membership(blocks: list[Block]) -> list[bool]:
    """Return for each block whether it lies within a loop: from its head to the last block that jumps back."""
    last = {back: n for n, block in enumerate(blocks) for back in block.backs}
    inside, end = list[bool](), -1
    for n in range(len(blocks)):
        end = max(end, last.get(n, -1))
        inside.append(n <= end)
    return inside


def spin_latches(blocks: list[Block]) -> frozenset[int]:
    """Return the numbers of the last blocks of loops that may wait for other threads.

    These loops contain an atomic with a result, `nanosleep`, a volatile or ordered load, or a test of an mbarrier.
    """
    spins: set[int] = set()
    latches = {back: n for n, b in enumerate(blocks) for back in b.backs}
    for n, block in enumerate(blocks):
        for back in (b for b in block.backs if latches[b] == n):
            code = (i for b in blocks[back : n + 1] for i in b.code)
            if any(map(waits, code)):
                spins.add(n)
    return frozenset(spins)


def waits(i: Instruction) -> bool:
    """Return whether a loop with this PTX instruction may be waiting for other threads.

    Such are atomics with a result, `nanosleep`, volatile or ordered loads, and the tests of an mbarrier.
    """
    if i.opcode == "mbarrier":
        return i.modifiers[0] in ("test_wait", "try_wait")
    return i.opcode in _SPINS or (i.opcode == "ld" and not _ORDERED.isdisjoint(i.modifiers))
