"""Launches of the oracle: every thread of a program, several times where something in it is inexact."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import numpy as np

from tests.judge.oracle.composites import Composite
from tests.judge.oracle.language import as_type, namespace
from tests.judge.oracle.memory import Array, Memory, float_cells, spread
from tests.judge.oracle.numbers import Number, Weak, number
from tests.judge.oracle.run import Current, Joins, Node, Run
from tests.judge.oracle.source import prepared
from tests.judge.oracle.tiles import Lanes
from tests.judge.oracle.types import OutOfRange, Unsupported, is_float, rounded, spacing
from tests.judge.program import Array as ArrayArgument
from tests.judge.program import Overlap, Program, is_floating

DISTURBED = 4
"""So many runs with inexact values disturbed say how far a right result may be off."""
MARGIN = 4.0
"""A right result may differ by so many times the largest difference of the disturbed runs."""
FEWEST = 2.0
"""An inexact float may always differ by so many ulp."""


@dataclass
class Outcome:
    """The right values of a program's outputs.

    Attributes:
        cells: the numbers of each output after the launch, element by element.
        bounds: per cell of an output, how far a float may be off; 0 where all bits are promised.
        judged: per cell of an output, whether it is judged: its value depends on no order of threads, and is no
            integer or condition that an ulp could change.
        fault: what stops a thread under checks ("index", "assert"); empty if nothing does.
        suspect: what else checks may report: "division", "shift".
        written: the arrays that the kernel changed.
        raced: how many cells of outputs depend on the order of threads.
    """

    cells: dict[str, list[Any]] = field(default_factory=dict)
    bounds: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    judged: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    fault: str = ""
    suspect: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    raced: int = 0


@dataclass
class Gradient:
    """Derivatives by each input, what magnitudes are added up in them, and which are judged.

    Threads that go another way in float64 are left out: so many of all.
    """

    values: dict[str, np.ndarray[Any, Any]]
    scales: dict[str, np.ndarray[Any, Any]]
    judged: dict[str, np.ndarray[Any, Any]]
    threads: int
    left_out: int


class TooLong(Exception):
    """The oracle's time is over: the program is not judged."""


def _threads(dim: tuple[int, ...], order: Random | None) -> Iterator[tuple[int, tuple[int, ...]]]:
    indices = list(enumerate(product(*map(range, dim))))
    if order:
        order.shuffle(indices)
    yield from indices


def _launch(
    program: Program, make: Callable[[Joins], Run], module: dict[str, Any]
) -> tuple[Run, dict[str, Memory], str]:
    """Run every thread, twice where ternaries need it: the run, the memories of the arrays, and what fault ended it."""
    joins = Joins()
    run = make(joins)
    memories, fault = _threads_of(program, run, module)
    if joins.is_mixed:
        joins.settled = True
        run = make(joins)
        memories, fault = _threads_of(program, run, module)
    return run, memories, fault


def _threads_of(program: Program, run: Run, module: dict[str, Any]) -> tuple[dict[str, Memory], str]:
    """Run every thread once."""
    Current.run = run
    memories: dict[str, Memory] = {}
    arguments: list[Any] = []
    for name, argument in program.arguments.items():
        if isinstance(argument, Overlap):
            whole = arguments[list(program.arguments).index(argument.of)]
            arguments.append(Array(whole.memory, whole.elements[argument.at : argument.at + argument.length]))
            continue
        type = as_type(eval(argument.dtype, module))
        if isinstance(argument, ArrayArgument):
            memories[name] = Memory(argument.values, type)
            own = memories[name].shape
            arguments.append(Array(memories[name], np.arange(math.prod(own)).reshape(own)))
        else:
            arguments.append(_by_value(argument.value, type))
    if run.taped:
        for name in program.inputs:
            for k in float_cells(memories[name]):
                memories[name].cells[k].n = run.node(())
    kernel, run.block_dim = module[program.kernel], program.block_dim
    run.fma = kernel.fma
    with np.errstate(all="ignore"):
        for thread, index in _threads(program.dim, run.disturbance):
            run.thread, run.index, run.inexact = thread, index, False
            try:
                if program.lanes:
                    Lanes(program.block_dim).run(lambda: _call(kernel, arguments))
                else:
                    _call(kernel, arguments)
            except OutOfRange:
                return memories, "index"
            except AssertionError:
                return memories, "assert"
    return memories, ""


def _call(kernel: Any, arguments: list[Any]) -> None:
    kernel(*(a if isinstance(a, Array) else a.copy() for a in arguments))


def _by_value(value: Any, type: Any) -> Any:
    """A scalar argument, or one of several components."""
    if isinstance(type, Composite):
        return type(*(Number(rounded(v, type.scalar), type.scalar) for v in np.ravel(value)))
    if isinstance(value, np.generic):
        value = float(value) if value.dtype.kind == "V" else value.item()
    return type.convert(value)


class _Limit:
    """Seconds of processor time for the block, in the main thread of a Unix."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def over(*_: Any) -> None:
            raise TooLong

        self.before = signal.signal(signal.SIGVTALRM, over)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self.before)


def _module(program: Program) -> dict[str, Any]:
    module = namespace(program.name)
    Current.run = Run()
    exec(prepared(program.text, program.name), module)
    # NumPy's scalars have types, and the language's rules; a float64 is a Python float, and as weak as one.
    numbers = {name: v for name, v in module.items() if isinstance(v, np.generic)}
    module.update({name: Weak(float(v)) if isinstance(v, float) else number(v) for name, v in numbers.items()})
    return module


def run(program: Program, seconds: float = 20.0) -> Outcome:
    """The right outcome of a launch.

    Raises:
        Unsupported: the program has what the oracle does not know.
    """
    with _Limit(seconds):
        module = _module(program)
        first, memories, fault = _launch(program, lambda joins: Run(joins=joins), module)
        written = {n for n, m in memories.items() if any(t.writers or t.atomics for t in m.touched.values())}
        outcome = Outcome(fault=fault, suspect=frozenset(first.suspect), written=frozenset(written))
        if fault:
            return outcome
        inexact = any(c.q for m in memories.values() for c in m.cells) or _summed(memories)
        seeds = [program.seed * DISTURBED + k for k in range(DISTURBED if inexact else 0)]
        others = [_threads_of(program, Run(Random(seed), joins=first.joins), module)[0] for seed in seeds]
    for name in program.outputs:
        _describe(outcome, name, memories[name], [o[name] for o in others])
    return outcome


def _summed(memories: Mapping[str, Memory]) -> bool:
    """Whether threads add floats to one element, whose sum depends on their order within rounding."""
    return any(
        touched.shared and any(is_float(leaf) for leaf in m.leaves)
        for m in memories.values()
        for touched in m.touched.values()
    )


def _describe(outcome: Outcome, name: str, memory: Memory, others: list[Memory]) -> None:
    count = len(memory.leaves)
    bounds = np.zeros(len(memory.cells))
    judged = np.ones(len(memory.cells), bool)
    for k, cell in enumerate(memory.cells):
        touched = memory.touched[k // count] if k // count in memory.touched else None
        if touched is not None and touched.racy:
            judged[k] = False
            outcome.raced += 1
            continue
        values = [o.cells[k].v for o in others]
        summed = touched is not None and touched.shared and is_float(cell.t)
        if not (summed or cell.q or any(o.cells[k].q for o in others)):
            continue
        if not is_float(cell.t) or not np.isfinite([cell.v, *values]).all():
            judged[k] = False
            continue
        spread_ = max((abs(float(v) - float(cell.v)) for v in values), default=0.0)
        bounds[k] = MARGIN * spread_ + FEWEST * spacing(cell.v, cell.t)
    outcome.cells[name] = [c.v for c in memory.cells]
    outcome.bounds[name], outcome.judged[name] = bounds, judged


def _taped(program: Program, seconds: float) -> tuple[Run, dict[str, Memory], bool]:
    """A run with derivatives: the run, its memories, and whether an element depends on the order of threads."""
    with _Limit(seconds):
        module = _module(program)
        run, memories, fault = _launch(program, lambda joins: Run(taped=True, joins=joins), module)
    if fault:
        raise Unsupported(f"a fault: {fault}")
    return run, memories, any(t.racy for m in memories.values() for t in m.touched.values())


def gradient(program: Program, seconds: float = 20.0) -> Gradient:
    """The derivatives of the outputs' weighted sum by each input.

    Raises:
        Unsupported: the program has what the oracle does not know.
    """
    run, memories, racy = _taped(program, seconds)
    seeds: list[tuple[Node, float]] = []
    for name, weights in program.cotangents().items():
        flat = spread(weights, memories[name].type)
        seeds += [(c.n, float(w)) for c, w in zip(memories[name].cells, flat, strict=True) if c.n is not None]
    leaves = {name: _nodes(memories[name]) for name in program.inputs}
    exact, scale = _backward(seeds, run.nodes, absolute=False), _backward(seeds, run.nodes, absolute=True)
    touched = {name: _diverged(memories[name], run.diverged) for name in program.inputs}
    return Gradient(
        {name: np.array([exact[n.number] for n in nodes]) for name, nodes in leaves.items()},
        {name: np.array([scale[n.number] for n in nodes]) for name, nodes in leaves.items()},
        {name: ~touched[name] & (not racy) for name in leaves},
        math.prod(program.dim),
        len(run.diverged),
    )


def tangent(program: Program, seconds: float = 20.0) -> Gradient:
    """The derivative of each output along the program's tangents of its inputs.

    Raises:
        Unsupported: the program has what the oracle does not know.
    """
    run, memories, racy = _taped(program, seconds)
    along = [0.0] * (run.nodes + 1)
    for name, direction in program.tangents().items():
        flat = spread(direction, memories[name].type)
        for node, d in zip(_nodes(memories[name]), flat, strict=True):
            along[node.number] = float(d)
    names = [name for name in program.outputs if is_floating(program.arrays[name].values)]
    ends = {name: [0 if c.n is None else c.n.number for c in memories[name].cells] for name in names}
    nodes = _below([c.n for name in names for c in memories[name].cells if c.n is not None])
    scale = list(map(abs, along))
    for node in nodes:
        along[node.number] += sum(slope * along[parent.number] for parent, slope, _ in node.partials)
        scale[node.number] += sum(magnitude * scale[parent.number] for parent, _, magnitude in node.partials)
    touched = {name: _diverged(memories[name], run.diverged, changed=True) for name in names}
    return Gradient(
        {name: np.array([along[n] for n in numbers]) for name, numbers in ends.items()},
        {name: np.array([scale[n] for n in numbers]) for name, numbers in ends.items()},
        {name: ~touched[name] & (not racy) for name in names},
        math.prod(program.dim),
        len(run.diverged),
    )


def _diverged(memory: Memory, threads: set[int], changed: bool = False) -> np.ndarray[Any, Any]:
    """Per cell, whether a thread read it, or changed it, that goes another way in float64."""
    count = len(memory.leaves)
    result = np.zeros(len(memory.cells), bool)
    for element, touched in memory.touched.items():
        whose = touched.changing if changed else touched.readers.keys()
        if threads & whose:
            result[element * count : (element + 1) * count] = True
    return result


def _nodes(memory: Memory) -> list[Node]:
    """The nodes of an input's cells, which the launch does not change."""
    return [cell.n for cell in memory.cells if cell.n is not None]


def _below(ends: Sequence[Node]) -> list[Node]:
    """The nodes that these were computed from, and these, in the order in which they were computed."""
    nodes: dict[int, Node] = {}
    waiting = list(ends)
    while waiting:
        node = waiting.pop()
        if node.number not in nodes:
            nodes[node.number] = node
            waiting += [parent for parent, _, _ in node.partials]
    return [node for _, node in sorted(nodes.items())]


def _backward(seeds: list[tuple[Node, float]], count: int, absolute: bool) -> list[float]:
    """Adjoints of all nodes; with `absolute`, sums of magnitudes, which say how much rounding may matter."""
    adjoints = [0.0] * (count + 1)
    for node, weight in seeds:
        adjoints[node.number] += abs(weight) if absolute else weight
    for node in reversed(_below([n for n, _ in seeds])):
        adjoint = adjoints[node.number]
        if adjoint:
            for parent, slope, magnitude in node.partials:
                adjoints[parent.number] += adjoint * (magnitude if absolute else slope)
    return adjoints
