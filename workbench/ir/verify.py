"""Legal IR, as a table of operations: checked in tests after every transformation, else once per build."""

from __future__ import annotations

from collections.abc import Callable

from workbench.ir.ops import ADJOINTS, AXIS, DECLARED, KIND, LEGAL, OPERATIONS, PARTS
from workbench.ir.tiles import RULES as TILE_RULES
from workbench.ir.tiles import is_tiled
from workbench.ir.values import ATOMIC_KINDS, GRADIENT, REPLAY, Block, Function, Op, Value, closed_blocks, dtype_of
from workbench.types import ArrayType, Scalar, Slots, Vector, element, float64, int32, int64, is_float, is_integer
from workbench.types import bool as bool_


class InvalidIR(AssertionError):
    """Raised for an operation that breaks the table: a fault of this project, never of the user."""


def _is_array(v: Value) -> bool:
    """Return whether the value is an array."""
    return isinstance(v.type, ArrayType)


def _indices(op: Op, count: int) -> bool:
    """Return whether the operands are an array, one integer index per axis, and `count` more values of any type."""
    array = op.operands[0].type
    return (
        isinstance(array, ArrayType)
        and len(op.operands) == 1 + array.ndim + count
        and all(is_integer(v.type) for v in op.operands[1 : 1 + array.ndim])
    )


def _element(op: Op) -> object:
    """Return the type of the elements of the array or slots that are the first operand."""
    return dtype_of(op.operands[0])


def _types(values: tuple[Value, ...]) -> list[object]:
    """Return the type of each value."""
    return [v.type for v in values]


def _for(op: Op) -> bool:
    """Return whether a `for` is legal: start, stop and step of the index's type, and carried types equal throughout."""
    (body,) = op.blocks
    carried = _types(op.results)
    index = op.operands[0].type
    return (
        is_integer(index)
        and _types(op.operands[:3]) == [index] * 3
        and _types(op.operands[3:]) == carried
        and _types(body.params) == [index, *carried]
        and _types(body.yielded) == carried
    )


def _while(op: Op) -> bool:
    """Return whether a `while` is legal: its condition yields a bool, and the carried types are equal throughout."""
    condition, body = op.blocks
    carried = _types(op.results)
    return (
        _types(op.operands) == carried
        and _types(condition.params) == carried
        and _types(body.params) == carried
        and _types(condition.yielded) == [bool_]
        and _types(body.yielded) == carried
    )


def _if(op: Op) -> bool:
    """Return whether an `if` is legal: a bool operand, no parameters, and both blocks yield the results' types."""
    then, orelse = op.blocks
    return (
        _types(op.operands) == [bool_]
        and not then.params
        and not orelse.params
        and _types(then.yielded) == _types(orelse.yielded) == _types(op.results)
    )


def _cast(op: Op) -> bool:
    """Return whether a `cast` is legal: between scalars, or between vectors that differ in the element type alone."""
    a, b = op.operands[0].type, op.result.type
    if isinstance(a, Vector) and isinstance(b, Vector):
        return a.with_dtype(b.dtype) == b
    return isinstance(a, Scalar) and isinstance(b, Scalar)


def _changed(op: Op, count: int) -> bool:
    """Return whether an access has indices that fit its array, and values of the type of the element or component.

    `count` is the number of values, its last operands.
    """
    array = op.operands[0].type
    if not isinstance(array, ArrayType):
        return False
    component = len(op.operands) == 2 + array.ndim + count and isinstance(array.dtype, Vector)
    type = element(array) if component else array.dtype
    whole_access = Op(op.name, (*op.operands[: 1 + array.ndim], *op.operands[1 + array.ndim + component :]))
    return (
        _indices(whole_access, count)
        and (not component or is_integer(op.operands[1 + array.ndim].type))
        and all(v.type == type for v in op.operands[len(op.operands) - count :])
    )


def _atomic(op: Op) -> bool:
    """Return whether an `atomic` is legal: a known kind with its number of values, all of the element's type."""
    count = ATOMIC_KINDS.get(op.attrs[KIND], 0)
    return (
        count > 0
        and _is_array(op.operands[0])
        and _indices(op, count)
        and all(v.type == _element(op) for v in (*op.operands[-count:], op.result))
    )


def _vec(op: Op) -> bool:
    """Return whether a `vec` is legal: one operand of the element type per component of the result."""
    t = op.result.type
    return isinstance(t, Vector) and _types(op.operands) == [t.dtype] * t.length


def _extract(op: Op) -> bool:
    """Return whether an `extract` is legal: a vector and an integer give a component."""
    t = op.operands[0].type
    return isinstance(t, Vector) and is_integer(op.operands[1].type) and op.result.type == t.dtype


def _insert(op: Op) -> bool:
    """Return whether an `insert` is legal: its third operand is a component, and the result has the vector's type."""
    t = op.operands[0].type
    return isinstance(t, Vector) and op.operands[2].type == t.dtype and op.result.type == t


def _custom(op: Op) -> bool:
    """Return whether a `custom` is legal: its block, gradient and replay take and yield the types of its signature.

    A gradient takes inputs, results and an adjoint of each float array, and yields those of the inputs in `adjoints`.
    """
    (body,) = op.blocks
    results, inputs = _types(op.results), _types(op.operands)
    gradient, replay = op.attrs.get(GRADIENT), op.attrs.get(REPLAY)
    arrays = [t for t in inputs if isinstance(t, ArrayType) and is_float(t)]
    adjoints = [inputs[k] for k in op.attrs[ADJOINTS]]
    return (
        not body.params
        and _types(body.yielded) == results
        and (gradient is None or _types(gradient.params) == [*inputs, *results, *arrays])
        and (gradient is None or _types(gradient.yielded) == adjoints)
        and (replay is None or (_types(replay.params) == inputs and _types(replay.yielded) == results))
    )


def _is_conversion(part: str | tuple[str, ...]) -> bool:
    """Return whether a part of a `print` shows an operand; other parts are text."""
    return isinstance(part, tuple) and len(part) == 1


def _slot(op: Op, count: int) -> bool:
    """Return whether the operands are slots, an integer index, and `count` more values of any type."""
    return len(op.operands) == 2 + count and isinstance(op.operands[0].type, Slots) and is_integer(op.operands[1].type)


RULES: dict[str, Callable[[Op], object]] = {
    "const": lambda op: not op.operands and isinstance(op.result.type, (Scalar, Vector)),
    "tid": lambda op: op.result.type == int32 and op.attrs[AXIS] in range(4),
    "shape": lambda op: isinstance(t := op.operands[0].type, ArrayType) and op.attrs[AXIS] in range(t.ndim),
    "load": lambda op: _indices(op, 0) and op.result.type == _element(op),
    "store": lambda op: _changed(op, 1) and not op.results,
    "atomic_add": lambda op: _changed(op, 1) and op.operands[-1].type == op.result.type,
    "atomic_load": lambda op: _changed(op, 0) and op.result.type in (_element(op), element(op.operands[0].type)),
    "atomic_swap": lambda op: _changed(op, 2) and op.result.type == bool_,
    "owned": lambda op: _types(op.results) == [bool_] and _is_array(op.operands[0]),
    "atomic": _atomic,
    "reduce_add": lambda op: len(op.operands) == 2 and op.operands[1].type == _element(op) and not op.results,
    "cast": _cast,
    "vec": _vec,
    "extract": _extract,
    "insert": _insert,
    "assert": lambda op: _types(op.operands) == [bool_] and not op.results,
    "fault": lambda op: len(op.operands) <= 4 and set(_types(op.operands)) <= {int64, float64},
    "print": lambda op: not op.results and len(op.operands) == sum(_is_conversion(p) for p in op.attrs[PARTS]),
    "mark": lambda op: _types(op.operands) == _types(op.results),
    "launch_dim": lambda op: op.result.type == int64 and op.attrs[AXIS] in range(4),
    "slots": lambda op: not op.operands and isinstance(op.result.type, Slots),
    "slot_read": lambda op: _slot(op, 0) and op.result.type == _element(op),
    "slot_write": lambda op: _slot(op, 1) and op.operands[2].type == _element(op) and not op.results,
    "unavailable": lambda op: len(op.results) == 1,
    "yield": lambda op: not op.results,
    "if": _if,
    "for": _for,
    "while": _while,
    "custom": _custom,
    **TILE_RULES,
}
assert RULES.keys() == LEGAL


def verify(function: Function) -> Function:
    """Check that every operation is legal and every operand is defined before it is used; return the function itself.

    Raises:
        InvalidIR: names the operation and what is wrong with it.
    """
    names = [p.name for p in function.params]
    if len(set(names)) != len(names):
        raise InvalidIR(f"{function.name}: two parameters share a name: {names}")
    _block(function.body, set(function.params), function.name, nested=False)
    if is_tiled(function.body) and not function.block_dim:
        raise InvalidIR(f"{function.name}: operations on tiles in a function that runs once per thread")
    return function


def _block(block: Block, defined: set[Value], where: str, nested: bool) -> None:
    """Check a block.

    Args:
        block: the block.
        defined: values that it may use; it has the block's own while that is checked, as a copy for each would cost
            more.
        where: the function's name, for errors.
        nested: it has to end in `yield`.

    Raises:
        InvalidIR: an operation is not legal.
    """
    own = {*block.params, *[v for op in block.ops for v in op.results]} - defined
    defined.update(block.params)
    if nested and (not block.ops or block.ops[-1].name != "yield"):
        raise InvalidIR(f"{where}: a nested block does not end in yield")
    for position, op in enumerate(block.ops):
        for value in op.operands:
            if value not in defined:
                raise InvalidIR(f"{where}: {op.name} at {op.location} uses %{value.name} before it is defined")
        if op.name == "yield" and (not nested or position != len(block.ops) - 1):
            raise InvalidIR(f"{where}: a yield in the middle of a block")
        if op.attrs or _REQUIRED.get(op.name):
            _attributes(op, where)
        for inner in op.blocks:
            _block(inner, defined, where, nested=True)
        for inner in closed_blocks(op) if op.name == "custom" else ():
            _block(inner, set(), where, nested=True)
        if op.name in RULES and not RULES[op.name](op):
            kinds = ", ".join(repr(v.type) for v in op.operands)
            results = ", ".join(repr(v.type) for v in op.results)
            raise InvalidIR(f"{where}: {op.name} at {op.location} is malformed: ({kinds}) -> ({results})")
        if op.name not in RULES and len(op.results) != 1:
            raise InvalidIR(f"{where}: builtin {op.name} has {len(op.results)} results")
        defined.update(op.results)
    defined -= own


_LISTED = {row.name: {a.rstrip("?"): "?" in a for a in row.attrs.split()} for row in OPERATIONS.values()}
"""Each operation's attributes by name, and whether they may be missing."""
_REQUIRED = {name: [a for a, optional in listed.items() if not optional] for name, listed in _LISTED.items()}


def _attributes(op: Op, where: str) -> None:
    """Check that an operation's attributes are in the table and of the declared types, and that none is missing.

    Raises:
        InvalidIR: one is not.
    """
    listed = _LISTED.get(op.name, {})
    for name, value in op.attrs.items():
        if name not in listed:
            raise InvalidIR(f"{where}: {op.name} at {op.location} has {name}={value!r}, which is not in the table")
        if value is not None and not DECLARED[name].takes(value):
            raise InvalidIR(f"{where}: {op.name} at {op.location} has {name}={value!r}, of another type than declared")
    for name in _REQUIRED.get(op.name, ()):
        if op.attrs.get(DECLARED[name]) is None:
            raise InvalidIR(f"{where}: {op.name} at {op.location} lacks {name}")
