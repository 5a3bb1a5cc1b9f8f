"""Copies with parts replaced: what is requested changes, and nothing else does."""

from __future__ import annotations

from workbench.ir import Block, Builder, Function, Op, Value
from workbench.ir.build import Rewriter, copy_block, rewrite
from workbench.ir.values import walk
from workbench.ir.verify import verify
from workbench.source import Location, Source
from workbench.types import ArrayType, float32, int32
from workbench.types import bool as bool_

PLACE = Location(Source("a\nb\n", "cell [1]", "<cell>", 1), 2)


def function() -> Function:
    """`if flag[0]: y[0] = x[0] + x[0]`, the sum made before the branch."""
    b = Builder()
    x, y, flag = Value(ArrayType(float32), "x"), Value(ArrayType(float32), "y"), Value(ArrayType(bool_), "flag")
    at = b.const(0)
    loaded = b.load(x, at)
    total = b.one("add", (loaded, loaded), float32)
    with b.block() as then:
        b.store(y, at, total)
        b.yield_()
    with b.block() as orelse:
        b.yield_()
    b.if_(b.load(flag, at), then.block, orelse.block)
    return verify(Function("f", (x, y, flag), b.body()))


def named(f: Function, name: str) -> list[Op]:
    return [op for op in walk(f.body) if op.name == name]


def test_replace_changes_what_is_given() -> None:
    value = Value(int32, "i")
    op = Op("cast", (value,), (Value(float32),), {"a": 1}, (Block(),), PLACE)
    other = op.replace((), attrs={})
    assert (other.name, other.operands, other.attrs, other.location) == ("cast", (), {}, PLACE)
    assert other.results == op.results and other.blocks == op.blocks and op.operands == (value,)
    assert op.replace(results=(value,), blocks=()).results == (value,) and op.replace(blocks=()).blocks == ()


def test_nothing_to_change_is_the_same_program() -> None:
    f = function()
    assert list(walk(rewrite(f, lambda on, op: None).body))[:3] == list(walk(f.body))[:3]
    assert [op.name for op in walk(rewrite(f, lambda on, op: None).body)] == [op.name for op in walk(f.body)]


def test_a_value_that_is_gone_is_replaced_in_what_follows_also_inside() -> None:
    def doubled(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name != "add":
            return None
        on.mapping[op.result] = op.operands[0]
        return ()

    f = verify(rewrite(function(), doubled))
    (store,) = named(f, "store")
    assert not named(f, "add") and store.operands[-1] is named(f, "load")[0].result


def test_one_operation_becomes_several() -> None:
    def twice(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        return (op, op) if op.name == "store" else None

    assert len(named(verify(rewrite(function(), twice)), "store")) == 2


def test_change_goes_inside_where_it_asks_to() -> None:
    def once(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name == "store":
            return ()
        return (op, on.inside(op)) if op.name == "if" else None

    assert [len(list(walk(op.blocks[0]))) for op in named(rewrite(function(), once), "if")] == [2, 1]


def test_a_copy_gets_its_values_from_who_asks() -> None:
    f = function()
    renamed = copy_block(f.body, {}, lambda v: Value(v.type, "n"))
    assert {v.name for op in walk(renamed) for v in op.results} == {"n"}
    assert verify(Function("f", f.params, renamed))
