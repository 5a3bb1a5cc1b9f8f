"""Puzzles: launches with known results, hints, a solution, and the counts that answers are graded by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import workbench as wb
from kernel_ext.puzzles.pictures import Picture

DIFFERENCES = 1e-4
"""The default tolerance of numbers, relative and absolute."""


class Wrong(Exception):
    """Raised for an answer that is not right; its text says why. A puzzle's `examine` may raise it."""


@dataclass(frozen=True)
class Case:
    """Represents a launch that an answer is tested with, and its expected results.

    Attributes:
        dim: threads along 1 to 4 dimensions, or blocks if `tiled`.
        arguments: NumPy arrays, Workbench arrays (for dtypes that NumPy has not) and numbers by parameter, in the
            kernel's order. The launch gets copies. An output that begins as NaN is "not written" as long as it is that.
        wanted: what arrays should hold afterwards, by parameter.
        block_dim: threads of a block.
        tiled: launch blocks, as `wb.launch_tiled` does.
        upstream: the gradient of each output, by parameter; then the adjoint is launched, too.
        gradients: what the gradients of inputs should be, by parameter.
        tolerance: how far a number may be off, relative and absolute.
        verify: more to test: takes the arrays by parameter and raises `Wrong`.
    """

    dim: int | tuple[int, ...]
    arguments: Mapping[str, Any]
    wanted: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    block_dim: int | tuple[int, ...] = 64
    tiled: bool = False
    upstream: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    gradients: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    tolerance: float = DIFFERENCES
    verify: Callable[[Mapping[str, np.ndarray]], None] | None = None


@dataclass(frozen=True)
class Puzzle:
    """Represents a puzzle: its task, tests, hints, solution and goals.

    Attributes:
        name: the name of the kernel, or function, that answers it.
        case: makes a case from random numbers; it is called with different ones.
        examine: tests an answer before any case; raises `Wrong`.
        hints: from a nudge to almost the answer.
        solution: a cell's text without its magic; what an answer costs is compared with it.
        goals: counts that should be no more than the solution's: "sectors", "wavefronts", "atomics", "hottest",
            "instructions", "barriers", "lanes".
        picture: the task, drawn.
    """

    name: str
    case: Callable[[np.random.Generator], Case] | None = None
    examine: Callable[[Any], None] | None = None
    hints: tuple[str, ...] = ()
    solution: str = ""
    goals: tuple[str, ...] = ()
    picture: Picture | None = None

    @property
    def cuda(self) -> bool:
        """Whether the solution is CUDA C++."""
        return "__global__" in self.solution

    def solved(self) -> Any:
        """Build the solution, and return it as a kernel.

        Raises:
            WorkbenchError: the solution does not compile.
        """
        text = self.solution.strip() + "\n"
        if self.cuda:
            return wb.cuda_module(text, run="emulated")[self.name]
        return wb.build_cell(text, {}).kernels[self.name]
