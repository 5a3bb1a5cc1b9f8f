"""Steps in processes of their own: one that hangs, crashes or breaks the device costs its own time, and no other step.

It needs nothing but Python. What a step saw is kept as it goes, so a step that is killed still says how far it came.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "benchmarks/results/gpu_first_run.jsonl"
PASSED, FAILED, TIMED_OUT, NOT_RUN = "passed", "failed", "timed out", "not run"
ERROR_LENGTH, OUTPUT_LENGTH = 4000, 2000
EMULATED_LIMIT = 4
"""How many times a step's limit it has on an emulated device, which is slower than any GPU."""
PATIENCE = 5
"""Seconds that a killed process has to end; one that waits for a broken GPU may never do so."""


def is_emulated(device: str) -> bool:
    """Return whether the CPU runs a device's kernels: an emulated one, or one of the stand-in for the driver."""
    return device.startswith("emulated") or os.environ.get("WORKBENCH_GPU") == "standin"


class NotAvailable(Exception):
    """The step needs something that is not there; the message says what."""


class Given:
    """What a step works with.

    Attributes:
        device: the device's name.
        seen: the facts that the step found.
    """

    def __init__(self, device: str, result: Path | None = None) -> None:
        """For a step on this device, which keeps what it saw in `result`."""
        self.device = device
        self.seen: dict[str, Any] = {}
        self._result = result

    def saw(self, **facts: Any) -> None:
        """Keep facts at once: they are in the report even if the process ends in the next moment."""
        self.seen.update(facts)
        self.write()

    def write(self, **ending: str) -> None:
        """Write what was seen, and how the step ended if it has."""
        if self._result is not None:
            part = self._result.with_suffix(".part")
            part.write_text(json.dumps({"seen": self.seen, **ending}, default=str), encoding="utf-8")
            part.replace(self._result)

    def need(self, module: str) -> Any:
        """A module.

        Raises:
            NotAvailable: it is not installed.
        """
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            raise NotAvailable(f"{module.partition('.')[0]} is not installed")
        return importlib.import_module(module)

    @property
    def is_emulated(self) -> bool:
        """Whether the CPU runs its kernels."""
        return is_emulated(self.device)

    def size(self, real: int, emulated: int) -> int:
        """A size or a count: on a GPU, and on an emulated device."""
        return emulated if self.is_emulated else real

    @property
    def gpu(self) -> Any:
        """The device's driver."""
        from workbench.runtime.device.device import driver_of, get_device

        return driver_of(get_device(self.device))

    @property
    def index(self) -> int:
        """The device's number in its driver."""
        from workbench.runtime.device.device import get_device

        return get_device(self.device).index


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        name: what `--steps` calls it.
        limit: seconds after which it is killed; four times as many on an emulated device.
        run: does it; an exception is a failure, `NotAvailable` is none.
        stage: 1 asks whether it is right, 2 how fast.
        needed: the steps after it run only if it passes; it runs whatever is selected.
        only_real: why an emulated device cannot do it; empty if it can.
    """

    name: str
    limit: float
    run: Callable[[Given], None]
    stage: int = 1
    needed: bool = False
    only_real: str = ""


def main(steps: Sequence[Step], arguments: Sequence[str] | None = None) -> int:
    """Run the steps that the command line selects; the exit status: 1 if one failed, else 0."""
    options = _options(steps, arguments)
    if options.child:
        _run_here(next(s for s in steps if s.name == options.child), Given(options.device, options.result))
        return 0
    if options.list:
        for step in steps:
            summary = (step.run.__doc__ or "").strip().partition("\n")[0]
            print(f"{step.stage}  {step.name:<24} {step.limit:5.0f} s  {summary}")
        return 0
    selected = [
        s for s in steps
        if s.needed or (s.name in options.steps if options.steps else options.stage in (None, s.stage))
    ]  # fmt: skip
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the step's process is ended, too
    lines = Run(selected, options).lines()
    print(table(lines))
    return int(any(line["outcome"] in (FAILED, TIMED_OUT) for line in lines))


def _options(steps: Sequence[Step], arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--device", default="cuda:0", help="cuda:0 (the default), cuda:1, … or emulated")
    parser.add_argument("--stage", type=int, choices=(1, 2), help="1: is it right? 2: how fast is it? Both by default")
    parser.add_argument("--steps", nargs="+", metavar="NAME", default=[], help="only these (--list names them)")
    parser.add_argument("--out", type=Path, help=f"append the lines here; on a GPU, by default {RESULTS.name}")
    parser.add_argument("--within", type=float, metavar="SECONDS", help="begin no step and end any after so long")
    parser.add_argument("--list", action="store_true", help="list the steps with their limits, and run nothing")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    unknown = sorted({*options.steps} - {s.name for s in steps})
    if unknown:
        parser.error(f"there is no step {unknown[0]}; there are {', '.join(s.name for s in steps)}")
    if options.device.partition(":")[0] not in ("cuda", "emulated"):
        parser.error(f"{options.device!r} is no GPU: give cuda:0, or emulated")
    if options.within is not None and options.within <= 0:
        parser.error("--within takes a number of seconds above 0")
    if options.out is not None and not options.out.resolve().parent.is_dir():
        parser.error(f"there is no folder {options.out.resolve().parent} for --out")
    return options


def _run_here(step: Step, given: Given) -> None:
    """Run a step in this process, and write how it ended."""
    try:
        if os.environ.get("WORKBENCH_GPU") == "standin":
            from tests.support.cuda_driver.executor import serve

            serve()
        step.run(given)
    except NotAvailable as missing:
        given.write(outcome=NOT_RUN, error=str(missing))
    except BaseException:
        given.write(outcome=FAILED, error=traceback.format_exc()[-ERROR_LENGTH:])
    else:
        given.write(outcome=PASSED, error="")


class Run:
    """One run of several steps, each in a process of its own."""

    def __init__(self, steps: Sequence[Step], options: argparse.Namespace) -> None:
        self._steps, self._device = steps, options.device
        self._out: Path | None = options.out
        self._ends = time.monotonic() + options.within if options.within else None
        self._started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def lines(self) -> list[dict[str, Any]]:
        """Run them all; one line per step, which is printed and written as soon as the step is over."""
        lines: list[dict[str, Any]] = []
        missing = ""
        for step in self._steps:
            before = time.monotonic()
            found = {"seen": {}, **(self._not_run(step, missing) or self._run(step))}
            if step.needed and found["outcome"] != PASSED:
                missing = missing or f"{step.name} did not pass"
            elif step.needed and self._out is None and not is_emulated(self._device):
                self._out = RESULTS
            seconds = round(time.monotonic() - before, 2)
            line = {"run": self._started, "device": self._device, "stage": step.stage, "step": step.name,
                    "outcome": found["outcome"], "seconds": seconds, "seen": found["seen"],
                    "error": found.get("error", "")}  # fmt: skip
            self._tell(line)
            lines.append(line)
        return lines

    def _not_run(self, step: Step, missing: str) -> dict[str, Any] | None:
        """Why a step is not begun; None if it is."""
        why = missing
        if not why and step.only_real and is_emulated(self._device):
            why = f"not emulated: {step.only_real}"
        if not why and self._ends is not None and time.monotonic() >= self._ends:
            why = "the time for the run is over"
        return {"outcome": NOT_RUN, "error": why} if why else None

    def _run(self, step: Step) -> dict[str, Any]:
        """Run a step in a process of its own, and end what it leaves after its limit."""
        limit = step.limit * (EMULATED_LIMIT if is_emulated(self._device) else 1)
        limit = limit if self._ends is None else min(limit, self._ends - time.monotonic())
        with tempfile.TemporaryDirectory(prefix="workbench-step-") as folder:
            result, output = Path(folder, "result.json"), Path(folder, "output")
            script = sys.modules["__main__"].__file__
            command = [sys.executable, str(script), "--child", step.name, "--device", self._device, "--result", result]
            with output.open("wb") as sink:
                process = subprocess.Popen(
                    command, cwd=ROOT, env=self._environment(), stdin=subprocess.DEVNULL, stdout=sink,
                    stderr=subprocess.STDOUT, start_new_session=True,
                )  # fmt: skip
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                _end(process)
                error = f"it was ended after {limit:.0f} s"
                return {"seen": {}, **_read(result), "outcome": TIMED_OUT, "error": f"{error}\n{_tail(output)}"}
            except BaseException:
                _end(process)
                raise
            found = _read(result)
            if process.returncode or "outcome" not in found:
                how = f"its process {_ending(process.returncode)}"
                error = "\n".join(t for t in (found.get("error"), _tail(output)) if t)
                return {"seen": {}, **found, "outcome": FAILED, "error": f"{how}\n{error}"}
            return found

    def _environment(self) -> dict[str, str]:
        # A filtered traceback ends in a remark of JAX's, where the summary looks for the error.
        jax = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "JAX_TRACEBACK_FILTERING": "off"}
        kept = {**os.environ, **jax, "PYTHONFAULTHANDLER": "1"}
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        if self._device.startswith("emulated"):
            kept["WORKBENCH_GPU"] = "emulated"
            kept.setdefault("WORKBENCH_EMULATED_SEED", "1")  # work without an order is done in another one
        return kept

    def _tell(self, line: dict[str, Any]) -> None:
        print(_row(line), flush=True)
        if self._out is not None:
            with self._out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line, default=str) + "\n")
                out.flush()
                os.fsync(out.fileno())


def table(lines: Sequence[dict[str, Any]]) -> str:
    """A summary: one row per step, and how many ended how."""
    counts = Counter(line["outcome"] for line in lines)
    whole = sum(line["seconds"] for line in lines)
    counted = ", ".join(f"{counts[k]} {k}" for k in (PASSED, FAILED, TIMED_OUT, NOT_RUN) if counts[k])
    return "\n".join(["", *map(_row, lines), f"{counted}, in {whole:.0f} s"])


def _row(line: dict[str, Any]) -> str:
    said = line["error"].strip()
    told = said.splitlines()[-1] if line["outcome"] == FAILED and said else said.partition("\n")[0]
    facts = told or ", ".join(f"{name}={value}" for name, value in line["seen"].items())
    return f"{line['outcome']:<9} {line['step']:<24} {line['seconds']:6.1f} s  {' '.join(facts.split())[:160]}".rstrip()


def _ending(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    with suppress(ValueError):
        return f"was killed by {signal.Signals(-status).name}"
    return f"was killed by signal {-status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)


def _read(result: Path) -> dict[str, Any]:
    return json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}


def _tail(output: Path) -> str:
    return output.read_text(encoding="utf-8", errors="replace")[-OUTPUT_LENGTH:].strip()
