"""The tour as a reader meets it: a real JupyterLab, a real browser, the status cards and the pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

TOUR = Path(__file__).parents[2] / "notebooks" / "00-tour.ipynb"

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))  # other tests run the tour too; here it compiles


def index_of(marker: str, nth: int = 0) -> int:
    """The number of the `nth` cell of the tour whose text has `marker`."""
    cells = nbformat.read(TOUR, as_version=4).cells
    return [i for i, cell in enumerate(cells) if cell.cell_type == "code" and marker in cell.source][nth]


def test_status_cards_of_the_tour(lab: Callable[[Path], Any]) -> None:
    from playwright.sync_api import expect

    page = lab(TOUR)
    page.run("notebook:run-all-cells")
    cells = page.notebook.locator(".jp-Notebook .jp-Cell")
    cards = page.notebook.get_by_test_id("wb-status")
    expect(page.notebook.locator(".jp-OutputArea-output", has_text="JAX and the tape")).to_be_visible(timeout=120_000)
    expect(cards).to_have_count(3, timeout=300_000)

    first, again = index_of("%%kernel"), index_of("%%kernel", 1)
    card = cells.nth(first).get_by_test_id("wb-status")
    expect(card).to_have_attribute("data-state", "compiled")
    expect(card).to_contain_text(re.compile(r"compiled.*blur.*m?s"))
    expect(cells.nth(again).get_by_test_id("wb-status")).to_have_attribute("data-state", "memory hit")
    twin = cells.nth(first).locator("[class*=wb-twin]")
    expect(twin).to_be_hidden()

    card.locator("summary").click()
    expect(card.locator("table")).to_contain_text("forward")
    card.get_by_role("tab", name=re.compile("adjoint", re.IGNORECASE)).first.click()
    expect(card).to_contain_text("adj_source")
    page.go_to(first)
    page.screenshot("tour-card")

    card.locator("summary").click()
    shown = index_of("deblurred=")
    page.go_to(shown)
    expect(cells.nth(shown).locator("img")).to_be_visible()
    page.screenshot("tour-deblurred")
    assert page.errors() == [] and page.complaints == []
