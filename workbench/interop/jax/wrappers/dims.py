"""Dimensions of a call: of its launch and its outputs, as numbers or as expressions of the inputs' sizes.

Shapes are known when JAX traces, so an expression is evaluated then, once per signature; symbolic sizes stay symbolic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from workbench.errors import LaunchError
from workbench.interop.jax.values import arguments
from workbench.ir.attributes import AXIS
from workbench.ir.ops import ELEMENTS
from workbench.ir.values import Function, Op, definitions, walk
from workbench.types import ArrayType, Type, prod

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
