"""`--compare`: runs a program under Warp and under Workbench in step, and reports the first array that differs.

Each process sends what a launch or a backward pass left in arrays through a pipe, so neither runs far ahead, and both
are ended at the first difference. Warp's process runs this file alone, without the rest of Workbench.
"""

from __future__ import annotations

import os
import pickle
import random
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

SIDES = ("Warp", "Workbench")


def run_program(arguments: list[str]) -> None:
    """Run a program, or with `-m` a module, as Python does; `arguments` are what follows `python`."""
    module = arguments[0] == "-m"
    sys.argv = arguments[module:]
    if module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")


class Recorder:
    """Sends the arrays of each launch after it, and their gradients after each backward pass, the last launch first.

    It replaces the launch functions and `Tape.backward` of the module `wp`, and lets `empty` return zeros.
    """

    def __init__(self, wp: Any, send: Callable[..., None]) -> None:
        """Replace functions of the module `wp` by ones that report to `send`.

        It is called with "launch" or "gradient", the kernel's name, the line, and (name, NumPy array) pairs.
        """
        self.send = send
        self.differentiable: list[tuple[str, str, list[tuple[str, Any]]]] = []
        self.is_inside = self.is_backward_done = False
        wp.empty, wp.empty_like = wp.zeros, wp.zeros_like  # what was never written would differ
        for name in ("launch", "launch_tiled"):
            setattr(wp, name, self._followed(getattr(wp, name), self._launched))
        wp.Tape.backward = self._followed(wp.Tape.backward, self._differentiated)

    def _followed(self, function: Callable[..., Any], after: Callable[..., None]) -> Callable[..., Any]:
        """Return a function that calls `function`, then `after` with the caller's "file:line" and its arguments.

        It returns the result of `function`. During a call, calls of such functions are not followed.
        """

        def call(*args: Any, **options: Any) -> Any:
            if self.is_inside:  # one launch that is made of others
                return function(*args, **options)
            self.is_inside = True
            try:
                result = function(*args, **options)
            finally:
                self.is_inside = False
            frame = sys._getframe(1)
            after(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}", *args, **options)
            return result

        return call

    def _launched(
        self, where: str, kernel: Any, dim: Any, inputs: Any = None, outputs: Any = None, *args: Any, **options: Any
    ) -> None:
        """Send the contents of a launch's arrays, and note those that require gradients for the next backward pass.

        Args:
            where: the line of the launch: file name and number.
            kernel, dim, inputs, outputs, args, options: as passed to `launch`.
        """
        arguments = zip((a.label for a in kernel.adj.args), [*(inputs or ()), *(outputs or ())], strict=False)
        arrays = [*_arrays(arguments)]
        self.send("launch", kernel.key, where, [(name, x.numpy()) for name, x in arrays])
        if self.is_backward_done:
            self.differentiable, self.is_backward_done = [], False
        differentiable = [(name, x) for name, x in arrays if getattr(x, "requires_grad", False)]
        if differentiable:
            self.differentiable.append((kernel.key, where, differentiable))

    def _differentiated(self, where: str, *args: Any, **options: Any) -> None:
        """Send the gradients of the arrays of each noted launch, the last launch first; arguments are not used."""
        for kernel, line, arrays in reversed(self.differentiable):
            gradients = [(f"{name}.grad", x.grad.numpy()) for name, x in arrays if x.grad is not None]
            self.send("gradient", kernel, line, gradients)
        self.is_backward_done = True


def _arrays(named: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays among named arguments, and those in structs, by `argument.field`."""
    for name, value in named:
        fields = getattr(getattr(value, "_cls", None), "vars", {})
        if hasattr(value, "numpy") and not fields:
            yield name, value
        yield from _arrays((f"{name}.{field}", getattr(value, field, None)) for field in fields)


def difference(a: np.ndarray, b: np.ndarray) -> str:
    """Return a text that says where an array of Warp and one of Workbench differ first; empty if they are equal.

    Floats may differ by the square root of their type's precision times the largest number of either array.
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"Warp has {a.dtype} of shape {a.shape}, Workbench {b.dtype} of shape {b.shape}"
    if a.dtype.names:
        fields = ((field, difference(a[field], b[field])) for field in a.dtype.names)
        return next((f".{field}{text}" for field, text in fields if text), "")
    apart = a != b
    if a.dtype.kind == "f" and a.size:
        sizes = np.abs(np.concatenate([a.ravel(), b.ravel()]).astype(float))
        limit = float(np.finfo(a.dtype).eps) ** 0.5 * np.max(sizes, where=np.isfinite(sizes), initial=0)
        apart = ~np.isclose(a.astype(float), b.astype(float), rtol=0, atol=limit, equal_nan=True)
    if not apart.any():
        return ""
    index = tuple(np.argwhere(apart)[0].tolist())
    count = f"{np.count_nonzero(apart)} of {a.size} numbers differ"
    return f"[{', '.join(map(str, index))}]: Warp {a[index]}, Workbench {b[index]} ({count})"


def _child(side: str, arguments: list[str]) -> None:
    """Run the program under the library `side` with seeds of 0, and write records to the standard output.

    What the program itself prints is dropped. The last record has the program's exit code.
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path[0] = ""
    if side == "Workbench":  # Warp's process never imports it
        import_module("workbench.compat.warp.finder").install()
    random.seed(0)
    np.random.seed(0)
    generator = np.random.default_rng
    np.random.default_rng = lambda seed=0: generator(0 if seed is None else seed)
    warp = import_module("warp")

    def send(*record: Any) -> None:
        pickle.dump(record, out)
        out.flush()

    Recorder(warp, send)
    code: Any = None
    try:
        run_program(arguments)
    except SystemExit as error:
        code = error.code
    send("end", str(code), "", [])


def _record(process: subprocess.Popen[bytes]) -> Any:
    """Read and return the next record that a process has sent; None if it has ended."""
    try:
        return pickle.load(process.stdout)  # type: ignore[arg-type]
    except EOFError:
        return None


def report(records: Iterator[Sequence[Any]]) -> tuple[bool, str]:
    """Return whether two runs are equal, and the sentence that says so, or where they part.

    Args:
        records: pairs of what Warp and Workbench sent; None for a run that stopped.
    """
    counts = {"launch": 0, "gradient": 0}
    for pair in records:
        after = f"after {counts['launch']} launches"
        stopped = [side for side, record in zip(SIDES, pair, strict=True) if record is None]
        if stopped:
            return False, f"{' and '.join(stopped)} stopped {after}: the error is above"
        theirs, ours = pair
        if (theirs[0], theirs[2]) != (ours[0], ours[2]) or (theirs[0] == "end" and theirs[1] != ours[1]):
            texts = (" ".join(map(str, record[:3])).strip() for record in pair)
            return False, f"The runs part {after}: " + ", ".join(map(" has ".join, zip(SIDES, texts, strict=True)))
        what, kernel, where, arrays = ours
        if what == "end":
            return True, f"No difference in {counts['launch']} launches and {counts['gradient']} gradients of launches"
        counts[what] += 1
        for (name, a), (_, b) in zip(theirs[3], arrays, strict=True):
            if text := difference(a, b):
                number = f" {counts[what]}" if what == "launch" else ""
                return False, f"{what}{number} of {kernel}, {where}: {name}{'' if text[0] in '[.' else ': '}{text}"
    raise AssertionError


def compare(arguments: list[str]) -> int:
    """Run a program under Warp and under Workbench with equal seeds, and print the first array that differs.

    Returns:
        0 if none differs, else 1.
    """
    paths = os.pathsep.join(p or os.getcwd() for p in sys.path)
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    command = [sys.executable, __file__]
    both = [subprocess.Popen([*command, s, *arguments], stdout=subprocess.PIPE, env=environment) for s in SIDES]
    try:
        is_equal, text = report(iter(lambda: [_record(p) for p in both], ()))
    finally:
        for process in both:
            process.kill()
            process.communicate()
    print(text)
    return 0 if is_equal else 1


if __name__ == "__main__":
    _child(sys.argv[1], sys.argv[2:])
