"""A few of the catalogue on the emulated device.

`make test-emulated` runs all of it: tests/gpu/test_gpu_catalogue.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.catalogue.test_catalogue import RIGHT
from tests.gpu.test_gpu_catalogue import assert_the_device_agrees

LONG = ("loops: nested three deep",)
"""Their adjoints calculate many sines, each with its slow path inlined: LLVM takes half a minute."""
SAMPLE = random.Random(4).sample([name for name in RIGHT if name not in LONG], 3)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", SAMPLE)
def test_it_agrees_with_the_cpu(name: str, need: Callable[[str], str]) -> None:
    need("nvrtc")
    assert_the_device_agrees(name, "emulated")
