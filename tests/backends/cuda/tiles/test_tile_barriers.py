"""Barriers stand where threads have to meet and nowhere else: the pass itself, known texts, one taken away."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.devices.on_gpu import Library
from tests.support.kernels.tile_flows import FLOWS
from tests.support.kernels.tile_kernels import Case
from workbench.backends.base import Options
from workbench.backends.cuda.emit import emit_cuda
from workbench.backends.cuda.tiles.placement.uses import ANY, FIRST, Region, Use, place_barriers
from workbench.errors import KernelFault
from workbench.ir import Block, Op, Value
from workbench.types import ArrayType, float32, int32

OWN = ("striped", 64)
BARRIER = re.compile(r"^ *(wb_arrived\w*(<\d>)?\(\);\n *)?__syncthreads\(\);$", re.MULTILINE)


def region(offset: int, count: int = 4) -> Region:
    return Region(float32, count, "r", "r", offset)


def touch(*uses: Use) -> Op:
    return Op("touch", attrs={"uses": uses})


def names(block: Block) -> list[Any]:
    """Names of operations, a list for each block inside."""
    found: list[Any] = []
    for op in block.ops:
        found.append(op.name)
        found += [names(b) for b in op.blocks]
    return found


def barriers(*ops: Op) -> list[Any]:
    return names(place_barriers(Block((), ops)))


A, B = region(0), region(16)
WORK = Op("work")


@pytest.mark.parametrize(
    ("first", "second", "needed"),
    [
        (Use(A, "write", OWN), Use(A, "read", ANY), True),
        (Use(A, "write", OWN), Use(A, "read", OWN), False),
        (Use(A, "read", ANY), Use(A, "write", OWN), True),
        (Use(A, "write", OWN), Use(A, "write", FIRST), True),
        (Use(A, "write", FIRST), Use(A, "write", FIRST), False),
        (Use(A, "read", ANY), Use(A, "read", OWN), False),
        (Use(A, "add", ANY), Use(A, "add", ANY), False),
        (Use(A, "add", ANY), Use(A, "read", ANY), True),
        (Use(A, "write", ANY), Use(B, "read", ANY), False),
        (Use(A, "write", OWN), Use(region(8), "read", OWN), True),
        (Use(A, "write", OWN, pending=True), Use(A, "read", OWN), True),
    ],
)
def test_two_uses(first: Use, second: Use, needed: bool) -> None:
    expected = [WORK.name, "barrier", WORK.name] if needed else [WORK.name, WORK.name]
    assert barriers(touch(first), WORK, touch(second), WORK) == expected


def test_one_barrier_serves_all_that_came_before() -> None:
    ops = [touch(Use(A, "write", OWN)), touch(Use(B, "write", OWN)), touch(Use(A, "read")), touch(Use(B, "read"))]
    assert barriers(*ops) == ["barrier"]


def test_a_loop_s_end_meets_its_beginning() -> None:
    body = Block((Value(int32),), (touch(Use(A, "write", OWN)), WORK, touch(Use(A, "read")), WORK, Op("yield")))
    assert barriers(Op("for", blocks=(body,))) == ["for", ["barrier", "work", "barrier", "work", "yield"]]


def test_the_same_offset_is_another_one_in_the_next_turn() -> None:
    array, k = Value(ArrayType(float32, 1), "x"), Value(int32, "k")
    uses = [touch(Use(array, mode, (OWN, (k,)))) for mode in ("read", "write")]
    assert barriers(*uses) == []
    inside = Block((k,), (*uses, Op("yield")))
    assert barriers(Op("for", blocks=(inside,))) == ["for", ["barrier", "yield"]]


def test_parts_that_are_known_to_be_apart() -> None:
    array = Value(ArrayType(float32, 1), "x")
    first, second, third = (Use(array, "write", (OWN, n), box=((n, n + 8),)) for n in (0, 8, 12))
    assert barriers(touch(first), touch(second)) == []
    assert barriers(touch(second), touch(third)) == ["barrier"]


def test_a_loop_that_surely_turns_leaves_only_what_its_body_leaves() -> None:
    ends = [Op("const", (), (Value(int32),), {"value": n}) for n in (0, 3, 1)]
    body = Block((Value(int32),), (touch(Use(A, "read")), Op("yield")))
    loop = Op("for", tuple(op.result for op in ends), blocks=(body,))
    begin, end = touch(Use(A, "write", OWN)), touch(Use(A, "read"))
    assert barriers(begin, *ends, loop, end)[3:] == ["for", ["barrier", "yield"]]
    assert barriers(begin, Op("for", blocks=(body,)), end) == ["for", ["barrier", "yield"], "barrier"]


def test_branches_are_open_side_by_side() -> None:
    first = Block((), (touch(Use(A, "write", OWN)), Op("yield")))
    second = Block((), (Op("yield"),))
    found = barriers(Op("if", blocks=(first, second)), touch(Use(A, "read")))
    assert found == ["if", ["yield"], ["yield"], "barrier"]


def finds_nothing(case: Case, text: str) -> bool:
    """Whether the sanitizer finds nothing in a run of the kernel with another text than its own."""
    library = Library([case.function], texts={case.name: text}, sanitized=True)
    try:
        library.run(case.name, case.blocks, [a.copy() for a in case.arguments], seed=1)
    except KernelFault:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "count"),
    [("gemm", 1), ("gemm_half", 1), ("softmax", 4), ("turning_shared", 2), ("halving", 2), ("lanes", 0)],
)
def test_the_number_of_barriers_of_known_kernels(name: str, count: int) -> None:
    assert len(BARRIER.findall(emit_cuda(FLOWS[name].function, Options()))) == count


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", FLOWS)
def test_no_flow_has_a_race(name: str) -> None:
    # The two blocks of `effects` write the same elements, one after the other where its numbers are compared.
    assert finds_nothing(FLOWS[name], emit_cuda(FLOWS[name].function, Options())) == (name != "effects")


# In the one a warp meets in `mma.sync` anyway; the other one's threads share global memory.
UNSEEN = ("attention_half", "effects")


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in FLOWS if n not in UNSEEN])
def test_each_barrier_is_needed(name: str) -> None:
    whole = emit_cuda(FLOWS[name].function, Options())
    without = [whole[: found.start()] + whole[found.end() :] for found in BARRIER.finditer(whole)]
    unseen = [n for n, text in enumerate(without) if finds_nothing(FLOWS[name], text)]
    assert not unseen, f"without these of the barriers nothing is found: {unseen}\n{whole}"
