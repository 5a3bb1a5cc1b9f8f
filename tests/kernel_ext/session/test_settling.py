"""A fault on a device, and what a kernel printed there, show below the cell that launched."""

from __future__ import annotations

import pytest

import workbench as wb

pytest.importorskip("cuda.bindings.driver")
CELL = """%%kernel
def k(x: array(dtype=float), n: int):
    i = tid()
    x[i + n] = 1.0
    print("stored", i)
"""


def test_a_device_settles_at_the_end_of_a_cell(session, need, monkeypatch: pytest.MonkeyPatch) -> None:
    need("nvrtc")
    from tests.support.devices import mock_device

    session.run("%load_ext kernel_ext")
    session.run(CELL)
    with mock_device.device(monkeypatch):
        shown = session.run(
            "import workbench as wb\nx = wb.zeros(3, float, device='cuda:0')\nwb.launch(k, 3, [x, 1])\ndone = True"
        )
        assert session.shell.user_ns["done"], "the launch itself says nothing"
        assert "stored 0\nstored 1\n" in shown
        told = "\n".join(session.errors) + shown
        assert "x has 3 elements along axis 0; thread (2,) asked for index 3." in told and "x[i + n] = 1.0" in told
        shown = session.run("wb.launch(k, 3, [x, 0]); print(x.numpy())")
        assert shown.count("stored") == 3 and "[1. 1. 1.]" in shown
        session.run("%unload_ext kernel_ext")
    assert wb.zeros(1).numpy()[0] == 0
