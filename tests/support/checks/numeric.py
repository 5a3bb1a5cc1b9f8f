"""Kernels from text, and their adjoints against difference quotients of the Python interpreter in float64."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import numpy as np

from tests.backends.cpu.conftest import build, pack
from workbench import types
from workbench.autodiff import adjoint, adjoint_params, kept
from workbench.backends.base import Options
from workbench.backends.cpu.native.dispatch import dispatch
from workbench.backends.python.interpret import run
from workbench.builtins import FORMS, TABLE
from workbench.frontend.state.definition import Definition, Scope
from workbench.frontend.statements.lower import lower
from workbench.ir.values import Function
from workbench.source import Source
from workbench.types import ArrayType, Type, float64, int32

X1, X2, I1 = ArrayType(float64), ArrayType(float64, 2), ArrayType(int32)
V1 = ArrayType(types.VECTORS["vec3d"])
LANGUAGE = {**TABLE, **FORMS, **types.SCALARS, **types.VECTORS, "range": range}


def values(*shape: int, low: float = 0.3, high: float = 1.7) -> np.ndarray:
    """Numbers drawn evenly, the same each time for one shape."""
    return np.random.default_rng(len(shape) + sum(shape)).uniform(low, high, shape)


def kernel(text: str, signature: dict[str, Type], own: dict[str, Any] | None = None) -> Function:
    """The one kernel of the text, or its last `def` where there are more, for parameters of these types."""
    source = Source(textwrap.dedent(text).strip() + "\n")
    nodes = [n for n in ast.parse(source.text).body if isinstance(n, ast.FunctionDef)]
    scope = Scope(own=own or {}, language=LANGUAGE)
    return lower(Definition(nodes[-1].name, nodes[-1], source, scope), signature).function


def compiled(function: Function, dim: int, args: list[Any]) -> None:
    """Run a function compiled for this machine's CPU; arrays are written in place."""
    code = build(function, Options())
    buffer = pack(function, [dim], args)
    dispatch(code.address, buffer.ctypes.data, dim, 1)


def gradients(
    function: Function, dim: Any, args: list[Any], seeds: dict[str, np.ndarray], *, atomic: bool = False,
    reverse: Function | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """What the adjoint leaves in each adjoint array, by the kernel's names, from these cotangents of its arrays.

    `reverse`: an adjoint that was derived otherwise.

    The adjoint runs, as on a tape, on what the kernel has left in its arrays; of those in `kept`, on what they held
    before.
    """
    reverse = reverse or adjoint(function, atomic=atomic)
    after = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    run(function, dim, after)
    copies = kept(function, reverse)
    after = [np.array(a) if p.name in copies else b for p, a, b in zip(function.params, args, after, strict=True)]
    adjoints = {}
    given = dict(zip((p.name for p in function.params), after, strict=True))
    for name, param in adjoint_params(reverse).items():
        if isinstance(function.params[list(given).index(name)].type, ArrayType):
            adjoints[name] = np.array(seeds.get(name, np.zeros_like(given[name])))
        else:
            assert isinstance(param.type, ArrayType)
            element = param.type.dtype
            tail = (element.length,) if isinstance(element, types.Vector) else ()
            adjoints[name] = np.zeros((1, *tail))
    before = [np.array(a) if isinstance(a, np.ndarray) else a for a in after]
    run(reverse, dim, [*after, *adjoints.values()])
    for a, b in zip(after, before, strict=True):
        np.testing.assert_array_equal(a, b, "the adjoint changed an array of the kernel")
    return adjoints


def _objective(function: Function, dim: Any, args: list[Any], seeds: dict[str, np.ndarray]) -> float:
    copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    run(function, dim, copies)
    total = 0.0
    for param, value in zip(function.params, copies, strict=True):
        if param.name in seeds:
            total += float(np.sum(seeds[param.name] * value))
    return total


def check(function: Function, dim: Any, *args: Any, step: float = 1e-5, atomic: bool = False) -> Function:
    """Compare every element of every gradient with a difference quotient; gives the adjoint.

    The objective is the scalar product of all float arrays after the kernel with random cotangents, so that every
    array is input and output at once.
    """
    random = np.random.default_rng(0)
    arguments = list(args)
    seeds = {
        p.name: random.uniform(0.5, 1.5, a.shape)
        for p, a in zip(function.params, arguments, strict=True)
        if isinstance(a, np.ndarray) and isinstance(p.type, ArrayType) and a.dtype == np.float64
    }
    found = gradients(function, dim, arguments, seeds, atomic=atomic)
    for position, param in enumerate(function.params):
        if param.name not in found:
            continue
        value = np.array(arguments[position], dtype=np.float64)
        expected = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            sides = []
            for sign in (1, -1):
                moved = value.copy()
                moved[place] += sign * step
                changed = [*arguments]
                changed[position] = moved if moved.ndim else float(moved)
                sides.append(_objective(function, dim, changed, seeds))
            expected[place] = (sides[0] - sides[1]) / (2 * step)
        got = found[param.name].reshape(value.shape)
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6 * scale, err_msg=f"gradient of {param.name}")
    return adjoint(function, atomic=atomic)
