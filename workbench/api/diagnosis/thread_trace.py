"""Watching threads of a launch in the interpreter: where a tangent dies, and where a NaN is born."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product

import msgspec
import numpy as np
from msgspec.structs import replace

from workbench.api.builds.bind import bind
from workbench.autodiff.directions import then
from workbench.autodiff.forward_mode import traced_tangent
from workbench.backends.python.interpret import Step, step
from workbench.builtins import TABLE
from workbench.builtins.declaration.rules import called
from workbench.errors import KernelFault
from workbench.host.narrow import HostArray, Numpy, is_numpy_array
from workbench.ir.ops import EFFECTS, STRUCTURED
from workbench.ir.values import Function, Op, Value, walk
from workbench.passes.checks.finite_checks import MESSAGE
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.record import LaunchOptions, LaunchRecord
from workbench.types import ArrayType, Vector, is_float

THREADS = 256
OPERATIONS = 300_000
"""Operations that are followed at most, of all threads together: some seconds."""


def threads_of(dims: Sequence[int], first: Iterable[tuple[int, ...]] = ()) -> Iterator[tuple[int, ...]]:
    """Yield up to THREADS threads of a launch: those of `first` that it has, then the others from the start."""
    inside = [t for t in first if len(t) == len(dims) and all(i < n for i, n in zip(t, dims, strict=True))]
    others = (t for t in product(*(range(n) for n in dims)) if t not in inside)
    yield from islice(chain(inside, others), THREADS)


def copied(arguments: Iterable[object]) -> list[object]:
    """Return arguments for the interpreter: each array as a NumPy array of its own, everything else as it is."""
    return [np.array(a.numpy()) if isinstance(a, array) else a for a in arguments]


class Seen(msgspec.Struct, frozen=True):
    """A summary of some threads of a tangent: operations of the kernel that ran, values whose tangent was not 0."""

    ran: frozenset[Op]
    moving: frozenset[Value]


def tangents_seen(
    function: Function, dims: Sequence[int], arguments: Sequence[object], sources: Collection[str]
) -> Seen:
    """Interpret a function's tangent in some threads, and report what ran and which values change with the sources.

    Args:
        function: a kernel's IR.
        dims: the launch's dimensions.
        arguments: one per parameter; they are copied.
        sources: names of the parameters whose elements get random tangents; all others have the tangent 0.

    Raises:
        NotDifferentiable: there is no tangent.
    """
    traced = traced_tangent(function)
    random = np.random.default_rng(0)
    args = copied(arguments)
    for p, a in zip(function.params, list(args), strict=True):
        if is_float(p.type):
            blank = np.zeros_like(a) if isinstance(p.type, ArrayType) else _zero(p.type)
            args.append(random.uniform(0.5, 1.5, blank.shape).astype(blank.dtype) if p.name in sources else blank)
    back = {copy: op for op, copy in traced.copies.items()}
    owners: dict[Value, list[Value]] = {}
    for value, moved in traced.tangents.items():
        owners.setdefault(moved, []).append(value)
    ran: set[Op] = set()
    moving: set[Value] = set()
    for thread in threads_of(dims):
        for taken in _steps(traced.function, dims, args, thread):
            if taken.op in back:
                ran.add(back[taken.op])
            for value, result in zip(taken.op.results, taken.results, strict=True):
                if value in owners and np.any(result):
                    moving.update(owners[value])
    return Seen(frozenset(ran), frozenset(moving))


def _zero(type: object) -> HostArray | np.float64:
    """Return 0 as the tangent of a number or vector parameter."""
    return np.zeros(type.length) if isinstance(type, Vector) else np.float64(0)


def _steps(function: Function, dims: Sequence[int], args: list[object], thread: tuple[int, ...]) -> Iterator[Step]:
    """Yield the interpreted operations of one thread; a failed check ends them without an error."""
    try:
        yield from step(function, tuple(dims), args, thread)
    except KernelFault:
        return


def operation(op: Op | None) -> str:
    """Return how a reader calls the operation: `floor()`, `*`, `int()`, `reading it`; empty for None."""
    if op is None:
        return ""
    if op.name == "cast":
        return f"{op.result.type!r}()"
    return called(op.name) if op.name in TABLE else {"load": "reading it", "store": "writing it"}.get(op.name, op.name)


class Birth(msgspec.Struct, frozen=True):
    """The origin of the first NaN or infinity that a thread wrote.

    Attributes:
        op: the operation that produced it; for 0 · inf the one that produced the infinity. A `load` if it came from an
            array, a `const` if it is a constant.
        thread: its index.
        value: the result of `op`.
        operands: the operands of `op`.
    """

    op: Op
    thread: tuple[int, ...]
    value: object
    operands: tuple[object, ...]

    @property
    def array(self) -> str:
        """The name of the parameter that it was loaded from; empty if it was computed, or is a constant."""
        return self.op.operands[0].name if self.op.name == "load" else ""

    def __str__(self) -> str:
        if self.array:
            index = ", ".join(map(_number, self.operands[1:]))
            return f"{self.array}[{index}] is {_number(self.value)} as it is read, in thread {self.thread}."
        operands = f" of {' and '.join(map(_number, self.operands))}" if self.operands else ""
        return f"{operation(self.op)}{operands} gives {_number(self.value)} in thread {self.thread}."

    @property
    def outside(self) -> bool:
        """Whether it was loaded, or is a constant, and so was not computed here."""
        return self.op.name in ("load", "const")


def _is_nan(value: object) -> bool:
    """Return whether a value, or a component of it, is NaN."""
    return bool(np.isnan(np.asarray(value)).any())


def _number(value: object) -> str:
    """Return a number with six significant digits as text, a vector as NumPy prints it with six decimals."""
    return np.array2string(value, precision=6) if is_numpy_array(value) else f"{value:.6g}"


def birth(record: LaunchRecord, arguments: Mapping[str, object], targets: Collection[str]) -> Birth | None:
    """Return the origin of the first NaN or infinity that a launch writes to one of the arrays `targets`.

    The thread is found by running the launch on copies, with asserts; then it runs in the interpreter, before some
    others (in kernels of tiles, no other is examined). What was computed in the kernel goes before what was loaded.

    Args:
        record: the launch.
        arguments: its arguments as it finds them.
        targets: arrays that it writes.

    Returns:
        The origin; None if no thread that was examined writes one.
    """
    alone, thread_hint = suspect(record, arguments)
    if alone and thread_hint is None:
        return None
    function, args = record.executable.function, copied(arguments.values())
    links = _links(function)
    loaded: Birth | None = None
    budget = iter(range(OPERATIONS))
    for thread in threads_of(record.dim, () if thread_hint is None else (thread_hint,)):
        births = _births(function, record.dim, args, thread, targets, links, budget)
        for one in births:
            if not one.outside:
                return one
            loaded = loaded or one
    return loaded


def suspect(record: LaunchRecord, arguments: Mapping[str, object]) -> tuple[bool, tuple[int, ...] | None]:
    """Run a launch on copies, with asserts, to find the first thread that writes a NaN or an infinity.

    Returns:
        Whether asserts can find that thread in this launch, and its index: None if they can't, or if no thread does.
    """
    executable = record.executable
    arrays = {n: a for n, a in arguments.items() if isinstance(a, array)}
    if executable.geometry is not None or executable.function.block_dim or not arrays:
        return False, None
    copies: dict[Memory, Memory] = {}
    for value in arrays.values():
        if value.memory not in copies:
            copies[value.memory] = copy_of(value)
    moved = {n: arrays[n].twin(copies[arrays[n].memory]) if n in arrays else a for n, a in arguments.items()}
    code = replace(record.options, checks=True, fast_math=False, ordered=not executable.device.is_cuda)
    direction = then(record.direction, "finite")
    try:
        with unobserved():
            options = LaunchOptions(code, record.block_dim)
            execute(bind(record.specialisation, direction, record.dim, moved, executable.device, options))
            next(a for a in moved.values() if isinstance(a, array)).numpy()
    except KernelFault as fault:
        ours = fault.message.startswith(MESSAGE)
        return ours, fault.thread if ours else None
    return True, None


def _births(
    function: Function, dims: Sequence[int], args: list[object], thread: tuple[int, ...], targets: Collection[str],
    links: Mapping[Value, Sequence[Value]], budget: Iterator[int],
) -> Iterator[Birth]:  # fmt: skip
    """Yield the origin of each value that is not finite and that one thread writes to one of the arrays `targets`."""
    origins: dict[Value, Birth] = {}

    def origin(value: Value, seen: frozenset[Value] = frozenset()) -> Birth | None:
        if value in origins or value in seen:
            return origins.get(value)
        near = (origin(v, seen | {value}) for v in links.get(value, ()))
        return next((born for born in near if born is not None), None)

    for taken, _ in zip(_steps(function, dims, args, thread), budget, strict=False):
        op, operands = taken.op, taken.operands
        if op.name in EFFECTS and op.operands[0].name in targets and _is_bad(operands[-1]):
            born = origin(op.operands[-1])
            if born is not None:
                yield born
        for value, result in zip(op.results, taken.results, strict=True):
            if not is_float(value.type) or not _is_bad(result):
                origins.pop(value, None)
                continue
            here = Birth(op, thread, result, operands)
            if op.blocks:
                origins[value] = origin(value) or here
                continue
            pairs = list(zip(op.operands, operands, strict=True))
            if op.name == "where":
                pairs = [pairs[1 if np.all(operands[0]) else 2]]
            # A NaN before an infinity: of 0 · inf - NaN the NaN is what went on.
            bad = sorted((p for p in pairs if _is_bad(p[1])), key=lambda p: not np.isnan(p[1]).any())
            before = (origin(v) for v, _ in bad)
            old = next((b for b in before if b is not None), None)
            brought = old is not None and old.outside and _is_nan(result) and not _is_nan(old.value)
            origins[value] = here if old is None or brought else old


def _is_bad(value: Numpy | float) -> bool:
    """Return whether a value is a NumPy float, complex or vector with a NaN or infinity; False for integers."""
    return isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "fcV" and not np.isfinite(value).all()


def _links(function: Function) -> dict[Value, list[Value]]:
    """Map block parameters, and results of operations with blocks, to the values that they may take.

    Those that a block yields come before the one that a loop starts with.
    """
    links: dict[Value, list[Value]] = {}
    for op in walk(function.body):
        if op.name not in (*STRUCTURED, "custom"):
            continue
        init = op.operands[{"for": 3, "while": 0}.get(op.name, len(op.operands)) :]
        bodies = op.blocks[1:] if op.name == "while" else op.blocks
        for block in op.blocks:
            carried = block.params[len(block.params) - len(init) :] if init else ()
            for k, param in enumerate(carried):
                links[param] = [bodies[-1].yielded[k], init[k]]
        for k, result in enumerate(op.results):
            links[result] = [*(b.yielded[k] for b in bodies), *init[k : k + 1]]
    return links
