"""What a page that computes weighs: little beside its arrays, and of these only what is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import workbench as wb
from kernel_ext import show
from tests.kernel_ext.widgets.test_pages_that_compute import diffusion, doubled
from workbench import inspect


def test_a_page_holds_little_beside_its_arrays(tmp_path: Path) -> None:
    rec, u = diffusion()
    show.page(str(tmp_path / "a.html"), show.controls(rec, c=(0, 0.25), watch=u))
    assert (tmp_path / "a.html").stat().st_size < 120_000


def test_what_is_overwritten_unread_is_not_in_the_page() -> None:
    """A tape's copies begin as whatever their memory held before."""
    noise = np.random.default_rng(0).random(10_000, np.float32)
    x, copy, y = wb.ones(10_000), wb.array(noise), wb.zeros(10_000)
    with wb.record(inputs=True) as rec:
        wb.copy(copy, x)
        wb.launch(doubled, 10_000, [copy, y])
    assert len(inspect.page_program(rec, watch=y).compressed()) < 10_000
    assert len(inspect.page_program(rec, watch=copy).compressed()) > 30_000, "it is drawn before it is overwritten"
