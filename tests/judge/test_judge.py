"""Programs on every path, held against an oracle that shares nothing with the compiler.

By default a seeded sample; the slow tier runs every program of the collection on some paths, and more generated ones.
`python -m tests.judge --seconds 3600` goes on for as long as one likes.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.judge.generated import generated
from tests.judge.paths import PATHS, Path
from tests.judge.program import Program
from tests.judge.programs import CATALOGUE, EMULATED, MECHANISMS, ONCE_WRONG, PROGRAMS, RUNNING, TILES, WORKLOADS
from tests.judge.programs.building import floats, output, program
from tests.judge.verdicts import Verdict, judge

pytestmark = pytest.mark.filterwarnings("ignore")
QUICK = [name for name, path in PATHS.items() if not path.slow]
SIZES = (37, 0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 67)
"""Threads: none, one, and around the lengths of vectors."""
PARTS = 24


def judged(program: Program, *paths: str) -> Counter[str]:
    """The verdicts by kind; none may be bad."""
    said: Counter[str] = Counter()
    for path in paths:
        verdict = judge(program, path)
        assert not verdict.bad, f"{program.name}, {path}: {verdict.detail}\n{program.text}"
        said[verdict.said] += 1
    return said


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [p.name for p in ONCE_WRONG])
def test_what_was_wrong_once(name: str) -> None:
    said = judged(PROGRAMS[name], "cpu", "cpu, checks", "tape")
    assert said["right"] >= 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [p.name for p in EMULATED])
def test_what_was_wrong_on_gpus(name: str) -> None:
    """On the emulated device: its warps meet where a CPU's thread is alone, and its code is CUDA C++."""
    assert judged(PROGRAMS[name], "emulated")["right"] == 1


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [p.name for p in WORKLOADS])
def test_a_benchmark_program(name: str) -> None:
    path = Random(name).choice([p for p in QUICK if p not in ("cpu", "tape") and not p.startswith("jax")])
    assert judged(PROGRAMS[name], "cpu", path)["right"] >= 1


SOME_LOOPS = ("product", "escape", "march", "rows_in_place", "running", "some_turns", "indirect_product", "sums_across")


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", SOME_LOOPS)
def test_a_loop(name: str) -> None:
    p = PROGRAMS[f"loops, {name}, 37 threads"]
    assert judged(p, "cpu", "cpu, in parts", "cpu, inside", "tape")["right"] >= 3


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [p.name for p in TILES])
def test_tiles(name: str) -> None:
    assert judged(PROGRAMS[name], "cpu", "tape")["right"] >= 1


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [p.name for p in RUNNING])
def test_what_a_loop_carries(name: str) -> None:
    assert judged(PROGRAMS[name], "tape")["right"] == 1


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", [p.name for p in MECHANISMS])
def test_a_mechanism(name: str) -> None:
    assert judged(PROGRAMS[name], "cpu, checks", "tape", "tangent")["right"] >= 1


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", [p.name for p in CATALOGUE])
def test_the_catalogue(name: str) -> None:
    """Each program on one path by chance, half of them on a derivative's."""
    path = Random(name).choice(["cpu", "cpu, checks", "tape", "tangent"])
    assert judged(PROGRAMS[name], path).total() == 1


@pytest.mark.sample(8)
@pytest.mark.parametrize("seed", range(48))
def test_a_generated_program(seed: int) -> None:
    random = Random(seed)
    size, path = random.choice(SIZES), random.choice([p for p in QUICK if not p.startswith("jax")])
    if seed % 2:
        judged(generated(1000 + seed, 17, "smooth"), "tape")
    else:
        judged(generated(seed, size), "cpu", path)


def test_most_generated_programs_are_run_and_judged() -> None:
    verdicts = [judge(generated(seed, 3), "cpu").said for seed in range(100, 106)]
    assert verdicts.count("right") >= 4


def test_all_paths_run_a_program() -> None:
    """It is linear, as a transpose needs it."""
    p = program("all", "i = wb.tid()\ny[i] = x[i] * 0.1 - x[0]", {"x": floats(37), "y": output(37)}, (37,), smooth=True)
    assert judged(p, *PATHS) == {"right": len(PATHS)}


def _off_by_one_ulp(p: Program) -> dict[str, Any]:
    values = PATHS["cpu"].run(p)
    values["y"][5] = np.nextafter(values["y"][5], np.float32(9))
    return values


def _gradient_off(p: Program) -> dict[str, Any]:
    values = PATHS["tape"].run(p)
    values["x"][5] *= np.float32(1.001)
    return values


def test_the_judge_sees_one_ulp_and_a_thousandth_of_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    p = program(
        "one ulp", "i = wb.tid()\ny[i] = x[i] * x[i] + 0.1", {"x": floats(9), "y": output(9)}, (9,), smooth=True
    )
    monkeypatch.setitem(PATHS, "off", Path(_off_by_one_ulp))
    monkeypatch.setitem(PATHS, "gradient off", Path(_gradient_off, returns="gradient"))
    assert judge(p, "off").said == "wrong"
    assert "y, number 5" in judge(p, "off").detail
    assert judge(p, "gradient off").said == "wrong"


def test_a_kernel_that_is_refused_is_not_wrong() -> None:
    p = program("refused", "i = wb.tid()\ny[i] = wb.float64(x[i])", {"x": floats(9), "y": output(9)}, (9,))
    assert judge(p, "cpu").said == "refused"


def _agree(verdicts: dict[str, Verdict]) -> None:
    bad = {name: v for name, v in verdicts.items() if v.bad}
    assert not bad, "\n".join(f"{name}: {v.said}, {v.detail}" for name, v in bad.items())


@pytest.mark.slow
@pytest.mark.share(PARTS // 2)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_program_on_paths_by_chance(part: int) -> None:
    """Each of the collection on three paths; by hand, each is judged on all."""
    for p in list(PROGRAMS.values())[part::PARTS]:
        paths = ["cpu", *Random(p.name).sample([path for path in PATHS if path != "cpu"], 2)]
        _agree({f"{p.name}, {path}": judge(p, path) for path in paths})


@pytest.mark.slow
@pytest.mark.share(6)
@pytest.mark.parametrize("seed", range(48, 168, 12))
def test_more_generated_programs(seed: int) -> None:
    random = Random(seed)
    for k in range(seed, seed + 12):
        p = generated(k, random.choice(SIZES))
        _agree({f"{p.name}, {path}": judge(p, path) for path in random.sample(list(PATHS), 4)})
