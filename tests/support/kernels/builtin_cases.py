"""What the tests over the builtin table share: accepted types, edge values, kernels, comparison bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from workbench.builtins import TABLE, Builtin, Ref
from workbench.builtins.declaration.meaning import apply
from workbench.errors import KernelTypeError
from workbench.ir import Builder, Function, Value
from workbench.ir.verify import verify
from workbench.types import SCALARS, ArrayType, Kind, Quaternion, Scalar, Type, Vector, bfloat16, element, matrix
from workbench.types import bool as bool_

Signature = tuple[tuple[Scalar | Vector, ...], Scalar | Vector]

# Operands for which these hidden operations are not defined: their callers (other builtins' expansions) exclude them.
UNDEFINED: dict[str, Callable[..., bool]] = {
    "trunc_div": lambda x, y: y == 0 or (y == -1 and x == np.iinfo(x.dtype).min),
    "trunc_rem": lambda x, y: y == 0 or (y == -1 and x == np.iinfo(x.dtype).min),
    "raw_shl": lambda x, y: not 0 <= y < 8 * x.dtype.itemsize,
    "raw_shr": lambda x, y: not 0 <= y < 8 * x.dtype.itemsize,
    "view_index": lambda at, i, n: not 0 <= i < n,  # code without checks does not ask
}


def accepted(builtin: Builtin) -> list[Signature]:
    """Every signature of one dtype that the rule takes as it is: on scalars, or on vectors where only those fit."""
    found = []
    for scalar in SCALARS.values():
        for types in (scalar, *wide_types(scalar)):
            t = types[0] if isinstance(types, tuple) else types
            if builtin.elementwise and isinstance(t, Vector):
                continue
            operands = tuple(bool_ if p == "condition" else t for p in builtin.params)
            if isinstance(types, tuple):
                operands = types if len(types) == len(operands) else ()
            try:
                operand_types, result = builtin.rule(builtin.name, operands)
            except (KernelTypeError, IndexError):
                continue
            if operand_types == operands:
                assert not isinstance(result, ArrayType)
                found.append((operands, result))
    return found


def wide_types(scalar: Scalar) -> list[Vector | tuple[Vector, ...]]:
    """Forms of vectors, matrices and quaternions: one for all operands, or one for each."""
    square = [matrix((n, n), scalar) for n in (2, 3, 4)]
    wide, tall = matrix((2, 3), scalar), matrix((3, 2), scalar)
    pairs = [(wide, Vector(3, scalar)), (Vector(2, scalar), wide), (wide, tall), (square[2], Vector(4, scalar)),
             (Vector(2, scalar), Vector(3, scalar)), (Quaternion(4, scalar), Vector(3, scalar))]  # fmt: skip
    return [*(Vector(n, scalar) for n in (2, 3, 4)), *square, wide, Quaternion(4, scalar), *pairs]


def edges(scalar: Scalar) -> list[Any]:
    """Values at which arithmetic of this type is special."""
    dtype = scalar.numpy.type
    if scalar.kind is Kind.BOOL:
        return [dtype(False), dtype(True)]
    if scalar.kind is Kind.FLOAT:
        info = (ml_dtypes if scalar == bfloat16 else np).finfo(dtype)
        numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, info.smallest_subnormal, -info.smallest_subnormal, info.tiny]
        numbers += [info.max, 1.0, -1.0, 0.5, -2.5, 3.0, 0.1]
    else:
        limits = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, 7, limits.max, limits.min, scalar.bits - 1, scalar.bits, scalar.bits // 2]
        numbers += [-1, -2, -7] if scalar.kind is Kind.INT else [limits.max - 1]
    return [dtype(n) for n in numbers]


def rows(builtin: Builtin, operands: Sequence[Scalar | Vector], count: int = 24) -> list[tuple[Any, ...]]:
    """Operand values: all pairs of edge values (some triples), then `count` draws from the domain."""
    random = np.random.default_rng(7)
    pools = [edges(element(t)) for t in operands]
    scalars = list(product(*pools))
    if len(scalars) > 300:
        scalars = [scalars[i] for i in random.choice(len(scalars), 300, replace=False)]
    cases = []
    for row in scalars:
        cases.append(tuple(mixed(v, pool, t, random) for v, pool, t in zip(row, pools, operands, strict=True)))
    for _ in range(count):
        cases.append(tuple(drawn(builtin, n, t, random) for n, t in enumerate(operands)))
    undefined = UNDEFINED.get(builtin.name)
    return [c for c in cases if undefined is None or not undefined(*c)]


def mixed(value: Any, pool: list[Any], type: Scalar | Vector, random: np.random.Generator) -> Any:
    """The value itself, or a vector that holds it beside other edge values."""
    if isinstance(type, Scalar):
        return value
    vector = np.array([pool[i] for i in random.integers(len(pool), size=type.length)], dtype=type.dtype.numpy)
    vector[random.integers(type.length)] = value
    return vector.reshape(type.shape)


def drawn(builtin: Builtin, operand: int, type: Scalar | Vector, random: np.random.Generator) -> Any:
    """A value from the operand's domain; for an integer any value."""
    scalar = element(type)
    size = type.shape or None
    if scalar.kind is Kind.FLOAT:
        low, high = builtin.domain[operand] if builtin.domain else (-3.0, 3.0)
        number = random.uniform(low, high, size)
    elif scalar.kind is Kind.BOOL:
        number = random.integers(2, size=size)
    else:
        limits = np.iinfo(scalar.numpy)
        number = random.integers(limits.min, limits.max, size=size, dtype=scalar.numpy, endpoint=True)
    return np.asarray(number).astype(scalar.numpy)[()]


def columns(cases: Sequence[tuple[Any, ...]], operands: Sequence[Scalar | Vector]) -> list[np.ndarray]:
    """One array an operand."""
    return [np.array([c[n] for c in cases], dtype=element(t).numpy) for n, t in enumerate(operands)]


def expected(builtin: Builtin, cases: Sequence[tuple[Any, ...]], result: Scalar | Vector) -> np.ndarray:
    """The reference's results."""
    with np.errstate(all="ignore"):
        return np.array([apply(builtin, c, result) for c in cases], dtype=element(result).numpy)


def blank(count: int, type: Scalar | Vector) -> np.ndarray:
    """An array for `count` results."""
    return np.zeros((count, *type.shape), element(type).numpy)


def rowwise(name: str, operands: Sequence[Type], results: Sequence[Type], compute: Callable[..., Any]) -> Function:
    """A kernel that for each thread loads one element of each operand's array and stores each of the results."""
    sources = [Value(ArrayType(t), f"x{n}") for n, t in enumerate(operands)]  # type: ignore[arg-type]
    targets = [Value(ArrayType(t), f"y{n}") for n, t in enumerate(results)]  # type: ignore[arg-type]
    builder = Builder()
    i = builder.one("tid", (), SCALARS["int32"], {"axis": 0})
    refs = [Ref(builder, builder.load(s, i)) for s in sources]
    for target, ref in zip(targets, compute(*refs), strict=True):
        builder.store(target, i, ref.value)
    return verify(Function(name, (*sources, *targets), builder.body(), 1))


def kernel_of(name: str, signature: Signature) -> Function:
    """A kernel that does one builtin."""
    operands, result = signature
    return rowwise(name, operands, [result], lambda *refs: [TABLE[name](*refs)])


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many representable numbers lie between: 0 for equal bits (and for two NaNs); ±0 are 1 apart."""
    if a.dtype.kind not in "fV":
        return (a != b).astype(np.float64)
    integer = np.dtype(f"i{a.dtype.itemsize}")
    order = [
        np.where(v < 0, np.iinfo(integer).min - v.astype(object) - 1, v) for v in (a.view(integer), b.view(integer))
    ]
    apart = np.abs(order[0].astype(object) - order[1].astype(object)).astype(np.float64)
    return np.where(np.isnan(a) & np.isnan(b), 0.0, apart)


def mismatch(got: np.ndarray, want: np.ndarray, cases: Sequence[tuple[Any, ...]], ulp: float) -> str:
    """Empty where all results are within `ulp`; else the worst case in words."""
    assert got.dtype == want.dtype and got.shape == want.shape
    apart = distance(got, want)
    apart = apart.reshape(len(cases), -1).max(axis=1)
    bad = int((apart > ulp).sum())
    if not bad:
        return ""
    worst = int(apart.argmax())
    return f"{bad} of {len(cases)}: {cases[worst]} gives {got[worst]!r}, not {want[worst]!r} ({apart[worst]:g} ulp)"
