"""What pip would install for each set of extras: the base has no compiler, `cu12` and `cu13` those of one major."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
COMPILERS = {
    "cu12": {
        "nvidia-cuda-nvrtc-cu12", "nvidia-nvjitlink-cu12", "nvidia-cuda-cccl-cu12", "nvidia-cuda-nvcc-cu12",
        "nvidia-cuda-runtime-cu12",
    },
    "cu13": {"nvidia-cuda-nvrtc", "nvidia-nvjitlink"},
}  # fmt: skip
SETS: dict[str, tuple[str, ...]] = {
    "plain": ("",),
    "cu12": ("cu12",),
    "cu13": ("cu13",),
    "cu12 and cu13": ("cu12,cu13",),
    "cu12, jax": ("cu12", "jax"),
    "cu13, jax": ("cu13", "jax"),
    "cu12, jax[cuda12]": ("cu12", "jax[cuda12]"),
    "cu13, jax[cuda13]": ("cu13", "jax[cuda13]"),
}
"""Extras of this package, and what is installed with them."""


PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([*PIP, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)], check=True, timeout=900)
    (built,) = folder.glob("*.whl")
    return built


def installed(*wanted: str, python: str | Path = sys.executable) -> dict[str, str] | str:
    """Return names and versions of what pip would install; what it says if it refuses."""
    command = [*PIP, "--python", str(python), "install", "--dry-run", "--report", "-", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode:
        return done.stderr
    packages = (each["metadata"] for each in json.loads(done.stdout)["install"])
    return {each["name"].lower().replace("_", "-"): each["version"] for each in packages}


@pytest.fixture(scope="module")
def resolved(wheel: Path) -> dict[str, dict[str, str] | str]:
    """By set, what `installed` returns."""

    def resolve(extras: str, *more: str) -> dict[str, str] | str:
        return installed("--ignore-installed", f"{wheel}[{extras}]" if extras else str(wheel), *more)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        answers = threads.map(lambda wanted: resolve(*wanted), SETS.values())
        return dict(zip(SETS, answers, strict=True))


COLAB = {
    "ipython": "7.34.0", "ipykernel": "6.17.1", "notebook": "6.5.7", "ipywidgets": "7.7.1", "anywidget": "0.9.21",
    "numpy": "2.0.2", "platformdirs": "4.10.0", "llvmlite": "0.43.0", "numba": "0.60.0", "jax": "0.7.2",
    "torch": "2.11.0", "cuda-bindings": "12.9.7", "cuda-core": "0.3.2", "cuda-pathfinder": "1.5.5",
    "cuda-python": "12.9.7", "nvidia-cuda-cccl-cu12": "12.9.27", "nvidia-cuda-nvcc-cu12": "12.8.93",
    "nvidia-cuda-nvrtc-cu12": "12.8.93", "nvidia-cuda-runtime-cu12": "12.8.90", "nvidia-nvjitlink-cu12": "12.8.93",
}  # fmt: skip
"""What a GPU machine of Colab had in June 2026, as far as it is ours or of libraries that share something with us."""


def test_the_guide_says_what_an_install_replaces_on_colab(wheel: Path, tmp_path: Path) -> None:
    """What is there is there by name and version alone: pip asks for nothing else."""
    venv.create(tmp_path / "colab")
    (python,) = (*tmp_path.glob("colab/bin/python"), *tmp_path.glob("colab/Scripts/python.exe"))
    (packages,) = (*tmp_path.glob("colab/lib/python*/site-packages"), *tmp_path.glob("colab/Lib/site-packages"))
    for name, version in COLAB.items():
        facts = packages / f"{name.replace('-', '_')}-{version}.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (facts / "RECORD").touch()
    guide = (ROOT / "docs/guide/install.md").read_text()
    line = next(x for x in guide.splitlines() if x.startswith("| Colab"))
    extras = line.partition("whl[")[2].partition("]")[0]
    new = installed(f"{wheel}[{extras}]", python=python)
    assert isinstance(new, dict), new
    text = guide.partition("On Colab pip keeps")[2].partition("restart the session")[0]
    assert set(new) - {"kernel-workbench"} == set(re.findall(r"`([a-z0-9-]+)`", text))
    with_numba = installed("-U", f"{wheel}[{extras}]", "numba", python=python)
    assert isinstance(with_numba, dict) and set(with_numba) == {*new, "numba"}, with_numba


def major(version: str) -> str:
    return version.partition(".")[0]


def test_each_set_resolves_to_the_compilers_that_it_names(resolved: dict[str, dict[str, str] | str]) -> None:
    for name, found in resolved.items():
        if name == "cu12 and cu13":
            assert isinstance(found, str) and "conflicting dependencies" in found, found
            continue
        assert isinstance(found, dict), f"{name}: {found}"
        ours = {package for package in found if package in COMPILERS["cu12"] | COMPILERS["cu13"]}
        extra = next((extra for extra in COMPILERS if extra in ",".join(SETS[name])), None)
        assert COMPILERS.get(extra or "", set()) <= ours, name
        if extra is None:
            assert not [package for package in found if package.startswith("nvidia-")], name
        else:
            bound = {package: found[package] for package in (*COMPILERS[extra], "cuda-bindings", "cuda-python")}
            assert {major(version) for version in bound.values()} == {extra.removeprefix("cu")}, (name, bound)
        assert {"cuda-bindings", "cuda-python", "llvmlite", "numpy"} <= set(found), name
