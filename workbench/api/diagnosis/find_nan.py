"""`with find_nan():`: the line where the first NaN or infinity of a program was made."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import numpy as np

from workbench.api.diagnosis.thread_trace import Birth, birth
from workbench.autodiff import FORWARD
from workbench.errors import KernelFault
from workbench.host.narrow import HostArray
from workbench.runtime.active_observers import observing, unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.types import is_float


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
