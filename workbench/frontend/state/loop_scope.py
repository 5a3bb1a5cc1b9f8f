"""A loop that is being lowered, and names that it binds first: what they are after it.

Where a loop surely runs (a range known now that is not empty, `while True`), a name that every way out of it has set is
bound after it, as in Python. Such a name goes round the loop like any other, from a start that is not read: inside the
body it is unset until the body sets it. Where only some ways out set it, it stays unset, but keeps its value for what
an `else` of the loop needs: if the loop was left by a `break`, the names set before each `break` are bound. Only names
that are read outside of the loop go round it.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import NoneType

import msgspec

from workbench.frontend.state.definition import reads
from workbench.frontend.state.operands import PENDING, Operand, Pending, Poison, Unset
from workbench.source import nodes_of

Env = dict[str, Operand]


class Loop(msgspec.Struct):
    """A loop that is being lowered.

    Attributes:
        names: those that it may bind first and that are read outside of it.
        runs: whether it runs at least once.
        ends: whether it may end by itself; else only a `break` ends it.
        exit_flag: the name of the flag that a `break` sets; None if nothing sets it.
        keeps: whether names are bound after it however it ends, as in Warp.
        unset: names that are not bound at the end of some round.
        unset_at_break: names that are not bound at some `break`.
    """

    names: tuple[str, ...] = ()
    runs: bool = False
    ends: bool = True
    exit_flag: str | None = None
    keeps: bool = False
    unset: set[str] = msgspec.field(default_factory=set[str])
    unset_at_break: set[str] = msgspec.field(default_factory=set[str])

    @contextmanager
    def iteration(self, env: Env, loops: list[Loop], carried: Mapping[str, Operand]) -> Generator[None]:
        """Open the loop's body: its names are unset at first, with the values of the last iteration behind them.

        At its end, names that are unset are noted in `unset`, and get the values behind them.

        Args:
            env: local names to what they are now.
            loops: those that are being lowered; this one is the innermost inside.
            carried: the values of the names at the beginning of an iteration.
        """
        self.unset.clear()
        self.unset_at_break.clear()
        self.hide(env, carried)
        loops.append(self)
        try:
            yield
        finally:
            loops.pop()
        for name in self.names:
            operand = env[name]
            if isinstance(operand, Unset):
                self.unset.add(name)
                env[name] = operand.value

    def hide(self, env: Env, carried: Mapping[str, Operand]) -> None:
        """Unset the names, with these values behind them."""
        env.update((name, unset(name, carried.get(name, PENDING))) for name in self.names)

    def leaving(self, env: Env, out_of: str) -> None:
        """Note what is not bound where a `continue` ends a round, or a `break` the loop.

        `out_of` is "iteration", "loop" or "function"; a `return` needs no names.
        """
        missing = {n for n in self.names if isinstance(env.get(n), (Unset, NoneType))}
        if out_of == "iteration":
            self.unset.update(missing)
        elif out_of == "loop":
            self.unset_at_break.update(missing)

    def next(self, env: Env) -> None:
        """Unset, between two rounds of a loop that is unrolled, the names that some path has not bound."""
        for name in self.names:
            operand = env.get(name)
            if name in self.unset and not isinstance(operand, (NoneType, Unset, Poison)):
                env[name] = unset(name, operand)

    def after(self, env: Env) -> None:
        """Unset, after the loop, the names that some way through it has not bound."""
        for name in self.names:
            operand = env.get(name, PENDING)
            if isinstance(operand, Poison):
                continue
            known = not isinstance(operand, (Unset, Pending))
            at_breaks = known and name not in self.unset_at_break
            at_end = not self.ends or (self.runs and name not in self.unset)
            if not (at_breaks and at_end):
                value = operand.value if isinstance(operand, Unset) else operand
                if self.keeps and value is not PENDING:
                    env[name] = value
                    continue
                env[name] = unset(name, value, self.exit_flag if at_breaks else None)


def unset(name: str, value: Operand, hint: str | None = None) -> Unset:
    """Return the operand of a name that only a loop's body sets, which cannot be read.

    Args:
        name: the name.
        value: what it is on paths that have set it.
        hint: a flag: where that is set, the name is bound; None if there is none.
    """
    return Unset(f"{name} may be unbound here: it is set only inside the loop.", value, hint)


def read_first(statements: Sequence[ast.stmt]) -> tuple[set[str], set[str]]:
    """Return the names that statements may read before they have set them, and those that they surely set."""
    read, done = set[str](), set[str]()
    for node in statements:
        match node:
            case ast.If():
                (first, on_true), (second, on_false) = read_first(node.body), read_first(node.orelse)
                reading, surely = {*reads(node.test)} | first | second, on_true & on_false
            case ast.While():
                reading, surely = {*reads(node.test)} | read_first(node.body)[0], set[str]()
            case ast.For():
                inside = read_first(node.body)[0] - {n.id for n in nodes_of(node.target) if isinstance(n, ast.Name)}
                reading, surely = {*reads(node.iter)} | inside, set[str]()
            case _:
                stored = (n for n in nodes_of(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
                reading, surely = {*reads(node)}, {n.id for n in stored}
        read |= reading - done
        done |= surely
    return read, done
