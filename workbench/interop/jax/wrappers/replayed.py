"""Recorded work as a Python function of the arrays that it uses, so that `jax_callable` can take a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from typing import Any

from workbench.api.recorder import Recorder
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import lying_in
from workbench.runtime.arrays.shapes import extent
from workbench.runtime.arrays.substitute import region
from workbench.runtime.device.device import CPU
from workbench.runtime.device.memory import Memory
from workbench.runtime.work import Copy, Fill, Launch, Work, flattened

_NAME = "replayed"


class Replayed:
    """The parameters and the text of a function that runs work again.

    Attributes:
        text: a `def`.
        function: what it defines.
        num_outputs: how many arrays it changes.
        in_out: those whose first contents it uses: it reads them first, or does not write all of them.
        output_dims: the recorded shapes of the others that it changes.
    """

    text: str
    function: Callable[..., None]
    num_outputs: int
    in_out: tuple[str, ...]
    output_dims: dict[str, tuple[int, ...]]

    def __init__(self, work: Iterable[Work]) -> None:
        """Wrap a record, a tape or a graph.

        Raises:
            LaunchError: it is empty or did not run on the CPU, a step cannot run again, or views of one memory have
                several types.
        """
        recorder = work if isinstance(work, Recorder) else Recorder(work)
        elsewhere = next((entry.device for entry in recorder.entries if entry.device != CPU), None)
        if elsewhere is not None or not recorder.entries:
            what = f"ran on {elsewhere}" if elsewhere is not None else "has no entries"
            raise LaunchError(f"jax_callable() takes work of the CPU; this {what}.", advice="Record it on the CPU.")
        nodes = [node for entry in recorder.entries for node in flattened(entry)]
        arrays, names, changed, used = _arrays(nodes)
        outputs = [m for m in arrays if m in changed and m not in used]
        order = [m for m in arrays if m in used] + outputs
        parameters = ", ".join(f"{names[m]}: T{k}" for k, m in enumerate(order))
        pairs = ", ".join(f"A{k}: {names[m]}" for k, m in enumerate(order))
        self.text = f"def {_NAME}({parameters}):\n    WORK.replay({{{pairs}}})\n"
        scope: dict[str, Any] = {"WORK": recorder}
        for k, memory in enumerate(order):
            scope |= {f"T{k}": arrays[memory].type, f"A{k}": arrays[memory]}
        exec(compile(self.text, f"<{_NAME}>", "exec"), scope)
        self.function = scope[_NAME]
        self.num_outputs = len(changed)
        self.in_out = tuple([names[m] for m in order if m in changed and m in used])
        self.output_dims = {names[m]: arrays[m].shape for m in outputs}


def _arrays(nodes: list[Work]) -> tuple[dict[Memory, array], dict[Memory, str], set[Memory], set[Memory]]:
    """Return the array of each memory and its name; which memories change, and whose first contents count."""
    views: dict[Memory, list[array]] = {}
    names: dict[Memory, str] = {}
    changed: set[Memory] = set()
    used: set[Memory] = set()
    for node in nodes:
        overwrites = isinstance(node, Fill) or type(node) is Copy  # a launch may leave elements as they are
        for access in sorted(node.accesses, key=lambda access: access.writes):
            value, memory = access.array, access.array.memory
            covers = value.is_contiguous and value.nbytes == memory.nbytes
            if memory not in changed and (access.reads or not (overwrites and covers)):
                used.add(memory)
            if access.writes:
                changed.add(memory)
            views.setdefault(memory, []).append(value)
    for node in sorted(nodes, key=lambda node: not isinstance(node, Launch)):
        for access in node.accesses:
            if access.array.memory not in names:
                plain = re.sub(r"\W", "_", access.name) or "array"
                numbered = chain([plain], (f"{plain}_{k}" for k in count(2)))
                names[access.array.memory] = next(name for name in numbered if name not in names.values())
    return {m: _holding(names[m], arrays) for m, arrays in views.items()}, names, changed, used


def _holding(name: str, views: Sequence[array]) -> array:
    """Return an array in which all views of one memory lie: one of them, or all of the memory."""
    first = views[0]
    if any(v.dtype != first.dtype for v in views):
        raise LaunchError(
            f"The work uses {name} as arrays of several types in one memory, which is one array in JAX.",
            advice="Copy it to an array of its own first.",
            parameter=name,
        )
    spans = [extent(v) for v in views]
    low, high = min(a for a, _ in spans), max(b for _, b in spans)
    spanning = [v for v, span in zip(views, spans, strict=True) if span == (low, high)]
    if len({region(v) for v in views}) == 1 or any(v.is_contiguous for v in spanning):
        return next((v for v in spanning if v.is_contiguous), first)
    return lying_in(first.memory, first.dtype, (first.memory.nbytes // first.dtype.size,))
