"""The extension's files agree with the package and with the widgets; what it does is seen in tests/browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import workbench as wb
from kernel_ext.output.renderable import MIME, hide_dead
from kernel_ext.widgets.modules import STATIC

FOLDER = Path(__file__).parents[3] / "kernel_ext" / "labextension"
ENTRY = (FOLDER / "static" / "remoteEntry.js").read_text()


def listed(name: str) -> set[str]:
    found = re.search(rf"const {name} = \[([^\]]*)\]", ENTRY)
    assert found is not None
    return set(re.findall(r'"(\w+)"', found[1]))


def test_the_manifest_names_what_is_there() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text())
    assert manifest["version"] == wb.__version__
    build = manifest["jupyterlab"]["_build"]
    assert (FOLDER / build["load"]).is_file()
    for module in (build["extension"], build["mimeExtension"]):
        assert f'"{module}": ' in ENTRY


def test_it_knows_each_widget_and_each_style() -> None:
    assert listed("WIDGETS") == {p.stem for p in STATIC.glob("*.js") if "export default" in p.read_text()}
    assert listed("STYLES") | listed("WIDGETS") == {p.stem for p in STATIC.glob("*.css")}


def test_it_speaks_of_the_same_type_and_hides_by_the_same_rule() -> None:
    assert f'"{MIME}"' in ENTRY
    assert hide_dead("${mark}") in ENTRY.replace("`", "")
