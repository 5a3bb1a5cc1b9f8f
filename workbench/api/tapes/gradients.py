"""Gradients of a tape: the seeds of a backward pass, the arrays it reaches, and what is left where it ended midway.

**Adjoints.** The arrays whose gradients a tape computes are requested; `tape.gradients` is a view of its adjoints by
array.

**Seeds** are checked, and read before anything changes. A caller may give any array: the `.grad` of what the gradient
comes from, that of another array, the loss itself, one array for two results. What lies in an adjoint of the pass is
copied; the pass then clears and adds to adjoints as it likes. Other large arrays are read where they are: a copy takes
as long as a kernel.

**Partial gradients** are left by a backward pass that ended in the middle: an interrupt, or a fault of an adjoint. They
are half added, and nothing can take that back: copies of all gradients beforehand would cost every pass. So the error
names them, and their memory knows it until something changes it: no later pass, of this tape or of another one, adds to
such a gradient.
"""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from workbench.api.narrow import is_float_array
from workbench.api.tapes.launch_step import NONE, LaunchStep
from workbench.api.tapes.steps import Step
from workbench.autodiff import FORWARD
from workbench.errors import LaunchError, NotDifferentiable, its_type
from workbench.host.narrow import is_list, is_mapping
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import covering, is_whole
from workbench.runtime.arrays.host_convert import refuse_masked
from workbench.runtime.arrays.structure import StructValue
from workbench.runtime.device.device import CPU
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.native.launcher import append_note
from workbench.structs import Struct
from workbench.types import Scalar, is_float


class Requested:
    """The arrays whose gradients are requested of a tape, and all that was computed from them."""

    def __init__(self, only: object) -> None:
        """Read the tape's `only`: the arrays whose gradients are requested.

        Raises:
            LaunchError: it is not a list of arrays of floats.
        """
        arrays = [a for a in only if is_float_array(a)] if is_list(only) else []
        if not is_list(only) or len(arrays) < len(only):
            raise LaunchError(
                f"Tape(only=…) takes a list of arrays of floats; this is {only!r}.", advice="Write only=[x]."
            )
        self.memories = {a.memory for a in arrays}

    def unwanted(self, record: LaunchRecord) -> frozenset[str]:
        """Return the parameters of a forward launch that it only reads, and whose gradients are not requested.

        Empty for the launch of a derivative.
        """
        executable, values = record.executable, record.values
        left_out = [k for k in executable.only_read if values[k].memory not in self.memories]
        if not left_out or record.direction != FORWARD:
            return NONE
        return frozenset([executable.names[k] for k in left_out])

    def follow(self, step: Step) -> None:
        """Add what a step computes from requested arrays to them."""
        for value in step.used:
            if value.memory in self.memories:
                self.memories.update([a.memory for a in step.changed])
                return


class Adjoints(Protocol):
    """The part of a tape's interface that reading gradients needs."""

    adjoints: dict[Memory, array]

    @property
    def seen(self) -> dict[int, array]:
        """The float arrays that it recorded, by their ids."""
        ...

    def adjoint_of(self, value: array) -> array:
        """Return the array that accumulates this array's gradient."""
        ...


class Gradients(Mapping[array, array]):
    """`tape.gradients[x]`: the adjoint of any array the tape saw, of the same shape; 0 where no gradient led to it.

    Of a struct that holds arrays it is such a struct, in which the adjoints of those that require a gradient are in
    their place. Of a tape with `only`, what it did not compute is missing.
    """

    def __init__(self, tape: Adjoints, only: Requested | None) -> None:
        """View the adjoints of `tape`; `only` has the arrays whose gradients are requested, None: of all."""
        self._tape = tape
        self._only = only

    def __getitem__(self, key: Any) -> Any:
        """Return an array's adjoint; of a struct a copy with adjoints in place of arrays that require a gradient.

        Raises:
            KeyError: it is no array of floats, the tape did not record it, or its gradient is not computed.
        """
        if isinstance(key, StructValue):
            result = copy.copy(key)
            for name, value in vars(key).items():
                if isinstance(value, StructValue) or (isinstance(value, array) and value.requires_grad):
                    setattr(result, name, self[value])
            return result
        if not isinstance(key, array):
            raise KeyError(f"gradients are of arrays; this is {its_type(key)}")
        if not is_float(key.dtype):
            raise KeyError(f"an array of {key.dtype!r} has no gradient")
        if not self._has(key.memory) and all(a.memory is not key.memory for a in self):
            raise KeyError("the tape recorded no launch, copy or fill of this array, or computes no gradient of it")
        return self._tape.adjoint_of(key)

    def __iter__(self) -> Iterator[array]:
        """Iterate over the float arrays that the tape recorded and whose gradients it computes."""
        only = self._only
        seen = self._tape.seen.values()
        return iter([a for a in seen if only is None or a.memory in only.memories or self._has(a.memory)])

    def __len__(self) -> int:
        """Return the number of arrays that iterating yields."""
        return sum(1 for _ in self)

    def _has(self, memory: Memory) -> bool:
        """Return whether the memory has an adjoint on the tape or a gradient of its own."""
        return memory in self._tape.adjoints or memory.grad is not None


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


_MOST = 6
"""Gradients that an error names."""


def mark_partial_gradients(error: BaseException, steps: Sequence[Step], adjoints: Mapping[Memory, array]) -> None:
    """Mark the gradients of a pass that an error has ended, and name them in the error's notes.

    Args:
        error: the error that ended it.
        steps: the steps that gradients go through, the last one first.
        adjoints: by memory; those that the steps carry are there.
    """
    names = _names(steps)
    for memory in names:
        if memory in adjoints:
            gradient_memory = adjoints[memory].memory
            gradient_memory.partial_gradients = gradient_memory.version
    listed = [*dict.fromkeys(names.values())]  # arrays of several launches may have one name
    more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
    append_note(
        error,
        f"backward() ended midway and left these gradients half added: {', '.join(listed[:_MOST])}{more}. "
        "Set them to 0 (tape.zero()) before the next backward().",
    )


def partial_gradients(steps: Sequence[Step], memory: Memory) -> NotDifferentiable:
    """Return the error for the gradient of a memory that was left half added, and that nothing has changed since."""
    return NotDifferentiable(
        f"The gradient of {_names(steps)[memory]} is half added: a backward() ended midway.",
        advice="Set it to 0 first: tape.zero(), or x.grad.zero_().",
    )


def _names(steps: Sequence[Step]) -> dict[Memory, str]:
    """Return names, as users call them, of the arrays through which the steps carry gradients, by memory."""
    known: dict[Memory, str] = {}
    for step in reversed(steps):
        names = {id(a): n for n, a in step.arrays.items()} if isinstance(step, LaunchStep) else {}
        for value in (*step.used, *step.changed):
            name = names.get(id(value))
            called = f"{name} of {step.record.kernel}" if isinstance(step, LaunchStep) else f"a {value.type!r}"
            known.setdefault(value.memory, called)
    return known
