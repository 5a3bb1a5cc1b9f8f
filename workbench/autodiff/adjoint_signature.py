"""Parameters of adjoints and tangents, what an adjoint reads: what a tape must know without differentiating again."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir.values import Function, Value, read_arrays, written_arrays
from workbench.limits import CHECKPOINTS_LEAST, CHECKPOINTS_MOST
from workbench.tiles import contents
from workbench.types import ArrayType, Type, float64, int32, int64, is_float, uint64

CHECKPOINT_RANGE = range(CHECKPOINTS_LEAST, CHECKPOINTS_MOST + 1)
"""Numbers of checkpoints that a user may request."""


def adjoint_names(params: Sequence[Value]) -> dict[str, str]:
    """Map each parameter with a float type, by name, to the name of its adjoint array.

    That is `adj_x` for x; `adj2_x`, … for all if a parameter of the kernel is called like one of these (in an adjoint,
    say).
    """
    return _prefixed(params, "adj")


def tangent_names(params: Sequence[Value]) -> dict[str, str]:
    """Map each parameter with a float type, by name, to its tangent's name.

    That is `tan_x` for x; `tan2_x`, … for all if a parameter of the function is called like one of these.
    """
    return _prefixed(params, "tan")


def log_name(params: Sequence[Value], word: str) -> str:
    """Return a name for a log that no parameter has: the word, or the word with a number."""
    taken = {p.name for p in params}
    return next(n for k in range(len(taken) + 1) if (n := f"{word}{k or ''}") not in taken)


def order_logs(params: Sequence[Value]) -> list[Value]:
    """Return new parameters for a kernel that notes what it would add to shared floats (`ordered.py`).

    They are arrays of rows (uint64), values (float64) and starts (int32), with names that no parameter has.

    Args:
        params: the kernel's own.
    """
    types = {"rows": ArrayType(uint64, 1), "values": ArrayType(float64, 1), "starts": ArrayType(int32, 1)}
    return [Value(type, log_name(params, name)) for name, type in types.items()]


def residual_params(params: Sequence[Value]) -> list[Value]:
    """Return new parameters for residuals: float64 and int64, a row for each and a column for each thread.

    Args:
        params: the function's own.
    """
    types = {"residual_floats": ArrayType(float64, 2), "residual_ints": ArrayType(int64, 2)}
    return [Value(type, log_name(params, name)) for name, type in types.items()]


def residual_counts(storing: Function) -> list[int]:
    """Return how many residuals a thread stores as float64, and how many as int64."""
    stored = [op.operands[0] for op in storing.body.ops if op.name == "store"]
    return [stored.count(array) for array in storing.params[-2:]]


def adjoint_type(type: Type) -> ArrayType:
    """Return the type of the array that collects the adjoint of a parameter of a type.

    That is the type itself if it is an array, else an array of one dimension.
    """
    return type if isinstance(type, ArrayType) else ArrayType(contents(type), 1)


def _prefixed(params: Sequence[Value], word: str) -> dict[str, str]:
    """Map the name of each parameter with a float type to `<word>_<name>`, or `<word>2_<name>`, … if one is taken."""
    names = {p.name for p in params}
    prefix, number = f"{word}_", 1
    while any(f"{prefix}{n}" in names for n in names):
        number += 1
        prefix = f"{word}{number}_"
    return {p.name: f"{prefix}{p.name}" for p in params if is_float(p.type)}


def primal_params(adjoint: Function) -> tuple[Value, ...]:
    """Return those parameters of an adjoint that are the kernel's own.

    The others are adjoint arrays, one for each with a float type.
    """
    count = 0
    expected = 0
    while count + expected < len(adjoint.params):
        expected += is_float(adjoint.params[count].type)
        count += 1
    return adjoint.params[:count]


def adjoint_params(adjoint: Function) -> dict[str, Value]:
    """Map each of the kernel's parameters with a float type, by name, to the adjoint's parameter for its cotangents."""
    primal = primal_params(adjoint)
    return dict(zip((p.name for p in primal if is_float(p.type)), adjoint.params[len(primal) :], strict=True))


def reads(adjoint: Function) -> frozenset[str]:
    """Return the names of the kernel's arrays whose elements an adjoint reads.

    These must be what they were before the kernel's launch.
    """
    return read_arrays(adjoint) & {p.name for p in primal_params(adjoint)}


def kept(function: Function, adjoint: Function) -> frozenset[str]:
    """Return the names of the arrays that the kernel changes, and the adjoint needs as they were before the launch.

    The caller keeps a copy of each, made before the launch, and passes that in the array's place; likewise of any array
    in `reads(adjoint)` that shares memory with one that the launch writes. An adjoint that writes to one of the
    kernel's arrays (`written_arrays`) restores what was in it.
    """
    return (reads(adjoint) | written_arrays(adjoint)) & written_arrays(function)
