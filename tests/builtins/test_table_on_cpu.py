"""The CPU against the reference: every builtin and accepted type, domains and edge values; equal bits for `ulp` 0."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from tests.support.kernels.builtin_cases import UNDEFINED, Signature, accepted, blank, columns, expected, mismatch, rows
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.layout import layout
from workbench.builtins import TABLE, Ref
from workbench.cache.native import load_kernel
from workbench.ir import Builder, Function, Value
from workbench.ir.verify import verify
from workbench.types import SCALARS, ArrayType, Scalar, Vector, element, int32
from workbench.types import bool as bool_

ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int32, *[ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
)
GO_ON = (ctypes.c_int64 * 5)()  # a `%stop` that stops nothing
Job = tuple[str, Signature]


def run_on_cpu(function: Function, count: int, args: list[np.ndarray]) -> None:
    """Compile, load and call the entry over [0, count) in this thread."""
    backend = CpuBackend()
    artifact = backend.compile(verify(function), Options(), backend.target())
    plan = layout([(p.name, p.type) for p in function.params])
    buffer = bytearray(plan.size)
    struct.pack_into("4q", buffer, 0, count, 1, 1, 1)
    for slot, arg in zip(plan.slots, args, strict=True):
        struct.pack_into("3q", buffer, slot.offset, arg.ctypes.data, arg.shape[0], arg.strides[0])
    code = load_kernel(artifact.image, artifact.metadata["entry"])
    params = np.frombuffer(bytes(buffer), np.uint8)
    assert ENTRY(code.address)(params.ctypes.data, 0, count, None, ctypes.addressof(GO_ON)) == 0


def jobs(scalar: Scalar, length: int) -> list[Job]:
    """Every builtin that takes this scalar type: on scalars (length 0) or on vectors of this length."""
    found = []
    for name, entry in sorted(TABLE.items()):
        if name in UNDEFINED:
            continue
        for operands, result in accepted(entry):
            t = operands[-1]
            if entry.elementwise and length and element(t) == scalar and element(result) == scalar:
                wide = Vector(length, scalar)
                found.append((name, (tuple(o if o != scalar else wide for o in operands), wide)))
            elif element(t) == scalar and length == (t.shape[-1] if isinstance(t, Vector) else 0):
                found.append((name, (operands, result)))
    return found


@pytest.mark.slow
def test_every_builtin_has_a_job() -> None:
    done = {name for scalar in SCALARS.values() for length in (0, 3) for name, _ in jobs(scalar, length)}
    assert done == TABLE.keys() - UNDEFINED.keys()


def one_kernel(
    work: list[Job], cases: list[list[tuple[Any, ...]]]
) -> tuple[Function, list[np.ndarray], list[np.ndarray]]:
    """All jobs in one kernel, each with its own operand and result arrays; gives also the arguments and the results."""
    builder, params, args, outputs = Builder(), [], [], []
    i = builder.one("tid", (), int32, {"axis": 0})
    for number, ((name, (operands, result)), rows_) in enumerate(zip(work, cases, strict=True)):
        sources = [Value(ArrayType(t), f"{name}{number}_{n}") for n, t in enumerate(operands)]
        target = Value(ArrayType(result), f"{name}{number}_result")
        refs = [Ref(builder, builder.load(s, i)) for s in sources]
        builder.store(target, i, TABLE[name](*refs).value)
        outputs.append(blank(len(rows_), result))
        params += [*sources, target]
        args += [*columns(rows_, operands), outputs[-1]]
    return Function("table", tuple(params), builder.body(), 1), args, outputs


def check(work: list[Job]) -> None:
    drawn = [rows(TABLE[name], operands) for name, (operands, _) in work]
    count = max(map(len, drawn))
    cases = [(c * count)[:count] for c in drawn]
    function, args, outputs = one_kernel(work, cases)
    run_on_cpu(function, count, args)
    problems = []
    for (name, (operands, result)), rows_, fresh, got in zip(work, cases, drawn, outputs, strict=True):
        want = expected(TABLE[name], fresh, result)
        problem = mismatch(got[: len(fresh)], want, rows_[: len(fresh)], TABLE[name].ulp)
        problems += [f"{name}{operands}: {problem}"] if problem else []
    assert not problems, "\n" + "\n".join(problems)


@pytest.mark.sample(5)
@pytest.mark.parametrize("type", SCALARS.values(), ids=repr)
def test_scalars(type: Scalar) -> None:
    check(jobs(type, 0))


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("length", [2, 3])
def test_vectors(name: str, length: int) -> None:
    check(jobs(SCALARS[name], length))


def test_bools_stay_bools() -> None:
    assert all(operands[-1] == bool_ for _, (operands, _) in jobs(bool_, 0))
