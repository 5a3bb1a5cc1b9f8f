"""Declarations of gradients of CUDA C++ kernels: `NAME_adjoint` next to `NAME`."""

from __future__ import annotations

from workbench.backends.cuda.user_source.signature import Parameter, Signature
from workbench.errors import KernelTypeError
from workbench.types import is_float

ADJOINT = "_adjoint"


def gradient_form(signature: Signature) -> str:
    """Return the declaration in CUDA C++ that a kernel's gradient should have."""
    own = [f"{'const ' if p.pointer and not p.const else ''}{p.text} {p.name}" for p in signature.parameters]
    more = [f"{_base(p)}* adj_{p.name}" for p in signature.parameters if p.pointer and is_float(p.type)]
    return f"__global__ void {signature.name}{ADJOINT}({', '.join([*own, *more])})"


def _base(parameter: Parameter) -> str:
    """Return a parameter's C++ type without const, __restrict__ and pointer."""
    return " ".join(w for w in parameter.text.replace("*", " ").split() if w not in ("const", "__restrict__"))


def check_gradient(forward: Signature, gradient: Signature) -> None:
    """Check that a gradient's parameters match its kernel.

    It takes any of the kernel's parameters, by name and type, pointers as const. In addition it takes `adj_x` for each
    pointer to floats x of the kernel, and may take `adj_a`, a pointer to one number, for a float number a.

    Raises:
        KernelTypeError: a parameter is neither, or an adjoint is missing.
    """
    own = {p.name: p for p in forward.parameters}
    adjoints = {f"adj_{p.name}": p for p in forward.parameters if is_float(p.type)}
    form = f"It is declared {gradient_form(forward)}."
    for p in gradient.parameters:
        mine, other = adjoints.get(p.name), own.get(p.name)
        if mine is not None and (not p.pointer or p.const or p.type != mine.type):
            problem = f"{p.name} of {gradient.name} is `{p.text}`; it is added to, as `{_base(mine)}*`."
        elif mine is None and other is None:
            problem = f"{gradient.name} has the parameter {p.name}, which {forward.name} does not have."
        elif other is not None and mine is None and (p.type, p.pointer) != (other.type, other.pointer):
            problem = f"{p.name} is `{other.text}` in {forward.name} and `{p.text}` in {gradient.name}."
        elif other is not None and mine is None and p.pointer and not p.const:
            problem = f"{p.name} of {gradient.name} is not const; a gradient changes only adjoints."
        else:
            continue
        raise KernelTypeError(problem, p.location, form, gradient.name)
    names = {p.name for p in gradient.parameters}
    for name, p in adjoints.items():
        if p.pointer and name not in names:
            raise KernelTypeError(f"{gradient.name} does not take {name}.", gradient.location, form, gradient.name)
