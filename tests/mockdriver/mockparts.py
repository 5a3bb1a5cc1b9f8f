"""What the mock driver keeps: allocations, and graphs with their nodes."""

from __future__ import annotations

from collections.abc import Callable
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
    blocks: int = 0
    threads: int = 0
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
