"""The guide's programs run as they stand, a page after the other, and each page is in the order of the site."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.sample(2)
@pytest.mark.parametrize("page", [p for p in PAGES if "```python" in p.read_text()], ids=lambda path: path.stem)
def test_the_programs_of_a_page_run(page: Path, tmp_path: Path, need) -> None:
    text = "\n\n".join(PROGRAM.findall(page.read_text(encoding="utf-8")))
    if "import jax" in text:
        need("jax")
    program = tmp_path / "page.py"
    program.write_text(text, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-W", "error", program], capture_output=True, text=True, timeout=900, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr


def test_every_page_has_its_place() -> None:
    assert sorted((GUIDE / "ORDER").read_text().split()) == sorted(page.stem for page in PAGES)


def test_links_lead_somewhere_on_a_forge() -> None:
    """All but those to the reference, which the site generates."""
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([\w./-]+\.[a-z]+)", page.read_text())]
    missing = [
        f"{page.name}: {link}"
        for page, link in links
        if "/reference/" not in link and not (page.parent / link).is_file()
    ]
    assert links and not missing, missing


def test_links_to_generated_pages_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("site_build", GUIDE.parent / "build.py")
    assert spec is not None and spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    monkeypatch.setattr(build, "generated", lambda: {"reference/magics.md": "# Magics\n"})
    build.stage(tmp_path / "site")
    text = (tmp_path / "site" / "docs" / "guide" / "notebook.md").read_text(encoding="utf-8")
    assert "[magics](../../reference/magics.md)" in text and (tmp_path / "site" / "index.md").is_file()
