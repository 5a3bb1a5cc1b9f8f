"""`with find_nan():` finds the line where the first NaN or infinity of a program was made, by watching threads.

Threads of a launch are watched in the interpreter: where a NaN is born, and where a tangent dies (`tangents_seen`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice, product

import msgspec
import numpy as np
from msgspec.structs import replace

from workbench.api.builds.bind import bind
from workbench.autodiff import FORWARD
from workbench.autodiff.directions import then
from workbench.autodiff.forward_mode import traced_tangent
from workbench.backends.python.interpret import Step, step
from workbench.builtins import TABLE
from workbench.builtins.declaration.rules import called
from workbench.errors import KernelFault
from workbench.host.narrow import HostArray, Numpy, is_numpy_array
from workbench.ir.ops import EFFECTS, STRUCTURED
from workbench.ir.values import Function, Op, Value, walk
from workbench.passes.checks.bounds_checks import MESSAGE
from workbench.runtime.active_observers import observing, unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.observer import Observer
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
        """Return whether it was loaded, or is a constant, and so was not computed here."""
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


@contextmanager
def find_nan(infinities: bool = True) -> Generator[None]:
    """Stop at the launch that makes the first NaN, and say on which line, in which thread and of what values.

        with wb.find_nan():
            for _ in range(100):
                wb.launch(step, n, inputs=[u, dt])

    For debugging: after each launch inside, the arrays that it has written are checked, and arrays that a launch
    changes in place are copied before it. Gradients are `explain_grad`'s matter: what `backward` runs is left alone.

    Args:
        infinities: stop at an infinity too, if a kernel has made it: one that it loads or has as a constant may stay.

    Raises:
        KernelFault: a launch inside has written a NaN or an infinity; it is over, and its location is the line.
    """
    with observing(_Watch(infinities)):
        yield


class _Watch(Observer):
    """An observer that checks what launches write for NaN or infinities."""

    def __init__(self, infinities: bool) -> None:
        """Watch for NaN, and with `infinities` for infinities too."""
        self._infinities = infinities
        self._before: dict[int, dict[Memory, Memory]] = {}

    def launching(self, record: LaunchRecord) -> None:
        """Copy the float arrays that a forward launch reads and is about to change."""
        if record.direction != FORWARD:
            return
        changed = {a.memory for a in _floats(record, record.writes).values()}
        read = [a for n, a in _arrays(record).items() if n in record.reads and a.memory in changed]
        with unobserved():
            self._before[id(record)] = {a.memory: copy_of(a) for a in read}

    def done(self, subject: object, started: float, seconds: float) -> None:
        """Check what the launch has written; adjoint launches are not checked.

        Raises:
            KernelFault: there is a NaN, or an infinity that the kernel has made.
        """
        before = self._before.pop(id(subject), None)
        if before is None or not isinstance(subject, LaunchRecord):
            return
        with unobserved():
            fault = self._fault(subject, before)
        if fault is not None:
            raise fault

    def _fault(self, record: LaunchRecord, snapshots: dict[Memory, Memory]) -> KernelFault | None:
        """Return the fault for the first NaN (or infinity) that a launch wrote; None if it wrote none that is its own.

        If an array held a NaN before, the fault names that array instead of a line.

        Args:
            record: a launch that has run.
            snapshots: copies from before the launch, of the memories that it reads and writes.
        """
        test = np.isfinite if self._infinities else _is_number
        written = _floats(record, record.writes)
        strange = {n for n, a in written.items() if not _all(test, a)}
        if not strange:
            return None
        before = {n: a.twin(snapshots[a.memory]) if a.memory in snapshots else a for n, a in _arrays(record).items()}
        ill = next((n for n in sorted(record.reads & before.keys()) if not _all(_is_number, before[n])), "")
        if ill:
            message = f"{ill} holds a NaN before {record.kernel} runs: it was not made by a launch in this `with`."
            return KernelFault(message, record.location, "Look at the data.", record.kernel, parameter=ill)
        born = None
        if record.executable.geometry is None:
            born = birth(record, {**record.arguments, **before}, strange)
        if born is not None and not born.outside:
            return _placed(record, born)
        name = next((n for n in sorted(strange) if _is_new(written[n], snapshots)), "")
        return _unplaced(record, name) if name else None


def _placed(record: LaunchRecord, born: Birth) -> KernelFault:
    """Return the fault for a NaN or infinity whose operation and thread are known."""
    what = "NaN" if np.isnan(np.asarray(born.value)).any() else "infinity"
    return KernelFault(
        f"The first {what}: {born}", born.op.location, function=record.kernel, thread=born.thread, values=born.operands
    )


def _unplaced(record: LaunchRecord, name: str) -> KernelFault:
    """Return the fault for an array that a launch made NaN or infinite, which says why no line of it can be blamed."""
    why = "no single thread does: their sum overflows"
    if record.executable.geometry is not None:
        why = "it is CUDA C++, which is not examined"
    elif record.executable.function.block_dim:
        why = "none of the blocks that were examined does"
    message = f"{record.kernel} makes elements of {name} NaN or infinite; {why}."
    return KernelFault(message, record.location, "", record.kernel, parameter=name)


def _is_new(value: array, snapshots: dict[Memory, Memory]) -> bool:
    """Return whether an element is NaN, or is infinite and was finite before the launch, according to the snapshots."""
    after = value.numpy()
    before = value.twin(snapshots[value.memory]).numpy() if value.memory in snapshots else np.full_like(after, np.inf)
    return bool((np.isnan(after) | (np.isinf(after) & np.isfinite(before))).any())


def _arrays(record: LaunchRecord) -> dict[str, array]:
    """Return the float arrays among a launch's arguments, by parameter."""
    return {n: a for n, a in record.arguments.items() if isinstance(a, array) and is_float(a.dtype)}


def _floats(record: LaunchRecord, names: frozenset[str]) -> dict[str, array]:
    """Return the float arrays of a launch whose parameters are in `names`, by parameter."""
    return {n: a for n, a in _arrays(record).items() if n in names}


def _is_number(values: np.ndarray) -> np.ndarray:
    """Return for each element whether it is not NaN; infinities count as numbers."""
    return ~np.isnan(values)


def _all(test: Callable[[HostArray], HostArray], value: array) -> bool:
    """Return whether the elementwise test holds for all elements of an array."""
    return bool(test(value.numpy()).all())
