"""Widgets' texts: nothing is left to be imported, and names of joined files never meet."""

from __future__ import annotations

import re

import pytest

from kernel_ext.widgets.modules import STATIC, imported, module_text, style_text

WIDGETS = sorted(p.stem for p in STATIC.glob("*.js") if "export default" in p.read_text())


def test_there_are_widgets_and_what_they_share() -> None:
    assert {"timeline", "graph_view", "status_card", "array_view"} <= set(WIDGETS) and "parts" not in WIDGETS
    assert imported("status_card") == ("parts", "panes")


@pytest.mark.parametrize("name", WIDGETS)
def test_one_text_without_imports_and_with_one_export(name: str) -> None:
    text = module_text(name)
    assert not re.search(r"^\s*import ", text, re.MULTILINE)
    assert re.findall(r"^export .*", text, re.MULTILINE) == ["export default { render };"]
    declared = re.findall(r"^(?:async )?(?:function|const|let|class) [\[{]?([\w, ]+)", text, re.MULTILINE)
    names = [name.strip() for listed in declared for name in listed.split(",")]
    assert len(names) == len(set(names)), "two files of one module use the same name"


@pytest.mark.parametrize("name", WIDGETS)
def test_each_rule_of_a_style_is_of_our_own_classes(name: str) -> None:
    text = re.sub(
        r"/\*.*?\*/|@keyframes [^}]*\}[^}]*\}|@(?:media|container) [^{]*\{", "", style_text(name), flags=re.DOTALL
    )
    selectors = [s.strip() for head in re.findall(r"([^{}]+)\{", text) for s in head.split(",")]
    assert selectors and all(s.startswith(".wb-") for s in selectors if s), (
        "a rule would reach the front end's own parts"
    )
