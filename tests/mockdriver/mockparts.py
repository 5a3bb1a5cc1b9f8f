"""What the mock driver keeps: allocations, and graphs with their nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Block:
    """An allocation: filled with what no test expects, and with something else once it is freed."""

    data: np.ndarray[Any, Any]
    size: int
    device: int
    alive: bool = True

    @property
    def start(self) -> int:
        return self.data.ctypes.data


@dataclass(frozen=True)
class Node:
    """A node of a graph: a launch with copied parameters, or a condition with bodies."""

    handle: int
    after: tuple[int, ...]
    function: int = 0
    blocks: tuple[int, int, int] = (0, 1, 1)
    threads: tuple[int, int, int] = (0, 1, 1)
    params: tuple[bytes, ...] = ()
    condition: int = 0
    loop: bool = False
    bodies: tuple[int, ...] = ()
    shared: int = 0
    child: Graph | None = None
    work: Callable[[], object] | None = None


@dataclass
class Graph:
    """Nodes by handle, in the order they were added."""

    nodes: dict[int, Node] = field(default_factory=dict)


def can_launch(blocks: Sequence[int], threads: Sequence[int]) -> bool:
    """Whether a device takes a grid of these blocks, of these threads along x, y, z."""
    grid = 0 < blocks[0] < 2**31 and 0 < min(blocks[1:]) and max(blocks[1:]) < 65536
    return grid and 0 < min(threads) and math.prod(threads) <= 1024 and threads[2] <= 64
