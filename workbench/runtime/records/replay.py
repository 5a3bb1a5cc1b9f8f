"""Work made ready to run again in its order: neighbours on the CPU become one native table, prepared once.

A changed number is written over its old bytes in the table's parameters, so a replay with another `dt` costs what the
kernels cost; other arrays may need other code, so they make another table.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from workbench.backends.cpu.native.copies import add_name
from workbench.runtime.arrays.host_convert import repeats
from workbench.runtime.arrays.substitute import Substitution
from workbench.runtime.device.memory import Memory
from workbench.runtime.graphs.plan_cpu import CpuPlan, flat_nodes
from workbench.runtime.launching.record import Advance, Latest, LaunchRecord
from workbench.runtime.work import Add, Copy, Fill, Graph, Launch, Nodes, Work
from workbench.structs import Struct
from workbench.types import element


def is_native(node: Work) -> bool:
    """Return whether a table for native code can run a node.

    It can run launches, copies, sums and fills on the CPU, except for a fill whose value is not one number for all
    scalars, a copy or sum within one memory, and a sum of a type without native code.
    """
    if isinstance(node, Launch):
        return not node.device.is_cuda
    if not isinstance(node, Copy | Fill) or any(a.device.is_cuda for a in node.arrays):
        return False
    if isinstance(node, Fill):
        return repeats(node.target.dtype, node.value)
    dtype = node.target.dtype
    if isinstance(node, Add) and (isinstance(dtype, Struct) or add_name(element(dtype).name) is None):
        return False
    return node.source.memory is not node.target.memory


class Prepared:
    """Work ready to run: plans of neighbours on the CPU, and between them whatever has to go through Python.

    Attributes:
        steps: what runs, in order.
        changes: memory that the plans change, and how often.
        kept: whatever has to be kept alive with it.
    """

    def __init__(self, nodes: Sequence[Work]) -> None:
        """Prepare these nodes, in their order."""
        self.steps: list[CpuPlan | _GraphPlan | Work] = []
        self.changes: dict[Memory, int] = {}
        self.kept: object = None
        self._patches: dict[str, list[_Patch]] = {}
        self._graphs: dict[int, _GraphPlan] = {}
        waiting: list[Work] = []
        for node in nodes:
            if is_native(node):
                waiting.append(node)
            else:
                self._close(waiting)
                self.steps.append(node)
        self._close(waiting)

    def _close(self, waiting: list[Work]) -> None:
        """Add a plan that runs the nodes in `waiting`, if there are any, and empty the list."""
        if waiting:
            self.steps.append(CpuPlan(waiting))
            for memory in (memory for node in waiting for memory in node.changes):
                self.changes[memory] = self.changes.get(memory, 0) + 1
            waiting.clear()

    def run(self, scalars: Mapping[str, Any]) -> None:
        """Run all steps, on the arrays' current contents, with other numbers for the parameters of these names.

        The numbers hold for this run alone.

        Raises:
            KernelFault, DeviceError: a launch failed.
            LaunchError: a number does not fit; nothing has run.
            NotDifferentiable: a gradient's code is not right for it; nothing has run.
        """
        if scalars:
            with self._patched(scalars):
                self.run({})
            return
        for memory, times in self.changes.items():
            memory.version += times
        for step in self.steps:
            if isinstance(step, CpuPlan):
                step.run()
            else:
                step.launch()

    @contextmanager
    def _patched(self, scalars: Mapping[str, Any]) -> Generator[None]:
        """Have the steps run with other numbers, by parameter, inside a `with`; all are as before at its end.

        Raises:
            LaunchError, NotDifferentiable: a number does not fit; nothing is changed.
        """
        steps = self.steps
        instead = [self._with_own_plan(step) for step in steps]
        for record in (record for plan in self._plans() for record in plan.conditional):
            record.changed({n: record.checked(n, v) for n, v in scalars.items() if n in record.arguments})
        ready = [(patch, patch.words(value)) for name, value in scalars.items() for patch in self._patch(name)]
        same = Substitution({})  # launches and graphs on a device have no plan here
        self.steps = [s.changed(scalars, same) if isinstance(s, Launch | Graph) else s for s in instead]
        old = [patch.write(words) for patch, words in ready]
        try:
            yield
        finally:
            self.steps = steps
            for (patch, _), words in zip(ready, old, strict=True):
                patch.write(words)

    def _with_own_plan(self, step: CpuPlan | _GraphPlan | Work) -> CpuPlan | _GraphPlan | Work:
        """Return a plan of our own for a graph on the CPU; any other step as it is.

        The graph's owner may run the graph meanwhile, with the recorded numbers.
        """
        if not isinstance(step, Graph) or step.device.is_cuda:
            return step
        known = self._graphs.get(id(step))
        if known is None or known.generations != [body.generation for body in known.bodies]:
            known = self._graphs[id(step)] = _GraphPlan(step.alone)
            self._patches.clear()
        return known

    def _plans(self) -> list[CpuPlan]:
        """Return the plans of all steps on the CPU, those of graphs with a plan of our own included."""
        return [*(s for s in self.steps if isinstance(s, CpuPlan)), *(graph.plan for graph in self._graphs.values())]

    def _patch(self, name: str) -> list[_Patch]:
        """Return the patches that set a parameter in all plans that have it."""
        if name not in self._patches:
            self._patches[name] = [patch for plan in self._plans() for patch in _patches(plan, name)]
        return self._patches[name]


class _GraphPlan:
    """A second plan of a graph on the CPU, besides the one that the graph has itself."""

    def __init__(self, graph: Nodes) -> None:
        """Plan a graph's nodes, and those of the graphs inside, as they are now."""
        self.bodies = [graph, *(body for node in graph.walk() for body in node.bodies.values())]
        self.generations = [body.generation for body in self.bodies]
        self.plan, self._written = CpuPlan(flat_nodes(graph), graph), graph.written()

    def launch(self) -> None:
        """Run the graph."""
        for memory in self._written:
            memory.version += 1
        self.plan.run()


class _Patch(msgspec.Struct, frozen=True, eq=False):
    """The words of a plan that hold one parameter of one kernel.

    Attributes:
        records: the launches of the kernel.
        name: the parameter's.
        position: of the parameter.
        words64: the plan's parameters, as words of 8 bytes.
        offsets: indices in these: a row per launch, a column per word.
    """

    records: tuple[LaunchRecord, ...]
    name: str
    position: int
    words64: np.ndarray[Any, Any]
    offsets: np.ndarray[Any, Any]

    def words(self, value: Any) -> np.ndarray[Any, Any]:
        """Return the words of a value, after checking it: one row for all launches, or one for each.

        Raises:
            LaunchError: the value does not fit.
        """
        records = self.records if isinstance(value, Advance | Latest) else self.records[:1]
        packed = (r.executable.packer.single(self.position, r.checked(self.name, value)) for r in records)
        return np.stack([np.frombuffer(one, np.int64) for one in packed])

    def write(self, words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Write words into the plan; return what was there."""
        old = self.words64[self.offsets]
        self.words64[self.offsets] = words
        return old


def _patches(plan: CpuPlan, name: str) -> Iterator[_Patch]:
    """Yield a patch for each kernel of a plan that has a parameter of this name."""
    groups: dict[int, list[tuple[LaunchRecord, int]]] = {}
    for node, offset in zip(plan.nodes, plan.offsets, strict=False):
        if isinstance(node, Launch) and name in node.record.arguments:
            groups.setdefault(id(node.record.executable), []).append((node.record, int(offset)))
    for members in groups.values():
        records = tuple(record for record, _ in members)
        slots = records[0].executable.layout.slots
        position = next(k for k, s in enumerate(slots) if s.name == name)
        starts = np.array([offset + slots[position].offset for _, offset in members]) // 8
        offsets = starts[:, None] + np.arange((slots[position].size + 7) // 8)
        yield _Patch(records, name, position, plan.params[: plan.params.size // 8 * 8].view(np.int64), offsets)
