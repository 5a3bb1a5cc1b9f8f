"""Seeds of a backward pass: checked, and read before anything changes.

A caller may give any array: the `.grad` of what the gradient comes from, that of another array, the loss itself, one
array for two results. What lies in an adjoint of the pass is copied; the pass then clears and adds to adjoints as it
likes. Other large arrays are read where they are: a copy takes as long as a kernel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Container, Iterable

import msgspec
import numpy as np

from workbench.api.narrow import is_float_array
from workbench.api.tapes.steps import Step
from workbench.errors import LaunchError, its_type
from workbench.host.narrow import is_mapping
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import covering, is_whole
from workbench.runtime.arrays.host_convert import refuse_masked
from workbench.runtime.device.device import CPU
from workbench.runtime.device.memory import Memory
from workbench.structs import Struct
from workbench.types import Scalar, is_float

_SMALL = 4096
"""Up to so many bytes are copied rather than kept as an array."""
UNWRITTEN = "Launch the kernel that writes it inside `with tape:`; a change made through NumPy is not seen."


def _may_be_set(grad: Memory) -> bool:
    """Return whether an adjoint was written since it was allocated, or others may have written it."""
    return bool(grad.version or grad.exported is not None or grad.shared)


def starts(loss: object, grads: object, seen: Container[Memory], steps: Iterable[Step]) -> list[tuple[array, object]]:
    """Return the arrays that a backward pass starts at, with what their adjoints begin as.

    Args:
        loss: an array of one float, or None.
        grads: arrays to their adjoints, or None.
        seen: the memories that the tape's steps have touched.
        steps: what ran; with neither loss nor grads, it starts at the `.grad` of the arrays that they changed.

    Returns:
        Arrays, each with what its adjoint begins as: what the caller gave, or the bytes of a loss's 1.

    Raises:
        LaunchError: both are given, one does not fit, or neither is given and no result has a `.grad`.
    """
    if loss is not None and grads is not None:
        raise LaunchError("backward() takes a loss, or grads: one of the two.")
    if loss is None and grads is None:
        # One array for each memory, and all of that: its views have parts of the same gradient.
        results = [a for step in steps for a in step.changed]
        covered = {a.memory: covering(a) for a in results if a.memory.grad is not None and is_float(a.dtype)}
        grads = {value: value.twin(memory.grad.memory) for memory, value in covered.items()}
        if not grads:
            raise LaunchError(
                "backward() without a loss starts from the .grad of what was written, and no such array has one.",
                advice="Pass a loss or grads, or make the result with requires_grad=True and set its .grad.",
            )
        if not any(_may_be_set(memory.grad.memory) for memory in covered):
            raise LaunchError(
                "backward() without a loss starts from the .grad of what was written, and none of them was set.",
                advice="Pass the loss: tape.backward(loss).",
            )
    if loss is not None:
        if not isinstance(loss, array):
            raise LaunchError(
                f"A loss is an array of one float; this is {its_type(loss)}.",
                advice="Pass the array that a kernel has written, not a number taken out of it.",
            )
        if not _is_one(loss):
            raise LaunchError(
                f"A loss is one float; this is {loss.type!r} of shape {loss.shape}.", advice="Sum it in a kernel."
            )
        return [(loss, _ONES[loss.tag] if loss.memory.plain and not OBSERVERS.get() else 1.0)]
    if not is_mapping(grads) or not grads:
        raise LaunchError(f"backward(grads=…) takes a dict of arrays to their adjoints; this is {grads!r}.")
    seeds: list[tuple[array, object]] = []
    for target, value in grads.items():
        if not is_float_array(target):
            raise LaunchError(f"backward(grads=…) has arrays of floats as its keys; this is {target!r}.")
        if target.memory not in seen:
            raise LaunchError(
                f"Nothing that this tape recorded has used the {target.type!r} of shape {target.shape} in grads.",
                advice=UNWRITTEN,
            )
        seeds.append((target, value))
    return seeds


class Seed(msgspec.Struct, frozen=True, eq=False):
    """The initial value of an array's adjoint: an array of its own or a caller's, or the bytes of a small one.

    Attributes:
        target: the array.
        held: the value.
        version: of the memory of a caller's array, as it was read; -1 for any other value.
    """

    target: array
    held: array | bytes
    version: int = -1
    """Of the memory of a caller's array, as it was read."""

    def apart_from(self, adjoints: Iterable[array]) -> Seed:
        """Return the seed itself, or a copy if the caller's array may share memory with one of these."""
        held = self.held
        if self.version < 0 or not isinstance(held, array):
            return self
        first, end = held.memory.address, held.memory.address + held.memory.nbytes
        if any([m.address < end and first < m.address + m.nbytes for m in [a.memory for a in adjoints]]):
            return Seed(self.target, self.target.fresh_like().copy_(held))
        return self

    def in_place(self, steps: Iterable[Step]) -> dict[Memory, array]:
        """Return the caller's array, by the target's memory, if a step may read it in place of the adjoint.

        It may if the array has the target's layout, and only one step uses that memory; otherwise the result is empty.
        """
        held, memory = self.held, self.target.memory
        if self.version < 0 or not isinstance(held, array) or not is_whole(self.target):
            return {}
        is_dense = held.is_contiguous and held.address == held.memory.address
        uses = [step for step in steps if any([a.memory is memory for a in (*step.changed, *step.used)])]
        return {memory: held} if is_dense and len(uses) == 1 else {}

    def as_array(self) -> array:
        """Return the value as an array like the target.

        Raises:
            LaunchError: the caller has changed it since.
        """
        held = self.held
        if not isinstance(held, bytes):
            if held.memory.version != self.version >= 0:
                raise LaunchError(
                    f"The {held.type!r} of shape {held.shape} that backward() started from has changed since.",
                    advice="Run backward() again, or pass it wb.clone(x).",
                )
            return held
        filled = array.undefined(self.target.shape, self.target.dtype, CPU)
        ctypes.memmove(filled.address, held, len(held))
        return filled if filled.device == self.target.device else filled.to(self.target.device)

    def begin(self, adjoint: array, alone: bool) -> None:
        """Add the value to the target's adjoint; `alone`: that is 0, and nothing else is added, so it may be set."""
        if not alone or OBSERVERS.get():
            adjoint.add_(self.as_array())
        elif isinstance(self.held, bytes) and is_whole(adjoint):
            adjoint.memory.version += 1
            adjoint.memory.owner.data[:] = self.held
        else:
            adjoint.copy_(self.as_array())


def seed(target: array, value: object) -> Seed:
    """Return the seed that a user's value stands for, checked against the array.

    Raises:
        LaunchError: the value does not fit.
    """
    same_dtype = isinstance(value, array) and (value.dtype is target.dtype or value.dtype == target.dtype)
    if isinstance(value, array) and same_dtype and value.shape == target.shape:
        if value.nbytes <= _SMALL and not OBSERVERS.get():
            if is_whole(value):
                return Seed(target, value.memory.owner.tobytes())  # a tenth of the time that ctypes takes
            if value.is_contiguous and not value.device.is_cuda:
                return Seed(target, ctypes.string_at(value.address, value.nbytes))
        elif value.device == target.device and not OBSERVERS.get():
            return Seed(target, value, value.memory.version)
        return Seed(target, target.fresh_like().copy_(value))
    return Seed(target, _converted(target, value))


def _converted(target: array, value: object) -> array | bytes:
    """Return a user's seed value as an array of the target's shape and dtype on its device.

    Raises:
        LaunchError: it is not of numbers that can be converted, or has another shape and is no single number.
    """
    if type(value) is float and value == 1.0 and isinstance(target.dtype, Scalar):
        return target.fresh_like().fill_(value)
    if isinstance(target.dtype, Struct):
        records = array(value, target.dtype).numpy()
        return array(np.broadcast_to(records, target.shape), target.dtype, device=target.device)
    refuse_masked(value)
    host = value.numpy() if isinstance(value, array) else np.asarray(value)
    wanted, kind = (*target.shape, *target.dtype.shape), target.dtype.numpy
    if (
        (host.dtype.kind == "c" and kind.kind != "c")
        or not np.can_cast(host.dtype, kind, "unsafe")
        or host.dtype.kind in "OUSmM"
    ):
        raise LaunchError(f"An adjoint holds numbers; the one given for {target.type!r} is {value!r}.")
    if host.shape not in ((), wanted):
        raise LaunchError(f"This adjoint has shape {host.shape}; the array has {wanted}.")
    return array(np.broadcast_to(host, wanted).astype(kind), target.dtype, device=target.device)


_ONES: dict[str, bytes] = {}
"""The bytes of 1 by the tag of an array whose elements are floats, no vectors; none by any other tag."""


def _is_one(value: array) -> bool:
    """Return whether the array is one float."""
    one = _ONES.get(value.tag)
    if one is None:
        kind = value.dtype
        one = np.ones(1, kind.numpy).tobytes() if isinstance(kind, Scalar) and is_float(kind) else b""
        _ONES[value.tag] = one
    return value.nbytes == len(one) > 0
