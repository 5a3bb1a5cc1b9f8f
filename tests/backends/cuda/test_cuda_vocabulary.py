"""Atomics, random numbers, search and noise through NVRTC, for the oldest and the newest architectures."""

from __future__ import annotations

import pytest

from tests.frontend.arrays import test_atomics
from tests.frontend.random import test_noise, test_random_numbers, test_search
from tests.frontend.values import test_vector_parts
from tests.support.checks.meaning import define
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.types import SCALARS, ArrayType

TARGETS = ("sm_75", "sm_90", "sm_120")
TEXTS = {
    "random": test_random_numbers.BITS,
    "samplers": test_random_numbers.samplers(),
    "search": test_search.TEXT.format(t="float64"),
    "noise": test_noise.TEXT,
    "parts": test_vector_parts.TEXT,
}


def all_atomics(name: str) -> str:
    """Every kind on elements of one type, each old value kept."""
    kinds = [kind for kind, n in test_atomics.KINDS if n == name]
    rows = "".join(
        f"    old[i, {place}] = atomic_{kind}(x, i, {'old[i, 0], ' * (kind == 'cas')}x[i])\n"
        for place, kind in enumerate(kinds)
    )
    return f"@kernel\ndef k(x: array[{name}], old: array2d[{name}]):\n    i = tid()\n{rows}"


@pytest.fixture(autouse=True)
def _nvrtc(need) -> None:
    need("nvrtc")


@pytest.mark.sample(5)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", TEXTS)
def test_it_compiles(name: str, target: str) -> None:
    artifact = CudaBackend().compile(define(TEXTS[name])["k"].specialise().function, Options(), target)
    assert artifact.metadata["target"] == target
    assert artifact.metadata["spill_loads"] == 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", test_atomics.NUMBERS)
def test_every_atomic_compiles(name: str, target: str) -> None:
    array = ArrayType(SCALARS[name])
    function = define(all_atomics(name))["k"].specialise([array, ArrayType(array.dtype, 2)]).function
    ptx = CudaBackend().ptx(function, Options(), target)
    assert ptx.count("atom") >= len([1 for _, n in test_atomics.KINDS if n == name])


def test_hardware_does_what_it_can() -> None:
    text = "@kernel\ndef k(n: array[int], u: array[uint64], x: array[float]):\n    i = tid()\n"
    text += "    atomic_max(n, 0, i)\n    atomic_or(u, 0, uint64(1))\n    atomic_exch(x, 0, 1.0)\n"
    ptx = CudaBackend().ptx(define(text)["k"].specialise().function, Options(), "sm_90")
    assert "atom" in ptx and ".max.s32" in ptx and ".or.b64" in ptx and ".cas" not in ptx
