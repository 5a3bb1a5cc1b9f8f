"""Each rule of the verifier refuses a malformed operation; definitions come before uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from workbench.ir import Block, Function, Op, Value
from workbench.ir.tiles import RULES as TILE_RULES
from workbench.ir.verify import RULES, InvalidIR, verify
from workbench.types import VECTORS, ArrayType, Slots, float32, float64, int32
from workbench.types import bool as bool_

VEC3 = VECTORS["vec3"]
FEW = Slots(float32, 3)


def value(type: object) -> Value:
    return Value(type)  # type: ignore[arg-type]


class Given:
    """Parameters of every type that the malformed operations need."""

    def __init__(self) -> None:
        self.array = Value(ArrayType(float32), "a")
        self.image = Value(ArrayType(float32, 2), "image")
        self.i, self.x, self.d = Value(int32, "i"), Value(float32, "x"), Value(float64, "d")
        self.v, self.c = Value(VEC3, "v"), Value(bool_, "c")
        self.slots = Value(FEW, "slots")
        self.params = (self.array, self.image, self.i, self.x, self.d, self.v, self.c, self.slots)


def ends(*values: Value, params: tuple[Value, ...] = ()) -> Block:
    return Block(params, (Op("yield", values),))


def custom(gradient: Block | None, adjoints: tuple[int, ...], replay: Block | None = None) -> dict[str, object]:
    return {"name": "f", "gradient": gradient, "adjoints": adjoints, "replay": replay}


MALFORMED: dict[str, list[Callable[[Given], Op]]] = {
    "slots": [lambda g: Op("slots", (), (value(float32),)), lambda g: Op("slots", (g.i,), (value(FEW),))],
    "slot_read": [
        lambda g: Op("slot_read", (g.array, g.i), (value(float32),)),
        lambda g: Op("slot_read", (g.slots, g.x), (value(float32),)),
        lambda g: Op("slot_read", (g.slots, g.i), (value(float64),)),
    ],
    "slot_write": [lambda g: Op("slot_write", (g.slots, g.i, g.d)), lambda g: Op("slot_write", (g.slots, g.i))],
    "const": [
        lambda g: Op("const", (g.x,), (value(float32),), {"value": 1}),
        lambda g: Op("const", (), (value(ArrayType(float32)),), {"value": 1}),
    ],
    "tid": [
        lambda g: Op("tid", (), (value(float32),), {"axis": 0}),
        lambda g: Op("tid", (), (value(int32),), {"axis": 4}),
    ],
    "shape": [
        lambda g: Op("shape", (g.array,), (value(int32),), {"axis": 1}),
        lambda g: Op("shape", (g.x,), (value(int32),), {"axis": 0}),
    ],
    "load": [
        lambda g: Op("load", (g.array, g.i), (value(float64),)),
        lambda g: Op("load", (g.image, g.i), (value(float32),)),
        lambda g: Op("load", (g.array, g.x), (value(float32),)),
        lambda g: Op("load", (g.x, g.i), (value(float32),)),
    ],
    "store": [
        lambda g: Op("store", (g.array, g.i, g.d)),
        lambda g: Op("store", (g.array, g.x)),
        lambda g: Op("store", (g.array, g.i, g.x), (value(float32),)),
    ],
    "atomic_add": [
        lambda g: Op("atomic_add", (g.array, g.i, g.d), (value(float32),)),
        lambda g: Op("atomic_add", (g.array, g.i, g.x), (value(float64),)),
    ],
    "atomic": [
        lambda g: Op("atomic", (g.array, g.i, g.x), (value(float32),), {"kind": "cas"}),
        lambda g: Op("atomic", (g.array, g.i, g.d), (value(float32),), {"kind": "min"}),
        lambda g: Op("atomic", (g.array, g.i, g.x), (value(float64),), {"kind": "exch"}),
    ],
    "atomic_load": [
        lambda g: Op("atomic_load", (g.array,), (value(float32),)),
        lambda g: Op("atomic_load", (g.array, g.i), (value(float64),)),
    ],
    "atomic_swap": [
        lambda g: Op("atomic_swap", (g.array, g.i, g.x), (value(bool_),)),
        lambda g: Op("atomic_swap", (g.array, g.i, g.d, g.x), (value(bool_),)),
        lambda g: Op("atomic_swap", (g.array, g.i, g.i, g.x, g.x), (value(bool_),)),
        lambda g: Op("atomic_swap", (g.array, g.i, g.x, g.x), (value(float32),)),
    ],
    "owned": [
        lambda g: Op("owned", (g.x,), (value(bool_),)),
        lambda g: Op("owned", (g.array,), (value(int32),)),
    ],
    "reduce_add": [
        lambda g: Op("reduce_add", (g.array, g.d)),
        lambda g: Op("reduce_add", (g.array, g.i, g.x)),
    ],
    "cast": [
        lambda g: Op("cast", (g.v,), (value(float32),)),
        lambda g: Op("cast", (g.v,), (value(VECTORS["vec2i"]),)),
    ],
    "vec": [
        lambda g: Op("vec", (g.x, g.x), (value(VEC3),)),
        lambda g: Op("vec", (g.x, g.x, g.d), (value(VEC3),)),
        lambda g: Op("vec", (g.x,), (value(float32),)),
    ],
    "extract": [
        lambda g: Op("extract", (g.v, g.x), (value(float32),)),
        lambda g: Op("extract", (g.v, g.i), (value(float64),)),
        lambda g: Op("extract", (g.x, g.i), (value(float32),)),
    ],
    "insert": [
        lambda g: Op("insert", (g.v, g.i, g.d), (value(VEC3),)),
        lambda g: Op("insert", (g.v, g.i, g.x), (value(float32),)),
    ],
    "assert": [
        lambda g: Op("assert", (g.i,), (), {"message": ""}),
    ],
    "fault": [
        lambda g: Op("fault", (g.i,), (), {"number": 1}),
        lambda g: Op("fault", (g.d,) * 5, (), {"number": 1}),
    ],
    "print": [
        lambda g: Op("print", (g.i,), (), {"parts": ("no place",)}),
        lambda g: Op("print", (), (value(float32),), {"parts": ()}),
    ],
    "mark": [
        lambda g: Op("mark", (g.i,), (), {"frames": (), "end": False}),
    ],
    "launch_dim": [
        lambda g: Op("launch_dim", (), (value(int32),), {"axis": 0}),
        lambda g: Op("launch_dim", (), (value(VECTORS["vec2"]),), {"axis": 0}),
    ],
    "unavailable": [lambda g: Op("unavailable", (), (), {"reason": "it is lost"})],
    "yield": [lambda g: Op("if", (g.c,), (), {}, (Block((), (Op("yield", (), (value(int32),)),)), ends()))],
    "if": [
        lambda g: Op("if", (g.i,), (), {}, (ends(), ends())),
        lambda g: Op("if", (g.c,), (value(float32),), {}, (ends(g.x), ends(g.d))),
        lambda g: Op("if", (g.c,), (value(float32),), {}, (ends(g.x), ends())),
        lambda g: Op("if", (g.c,), (), {}, (ends(params=(value(int32),)), ends())),
    ],
    "for": [
        lambda g: Op("for", (g.i, g.i, g.x), (), {}, (ends(params=(value(int32),)),)),
        lambda g: Op("for", (g.x, g.x, g.x), (), {}, (ends(params=(value(float32),)),)),
        lambda g: Op("for", (g.i, g.i, g.i), (), {}, (ends(),)),
        lambda g: Op("for", (g.i, g.i, g.i, g.x), (value(float32),), {},
                     (ends(params=(value(int32), value(float32))),)),
        lambda g: Op("for", (g.i, g.i, g.i, g.d), (value(float32),), {},
                     (ends(g.x, params=(value(int32), value(float32))),)),
    ],
    "while": [
        lambda g: Op("while", (), (), {}, (ends(g.i), ends())),
        lambda g: Op("while", (g.x,), (value(float32),), {}, (ends(g.c, params=(value(float32),)), ends(g.x))),
        lambda g: Op("while", (g.x,), (value(float32),), {},
                     (ends(g.c, params=(value(float32),)), ends(g.d, params=(value(float32),)))),
    ],
    "custom": [
        lambda g: Op("custom", (g.x,), (value(float32),), custom(None, ()), (ends(g.d),)),
        lambda g: Op("custom", (g.x,), (value(float32),), custom(ends(params=(value(float32),)), ()), (ends(g.x),)),
        lambda g: Op("custom", (g.x,), (value(float32),), custom(None, (), ends()), (ends(g.x),)),
    ],
}  # fmt: skip
CASES = [(name, n) for name, makers in MALFORMED.items() for n in range(len(makers))]


def test_every_rule_has_an_example() -> None:
    assert MALFORMED.keys() == RULES.keys() - TILE_RULES.keys()


@pytest.mark.parametrize(("name", "number"), CASES)
def test_malformed_operations_are_refused(name: str, number: int) -> None:
    given = Given()
    op = MALFORMED[name][number](given)
    with pytest.raises(InvalidIR, match=rf"f: {name} at .* is malformed"):
        verify(Function("f", given.params, Block((), (op,))))


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        ({}, "lacks value"),
        ({"value": None}, "lacks value"),
        ({"value": 1.0, "captured": 7}, "has captured=7, of another type"),
        ({"value": 1.0, "axis": 0}, "has axis=0, which is not in the table"),
    ],
)
def test_attributes_are_those_of_the_table_with_their_types(attrs: dict[str, Any], sentence: str) -> None:
    op = Op("const", (), (value(float32),), attrs)
    with pytest.raises(InvalidIR, match=rf"f: const at .* {sentence}"):
        verify(Function("f", (), Block((), (op,))))
    verify(Function("f", (), Block((), (op.replace(attrs={"value": 1.0, "captured": None}),))))


def test_a_builtin_has_no_attributes() -> None:
    given = Given()
    with pytest.raises(InvalidIR, match=r"neg at .* has plain=True, which is not in the table"):
        verify(Function("f", given.params, Block((), (Op("neg", (given.x,), (value(float32),), {"plain": True}),))))


def test_a_use_before_the_definition_is_refused() -> None:
    given = Given()
    late = value(float32)
    ops = (Op("neg", (late,), (value(float32),)), Op("const", (), (late,), {"value": 1.0}))
    with pytest.raises(InvalidIR, match="before it is defined"):
        verify(Function("f", given.params, Block((), ops)))


def test_a_value_of_an_inner_block_is_not_seen_outside() -> None:
    given = Given()
    inner = value(float32)
    body = Block((), (Op("neg", (given.x,), (inner,)), Op("yield")))
    ops = (Op("if", (given.c,), (), {}, (body, ends())), Op("store", (given.array, given.i, inner)))
    with pytest.raises(InvalidIR, match="before it is defined"):
        verify(Function("f", given.params, Block((), ops)))


def test_blocks_end_in_their_only_yield() -> None:
    given = Given()
    with pytest.raises(InvalidIR, match="does not end in yield"):
        verify(Function("f", given.params, Block((), (Op("if", (given.c,), (), {}, (Block(), ends())),))))
    with pytest.raises(InvalidIR, match="yield in the middle"):
        verify(Function("f", given.params, Block((), (Op("yield"),))))
    twice = Block((), (Op("yield"), Op("yield")))
    with pytest.raises(InvalidIR, match="yield in the middle"):
        verify(Function("f", given.params, Block((), (Op("if", (given.c,), (), {}, (twice, ends())),))))


def test_parameters_have_different_names_and_builtins_one_result() -> None:
    with pytest.raises(InvalidIR, match="share a name"):
        verify(Function("f", (Value(int32, "n"), Value(int32, "n")), Block()))
    given = Given()
    with pytest.raises(InvalidIR, match="builtin sin has 0 results"):
        verify(Function("f", given.params, Block((), (Op("sin", (given.x,)),))))
