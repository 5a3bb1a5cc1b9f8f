"""The catalogue's kernels as programs of JAX: the same text read by Python, over scalars that JAX follows.

No part of the kernel language runs here: Python parses and executes the text, arrays are lists of float64 scalars of
JAX, vectors are lists of three, and the threads run in order. Loops are written out by running, so their trip counts
are those of the values given.
"""

from __future__ import annotations

import importlib
import math
import operator
import textwrap
from collections.abc import Callable, Sequence
from typing import Any


class Vec(list[Any]):
    """A vector of JAX scalars, as the language has it: elementwise with vectors and numbers, x, y, z."""

    def _with(self, other: Any, how: Callable[[Any, Any], Any]) -> Vec:
        return Vec(map(how, self, other if isinstance(other, list) else [other] * len(self)))

    def __add__(self, other: Any) -> Vec:  # type: ignore[override]
        return self._with(other, operator.add)

    def __mul__(self, other: Any) -> Vec:  # type: ignore[override]
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Vec:
        return self._with(other, operator.truediv)

    def __getattr__(self, name: str) -> Any:
        return self["xyz".index(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        self["xyz".index(name)] = value


class Array:
    """Rows of JAX scalars that a program reads and writes; `w[i, j]` and, of vectors, copies."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.rows = [Array(r) if isinstance(r, list) and not isinstance(r, Vec) else r for r in rows]

    def __getitem__(self, at: Any) -> Any:
        first, *rest = at if isinstance(at, tuple) else (at,)
        found = self.rows[first]
        return found[tuple(rest)] if rest else Vec(found) if isinstance(found, Vec) else found

    def __setitem__(self, at: Any, value: Any) -> None:
        first, *rest = at if isinstance(at, tuple) else (at,)
        if rest:
            self.rows[first][tuple(rest)] = value
        else:
            self.rows[first] = value


def _dot(u: Vec, v: Vec) -> Any:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _cross(u: Vec, v: Vec) -> Vec:
    return Vec(u[k - 2] * v[k - 1] - u[k - 1] * v[k - 2] for k in range(3))


def _add(array: Array, at: int, value: Any) -> None:
    array[at] = array[at] + value


def _largest(array: Array, at: int, value: Any) -> None:
    array[at] = max(array[at], value)


def _names(jax: Any) -> dict[str, Any]:
    """What the text may call."""
    jnp = jax.numpy

    def length(v: Vec) -> Any:
        return jnp.sqrt(_dot(v, v))

    def whole(value: Any) -> int:
        return int(jax.lax.stop_gradient(value))

    return {
        "sin": jnp.sin, "cos": jnp.cos, "sqrt": jnp.sqrt, "float64": lambda v: v, "int": whole,
        "uint32": whole, "int64": whole, "vec3d": lambda *v: Vec(v), "dot": _dot, "cross": _cross,
        "length": length, "normalize": lambda v: v / length(v),
        "atomic_add": _add, "atomic_sub": lambda array, at, value: _add(array, at, -value), "atomic_max": _largest,
    }  # fmt: skip


def twin_gradients(
    funcs: str, body: str, threads: int, given: dict[str, Any], seeds: dict[str, Any]
) -> dict[str, Any]:  # fmt: skip
    """The gradient by `jax.grad` of `sum(seeds * what the arrays hold at the end)`, float64, by parameter.

    Args:
        funcs, body: as in the catalogue; `given` and `seeds` as its test makes them: arrays, the number `a`.
    """
    jax: Any = importlib.import_module("jax")
    text = f"{funcs}def k(i, x, y, w, p, at, count, a, n):\n{textwrap.indent(body, '    ')}\n"
    names = {"__name__": "twin", **{t: None for t in ("int32", "array")}, **_names(jax)}
    exec(f"from __future__ import annotations\n{text}", names)
    floats = {k: v.tolist() if k in seeds else v for k, v in given.items() if k in seeds or k == "a"}

    def objective(moved: dict[str, Any]) -> Any:
        arrays = {k: Array([Vec(r) for r in moved[k]] if k == "p" else moved[k]) for k in seeds}
        whole = {k: Array(given[k].tolist()) for k in ("at", "count")}
        for i in range(threads):
            names["k"](i, **arrays, **whole, a=moved["a"], n=given["n"])
        return sum(s * v for k in seeds for s, v in zip(_flat(seeds[k].tolist()), _flat(arrays[k]), strict=True))

    return jax.grad(objective)(jax.tree.map(jax.numpy.float64, floats))


def _flat(rows: Any) -> list[Any]:
    rows = rows.rows if isinstance(rows, Array) else rows
    return [v for r in rows for v in _flat(r)] if isinstance(rows, list) else [rows]


def close(found: Any, expected: Any) -> bool:
    """Whether two gradients agree: 1e-9 of the largest element, each element."""
    one, two = _flat(found.tolist()), [float(v) for v in _flat(expected)]
    scale = max(1e-3, *map(abs, two)) if two else 1.0
    return len(one) == len(two) and all(
        math.isclose(u, v, rel_tol=1e-9, abs_tol=1e-9 * scale) for u, v in zip(one, two, strict=True)
    )
