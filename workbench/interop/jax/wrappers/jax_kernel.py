"""`jax_kernel`: a kernel as a JAX function.

What XLA gives and forbids decides its rules: outputs come uninitialised, so a kernel may read one only where it was
given an initial value; operands may not be changed, so a kernel that writes to an input must say that it comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from workbench.api.builds.build import load
from workbench.api.kernels.editions import is_current
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.errors import LaunchError
from workbench.frontend import Tiling
from workbench.interop.jax.launches.plan import Code, Plan, Roles, forward_plan
from workbench.interop.jax.launches.primitives import VMAP_METHODS, launch
from workbench.interop.jax.native.descriptor import static_bits
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.access import read_before_written
from workbench.interop.jax.values.arguments import shaped
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.out_of_range import Reach
from workbench.interop.jax.values.signature import FunctionObject
from workbench.interop.jax.values.struct_pytrees import array_fields, coming_out, fields_of, put_back, taken_apart
from workbench.interop.jax.values.uninitialised import marker, watch
from workbench.interop.jax.wrappers.case import Case
from workbench.interop.jax.wrappers.follow import (
    Newest,
    current,
    followed,
    forget_outdated,
    naming_the_edit,
    refuse_outdated,
    refuse_text,
)
from workbench.interop.jax.wrappers.sharding import Sharded
from workbench.ir.values import Function, written_arrays
from workbench.runtime.deferred_errors import raise_late
from workbench.runtime.launching.checks import checks_both, checks_here
from workbench.runtime.launching.record import BLOCK_DIM
from workbench.structs import Struct
from workbench.types import ArrayType, Type, Vector, element

Dims = int | Sequence[int]


@dataclass(frozen=True, eq=False, repr=False)
class JaxKernel(Sharded, FunctionObject, taking="parameters"):
    """A kernel as a JAX function of its inputs; `jax_kernel` makes it and says what its options mean.

    Attributes:
        kernel: the kernel.
        parameters: names of what a call takes.
        inputs: of the kernel's parameters that these are: a struct is one per field.
        outputs: names of those that are results only.
        in_out, static: names among the inputs.
        init: initial values by name of an output.
        launch_dims, output_dims, vmap_method, enable_backward, has_side_effect, block_dim, sharding: as given to
            `jax_kernel`.
    """

    kernel: Kernel
    parameters: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    in_out: frozenset[str]
    static: frozenset[str]
    init: Mapping[str, Any]
    launch_dims: Dims | None
    output_dims: Dims | Mapping[str, Dims] | None
    vmap_method: str
    enable_backward: bool
    has_side_effect: bool
    block_dim: int = BLOCK_DIM
    sharding: str | None = None
    _newest: Newest = field(default_factory=Newest, init=False)
    _plans: dict[tuple[Specialisation, bool, bool], Plan] = field(default_factory=dict, init=False)
    _cases: dict[Any, Case] = field(default_factory=dict, init=False)

    @property
    def __name__(self) -> str:
        """The kernel's name: what JAX calls a program made of it."""
        return self.kernel.name

    def __repr__(self) -> str:
        """Say what it is."""
        return f"<JAX function of the kernel {self.kernel.name}>"

    def __call__(
        self,
        *args: Any,
        launch_dims: Dims | None = None,
        output_dims: Dims | Mapping[str, Dims] | None = None,
        block_dim: int | None = None,
        **named: Any,
    ) -> Any:
        """Launch the kernel on JAX values.

        Args:
            *args: one value per input parameter: arrays, or numbers and rank-0 arrays for scalars.
            launch_dims: overrides what `jax_kernel` was given.
            output_dims: likewise.
            block_dim: likewise.
            **named: inputs by name.

        Returns:
            The output, or a tuple where there are several: those that are inputs too first, in the parameters' order.

        Raises:
            LaunchError: an argument does not fit, or the launch must reach outside of it; `parameter` names it.
            NotDifferentiable: under differentiation, where the kernel has no gradient.
            KernelFault: traced with checks, where JAX does not trace the call; a jitted program raises JAX's error.
        """
        raise_late()
        if not is_current(self.kernel) and (newest := current(self)) is not self:
            with naming_the_edit(self, newest):
                return newest(*args, launch_dims=launch_dims, output_dims=output_dims, block_dim=block_dim, **named)
        block = self.block_dim if block_dim is None else block_dim
        if block != self.block_dim:
            arguments.check_block(self.kernel.name, block)
        if named or len(args) != len(self.parameters):
            args = tuple(arguments.by_name(self.kernel.name, self.parameters, args, named).values())
        given = args
        if self._structs:
            args = tuple(self._apart(args))
        case = self._case(args, launch_dims, output_dims, block)
        operands, statics, numbers = [], [], {}
        for name, type, value in zip(self.inputs, case.types, args, strict=True):
            if name in self.static:
                numbers[name] = arguments.static_value(self.kernel.name, name, value, type)
                statics.append(static_bits(numbers[name]))
            else:
                operands.append(arguments.operand(self.kernel.name, name, value, type))
        config = case.config(operands, tuple(statics), numbers, self, block)
        tracer = library().jax.core.Tracer
        # Traced, it becomes part of a program of JAX; otherwise it runs now, as a program that is kept.
        if [x for x in operands if isinstance(x, tracer)]:
            found = launch(case.plan, operands, config)
        else:
            found = case.program(config)(*operands)
        results = [shaped(r, w.dtype) for r, w in zip(found, case.outputs, strict=True)]
        if checks_here():
            for name, result, type in zip(self._results(), results, case.outputs, strict=True):
                if name in self.outputs and name not in self.init:
                    watch(self.kernel.name, name, element(type), result)
        if self._structs:
            results = self._together(given, results)
        return results[0] if len(results) == 1 else tuple(results)

    @cached_property
    def _structs(self) -> dict[str, Struct]:
        """The inputs that are structs."""
        return {n: t for n in self.parameters if isinstance(t := self.kernel.annotations.get(n), Struct)}

    def _apart(self, args: tuple[Any, ...]) -> Iterator[Any]:
        for name, value in zip(self.parameters, args, strict=True):
            yield from taken_apart(self.kernel.name, name, self._structs.get(name), value)

    def _together(self, args: tuple[Any, ...], results: list[Any]) -> list[Any]:
        """Results with the fields of structs in trees like those given."""
        rest = iter(results)
        made = []
        for name, value in zip(self.parameters, args, strict=True):
            struct = self._structs.get(name)
            if struct is not None and not self.in_out.isdisjoint(array_fields(name, struct)):
                made.append(put_back(struct, value, rest))
            elif name in self.in_out:
                made.append(next(rest))
        return [*made, *rest]

    def _case(self, args: tuple[Any, ...], launch_dims: Any, output_dims: Any, block: int) -> Case:
        """What the shapes and types of a call decide, and the dimensions it names."""
        aspects = map(arguments.aspect, args)
        checked, watched = checks_both(self.kernel.checks)
        named = arguments.frozen(launch_dims), arguments.frozen(output_dims)
        # All that a call's meaning depends on besides values: found again, nothing below has to be computed.
        key = (*aspects, arguments.wide(), checked, watched, *named, block)
        found = self._cases.get(key)
        if found is not None and found.specialisation.is_current():
            return found
        values = dict(zip(self.inputs, args, strict=True))
        types = self._types(values)
        specialisation = self._specialised(types, launch_dims, block)
        plan = self._plan(specialisation, types, checked, checked or watched)
        arrays = {n: arguments.base_shape(v, types[n]) for n, v in values.items() if isinstance(types[n], ArrayType)}
        dims = self._dims(launch_dims, arrays, plan)
        shapes = self._result_shapes(output_dims, dims, arrays, types)
        outputs = tuple(t for n in self._results() if isinstance(t := types[n], ArrayType))
        case = Case(
            specialisation, plan, tuple(types[n] for n in self.inputs), dims, shapes, outputs,
            self._reach(specialisation, dims, launch_dims, arrays, shapes, types),
        )  # fmt: skip
        self._cases[key] = case
        return case

    def _reach(
        self, specialisation: Specialisation, dims: tuple[int, ...], given: Dims | None,
        arrays: dict[str, tuple[int, ...]], results: tuple[tuple[int, ...], ...], types: dict[str, Type],
    ) -> Reach:  # fmt: skip
        named = zip(self._results(), results, strict=True)
        shapes = {n: s[: t.ndim] for n, s in named if isinstance(t := types[n], ArrayType)} | arrays
        source = "launch_dims" if (given if given is not None else self.launch_dims) is not None else next(iter(arrays))
        return Reach(self.kernel.name, specialisation.function, dims, shapes, {}, frozenset(self.outputs), source)

    def _specialised(self, types: dict[str, Type], launch_dims: Any, block: int) -> Specialisation:
        """The kernel for these types; one that uses tiles for launches over blocks of so many threads.

        Raises:
            LaunchError: it uses tiles, and the number of blocks is not given.
        """
        # Structs were taken apart for JAX; the kernel itself still takes them whole.
        ordered = tuple((self._structs | types)[n] for n in self.kernel.parameters)
        found = self.kernel.specialise(ordered)
        if found.tiling is None:
            return found
        wanted = launch_dims if launch_dims is not None else self.launch_dims
        if wanted is None:
            raise LaunchError(
                f"{self.kernel.name} uses tiles, and how many blocks its launch has is not known.",
                advice="Pass launch_dims, which count blocks here.", function=self.kernel.name,
            )  # fmt: skip
        dims = arguments.dimensions(self.kernel.name, "launch_dims", wanted)
        return self.kernel.specialise(ordered, Tiling(block, len(dims)))

    def _results(self) -> tuple[str, ...]:
        return (*(n for n in self.inputs if n in self.in_out), *self.outputs)

    def _types(self, values: dict[str, Any]) -> dict[str, Type]:
        kernel = self.kernel
        listed = [pair for n, t in kernel.annotations.items() for pair in fields_of(n, t)]
        known = {n: arguments.without_structs(kernel.name, n, t) for n, t in listed}
        types = {n: arguments.type_of(kernel.name, n, v, known.get(n)) for n, v in values.items()}
        for name in self.outputs:
            types[name] = arguments.result_type(kernel.name, name, known.get(name))
        for name in self.in_out:
            arguments.result_type(kernel.name, name, types[name])
        return types

    def _plan(self, specialisation: Specialisation, types: dict[str, Type], checked: bool, poisoned: bool) -> Plan:
        key = (specialisation, checked, poisoned)
        plan = self._plans.get(key)
        if plan is None:
            forget_outdated(self._plans, self._cases)
            plan = self._plans[key] = self._make_plan(specialisation, types, checked, poisoned)
        return plan

    def _make_plan(self, specialisation: Specialisation, types: dict[str, Type], checked: bool, poisoned: bool) -> Plan:
        self._check_access(specialisation.function)
        outputs: dict[str, ArrayType] = {n: t for n in self.outputs if isinstance(t := types[n], ArrayType)}
        init: dict[str, Any] = dict(arguments.fills(self.kernel.name, self.init, outputs))
        # What no thread writes keeps the marker: a NaN, and no leftover of XLA's. Inside `with wb.checks()` it is
        # reported as well. Values that the user gives win.
        if poisoned:
            init = {n: mark for n, t in outputs.items() if (mark := marker(element(t))) is not None} | init
        roles = Roles(self.inputs, self.outputs, self.in_out, self.static, init)
        code = Code(specialisation, differentiable=self.enable_backward, checks=checked)
        return forward_plan(load(specialisation, options=code.options, device="cpu"), roles, code)

    def _check_access(self, function: Function) -> None:
        """Refuse what XLA's buffers do not allow."""
        name = self.kernel.name
        for parameter in sorted(written_arrays(function) & set(self.inputs) - self.in_out):
            raise LaunchError(
                f"{name} writes to {parameter}, which is an input, and JAX's arrays do not change.",
                advice=f'Pass in_out_argnames=["{parameter}"]; it then is a result too and counts in num_outputs.',
                function=name,
                parameter=parameter,
            )
        for parameter in sorted(read_before_written(function) & set(self.outputs) - self.init.keys()):
            raise LaunchError(
                f"{name} reads or adds to its output {parameter}, which XLA passes uninitialised.",
                advice=f'Pass init={{"{parameter}": "zeros"}} (or a number), or pass it in: '
                f'in_out_argnames=["{parameter}"].',
                function=name,
                parameter=parameter,
            )

    def _dims(self, given: Dims | None, arrays: dict[str, tuple[int, ...]], plan: Plan) -> tuple[int, ...]:
        name = self.kernel.name
        wanted = given if given is not None else self.launch_dims
        if wanted is None:
            if not arrays:
                raise LaunchError(
                    f"{name} has no array input from which its launch could take its shape.",
                    advice="Pass launch_dims, to jax_kernel() or to the call.",
                    function=name,
                )
            wanted = next(iter(arrays.values()))
        dims = arguments.dimensions(name, "launch_dims", wanted)
        asked = plan.launch_ndim
        if asked not in (0, len(dims)):
            raise LaunchError(
                f"{name} asks tid() for {asked} dimensions; its launch would have {len(dims)}: {dims}.",
                advice="Pass launch_dims; by default they are the shape of the first array.",
                function=name,
            )
        return dims

    def _result_shapes(
        self,
        given: Dims | Mapping[str, Dims] | None,
        dims: tuple[int, ...],
        arrays: dict[str, tuple[int, ...]],
        types: dict[str, Type],
    ) -> tuple[tuple[int, ...], ...]:
        wanted = given if given is not None else self.output_dims
        named = wanted if isinstance(wanted, Mapping) else dict.fromkeys(self.outputs, wanted)
        arguments.check_names(self.kernel.name, "output_dims", named, self.outputs)
        shapes = {n: arrays[n] for n in self._results() if n in self.in_out}
        for name in self.outputs:
            chosen = named.get(name)
            what = f"output_dims for {name}"
            shapes[name] = dims if chosen is None else arguments.dimensions(self.kernel.name, what, chosen)
        return tuple(self._with_components(n, shapes[n], types[n]) for n in self._results())

    def _with_components(self, name: str, shape: tuple[int, ...], type: Type) -> tuple[int, ...]:
        assert isinstance(type, ArrayType)
        if len(shape) != type.ndim:
            raise LaunchError(
                f"{name} of {self.kernel.name} is {type!r}, and its dimensions would be {shape}.",
                advice=f'Pass output_dims={{"{name}": …}}; by default they are the launch\'s.',
                function=self.kernel.name,
                parameter=name,
            )
        return (*shape, type.dtype.length) if isinstance(type.dtype, Vector) else shape


def jax_kernel(
    kernel: Kernel,
    num_outputs: int = 1,
    launch_dims: Dims | None = None,
    output_dims: Dims | Mapping[str, Dims] | None = None,
    in_out_argnames: str | Sequence[str] = (),
    init: Mapping[str, Any] | None = None,
    vmap_method: str = "expand_dims",
    enable_backward: bool = True,
    static_argnames: str | Sequence[str] = (),
    has_side_effect: bool = False,
    block_dim: int = BLOCK_DIM,
    sharding: str | None = None,
) -> JaxKernel:
    """`kernel` as a JAX function, for use eagerly and under `jit`, `grad`, `vjp`, `vmap` and `scan`.

    The kernel's parameters are inputs first, outputs last. Arrays of vectors are arrays with one more axis, the last. A
    struct is a tree with a value for each field (a dict, a named tuple), also as a result. Scalars may be traced; a new
    value does not trace again. On the CPU the compiled program calls the kernel natively.

    Args:
        kernel: a `Kernel`.
        num_outputs: how many results there are, those of `in_out_argnames` included.
        launch_dims: dimensions of the launch; by default the shape of the first array input. Of a kernel of tiles they
            count blocks, and have to be given.
        output_dims: dimensions of the outputs, or of each by name; by default the launch's.
        in_out_argnames: inputs that the kernel changes; each is also a result.
        init: initial value of outputs by name, a number or "zeros"; other outputs start uninitialised.
        vmap_method: "expand_dims" (no copies), "broadcast_all", or "sequential".
        enable_backward: False refuses differentiation, and compiles no adjoint.
        static_argnames: scalar inputs that become part of the traced program.
        has_side_effect: True keeps a call that XLA would merge with an equal one or drop as unused.
        block_dim: threads of a block, 1 to 1024: on a GPU, and of a kernel of tiles.
        sharding: how devices may divide arrays, a letter for each axis: "i j, k -> i"; see `f.sharding_rule`.

    Returns:
        A function of JAX arrays: it returns one array, or a tuple of them if there are several outputs.

    Raises:
        LaunchError: an option names no parameter, or numbers do not fit; the kernel was redefined, or is CUDA C++.
    """
    options = {name: value for name, value in locals().items() if name != "kernel"}
    refuse_text(kernel)
    refuse_outdated(kernel)
    name, parameters = kernel.name, kernel.parameters
    in_out, static = arguments.names(in_out_argnames), arguments.names(static_argnames)
    taken, outputs = arguments.split(name, parameters, num_outputs, in_out)
    arguments.check_names(name, "in_out_argnames", in_out, taken)
    inputs = tuple(f for n in taken for f, _ in fields_of(n, kernel.annotations.get(n)))
    in_out = frozenset(f for n in in_out for f in coming_out(n, kernel.annotations.get(n)))
    arguments.check_names(name, "static_argnames", static, inputs)
    arguments.check_names(name, "init", init or {}, outputs)
    if vmap_method not in VMAP_METHODS:
        raise LaunchError(f"vmap_method={vmap_method!r} is not one of {', '.join(VMAP_METHODS)}.", function=name)
    arguments.check_block(name, block_dim)
    made = JaxKernel(
        kernel, taken, inputs, outputs, in_out, static, dict(init or {}), launch_dims, output_dims, vmap_method,
        enable_backward, has_side_effect, block_dim, sharding,
    )  # fmt: skip
    return followed(made, partial(jax_kernel, **options))
