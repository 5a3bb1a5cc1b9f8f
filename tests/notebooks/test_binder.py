"""Binder without Binder: the image that repo2docker would build, checked as text, then its steps done in a fresh place.

A reader's first cell should find its kernels compiled, and every lesson what it imports. That each runs, and fits a
small machine, is test_all_notebooks.py's to say.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FAR = ("07-jax", "15-particles")
"""Those that need most of what is installed."""
# Run in the image's Python: a lesson, then what Workbench did in it.
LESSON = """
import json, sys
from pathlib import Path
sys.path.insert(0, "notebooks")
import run_notebook
print(json.dumps(run_notebook.run(Path(sys.argv[1]), widgets=True).events))
"""
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Image:
    """What the steps of the image made: a copy of the repository and an environment."""

    repository: Path
    environment: dict[str, str]

    def run(self, *command: str, timeout: int = 900) -> str:
        """What a command of the image prints; through binder/start, as Binder runs everything."""
        done = subprocess.run(
            ["bash", "binder/start", *command],
            cwd=self.repository, env=self.environment, capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
        return done.stdout


def committed_files(target: Path) -> None:
    """A copy of what a clone would have."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The image's steps: requirements in a fresh environment, then postBuild, in a home of its own."""
    place = tmp_path_factory.mktemp("binder")
    repository, home, venv = place / "repo", place / "home", place / "venv"
    for folder in (repository, home):
        folder.mkdir()
    committed_files(repository)
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WORKBENCH", "JUPYTER"))
    }
    environment = {**kept, "HOME": str(home), "PATH": f"{venv / 'bin'}:{os.environ['PATH']}", "VIRTUAL_ENV": str(venv)}
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    steps = (["pip", "install", "--quiet", "--no-cache-dir", "-r", "binder/requirements.txt"], ["./binder/postBuild"])
    (repository / "binder" / "postBuild").chmod(0o755)
    for step in steps:
        done = subprocess.run(step, cwd=repository, env=environment, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, f"{step}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    yield Image(repository, environment)
    shutil.rmtree(place, ignore_errors=True)  # an environment is half a gigabyte


def test_the_image_is_what_the_files_say() -> None:
    tool = shutil.which("repo2docker", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert tool, "repo2docker comes with the extra `test`"
    done = subprocess.run([tool, "--no-build", "--debug", str(ROOT)], capture_output=True, text=True, timeout=900)
    text = done.stdout + done.stderr
    order = [
        r"py-2d3-2e11-2dlinux", r"COPY .* src/ \$\{REPO_DIR\}",
        r"pip install --no-cache-dir -r \"binder/requirements\.txt\"",
        r"RUN \./binder/postBuild", r"R2D_ENTRYPOINT=\"\$\{REPO_DIR\}/binder/start\"",
    ]  # fmt: skip
    found = [re.search(step, text) for step in order]
    assert all(found), [step for step, match in zip(order, found, strict=True) if match is None]
    places = [match.start() for match in found[1:] if match]
    assert places == sorted(places), "the repository is there before its packages, and they before postBuild"


def test_only_lower_bounds_are_asked_for() -> None:
    requirements = (ROOT / "binder" / "requirements.txt").read_text()
    assert requirements.split() == [".[lessons,jax,cu12]"], "not editable: a wheel brings the front end's files"


def test_the_first_kernel_is_there_already(image: Image) -> None:
    events = json.loads(image.run("python", "-c", LESSON, "notebooks/00-tour.ipynb").splitlines()[-1])
    kinds = [(event["event"], event.get("source", event.get("where", ""))) for event in events]
    assert kinds, "the tour builds kernels"
    assert kinds[0][0] == "CacheHit" and "CompileDone" not in {kind for kind, _ in kinds}, kinds


@pytest.mark.parametrize("lesson", FAR)
def test_a_lesson_runs_there(image: Image, lesson: str) -> None:
    assert json.loads(image.run("python", "-c", LESSON, f"notebooks/{lesson}.ipynb").splitlines()[-1])


def test_what_the_lessons_import_is_there(image: Image) -> None:
    cells = (cell for path in LESSONS for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    code = "\n".join(cell.source for cell in cells)
    names = sorted(set(re.findall(r"^ *(?:import|from) (\w+)", code, re.MULTILINE)))
    assert {"workbench", "numpy", "jax", "scipy", "skimage"} <= set(names)
    program = f"from importlib.util import find_spec; print([n for n in {names} if find_spec(n) is None])"
    assert image.run("python", "-c", program).splitlines()[-1] == "[]"


def test_the_packages_are_installed_not_linked(image: Image) -> None:
    where = image.run("python", "-c", "import os; os.chdir('/'); import workbench; print(workbench.__file__)")
    assert "site-packages" in where and str(image.repository) not in where
