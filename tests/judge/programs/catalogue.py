"""The catalogue of kernels with known traps, as programs that import the names that they use."""

from __future__ import annotations

import re
import textwrap

import numpy as np

import workbench as wb
from tests.catalogue.calls import CALLS, HEAD
from tests.catalogue.loops import LOOPS
from tests.catalogue.memory import MEMORY
from tests.catalogue.states import STATES
from tests.judge.program import Argument, Array, Program, Scalar
from tests.judge.programs.building import written

BODIES = {
    **{f"loops: {name}": ("", body) for name, body in LOOPS.items()},
    **{f"states: {name}": ("", body) for name, body in STATES.items()},
    **{f"memory: {name}": ("", body) for name, body in MEMORY.items()},
    **{f"calls: {name}": text for name, text in CALLS.items()},
}
OWN = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


def _arguments() -> dict[str, Argument]:
    random = np.random.default_rng(5)
    return {
        "x": Array(np.array([0.83, 1.21, 0.57, 1.09, 0.71, 1.33]), "wb.float64"),
        "y": Array(random.uniform(0.4, 1.4, 6), "wb.float64"),
        "w": Array(random.uniform(0.4, 1.4, (3, 8)), "wb.float64"),
        "p": Array(random.uniform(-0.8, 0.9, (4, 3)), "wb.vec3d"),
        "at": Array(np.array([2, 0, 1], np.int32), "wb.int32"),
        "count": Array(np.zeros(2, np.int32), "wb.int32"),
        "a": Scalar(0.7, "wb.float64"),
        "n": Scalar(6, "wb.int32"),
    }


def _program(name: str, funcs: str, body: str) -> Program:
    funcs = re.sub(r"(?m)^def ", "@wb.func\ndef ", funcs)
    text = f"{funcs}\n\n@wb.kernel\n{HEAD}{textwrap.indent(body, '    ')}\n"
    words = set(re.findall(r"\b[a-z_]\w*", text))
    defined = set(re.findall(r"def (\w+)", text)) | set(re.findall(r"\b(\w+)\s*(?:=|,|:)", body))
    names = sorted(w for w in words - OWN - defined if w in KNOWN)
    head = f"import workbench as wb\nfrom workbench import {', '.join(names)}\n\n\n"
    changed = [n for n in ("x", "y", "w", "p", "at", "count") if _changes(n, body)]
    if re.search(r"\w\[[^=]*\] [-+*/]?= ", funcs):
        changed = ["x", "y", "w", "p"]
    return Program(f"catalogue, {name}", head + text, (3,), written(_arguments(), *changed), smooth=True)


def _changes(array: str, body: str) -> bool:
    """Whether lines store in the array, or hand it to an atomic function."""
    return bool(re.search(rf"\b{array}\[[^=]*\]?(\.\w+)?\s*[-+*/]*=[^=]|atomic_\w+\({array}\b", body))


KNOWN = frozenset(dir(wb))
CATALOGUE = [_program(name, *text) for name, text in BODIES.items()]
