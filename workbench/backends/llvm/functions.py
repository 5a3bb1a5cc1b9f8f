"""LLVM functions written in Python: each is emitted once by its body, and called where it is called.

    @define
    def first(mask: Int, values: Longs) -> Long:
        with when(mask.is_("eq", 0)):
            leave(values.w, values.like(0))
        return values.lane(mask.intrinsic("cttz", more="i1 false"))

Annotations name the types of parameters and result. Control flow is `when`, `count`, `repeat` and `each_lane`; what a
loop changes is a `Variable`, stack memory of which LLVM's passes make registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TypeAlias

from workbench.backends.llvm.values import Number, Value, Writer, constant, vector

Ptr: TypeAlias = Value
Bit: TypeAlias = Value
Int: TypeAlias = Value
Long: TypeAlias = Value
Half: TypeAlias = Value
Float: TypeAlias = Value
Double: TypeAlias = Value
Ints: TypeAlias = Value
Longs: TypeAlias = Value
Doubles: TypeAlias = Value
Lane: TypeAlias = Value
Lanes: TypeAlias = Value
"""Types of parameters, by `KINDS`; the plural is of vectors of 32. `Lane` and `Lanes` are a function's own type."""
KINDS = {
    "Ptr": ("ptr", 0), "Bit": ("i1", 0), "Int": ("i32", 0), "Long": ("i64", 0),
    "Half": ("i16", 0), "Float": ("float", 0), "Double": ("double", 0),
    "Ints": ("i32", 32), "Longs": ("i64", 32), "Doubles": ("double", 32), "None": ("void", 0),
}  # fmt: skip


class LlvmFunction:
    """An LLVM function whose body is a Python function.

    Attributes:
        name: its symbol.
        body: emits it, given its parameters; what it returns is the result.
    """

    def __init__(
        self,
        body: Callable[..., Value | None],
        name: str = "",
        elem: str = "",
        head: str = "define",
        attributes: str = "",
    ) -> None:
        """Describe a function.

        Args:
            body: emits it.
            name: its symbol; "" for that of `body`.
            elem: the type of `Lane`, and of an element of `Lanes`.
            head: LLVM's words before the result's type.
            attributes: those behind the parameters.
        """
        self.body, self.name, self.head, self.attributes = body, name or body.__name__, head, attributes
        self._kinds = KINDS | {"Lane": (elem, 0), "Lanes": (elem, 32)}

    @property
    def is_exported(self) -> bool:
        """Return whether other modules may call it."""
        return "internal" not in self.head

    @cached_property
    def _signature(self) -> tuple[list[tuple[str, str, int]], tuple[str, int]]:
        """The names and types of the parameters, and the type of the result."""
        kinds = {name: self._kinds[kind] for name, kind in self.body.__annotations__.items()}
        result = kinds.pop("return")
        return [(name, *kind) for name, kind in kinds.items()], result

    def __call__(self, *arguments: Value | Number) -> Value:
        """Emit a call; numbers are constants, and scalars go into every lane where a vector is passed."""
        w = next(a.w for a in arguments if isinstance(a, Value))
        text, (elem, lanes) = self.instruction(w, *arguments), self._signature[1]
        if elem != "void":
            return Value(w, w.emit(text), elem, lanes)
        w.do(text)
        return Value(w, "", elem)

    def instruction(self, w: Writer, *arguments: Value | Number) -> str:
        """Return the text of a call, and declare the function."""
        params, (elem, lanes) = self._signature
        passed = []
        for argument, (_, kind, count) in zip(arguments, params, strict=True):
            value = argument if isinstance(argument, Value) else Value(w, constant(argument, kind), kind)
            value = value.spread(count)
            assert (value.elem, value.lanes) == (kind, count), f"{self.name} takes {kind}, not {value}"
            passed.append(str(value))
        return w.called(vector(elem, lanes) if lanes else elem, self.name, *passed)

    def text(self) -> tuple[str, Mapping[str, str]]:
        """Return the function's LLVM IR, and the declarations of what it calls, by name."""
        w, (params, (elem, lanes)) = Writer(), self._signature
        values = [Value(w, f"%{name}", kind, count) for name, kind, count in params]
        w.open("begin.0")
        result = self.body(*values)
        if w.label:
            leave(w, result)
        kind, passed = vector(elem, lanes) if lanes else elem, ", ".join(map(str, values))
        head = f"{self.head} {kind} @{self.name}({passed}) {self.attributes} {{"
        return "\n".join([head, "entry.0:", *w.head, "  br label %begin.0", *w.lines, "}", ""]), w.declarations


def define(body: Callable[..., Value | None]) -> LlvmFunction:
    """Make a function of LLVM from its body: one of the module alone if its name does not begin with "wb"."""
    return LlvmFunction(body, head="define" if body.__name__.startswith("wb") else "define internal")


def module(functions: list[LlvmFunction]) -> str:
    """Return LLVM IR of these functions, with declarations of others that they call."""
    texts, declared = list[str](), dict[str, str]()
    for function in functions:
        text, declarations = function.text()
        texts.append(text)
        declared |= declarations
    own = {function.name for function in functions}
    return "\n".join([*(text for name, text in declared.items() if name not in own), *texts])


def leave(w: Writer, result: Value | None = None) -> None:
    """Emit a return from the function; the open block ends."""
    w.do(f"ret {result or 'void'}")
    w.label = ""


@contextmanager
def when(condition: Value) -> Iterator[None]:
    """Emit what is emitted within the context so that it runs if an i1 holds."""
    w = condition.w
    inside, after = w.block_name("when"), w.block_name("after")
    w.branch(condition.text, inside, after)
    w.open(inside)
    yield
    if w.label:
        w.jump(after)
    w.open(after)


class Loop:
    """A loop that is open: `leave_if` ends it."""

    def __init__(self, w: Writer) -> None:
        self.w, self.done, self.again = w, w.block_name("done"), w.block_name("again")

    def leave(self) -> None:
        """Emit the end of the loop; the open block ends."""
        self.w.jump(self.done)
        self.w.label = ""

    def skip(self) -> None:
        """Emit the beginning of the next iteration; the open block ends."""
        self.w.jump(self.again)
        self.w.label = ""

    def leave_if(self, condition: Value) -> None:
        """Emit that the loop ends here if an i1 holds."""
        self._branch(condition, self.done)

    def skip_if(self, condition: Value) -> None:
        """Emit that the loop's next iteration begins here if an i1 holds."""
        self._branch(condition, self.again)

    def _branch(self, condition: Value, target: str) -> None:
        """Emit a branch to a label if an i1 holds."""
        on = self.w.block_name("on")
        self.w.branch(condition.text, target, on)
        self.w.open(on)


@contextmanager
def repeat(w: Writer) -> Iterator[Loop]:
    """Emit what is emitted within the context as a loop without an end; the loop's methods end it."""
    loop, head = Loop(w), w.block_name("repeat")
    w.jump(head)
    w.open(head)
    yield loop
    if w.label:
        w.jump(loop.again)
    w.open(loop.again)
    w.jump(head)
    w.open(loop.done)


class Counter(Value):
    """The number of an iteration of the loop `loop`."""

    __slots__ = ("loop",)
    loop: Loop


@contextmanager
def count(end: Value, first: Number | Value = 0, step: Number | Value = 1) -> Iterator[Counter]:
    """Emit what is emitted within the context for each number from `first` up to `end`, unsigned; the value is it."""
    number = Variable(first if isinstance(first, Value) else end.like(first))
    with repeat(end.w) as loop:
        now = number.get()
        loop.leave_if(now.is_("uge", end))
        counter = Counter(end.w, now.text, now.elem)
        counter.loop = loop
        yield counter
        if end.w.label:
            end.w.jump(loop.again)
        end.w.open(loop.again)
        number.set(now + step)
        loop.again = end.w.block_name("again")


@contextmanager
def each_lane(mask: Value, *vectors: Value) -> Iterator[tuple[Value, ...]]:
    """Emit what is emitted within the context for each lane of a mask that is on, in ascending order.

    Args:
        mask: an integer with a bit per lane.
        vectors: of which the context's value has the lane's elements, behind its number.
    """
    arrays, left = [Variable(v) for v in vectors], Variable(mask)
    with repeat(mask.w) as loop:
        now = left.get()
        loop.leave_if(now.is_("eq", 0))
        left.set(now & now - 1)
        lane = now.intrinsic("cttz", more="i1 true")
        yield lane, *(array.lane(lane) for array in arrays)


class Variable:
    """Stack memory that holds a value of one type.

    Attributes:
        address: of the memory, aligned to 64 bytes.
        kind: an LLVM value of its type.
    """

    def __init__(self, first: Value) -> None:
        """Emit memory that holds `first`."""
        w, self.kind = first.w, first
        name = w.once(("variable", w.name()), f"alloca {first.type}, align 64")
        self.address = Value(w, name, "ptr")
        self.set(first)

    def get(self) -> Value:
        """Emit a load of the value."""
        return self.address.load(self.kind.elem, self.kind.lanes, align=64)

    def set(self, value: Value | Number) -> None:
        """Emit a store of a value."""
        self.address.store(
            value if isinstance(value, Value) else self.kind.like(value).spread(self.kind.lanes), align=64
        )

    def add(self, value: Value | Number) -> None:
        """Emit the addition of a value."""
        self.set(self.get() + value)

    def lane(self, number: Value) -> Value:
        """Emit a load of a vector's lane."""
        return self.address.at(number, self.kind.elem).load(self.kind.elem)

    def set_lane(self, number: Value, value: Value) -> None:
        """Emit a store to a vector's lane."""
        self.address.at(number, self.kind.elem).store(value)
