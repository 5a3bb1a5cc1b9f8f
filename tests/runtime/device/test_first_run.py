"""The first run on a GPU: steps that end in every way, bad options, and the real steps on an emulated device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("cuda.bindings.driver")
from tests.gpu.first_run import STEPS
from tests.gpu.first_steps import counted, lifetimes, measured, smoke
from tests.gpu.first_steps.harness import Given, NotAvailable, table

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests/gpu/first_run.py"
HEAD = f"""
import os, signal, sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.gpu.first_steps import harness
from tests.gpu.first_steps.harness import Step, main
from tests.gpu.first_steps.suites import tests

def works(given): given.saw(number=3)
def fails(given): assert 1 == 2, "one is not two"
def hangs(given):
    given.saw(before="it hung")
    time.sleep(3600)
def dies(given): os.kill(os.getpid(), signal.SIGKILL)
def leaves(given): os._exit(0)
def asks(given): given.need("no_such_module.inner")
def reads(given): given.saw(lines=len(open(os.environ["FAKE_OUT"]).readlines()))
"""


def run(folder: Path, steps: str, *options: str, **environment: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run these steps; the exit status, the lines that were written, and what was printed."""
    script, out = folder / "fake.py", folder / "lines.jsonl"
    script.write_text(f"{HEAD}\nsys.exit(main([{steps}]))\n")
    command = [sys.executable, str(script), "--device", "emulated", *options]
    command += [] if "--out" in options or "cuda:0" in options else ["--out", str(out)]
    given = {**os.environ, "FAKE_OUT": str(out), **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=given, cwd=folder)
    lines = [json.loads(row) for row in out.read_text().splitlines()] if out.exists() else []
    return done.returncode, lines, done.stdout + done.stderr


@pytest.mark.slow
def test_each_step_gives_its_line_and_the_next_one_runs(tmp_path: Path) -> None:
    steps = """Step("works", 60, works), Step("fails", 60, fails), Step("hangs", 0.25, hangs), Step("dies", 60, dies),
        Step("leaves", 60, leaves), Step("asks", 60, asks), Step("real", 60, works, only_real="it has no wings"),
        Step("reads", 60, reads)"""
    status, lines, printed = run(tmp_path, steps)
    found = {line["step"]: line for line in lines}
    assert [(line["step"], line["outcome"]) for line in lines] == [
        ("works", "passed"), ("fails", "failed"), ("hangs", "timed out"), ("dies", "failed"), ("leaves", "failed"),
        ("asks", "not run"), ("real", "not run"), ("reads", "passed"),
    ]  # fmt: skip
    assert status == 1
    assert found["works"]["seen"] == {"number": 3} and found["works"]["error"] == ""
    assert "one is not two" in found["fails"]["error"]
    assert found["hangs"]["seen"] == {"before": "it hung"} and "ended after 1 s" in found["hangs"]["error"]
    assert "killed by SIGKILL" in found["dies"]["error"] and "status 0" in found["leaves"]["error"]
    assert found["asks"]["error"] == "no_such_module is not installed"
    assert found["real"]["error"] == "not emulated: it has no wings"
    assert found["reads"]["seen"] == {"lines": 7}, "a line is written only after a later step"
    assert "2 passed, 3 failed, 1 timed out, 2 not run" in printed


def test_nothing_failed_is_status_0_and_a_stage_leaves_out_the_other(tmp_path: Path) -> None:
    steps = 'Step("works", 60, works), Step("fails", 60, fails, stage=2), Step("asks", 60, asks)'
    status, lines, _ = run(tmp_path, steps, "--stage", "1")
    assert status == 0 and [line["step"] for line in lines] == ["works", "asks"]
    status, lines, _ = run(tmp_path, steps, "--steps", "asks")
    assert [line["step"] for line in lines] == ["works", "asks", "asks"], "a second run adds to the first one's lines"


def test_what_the_others_need_runs_first_and_ends_them(tmp_path: Path) -> None:
    steps = 'Step("fails", 60, fails, needed=True), Step("works", 60, works), Step("asks", 60, asks)'
    status, lines, _ = run(tmp_path, steps, "--steps", "works")
    assert status == 1
    assert [(line["step"], line["outcome"]) for line in lines] == [("fails", "failed"), ("works", "not run")]
    assert lines[1]["error"] == "fails did not pass"


@pytest.mark.slow
def test_a_run_ends_in_its_time(tmp_path: Path) -> None:
    _, lines, _ = run(tmp_path, 'Step("hangs", 900, hangs), Step("works", 60, works)', "--within", "2")
    assert [line["outcome"] for line in lines] == ["timed out", "not run"]
    assert lines[1]["error"] == "the time for the run is over"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_run_that_is_ended_ends_its_step(tmp_path: Path) -> None:
    begins = """
def begins(given):
    open(os.environ["FAKE_OUT"], "w").write(str(os.getpid()))
    hangs(given)
"""
    script, pid = tmp_path / "fake.py", tmp_path / "pid"
    script.write_text(f'{HEAD}{begins}sys.exit(main([Step("begins", 900, begins)]))\n')
    command, given = [sys.executable, str(script), "--device", "emulated"], {**os.environ, "FAKE_OUT": str(pid)}
    with subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL) as process:
        while not (pid.exists() and pid.read_text()):
            assert process.poll() is None
        process.terminate()
        assert process.wait(900) == 128 + 15
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.parametrize(("device", "kept"), [("cuda:0", True), ("emulated", False)])
def test_only_a_gpu_writes_into_the_results(tmp_path: Path, device: str, kept: bool) -> None:
    results = tmp_path / "results.jsonl"
    given = f'harness.RESULTS = harness.Path("{results}")\n'
    script = tmp_path / "fake.py"
    script.write_text(f'{HEAD}\n{given}sys.exit(main([Step("works", 60, works, needed=True)]))\n')
    done = subprocess.run([sys.executable, script, "--device", device], capture_output=True, timeout=900)
    assert done.returncode == 0 and results.exists() is kept


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--steps", "launch", "lanch"], "there is no step lanch; there are versions, memory, launch"),
        (["--device", "tpu"], "'tpu' is no GPU: give cuda:0, or emulated"),
        (["--out", "/no/such/folder/lines"], "there is no folder /no/such/folder for --out"),
        (["--within", "0"], "--within takes a number of seconds above 0"),
        (["--stage", "3"], "invalid choice: 3"),
    ],
)
def test_bad_options(options: list[str], sentence: str) -> None:
    done = subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True, timeout=900)
    assert done.returncode == 2 and sentence in done.stderr


def test_the_steps_are_listed_and_name_every_file_of_tests() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--list"], capture_output=True, text=True, timeout=900)
    rows = done.stdout.splitlines()
    names = [row.split()[1] for row in rows]
    assert done.returncode == 0 and names[0] == "versions" and len(names) == len(set(names))
    assert all(row.partition(" s  ")[2] for row in rows), "a step does not say what it does"
    left_out = {"test_gpu_language.py", "test_gpu_report.py"}
    files = {path.name for path in (ROOT / "tests/gpu").glob("test_*.py")}
    assert {name for name in files if f"pytest {name}" in done.stdout} == files - left_out


@pytest.mark.slow
def test_a_step_of_tests_that_all_skip_is_not_run(tmp_path: Path) -> None:
    pytest.importorskip("nvidia.cu13")
    _, lines, _ = run(tmp_path, 'Step("exchange", 300, tests("test_gpu_exchange.py"))')
    assert lines[0]["outcome"] == "not run" and lines[0]["seen"]["skipped"] > 0, lines[0]["error"]
    assert "not emulated: torch and CuPy see real GPUs only" in lines[0]["error"]


def test_a_long_error_is_one_row_of_the_table() -> None:
    line = {"step": "a", "outcome": "failed", "seconds": 1.0, "seen": {}, "error": "Traceback\n  deep\nWhat: it is\n"}
    _, row, counted = table([line]).splitlines()
    assert row.split() == ["failed", "a", "1.0", "s", "What:", "it", "is"] and counted == "1 failed, in 1 s"


def test_counters_are_read_from_what_ncu_writes() -> None:
    sectors, conflicts = measured.METRICS["load_sectors"], measured.METRICS["load_conflicts"]
    rows = ["==PROF== Connected to process 7", '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    rows += [f'"0","copy","{sectors}","sector","131,072"', f'"1","copy","{sectors}","sector","8"']
    rows += [f'"2","product","{conflicts}","","17"', '"2","product","gpu__time_duration.sum","ns","9"', "==PROF== end"]
    found = measured.read_counters(rows)
    assert found == {"copy": {"load_sectors": 131_080.0}, "product": {"load_conflicts": 17.0}}


@pytest.fixture
def given() -> Given:
    pytest.importorskip("nvidia.cu13")
    return Given("emulated")


QUICK = (
    smoke.versions, smoke.memory, smoke.launch, smoke.graph_node_by_kern, smoke.graph_node_by_func,
    smoke.conditional_if, smoke.conditional_else, smoke.conditional_while, smoke.update_in_body, smoke.fault,
    smoke.event_times, lifetimes.foreign_stream, lifetimes.foreign_free, lifetimes.current_device,
    lifetimes.frees_in_thread, lifetimes.two_threads,
)  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("step", QUICK, ids=lambda step: step.__name__)
def test_a_step_passes_on_an_emulated_device(step: Any, given: Given) -> None:
    step(given)


def test_an_emulated_driver_refuses_a_kernel_as_a_function(given: Given) -> None:
    smoke.graph_node_by_func(given)
    assert given.seen["func"].startswith("refused: ")


def test_figures_are_ratios_and_an_emulated_device_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = SimpleNamespace(N=1 << 20, SIDE=9, CELL="def k(x: array[float]):\n    x[0] = 1.0\n")
    benchmark.bandwidths = lambda gpu, kernels: {"device copy": 4e12, "saxpy": 3e12}
    monkeypatch.setattr(measured, "_benchmark", lambda given, name: benchmark)
    monkeypatch.setattr(Given, "gpu", None)
    for device, seen in (
        ("cuda:0", {"device copy": {"value": 4000.0, "ratio": 1.0}, "saxpy": {"value": 3000.0, "ratio": 0.75}}),
        ("emulated", {"ran": ["device copy", "saxpy"], "figures": "none: an emulated device has no times"}),
    ):
        given = Given(device)
        measured.bandwidth(given)
        assert given.seen == seen


NCU = """#!{python}
import subprocess, sys
out = sys.argv[sys.argv.index("--log-file") + 1]
names = sys.argv[sys.argv.index("--metrics") + 1].split(",")
rows = ['"Kernel Name","Metric Name","Metric Value"'] + ['"stride_32","%s","4,096"' % name for name in names]
open(out, "w").write("\\n".join(rows))
assert "counted.py" in sys.argv[-2] and sys.argv[-1] == "emulated"
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script with #! stands for ncu")
def test_ncu_is_asked_for_every_counter(given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ncu"
    program.write_text(NCU.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    measured.counters(given)
    assert given.seen["stride_32"] == dict.fromkeys(measured.METRICS, 4096.0)
    assert "profile" in given.seen


def test_ncu_is_missed_by_name(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotAvailable, match="ncu is not installed"):
        measured.counters(given)


@pytest.mark.slow
def test_the_kernels_that_are_counted_run(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "N", 256)
    monkeypatch.setattr(counted, "SIDE", 64)
    made = counted.cases(given.device)
    monkeypatch.setattr(counted, "cases", lambda device: made)
    counted.main(given.device)
    assert (made["stride_32"][2][1].numpy() == 1.0).all() and (made["product"][2][2].numpy() == 64.0).all()


@pytest.mark.slow
@pytest.mark.share(1)
@pytest.mark.parametrize("stage", [1, 2])
def test_the_run_on_an_emulated_device(stage: int, tmp_path: Path, given: Given) -> None:
    """The steps that are not tested one by one above; the groups of tests CI runs by themselves."""
    there = [step for step in STEPS if step.stage == stage and not step.name.startswith("tests_")]
    steps = [step.name for step in there if step.needed or step.run not in QUICK]
    out = tmp_path / "lines.jsonl"
    command = [sys.executable, SCRIPT, "--device", "emulated", "--out", out, "--steps", *steps]
    subprocess.run(command, capture_output=True, timeout=1800, cwd=tmp_path)
    lines = [json.loads(row) for row in out.read_text().splitlines()]
    assert [line["step"] for line in lines if line["step"] in steps] == steps
    bad = {line["step"]: line["error"] for line in lines if line["outcome"] in ("failed", "timed out")}
    assert not bad
    left_out = [line for line in lines if line["outcome"] == "not run"]
    assert all(line["error"].startswith("not emulated: ") for line in left_out)
    assert {line["step"] for line in left_out} == {step.name for step in there if step.only_real}
