"""Watching threads of a launch in the interpreter: where a tangent dies, and where a NaN is born."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from workbench.autodiff.tangent import traced_tangent
from workbench.backends.python.interpret import Step, step
from workbench.errors import KernelFault
from workbench.ir.values import EFFECTS, Function, Op, Value
from workbench.runtime.array import array
from workbench.types import ArrayType, Vector, is_float

THREADS = 256


def threads_of(dims: Sequence[int], first: Iterable[tuple[int, ...]] = ()) -> Iterator[tuple[int, ...]]:
    """Some threads of a launch: those given, then from the start."""
    inside = [t for t in first if len(t) == len(dims) and all(i < n for i, n in zip(t, dims, strict=True))]
    yield from islice([*inside, *islice(product(*(range(n) for n in dims)), THREADS)], THREADS)


def copied(arguments: Iterable[Any]) -> list[Any]:
    """Arguments for the interpreter: NumPy copies of arrays."""
    return [np.array(a.numpy()) if isinstance(a, array) else a for a in arguments]


@dataclass(frozen=True)
class Seen:
    """What some threads of a tangent did: operations of the kernel that ran, values whose tangent was not 0."""

    ran: frozenset[Op]
    moving: frozenset[Value]


def tangents_seen(function: Function, dims: Sequence[int], arguments: Sequence[Any], sources: Collection[str]) -> Seen:
    """Move the elements of the sources, each its own way, and see what moves with them.

    Raises:
        NotDifferentiable: there is no tangent.
    """
    made = traced_tangent(function)
    random = np.random.default_rng(0)
    given = copied(arguments)
    for p, a in zip(function.params, list(given), strict=True):
        if is_float(p.type):
            blank = np.zeros_like(a) if isinstance(p.type, ArrayType) else _zero(p.type)
            given.append(random.uniform(0.5, 1.5, blank.shape).astype(blank.dtype) if p.name in sources else blank)
    back = {copy: op for op, copy in made.copies.items()}
    owners: dict[Value, list[Value]] = {}
    for value, moved in made.tangents.items():
        owners.setdefault(moved, []).append(value)
    ran: set[Op] = set()
    moving: set[Value] = set()
    for thread in threads_of(dims):
        for taken in _steps(made.function, dims, given, thread):
            if taken.op in back:
                ran.add(back[taken.op])
            for value, result in zip(taken.op.results, taken.results, strict=True):
                if value in owners and np.any(result):
                    moving.update(owners[value])
    return Seen(frozenset(ran), frozenset(moving))


def _zero(type: Any) -> Any:
    return np.zeros(type.length) if isinstance(type, Vector) else np.float64(0)


def _steps(function: Function, dims: Sequence[int], given: list[Any], thread: tuple[int, ...]) -> Iterator[Step]:
    try:
        yield from step(function, tuple(dims), given, thread)
    except KernelFault:
        return


def birth_of_nan(
    function: Function, dims: Sequence[int], arguments: Sequence[Any], targets: Collection[str],
    first: Iterable[tuple[int, ...]] = (),
) -> Op | None:  # fmt: skip
    """The operation that made the first NaN (or, of 0 · inf, the infinity) that reached a target array.

    None where none of the threads that were tried wrote a NaN that was not loaded.
    """
    given = copied(arguments)
    for thread in threads_of(dims, first):
        made: dict[Value, tuple[Op, Any]] = {}
        for taken in _steps(function, dims, given, thread):
            op = taken.op
            made.update((v, (op, r)) for v, r in zip(op.results, taken.results, strict=True))
            if op.name in EFFECTS and op.operands[0].name in targets and _is_nan(made, op.operands[-1]):
                found = _origin(op.operands[-1], made, _is_nan)
                if found is not None and found.name != "load":
                    return found
    return None


def _value(made: dict[Value, tuple[Op, Any]], value: Value) -> Any:
    return made[value][1] if value in made else None


def _is_nan(made: dict[Value, tuple[Op, Any]], value: Value) -> bool:
    found = _value(made, value)
    return found is not None and is_float(value.type) and bool(np.isnan(found).any())


def _is_infinite(made: dict[Value, tuple[Op, Any]], value: Value) -> bool:
    found = _value(made, value)
    return found is not None and is_float(value.type) and bool(np.isinf(found).any())


def _origin(value: Value, made: dict[Value, tuple[Op, Any]], bad: Any) -> Op | None:
    """Backwards from a value that is bad to the operation all whose operands are good."""
    seen: set[Value] = set()
    while value in made and value not in seen:
        seen.add(value)
        op, _ = made[value]
        inputs = list(op.operands)
        if op.name == "where":
            chosen = _value(made, op.operands[0])
            inputs = [op.operands[1 if chosen is None or bool(chosen) else 2]]
        inputs += [b.yielded[op.results.index(value)] for b in op.blocks if len(b.yielded) == len(op.results)]
        worse = next((v for v in inputs if bad(made, v)), None)
        if worse is not None:
            value = worse
            continue
        infinite = next((v for v in inputs if _is_infinite(made, v)), None)
        if bad is _is_nan and infinite is not None:
            return _origin(infinite, made, _is_infinite) or op
        return op
    return None
