"""Dimensions of a call, of its launch and its outputs, and types of its outputs.

**Dimensions** are numbers or expressions of the inputs' sizes. Shapes are known when JAX traces, so an expression is
evaluated then, once per signature; symbolic sizes stay symbolic.

**Types** of outputs that the kernel leaves open are as `output_dtypes` says, or found from what the kernel stores. JAX
has to know them before the call, and the kernel is typed for its parameters' types. So a type is tried, and where the
kernel then stores something else, the errors say what.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import SimpleNamespace
from typing import Any

from workbench.api.kernels.kernel import Kernel
from workbench.errors import CellErrors, KernelSyntaxError, KernelTypeError, LaunchError, WorkbenchError
from workbench.frontend.names.annotate import ArrayOf
from workbench.interop.jax.values import arguments
from workbench.ir.ops import AXIS, ELEMENTS
from workbench.ir.values import Function, Op, definitions, walk
from workbench.structs import AnyType
from workbench.types import ArrayType, Scalar, Type, Vector, as_type, float32, int32

Dims = int | str | Sequence[int | str]
InputDims = str | Mapping[str, str]
Shape = tuple[Any, ...]

_NODES = (
    ast.Expression, ast.Tuple, ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript,
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub, ast.Call,
)  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """Represents the sizes that a call's dimensions may be made of.

    Attributes:
        kernel: the kernel's name.
        arrays: shapes of the input arrays, without axes of components.
        named: sizes by the names that `input_dims` gives them.
    """

    kernel: str
    arrays: Mapping[str, Shape]
    named: Mapping[str, Any]

    @classmethod
    def of(cls, kernel: str, arrays: Mapping[str, Shape], declared: InputDims | None) -> Sizes:
        """Return the sizes of these arrays, their axes named as `input_dims` says.

        Raises:
            LaunchError: an array has other axes, or two axes of one name differ in size.
        """
        sizes: dict[str, tuple[Any, str]] = {}
        for array, axes in _by_input(kernel, arrays, declared).items():
            shape = arrays[array]
            if len(axes) != len(shape):
                raise LaunchError(
                    f"input_dims says that {array} of {kernel} has the axes {', '.join(axes)}; its shape is {shape}.",
                    function=kernel,
                    parameter=array,
                )
            for axis, (name, size) in enumerate(zip(axes, shape, strict=True)):
                known, where = (int(name), "input_dims") if name.isdecimal() else sizes.get(name, (size, ""))
                if known != size:
                    raise _differs(kernel, array, axis, name, size, known, where)
                if name != "_" and not name.isdecimal():
                    sizes.setdefault(name, (size, array))
        return cls(kernel, arrays, {n: size for n, (size, _) in sizes.items()})

    def dimensions(self, what: str, dims: Any) -> Shape:
        """Return `dims` as a tuple of sizes, its expressions evaluated.

        Raises:
            LaunchError: `dims` is not a size or 1 to 4 of them, or cannot be evaluated; the message calls it `what`.
        """
        if isinstance(dims, str):
            dims = self._evaluated(what, dims)
        elif isinstance(dims, (tuple, list)):
            dims = tuple(self._evaluated(what, d) if isinstance(d, str) else d for d in dims)
        return arguments.dimensions(self.kernel, what, dims)

    def _evaluated(self, what: str, spec: str) -> Any:
        """Return the value of an expression of the inputs' sizes.

        Raises:
            LaunchError: it cannot be evaluated, or is more than arithmetic; the message calls it `what`.
        """
        names: dict[str, Any] = {"min": min, "max": max}
        names |= {n: SimpleNamespace(shape=shape) for n, shape in self.arrays.items()} | dict(self.named)
        try:
            tree = ast.parse(spec.strip(), mode="eval")
            for node in ast.walk(tree):
                if not isinstance(node, _NODES) or (isinstance(node, ast.Attribute) and node.attr != "shape"):
                    raise SyntaxError(ast.unparse(node))
            return eval(compile(tree, what, "eval"), {"__builtins__": {}}, names)
        except Exception as error:
            reason = f"{error.name} is no size of its inputs" if isinstance(error, NameError) else str(error)
            first = next(iter(self.arrays), "x")
            axes = ", ".join("nmkl"[: len(self.arrays.get(first, "n"))])
            raise LaunchError(
                f"{what} of {self.kernel} is {spec!r}, which cannot be evaluated: {reason}.",
                advice=f'Name the sizes, input_dims={{"{first}": "{axes}"}}, or write {first}.shape[0]; '
                "+ - * // % min and max work.",
                function=self.kernel,
            ) from None


def _by_input(kernel: str, arrays: Mapping[str, Shape], declared: InputDims | None) -> dict[str, list[str]]:
    """Return the names of the axes of input arrays, as `input_dims` declares them; one text is for all arrays.

    Raises:
        LaunchError: it names no input, or is malformed.
    """
    if declared is None:
        return {}
    by_input = declared if isinstance(declared, Mapping) else dict.fromkeys(arrays, declared)
    arguments.check_names(kernel, "input_dims", by_input, tuple(arrays))
    return {n: list(axes_named(kernel, spec)) for n, spec in by_input.items()}


def axes_named(kernel: str, spec: Any) -> Iterator[str]:
    """Yield the names in a text of `input_dims`, one per axis: names, sizes, or `_` for any.

    Raises:
        LaunchError: it is something else.
    """
    for name in spec.split(",") if isinstance(spec, str) else [""]:
        if not name.strip().isidentifier() and not name.strip().isdecimal():
            raise LaunchError(
                f"input_dims of {kernel} is {spec!r}; it names each axis of an array.",
                advice='Write {"A": "n, m", "x": "m"}; _ is any size.',
                function=kernel,
            )
        yield name.strip()


def _differs(kernel: str, array: str, axis: int, name: str, size: Any, known: Any, where: str) -> LaunchError:
    """Return the error for an axis of the size `size` where `where` says `known` for the same name."""
    same = f"{where} says {known}" if where == "input_dims" else f"{name} is {known} in {where}"
    return LaunchError(
        f"{array} of {kernel} has {size} element{'s' * (size != 1)} along axis {axis}; {same}.",
        advice="Kernels do not broadcast: jnp.broadcast_to does." if size == 1 or known == 1 else "",
        function=kernel,
        parameter=array,
    )


def launch_over(sizes: Sizes, wanted: Any, function: Function) -> tuple[Shape, str]:
    """Return the dimensions of a launch, and their source: "launch_dims", or a description of arrays.

    Without `wanted` they are the shape of the first array; where the kernel asks `tid()` for another number of
    dimensions, they are the sizes of the axes that it indexes with `tid()`.

    Args:
        sizes: of the inputs.
        wanted: what the call or the wrapper says; None if nothing.
        function: the kernel's IR.

    Raises:
        LaunchError: they are not known, or do not fit the kernel.
    """
    name, launch_ndim = sizes.kernel, function.launch_ndim
    if wanted is None and not sizes.arrays:
        raise LaunchError(
            f"{name} has no array input from which its launch could take its shape.",
            advice="Pass launch_dims, to jax_kernel() or to the call.",
            function=name,
        )
    if wanted is not None:
        dims, source = sizes.dimensions("launch_dims", wanted), "launch_dims"
    else:
        source = next(iter(sizes.arrays))
        dims = sizes.arrays[source]
        if launch_ndim not in (0, len(dims)):
            dims, source = _indexed_by_threads(sizes, function) or (dims, source)
        dims = arguments.dimensions(name, "launch_dims", dims)
    if launch_ndim not in (0, len(dims)):
        raise LaunchError(
            f"{name} asks tid() for {launch_ndim} dimensions; its launch would have {len(dims)}: {dims}.",
            advice="Pass launch_dims; by default they are the shape of the first array.",
            function=name,
        )
    return dims, source


def _indexed_by_threads(sizes: Sizes, function: Function) -> tuple[Shape, str] | None:
    """Return the sizes of the inputs' axes that `tid()` itself indexes, and a description of these axes.

    None if axes that one dimension of the launch indexes differ in size, or a dimension indexes none.
    """
    defs: dict[Any, Op] = definitions(function.body)
    sizes_by_axis: dict[int, tuple[Any, str]] = {}
    for op in walk(function.body):
        shape = sizes.arrays.get(op.operands[0].name) if op.name in ELEMENTS else None
        for axis, size in enumerate(shape or ()):
            index = defs.get(op.operands[1 + axis])
            if index is None or index.name != "tid":
                continue
            known, _ = sizes_by_axis.setdefault(index.attrs[AXIS], (size, f"{op.operands[0].name} along axis {axis}"))
            if known != size:
                return None
    if sorted(sizes_by_axis) != list(range(function.launch_ndim)):
        return None
    ordered = [sizes_by_axis[axis] for axis in sorted(sizes_by_axis)]
    return tuple(size for size, _ in ordered), " and ".join(where for _, where in ordered)


def ranks(sizes: Sizes, wanted: Any, outputs: Sequence[str]) -> dict[str, int]:
    """Return the number of dimensions of each of these outputs for which `output_dims` says it."""
    named = wanted if isinstance(wanted, Mapping) else dict.fromkeys(outputs, wanted)
    named_dims = {n: dims for n in outputs if (dims := named.get(n)) is not None}
    return {n: len(sizes.dimensions(f"output_dims for {n}", dims)) for n, dims in named_dims.items()}


def result_shapes(
    sizes: Sizes, wanted: Any, dims: Shape, results: Sequence[str], outputs: Sequence[str], types: Mapping[str, Type]
) -> tuple[Shape, ...]:
    """Return the shapes of the results, with an axis for the components of vectors.

    Args:
        sizes: of the inputs.
        wanted: what the call or the wrapper says of its outputs; None if nothing.
        dims: of the launch.
        results: names, in order.
        outputs: those that are no inputs.
        types: of the parameters.

    Raises:
        LaunchError: they do not fit the outputs' types.
    """
    named = wanted if isinstance(wanted, Mapping) else dict.fromkeys(outputs, wanted)
    arguments.check_names(sizes.kernel, "output_dims", named, tuple(outputs))
    shapes = {n: sizes.arrays[n] for n in results if n not in outputs}
    for name in outputs:
        chosen = named.get(name)
        shapes[name] = dims if chosen is None else sizes.dimensions(f"output_dims for {name}", chosen)
    return tuple(_with_components(sizes.kernel, n, shapes[n], types[n]) for n in results)


def in_elements(shape: Shape, type: ArrayType) -> Shape:
    """Return dimensions that count elements: without the axes of the components of vectors that end them, if any."""
    return shape[: type.ndim] if shape[type.ndim :] == type.dtype.shape else shape


def _with_components(kernel: str, name: str, shape: Shape, type: Type) -> Shape:
    """Return a result's shape with one last axis for all components of an element, also a matrix's, if it has any.

    Raises:
        LaunchError: the shape has another number of dimensions than the type.
    """
    assert isinstance(type, ArrayType)
    shape = in_elements(shape, type)
    if len(shape) != type.ndim:
        raise LaunchError(
            f"{name} of {kernel} is {type!r}, and its dimensions would be {shape}.",
            advice=f'Pass output_dims={{"{name}": …}}; by default they are the launch\'s.',
            function=kernel,
            parameter=name,
        )
    return (*shape, prod(type.dtype.shape)) if type.dtype.shape else shape


# An int may be stored into floats, so ints are tried first; then each trial learns at least one type.
_TRIALS = 4


def check_declared(kernel: Kernel, outputs: tuple[str, ...], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Check `output_dtypes`, which may name outputs whose types the kernel leaves open, and return it as a dict.

    Raises:
        LaunchError: it names something else.
    """
    arguments.check_names(kernel.name, "output_dtypes", declared, outputs)
    for name in declared:
        if kernel.annotations[name] is not None:
            raise LaunchError(
                f"output_dtypes of {kernel.name} names {name}, which is annotated {kernel.annotations[name]!r}.",
                advice=f"Annotate it {name}: wb.array[Any], or leave it out of output_dtypes.",
                function=kernel.name,
                parameter=name,
            )
    return dict(declared)


def open_types(
    kernel: Kernel,
    types: Mapping[str, AnyType],
    missing: tuple[str, ...],
    declared: Mapping[str, Any],
    dims: Mapping[str, int],
) -> dict[str, ArrayType]:
    """Return the types of outputs that the kernel leaves open.

    Args:
        kernel: the kernel.
        types: of the inputs, a struct as a whole.
        missing: names of the outputs.
        declared: what `output_dtypes` says of some of them.
        dims: how many dimensions they have, where the call says it.

    Raises:
        LaunchError: a declaration names no input and no type, or no type fits what the kernel stores.
    """
    if type(kernel) is not Kernel:
        from workbench.interop.jax.wrappers.pickled import PickledKernel  # late: brings what reads records

        if isinstance(kernel, PickledKernel):
            return kernel.completed(types, missing)
    chosen = {n: ArrayType(_element(kernel.name, n, d, types), _rank(kernel, n, dims)) for n, d in declared.items()}
    rest = tuple(n for n in missing if n not in chosen)
    return chosen | (_stored_types(kernel, {**types, **chosen}, rest, dims) if rest else {})


def _element(kernel: str, output: str, declared: Any, types: Mapping[str, AnyType]) -> Scalar | Vector:
    """Return the element type that `output_dtypes` declares for an output: an input's (by its name) or a dtype.

    Raises:
        LaunchError: it is neither.
    """
    like = types.get(declared) if isinstance(declared, str) else None
    try:
        dtype = as_type(declared) if like is None else like.dtype if isinstance(like, ArrayType) else like
    except TypeError:
        dtype = None
    if isinstance(dtype, (Scalar, Vector)):
        return dtype
    raise LaunchError(
        f"output_dtypes of {kernel} says {declared!r} for {output}, which is neither an input of it nor a type.",
        advice=f'Name an input, {{"{output}": "{next(iter(types), "x")}"}}, or a dtype.',
        function=kernel,
        parameter=output,
    )


def _stored_types(
    kernel: Kernel, types: Mapping[str, AnyType], missing: tuple[str, ...], dims: Mapping[str, int]
) -> dict[str, ArrayType]:
    """Return array types for the outputs `missing` whose elements are what the kernel stores in them.

    Raises:
        LaunchError: the type does not follow from that.
        KernelTypeError, KernelSyntaxError: the kernel has an error of its own.
    """
    ranks = {n: _rank(kernel, n, dims) for n in missing}
    tried: dict[str, Scalar | Vector] = {}
    for name in missing:
        family = kernel.families.get(name)
        fits = family is None or family.accepts(ArrayType(int32, ranks[name]))
        tried[name] = int32 if fits else float32
    for _ in range(_TRIALS):
        array_types = {n: ArrayType(tried[n], ranks[n]) for n in missing}
        try:
            kernel.specialise(tuple(array_types[n] if n in array_types else types[n] for n in kernel.parameters))
            return array_types
        except (KernelTypeError, KernelSyntaxError) as error:
            problem: WorkbenchError = error
        learnt = _learnt(problem, missing)
        if not learnt and int32 in tried.values():
            # Nothing but literals is stored, and one of them is a float.
            learnt = {n: float32 for n in missing if tried[n] == int32}
        if not learnt:
            raise problem  # the kernel's own mistake
        tried |= learnt
    raise LaunchError(
        f"{' and '.join(missing)} of {kernel.name}: outputs without annotation whose type does not follow from what is "
        "stored in them.",
        kernel.place,
        f'Annotate them, or pass output_dtypes={{"{missing[0]}": …}}.',
        kernel.name,
        parameter=missing[0],
    )


def _learnt(error: WorkbenchError, missing: tuple[str, ...]) -> dict[str, Scalar | Vector]:
    """Return the type that the kernel stores in each missing array, as far as its errors say."""
    parts = error.errors if isinstance(error, CellErrors) else (error,)
    outputs = {f"An element of {n}": n for n in missing}
    return {
        outputs[e.what]: e.given
        for e in reversed(parts)
        if isinstance(e, KernelTypeError) and e.what in outputs and isinstance(e.given, (Scalar, Vector))
    }


def _rank(kernel: Kernel, name: str, dims: Mapping[str, int]) -> int:
    """Return the number of an output's dimensions: by its annotation, the call, or the kernel's subscripts; else 1."""
    family = kernel.families.get(name)
    if isinstance(family, ArrayOf):
        return family.ndim
    if name in dims:
        return dims[name]
    for node in ast.walk(kernel.definition.node):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            return len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
    return 1
