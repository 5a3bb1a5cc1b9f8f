"""Dead code goes, everything an effect depends on stays, loops lose the values that nothing uses."""

from __future__ import annotations

import pytest

from tests.support.kernels.pass_programs import inputs, names, random_function, results, same
from workbench.ir import Builder, Function, Value
from workbench.ir.ops import EFFECTS
from workbench.ir.values import walk
from workbench.ir.verify import verify
from workbench.passes.dce import prune
from workbench.types import ArrayType, float32, float64, int32
from workbench.types import bool as bool_

A, N, C = Value(ArrayType(float32), "a"), Value(int32, "n"), Value(bool_, "c")


def done(builder: Builder) -> Function:
    return verify(prune(verify(Function("f", (A, N, C), builder.body()))))


def test_unused_operations_go_and_effects_stay() -> None:
    b = Builder()
    i = b.const(0)
    x = b.load(A, i)
    b.one("sin", (x,), float32)
    b.emit("atomic_add", (A, i, b.const(1.0, float32)), (float32,))
    b.emit("reduce_add", (A, b.const(2.0, float32)))
    b.store(A, i, b.const(3.0, float32))
    kept = names(done(b))
    assert "sin" not in kept and "load" not in kept
    assert [n for n in kept if n != "const"] == ["atomic_add", "reduce_add", "store"]


def test_dead_results_of_an_if_go() -> None:
    b = Builder()
    zero = b.const(0)
    with b.block() as then:
        x = b.load(A, zero)
        b.yield_(x, b.one("sin", (x,), float32))
    with b.block() as orelse:
        b.yield_(b.const(1.0, float32), b.const(2.0, float32))
    used, _ = b.if_(C, then.block, orelse.block)
    b.store(A, zero, used)
    f = done(b)
    (branch,) = (op for op in walk(f.body) if op.name == "if")
    assert len(branch.results) == 1 and "sin" not in names(f)


def test_an_if_without_effect_goes_with_its_condition() -> None:
    b = Builder()
    condition = b.one("lt", (N, b.const(3)), bool_)
    with b.block() as then:
        b.one("neg", (N,), int32)
        b.yield_()
    with b.block() as orelse:
        b.yield_()
    b.if_(condition, then.block, orelse.block)
    b.store(A, b.const(0), b.const(1.0, float32))
    assert names(done(b)) == ["const", "const", "store"]


def loop(b: Builder, store_inside: bool) -> tuple[Value, ...]:
    """Carries a sum, a product that nothing needs, and a count that only the product needs."""
    i, total, wasted, count = (Value(t, n) for t, n in ((int32, "i"), (float32, "s"), (float32, "w"), (int32, "k")))
    with b.block((i, total, wasted, count)) as body:
        x = b.load(A, i)
        if store_inside:
            b.store(A, i, total)
        more = b.one("add", (count, b.const(1)), int32)
        product = b.one("mul", (wasted, b.cast(more, float32)), float32)
        b.yield_(b.one("add", (total, x), float32), product, more)
    init = (b.const(0.0, float32), b.const(1.0, float32), b.const(0))
    return b.for_(b.const(0), N, b.const(1), init, body.block)


def test_values_that_a_loop_carries_for_itself_alone_go() -> None:
    b = Builder()
    total, _, _ = loop(b, store_inside=False)
    b.store(A, b.const(0), total)
    f = done(b)
    (kept,) = (op for op in walk(f.body) if op.name == "for")
    assert [v.name for v in kept.results] == ["s"] and len(kept.operands) == 4
    assert "mul" not in names(f) and "cast" not in names(f)


def test_a_value_used_only_inside_the_loop_stays_carried() -> None:
    b = Builder()
    loop(b, store_inside=True)
    f = done(b)
    (kept,) = (op for op in walk(f.body) if op.name == "for")
    assert [v.name for v in kept.results] == ["s"] and "store" in names(f)


def test_a_chain_of_carried_values_is_kept_as_far_as_it_is_needed() -> None:
    b = Builder()
    _, product, _ = loop(b, store_inside=False)
    b.store(A, b.const(0), product)
    (kept,) = (op for op in walk(done(b).body) if op.name == "for")
    assert [v.name for v in kept.results] == ["w", "k"]


def halving(b: Builder) -> tuple[Value, ...]:
    """A `while` that counts down n and counts the steps."""
    params = [(Value(int32, "n"), Value(int32, "steps")) for _ in range(2)]
    with b.block(params[0]) as condition:
        b.yield_(b.one("gt", (params[0][0], b.const(0)), bool_))
    with b.block(params[1]) as body:
        n, steps = params[1]
        b.yield_(b.one("sub", (n, b.const(1)), int32), b.one("add", (steps, b.const(1)), int32))
    return b.while_((N, b.const(0)), condition.block, body.block)


def test_a_while_keeps_what_its_condition_needs() -> None:
    b = Builder()
    rest, _ = halving(b)
    b.store(A, rest, b.const(1.0, float32))
    (kept,) = (op for op in walk(done(b).body) if op.name == "while")
    assert [v.name for v in kept.results] == ["n"]
    assert [len(block.params) for block in kept.blocks] == [1, 1]
    b = Builder()
    _, steps = halving(b)
    b.store(A, steps, b.const(1.0, float32))
    (kept,) = (op for op in walk(done(b).body) if op.name == "while")
    assert [v.name for v in kept.results] == ["n", "steps"]


def test_loops_that_nobody_needs_go() -> None:
    b = Builder()
    halving(b)
    loop(b, store_inside=False)
    assert names(done(b)) == []


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("scalar", [float64, int32], ids=repr)
def test_random_programs_mean_the_same(seed: int, scalar: object) -> None:
    f = random_function(seed, scalar)  # type: ignore[arg-type]
    pruned = verify(prune(f))
    assert same(results(f, 6, inputs(scalar)), results(pruned, 6, inputs(scalar)))  # type: ignore[arg-type]
    assert names(verify(prune(pruned))) == names(pruned)
    used = {v for op in walk(pruned.body) for v in op.operands}
    assert all(
        op.name in EFFECTS or op.blocks or set(op.results) & used or op.name == "yield" for op in walk(pruned.body)
    )
