"""What a profile says of options that the launch does not have: contraction and the threads of a block."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.support.devices.on_gpu import DEVICE
from workbench.errors import LaunchError

TEXT = """
def poly(x: array[float], y: array[float]):
    i = tid()
    a = x[i]
    v = a
    for k in range(y.shape[0]):
        v = v * a + 0.5
    y[i] = v

def tiled(x: array[float], y: array[float]):
    i = tid()
    wb.tile_store(y, wb.tile_load(x, 32, offset=i * 32) * 2.0, offset=i * 32)
"""


@pytest.fixture
def kernels(need: Any) -> Any:
    need("nvrtc")
    return lambda fma=False: wb.build_cell(TEXT, {"wb": wb}, backend="cpu", compile=False, fma=fma).kernels


def test_it_says_what_contraction_would_save(kernels) -> None:
    given = [wb.ones(64), wb.zeros(64)]
    plain, fused = (wb.profile(kernels(fma)["poly"], 64, given) for fma in (False, True))
    saved = 1 - fused.total.instructions / plain.total.instructions
    assert plain.contraction == pytest.approx(saved) and saved > 0.1 and fused.contraction == 0
    assert f"fma=True would save {saved:.0%} of the instructions" in str(plain)
    assert "fma=True" not in str(fused) and "fma=True" in plain._repr_html_()


def test_the_threads_of_a_block_can_be_left_open(kernels) -> None:
    p = wb.profile(kernels()["poly"], 600, [wb.ones(600), wb.zeros(600)], block_dim=None)
    assert p.block == (256, 1, 1) and p.occupancy == 1.0
    q = wb.profile(kernels()["poly"], 600, [wb.ones(600), wb.zeros(600)], block_dim=32)
    assert q.occupancy == 0.5 and "block_dim=None takes 256 threads per block: occupancy 100%." in str(q)
    y = wb.zeros(600, device=DEVICE)
    kept = wb.launch(kernels()["poly"], 600, [wb.ones(600, device=DEVICE), y], block_dim=None, record_cmd=True)
    assert kept.record.block_dim == 256
    kept.set_block_dim(64)
    kept.set_block_dim(None)
    assert kept.record.block_dim == 256
    with pytest.raises(LaunchError, match="tiled: a kernel of tiles is compiled for its block_dim"):
        wb.launch_tiled(kernels()["tiled"], 2, [wb.ones(64), wb.zeros(64)], block_dim=None)
