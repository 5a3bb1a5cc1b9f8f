"""A kernel's launch as JAX's primitives carry it: the target to call, and how its gradient is called.

Plans are made once a signature. Their equality is their target's, so JAX's own caches work across re-made kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.errors import NotDifferentiable
from workbench.interop.jax.descriptor import Description, Kind, Wire
from workbench.interop.jax.target import Target, make_target
from workbench.runtime.loaded import Loaded
from workbench.types import ArrayType, Type, is_float


class Source(NamedTuple):
    """A value that an adjoint's operand is, or that one of its results belongs to.

    `place` is "input" or "output" (of the forward launch, by number), "cotangent" (of that output), or "static".
    """

    place: str
    number: int


@dataclass(frozen=True)
class Gradient:
    """How the adjoint of a launch is called.

    Attributes:
        plan: the adjoint's own.
        operands: what its operands are.
        results: to which value each of its results is the gradient (and whose shape it has).
    """

    plan: Plan
    operands: tuple[Source, ...]
    results: tuple[Source, ...]


@dataclass(frozen=True)
class Plan:
    """A launch.

    Attributes:
        kernel: the kernel's name.
        launch_ndim: dimensions that its launch must have; 0 for any.
        target: what XLA calls.
        gradient: gives the `Gradient`; raises NotDifferentiable where there is none.
    """

    kernel: str = field(compare=False)
    launch_ndim: int = field(compare=False)
    target: Target
    gradient: Callable[[], Gradient] = field(compare=False, repr=False)

    @property
    def operands(self) -> tuple[Wire, ...]:
        """The wires that are operands."""
        return self.target.description.operands()

    @property
    def results(self) -> tuple[Wire, ...]:
        """The wires that are results."""
        return self.target.description.results()


@dataclass(frozen=True)
class Roles:
    """What each parameter of a kernel is under JAX, by name.

    Attributes:
        inputs: operands, those that also come out among them, in order.
        outputs: results that are no operands, in order.
        in_out: inputs that come out.
        static: scalar inputs whose values are part of the traced program.
        init: initial value of outputs.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    in_out: frozenset[str]
    static: frozenset[str]
    init: Mapping[str, float | int]


def forward_plan(loaded: Loaded, roles: Roles, gradient: Callable[[Description], Gradient]) -> Plan:
    """The plan of a kernel's forward launch.

    Args:
        loaded: the forward kernel.
        roles: what its parameters are.
        gradient: called with this launch's description at the first differentiation.
    """
    count = {"operand": 0, "result": 0, "value": 0}

    def take(what: str) -> int:
        count[what] += 1
        return count[what] - 1

    wires = []
    for slot in loaded.layout.slots:
        wire = _wire(slot.name, slot.type)
        if slot.name in roles.static:
            wire = replace(wire, value=take("value"))
        elif slot.name in roles.inputs:
            result = take("result") if slot.name in roles.in_out else -1
            wire = replace(wire, operand=take("operand"), result=result)
        else:
            wire = replace(wire, result=take("result"), fill=roles.init.get(slot.name))
        wires.append(wire)
    description = Description(loaded.name, tuple(wires), loaded.layout, loaded.threads_per_task)
    target = make_target(description, loaded.digest, loaded.address)
    return Plan(loaded.name, loaded.launch_ndim, target, _once(lambda: gradient(description)))


def adjoint_gradient(loaded: Loaded, forward: Description) -> Gradient:
    """How a loaded adjoint is called to give the gradient of the launch that `forward` describes.

    The adjoint's parameters are the forward's, then an adjoint array for each that is of floats.

    Raises:
        NotDifferentiable: it reads what an output that is no input held before.
    """
    split = len(forward.wires)
    floats = [w for w in forward.wires if is_float(w.type)]
    names = {w.name: s.name for w, s in zip(floats, loaded.layout.slots[split:], strict=True)}
    operands: list[Source] = []
    results: list[Source] = []
    primal = [_primal_wire(w, loaded, names, operands) for w in forward.wires]
    twins = {w.name: _twin_wire(w, names[w.name], operands, results) for w in floats}
    wires = (*(_shape_from(w, twins) for w in primal), *twins.values())
    description = Description(f"{loaded.name} (adjoint)", wires, loaded.layout, loaded.threads_per_task)
    target = make_target(description, loaded.digest, loaded.address)
    plan = Plan(loaded.name, loaded.launch_ndim, target, _no_second_order(loaded.name))
    return Gradient(plan, tuple(operands), tuple(results))


def _primal_wire(wire: Wire, loaded: Loaded, twins: Mapping[str, str], operands: list[Source]) -> Wire:
    """A parameter of the kernel in its adjoint: an operand where the adjoint uses more of it than its shape."""
    read = wire.name in loaded.reads
    if wire.name in loaded.writes or (read and wire.result >= 0 and wire.operand < 0):
        raise NotDifferentiable(
            f"The gradient of {loaded.name} needs what {wire.name} held before, which {loaded.name} changes.",
            advice="Make it an input that comes out (in_out), or let the kernel write to another array.",
            function=loaded.name,
        )
    plain = replace(wire, operand=-1, result=-1, fill=None)
    if wire.value >= 0 or (wire.kind is Kind.ARRAY and not read and wire.name in twins):
        return plain
    operands.append(Source("input", wire.operand) if wire.operand >= 0 else Source("output", wire.result))
    return replace(plain, operand=len(operands) - 1)


def _twin_wire(wire: Wire, name: str, operands: list[Source], results: list[Source]) -> Wire:
    """The adjoint array of a parameter.

    Of an output it is the cotangent, read and cleared, so it goes in and out; of an array input it starts as zeros; of
    a scalar it is one element that collects the sum.
    """
    twin = replace(wire, name=name, operand=-1, value=-1, fill=0)
    if wire.result >= 0:
        operands.append(Source("cotangent", wire.result))
        twin = replace(twin, operand=len(operands) - 1, fill=None)
    if wire.operand >= 0:
        results.append(Source("input", wire.operand))
    else:
        results.append(Source("output", wire.result) if wire.result >= 0 else Source("static", wire.value))
    kind = Kind.ACCUMULATOR if wire.kind is Kind.SCALAR else Kind.ARRAY
    return replace(twin, kind=kind, result=len(results) - 1)


def _wire(name: str, type: Type) -> Wire:
    if isinstance(type, ArrayType):
        return Wire(name, Kind.ARRAY, type.dtype, type.ndim)
    return Wire(name, Kind.SCALAR, type, 0)


def _shape_from(wire: Wire, twins: Mapping[str, Wire]) -> Wire:
    """An array that the adjoint never reads: its shape is that of its adjoint array, and its data are not kept."""
    if wire.kind is not Kind.ARRAY or wire.operand >= 0:
        return wire
    return replace(wire, kind=Kind.SHAPE, result=twins[wire.name].result)


def _no_second_order(name: str) -> Callable[[], Gradient]:
    def refuse() -> Gradient:
        raise NotDifferentiable(
            f"The gradient of {name} cannot itself be differentiated yet: second derivatives are not available.",
            advice="Take one derivative through the kernel.",
            function=name,
        )

    return refuse


def _once(make: Callable[[], Gradient]) -> Callable[[], Gradient]:
    kept: list[Gradient] = []

    def give() -> Gradient:
        if not kept:
            kept.append(make())
        return kept[0]

    return give
