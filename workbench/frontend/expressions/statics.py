"""`static(expression)`: Python's own value of an expression, computed while the kernel is lowered.

The expression sees the user's names, and of the kernel's own only what is known at compile time: loop names of unrolled
loops, literal arguments, funcs. At each launch it is computed again; where its value is another in type or in any bit,
the kernel is specialised again.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Mapping
from typing import Any

from workbench.builtins.declaration.declare import Builtin, Form
from workbench.errors import KernelTypeError, WorkbenchError, its_type
from workbench.frontend.names.python_names import bits, captured_value, struct_of
from workbench.frontend.state.coerce import nodes_by_name
from workbench.frontend.state.context import Context
from workbench.frontend.state.definition import MISSING, Definition, Dependency, mark_incomplete, watch
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.frontend.values import structs
from workbench.host.narrow import is_list, is_numpy
from workbench.limits import STATIC_ELEMENTS
from workbench.source import nodes_of
from workbench.types import SCALARS, ArrayType, Scalar, Vector

PURE = ("range", "len", "int", "float", "bool", "abs", "min", "max", "round", "sum", "tuple")
"""Functions of Python whose result only their arguments decide, where these are numbers."""
_ARITHMETIC = (
    ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.Subscript, ast.Call,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def static(context: Context, node: ast.Call) -> Operand:
    """Lower `static(expression)` to the value that Python computes for the expression now; launches compare it.

    Raises:
        KernelTypeError: the expression fails, reads a value that the kernel computes, or gives what no kernel can use.
    """
    (inner,) = nodes_by_name(context, node, "expression /").values()
    names = _names_read(inner)
    try:
        locals_ = {name: _known(context, name) for name in names if name in context.env}
    except KernelTypeError:
        if not context.shared.warp_meanings:
            raise
        return context.lower(inner)  # Warp takes the size of a tile there, for one
    code, text = compile(ast.Expression(inner), "<static>", "eval"), ast.unparse(node)
    _note(context.definition, inner, text, locals_)
    try:
        value = _evaluate(context.definition, code, names, locals_)
    except WorkbenchError:
        raise
    except Exception as error:  # the user's own code, as Python would run it
        message = f"static() failed while compiling: {type(error).__name__}: {error}."
        raise context.type_error(message) from None
    context.shared.statics.clear()  # it may have bound names, or set attributes
    dependency = _dependency(context.definition, inner, code, text, locals_, value)
    watch(dependency, f"{text} {sorted((k, repr(v)) for k, v in locals_.items())}")
    return _operand(context, value, text)


def reevaluated_static(definition: Definition, text: str, known: Mapping[str, Any]) -> Dependency:
    """Return a dependency on the value that a definition's `static(…)` has now, from its stored text.

    `known` has the values of the kernel's local names in it.

    Raises:
        Exception: whatever the expression raises.
    """
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    inner = call.args[0]
    code = compile(ast.Expression(inner), "<static>", "eval")
    value = _evaluate(definition, code, _names_read(inner), known)
    return _dependency(definition, inner, code, text, known, value)


def _dependency(
    definition: Definition, inner: ast.expr, code: Any, text: str, known: Mapping[str, Any], value: Any
) -> Dependency:
    """Return a dependency on the value of a `static(…)`, which launches compare with what its code evaluates to then.

    Args:
        definition: the definition with the call.
        inner: the argument of `static`.
        code: that, compiled.
        text: the call as source text.
        known: values of local names that are known at compile time.
        value: its value now.
    """
    names = _names_read(inner)

    def reevaluate() -> Any:
        try:
            return bits(_evaluate(definition, code, names, known))
        except Exception:  # whatever it is, the next lowering reports it at its place
            return MISSING

    return Dependency(definition, text, bits(value), reevaluate, paths=_paths(inner, known), known=known)


def _note(definition: Definition, inner: ast.expr, text: str, known: Mapping[str, Any]) -> None:
    """Note the names that the expression reads; if more may decide its value, note that it may read anything."""
    paths = _paths(inner, known)
    for path in paths or ():
        definition.read(path)
    if paths is None and not definition.library:
        mark_incomplete(f"{text} may read anything")


def _paths(node: ast.expr, locals_: Collection[str]) -> tuple[str, ...] | None:
    """Return the names outside the kernel that alone decide an expression's value, if they mean numbers.

    None if the value may depend on more, as that of a call of a user's function does.
    """
    paths: list[str] = []

    def read(part: ast.AST) -> bool:
        if isinstance(part, ast.Name):
            paths.extend([part.id] if part.id not in locals_ else [])
            return True
        if isinstance(part, ast.Attribute):
            path = ast.unparse(part)
            paths.append(path)
            return all(word.isidentifier() for word in path.split(".")) and path.split(".")[0] not in locals_
        if isinstance(part, ast.Call) and not (isinstance(part.func, ast.Name) and part.func.id in PURE):
            return False
        return isinstance(part, _ARITHMETIC) and all(map(read, ast.iter_child_nodes(part)))

    return tuple(dict.fromkeys(paths)) if read(node) else None


def _names_read(node: ast.expr) -> list[str]:
    """Return the names that an expression reads without binding them itself, sorted."""
    names = [n for n in nodes_of(node) if isinstance(n, ast.Name)]
    bound = {n.id for n in names if isinstance(n.ctx, ast.Store)} | {
        a.arg for a in nodes_of(node) if isinstance(a, ast.arg)
    }
    return sorted({n.id for n in names} - bound)


def _known(context: Context, name: str) -> Any:
    """Return a local name of the kernel as a Python value.

    Raises:
        KernelTypeError: the kernel computes it.
    """

    def python(operand: Operand) -> Any:
        if isinstance(operand, tuple):
            return tuple(python(o) for o in operand)
        if isinstance(operand, (Literal, Static)):
            return operand.value
        message = f"static() is computed at compile time; {name} is computed by the kernel."
        raise context.type_error(message, "Use names from outside the kernel, or leave static() out.")

    return python(structs.gather(context.env, name))


def _evaluate(definition: Definition, code: Any, names: list[str], locals_: Mapping[str, Any]) -> Any:
    """Return the value of compiled Python code, with names from `locals_` or else from the definition's scope.

    Raises:
        Exception: whatever the code raises; NameError for a name without a value.
    """
    space: dict[str, Any] = {"__builtins__": builtins}
    for name in names:
        value = locals_[name] if name in locals_ else definition.read(name)
        if value is not MISSING:
            space[name] = value
    return eval(code, space)


def _operand(context: Context, value: Any, text: str) -> Operand:
    """Return a Python value as an operand of the kernel: a number is a literal, as if it were written there.

    Raises:
        KernelTypeError: no kernel can use it, or it is a sequence that is too long.
    """
    if is_list(value) or isinstance(value, range):
        if len(value) > STATIC_ELEMENTS:
            message = f"{text} has {len(value)} elements; a kernel's constant sequence has up to {STATIC_ELEMENTS}."
            raise context.type_error(message, "Pass an array.")
        return tuple(_operand(context, v, f"{text}[{k}]") for k, v in enumerate(value))
    struct = struct_of(type(value))
    if struct is not None:
        fields = [_operand(context, vars(value)[f.name], f"{text}.{f.name}") for f in struct.fields]
        return structs.construct(context, struct, fields, {})
    if isinstance(value, bool):
        return Static(value, text)
    if type(value) in (int, float, complex):
        return Literal(value)
    usable = isinstance(value, (Builtin, Form, Scalar, Vector, ArrayType)) or callable(value)
    number = isinstance(value, (int, float)) or is_numpy(value) or hasattr(value, "value")
    operand = captured_value(context, value, text) if number else Static(value, text)
    if isinstance(operand, Static) and not usable:
        raise context.type_error(
            f"static() returns {its_type(value)} here, which no kernel can use.",
            "Return a number, a vector, a struct or a tuple of those, a func or a type "
            f"({', '.join(list(SCALARS)[:3])}, …).",
        )
    return operand
