"""The catalogue on the emulated device: results and gradients of each kernel are those of the CPU backend."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.catalogue.test_catalogue import RIGHT
from tests.gpu.test_gpu_catalogue import assert_the_device_agrees

LONG = ("loops: nested three deep",)
"""Their adjoints calculate many sines, each with its slow path inlined: LLVM takes half a minute."""
SAMPLE = random.Random(4).sample([name for name in RIGHT if name not in LONG], 3)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in SAMPLE else pytest.mark.slow) for n in RIGHT])
def test_it_agrees_with_the_cpu(name: str, need: Callable[[str], str]) -> None:
    need("nvrtc")
    assert_the_device_agrees(name, "emulated")
