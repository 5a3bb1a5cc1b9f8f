"""Long kernels: the work of each stage grows as the text does, and blocks that are functions compute the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tests.backends.ptx import test_ptx_kernels as kernels
from tests.support.kernels.ptx_runs import HEAD, Run
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cuda.compile.nvrtc import build
from workbench.backends.ptx.emit import kernel
from workbench.backends.ptx.syntax.parse import parse

FUNCTION = """
.func (.param .b32 r) twice(.param .b32 v)
{ .reg .u32 %f<2>; ld.param.u32 %f1, [v]; add.u32 %f1, %f1, %f1; st.param.b32 [r+0], %f1; ret; }
"""
ENTRY = """
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>; .reg .u32 %x, %y; .reg .u64 %at, %wide;
  ld.param.u64 %at, [out]; mov.u32 %x, %tid.x; mul.wide.u32 %wide, %x, 4; add.u64 %at, %at, %wide;
"""
BRANCHES = """
  {{ .reg .u32 %n, %kept; mov.u32 %n, %tid.x; mov.u32 %kept, %x;
  $L_head{0}: setp.lt.u32 %p1, %n, 3; @%p1 bra $L_over{0};
  setp.lt.u32 %p2, %x, 1000; @%p2 bra $L_small{0};
  shr.u32 %x, %x, 2; bra.uni $L_next{0};
  $L_small{0}: add.u32 %x, %x, {0};
  $L_next{0}: sub.u32 %n, %n, 3; bra.uni $L_head{0};
  $L_over{0}: xor.b32 %x, %x, %kept; }}
"""
CALLS = """
  {{ .param .b32 a; st.param.b32 [a+0], %x; .param .b32 b; call.uni (b), twice, (a); ld.param.b32 %y, [b+0];
  add.u32 %x, %y, {0}; }}
"""


def program(part: str, count: int) -> str:
    """Return a kernel of so many parts in a row."""
    return HEAD + FUNCTION + ENTRY + "".join(part.format(n) for n in range(count)) + "  st.global.u32 [%at], %x; ret; }"


def nested(count: int) -> str:
    """Return a kernel of so many rows of loops, four in one another, that a branch leaves from the innermost."""
    rows = []
    for n in range(count):
        rows.append("{ .reg .u32 %n<4>;")
        for d in range(4):
            rows.append(f"mov.u32 %n{d}, 0; $H{n}_{d}:")
        rows.append(f"add.u32 %x, %x, {n}; setp.gt.u32 %p1, %x, 4000000; @%p1 bra $O{n};")
        for d in (3, 2, 1, 0):
            rows.append(f"add.u32 %n{d}, %n{d}, 1; setp.lt.u32 %p2, %n{d}, 2; @%p2 bra $H{n}_{d};")
        rows.append(f"$O{n}: }}")
    return HEAD + ENTRY + "\n".join(rows) + "st.global.u32 [%at], %x; ret; }"


def work(text: str) -> int:
    """Return how many lines of Python run from a text to its LLVM IR."""
    lines = 0

    def count(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        kernel.emit_kernel(parse(text), "k")
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("made", [lambda n: program(BRANCHES, n), lambda n: program(CALLS, n), nested])
def test_work_grows_as_the_text_does(made: Callable[[int], str]) -> None:
    small, twice, four = (work(made(n)) for n in (8, 16, 32))
    # A sweep over all others for each part would make it four times as much, and the part of it that is so grows.
    assert twice < 2.02 * small and four < 2.02 * twice


CASES = [
    kernels.test_a_tree_of_sums, kernels.test_sums_by_shuffles, kernels.test_divergent_loops,
    kernels.test_a_lock_taken_in_a_loop,
]  # fmt: skip


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kernel, cpu):
        monkeypatch.setattr(module, "OPTIMISED_CHARACTERS", 0)


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("case", CASES)
def test_long_kernels_are_right(case: Callable[[str], None]) -> None:
    text = build(kernels.TEXT, Options(), "sm_90", "ptx").image.decode()
    assert "@wbe_block.0(" in kernel.emit_kernel(parse(text), "collatz").text
    case(text)


@pytest.mark.slow
def test_a_kernel_of_2500_blocks_runs() -> None:
    count = 420
    run = Run(program(BRANCHES, count))
    assert len(run.kernel.metadata.blocks) > 2500
    at = run.memory.put(np.zeros(8, np.uint32))
    assert run(1, 8, at) is None
    for thread, result in enumerate(run.memory.get(at, np.zeros(8, np.uint32))):
        x = thread
        for part in range(count):
            kept = x
            for _ in range(thread // 3):
                x = x + part if x < 1000 else x >> 2
            x ^= kept
        assert result == x
