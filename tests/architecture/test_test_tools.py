"""The tests' own tools: a missing tool is reported or fails, golden files are compared, and no shell stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
SETTINGS = f"""[pytest]
addopts = --import-mode=importlib -p no:xdist -p no:cacheprovider
pythonpath = {CONFTEST.parents[1]}
markers =
    gpu: device
    slow: takes long
    sample(n): n cases are quick
"""


def run(folder: Path, text: str, *options: str, strict: bool = False, name: str = "test_it.py") -> tuple[int, str]:
    """Run pytest on one file beside a copy of our conftest."""
    (folder / "conftest.py").write_text(CONFTEST.read_text())
    (folder / "pytest.ini").write_text(SETTINGS)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    environment = {**os.environ, "WORKBENCH_CI": "1" if strict else "0"}
    command = [sys.executable, "-m", "pytest", "-q", *options, str(folder)]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    return result.returncode, result.stdout


NEEDS = "def test_needs(need, monkeypatch):\n    monkeypatch.setenv('PATH', '')\n    assert need('g++')\n"


def test_a_missing_tool_skips_and_is_told(tmp_path: Path) -> None:
    code, out = run(tmp_path, NEEDS)
    assert code == 0 and "not run: 1 test: g++ is not installed" in out


def test_a_missing_tool_fails_where_nothing_may_be_missing(tmp_path: Path) -> None:
    code, out = run(tmp_path, NEEDS, strict=True)
    assert code == 1 and "g++ is not installed" in out and "1 failed" in out


def test_a_sample_is_drawn_from_the_quick_cases_and_the_rest_is_slow(tmp_path: Path) -> None:
    several = "@pytest.mark.parametrize('n', [*range(9), pytest.param(9, marks=pytest.mark.slow)])"
    cases = f"@pytest.mark.sample(3)\n{several}\n"
    text = f"import pytest\n{cases}def test_n(n): print('RAN', n)\ndef test_whole(): pass\n"
    text += f"{several}\ndef test_many(n): pass\n"
    code, quick = run(tmp_path, text, "-rP", "-m", "not slow")
    assert code == 0 and "7 passed, 14 deselected" in quick and "RAN 9" not in quick


@pytest.mark.slow
def test_a_file_that_skips_as_a_whole_fails_there_too(tmp_path: Path) -> None:
    text = "import pytest\npytest.importorskip('no_such_module_here')\ndef test_a(): pass\n"
    assert run(tmp_path, text)[0] in (0, 5)
    code, out = run(tmp_path, text, strict=True)
    assert code not in (0, 5) and "no_such_module_here" in out


@pytest.mark.slow
def test_only_the_device_tests_may_skip(tmp_path: Path) -> None:
    text = "import pytest\ndef test_a(): pytest.skip('no device')\n"
    assert run(tmp_path, text, strict=True, name="gpu/test_it.py")[0] == 0
    marked = "import pytest\n@pytest.mark.gpu\ndef test_b(): pytest.skip('no device')\n"
    assert run(tmp_path, marked, strict=True)[0] == 0


@pytest.mark.slow
def test_golden_files_are_written_then_compared(tmp_path: Path) -> None:
    text = "def test_g(golden): golden('a/b.txt', 'one\\n{}')\n"
    code, out = run(tmp_path, text.format("two"))
    assert code == 1 and "write it with --update-golden" in out
    assert run(tmp_path, text.format("two"), "--update-golden")[0] == 0
    assert (tmp_path / "golden" / "a" / "b.txt").read_text() == "one\ntwo\n"
    assert run(tmp_path, text.format("two"))[0] == 0
    code, out = run(tmp_path, text.format("three"))
    assert code == 1 and "-two" in out and "+three" in out


def test_each_process_has_a_cache_of_its_own(tmp_path: Path) -> None:
    text = "import os\ndef test_c(): print('IN', os.environ['WORKBENCH_CACHE'])\n"
    code, out = run(tmp_path, text, "-s")
    folder = out.split("IN ")[1].split()[0]
    assert code == 0 and folder != os.environ["WORKBENCH_CACHE"] and not Path(folder).exists()


def test_no_shell_stays_behind(tmp_path: Path) -> None:
    text = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "def test_a(): InteractiveShell.instance()\n"
        "def test_b(): assert not InteractiveShell.initialized()\n"
    )
    code, out = run(tmp_path, text)
    assert code == 0, out


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("leaves", "said"),
    [
        ("import os; os.environ['LEFT'] = '1'", "environment variables: LEFT: None -> '1'"),
        ("import builtins; builtins._ = 1", "names in builtins: _"),
        ("import signal; signal.signal(signal.SIGINT, lambda *_: None)", "signal handlers: "),
        ("import workbench as wb; wb.set_checks(True)", "set_checks: "),
        ("from workbench import events; events.subscribe(print)", "subscribers of events: "),
    ],
)
def test_a_test_that_leaves_something_behind_fails(tmp_path: Path, leaves: str, said: str) -> None:
    code, out = run(tmp_path, f"def test_a():\n    {leaves}\n")
    assert code == 1 and f"changed the process for those after it: {said}" in out


@pytest.mark.slow
def test_a_seed_draws_the_order_of_tests(tmp_path: Path) -> None:
    text = "".join(f"def test_{n}(): print('RAN', {n})\n" for n in range(9))
    orders = [run(tmp_path, text, "-s", *options)[1].split("RAN ")[1:] for options in ((), ("--shuffle=1",))]
    first, drawn = ([int(part[0]) for part in order] for order in orders)
    assert first == sorted(drawn) != drawn
    again = run(tmp_path, text, "-s", "--shuffle=1")[1].split("RAN ")[1:]
    assert [int(part[0]) for part in again] == drawn
