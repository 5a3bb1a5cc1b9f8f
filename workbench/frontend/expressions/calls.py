"""Calls: builtins by their rules, types as casts and constructors, forms each in its own way, funcs inlined."""

from __future__ import annotations

import ast
import cmath
import difflib
import math
import sys
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

from workbench import types
from workbench.builtins.declaration import forms
from workbench.builtins.declaration.declare import TABLE, Builtin, Form
from workbench.builtins.declaration.rules import part_type
from workbench.errors import KernelTypeError
from workbench.frontend.expressions import complex_numbers, messages, sequences, statics
from workbench.frontend.expressions.complex_numbers import is_complex
from workbench.frontend.functions import derivatives, inline, library
from workbench.frontend.names import python_names
from workbench.frontend.state import coerce, warp_notices
from workbench.frontend.state.coerce import lowered, nodes_by_name, over
from workbench.frontend.state.context import Context, FormHandler
from workbench.frontend.state.operands import Bundle, Elements, Literal, Operand, Static
from workbench.frontend.tiles import arguments, memory, reduce, slicing
from workbench.frontend.values import structs, vectors, views
from workbench.frontend.values.vectors import number_of
from workbench.host.narrow import is_tuple
from workbench.ir.ops import AXIS
from workbench.ir.values import Value
from workbench.source import nodes_of
from workbench.tiles import is_tile
from workbench.types import Complex, Matrix, Quaternion, Scalar, Transform, Vector
from workbench.types import bool as bool_


def call(context: Context, node: ast.Call) -> Operand:
    """Lower a call in a kernel, of a form, a builtin, a type, a func or a method of a number; return its result.

    Raises:
        KernelTypeError, KernelSyntaxError: it cannot be called, or not with these arguments.
    """
    callee = context.lower(node.func)
    if not isinstance(callee, Static):
        raise context.type_error(f"{coerce.describe(callee)} cannot be called.")
    if node.keywords and any(k.arg is None for k in node.keywords):
        raise context.syntax_error("A call in a kernel takes no ** arguments.", "Write the arguments out.")
    if any(isinstance(a, ast.Starred) for a in node.args):
        node = _unpacked(context, node)
    target = callee.value
    if isinstance(target, partial):  # the method of a number
        lowered(context, node, "")
        return cast("partial[Operand]", target)()
    name = python_names.callee_name(target)
    form = FORMS.get(name)
    if form is not None:
        warp_notices.note_form(context, name)
        return form(context, node)
    if isinstance(target, Form) and target.body is not None:
        warp_notices.note_form(context, name)
        return library.lower(context, warp_notices.meaning_of_form(context, target), node)
    known = python_names.as_builtin(target)
    result = _as_in_python(context, node, target, known)
    if result is not None:
        return result
    if known is not None:
        args = [context.lower(a) for a in node.args]
        named = {k.arg: context.lower(k.value) for k in node.keywords if k.arg}
        return _by_table(context, callee, known, args, named)
    if target is not complex:
        target = python_names.as_scalar(target) or target
    func = hasattr(target, "__wb_definitions__")
    args = [_argument(context, a, func) for a in node.args]
    keywords = {k.arg: _argument(context, k.value, func) for k in node.keywords if k.arg}
    if isinstance(target, derivatives.Derivative):
        return _derivative(context, target.func, _no_keywords(context, callee, args, keywords))
    kind = getattr(target, "__wb_makes__", None)
    if kind is not None:
        args = _by_name(kind, args, keywords)
        target, keywords = _constructed_type(context, kind, callee.path, args, keywords), {}
    struct = python_names.struct_of(target)
    if struct is not None:
        return structs.construct(context, struct, args, keywords)
    if target is complex or (isinstance(target, Complex) and not target.shape):
        return complex_numbers.construct(context, target, _no_keywords(context, callee, args, keywords))
    if isinstance(target, Scalar):
        return _cast(context, target, _no_keywords(context, callee, args, keywords))
    if isinstance(target, Vector):
        args = _by_name(type(target), args, keywords)
    if isinstance(target, Vector):
        return vectors.construct(context, target, _no_keywords(context, callee, args, keywords))
    if hasattr(target, "__wb_definitions__"):
        return inline.call(context, callee, args, keywords)
    return _by_math(context, callee, () if keywords else args)


def _by_table(
    context: Context, callee: Static, known: Builtin, args: list[Operand], keywords: dict[str, Operand]
) -> Operand:
    """Return a builtin's result; its error says so where a kernel of the user has the builtin's name."""
    try:
        return call_builtin(context, known, args, keywords)
    except KernelTypeError as error:
        if not _is_kernel(context.definition.scope.user.get(callee.path)):
            raise
        message = f"{callee.path}() is the builtin here, not the kernel of that name: {error.message}"
        raise context.type_error(message, _advice_of_kernel(callee.path)) from None


def _by_math(context: Context, callee: Static, args: Sequence[Operand]) -> Literal:
    """Return the result of a function of module `math` on literals, such as `math.comb(5, 2)`, as a literal.

    Raises:
        KernelTypeError: it is another function, an argument is no literal, or the result is no finite number.
    """
    numbers = [a.value for a in args if isinstance(a, Literal)]
    if getattr(callee.value, "__module__", "") == "math" and numbers and len(numbers) == len(args):
        with suppress(ArithmeticError, ValueError, TypeError):
            result = callee.value(*numbers)
            if type(result) in (int, float) and math.isfinite(result):
                return Literal(result)
    message, advice = f"{callee.path} cannot be called in a kernel.", _advice(callee.value, callee.path)
    raise context.type_error(message, advice)


def _derivative(context: Context, callee: Static, args: list[Operand]) -> Operand:
    """Emit the derivatives of a builtin or a func at these arguments; several are returned as a tuple."""
    form = callee.value if isinstance(callee.value, Form) else None
    builtin = python_names.as_builtin(callee.value)

    def apply(inputs: list[Operand]) -> Operand:
        if form is not None:
            return library.call(context, form, inputs)
        if builtin is None:
            return inline.call(context, callee, inputs, {})
        return call_builtin(context, builtin, inputs, {})

    return derivatives.call(context, callee.path, args, apply)


def _argument(context: Context, node: ast.expr, func: bool) -> Operand:
    """Lower an argument of a call; where a func is called it may be None, in an array's place."""
    if func and isinstance(node, ast.Constant) and node.value is None:
        return Static(None, "None")
    return context.lower(node)


def _as_in_python(context: Context, node: ast.Call, target: Any, known: Builtin | None) -> Operand | None:
    """Lower a call whose meaning depends on how it is written: `float("inf")`, `pow(x, 2)`, `max((a, b))`.

    Returns:
        The result; None for any other call, which the values of its arguments decide.
    """
    if target is float and len(node.args) == 1:
        return _written_number(node.args[0])
    if known is TABLE["pow"] and len(node.args) == 2 and not node.keywords:
        return context.lower(ast.copy_location(ast.BinOp(node.args[0], ast.Pow(), node.args[1]), node))
    if known is not None and known.name in ("min", "max") and len(node.args) == 1 and not node.keywords:
        in_loop = sequences.looped(context, known.name, node)
        if in_loop is not None:
            return in_loop
        items = _several(context, node.args[0])
        if items and len(items) == 1:
            return coerce.usable(context, items[0])
        return call_builtin(context, known, items, {}) if items else None
    return None


def _written_number(node: ast.expr) -> Literal | None:
    """Return the number in the string of `float("inf")`, as weak as one that is written out; None of anything else."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    try:
        return Literal(float(node.value))
    except ValueError:
        return None


def _several(context: Context, node: ast.expr) -> tuple[Operand, ...]:
    """Return what `min` or `max` of one argument compares: the items of a tuple, a list or a generator expression.

    It is empty for anything else, and for an expression with a call or `:=` that is no written tuple: it may be a
    vector, and is to be computed only once.
    """
    if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.List)):
        return sequences.items_of(context, node)
    if any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in nodes_of(node)) and not isinstance(node, ast.Tuple):
        return ()  # perhaps a vector, which is computed once
    operand = context.lower(node)
    return operand if isinstance(operand, tuple) else ()


def _advice(target: Any, path: str) -> str:
    """Return what to write instead of calling something that is no part of the language; empty if nothing is known."""
    if _is_kernel(target):
        return _advice_of_kernel(path)
    if "random" in path.split("."):
        return "Draw with randf(state), after state = rand_init(seed, i)."
    home = (getattr(target, "__module__", None) or "").split(".")[0]
    name = path.split(".")[-1]
    if home == "workbench" and name in ("zeros", "ones", "full", "empty"):
        return "A thread's own numbers are a vector: vector(length=3, dtype=float). Make arrays before the launch."
    if home == "workbench":
        return "It is called outside of kernels."
    if isinstance(target, python_types.FunctionType) and home not in (
        *python_names.MATHS_MODULES,
        *sys.stdlib_module_names,
    ):
        return "Decorate it with @wb.func."
    if not callable(target):
        return ""
    near = difflib.get_close_matches(path.split(".")[-1], [b for b in TABLE if not TABLE[b].hidden], 1, 0.75)
    advice = f"use the builtin {near[0]}" if near else "write it as a loop"
    return f"Compute it before the launch and pass the result, or {advice}."


def _is_kernel(value: Any) -> bool:
    """Return whether a Python value is a Workbench kernel."""
    return getattr(value, "__wb_kernel__", False) is True


def _advice_of_kernel(path: str) -> str:
    """Return the advice for a call of a kernel, at this dotted path, from inside another kernel."""
    return f"{path} is a kernel, and kernels do not call each other; make the shared part a func."


def _no_keywords(context: Context, callee: Static, args: list[Operand], keywords: dict[str, Operand]) -> list[Operand]:
    """Return the positional arguments after a check that there are no keywords; a vector type may have `shape=`.

    Raises:
        KernelTypeError: there are other keywords.
    """
    shape = keywords.get("shape")
    sizes = tuple(getattr(n, "value", None) for n in shape) if isinstance(shape, tuple) else None
    repeated = isinstance(callee.value, Vector) and sizes == callee.value.shape
    if set(keywords) - ({"shape"} if repeated else set()):
        raise context.type_error(f"{callee.path}() takes no keyword arguments.")
    return args


def call_builtin(context: Context, builtin: Builtin, args: Sequence[Operand], keywords: dict[str, Operand]) -> Operand:
    """Emit a call of a builtin with positional and keyword arguments; return its result.

    `min` and `max` take more than two numbers, or one vector, as in Python. Of literals the result may be a literal.

    Args:
        keywords: the arguments by name; those used are removed.

    Raises:
        KernelTypeError: the arguments are not what it takes.
    """
    if not keywords and context.shared.notices is None and Value in map(type, args):
        known = coerce.remembered(context, builtin, args)
        if known is not None:
            return known
    operands = list(args)
    for name in builtin.params[len(operands) :]:
        if name in keywords:
            operands.append(keywords.pop(name))
    if keywords:
        raise context.type_error(
            f"{builtin.name}() has no argument {next(iter(keywords))}; it takes {', '.join(builtin.params)}."
        )
    if builtin.name == "where" and operands and not is_tile(operands[0]):  # a number is a condition, as in `if`
        condition = coerce.truth(context, operands[0])
        known = context.builder.const(condition, bool_) if isinstance(condition, bool) else condition
        operands = (known, *operands[1:])
    form = warp_notices.meaning(context, builtin.name, operands)
    if form is not None:
        return library.over_elements(context, form, operands)
    warp_notices.note_call(context, builtin.name, operands)
    constant = folded(builtin, operands)
    if constant is not None:
        return constant
    only = operands[0] if len(operands) == 1 else None
    if builtin.name in ("min", "max") and isinstance(only, Value) and types.is_vector(only.type):
        operands = coerce.scalar_components(context, only)
        if len(operands) == 1:
            return operands[0]
    if builtin.name in ("min", "max") and len(operands) > 2:
        first: Operand = operands[0]
        for other in operands[1:]:
            first = call_builtin(context, builtin, (first, other), {})
        return coerce.materialise(context, first)
    if any(map(complex_numbers.is_complex, operands)):
        return complex_numbers.applied(context, builtin.name, [coerce.usable(context, o) for o in operands])
    return coerce.apply(context, builtin, operands)


PYTHON: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in (
        "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
        "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "radians", "degrees", "pow", "erf", "erfc",
    )},
    "abs": abs, "min": min, "max": max,
}  # fmt: skip
COMPLEX: dict[str, Callable[..., Any]] = {
    "abs": abs,
    **{n: getattr(cmath, n) for n in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh")},
}


def folded(builtin: Builtin, operands: Sequence[Operand]) -> Literal | None:
    """Compute a builtin of literals, at least one of them a float, or of one complex literal, as Python does.

    Returns:
        The result as a literal; None if the kernel is to compute it, or it is not finite.
    """
    numbers = [o.value for o in operands if isinstance(o, Literal)]
    if len(numbers) == len(operands) == 1 and isinstance(numbers[0], complex):
        return _of_complex(builtin.name, numbers[0])
    if builtin.name not in PYTHON or len(numbers) != len(operands) or not any(isinstance(n, float) for n in numbers):
        return None
    if builtin.name not in ("min", "max") and len(numbers) != len(builtin.params):
        return None  # the rule says how many it takes; Python's log takes a base
    try:
        if not all(map(math.isfinite, numbers)):
            return None
        result = PYTHON[builtin.name](*numbers)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return Literal(float(result)) if math.isfinite(result) else None


def _of_complex(name: str, number: complex) -> Literal | None:
    """Return Python's result for a builtin of one complex literal; None if Python has none, or it is not finite."""
    try:
        result = COMPLEX[name](number) if name in COMPLEX else cmath.nan
    except (ArithmeticError, ValueError):
        return None
    return Literal(result) if cmath.isfinite(result) else None


def _unpacked(context: Context, node: ast.Call) -> ast.Call:
    """Return the call with `*t` replaced by the items of a tuple, a vector, or a slice of an array.

    The operand of `t` gets a new name in `context.env`, of which the new arguments are subscripts.

    Raises:
        KernelTypeError: it is none of these, or the slice has bounds that are not known at compile time.
    """
    arguments: list[ast.expr] = []
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            arguments.append(argument)
            continue
        part, span = argument.value, None
        name = f"unpacked {len(context.env)}"  # no identifier of Python has a space
        with context.at(argument):
            if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice):
                context.env[name] = coerce.indexable(context, context.lower(part.value))
                if views.is_array(context.env[name]):
                    span = _written_span(context, part.slice)
                part = ast.copy_location(ast.Subscript(_loaded(name, part), part.slice, ast.Load()), part)
            if span is None:
                context.env[name] = context.lower(part)
                span = range(_count(context, context.env[name]))
        items = [ast.Subscript(_loaded(name, argument), ast.Constant(k), ast.Load()) for k in span]
        arguments += [ast.fix_missing_locations(ast.copy_location(item, argument)) for item in items]
    return ast.copy_location(ast.Call(node.func, arguments, node.keywords), node)


def _loaded(name: str, node: ast.expr) -> ast.expr:
    """Return a syntax node that reads a name, at the location of another node."""
    return ast.copy_location(ast.Name(name, ast.Load()), node)


def _count(context: Context, operand: Operand) -> int:
    """Return how many items a tuple or a vector has.

    Raises:
        KernelTypeError: it is neither.
    """
    if isinstance(operand, tuple):
        return len(operand)
    if isinstance(operand, Value) and isinstance(operand.type, Vector):
        return operand.type.shape[0]
    message = f"* unpacks a tuple, a vector or a slice of an array; this is {coerce.describe(operand)}."
    raise context.type_error(message, "Write the arguments out.")


def _written_span(context: Context, node: ast.Slice) -> range:
    """Return the indices that a slice of an array selects which * unpacks: its bounds are written out.

    Raises:
        KernelTypeError: a bound is negative, missing or not known at compile time, or the step is not positive.
    """
    bounds = [
        Literal(d) if n is None else context.lower(n) for n, d in zip((node.lower, node.step), (0, 1), strict=True)
    ]
    if node.upper is None:
        raise context.type_error("* of a slice of an array requires explicit upper bound.")
    bounds.insert(1, context.lower(node.upper))
    numbers = [b.value for b in bounds if isinstance(b, Literal) and isinstance(b.value, int)]
    if len(numbers) < 3:
        message = "Slice component must be a compile-time constant where * unpacks a slice of an array."
        raise context.type_error(message)
    if numbers[2] < 1 or min(numbers[:2]) < 0:
        what = "The step cannot be negative or 0" if numbers[2] < 1 else "Bounds cannot be negative for arrays"
        raise context.type_error(f"{what} that * unpacks: their length is known at run time only.")
    return range(*numbers)


def _cast(context: Context, type: Scalar, args: list[Operand]) -> Operand:
    """Emit the conversion `type(x)` to a scalar type, elementwise for a tile, and return it; 0 if there is no argument.

    Raises:
        KernelTypeError: there are several arguments, or the argument is no real scalar and no tile.
    """
    if len(args) > 1:
        raise context.type_error(f"{type!r}() takes one argument; it got {len(args)}.")
    operand = coerce.usable(context, args[0]) if args else Literal(0)
    if isinstance(operand, Literal):
        number = Literal(int(operand.value)) if _truncates(operand, type) else operand
        if context.shared.warp_meanings and types.is_integer(type) and isinstance(number.value, int):
            number = Literal(types.wrapped(number.value, type))
        return coerce.materialise(context, number, type)
    if is_tile(operand):
        return over(
            context, f"{type!r}()", [operand], lambda p: [coerce.materialise(context, _cast(context, type, [*p]))]
        )[0]
    if isinstance(operand.type, Scalar):
        return context.builder.cast(operand, type)
    advice = "Take its .real, its .imag or abs()." if complex_numbers.is_complex(operand) else ""
    raise context.type_error(f"{type!r}() takes a scalar; this is {operand.type!r}.", advice)


def _truncates(operand: Literal, type: Scalar) -> bool:
    """Return whether conversion to the type drops the literal's fraction: a finite float, to an integer type."""
    return operand.is_float and type.kind.value in ("int", "uint") and math.isfinite(operand.value)


def _tid(context: Context, node: ast.Call) -> Operand:
    """Lower `tid()` where a single index is expected, and return that index."""
    return thread_index(context, node, 1)[0]


def thread_index(context: Context, node: ast.Call, count: int) -> tuple[Value, ...]:
    """Lower `tid()` where it is asked for `count` indices, and return these.

    Raises:
        KernelTypeError: there are more than 4, or another number than in an earlier call.
    """
    nodes_by_name(context, node, "")
    if count > 4:
        raise context.type_error(f"A launch has at most 4 dimensions; this asks tid() for {count}.")
    if context.shared.tiling is not None:
        return arguments.indices(context, count)
    before = context.shared.launch_ndim
    if before not in (None, count):
        message = f"tid() was called for {before} indices before and is called for {count} here."
        raise context.type_error(message, "Request the same number each time.")
    context.shared.launch_ndim = count
    return tuple(context.builder.one("tid", (), types.int32, {AXIS: axis}) for axis in range(count))


def _len(context: Context, node: ast.Call) -> Operand:
    """Lower `len(x)`: the size of the first dimension, a literal for a tuple, tile or vector, a value for an array.

    Raises:
        KernelTypeError: x has no length.
    """
    (operand,) = lowered(context, node, "x /").values()
    if isinstance(operand, tuple):
        return Literal(len(operand))
    if isinstance(operand, Elements):
        operand = structs.lead(operand)
    operand = coerce.indexable(context, operand)
    if is_tile(operand):
        return Literal(operand.type.shape[0])
    if views.is_array(operand):
        return views.size(context, operand, 0)
    if isinstance(operand, Value) and isinstance(operand.type, Vector) and operand.type.shape:
        return Literal(operand.type.shape[0])
    raise context.type_error(f"len() takes an array or a vector; this is {coerce.describe(operand)}.")


def _type(context: Context, node: ast.Call) -> Operand:
    """Lower `type(x[i])(2)`: the type of a number, vector or struct, so that generic code can make another one.

    Of an array, `type(x).dtype` is that of its elements.
    """
    (operand,) = lowered(context, node, "x /").values()
    if views.is_array(operand):
        return Static(views.type_of(operand), "type(…)")
    if isinstance(operand, Bundle):
        return Static(operand.type, "type(…)")
    kind = context.builder.strong(coerce.materialise(context, operand)).type  # the cast makes a weak type final
    if is_tile(kind):
        raise context.type_error("type() takes a number or a vector.", "Of a tile, write t.dtype.")
    return Static(kind, "type(…)")


def _range(context: Context, node: ast.Call) -> Operand:
    """Raise KernelSyntaxError: `range(…)` is used as a value, not as what a `for` runs over."""
    raise context.syntax_error("range() stands only in `for i in range(…)`.", "Count down with range(n - 1, -1, -1).")


def _query(context: Context, node: ast.Call) -> Operand:
    """Raise KernelSyntaxError: `hash_grid_query(…)` is used as a value, not as what a `for` runs over."""
    raise context.syntax_error("hash_grid_query() stands only in `for j in hash_grid_query(grid, x, r)`.")


FORMS: dict[str, FormHandler] = {
    "tid": _tid, "len": _len, "range": _range, "type": _type,
    "hash_grid_query": _query, "grad": derivatives.of_func, forms.slope.name: derivatives.of_func,
    "static": statics.static, **sequences.FORMS, **views.FORMS, **messages.FORMS,
    **vectors.FORMS,
    **library.FORMS, **memory.FORMS, **slicing.FORMS, **reduce.FORMS, **arguments.FORMS,
}  # fmt: skip


_SIZES: dict[type[Vector], str] = {Vector: "length", Matrix: "shape"}
PARTS: dict[type[Vector], tuple[str, ...]] = {Transform: ("p", "q"), Quaternion: ("x", "y", "z", "w")}
"""By the type that a call makes, `transform(p=…, q=…)`: the names that its arguments may be given by."""


def _by_name(kind: type[Vector], args: list[Operand], keywords: dict[str, Operand]) -> list[Operand]:
    """Return the arguments of `transform` or `quaternion` in order; named ones are removed from `keywords`.

    It stops at the first that is missing; the arguments of any other type are returned as they are.
    """
    for name in PARTS.get(kind, ())[len(args) :]:
        if name not in keywords:
            break
        args = [*args, keywords.pop(name)]
    return args


def _constructed_type(
    context: Context, kind: type[Vector], name: str, args: Sequence[Operand], keywords: Mapping[str, Operand]
) -> Vector:
    """Return the type of the value that `vector(…)`, `matrix(…)`, `quaternion(…)` or `transform(…)` makes.

    Args:
        context: of the call.
        kind: the class of the type: `Vector`, `Matrix`, `Quaternion` or `Transform`.
        name: how an error calls the function.
        args: the positional arguments, which decide what the keywords do not.
        keywords: `dtype`, and `length` or `shape`.

    Raises:
        KernelTypeError: its size or its scalar type is not said, or is none that the language has.
    """
    allowed = ("dtype", _SIZES[kind]) if kind in _SIZES else ("dtype",)
    for label in keywords:
        if label not in allowed:
            raise context.type_error(f"{name}() has no argument {label}; it has {' and '.join(allowed)}.")
    operands = [coerce.usable(context, a) for a in args]
    vector_types = [o.type for o in operands if isinstance(o, Value) and isinstance(o.type, Vector) and o.type.shape]
    dtype = _scalar(context, name, keywords["dtype"]) if "dtype" in keywords else _deduced(operands)
    if kind is Quaternion:
        return Quaternion(4, types.element(dtype))
    if kind is Transform:
        return Transform(7, types.element(dtype))
    size = _size(context, name, keywords.get(_SIZES[kind]))
    if not size and len(vector_types) == 1 and len(operands) == 1:
        size = vector_types[0].shape
    if not size and kind is Vector:
        size = (len(operands),)
    try:
        return types.matrix(size, dtype) if kind is Matrix else types.vector(size[0], dtype)
    except TypeError as error:
        raise context.type_error(f"{name}(): {error}.", f"Give {_SIZES[kind]}= and dtype=.") from None


def _size(context: Context, name: str, operand: Operand | None) -> tuple[int, ...]:
    """Return the sizes that `length=` or `shape=` of a constructor stands for; () without that argument.

    Raises:
        KernelTypeError: a size is not known at compile time.
    """
    parts = operand if isinstance(operand, tuple) else () if operand is None else (operand,)
    if len(parts) == 1 and isinstance(parts[0], Static) and is_tuple(parts[0].value):
        return cast("tuple[int, ...]", parts[0].value)
    sizes = [p.value for p in map(lambda o: coerce.usable(context, o), parts) if isinstance(p, Literal)]
    if len(sizes) != len(parts):
        raise context.type_error(f"The size of {name}() is not known at compile time.")
    return tuple(int(n) for n in sizes)


def _scalar(context: Context, name: str, operand: Operand) -> Any:
    """Return the number type that `dtype=` of a constructor stands for.

    Raises:
        KernelTypeError: it is no number type.
    """
    scalar = number_of(operand)
    if scalar is None:
        raise context.type_error(f"dtype of {name}() is not a scalar type.", "Write dtype=float, say.")
    return scalar


def _deduced(operands: Sequence[Operand]) -> Any:
    """Return the scalar type of the first argument that has one; a complex type if any argument is complex.

    Of literals alone it is int32, or float32 if one of them is a float or there is none.
    """
    typed = [types.number_type(o.type) for o in operands if isinstance(o, Value)]
    if any(map(is_complex, operands)):
        return types.Complex(2, part_type(typed))
    floats = not operands or any(isinstance(o, Literal) and o.is_float for o in operands)
    return typed[0] if typed else types.float32 if floats else types.int32
