"""A kernel's launch as JAX's primitives carry it, and its static configuration for the native handler.

A plan has the target to call, and how its derivatives are called. Plans are made once per signature. Their equality is
their target's, so JAX's own caches work across re-made kernels.

The configuration of one launch under XLA has what a target's description does not say: the launch's dimensions, its
operands' shapes, batches, views. It is encoded for the native handler.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from workbench.api.builds.bind import adjoints_of
from workbench.api.builds.build import ir_of, launch_like, load
from workbench.api.builds.gathered import ask, gathers, load_for
from workbench.api.kernels.kernel import Specialisation
from workbench.autodiff import FORWARD, LOCAL, derived, then
from workbench.backends.base import Options
from workbench.backends.layout import FAULT_SIZE
from workbench.errors import LaunchError, NotDifferentiable
from workbench.interop.jax.launches.derive import Gradient, Tangent, adjoint_wires, tangent_wires, unwanted
from workbench.interop.jax.native import edits
from workbench.interop.jax.native import registry as known
from workbench.interop.jax.native.descriptor import (
    MAX_BATCH_AXES,
    RECORDED,
    WAITING,
    Description,
    Kind,
    Wire,
    pattern,
    static_value,
)
from workbench.interop.jax.native.target import Target, make_target
from workbench.interop.jax.values import arguments
from workbench.ir.data import to_data, type_data
from workbench.ir.json_values import Json
from workbench.ir.values import Function
from workbench.passes.checks.out_of_range import Condition
from workbench.runtime.device.device import CPU
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.record import BLOCK_DIM, LaunchRecord
from workbench.tiles import contents
from workbench.types import ArrayType, Type, element, is_float, is_integer


class Dims(NamedTuple):
    """Represents what tracing knows of a launch.

    Attributes:
        dims: its dimensions.
        arguments: by name, something with the shape of each array, and the static numbers.
    """

    dims: tuple[int, ...]
    arguments: Mapping[str, Any]


class Code(NamedTuple):
    """Represents the code from which a plan's derivatives are built.

    Attributes:
        specialisation, direction: what the plan's own code was built from.
        contiguous: every array argument is C-contiguous, so strides are not read.
        shared: arrays of floats share memory, so that adjoints must add atomically.
        aliased: one that is written shares its memory with another.
        differentiable: whether the user allows derivatives.
        constant: positions of the kernel's parameters whose gradients its adjoint, the first step, leaves out.
        checks: the code tests bounds, divisions and asserts, and so do its derivatives.
        single: for launches with one thread along these axes only; None: for all.
    """

    specialisation: Specialisation
    direction: str = "forward"
    contiguous: bool = True
    shared: bool = False
    aliased: bool = False
    differentiable: bool = True
    constant: tuple[int, ...] = ()
    checks: bool = False
    single: tuple[int, ...] | None = None

    @property
    def options(self) -> Options:
        """Return the options that the code is built with."""
        # One plan serves all shapes, symbolic ones too, and buffers wherever XLA puts them.
        return Options(
            checks=self.checks, contiguous=self.contiguous, index32=False, aligned=False, apart=False,
            constant=self.constant, single=self.single,
        )  # fmt: skip

    @property
    def function(self) -> Callable[[], Function]:
        """A function that builds the IR of the code; it holds no reference to the kernel."""
        source = self.specialisation
        return partial(
            ir_of, source.function, self.direction, self.shared, source.kernel.checkpoints, constant=self.constant,
            fma=source.kernel.fma, launch=launch_like(self.options),
        )  # fmt: skip

    def without(self, left_out: Collection[str]) -> Code:
        """Return the code whose adjoint leaves out the gradients of the parameters with these names."""
        if not left_out:
            return self
        params = self.specialisation.function.params
        return self._replace(constant=tuple(n for n, p in enumerate(params) if p.name in left_out))

    def check(self) -> None:
        """Check that the kernel may be differentiated.

        Raises:
            NotDifferentiable: the user wrapped it with `enable_backward=False`.
        """
        if not self.differentiable:
            name = self.specialisation.kernel.name
            raise NotDifferentiable(
                f"{name} was wrapped with enable_backward=False.",
                advice="Leave that out to differentiate through it.",
                function=name,
            )

    def derivative(self, step: str, launch: Dims | None = None) -> tuple[Code, Executable]:
        """Return the code of a derivative, and that derivative loaded for the CPU.

        Args:
            step: "adjoint", "tangent" or LOCAL, the adjoint in gather form.
            launch: dimensions and arguments for which alone an adjoint needs to be right; by default for all.

        Raises:
            NotDifferentiable: there is none.
        """
        if step == "adjoint" and self.aliased:  # raises where the order of accesses would matter
            from workbench.autodiff.reverse_mode import adjoint  # late: a call without gradients needs none of it

            adjoint(derived(self.specialisation.function, self.direction, self.shared), aliased=True)
        further = self._replace(direction=then(self.direction, step))
        if step != "adjoint" or launch is None:
            return further, load(self.specialisation, further.direction, further.options, CPU, self.shared)
        origin = self.specialisation, further.direction
        executable, options = load_for(*origin, further.options, CPU, self.shared, launch.dims)
        if options.single is not None:
            ask(*origin, options, CPU, self.shared, launch.dims, launch.arguments)
        return further._replace(single=options.single), executable


@dataclass(frozen=True)
class Plan:
    """Represents a kernel's launch as JAX's primitives carry it; plans are equal where their targets are.

    Attributes:
        kernel: the kernel's name.
        launch_ndim: dimensions that its launch must have; 0 for any.
        target: what XLA calls on the CPU.
        code: where its derivatives come from.
        gradient: returns the plan of its adjoint for cotangents of the operands with these numbers (default: all), and
            how to call it; with a `Dims`, it need be right for that launch alone; raises NotDifferentiable if there is
            none.
        tangent: returns the plan of its tangent, and how to call it; raises NotDifferentiable if there is none.
    """

    kernel: str = field(compare=False)
    launch_ndim: int = field(compare=False)
    target: Target
    code: Code = field(compare=False, repr=False)
    gradient: Callable[..., tuple[Plan, Gradient]] = field(compare=False, repr=False)
    tangent: Callable[[], tuple[Plan, Tangent]] = field(compare=False, repr=False)

    def __repr__(self) -> str:
        """Return the kernel's name and which derivative of it this is, as a jaxpr shows it."""
        return self.target.description.kernel

    @cached_property
    def late(self) -> Target:
        """The target for programs of several devices, where no fault or interrupt may fail one device's call."""
        return self._otherwise(WAITING)

    @cached_property
    def recorded(self) -> Target:
        """The target that returns its faults as one more result, the last, instead of failing."""
        return self._otherwise(RECORDED)

    def _otherwise(self, late: int) -> Target:
        """Return a new target of the same code that treats faults as `late` says (`WAITING` or `RECORDED`).

        Its name is then known as one of this plan's.
        """
        described = replace(self.target.description, late=late)
        of = self.target
        target = make_target(described, of.digest, of.code, of.function, of.origin)
        edits.claim(target.name, self.code.specialisation)
        known.plans[target.name] = self
        return target

    def with_checks(self) -> Plan:
        """Return the plan of the same launch with checks, which reports faults; the plan itself if it has them."""
        plan = self if self.checked else self._checked
        plan.traced.update((k, v) for k, v in self.traced.items() if k[0] == "adjoint of")
        return plan

    @cached_property
    def _checked(self) -> Plan:
        """The plan of the same launch with checks, built on first use."""
        code = self.code._replace(checks=True)
        executable = load(code.specialisation, code.direction, code.options, CPU, code.shared)
        described = self.target.description
        return make_plan(executable, described.wires, code, described.kernel)

    @cached_property
    def traced(self) -> dict[Any, Any]:
        """The results of JAX's tracing of the plan, by key; kept here, as another cache would keep replaced kernels."""
        return {}

    @property
    def checked(self) -> bool:
        """Return whether the code has checks, and so reports faults."""
        return self.code.checks

    @property
    def stays(self) -> bool:
        """Return whether it runs even if nothing uses its results: a kernel with checks, not a derivative of one."""
        return self.checked and self.code.direction == FORWARD

    @property
    def operands(self) -> tuple[Wire, ...]:
        """The wires that are operands, in order."""
        return self.target.description.operands()

    @property
    def results(self) -> tuple[Wire, ...]:
        """The wires that are results, in order."""
        return self.target.description.results()


@dataclass(frozen=True)
class Roles:
    """Represents the role of each parameter of a kernel under JAX, by name.

    Attributes:
        inputs: operands, those that are also results among them, in order.
        outputs: results that are no operands, in order.
        in_out: inputs that are also results.
        static: scalar inputs whose values are part of the traced program.
        init: initial values of outputs, a number or its bytes, by name.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    in_out: frozenset[str]
    static: frozenset[str]
    init: Mapping[str, float | int | bytes]


def make_plan(executable: Executable, wires: tuple[Wire, ...], code: Code, name: str = "") -> Plan:
    """Return the plan of a loaded kernel or derivative.

    Args:
        executable: what runs.
        wires: one per parameter.
        code: where derivatives come from.
        name: in errors; by default the kernel's.

    Raises:
        LaunchError: it prints.
    """
    if executable.prints:
        raise LaunchError(
            f"{executable.name} prints, and inside a jax_callable nothing reads what it prints.",
            advice=f"Call wb.jax_kernel({executable.name}) to see it, or leave print() out.",
        )
    executable = executable.complete
    # The same limits as for `wb.launch`, so that both split a launch alike, and sums have the same bits.
    grains = executable.threads_per_task, executable.strip, executable.sums
    description = Description(name or executable.name, wires, executable.layout, *grains, code.checks)
    function = code.function if code.checks else None
    target = make_target(description, executable.digest, executable.handle, function, partial(origin_data, code, wires))
    edits.claim(target.name, code.specialisation)

    gradients: dict[tuple[frozenset[str], str, tuple[int, ...] | None], tuple[Plan, Gradient]] = {}

    def gradient(wanted: Collection[int] | None = None, launch: Dims | None = None) -> tuple[Plan, Gradient]:
        left_out: frozenset[str] = frozenset()
        # Overlapping arrays keep the whole adjoint: one array's gradient may pass through another.
        if wanted is not None and code.direction == FORWARD and not code.aliased:
            left_out = unwanted(wires, wanted)
        step = _adjoint_step(code.without(left_out), wires, left_out, launch)
        known = gradients.get((left_out, step, None))
        if known is None:
            further, adjoint = code.without(left_out).derivative(step, launch)
            key = left_out, step, further.single
            if key not in gradients:
                wired, tangent_form = adjoint_wires(adjoint, wires, left_out)
                gradients[key] = make_plan(adjoint, wired, further, f"{description.kernel} (adjoint)"), tangent_form
            known = gradients[key]
        return known

    def tangent() -> tuple[Plan, Tangent]:
        further, moved = code.derivative("tangent")
        wired, tangent_form = tangent_wires(moved, wires)
        return make_plan(moved, wired, further, f"{description.kernel} (tangent)"), tangent_form

    plan = Plan(executable.name, executable.launch_ndim, target, code, gradient, _once(tangent))
    known.plans[target.name] = plan
    return plan


def _adjoint_step(code: Code, wires: Sequence[Wire], left_out: Collection[str], launch: Dims | None) -> str:
    """Return the step that derives a launch's adjoint: LOCAL, the gather form, where it is right, else "adjoint".

    The gather form adds nothing atomically, so a launch in parts gives the same bits as one in whole.
    """
    if launch is None or code.direction != FORWARD or code.shared or code.aliased:
        return "adjoint"
    # Gradients of numbers are sums over all threads; what goes in and out needs its cotangent cleared.
    if any(
        (w.kind is Kind.SCALAR and is_float(w.type) and w.name not in left_out) or (-1 < w.operand and -1 < w.result)
        for w in wires
    ):
        return "adjoint"
    names = adjoints_of(code.specialisation, "adjoint")
    cotangents = {names[n]: a for n, a in launch.arguments.items() if n in names}
    # Devices exchange what an adjoint adds; to what it stores elsewhere they would have to agree.
    arguments = {**launch.arguments, **cotangents}
    local = gathers(code.specialisation, launch.dims, arguments, code.constant, local=True)
    return "adjoint" if local is None else LOCAL


def rewritten_plan(plan: Plan, function: Function, wires: tuple[Wire, ...]) -> Plan:
    """Return the plan of `function`, which does a plan's work in another form and has no derivatives of its own."""
    specialisation = copy(plan.code.specialisation)
    specialisation.function = function
    specialisation.executables, specialisation.bound, specialisation.jax_plans = {}, {}, {}
    code = plan.code._replace(
        specialisation=specialisation, direction=FORWARD, constant=(), differentiable=False, single=None
    )
    executable = load(specialisation, FORWARD, code.options, "cpu", code.shared)
    return make_plan(executable, wires, code, plan.target.description.kernel)


def origin_data(code: Code, wires: tuple[Wire, ...]) -> Json:
    """Return what rebuilds a target on any machine: the kernel's IR, its build options, and the wires.

    Raises:
        Unwritable: a type has no form as data.
    """
    data: dict[str, Json] = {
        "kernel": to_data(code.specialisation.function),
        "fma": code.specialisation.kernel.fma,
        "checkpoints": code.specialisation.kernel.checkpoints,
        "direction": code.direction,
        "contiguous": code.contiguous,
        "shared": code.shared,
        "constant": [*code.constant],
        "checks": code.checks,
        "single": None if code.single is None else [*code.single],
        "wires": [
            [w.name, int(w.kind), type_data(w.type), w.rank, w.operand, w.result, w.value, _hex(pattern(w)), w.view]
            for w in wires
        ],
    }
    return data


def _hex(pattern: bytes | None) -> Json:
    """Return a fill's bytes in hexadecimal; None for no fill."""
    return None if pattern is None else pattern.hex()


def forward_plan(executable: Executable, roles: Roles, code: Code) -> Plan:
    """Return the plan of a kernel's forward launch, its parameters in these roles."""
    count = {"operand": 0, "result": 0, "value": 0}

    def take(what: str) -> int:
        count[what] += 1
        return count[what] - 1

    wires = []
    for slot in executable.layout.slots:
        wire = _wire(slot.name, slot.type)
        if slot.name in roles.static:
            wire = replace(wire, value=take("value"))
        elif slot.name in roles.inputs:
            result = take("result") if slot.name in roles.in_out else -1
            wire = replace(wire, operand=take("operand"), result=result)
        else:
            wire = replace(wire, result=take("result"), fill=roles.init.get(slot.name))
        wires.append(wire)
    return make_plan(executable, tuple(wires), code)


def recorded_plan(record: LaunchRecord, wires: tuple[Wire, ...], shared: bool, aliased: bool) -> Plan:
    """Return the plan of a launch that a function made, wired as its trace says; the same one for equal launches.

    Args:
        record: the launch.
        wires: one per parameter.
        shared: arrays of floats share memory, so that adjoints must add atomically.
        aliased: one that is written shares its memory with another.
    """
    executable = record.executable
    known = record.specialisation.jax_plans
    key = (executable.direction, executable.digest, wires, shared, aliased)
    if key not in known:
        code = Code(record.specialisation, executable.direction, executable.contiguous, shared, aliased)
        code = code._replace(constant=record.options.constant, checks=executable.checked)
        known[key] = make_plan(executable, wires, code)
    return known[key]


def _wire(name: str, type: Type) -> Wire:
    """Return the wire of a parameter that has no operand, result or static value yet."""
    if isinstance(type, ArrayType):
        return Wire(name, Kind.ARRAY, type.dtype, type.ndim)
    return Wire(name, Kind.SCALAR, contents(type), 0)


def _once(make: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that calls `make` at its first call, and returns that result at every call."""
    # A derivative is built on first use: most kernels are never differentiated.
    computed: list[Any] = []

    def give() -> Any:
        if not computed:
            computed.append(make())
        return computed[0]

    return give


Shape = tuple[int, ...]
FAULT_WORDS = FAULT_SIZE // 4
"""The number of int32 words in a fault's record."""


@dataclass(frozen=True)
class LaunchConfig:
    """Represents the static part of one launch.

    Attributes:
        dims: the launch's dimensions.
        operands, results: shapes without batch axes, with the components' axis of vectors.
        batch: sizes of the batch axes.
        values: static arguments as int64 bits, in the order of the plan's wires.
        effect: never merged with an equal call nor dropped.
        records: its faults are one more result, the last: a record for each batch.
        reports: its effect is for XLA alone: JAX may move it like any other operation.
        vmap_method: one of `VMAP_METHODS`.
        block: threads of a block on a GPU.
        within: what must hold of sizes that are known at the call only.
        linear: names of parameters in which it is known to be linear without a proof.
        views: of each viewed parameter: bytes from its buffer's start, the view's shape, its strides in bytes.
    """

    dims: Shape
    operands: tuple[Shape, ...]
    results: tuple[Shape, ...]
    batch: Shape = ()
    values: tuple[int, ...] = ()
    effect: bool = False
    vmap_method: str = "expand_dims"
    views: tuple[Shape, ...] = ()
    block: int = BLOCK_DIM
    within: tuple[Condition, ...] = ()
    linear: tuple[str, ...] = ()
    reports: bool = False
    records: bool = False

    def __repr__(self) -> str:
        """Return the dimensions, batch and effect, as a jaxpr shows them; shapes are those of the values there."""
        batch = f" × batch {self.batch}" if self.batch else ""
        return f"dim {self.dims}{batch}{' (has effects)' if self.effect else ''}"

    def batched(self, size: int) -> LaunchConfig:
        """Return the configuration under one more batch axis, the outermost.

        Raises:
            LaunchError: it has MAX_BATCH_AXES already.
        """
        axes = (size, *self.batch)
        if len(axes) > MAX_BATCH_AXES:
            raise LaunchError(f"A kernel works under at most {MAX_BATCH_AXES} nested jax.vmap; this is one more.")
        return replace(self, batch=axes)

    @property
    def is_symbolic(self) -> bool:
        """Return whether a size is known only when the program runs."""
        sizes = (*self.dims, *self.batch, *(n for shape in (*self.operands, *self.results) for n in shape))
        return any(map(arguments.is_symbolic, sizes))


def traced_launch(plan: Plan, config: LaunchConfig) -> Dims | None:
    """Return what tracing knows of a launch: its dimensions, array shapes and static integers.

    An adjoint built with them is right for this launch alone. None if sizes are known only when the program runs.
    """
    if config.is_symbolic:
        return None
    arguments: dict[str, Any] = {}
    views = iter(config.views)
    for wire in plan.target.description.wires:
        view = next(views)[1 : 1 + wire.view] if wire.view else None
        if wire.kind in (Kind.ARRAY, Kind.SHAPE):
            aval = config.results[wire.result] if wire.result >= 0 else config.operands[wire.operand]
            arguments[wire.name] = SimpleNamespace(shape=aval if view is None else view)
        elif wire.value >= 0 and is_integer(wire.type):
            arguments[wire.name] = static_value(config.values[wire.value], element(wire.type))
    return Dims(config.dims, arguments)


def attributes(plan: Plan, config: LaunchConfig) -> dict[str, tuple[int, ...]]:
    """Return the attributes of a launch's FFI call by name, each a tuple of int64.

    Raises:
        LaunchError: a symbolic dimension of the launch is not a size of any of its arrays.
    """
    numbers: dict[str, tuple[int, ...]] = {"dims": tuple(_size(d, plan, config) for d in config.dims)}
    if config.values:
        numbers["values"] = config.values
    if config.views:
        numbers["views"] = tuple(n for view in config.views for n in view)
    if config.within:
        numbers["within"] = tuple(n for condition in config.within for n in _words(condition, plan))
    return numbers


def _words(condition: Condition, plan: Plan) -> tuple[int, ...]:
    """Return a condition as int64 words for the native handler: see `within` in check.c."""
    wires = plan.target.description.wires
    position = {w.name: n for n, w in enumerate(wires)}
    terms = [n for (array, axis), factor in condition.terms for n in (-1 - (4 * position[array] + axis), factor)]
    return (
        position[condition.array],
        condition.axis,
        condition.wraps,
        condition.constant,
        len(condition.terms),
        *terms,
    )


def _size(size: Any, plan: Plan, config: LaunchConfig) -> int:
    """Return a dimension of the launch as the native handler takes it.

    It is the number itself or, if it is symbolic, -1 - (4 · parameter + axis) of an array that has this size.

    Raises:
        LaunchError: no array has it.
    """
    if not arguments.is_symbolic(size):
        return int(size)
    wires = plan.target.description.wires
    for position, wire in enumerate(wires):
        if wire.kind in (Kind.ARRAY, Kind.SHAPE) and (wire.operand >= 0 or wire.result >= 0) and not wire.view:
            shape = config.results[wire.result] if wire.result >= 0 else config.operands[wire.operand]
            if size in shape[: wire.rank]:
                return -1 - (4 * position + shape.index(size))
    raise LaunchError(
        f"{plan.kernel} would be launched over {size} threads, which is not a size of any of its arrays.",
        advice="Under symbolic shapes, pass launch_dims that are dimensions of arguments.",
        function=plan.kernel,
    )
