"""Runs the tests of an installed Warp on Workbench: `python benchmarks/warp_tests.py [--only REGEX] [--jobs 2]`.

Each module of `warp.tests` is imported in a process after `workbench.compat.warp.install()`, and each test has a time
limit. A test is portable if neither it nor what it calls names `warp._src`, and if it is not skipped without a GPU.
The result is the share of portable tests that pass, with and without the modules that the guide lists as being about
what is not here, and the failures by the first line of their message.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

LIMIT_S = 60
GUIDE = Path(__file__).parents[1] / "docs" / "guide" / "from-warp.md"
MOST_EXCLUDED = 210


def excluded() -> set[str]:
    """The modules of `warp.tests` whose failures do not count, as the guide lists them."""
    section = GUIDE.read_text(encoding="utf-8").partition("### Tests that do not count")[2].partition("\n#")[0]
    return {f"warp.tests.{name}" for name in re.findall(r"^\| `([\w.]+)` \|", section, re.M)}


def tests_of(suite: Any) -> list[unittest.TestCase]:
    """The test cases of a suite."""
    return [t for part in suite for t in (tests_of(part) if isinstance(part, unittest.TestSuite) else [part])]


def is_portable(function: Any, known: set[Any]) -> bool:
    """Return whether a function names nothing inside of Warp, nor do the functions of its module that it calls."""
    function = getattr(function, "__func__", function)
    inner = getattr(function, "__wrapped__", None)
    if inner is not None and not is_portable(inner, known):
        return False
    code = getattr(function, "__code__", None)
    if code is None or function in known:
        return True
    known.add(function)
    space, names, codes = function.__globals__, set(), [code]
    cells = [c.cell_contents for c in function.__closure__ or () if _is_set(c)]
    while codes:
        code = codes.pop()
        names |= {*code.co_names} | {c for c in code.co_consts if isinstance(c, str) and c.startswith("warp._src")}
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    if "_src" in names or any(n.startswith("warp._src") for n in names):
        return False
    values = [*cells, *(space[n] for n in sorted(names) if n in space)]
    if any(getattr(v, "__name__", "").startswith("warp._src") for v in values if isinstance(v, types.ModuleType)):
        return False
    if {*INNER.get(space.get("__name__"), ())} & names:
        return False
    home = space.get("__name__")
    return all(is_portable(v, known) for v in values if getattr(v, "__module__", None) == home)


def _is_set(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


INNER: dict[Any, set[str]] = {}
"""Names that a module imports from inside of Warp."""


def inner_names(path: Path) -> set[str]:
    """Return the names that a module imports from inside of Warp."""
    text = path.read_text(encoding="utf-8")
    lines = re.findall(r"^(?:from warp\._src[\w.]* import|import warp\._src[\w.]* as) (\([^)]*\)|.*)$", text, re.M)
    return {m for line in lines for m in re.findall(r"(\w+)(?=\s*(?:,|$|\)|#))", line, re.M)}


def worker(module: str, done: Path) -> None:
    """Run the tests of one module that are not done yet; a line of JSON for each, before and after."""
    warnings.simplefilter("ignore")
    before = [json.loads(line) for line in done.read_text().splitlines()] if done.exists() else []
    skip = {entry["test"] for entry in before}
    with done.open("a") as out:

        def put(test: str, status: str, message: str = "", portable: bool = True) -> None:
            entry = {"test": test, "status": status, "message": message, "portable": portable}
            out.write(json.dumps(entry) + "\n")
            out.flush()

        import workbench.compat.warp as wp

        wp.install()
        # Programs that a test starts get the finder, too: they import `sitecustomize`.
        startup = done.parent / "startup"
        startup.mkdir(exist_ok=True)
        (startup / "sitecustomize.py").write_text("import workbench.compat.warp as wp\nwp.install()\n")
        os.environ["PYTHONPATH"] = os.pathsep.join([str(startup), os.environ.get("PYTHONPATH", "")])
        try:
            m = importlib.import_module(module)
        except BaseException as error:
            put(module, "import", first_line(error))
            return
        INNER[module] = inner_names(Path(m.__file__ or ""))
        tests = tests_of(unittest.defaultTestLoader.loadTestsFromModule(m))
        put(module, "module", str(len(tests)))
        for test in tests:
            if test.id() in skip:
                continue
            portable = is_portable(getattr(type(test), test._testMethodName, None), set())
            put(test.id(), "started", "", portable)
            status, message = run_one(test)
            put(test.id(), status, message, portable)


def run_one(test: unittest.TestCase) -> tuple[str, str]:
    """Run one test within the limit."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"ran for {LIMIT_S} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_S)
    result = unittest.TestResult()
    first: list[str] = []
    for name in ("addError", "addFailure"):
        before = getattr(result, name)

        def note(case: Any, err: Any, before: Any = before) -> None:
            first.append(first_line(err[1]))
            before(case, err)

        setattr(result, name, note)

    def sub(case: Any, part: Any, err: Any) -> None:
        if err is not None:
            first.append(first_line(err[1]))

    result.addSubTest = sub  # type: ignore[method-assign]
    sys.stdout.flush()
    saved = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        unittest.TestSuite([test]).run(result)
    finally:
        signal.alarm(0)
        os.dup2(saved, 1)
    if first or result.unexpectedSuccesses:
        return "fail", (first or ["unexpected success"])[0]
    return ("skip", result.skipped[0][1]) if result.skipped else ("pass", "")


def first_line(error: BaseException) -> str:
    """The type and what matters of a message: of our errors the sentence and the source line, where there is one."""
    import traceback

    whole, error = error, (getattr(error, "errors", None) or [error])[0]
    text = str(error)
    location = getattr(error, "location", None)
    excerpt = ""
    if location is not None:
        lines = [r for r in text.splitlines() if r.strip() and "^" not in r]
        excerpt = " | " + (lines[1].strip() if len(lines) > 1 else "")
    message = (getattr(error, "message", "") or " / ".join(r.strip() for r in text.splitlines()[:7] if r.strip()))[:300]
    frames = traceback.extract_tb(whole.__traceback__)
    own = [f for f in frames if "/warp/" in f.filename and "workbench" not in f.filename]
    where = f"  @{Path(own[-1].filename).name}:{own[-1].lineno}: {(own[-1].line or '')[:90]}" if own else ""
    return f"{type(error).__name__}: {message}{excerpt}{where}"


def run_module(module: str, folder: Path, limit: int) -> list[dict[str, Any]]:
    """All entries of a module; a process that ends or hangs in a test is started again behind it.

    A module that an earlier run has finished in the same folder is not run again.
    """
    done, whole = folder / f"{module}.jsonl", folder / f"{module}.done"
    if whole.exists():
        return [json.loads(line) for line in done.read_text().splitlines()]
    entries = _run_module(module, done, limit)
    whole.touch()
    return entries


def _run_module(module: str, done: Path, limit: int) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for _ in range(20):
        command = [sys.executable, __file__, "--worker", module, "--out", str(done)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        try:
            _, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            err = b"time limit of the module"
            process.wait()
        entries = [json.loads(line) for line in done.read_text().splitlines()] if done.exists() else []
        ended = {e["test"] for e in entries if e["status"] != "started"}
        hung = [e for e in entries if e["status"] == "started" and e["test"] not in ended]
        if not hung:
            return entries
        tail = err.decode(errors="replace").strip().splitlines()[-1:] or [""]
        with done.open("a") as out:
            out.write(json.dumps({**hung[0], "status": "fail", "message": f"process ended: {tail[0][:200]}"}) + "\n")
    return entries


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="modules whose names match")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=900, help="seconds for a module")
    parser.add_argument("--out", default="")
    parser.add_argument("--worker", default="")
    parser.add_argument("--results", default="", help="write all entries there, as JSON")
    parser.add_argument("--folder", default="", help="keep what modules came to there, and go on from it")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, Path(options.out))
        return
    spec = importlib.util.find_spec("warp")
    assert spec is not None and spec.origin is not None, "pip install warp-lang==1.19.*"
    root = Path(spec.origin).parent
    files = sorted((root / "tests").rglob("test_*.py"))
    modules = [".".join(("warp", *f.relative_to(root).with_suffix("").parts)) for f in files]
    modules = [m for m in modules if re.search(options.only, m)]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.jobs) as pool:
        folder = Path(options.folder or name)
        folder.mkdir(exist_ok=True, parents=True)
        found = list(pool.map(lambda m: run_module(m, folder, options.limit), modules))
    entries = [e for part in found for e in part if e["status"] != "started"]
    if options.results:
        Path(options.results).write_text(json.dumps(entries, indent=0))
    report(entries)


def report(entries: list[dict[str, Any]]) -> None:
    """Print the share and the reasons."""
    tests = [e for e in entries if e["status"] in ("pass", "fail") and e["portable"]]
    passed = sum(e["status"] == "pass" for e in tests)
    reasons = collections.Counter(
        re.sub(r"\d+", "N", e["message"].split("  @")[0]) for e in tests if e["status"] == "fail"
    )
    for message, count in reasons.most_common():
        print(f"{count:5}  {message}")
    for e in entries:
        if e["status"] == "import":
            print(f"import  {e['test']}  {e['message']}")
    print(f"{passed} of {len(tests)} portable tests passed: {100 * passed / max(len(tests), 1):.1f} %")
    out = [e for e in tests if e["status"] == "fail" and e["test"].rsplit(".", 2)[0] in excluded()]
    assert len(out) <= MOST_EXCLUDED, f"{len(out)} failures are excluded"
    rest = len(tests) - len(out)
    print(f"without {len(out)} that the guide excludes: {100 * passed / max(rest, 1):.1f} % of {rest}")


if __name__ == "__main__":
    main()
