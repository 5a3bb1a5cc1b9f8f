"""`jax_kernel`: a kernel as a JAX function.

What XLA gives and forbids decides its rules: outputs come uninitialised, so a kernel may read one only where it was
given an initial value; operands may not be changed, so a kernel that writes to an input must say that it comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from workbench.api.builds.build import load
from workbench.api.kernels.editions import is_current
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.errors import LaunchError
from workbench.frontend.state.context import Tiling
from workbench.interop.jax.launches.plan import Code, LaunchConfig, Plan, Roles, forward_plan
from workbench.interop.jax.launches.primitives import VMAP_METHODS, as_one_operation, launch
from workbench.interop.jax.launches.prints import print_when_run, silent
from workbench.interop.jax.launches.reports import watch, watch_linear
from workbench.interop.jax.native.descriptor import static_bits
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.access import BoundsCheck, check_access, marker
from workbench.interop.jax.values.arguments import shaped
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.signature import FunctionObject
from workbench.interop.jax.values.struct_pytrees import (
    array_fields,
    coming_out,
    fields_of,
    put_back,
    register_structs,
    taken_apart,
)
from workbench.interop.jax.wrappers.cost import Costed
from workbench.interop.jax.wrappers.dims import (
    Dims,
    InputDims,
    Sizes,
    check_declared,
    launch_over,
    open_types,
    ranks,
    result_shapes,
)
from workbench.interop.jax.wrappers.follow import (
    Newest,
    current,
    followed,
    forget_outdated,
    naming_the_edit,
    refuse_outdated,
    refuse_text,
)
from workbench.interop.jax.wrappers.sharding import Sharded, check_sharding
from workbench.runtime.deferred_errors import raise_late
from workbench.runtime.launching.checks import checks_both, checks_here
from workbench.runtime.launching.record import BLOCK_DIM
from workbench.structs import Struct
from workbench.types import ArrayType, Type, element


@dataclass(frozen=True, eq=False)
class CallSignature:
    """Represents what the types and shapes of a call's arguments decide, for calls of a `JaxKernel`.

    It also keeps what calls share: a `LaunchConfig` and a jitted program per block size and static numbers.

    Attributes:
        specialisation: the kernel for these types, with its prints.
        plan: its launch, without the prints.
        types: of the inputs.
        dims: of the launch.
        shapes: of the results, with one axis for the components of vectors and matrices.
        outputs: types of the results.
        bounds_check: the check that it stays inside its arrays; `config` adds a call's numbers to it.
        prints: whether the kernel prints.
    """

    specialisation: Specialisation
    plan: Plan
    types: tuple[Type, ...]
    dims: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    outputs: tuple[ArrayType, ...]
    bounds_check: BoundsCheck
    prints: bool = False
    _configs: dict[tuple[int, ...], LaunchConfig] = field(default_factory=dict, init=False)
    _programs: dict[tuple[int, ...], Any] = field(default_factory=dict, init=False)

    def config(
        self, operands: list[Any], statics: tuple[int, ...], scalars: Mapping[str, Any], like: JaxKernel, block: int
    ) -> LaunchConfig:
        """Return the static part of a call of `like` with these values; its operands have this signature's shapes.

        Raises:
            LaunchError: it must reach outside of an array, or cannot be divided as `like` declares.
        """
        # Batches are not part of it: JAX's batching rule makes another configuration of this one.
        key = (block, *statics)
        config = self._configs.get(key)
        if config is None:
            shapes = tuple(tuple(x.shape) for x in operands)
            effect, method = like.has_side_effect, like.vmap_method
            bounds_check = replace(self.bounds_check, scalars=scalars)
            config = LaunchConfig(
                self.dims, shapes, self.shapes, (), statics, effect, method, block=block, within=bounds_check.check(),
                linear=like.linear,
            )  # fmt: skip
            if like.sharding is not None:
                check_sharding(like.sharding, self.plan, config)
            self._configs[key] = config
        return config

    def program(self, config: LaunchConfig) -> Any:
        """Return the launch as a jitted operation of its own, compiled once: for calls that nothing traces."""
        key = (config.block, *config.values)
        program = self._programs.get(key)
        if program is None:
            checked = (lambda: True) if self.plan.checked else None
            program = as_one_operation(lambda *inputs: launch(self.plan, inputs, config), self.plan.kernel, checked)
            self._programs[key] = program
        return program


@dataclass(frozen=True, eq=False, repr=False)
class JaxKernel(Sharded, Costed, FunctionObject, taking="parameters"):
    """A kernel as a JAX function of its inputs; `jax_kernel` makes it and says what its options mean.

        >>> import jax.numpy as jnp
        >>> import workbench as wb
        >>> @wb.kernel
        ... def steps(x, y):
        ...     i = wb.tid()
        ...     y[i] = x[i + 1] - x[i]
        >>> f = wb.jax_kernel(steps, input_dims={"x": "n"}, launch_dims="n - 1")
        >>> f(jnp.arange(4.0) ** 2), f(jnp.arange(3)).dtype
        (Array([1., 3., 5.], dtype=float32), dtype('int32'))

    Attributes:
        kernel: the kernel.
        parameters: names of what a call takes.
        inputs: names of the inputs, where a struct is one name for each of its fields.
        outputs: names of those that are results only.
        in_out, static: names among the inputs.
        init: initial values by name of an output.
        linear: names of inputs in which the user says that it is linear.
        launch_dims, output_dims, input_dims, output_dtypes, vmap_method, enable_backward, has_side_effect, block_dim,
            sharding: as given to `jax_kernel`.
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
    input_dims: InputDims | None = None
    output_dtypes: Mapping[str, Any] = field(default_factory=dict)
    linear: tuple[str, ...] = ()
    sharding: str | None = None
    _newest: Newest = field(default_factory=Newest, init=False)
    _plans: dict[tuple[Specialisation, bool, bool], Plan] = field(default_factory=dict, init=False)
    _signatures: dict[Any, CallSignature] = field(default_factory=dict, init=False)

    @property
    def __name__(self) -> str:
        """The kernel's name: what JAX calls a program made of it."""
        return self.kernel.name

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<JAX function of the kernel {self.kernel.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the kernel as its IR for the types that it was called with, and the options of `jax_kernel`.

        Raises:
            RecordError: the kernel cannot be pickled.
        """
        from workbench.interop.jax.wrappers.pickled import kernel_data

        options = self._newest.make.keywords  # type: ignore[union-attr]  # the call of `jax_kernel` that made it
        return _unpickled, (kernel_data(self.kernel, {c.specialisation for c in self._signatures.values()}), options)

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
            output_dims: overrides what `jax_kernel` was given.
            block_dim: overrides what `jax_kernel` was given.
            **named: inputs by name.

        Returns:
            The output, or a tuple if there are several: those that are inputs too first, in the parameters' order.

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
        passed = args
        if self._structs:
            args = tuple(self._flattened(args))
        signature = self._signature(args, launch_dims, output_dims, block)
        operands, statics, scalars = [], [], {}
        for name, type, value in zip(self.inputs, signature.types, args, strict=True):
            if name in self.static:
                scalars[name] = arguments.static_value(self.kernel.name, name, value, type)
                statics.append(static_bits(scalars[name]))
            else:
                operands.append(arguments.operand(self.kernel.name, name, value, type))
        config = signature.config(operands, tuple(statics), scalars, self, block)
        if signature.prints:
            print_when_run(
                signature.specialisation, signature.plan, signature.dims, config.results, scalars, operands, block
            )
        tracer = library().jax.core.Tracer
        # Traced, it becomes part of a program of JAX; otherwise it runs now, as a program that is kept.
        traced = [x for x in operands if isinstance(x, tracer)]
        values = launch(signature.plan, operands, config) if traced else signature.program(config)(*operands)
        if self.linear and checks_here():
            values = watch_linear(self.kernel.name, self.linear, signature.plan, config, operands, list(values))
        results = [shaped(r, w.dtype) for r, w in zip(values, signature.outputs, strict=True)]
        results = self._watched(results, signature) if checks_here() else results
        results = self._together(passed, results) if self._structs else results
        return results[0] if len(results) == 1 else tuple(results)

    def _watched(self, results: list[Any], signature: CallSignature) -> list[Any]:
        """Return the results; when the program runs, it reports which of their elements nothing wrote."""
        watched = []
        for name, result, type in zip(self._results(), results, signature.outputs, strict=True):
            open = name in self.outputs and name not in self.init
            watched.append(watch(self.kernel.name, name, element(type), result) if open else result)
        return watched

    @cached_property
    def _structs(self) -> dict[str, Struct]:
        """The types of the inputs that are structs, by name."""
        return {n: t for n in self.parameters if isinstance(t := self.kernel.annotations.get(n), Struct)}

    def _flattened(self, args: tuple[Any, ...]) -> Iterator[Any]:
        """Yield the values of the inputs in order, a struct as its fields."""
        for name, value in zip(self.parameters, args, strict=True):
            yield from taken_apart(self.kernel.name, name, self._structs.get(name), value)

    def _together(self, args: tuple[Any, ...], results: list[Any]) -> list[Any]:
        """Return the results, those that are fields of structs as trees like the ones passed."""
        rest = iter(results)
        joined = []
        for name, value in zip(self.parameters, args, strict=True):
            struct = self._structs.get(name)
            if struct is not None and not self.in_out.isdisjoint(array_fields(name, struct)):
                joined.append(put_back(struct, value, rest))
            elif name in self.in_out:
                joined.append(next(rest))
        return [*joined, *rest]

    def _signature(self, args: tuple[Any, ...], launch_dims: Any, output_dims: Any, block: int) -> CallSignature:
        """Return the signature of a call: what its shapes, types and named dimensions decide."""
        aspects = map(arguments.aspect, args)
        checked, watched = checks_both(self.kernel.checks)
        named = arguments.frozen(launch_dims), arguments.frozen(output_dims)
        # All that a call's meaning depends on besides values: found again, nothing below has to be computed.
        key = (*aspects, arguments.wide(), checked, watched, *named, block)
        known = self._signatures.get(key)
        if known is not None and known.specialisation.is_current():
            return known
        values = dict(zip(self.inputs, args, strict=True))
        launch_dims = self.launch_dims if launch_dims is None else launch_dims
        output_dims = self.output_dims if output_dims is None else output_dims
        types = self._types(values)
        arrays = {n: arguments.base_shape(v, types[n]) for n, v in values.items() if isinstance(types[n], ArrayType)}
        sizes = Sizes.of(self.kernel.name, arrays, self.input_dims)
        types |= self._output_types(types, sizes, output_dims)
        specialisation = self._specialised(types, sizes, launch_dims, block)
        quiet = silent(specialisation)
        plan = self._plan(quiet, types, checked, checked or watched)
        dims, source = launch_over(sizes, launch_dims, specialisation.function)
        shapes = result_shapes(sizes, output_dims, dims, self._results(), self.outputs, types)
        outputs = tuple(t for n in self._results() if isinstance(t := types[n], ArrayType))
        signature = CallSignature(
            specialisation, plan, tuple(types[n] for n in self.inputs), dims, shapes, outputs,
            self._reach(specialisation, dims, source, arrays, shapes, types), quiet is not specialisation,
        )  # fmt: skip
        self._signatures[key] = signature
        return signature

    def _reach(
        self, specialisation: Specialisation, dims: tuple[int, ...], source: str,
        arrays: dict[str, tuple[int, ...]], results: tuple[tuple[int, ...], ...], types: dict[str, Type],
    ) -> BoundsCheck:  # fmt: skip
        """Return what decides which elements a launch accesses.

        Args:
            specialisation: the kernel.
            dims: of the launch.
            source: what the dimensions were taken from.
            arrays: shapes of the inputs, by name.
            results: shapes of the results, with components' axes.
            types: of the parameters.
        """
        named = zip(self._results(), results, strict=True)
        shapes = {n: s[: t.ndim] for n, s in named if isinstance(t := types[n], ArrayType)} | arrays
        return BoundsCheck(self.kernel.name, specialisation.function, dims, shapes, {}, frozenset(self.outputs), source)

    def _specialised(self, types: dict[str, Type], sizes: Sizes, wanted: Any, block: int) -> Specialisation:
        """Return the kernel for these types; if it uses tiles, for launches over blocks of `block` threads.

        Raises:
            LaunchError: it uses tiles, and the number of blocks is not given.
        """
        # Structs were taken apart for JAX; the kernel itself still takes them whole.
        self.kernel.refuse_uniforms()
        ordered = tuple((self._structs | types)[n] for n in self.kernel.parameters)
        specialisation = self.kernel.specialise(ordered)
        if specialisation.tiling is None:
            return specialisation
        if wanted is None:
            raise LaunchError(
                f"{self.kernel.name} uses tiles, and how many blocks its launch has is not known.",
                advice="Pass launch_dims, which count blocks here.",
                function=self.kernel.name,
            )
        dims = sizes.dimensions("launch_dims", wanted)
        return self.kernel.specialise(ordered, Tiling(block, len(dims)))

    def _results(self) -> tuple[str, ...]:
        """Return the names of the results: inputs that come out, then the outputs."""
        return (*(n for n in self.inputs if n in self.in_out), *self.outputs)

    @property
    def _annotated(self) -> dict[str, Type | None]:
        """The annotations by parameter, with a struct's fields as parameters of their own; None for none."""
        listed = [pair for n, t in self.kernel.annotations.items() for pair in fields_of(n, t)]
        return {n: arguments.without_structs(self.kernel.name, n, t) for n, t in listed}

    def _types(self, values: dict[str, Any]) -> dict[str, Type]:
        """Return the types of the inputs by name.

        Raises:
            LaunchError: a value does not fit, or an input that is also a result is not an array.
        """
        name, known = self.kernel.name, self._annotated
        types = {n: arguments.type_of(name, n, v, known.get(n)) for n, v in values.items()}
        for both in self.in_out:
            arguments.result_type(name, both, types[both])
        return types

    def _output_types(self, types: dict[str, Type], sizes: Sizes, output_dims: Any) -> dict[str, ArrayType]:
        """Return the types of the outputs: annotated, declared, or inferred from what the kernel stores."""
        known: dict[str, Type | None] = dict(self._annotated)
        if missing := tuple(n for n in self.outputs if known.get(n) is None):
            inputs = self._structs | types
            known |= open_types(self.kernel, inputs, missing, self.output_dtypes, ranks(sizes, output_dims, missing))
        return {n: arguments.result_type(self.kernel.name, n, known[n]) for n in self.outputs}

    def _plan(self, specialisation: Specialisation, types: dict[str, Type], checked: bool, poisoned: bool) -> Plan:
        """Return the plan of a specialisation, built once for each; building one drops outdated ones.

        It has checks if `checked`; if `poisoned`, outputs without an initial value begin as the marker of unwritten
        ones.
        """
        key = (specialisation, checked, poisoned)
        plan = self._plans.get(key)
        if plan is None:
            forget_outdated(self._plans, self._signatures)
            plan = self._plans[key] = self._make_plan(specialisation, types, checked, poisoned)
        return plan

    def _make_plan(self, specialisation: Specialisation, types: dict[str, Type], checked: bool, poisoned: bool) -> Plan:
        """Build the plan of a specialisation, with checks if `checked`; `poisoned` outputs begin as a marker.

        Raises:
            LaunchError: the kernel's accesses do not fit the parameters' roles.
        """
        check_access(specialisation.function, self.inputs, self.in_out, self.outputs, self.init)
        outputs: dict[str, ArrayType] = {n: t for n in self.outputs if isinstance(t := types[n], ArrayType)}
        init: dict[str, Any] = dict(arguments.fills(self.kernel.name, self.init, outputs))
        # What no thread writes keeps the marker: a NaN, and no leftover of XLA's. Inside `with wb.checks()` it is
        # reported as well. Values that the user gives win.
        if poisoned:
            init = {n: mark for n, t in outputs.items() if (mark := marker(element(t))) is not None} | init
        roles = Roles(self.inputs, self.outputs, self.in_out, self.static, init)
        code = Code(specialisation, differentiable=self.enable_backward, checks=checked)
        return forward_plan(load(specialisation, options=code.options, device="cpu"), roles, code)


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
    input_dims: InputDims | None = None,
    output_dtypes: Mapping[str, Any] | None = None,
    linear: str | Sequence[str] = (),
    sharding: str | None = None,
) -> JaxKernel:
    """Return `kernel` as a JAX function, for use eagerly and under `jit`, `grad`, `vjp`, `vmap` and `scan`.

    The kernel's parameters are inputs first, outputs last. Arrays of vectors are arrays with one more axis, the last. A
    struct is a tree with a value for each field (a dict, a named tuple), also as a result. Scalars may be traced; a new
    value does not trace again. On the CPU the compiled program calls the kernel natively.

    Args:
        kernel: a `Kernel`.
        num_outputs: how many results there are, those of `in_out_argnames` included.
        launch_dims: dimensions of the launch, as numbers or as an expression of the inputs' sizes ("n - 1, m"). By
            default the shape of the first array input, or, if `tid()` has fewer dimensions, the sizes of the axes that
            it indexes. Of a kernel of tiles they count blocks, and have to be given.
        output_dims: dimensions of the outputs, or of each by name, likewise; by default the launch's. They count
            elements, and may end with the sizes of a vector's or a matrix's components, too.
        in_out_argnames: inputs that the kernel changes; each is also a result.
        init: initial value of outputs by name, a number or "zeros"; other outputs start uninitialised.
        vmap_method: "expand_dims" (no copies), "broadcast_all", or "sequential".
        enable_backward: False refuses differentiation, and compiles no adjoint.
        static_argnames: scalar inputs that become part of the traced program.
        has_side_effect: True keeps a call that XLA would merge with an equal one or drop as unused.
        block_dim: threads of a block, 1 to 1024: on a GPU, and of a kernel of tiles.
        input_dims: names of the axes of input arrays, {"A": "n, m", "x": "m"}, or one text for all. Axes of one name
            must have one size; `launch_dims` and `output_dims` are made of these names.
        output_dtypes: types of outputs that are not annotated, by name: {"y": "x"} is that of the input x. By default
            the type of what the kernel stores.
        linear: inputs in which the results are linear, taken together, where the kernel's text does not show it: JAX
            may then transpose it (`jax.linear_transpose`, matrix-free solvers). Inside `with wb.checks():` each call
            tests it. What is made of sums and products with other inputs needs no declaration.
        sharding: how devices may divide arrays, a letter for each axis: "i j, k -> i"; see `f.sharding_rule`.

    Returns:
        A function of JAX arrays: it returns one array, or a tuple of them if there are several outputs.

    Raises:
        LaunchError: an option names no parameter, or numbers do not fit; the kernel was redefined, or is CUDA C++.
    """
    options = {name: value for name, value in locals().items() if name != "kernel"}
    refuse_text(kernel)
    refuse_outdated(kernel)
    register_structs()
    return followed(_wrapped(kernel, **options), partial(jax_kernel, **options))


def _unpickled(data: Any, options: dict[str, Any]) -> JaxKernel:
    """Return the wrapper of a pickled kernel with these options of `jax_kernel`, except `output_dtypes`."""
    from workbench.interop.jax.wrappers.pickled import PickledKernel

    # The types of outputs are those that the code has.
    return jax_kernel(PickledKernel(data), **{**options, "output_dtypes": None})


def _wrapped(
    kernel: Kernel, *, num_outputs: int, in_out_argnames: Any, static_argnames: Any, linear: Any, init: Any,
    output_dtypes: Any, **options: Any,
) -> JaxKernel:  # fmt: skip
    """Return a kernel as a JAX function; see `jax_kernel` for the options, which are checked here.

    Raises:
        LaunchError: an option does not fit the kernel.
    """
    kernel.refuse_uniforms()
    name, parameters, types = kernel.name, kernel.parameters, kernel.annotations
    in_out, static = arguments.names(in_out_argnames), arguments.names(static_argnames)
    taken, outputs = arguments.split(name, parameters, num_outputs, in_out)
    arguments.check_names(name, "in_out_argnames", in_out, taken)
    inputs = tuple(f for n in taken for f, _ in fields_of(n, types.get(n)))
    in_out = frozenset(f for n in in_out for f in coming_out(n, types.get(n)))
    arguments.check_names(name, "static_argnames", static, inputs)
    arguments.check_names(name, "init", init or {}, outputs)
    arguments.check_names(name, "linear", arguments.names(linear), tuple(n for n in inputs if n not in static))
    if options["vmap_method"] not in VMAP_METHODS:
        raise LaunchError(
            f"vmap_method={options['vmap_method']!r} is not one of {', '.join(VMAP_METHODS)}.", function=name
        )
    arguments.check_block(name, options["block_dim"])
    return JaxKernel(
        kernel, taken, inputs, outputs, in_out, static, dict(init or {}),
        output_dtypes=check_declared(kernel, outputs, output_dtypes or {}),
        linear=tuple(sorted(arguments.names(linear))), **options,
    )  # fmt: skip
