"""Forward mode over a whole program: every launch runs as its tangent.

A `Dual` takes what it hears of and does it itself, with the tangents of the arrays beside them. It does so for whatever
runs, a tape's backward pass too; that gives Hessian-vector products without a second set of rules.
"""

from __future__ import annotations

from msgspec.structs import replace

from workbench.api.gradients.tangents import bind_tangent
from workbench.api.graphs.capture import capture_body
from workbench.api.tapes.cuts import refuse_conversion
from workbench.runtime.active_observers import observing, outside
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import Twins
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.mapped import Mapped
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.work import Graph, Nodes, branched
from workbench.types import is_float


class Dual(Observer):
    """Carries tangents along what runs while it is open.

    Attributes:
        tangents: of each array's memory; if there is none, it is 0.
        seen: memories of the float arrays in what it heard of.
        written: those among them that were changed.
    """

    takes = differentiates = True

    def __init__(self) -> None:
        self.tangents = Twins()
        self.seen: set[Memory] = set()
        self.written: set[Memory] = set()

    def launching(self, record: LaunchRecord) -> None:
        """Run the launch's tangent; the launch itself where nothing in it has a tangent.

        Raises:
            NotDifferentiable: it has none.
        """
        floats = {n: a for n, a in record.arguments.items() if isinstance(a, array) and is_float(a.dtype)}
        self.seen |= {a.memory for a in floats.values()}
        self.written |= {floats[n].memory for n in record.writes & floats.keys()}
        with outside(self):
            if any(a in self.tangents for a in floats.values()):
                record = bind_tangent(record, {n: self.tangents.of(a) for n, a in floats.items()})
            execute(record)

    def branching(self, node: Graph) -> Graph:
        """Capture a branch or loop of tangents: all of its arrays may have one."""
        floats = [a for a in node.accesses if is_float(a.array.dtype)]
        self.seen |= {a.array.memory for a in floats}
        self.written |= {a.array.memory for a in floats if a.writes}
        with outside(self):
            for access in floats:
                self.tangents.of(access.array)
            branched(replace(node, graphs={name: self._tangent(body) for name, body in node.bodies.items()}))
        return node

    def _tangent(self, body: Nodes) -> Nodes:
        with capture_body() as made, observing(self):
            body.launch()
        return made

    def copying(self, target: array, source: array) -> None:
        """Copy both."""
        self._change(target, source)
        with outside(self):
            if source in self.tangents:
                self.tangents.of(target).copy_(self.tangents.of(source))
            elif target in self.tangents:
                self.tangents.of(target).fill_(0)
            target.copy_(source)

    def adding(self, target: array, source: array) -> None:
        """Add both."""
        self._change(target, source)
        with outside(self):
            if source in self.tangents:
                self.tangents.of(target).add_(self.tangents.of(source))
            target.add_(source)

    def converting(self, source: array, dtype: object) -> None:
        """Refuse what would lose a tangent."""
        if source in self.tangents and is_float(dtype):
            raise refuse_conversion(source, dtype)

    def filling(self, target: array, value: float) -> None:
        """A constant has no tangent."""
        self._change(target, target)
        with outside(self):
            if target in self.tangents:
                self.tangents.of(target).fill_(0)
            target.fill_(value)

    def mapping(self, mapped: Mapped) -> None:
        """Map the tangent."""
        self._change(mapped.target, mapped.source)
        with outside(self):
            mapped.note()
            if mapped.source in self.tangents:
                self.tangents.of(mapped.target).add_(mapped.along(self.tangents.of(mapped.source)))

    def _change(self, target: array, source: array) -> None:
        self.seen |= {target.memory, source.memory}
        self.written.add(target.memory)
