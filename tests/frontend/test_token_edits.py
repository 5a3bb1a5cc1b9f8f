"""Random token edits of valid kernels: each ends in code or in an error that is meant for the user, never in another."""

from __future__ import annotations

import enum
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontend.token_edits import CORPUS, mutant
from workbench.api import build
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.compile import CpuBackend
from workbench.backends.cuda.nvrtc import CudaBackend
from workbench.errors import NotDifferentiable, WorkbenchError
from workbench.ir.values import Function
from workbench.ir.verify import verify
from workbench.passes.own import own


class Kind(enum.Enum):
    A = 1
    B = "text"


NAMESPACE: dict[str, Any] = {
    "SCALE": 2.5, "TAPS": (0.25, 0.5, 0.25), "MATRIX": np.eye(3), "HUGE": 10**30, "TEXT": "text", "NOTHING": None,
    "THING": object(), "math": math, "np": np, "Kind": Kind, "Callable": Callable, "Any": Any,
}  # fmt: skip
ARRAY = wb.array(np.zeros(1)).type
CHECKED = Options(checks=True)


def spell(function: Function) -> None:
    """The function as text for both compilers, with and without checks."""
    verify(function)
    for options in (Options(), CHECKED):
        CudaBackend().spell(function, options, "sm_90")
        CpuBackend().spell(function, options, "x86-64-v3")


def outcome(text: str) -> list[Function] | WorkbenchError:
    """The kernels of a cell, every stage of them spelled; or the error it ends in.

    Raises:
        Exception: what must not happen.
    """
    found = []
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        patch.setattr(build, "load", lambda *args: None)
        try:
            cell = wb.build_cell(text, NAMESPACE)
            for kernel in cell.kernels.values():
                types = [t or ARRAY for t in kernel.annotations.values()]
                found.append(kernel.specialise(types).function)
        except WorkbenchError as error:
            assert error.render() and str(error)
            return error
    for function in found:
        spell(own(function))
        try:
            backward = adjoint(function)
        except NotDifferentiable as error:
            assert error.location is not None
        else:
            spell(backward)
    return found
