"""What LLVM's optimiser makes of a kernel has the bits of what it makes without it, for vectors of each width.

Each program is compiled for every level of x86-64 that this machine runs, and for the machine itself, and run at sizes
around the widths of vectors. A NaN equals any other.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.backends.cpu.conftest import execute
from tests.frontend.meaning.test_typed_programs import collected
from tests.support.checks import meaning
from tests.support.kernels.branch_programs import branch_program
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu.emit.emit_module import entry_name
from workbench.backends.cpu.machine import facts, native
from workbench.cache.native import load_kernel
from workbench.errors import NotDifferentiable
from workbench.ir.values import Function
from workbench.types import ArrayType

NEEDS = {"x86-64-v2": "sse4.2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}
# Typed programs look at three elements.
SIZES = (3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 64, 67)


def levels() -> list[str]:
    x86 = platform.machine() in ("x86_64", "AMD64")
    return [*(level for level, feature in NEEDS.items() if x86 and facts().has(feature)), native()]


def built(function: Function, target: str, optimised: bool) -> Any:
    module = cpu.emitted(function, Options(), target)
    tuning = cpu._tuning(function) if optimised else cpu.UNOPTIMISED
    made = cpu._generate(module.text, target, tuning, "object", function.name)
    assert not made.retried
    return load_kernel(made.image, entry_name(function))


def arguments(function: Function, size: int) -> list[np.ndarray]:
    random, result = np.random.default_rng(size), []
    for p in function.params:
        assert isinstance(p.type, ArrayType)
        values = random.integers(-3, 4, size).astype(p.type.dtype.numpy)
        if np.issubdtype(values.dtype, np.floating):
            values = np.where(values == 3, values.dtype.type(0.7), values)
            values[values == 0] *= -1
        result.append(np.ascontiguousarray(values, p.type.dtype.numpy))
    return result


def same(a: np.ndarray, b: np.ndarray) -> bool:
    bits = a.view(f"u{a.dtype.itemsize}") == b.view(f"u{b.dtype.itemsize}")
    return bool((bits | (a != a) & (b != b)).all())


def check(functions: Sequence[tuple[Function, str]]) -> int:
    """Compare; returns how many functions were compared."""
    wrong = []
    for function, text in functions:
        plain = built(function, native(), optimised=False)
        for target in levels():
            quick = built(function, target, optimised=True)
            for size in SIZES:
                expected, results = arguments(function, size), arguments(function, size)
                with np.errstate(all="ignore"):
                    execute(plain, function, [size], expected)
                    execute(quick, function, [size], results)
                if not all(map(same, results, expected)):
                    wrong.append(f"{function.name} for {target}, {size} threads\n{text}")
                    break
    assert not wrong, f"{len(wrong)} of {len(functions) * len(levels())}:\n" + "\n".join(wrong[:3])
    return len(functions)


def directions(text: str, name: str) -> list[tuple[Function, str]]:
    """The kernel of a text, and its adjoint if it has one."""
    try:
        forward = replace(meaning.define(text)["k"].specialise().function, name=name)
    except wb.WorkbenchError:  # a literal that does not fit, say
        return []
    try:
        return [(forward, text), (replace(adjoint(forward), name=f"{name}_adjoint"), text)]
    except NotDifferentiable:
        return [(forward, text)]


def branches(seeds: range) -> list[tuple[Function, str]]:
    return [pair for seed in seeds for pair in directions(branch_program(seed), f"branches_{seed}")]


@pytest.mark.slow
def test_branches_that_read_and_overwrite() -> None:
    assert check(branches(range(4))) >= 5


@pytest.mark.slow
def test_many_branches_that_read_and_overwrite() -> None:
    assert check(branches(range(4, 90, 3))) > 40


@pytest.mark.slow
def test_a_read_before_the_branch_that_uses_it() -> None:
    """LLVM moves it into the branch, where it is masked, and from there behind the store."""
    assert check(branches(range(62, 63))) >= 1


def test_typed_programs() -> None:
    texts = collected(4)
    assert check([pair for n, text in enumerate(texts) for pair in directions(text, f"typed_{n}")[:1]]) >= 2


@pytest.mark.slow
def test_many_typed_programs() -> None:
    texts = collected(100)[4:]
    assert check([pair for n, text in enumerate(texts) for pair in directions(text, f"typed_{n}")]) > 50
