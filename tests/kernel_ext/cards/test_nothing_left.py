"""What is closed leaves nothing behind: no model in the kernel, no card of a cell that was run again."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from kernel_ext.views.view_data import StatusView


@pytest.fixture
def models() -> Any:
    widgets = pytest.importorskip("ipywidgets.widgets.widget")
    return widgets._instances


@pytest.mark.parametrize(("twin", "made"), [("twin", 1), ("", 2)], ids=["in a cell's output", "with a layout"])
def test_a_closed_card_takes_its_layout_along(models: Any, twin: str, made: int) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    before = len(models)
    card = StatusCard(StatusView("cell [1]"), twin)
    assert len(models) == before + made
    gone = weakref.ref(card)
    card.close()
    assert len(models) == before
    del card
    gc.collect()
    assert gone() is None


def test_a_cell_run_again_keeps_one_card_even_where_cells_have_no_ids(loaded: Any) -> None:
    magics = loaded.shell.magics_manager.registry["KernelMagics"]
    closed: list[str] = []
    for name in ("first", "second"):
        magics._keep("saxpy", SimpleNamespace(close=lambda name=name: closed.append(name)))
    assert closed == ["first"] and list(magics.cards) == ["saxpy"]
