"""The adjoint launch of a recorded launch."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from workbench.api.builds.bind import adjoints_of, bind
from workbench.autodiff import then
from workbench.backends.base import Options
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.runtime.launching.record import LaunchOptions, LaunchRecord


def adjoint_options(
    record: LaunchRecord, unwanted: Set[str], contiguous: bool | None = None, ordered: bool = False
) -> Options:
    """Return the options of the adjoint of a recorded launch, which finds no gradients of `unwanted` and of numbers.

    Args:
        record: a launch, forward or a derivative.
        unwanted: its arrays whose gradients are not found.
        contiguous: whether the code reads no strides; None: as the launch's own.
        ordered: run its threads in order, as well if the launch does not.
    """
    params = record.specialisation.function.params
    constant = tuple(k for k, p in enumerate(params) if p.name in unwanted) if unwanted else None
    own = record.options
    return _without_numbers(own, constant, own.contiguous if contiguous is None else contiguous, ordered or own.ordered)


@lru_cache(maxsize=256)
def _without_numbers(options: Options, constant: tuple[int, ...] | None, contiguous: bool, ordered: bool) -> Options:
    left_out = options.constant if constant is None else constant
    return replace(options, numbers=False, constant=left_out, contiguous=contiguous, ordered=ordered)


@lru_cache(maxsize=256)
def _how(launch_options: LaunchOptions, code: Options) -> LaunchOptions:
    return replace(launch_options, code=code)


def bind_adjoint(
    record: LaunchRecord, adjoints: Mapping[str, array], instead: Mapping[str, Any] | None = None,
    unwanted: Set[str] = frozenset(), ordered: bool = False, step: str = "adjoint",
) -> LaunchRecord:  # fmt: skip
    """Return the adjoint launch of a recorded launch, with adjoints by parameter; numbers get none.

    Args:
        record: a launch, forward or a derivative.
        adjoints: adjoint arrays by parameter.
        instead: arguments of the launch to be replaced.
        unwanted: arrays of a forward launch whose gradients are not found; what `adjoints` has for them is not touched.
        ordered: run its threads in order.
        step: "adjoint", or a part of it.

    Raises:
        NotDifferentiable: there is no right adjoint.
    """
    direction = then(record.direction, step)
    complete = {
        adjoint: adjoints[name] if name in adjoints else zeros(1, record.loaded.types[name], record.loaded.device)
        for name, adjoint in adjoints_of(record.specialisation, direction).items()
    }
    arguments = {**record.arguments, **(instead or {}), **complete}
    options = adjoint_options(record, unwanted, ordered=ordered)
    launch_options = _how(record.how, options) if record.how.stream is None else replace(record.how, code=options)
    return bind(record.specialisation, direction, record.dim, arguments, record.loaded.device, launch_options)
