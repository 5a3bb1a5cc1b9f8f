"""One kernel is one text and one machine code: in every process, whatever addresses and hash seeds are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

PARTS = 40
"""The default tests take one kernel of so many, and the nests of loops."""


def texts(
    seed: int,
    mode: str,
    every: int,
    part: int,
    *names: str,
    form: str = "text",
    environment: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Digests of all texts, from a fresh process; `form` is "text", "object" or "cubin"."""
    command = [
        sys.executable,
        "-m",
        "tests.support.checks.emitted_texts",
        str(seed),
        mode,
        form,
        str(every),
        str(part),
        *names,
    ]
    settings = {**os.environ, "PYTHONHASHSEED": str(seed) if mode == "heap" else "0", **environment}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def agree(emitted: Any, seeds: range) -> int:
    """Compare; returns how many texts there are."""
    first, *others = (emitted(seed) for seed in seeds)
    differing = sorted(name for name in first if any(other.get(name) != first[name] for other in others))
    assert not differing
    assert all(other.keys() == first.keys() for other in others)
    return len(first)


@pytest.mark.slow
def test_hashes_of_objects_change_no_text() -> None:
    """Two nests of loops, of which a pass takes four loops: it once took those at the lowest addresses."""
    assert agree(lambda seed: texts(seed, "hash", 1, 0, "nested: a convolution"), range(1, 4)) >= 10


@pytest.mark.parametrize("mode", ["hash", "heap"])
def test_a_sample_has_equal_texts(mode: str) -> None:
    assert agree(lambda seed: texts(seed, mode, PARTS, 7), range(1, 3)) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("form", ["object", "cubin"])
def test_a_kernel_has_equal_machine_code(form: str) -> None:
    """All that LLVM and NVRTC are told is equal, and they make equal bytes of it in another process."""
    assert agree(lambda seed: texts(seed, "heap", 20 * PARTS, 23, form=form), range(1, 3)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(("form", "every", "part"), [("cubin", 20, 3), ("object", 8, 1)])
def test_a_part_of_the_catalogue_has_equal_machine_code(form: str, every: int, part: int) -> None:
    """A part, since LLVM takes minutes for all of it, and what it is given is compared whole."""
    assert agree(lambda seed: texts(seed, "heap", every, part, form=form), range(1, 3)) >= 15


def lowered_and_read_again(folder: Path, every: int, part: int) -> int:
    """Compare the texts of a process that lowers the kernels with those of one that finds them in the cache."""
    environment = {"WORKBENCH_CACHE": str(folder)}
    return agree(lambda seed: texts(0, "heap", every, part, environment=environment), range(2))


@pytest.mark.slow
def test_kernels_from_the_cache_have_equal_texts(tmp_path: Path) -> None:
    assert lowered_and_read_again(tmp_path, PARTS, 11) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_all_kernels_from_the_cache_have_equal_texts(tmp_path: Path, part: int) -> None:
    assert lowered_and_read_again(tmp_path, 2, part) >= 400


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["hash", "heap"])
@pytest.mark.parametrize("part", range(4))
def test_the_catalogue_has_equal_texts(mode: str, part: int) -> None:
    assert agree(partial(texts, mode=mode, every=4, part=part), range(3 if mode == "hash" else 2)) >= 200
