"""What lanes and warps of PTX kernels do together: shuffles, votes, barriers, loops that part and meet."""

from __future__ import annotations

import ctypes
import os
import signal
import threading

import numpy as np
import pytest

from tests.support.kernels.ptx_runs import HEAD, Array, Run
from workbench.backends.ptx.counters import empty_table
from workbench.errors import LaunchError

LANE = """.reg .b32 %t, %v, %w, %l; .reg .b64 %at; .reg .pred %p, %q; mov.u32 %t, %tid.x; mov.u32 %l, %laneid;
cvt.u64.u32 %at, %t; {{ .reg .b64 %x; ld.param.u64 %x, [px]; mad.lo.u64 %at, %at, 4, %x; }}"""


def out(body: str, threads: int = 32, declared: str = "") -> Array:
    whole = f"{LANE.format()} {declared} {body} st.global.u32 [%at], %v; ret;"
    run = Run(f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {whole} }}")
    at = run.memory.put(np.zeros(threads, np.uint32))
    fault = run(1, threads, at)
    assert fault is None, fault
    return run.memory.get(at, np.zeros(threads, np.uint32))


LANES = np.arange(32)


@pytest.mark.parametrize("width", [32, 16, 8])
def test_shuffles(width: int) -> None:
    segment = (32 - width) << 8
    texts = {
        f"up.b32 %v|%p, %l, 3, {segment}": (LANES - 3, LANES % width >= 3),
        f"down.b32 %v|%p, %l, 3, {segment | 31}": (LANES + 3, LANES % width < width - 3),
        f"bfly.b32 %v|%p, %l, 5, {segment | 31}": (LANES ^ 5, LANES >= 0),
        f"idx.b32 %v|%p, %l, 6, {segment | 31}": (LANES // width * width + 6, LANES >= 0),
    }
    for text, (source, within) in texts.items():
        got = out(f"shfl.sync.{text}, -1; selp.b32 %w, 100, 0, %p; add.u32 %v, %v, %w;")
        assert np.array_equal(got, np.where(within, source, LANES) + 100 * within), text


def test_votes_matches_and_reductions() -> None:
    odd = "and.b32 %w, %l, 1; setp.ne.u32 %p, %w, 0;"
    assert np.all(out(odd + "vote.sync.ballot.b32 %v, %p, -1;") == 0xAAAAAAAA)
    assert np.all(out(odd + "vote.sync.all.pred %q, %p, -1; selp.b32 %v, 1, 2, %q;") == 2)
    assert np.all(out(odd + "vote.sync.any.pred %q, %p, -1; selp.b32 %v, 1, 2, %q;") == 1)
    assert np.all(out(odd + "vote.sync.uni.pred %q, %p, -1; selp.b32 %v, 1, 2, %q;") == 2)
    third = "rem.u32 %w, %l, 3;"
    groups = np.array([sum(1 << i for i in range(32) if i % 3 == n % 3) for n in range(32)])
    assert np.array_equal(out(third + "match.any.sync.b32 %v, %w, -1;"), groups)
    assert np.all(out(third + "match.all.sync.b32 %v|%p, %w, -1; selp.b32 %v, %v, 5, %p;") == 5)
    for name, want in {"add.s32": 496, "min.u32": 0, "max.s32": 31, "xor.b32": 0, "or.b32": 31, "and.b32": 0}.items():
        assert np.all(out(f"redux.sync.{name} %v, %l, -1;") == want), name
    assert np.array_equal(out("elect.sync _|%p, -1; selp.b32 %v, 1, 0, %p;"), LANES == 0)


def test_lanes_that_part_vote_among_themselves() -> None:
    got = out(
        """setp.lt.u32 %p, %l, 12; @%p bra low; activemask.b32 %v; shfl.sync.idx.b32 %w, %l, 20, 31, 0xFFFFF000;
        add.u32 %v, %v, %w; bra.uni join;
        low: activemask.b32 %v; join: activemask.b32 %w; setp.ne.u32 %q, %w, -1; @%q mov.u32 %v, 0;"""
    )
    assert np.array_equal(got, np.where(LANES < 12, 0xFFF, (0xFFFFF000 + 20) & 0xFFFFFFFF))


def test_absent_members_are_a_fault() -> None:
    run = Run(
        f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {LANE.format()} setp.lt.u32 %p, %l, 12; @%p bra low;"
        " vote.sync.ballot.b32 %v, %q, -1; st.global.u32 [%at], %v; low: bar.sync 0; ret; }"
    )
    fault = run(1, 32, run.memory.put(np.zeros(32, np.uint32)))
    assert fault is not None and fault.kind == 6 and fault.instruction.opcode == "vote"


def test_lane_masks_and_partial_warps() -> None:
    got = out("mov.u32 %v, %lanemask_lt; mov.u32 %w, %lanemask_ge; xor.b32 %v, %v, %w;", 40)
    assert np.all(got == 0xFFFFFFFF)
    assert list(out("activemask.b32 %v;", 40)[[0, 39]]) == [0xFFFFFFFF, 0xFF]


def test_loops_part_and_meet() -> None:
    """Each lane has its own count of turns; after the loop all are together again."""
    got = out(
        """mov.u32 %v, 0; mov.u32 %w, %l;
        again: setp.eq.u32 %p, %w, 0; @%p bra done; sub.u32 %w, %w, 1; and.b32 %t, %w, 1; setp.eq.u32 %q, %t, 0;
        @%q bra again; add.u32 %v, %v, 10; bra.uni again;
        done: activemask.b32 %w; setp.ne.u32 %p, %w, -1; @%p mov.u32 %v, 7;"""
    )
    assert np.array_equal(got, LANES // 2 * 10)


def test_tables_of_labels() -> None:
    got = out(
        """and.b32 %w, %l, 3; table: .branchtargets a, b, c, b; brx.idx %w, table;
        a: mov.u32 %v, 1; bra.uni done; b: mov.u32 %v, 2; bra.uni done; c: mov.u32 %v, 3; done:"""
    )
    assert np.array_equal(got, np.array([1, 2, 3, 2] * 8))


def test_barriers_order_warps() -> None:
    got = out(
        """.shared .align 4 .b8 s[1024]; mul.lo.u32 %w, %t, 4; st.shared.u32 [%w], %t; bar.sync 0;
        xor.b32 %w, %w, 128; ld.shared.u32 %v, [%w]; bar.sync 1, 256; st.shared.u32 [%w], %v; barrier.sync 0;
        xor.b32 %w, %w, 512; ld.shared.u32 %v, [%w];""",
        256,
    )
    assert np.array_equal(got, np.arange(256) ^ 160)


def test_barriers_that_reduce() -> None:
    odd = "rem.u32 %w, %t, 3; setp.eq.u32 %p, %w, 0;"
    assert np.all(out(odd + "bar.red.popc.u32 %v, 0, %p;", 100) == 34)
    assert np.all(out(odd + "bar.red.or.pred %q, 0, %p; selp.b32 %v, 1, 0, %q;", 100) == 1)
    assert np.all(out(odd + "bar.red.and.pred %q, 0, %p; selp.b32 %v, 1, 0, %q;", 100) == 0)


def test_producers_arrive_and_consumers_wait() -> None:
    got = out(
        """.shared .align 4 .b8 s[128]; mul.lo.u32 %w, %l, 4; mov.u32 %v, 0; setp.ge.u32 %p, %t, 32; @%p bra make;
        bar.sync 1, 64; ld.shared.u32 %v, [%w]; bra.uni done;
        make: st.shared.u32 [%w], %t; bar.arrive 1, 64; done:""",
        64,
    )
    assert np.array_equal(got, np.concatenate([LANES + 32, np.zeros(32)]))


def test_a_barrier_that_a_warp_never_reaches_is_a_deadlock() -> None:
    run = Run(
        f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {LANE.format()} setp.ge.u32 %p, %t, 32; @%p bra other;\n"
        "bar.sync 1;\nother: bar.sync 2;\nst.global.u32 [%at], %t; ret; }"
    )
    fault = run(1, 64, run.memory.put(np.zeros(64, np.uint32)))
    assert fault is not None and fault.kind == 5 and fault.instruction.opcode == "bar"


def test_a_barrier_within_a_parted_warp_is_a_fault() -> None:
    run = Run(
        f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {LANE.format()} setp.ge.u32 %p, %t, 7; @%p bra other;\n"
        "bar.sync 0;\nother: st.global.u32 [%at], %t; ret; }"
    )
    fault = run(1, 32, run.memory.put(np.zeros(32, np.uint32)))
    assert fault is not None and fault.kind == 4 and fault.thread == 7


LOCK = """
again: atom.global.cas.b32 %v, [%at], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra again;
ld.volatile.global.u32 %v, [%at+4]; add.u32 %v, %v, 1; st.volatile.global.u32 [%at+4], %v; membar.gl;
atom.global.exch.b32 %v, [%at], 0; ret; }"""


def test_spin_locks_between_lanes_warps_and_blocks_make_progress() -> None:
    run = Run(f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {LANE.format()} ld.param.u64 %at, [px]; {LOCK}")
    at = run.memory.put(np.zeros(2, np.uint32))
    assert run(6, 96, at) is None
    assert list(run.memory.get(at, np.zeros(2, np.uint32))) == [0, 6 * 96]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_warp_waits_for_a_flag_of_another(seed: int) -> None:
    run = Run(
        f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {LANE.format()} ld.param.u64 %at, [px]; shr.u32 %w, %t, 5;"
        """setp.eq.u32 %p, %w, 1; @%p bra set; wait: ld.volatile.global.u32 %v, [%at]; setp.eq.u32 %q, %v, 0;
        @%q bra wait; st.global.u32 [%at+4], %v; ret; set: mov.u32 %v, 9; st.volatile.global.u32 [%at], %v; ret; }"""
    )
    at = run.memory.put(np.zeros(2, np.uint32))
    assert run(1, 64, at, seed=seed) is None
    assert list(run.memory.get(at, np.zeros(2, np.uint32))) == [9, 9]


def test_counters_per_block() -> None:
    run = Run(
        f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {LANE.format()} setp.lt.u32 %p, %l, 8; @%p bra low;"
        " mov.u32 %v, 1; bra.uni done; low: mov.u32 %v, 2; done: st.global.u32 [%at], %v; ret; }",
        counting=True,
    )
    with pytest.raises(LaunchError, match="counts in a table of"):
        run(3, 64, run.memory.put(np.zeros(64, np.uint32)), counters=(ctypes.c_int64 * 4)())
    facts = run.kernel.metadata
    table = empty_table(len(facts.blocks), len(facts.code))
    counters = (ctypes.c_int64 * len(table))(*table)
    assert run(3, 64, run.memory.put(np.zeros(64, np.uint32)), counters=counters) is None
    assert list(counters)[:8] in ([6, 192, 6, 144, 6, 48, 6, 192], [6, 192, 6, 48, 6, 144, 6, 192])


SPIN = (
    f"{HEAD}.visible .entry k(.param .u64 px)\n{{ {LANE.format()} ld.param.u64 %at, [px];"
    "wait: ld.volatile.global.u32 %v, [%at]; STORE setp.eq.u32 %q, %v, 0; @%q bra wait; ret; }"
)


def test_an_endless_loop_can_be_interrupted() -> None:
    """It writes: it may still come to an end."""
    run = Run(SPIN.replace("STORE", "st.global.u32 [%at+4], %v;"))
    at = run.memory.put(np.zeros(2, np.uint32))
    run(1, 32, run.memory.put(np.ones(2, np.uint32)))  # the launcher is there, and SIGINT is its matter
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        run(4, 64, at)
    assert run(1, 32, run.memory.put(np.ones(2, np.uint32))) is None


def test_a_loop_that_waits_for_what_no_thread_does_is_a_fault() -> None:
    run = Run(SPIN.replace("STORE", ""))
    fault = run(4, 64, run.memory.put(np.zeros(2, np.uint32)))
    assert fault is not None
    assert "waits in a loop for something that no thread will change: ld.volatile.global.u32" in str(fault)
    assert fault.lanes == 0xFFFFFFFF
