"""Calls that draw random numbers: each advances the local name that is its first argument.

`randf(state)` rebinds `state` (and `tile_matmul(a, b, acc)` the tile `acc`). Before a function is lowered, `mark`
finds these calls and marks the name as one that is assigned there, so that branches and loops carry it; and it notes
where a draw may or may not happen within one expression, which is refused.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

from workbench.builtins.declaration.declare import Form
from workbench.builtins.declaration.refs import Ref, pack
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.maths import cbrt, cos, log, sin, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.scalars.randoms import rand_next, rand_word
from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.frontend.names.names import usable_in_kernel
from workbench.frontend.state.coerce import assign_type, describe, materialise, usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.definition import MISSING, Definition
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.types import Kind, Scalar, element, float32, int32, int64, is_integer, uint32, uint64

Expression = Callable[[Context, ast.expr], Operand]
Lowering = Callable[[Context, ast.Call, Expression], Operand]

# Parts of an expression that may be computed or not, or more than once: from which child on, and how to say it.
_CONDITIONAL: dict[tuple[type[ast.AST], str], tuple[int, str]] = {
    (ast.IfExp, "body"): (0, "in one side of a conditional expression"),
    (ast.IfExp, "orelse"): (0, "in one side of a conditional expression"),
    (ast.BoolOp, "values"): (1, "on the right of and/or"),
    (ast.Compare, "comparators"): (1, "in the middle of a chained comparison"),
    (ast.While, "test"): (0, "in the condition of a while"),
    (ast.AugAssign, "target"): (0, "on the left of an augmented assignment"),
    (ast.Assert, "test"): (0, "in an assert"),
    (ast.Assert, "msg"): (0, "in an assert"),
}


# Calls on tiles that rebind an argument: its position and its name.
CHANGED = {"tile_matmul": (2, "out"), "tile_assign": (0, "dst")}


def mark(definition: Definition, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements, with the state of each draw marked as assigned; themselves where nothing is drawn."""
    whole = body is definition.node.body
    nodes = definition.nodes if whole else (node for statement in body for node in ast.walk(statement))
    if not any(_rebound(definition, node) for node in nodes):
        return list(body)
    marked = copy.deepcopy(list(body))
    for statement in marked:
        _mark(definition, statement, "")
    return marked


def _mark(definition: Definition, node: ast.AST, place: str) -> None:
    name = _rebound(definition, node)
    if name is not None:
        name.ctx = ast.Store()
        node.uncertain = place  # type: ignore[attr-defined]
    for name, child in ast.iter_fields(node):
        first, here = _CONDITIONAL.get((type(node), name), (0, ""))
        for position, inner in enumerate(child if isinstance(child, list) else [child]):
            if isinstance(inner, ast.AST):
                _mark(definition, inner, (here if position >= first else "") or place)


def _rebound(definition: Definition, node: ast.AST) -> ast.Name | None:
    """The name that a call rebinds: the state of a draw, the tile that is added or written to."""
    if not isinstance(node, ast.Call) or not (node.args or node.keywords):
        return None
    path, callee = [], node.func
    while isinstance(callee, ast.Attribute):
        path.append(callee.attr)
        callee = callee.value
    if not isinstance(callee, ast.Name):
        return None
    value: Any = definition.scope.lookup(callee.id, usable_in_kernel)
    for attr in reversed(path):
        value = getattr(value, attr, MISSING)
    if not isinstance(value, Form):
        return None
    place, keyword = (0, "") if value.name in DRAW_NAMES else CHANGED.get(value.name, (len(node.args), ""))
    given = next((k.value for k in node.keywords if k.arg == keyword), None)
    found = node.args[place] if place < len(node.args) else given
    return found if isinstance(found, ast.Name) else None


_WANTED = {1: "a state", 3: "a state, or a state, low and high"}


class Stream:
    """The state that one call advances, and what is drawn from it."""

    def __init__(self, context: Context, name: str) -> None:
        self.context = context
        self.name = name

    def word(self) -> Ref:
        """Advance the state; its 32 random bits."""
        state = self.context.env[self.name]
        assert isinstance(state, Value)
        op = self.context.builder.emit(rand_next.name, (state,), (uint32,), names=(self.name,))
        self.context.env[self.name] = op.result
        return rand_word(Ref(self.context.builder, op.result))

    def unit(self) -> Ref:
        """A float32 with 0 ≤ r < 1: the word's upper 24 bits, exactly."""
        return raw_shr(self.word(), 8).cast(float32) * 2.0**-24

    def angle(self) -> Ref:
        """An angle in radians, of the whole circle."""
        return self.unit() * (2 * math.pi)

    def around(self) -> list[Ref]:
        """Cosine and sine of an angle."""
        angle = self.angle()
        return [cos(angle), sin(angle)]


def stream(context: Context, node: ast.Call, least: int, most: int, wanted: str = "") -> Stream:
    """The state named by the first argument; `wanted` says what the call takes where that is not usual."""
    name = ast.unparse(node.func)
    if node.keywords or not least <= len(node.args) <= most:
        raise context.error(KernelTypeError, f"{name}() takes {wanted or _WANTED[most]}, without names.")
    place = getattr(node, "uncertain", "")
    if place:
        raise context.error(
            KernelSyntaxError, f"{name}() advances its state, so it cannot stand {place}.",
            "Draw the number on a line of its own, and use it here.",
        )  # fmt: skip
    argument = node.args[0]
    if not isinstance(argument, ast.Name) or not isinstance(argument.ctx, ast.Store):
        raise context.error(
            KernelTypeError, f"{name}() advances its state, so it takes a local name.",
            "Write state = rand_init(seed, i) first.",
        )  # fmt: skip
    if argument.id not in context.env:
        raise context.error(
            KernelTypeError, f"{name}() advances its state, and {argument.id} is not a local name here.",
            f"Write {argument.id} = rand_init(seed, i) first.",
        )  # fmt: skip
    state = usable(context, context.env[argument.id])
    if not isinstance(state, Value) or state.type != uint32:
        raise context.error(
            KernelTypeError, f"{name}() takes a state, a uint32; {argument.id} is {describe(state)}.",
            "Write state = rand_init(seed, i) first, and draw from that.",
        )  # fmt: skip
    return Stream(context, argument.id)


def _init(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """`rand_init(seed)` and `rand_init(seed, offset)`."""
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "offset")]
    if len(given) not in (1, 2) or len(given) != len(node.args) + len(node.keywords):
        raise context.error(KernelTypeError, "rand_init() takes a seed, or a seed and an offset.")
    seed, *offset = (_seed(context, usable(context, expression(context, a))) for a in given)
    for number in offset:
        seed = seed + _hashed(number)
    return _hashed(seed).value


def _hashed(word: Ref) -> Ref:
    return rand_word(rand_next(word))


def _seed(context: Context, operand: Value | Literal) -> Ref:
    """An integer's low 32 bits."""
    if isinstance(operand, Literal) and not operand.is_float:
        plain = operand.captured is None
        number = Literal(operand.value % 2**32) if plain else operand
        return Ref(context.builder, materialise(context, number, uint32 if plain else int64)).cast(uint32)
    if not isinstance(operand, Value) or not is_integer(operand.type):
        message = f"rand_init() takes integers; this is {describe(operand)}."
        raise context.error(KernelTypeError, message, "Write int(…).")
    return Ref(context.builder, operand).cast(uint32)


def _integers(type: Scalar) -> Lowering:
    def lower(context: Context, node: ast.Call, expression: Expression) -> Operand:
        bounds = [usable(context, expression(context, a)) for a in node.args[1:]]
        drawn = stream(context, node, 1, 3)
        if not bounds:
            return drawn.word().cast(type).value
        low, high = (Ref(context.builder, v) for v in _bounds(context, node, bounds, type))
        span = where(high > low, high.cast(uint32) - low.cast(uint32), low.cast(uint32).like(0))
        # The upper half of a product with the whole range: no division; the bias is at most span / 2³².
        chosen = raw_shr(drawn.word().cast(uint64) * span.cast(uint64), 32)
        return (low + chosen.cast(uint32).cast(type)).value

    return lower


def _bounds(context: Context, node: ast.Call, bounds: Sequence[Value | Literal], type: Scalar) -> list[Value]:
    name = ast.unparse(node.func)
    if len(bounds) != 2:
        raise context.error(KernelTypeError, f"{name}() takes a state, or a state, low and high, without names.")
    return [assign_type(context, b, type, f"A bound of {name}()") for b in bounds]


def _floats(context: Context, node: ast.Call, expression: Expression) -> Operand:
    bounds = [usable(context, expression(context, a)) for a in node.args[1:]]
    drawn = stream(context, node, 1, 3)
    if not bounds:
        return drawn.unit().value
    if len(bounds) != 2:
        raise context.error(KernelTypeError, "randf() takes a state, or a state, low and high, without names.")
    low, high = (float_bound(context, b, "A bound of randf()") for b in bounds)
    return (low + (high - low) * drawn.unit()).value


def float_bound(context: Context, operand: Value | Literal, what: str) -> Ref:
    """A float as it is; a literal or an integer that fits as float32."""
    if isinstance(operand, Value) and isinstance(operand.type, Scalar) and element(operand.type).kind is Kind.FLOAT:
        return Ref(context.builder, operand)
    return Ref(context.builder, assign_type(context, operand, float32, what))


def _normal(stream: Stream) -> Ref:
    radius = sqrt(log(1.0 - stream.unit()) * -2.0)
    return radius * cos(stream.angle())


def _triangle(stream: Stream) -> Ref:
    root = sqrt(stream.unit())
    return pack([1.0 - root, stream.unit() * root])


def _disk(stream: Stream) -> Ref:
    root = sqrt(stream.unit())
    return pack([c * root for c in stream.around()])


def _sphere_surface(stream: Stream) -> Ref:
    height = stream.unit()
    radius = sqrt(height * (1.0 - height)) * 2.0
    return pack([*(c * radius for c in stream.around()), 1.0 - height * 2.0])


def _hemisphere_surface(stream: Stream) -> Ref:
    height = stream.unit()
    radius = sqrt((1.0 - height) * (1.0 + height))
    return pack([*(c * radius for c in stream.around()), height])


def _filled(surface: Callable[[Stream], Ref]) -> Callable[[Stream], Ref]:
    return lambda stream: surface(stream) * cbrt(stream.unit())


def _box(length: int) -> Callable[[Stream], Ref]:
    return lambda stream: pack([stream.unit() - 0.5 for _ in range(length)])


def _sampler(sample: Callable[[Stream], Ref]) -> Lowering:
    return lambda context, node, expression: sample(stream(context, node, 1, 1)).value


DRAWS: dict[str, Lowering] = {
    "randi": _integers(int32),
    "randu": _integers(uint32),
    "randf": _floats,
    "randn": _sampler(_normal),
    "sample_triangle": _sampler(_triangle),
    "sample_unit_ring": _sampler(lambda stream: pack(stream.around())),
    "sample_unit_disk": _sampler(_disk),
    "sample_unit_sphere_surface": _sampler(_sphere_surface),
    "sample_unit_sphere": _sampler(_filled(_sphere_surface)),
    "sample_unit_hemisphere_surface": _sampler(_hemisphere_surface),
    "sample_unit_hemisphere": _sampler(_filled(_hemisphere_surface)),
    "sample_unit_square": _sampler(_box(2)),
    "sample_unit_cube": _sampler(_box(3)),
}
DRAW_NAMES = frozenset({*DRAWS, "poisson", "sample_cdf"})
FORMS: dict[str, Lowering] = {"rand_init": _init, **DRAWS}
