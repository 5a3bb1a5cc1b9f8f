"""The state of lowering one kernel: the builder, the local names, the loops, the launch of tiles, the errors so far.

A kernel is lowered as one that runs once per thread first. Where it turns out to use a tile, `NeedsBlocks` unwinds to
whoever asked for the lowering, who asks again with a `Tiling`.

`Loop` is a loop that is being lowered, with the names that it binds first. Where a loop surely runs (a range known now
that is not empty, `while True`), a name that every way out of it has set is bound after it, as in Python. Such a name
goes round the loop like any other, from a start that is not read: inside the body it is unset until the body sets it.
Where only some ways out set it, it stays unset, but keeps its value for what an `else` of the loop needs: if the loop
was left by a `break`, the names set before each `break` are bound. Only names that are read outside of the loop go
round it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from types import NoneType

import msgspec

from workbench.errors import KernelSyntaxError, KernelTypeError, WorkbenchError, at
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import PENDING, Operand, Pending, Poison, Static, Unset
from workbench.ir import ops
from workbench.ir.build import Builder
from workbench.ir.values import Block, Captured, Op, Value
from workbench.source import UNKNOWN, Location
from workbench.tiles import Tile
from workbench.types import Type, is_integer


class Tiling(msgspec.Struct, frozen=True):
    """Blocks of a launch.

    Attributes:
        block_dim: threads of a block.
        ndim: how many dimensions of blocks the launch has; None if no launch is known: as many as are requested.
        flat: the launch counts threads: `tid()` is a thread's index.
        threads: of a flat launch of several dimensions, its sizes; the last one varies fastest from thread to thread.
    """

    block_dim: int
    ndim: int | None = None
    flat: bool = False
    threads: tuple[int, ...] = ()


class NeedsBlocks(Exception):
    """A tile is used in a kernel that was to run once per thread."""


def is_thread(value: object) -> bool:
    """Return whether a value is per-thread: a tile with one element per thread."""
    return isinstance(value, Value) and isinstance(value.type, Tile) and value.type.storage == "thread"


VALUE = "returned.value"
"""The name of what a return in a loop returns; no field of a user's struct has it."""
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


class Syntax(msgspec.Struct, frozen=True):
    """The functions that lower syntax, for the rooms below theirs.

    Attributes:
        expression: lowers an expression, and returns its operand.
        body: lowers a function's statements, and returns what they return; None if that is nothing.
        loop_body: lowers the statements of a loop's body.
    """

    expression: Callable[[Context, ast.expr], Operand]
    body: Callable[[Context, Sequence[ast.stmt]], Operand | None]
    loop_body: Callable[[Context, Sequence[ast.stmt]], object]


class LoopTypes(msgspec.Struct, frozen=True):
    """The inferred types of a loop's carried names.

    Attributes:
        types: the type that each carried name has at both ends of an iteration.
        hidden: names that have no value at the beginning of an iteration, with the reason.
        read: what the loop reads; kept alive, since some of it is known by identity.
    """

    types: dict[str, Type]
    hidden: dict[str, Operand]
    read: tuple[Operand, ...]


class Calls(msgspec.Struct):
    """Calls of one func with arguments alike.

    Attributes:
        definition, args: of the first: what is known of them by identity lives as long.
        count: how many there were.
        body: what the func comes to; None until it is needed, or if it cannot be copied.
    """

    definition: Definition
    args: tuple[Operand, ...]
    count: int = 0
    body: Body | None = None


class Body(msgspec.Struct, frozen=True):
    """A func's body, lowered for its parameters.

    Attributes:
        block: its operations; it yields the values of the result.
        result: the func's result, made of these values; None if it returns nothing.
        known: the facts about each of the values, as `NotingBuilder.known` returns them.
        called: whether a call is an operation for now, to be written out when the whole kernel is simplified.
    """

    block: Block
    result: Operand | None
    known: tuple[tuple[bool, bool, bool], ...]
    called: bool


class Notice(msgspec.Struct, frozen=True):
    """A line that means something else than in the library it was written for."""

    location: Location
    message: str
    advice: str = ""

    def __str__(self) -> str:
        """Return the location, the message and the advice in one line."""
        return f"{self.location}: {self.message} {self.advice}".rstrip()


class NotingBuilder(Builder):
    """A builder that notes which integer results cannot be negative, by simple rules on each operation.

    Attributes:
        here: the current location, or a definition and a node in it, whose location is computed when it is needed.
    """

    def __init__(self) -> None:
        """Create a builder without operations, of which nothing is known and whose location is unknown."""
        self.here: Location | tuple[Definition, ast.AST] = UNKNOWN
        super().__init__()
        self.non_negative: set[Value] = set()
        self._sizes: set[Value] = set()
        self._ones: set[Value] = set()

    @property
    def location(self) -> Location:
        """Location of the operations that are added now."""
        here = self.here
        if type(here) is tuple:
            here = self.here = here[0].locate(here[1])
        return here  # type: ignore[return-value]

    @location.setter
    def location(self, location: Location) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Set the location of the operations that are added from now on."""
        self.here = location

    def append(self, op: Op) -> Op:
        """Add an operation and note what is known of its result."""
        results = op.results
        if len(results) == 1 and is_integer(results[0].type) and self._positive(op):
            self.non_negative.add(results[0])
        self._stack[-1].append(op)
        return op

    def known(self, value: Value) -> tuple[bool, bool, bool]:
        """Return the facts about a value: whether it is not negative, a size, a 1."""
        return value in self.non_negative, value in self._sizes, value in self._ones

    def learn(self, value: Value, known: tuple[bool, bool, bool]) -> None:
        """Note facts about a value, as `known` returned them for another one."""
        for holds, values in zip(known, (self.non_negative, self._sizes, self._ones), strict=True):
            if holds:
                values.add(value)

    def _positive(self, op: Op) -> bool:
        """Return whether an operation's integer result cannot be negative; note on the way if it is a size or a 1."""
        known = [v in self.non_negative for v in op.operands]
        match op.name:
            case "tid":
                return True
            case "shape":
                self._sizes.add(op.result)
                return True
            case "const":
                number = op.attrs[ops.VALUE]
                if number == 1:
                    self._ones.add(op.result)
                return not isinstance(number, tuple) and number >= 0
            case "sub":  # n - 1: below 0 only for an empty array, which has no element to index
                return op.operands[0] in self._sizes and op.operands[1] in self._ones
            case "max":
                return any(known)
            case "add" | "mul" | "bit_and" | "min" | "lshift" | "floordiv" | "mod" | "cast":
                return all(known)
            case "where":
                return all(known[1:])
            case "clamp":
                return known[1] and known[2]
            case "rshift" | "wrap_index":
                return known[0]
            case _:
                return False


class Shared(msgspec.Struct):
    """The state that a kernel and the funcs inlined into it share.

    Attributes:
        syntax: lowers expressions and statements.
        launch_ndim: how many dimensions `tid()` asks for; None until it does.
        captured: constants met so far, by name.
        trace: whether each statement is marked with what its names are (see frontend/statements/control_flow.py).
        errors: those found so far.
        notices: what a kernel from Warp means otherwise here; None if not requested.
        warp_meanings: whether names mean what they mean in Warp, where results differ.
        tiling: how a kernel of tiles is launched; None for one that runs once per thread.
        closed: these are the operations of a gradient or a replay.
        lifted: what is lowered now is done for each element of tiles.
        parts: tiles that are a part or a form of another one, with that and its name.
        calls: the results of lowering funcs, by their arguments (see frontend/functions/inline.py).
        loop_types: the types that inner loops carry, by what they read (see frontend/statements/loops.py).
        in_loop: a loop's body is lowered, perhaps not for the last time.
        uniforms: the kernel's parameters for what it reads that changes between launches, by identity.
        statics: the Python objects that names outside of functions and attributes mean, by where they are read.
    """

    syntax: Syntax
    builder: NotingBuilder = msgspec.field(default_factory=NotingBuilder)
    launch_ndim: int | None = None
    captured: dict[str, Captured] = msgspec.field(default_factory=dict[str, Captured])
    trace: bool = False
    errors: list[WorkbenchError] = msgspec.field(default_factory=list[WorkbenchError])
    notices: list[Notice] | None = None
    warp_meanings: bool = False
    tiling: Tiling | None = None
    closed: bool = False
    lifted: bool = False
    parts: dict[Value, tuple[Value, str]] = msgspec.field(default_factory=dict[Value, tuple[Value, str]])
    calls: dict[Hashable, Calls] = msgspec.field(default_factory=dict[Hashable, Calls])
    loop_types: dict[Hashable, LoopTypes] = msgspec.field(default_factory=dict[Hashable, LoopTypes])
    in_loop: bool = False
    uniforms: dict[int, Operand] = msgspec.field(default_factory=dict[int, Operand])
    statics: dict[Hashable, Static] = msgspec.field(default_factory=dict[Hashable, Static])

    @property
    def non_negative(self) -> set[Value]:
        """Integer values that cannot be below 0: their indices need no wrapping."""
        return self.builder.non_negative


class Context(msgspec.Struct):
    """The lowering of one definition, a kernel or one call of a func.

    Attributes:
        definition: the function being lowered.
        env: local names to what they are now.
        shared: what all inlined functions share.
        inside: the funcs being inlined, outermost first, each with the functions it was given: recursion is found here.
        loops: the loops of this function that are being lowered, outermost first.
        node: what is lowered now; None before the first statement.
        caller: the context of the function that calls this one; None in a kernel.
        returning: how many values a `return` in the loop that is lowered gives; -1 for one expression.
        of_expression: these are the statements that an expression means, whose result is no function's.
    """

    definition: Definition
    env: Env
    shared: Shared
    inside: tuple[tuple[Definition, tuple[int, ...]], ...] = ()
    loops: list[Loop] = msgspec.field(default_factory=list[Loop])
    node: ast.AST | None = None
    caller: Context | None = None
    returning: int = 0
    of_expression: bool = False

    @property
    def results(self) -> list[str]:
        """The names that take the values of a `return` in a loop."""
        return [f"{VALUE}.{k}" for k in range(abs(self.returning))]

    @property
    def builder(self) -> NotingBuilder:
        """Builder that operations are appended to."""
        return self.shared.builder

    def lower(self, node: ast.expr) -> Operand:
        """Lower an expression, and return its operand."""
        return self.shared.syntax.expression(self, node)

    def at(self, node: ast.AST) -> At:
        """Return a context manager in which operations and errors belong to `node`'s location."""
        return At(self, node)

    def go(self, node: ast.AST) -> Before:
        """Give operations and errors `node`'s location from now on; return the one before, for `back`.

        In a function of the library only errors get it; its operations keep the location that they had.
        """
        builder = self.shared.builder
        before = self.node, builder.here
        self.node = node
        if not self.definition.library:
            builder.here = self.definition, node
        return before

    def back(self, before: Before) -> None:
        """Restore the node and the location that were current before `go`, which returned them."""
        self.node, self.shared.builder.here = before

    def type_error(self, message: str, advice: str = "") -> WorkbenchError:
        """Return a KernelTypeError at the current location."""
        return self.placed(KernelTypeError(message, advice=advice))

    def syntax_error(self, message: str, advice: str = "") -> WorkbenchError:
        """Return a KernelSyntaxError at the current location."""
        return self.placed(KernelSyntaxError(message, advice=advice))

    def placed(self, error: WorkbenchError) -> WorkbenchError:
        """Return an error with the current location filled in; in a function of the library, that of the call."""
        if self.definition.library and self.caller is not None:
            return self.caller.placed(error)
        return at(error, self.definition.locate(self.node or self.definition.node), self.definition.name)


Before = tuple[ast.AST | None, Location | tuple[Definition, ast.AST]]


class At(msgspec.Struct):
    """A context manager inside of which operations and errors of a context have a node's location.

    (A generator would cost three times as much.)

    Attributes:
        context: it moves to the node when the `with` begins.
        node: the node.
        before: where the context was before.
    """

    context: Context
    node: ast.AST
    before: Before = (None, UNKNOWN)

    def __enter__(self) -> None:
        """Give operations and errors the node's location."""
        self.before = self.context.go(self.node)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Restore the location before; an error in the block goes on, with the node's location if it has none."""
        if isinstance(error, WorkbenchError):
            self.context.placed(error)
        self.context.back(self.before)


FormHandler = Callable[[Context, ast.Call], Operand]
"""A function that lowers a call of a form."""
