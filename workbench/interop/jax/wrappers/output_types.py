"""Types of outputs that the kernel leaves open: as `output_dtypes` says, or found from what the kernel stores.

JAX has to know them before the call, and the kernel is typed for its parameters' types. So a type is tried, and where
the kernel then stores something else, the errors say what.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from workbench.api.kernels.kernel import Kernel
from workbench.errors import CellErrors, KernelSyntaxError, KernelTypeError, LaunchError, WorkbenchError
from workbench.frontend import ArrayOf
from workbench.interop.jax.values import arguments
from workbench.structs import AnyType
from workbench.types import ArrayType, Scalar, Vector, as_type, float32, int32

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
