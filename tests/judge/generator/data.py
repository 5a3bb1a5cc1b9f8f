"""Values for a program's arrays and scalar parameters: ordinary numbers, and some at the edges of their type."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.judge.generator.kinds import FLOATS, Kind
from tests.judge.generator.program import Draft
from tests.judge.generator.writer import ArrayParameter


def dtype(kind: Kind) -> np.dtype[Any]:
    """The NumPy type of an element; components of vectors and matrices are axes of it."""
    if kind.form == "struct":
        return np.dtype([(name, dtype(part)) for name, part in kind.fields], align=True)
    scalar = np.dtype(np.bool_) if kind.scalar == "bool" else _scalar(kind.scalar)
    return np.dtype((scalar, kind.shape)) if kind.shape else scalar


def _scalar(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def sizes(shape: tuple[int | str, ...], n: int) -> tuple[int, ...]:
    """A shape for n threads."""
    return tuple(n if size == "n" else 2 * n if size == "2n" else int(size) for size in shape)


def arrays(draft: Draft, n: int, seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Values of all array parameters, for n threads along the first dimension."""
    random = np.random.default_rng(seed)
    return {name: _values(random, draft, a, n) for name, a in draft.arrays.items()}


def _values(random: np.random.Generator, draft: Draft, array: ArrayParameter, n: int) -> np.ndarray[Any, Any]:
    values = np.zeros(sizes(array.shape, n), dtype(array.kind))
    if array.role == "sorted":
        return np.sort(random.uniform(-2, 2, values.shape)).astype(np.float32)
    _fill(random, values, array.kind, tame=draft.profile != "exact" or array.role == "sum")
    return values


def _fill(random: np.random.Generator, values: np.ndarray[Any, Any], kind: Kind, tame: bool) -> None:
    if kind.form == "struct":
        for name, part in kind.fields:
            _fill(random, values[name], part, tame)
        return
    values[...] = _numbers(random, kind.scalar, values.shape, tame)


def _numbers(random: np.random.Generator, type: str, shape: tuple[int, ...], tame: bool) -> np.ndarray[Any, Any]:
    if type == "bool":
        return random.random(shape) < 0.5
    if type in FLOATS:
        drawn = random.uniform(-2, 2, shape)
        if not tame:
            edges = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.inf, np.nan, 1e4, 3.0, -2.5])
            drawn = np.where(random.random(shape) < 0.2, random.choice(edges, shape), drawn)
        with np.errstate(over="ignore"):
            return drawn.astype(_scalar(type))
    info = np.iinfo(type)
    low, high = max(int(info.min), -9), min(int(info.max), 20)
    drawn = random.integers(low, high, shape, dtype=np.int64).astype(type)
    if not tame:
        edges = np.array([info.min, info.max, 0, 1, info.max - 1], dtype=type)
        drawn = np.where(random.random(shape) < 0.1, random.choice(edges, shape), drawn)
    return drawn


def scalars(draft: Draft, seed: int) -> dict[str, Any]:
    """Values of the scalar parameters, as NumPy scalars."""
    random = np.random.default_rng(seed + 1)
    return {name: _numbers(random, type, (1,), tame=True)[0] for name, type in draft.scalars.items()}
