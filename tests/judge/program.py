"""A program for the judge: a module's text as a user writes it, and what its kernel is launched with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Array:
    """An array argument.

    Attributes:
        values: its elements before the launch. Components of vectors and matrices are axes at the end, structs are
            structured elements.
        dtype: the type of its elements, as an expression that the program's module understands ("wb.vec3", "Particle").
        output: whether the kernel may change it.
    """

    values: np.ndarray[Any, Any]
    dtype: str
    output: bool = False


@dataclass(frozen=True)
class Scalar:
    """A scalar argument, or a vector, matrix or quaternion by value, given as its components."""

    value: Any
    dtype: str


@dataclass(frozen=True)
class Overlap:
    """An array argument that is a part of another one: `length` of its elements along the first axis, from `at` on."""

    of: str
    at: int
    length: int


Argument = Array | Scalar | Overlap


@dataclass(frozen=True)
class Program:
    """A program: it is judged for the values of its arrays after a launch, and for derivatives.

    Attributes:
        name: what a report calls it.
        text: the source code of a module that imports `workbench as wb`.
        dim: the sizes of the launch.
        arguments: of the kernel, by name, in order.
        kernel: the name of the kernel in the module.
        smooth: whether derivatives are asked for; by every array of floats that is no output.
        seed: of cotangents, and of what else is drawn.
        block_dim: the threads of a block of a kernel of tiles, whose launch counts blocks; 0: it has no tiles.
        lanes: whether the threads of its blocks have values of their own.
    """

    name: str
    text: str
    dim: tuple[int, ...]
    arguments: Mapping[str, Argument]
    kernel: str = "k"
    smooth: bool = False
    seed: int = 0
    block_dim: int = 0
    lanes: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arrays(self) -> dict[str, Array]:
        """The array arguments."""
        return {name: a for name, a in self.arguments.items() if isinstance(a, Array)}

    @property
    def outputs(self) -> list[str]:
        """The arrays that the kernel may change."""
        return [name for name, a in self.arrays.items() if a.output]

    @property
    def inputs(self) -> list[str]:
        """The arrays by which derivatives are taken: of floats, and not changed."""
        return [name for name, a in self.arrays.items() if not a.output and is_floating(a.values)]

    def cotangents(self) -> dict[str, np.ndarray[Any, Any]]:
        """The weights of the outputs' elements in the number that is differentiated."""
        random = np.random.default_rng(self.seed + 2)
        arrays = ((name, self.arrays[name].values) for name in self.outputs)
        return {n: random.uniform(-1, 1, v.shape).astype(v.dtype) for n, v in arrays if is_floating(v)}

    def tangents(self) -> dict[str, np.ndarray[Any, Any]]:
        """The direction in which the inputs change, where derivatives are taken forwards."""
        random = np.random.default_rng(self.seed + 3)
        arrays = ((name, self.arrays[name].values) for name in self.inputs)
        return {n: random.uniform(-1, 1, v.shape).astype(v.dtype) for n, v in arrays}


def is_floating(values: np.ndarray[Any, Any]) -> bool:
    """Whether elements are float32 or float64."""
    return values.dtype in (np.float32, np.float64)
