"""Static outputs: ASCII text, and HTML that an untrusted front end keeps and that cannot be broken out of."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from kernel_ext.views.kernels import renderers
from kernel_ext.views.view_data import (
    CacheView,
    EntryRow,
    ErrorRow,
    InspectView,
    KernelRow,
    PaneView,
    StageRow,
    StatusView,
)

EVIL = "<script>alert('x')</script>\"&"
KEPT = set("div span table thead tbody tr th td pre details summary b".split())

ROW = KernelRow(EVIL, "forward", "compiled", EVIL, 0.009, (StageRow(EVIL, 0.1),), (EVIL,), (EVIL,), None, EVIL, EVIL)
STATUS = StatusView(
    EVIL,
    "compiled",
    f"compiled {EVIL}",
    (ROW,),
    (EVIL,),
    (ErrorRow(EVIL, 3, EVIL),),
    (EVIL,),
    (PaneView(EVIL, "ir", EVIL),),
)
INSPECT = InspectView(EVIL, (PaneView(EVIL, "source", f"{EVIL}\n{EVIL}", 9), PaneView(EVIL, "odd", EVIL)))
CACHE = CacheView(1, 7000, 3, 2, 1, EVIL, EVIL, (EntryRow(EVIL, EVIL, EVIL, EVIL, 7000, 99, 1),))
PAGES = [
    pytest.param(renderers.status_html(STATUS), id="status"),
    pytest.param(renderers.inspect_html(INSPECT), id="inspect"),
    pytest.param(renderers.cache_html(CACHE), id="cache"),
]


class Reader(HTMLParser):
    """Elements, attributes and text of a page; refuses what does not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("page", PAGES)
def test_only_what_an_untrusted_notebook_keeps_and_all_of_it_escaped(page: str) -> None:
    read = Reader(page)
    assert read.open == []
    assert read.tags <= KEPT
    # A tabindex is dropped there: only what scrolls cannot be reached by keyboard then, and nothing looks otherwise.
    assert read.attributes <= {"style", "class", "tabindex"}
    assert EVIL in read.text


@pytest.mark.parametrize(
    "text", [renderers.status_text(STATUS), renderers.inspect_text(INSPECT), renderers.cache_text(CACHE)]
)
def test_the_text_shows_the_same(text: str) -> None:
    assert EVIL in text


def test_the_text_is_ascii() -> None:
    view = StatusView("cell [4]", "memory hit", "cache hit · memory 12 µs", kernels=("saxpy",))
    assert renderers.status_text(view) == "cache hit | memory 12 us"


def test_the_line_is_whole_in_the_html_too() -> None:
    view = StatusView("cell [4]", "memory hit", "cache hit · memory 12 µs", kernels=("saxpy",))
    assert " ".join(Reader(renderers.status_html(view)).text.split()) == "cache hit memory 12 µs saxpy · cell [4]"


def test_code_has_the_numbers_of_its_lines() -> None:
    text = Reader(renderers.inspect_html(InspectView("f", (PaneView("f", "source", "a\nb\nc\n", 9),)))).text
    assert text.endswith(" 9  a\n10  b\n11  c")


def test_panes_stand_side_by_side() -> None:
    panes = (PaneView("f", "ir", "one"), PaneView("f", "adjoint", "two"))
    page = renderers.inspect_html(InspectView("f", panes))
    assert page.index("f · IR") < page.index("f · Adjoint") < page.index("one") < page.index("two")
    assert page.count("<thead>") == 1


def test_an_empty_cache_is_one_line() -> None:
    view = CacheView(0, 0, 0, 0, 0, "/c")
    assert renderers.cache_text(view) == "0 modules, 0 B | hits: memory 0, disk 0; misses 0 | /c"
    assert "<table" not in renderers.cache_html(view)


def test_remarks_and_outdated_programs_are_said_without_unfolding() -> None:
    view = StatusView("cell [5]", remarks=("use (cell [4]) now calls this <helper>",), outdated="1 function holds f")
    said = renderers.status_text(view).splitlines()
    assert said[1:] == ["  use (cell [4]) now calls this <helper>", "  1 function holds f: call jax.clear_caches()"]
    page = renderers.status_html(view)
    assert "now calls this &lt;helper&gt;" in page and "<details>" not in page
