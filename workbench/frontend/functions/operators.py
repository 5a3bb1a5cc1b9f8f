"""Operators on structs: a func that has the operator's name, as in Warp.

`def add(a: Dual, b: Dual)` makes `a + b` work.
Numbers, vectors and tiles have operators of their own, so a func named `add` of two floats is a func like any other.
"""

from __future__ import annotations

from workbench.errors import KernelTypeError
from workbench.frontend.functions import inline
from workbench.frontend.names.python_names import python_value, usable_in_kernel
from workbench.frontend.state.coerce import default_type, describe
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Bundle, Literal, Operand

# Other names that are looked for: Warp's name of `@`.
ALSO = {"matmul": ("mul",)}


def on_structs(context: Context, name: str, *operands: Operand) -> Operand:
    """What an operator returns where a struct is among its operands.

    Args:
        context: where.
        name: of the operator's builtin: add, neg.
        operands: one or two.

    Raises:
        KernelTypeError: there is no func of this name, or none that takes these operands.
    """
    for each in (name, *ALSO.get(name, ())):
        value = context.definition.read(each, usable_in_kernel)
        if hasattr(value, "__wb_definitions__"):
            return inline.call(context, python_value(context, value, each), [*operands], {})  # type: ignore[arg-type]
    struct = next(o for o in operands if isinstance(o, Bundle))
    types = (default_type(o) if isinstance(o, Literal) else describe(o) for o in operands)
    parameters = ", ".join(f"{p}: {t}" for p, t in zip("ab", types, strict=False))
    fields = ", ".join(f.name for f in struct.type.fields)
    raise context.error(
        KernelTypeError, f"{struct.type!r} is a struct, and there is no func named {name} for it.",
        f"Define one, def {name}({parameters}), or take the fields: {fields}.",
    )  # fmt: skip
