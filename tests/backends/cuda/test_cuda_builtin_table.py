"""Every builtin's CUDA C++, on the emulated device, against its reference: every dtype, its domain, and the edges."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.devices import on_gpu
from tests.support.kernels.cuda_kernels import Make, array
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python import interpret
from workbench.builtins import TABLE, Builtin
from workbench.errors import KernelTypeError
from workbench.ir import Function
from workbench.types import SCALARS, Kind, Scalar, Type, Vector, bool, element, matrix

# What these do is only defined for operands that their expansions give them.
PARTIAL = {"trunc_div", "trunc_rem", "raw_shl", "raw_shr", "view_index"}
FLOAT_EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-45, -1e-40, 1e30, -3e38, np.inf, -np.inf, np.nan]


def signatures(dtype: Scalar) -> Iterator[tuple[Builtin, tuple[Type, ...], Type]]:
    """Every builtin that takes this dtype as it is, with its operand and result types."""
    for builtin in TABLE.values():
        if builtin.name in PARTIAL:
            continue
        for shape in (dtype, Vector(3, dtype), matrix((3, 3), dtype)):
            args: list[Type] = [shape] * len(builtin.params)
            if builtin.name == "where":
                args[0] = bool
            try:
                operands, result = builtin.rule(builtin.name, args)
            except KernelTypeError:
                continue
            if list(operands) == args and (isinstance(shape, Scalar) or not builtin.elementwise):
                yield builtin, operands, result


def kernel(builtin: Builtin, operands: tuple[Type, ...], result: Type) -> Function:
    """out[i] = f(x[i], y[i], …)"""
    names = "xyz"[: len(operands)]
    k = Make(f"{builtin.name}_{element(operands[-1]).name}_{'svm'[len(operands[-1].shape)]}", 1,
             out=array(result), **{n: array(t) for n, t in zip(names, operands, strict=True)})  # fmt: skip
    i = k.tid()
    k.store(k.out, i, k.call(builtin.name, *(k.load(getattr(k, n), i) for n in names)))
    return k.done()


def values(builtin: Builtin, operands: tuple[Type, ...]) -> list[np.ndarray[Any, Any]]:
    """Operand columns: the domain at random, then every combination of edges (for scalars)."""
    rng = np.random.default_rng(zlib.crc32(builtin.name.encode()))
    domain = builtin.domain or ((-3.0, 3.0),) * len(operands)
    columns = [_inside(rng, t, *domain[n % len(domain)]) for n, t in enumerate(operands)]
    if all(isinstance(t, Scalar) for t in operands):
        rows = list(itertools.product(*(_edges(t) for t in operands)))
        if len(rows) > 200:
            rows = [rows[n] for n in rng.permutation(len(rows))[:200]]
        with np.errstate(all="ignore"):
            extra = [np.array([row[n] for row in rows]).astype(element(t).numpy) for n, t in enumerate(operands)]
        columns = [np.concatenate(pair) for pair in zip(columns, extra, strict=True)]
    return columns


def _inside(rng: Any, type: Type, low: float, high: float) -> np.ndarray[Any, Any]:
    scalar = element(type)
    shape = (40, *type.shape)
    if scalar.kind is Kind.FLOAT:
        return rng.uniform(low, high, shape).astype(scalar.numpy)
    if scalar.kind is Kind.BOOL:
        return rng.integers(0, 2, shape).astype(bool.numpy)
    ends = np.iinfo(scalar.numpy)
    return rng.integers(ends.min, ends.max, shape, scalar.numpy, endpoint=True)


def _edges(type: Type) -> list[Any]:
    scalar = element(type)
    if scalar.kind is Kind.FLOAT:
        return FLOAT_EDGES
    if scalar.kind is Kind.BOOL:
        return [False, True]
    ends = np.iinfo(scalar.numpy)
    picked = {
        0,
        1,
        2,
        7,
        scalar.bits - 1,
        scalar.bits,
        ends.max,
        ends.max - 1,
        int(ends.min),
        int(ends.min) + 1,
        -1,
        -7,
    }
    return [scalar.numpy.type(v) for v in sorted(picked) if ends.min <= v <= ends.max]


def distance(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How many floats lie between; 0 for the same value, NaN beside NaN included; ±0 differ by one."""
    signed = np.dtype(f"i{a.dtype.itemsize}")

    def line(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        bits = x.view(signed).astype(object)
        return np.where(bits < 0, -(bits + 2 ** (8 * x.itemsize - 1)) - 1, bits)

    same = (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))
    broken = np.isnan(a) != np.isnan(b)
    return np.where(same, 0, np.where(broken, 2**80, abs(line(a) - line(b))))


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", SCALARS)
def test_the_text_means_the_reference(dtype: str, need: Callable[[str], str]) -> None:
    need("nvrtc")
    found = list(signatures(SCALARS[dtype]))
    functions = [kernel(*signature) for signature in found]
    library = on_gpu.Library(functions, Options())
    wrong: list[str] = []
    for (builtin, operands, result), function in zip(found, functions, strict=True):
        columns = values(builtin, operands)
        count = len(columns[0])
        expected, got = (np.zeros((count, *result.shape), element(result).numpy) for _ in range(2))
        interpret.run(function, count, [expected, *columns])
        library.run(function.name, count, [got, *columns])
        if element(result).kind is Kind.FLOAT:
            allowed = builtin.ulp + on_gpu.ULP if builtin.ulp else 0
            bad = distance(expected, got) > allowed
        else:
            bad = expected != got
        for n in np.flatnonzero(bad.reshape(count, -1).any(axis=1))[:2]:
            shown = ", ".join(repr(c[n]) for c in columns)
            wrong.append(f"{function.name}({shown}): CUDA text {got[n]!r}, reference {expected[n]!r}")
    assert not wrong, "\n" + "\n".join(wrong)
    assert len(found) >= 6


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_the_text_compiles_for_the_device(dtype: str, need: Callable[[str], str]) -> None:
    need("nvrtc")
    picked = list(signatures(SCALARS[dtype]))[:: 1 if dtype == "float32" else 4]
    for signature in picked:
        assert CudaBackend().compile(kernel(*signature), Options()).image, signature[0].name


def test_the_table_is_covered() -> None:
    seen = {builtin.name for dtype in SCALARS.values() for builtin, _, _ in signatures(dtype)}
    assert seen >= set(TABLE) - PARTIAL
