"""The builder: places, names, nested blocks; copying and the source locations that operations carry."""

from __future__ import annotations

import pytest

from workbench.ir import Builder, Function, Value
from workbench.ir.build import copy_block, map_blocks, replace_body
from workbench.ir.data import canonical
from workbench.ir.values import Block, Op, walk
from workbench.ir.verify import verify
from workbench.source import Location, Source
from workbench.types import ArrayType, float32, float64, int32
from workbench.types import bool as bool_


def choosing() -> Function:
    a, c = Value(ArrayType(float32), "a"), Value(bool_, "c")
    b = Builder()
    i = b.const(0)
    with b.block() as then:
        b.yield_(b.load(a, i))
    with b.block() as orelse:
        b.yield_(b.const(1.0, float32))
    (chosen,) = b.if_(c, then.block, orelse.block)
    b.store(a, i, chosen)
    return verify(Function("choosing", (a, c), b.body()))


def test_every_operation_has_the_builders_place() -> None:
    source = Source("x = 1\ny = 2\n", "cell [3]")
    b = Builder()
    b.location = Location(source, 2, 4, 2, 5)
    op = b.emit("const", (), (int32,), {"value": 1})
    assert op.location == b.location and str(op.location) == "cell [3], line 2"
    assert op.location.excerpt() == "y = 2\n    ^"


def test_cast_is_nothing_for_the_same_type() -> None:
    b = Builder()
    x = b.const(1.0, float32)
    assert b.cast(x, float32) is x
    assert b.cast(x, float64).type == float64


def test_an_open_block_is_noticed() -> None:
    b = Builder()
    with pytest.raises(AssertionError, match="still open"), b.block():
        b.body()


def test_results_of_an_if_take_the_names_of_what_the_first_block_yields() -> None:
    b, c = Builder(), Value(bool_, "c")
    with b.block() as then:
        b.yield_(Value(float32, "s"))
    with b.block() as orelse:
        b.yield_(Value(float32, "t"))
    (result,) = b.if_(c, then.block, orelse.block)
    assert result.name == "s"


def test_a_copy_means_the_same_and_shares_no_value() -> None:
    f = choosing()
    copied = verify(replace_body(f, copy_block(f.body, {})))
    assert canonical(copied) == canonical(f)
    values = [{v for op in walk(g.body) for v in op.results} for g in (f, copied)]
    assert not values[0] & values[1]


def test_every_operation_is_listed_once_outer_before_inner_and_looked_for_once() -> None:
    b, c = Builder(), Value(bool_, "c")
    for _ in range(3):
        with b.block() as then:
            with b.block() as inner:
                b.yield_(b.const(1))
            b.yield_(*b.if_(c, inner.block, inner.block))
        b.if_(c, then.block, then.block)
    body = b.body()

    def listed(block: Block) -> list[Op]:
        return [o for op in block.ops for o in (op, *(i for nested in op.blocks for i in listed(nested)))]

    assert [*walk(body)] == listed(body) and walk(body) is walk(body)
    assert body.op_names == {"const", "if", "yield"}
    assert all(op in listed(body) and value in op.results for value, op in body.definitions.items())


def test_map_blocks_leaves_flat_operations_alone() -> None:
    f = choosing()
    flat, nested = f.body.ops[0], next(op for op in f.body.ops if op.blocks)
    assert map_blocks(flat, lambda block: block) is flat
    assert map_blocks(nested, lambda block: block).blocks == nested.blocks
