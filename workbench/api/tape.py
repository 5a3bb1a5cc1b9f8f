"""The tape: what ran inside a `with`, to be walked backwards.

Every float array that a recorded launch touches has an adjoint, of the memory it lies in, so that views share theirs.
An adjoint launch reads arrays as the forward launch found them; where one has changed since, the gradient would be
wrong, so `backward` refuses and names the array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np

from workbench.api.launch import bind
from workbench.autodiff import adjoint_names
from workbench.backends.base import Options
from workbench.errors import LaunchError, NotDifferentiable
from workbench.runtime.array import array
from workbench.runtime.create import zeros
from workbench.runtime.execute import execute
from workbench.runtime.memory import Memory
from workbench.runtime.observers import OBSERVERS, Observer, backwards
from workbench.runtime.record import LaunchRecord
from workbench.types import element, is_float


class Gradients(Mapping[array, array]):
    """`tape.gradients[x]`: the adjoint of any array the tape saw, of the same shape."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def __getitem__(self, key: array) -> array:
        if not is_float(key.dtype):
            raise KeyError(f"an array of {key.dtype!r} has no gradient")
        if key.memory not in self._tape.adjoints and key.memory.grad is None:
            raise KeyError("the tape saw no launch, copy or fill of this array")
        return self._tape.adjoint_of(key)

    def __iter__(self) -> Any:
        return iter(self._tape.seen.values())

    def __len__(self) -> int:
        return len(self._tape.seen)


class Tape(Observer):
    """Records launches, copies and fills inside a `with`; `backward` gives the gradients.

    After `backward`, `.grad` of arrays made with `requires_grad=True`, and `tape.gradients[x]` of every float array,
    hold the sum of the gradients so far. The adjoint of what a launch wrote is read and cleared on the way.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self.adjoints: dict[Memory, array] = {}
        self.seen: dict[int, array] = {}
        self._token: Any = None

    def __enter__(self) -> Self:
        if self._token is not None:
            raise RuntimeError("this tape is recording already")
        self._token = OBSERVERS.set((*OBSERVERS.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        OBSERVERS.reset(self._token)
        self._token = None

    @property
    def gradients(self) -> Gradients:
        """The adjoint of each float array the tape saw."""
        return Gradients(self)

    def __len__(self) -> int:
        return len(self._steps)

    def launching(self, record: LaunchRecord) -> None:
        """Note a launch."""
        for value in record.arguments.values():
            self._see(value)
        if record.direction == "forward":
            self._steps.append((self._reverse_launch, (record,)))
        else:
            raise NotDifferentiable(
                f"The adjoint of {record.kernel} was launched while a tape records; the tape cannot differentiate it.",
                advice="Launch it after the `with` of the tape.",
            )

    def copying(self, target: array, source: array) -> None:
        """Note a copy."""
        self._see(target)
        self._see(source)
        if is_float(target.dtype):
            self._steps.append((self._reverse_copy, (target, source)))

    def adding(self, target: array, source: array) -> None:
        """Note a sum."""
        self._see(target)
        self._see(source)
        if is_float(target.dtype):
            self._steps.append((self._reverse_sum, (target, source)))

    def filling(self, target: array, value: float) -> None:
        """Note a fill."""
        self._see(target)
        if is_float(target.dtype):
            self._steps.append((self._reverse_fill, (target,)))

    def _see(self, value: Any) -> None:
        if isinstance(value, array) and is_float(value.dtype):
            self.seen.setdefault(id(value), value)

    def backward(self, loss: array | None = None, grads: Mapping[array, Any] | None = None) -> None:
        """Walk backwards from a loss, or from given adjoints.

        Args:
            loss: a float array of one element, whose adjoint is set to 1.
            grads: arrays to their adjoints (arrays or NumPy arrays of the same shape).

        Raises:
            LaunchError: neither or both are given, or the loss has more than one element.
            NotDifferentiable: a kernel has no right adjoint, or an array its adjoint reads has changed since.
        """
        if (loss is None) == (grads is None):
            raise LaunchError("backward() takes a loss, or grads: one of the two.")
        if self._token is not None:
            raise LaunchError("backward() was called inside the tape's own `with`.", advice="Call it after the block.")
        seeds: Mapping[array, Any] = {loss: np.ones(())} if loss is not None else grads or {}
        if loss is not None and (loss.size != 1 or not is_float(loss.dtype)):
            raise LaunchError(
                f"A loss is one float; this is {loss.type!r} of shape {loss.shape}.", advice="Sum it in a kernel."
            )
        for target in seeds:
            self._see(target)
        ready = [(reverse, self._ready(reverse, args)) for reverse, args in reversed(self._steps)]
        starts = [(self.adjoint_of(target), _seed(target, value)) for target, value in seeds.items()]
        with backwards():
            for adjoint, seed in starts:
                adjoint.add_(seed)
            for reverse, args in ready:
                reverse(*args)

    def _ready(self, reverse: Callable[..., None], args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Everything that can refuse, before any adjoint is changed."""
        return (self._adjoint_record(*args),) if reverse == self._reverse_launch else args

    def zero(self) -> None:
        """Set all adjoints to 0; the records stay."""
        with backwards():
            for adjoint in self.adjoints.values():
                adjoint.zero_()

    def reset(self) -> None:
        """Forget records and adjoints; `.grad` of the user's arrays keeps its values."""
        self._steps.clear()
        self.adjoints.clear()
        self.seen.clear()

    def adjoint_of(self, value: array) -> array:
        """The adjoint of an array: a view of its memory's adjoint, laid out alike."""
        base = self.adjoints.get(value.memory)
        if base is None:
            scalar = element(value.dtype)
            with backwards():
                base = (
                    value.memory.grad
                    if value.memory.grad is not None
                    else zeros(max(1, value.memory.nbytes // scalar.size), scalar, value.device)
                )
            self.adjoints[value.memory] = base
        made = value.view(value.shape, value.strides, base.address + value.address - value.memory.address)
        made.memory = base.memory
        return made

    def _adjoint_record(self, record: LaunchRecord) -> LaunchRecord:
        floats = {n: a for n, a in record.arguments.items() if isinstance(a, array) and is_float(a.dtype)}
        made = bind_adjoint(record, {name: self.adjoint_of(a) for name, a in floats.items()})
        self._check_versions(record, made)
        return made

    def _check_versions(self, record: LaunchRecord, made: LaunchRecord) -> None:
        for name in made.reads & record.versions.keys():
            if record.arguments[name].memory.version != record.versions[name]:
                raise NotDifferentiable(
                    f"{name} of {record.kernel} has changed since the launch, and the adjoint needs it as it was.",
                    record.location,
                    "Write the new values to another array, or call backward() before the change.",
                    record.kernel,
                    parameter=name,
                )

    def _reverse_launch(self, record: LaunchRecord) -> None:
        execute(record)

    def _reverse_copy(self, target: array, source: array) -> None:
        gone = self.adjoint_of(target)
        self.adjoint_of(source).add_(gone)
        gone.zero_()

    def _reverse_sum(self, target: array, source: array) -> None:
        self.adjoint_of(source).add_(self.adjoint_of(target))

    def _reverse_fill(self, target: array) -> None:
        self.adjoint_of(target).zero_()


def bind_adjoint(record: LaunchRecord, adjoints: Mapping[str, array]) -> LaunchRecord:
    """The adjoint launch of a recorded forward launch, with adjoints by parameter; numbers get a sum nobody keeps."""
    specialisation = record.specialisation
    types = {p.name: p.type for p in specialisation.function.params}
    complete = {
        name: adjoints[p] if p in adjoints else zeros(1, types[p], record.loaded.device)
        for p, name in adjoint_names(specialisation.function.params).items()
    }
    options = Options(checks=record.loaded.checked)
    return bind(specialisation, "adjoint", record.dim, {**record.arguments, **complete}, record.loaded.device, options)


def _seed(target: array, value: Any) -> array:
    """An adjoint to start from, as an array like the target."""
    host = value.numpy() if isinstance(value, array) else np.asarray(value)
    wanted = target.numpy()
    if host.shape not in ((), wanted.shape):
        raise LaunchError(f"This adjoint has shape {host.shape}; the array has {wanted.shape}.")
    return array(np.broadcast_to(host, wanted.shape).astype(wanted.dtype), target.dtype, device=target.device)
