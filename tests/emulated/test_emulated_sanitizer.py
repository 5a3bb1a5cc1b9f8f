"""What checks find on the emulated device: each defect in a minimal kernel, and a twin without it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import events
from workbench.backends.ptx.emit.kernel import emit_kernel
from workbench.backends.ptx.kernel import SHADOW_LIMIT, RaceTable
from workbench.backends.ptx.syntax.parse import parse

pytest.importorskip("cuda.bindings.driver")

THREADS = 64


def text_of(body: str, head: str = "float* x") -> str:
    return f"__global__ void k({head}) {{\n    __shared__ float s[64];\n    int t = threadIdx.x;\n{body}\n}}\n"


def run(body: str, head: str = "float* x", arguments: tuple[Any, ...] = (), blocks: int = 1) -> np.ndarray:
    """Blocks of 64 threads with checks, over an x of 256 elements."""
    module = wb.cuda_module(text_of(body, head), run="emulated", name="cell")
    x = wb.array(np.arange(256, dtype=np.float32), device="emulated")
    with wb.ScopedDevice("emulated"), wb.checks():
        module.kernels["k"][blocks * THREADS](*(arguments or (x,)), block_dim=THREADS)
        wb.synchronize()
    return x.numpy()


def fault_of(body: str, head: str = "float* x", arguments: tuple[Any, ...] = (), blocks: int = 1) -> wb.KernelFault:
    with pytest.raises(wb.KernelFault) as met:
        run(body, head, arguments, blocks)
    return met.value


def line_of(fault: wb.KernelFault) -> int:
    assert fault.location is not None
    return fault.location.line


MEMORY = {
    "beyond": (
        "x[t] = x[t + 193];",
        "x[t] = x[t + 192];",
        "address",
        "Thread (63, 0, 0) of block (0, 0, 0) reads 4 bytes at x[256], beyond its 256 elements.",
    ),
    "far beyond": ("x[t + 400] = 1;", "x[t + 100] = 1;", "address", "writes 4 bytes at x[400], beyond its 256"),
    "before": ("x[t - 1] = 1;", "x[t] = 1;", "address", "writes 4 bytes at x[-1], before its first element"),
    "atomic": ("atomicAdd(&x[t + 250], 1.0f);", "atomicAdd(&x[t], 1.0f);", "address", "updates 4 bytes at x[256]"),
    "misaligned": (
        "float4 v = *(float4*)(x + 1 + 4 * (t % 4)); x[t] = v.x + v.y + v.z + v.w;",
        "float4 v = *(float4*)(x + 4 * (t % 4)); __syncthreads(); x[t] = v.x + v.y + v.z + v.w;",
        "misaligned",
        "reads 16 bytes at x[1], which is not a multiple of 16 bytes.",
    ),
    "shared": (
        "s[t + 1] = x[t]; __syncthreads(); x[t] = s[63 - t];",
        "s[t] = x[t]; __syncthreads(); x[t] = s[63 - t];",
        "address",
        "writes 4 bytes at byte 256 of shared memory, of which the block has 256 bytes.",
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", MEMORY)
def test_memory_that_is_not_there(case: str) -> None:
    wrong, right, kind, text = MEMORY[case]
    fault = fault_of(wrong)
    assert text in fault.message
    assert (fault.kind, fault.function, line_of(fault), fault.block) == (kind, "k", 4, (0, 0, 0))
    run(right)


BARRIERS = {
    "part of a warp": (
        "if (t < 40)\n __syncthreads();\n x[t] = 1;",
        "if (t < 40)\n x[t] = 2;\n __syncthreads();\n x[t] = 1;",
        ("barrier", 5, "has not reached the barrier"),
    ),
    "two barriers": (
        'if (t < 32)\n asm volatile("bar.sync 1, 64;");\n else\n asm volatile("bar.sync 2, 64;");',
        'if (t < 32)\n asm volatile("bar.sync 1, 64;");\n else\n asm volatile("bar.sync 1, 64;");',
        ("deadlock", 7, "they wait forever"),
    ),
    "lanes of a mask": (
        "if (t % 32 < 16)\n x[t] = __shfl_xor_sync(0xffffffff, x[t], 1);",
        "if (t % 32 < 16)\n x[t] = __shfl_xor_sync(0x0000ffff, x[t], 1);",
        ("warp", 5, "is named in the mask"),
    ),
    "assert": ("assert(x[t] < 63);", "assert(x[t] < 64);", ("assert", 4, "Thread (63, 0, 0)")),
}


@pytest.mark.parametrize("case", BARRIERS)
def test_barriers_that_not_all_reach(case: str) -> None:
    wrong, right, (kind, line, text) = BARRIERS[case]
    fault = fault_of(wrong)
    assert (fault.kind, fault.function, line_of(fault)) == (kind, "k", line)
    assert text in fault.message
    run(right)


SYNC = " __syncthreads();\n"
RACES = {
    "between warps": (
        "s[t] = 0;\n" + SYNC + "s[t] = x[t];\n x[t] = s[63 - t];", "s[t] = x[t];\n" + SYNC + "x[t] = s[63 - t];",
    ),
    "in a warp": ("s[t] = x[t];\n x[t] = s[t ^ 1];", "s[t] = x[t];\n __syncwarp();\n x[t] = s[t ^ 1];"),
    "read, then written": (
        "s[t] = x[t];\n" + SYNC + "float v = s[63 - t];\n s[t] = v + 1;\n" + SYNC + "x[t] = s[t];",
        "s[t] = x[t];\n" + SYNC + "float v = s[63 - t];\n" + SYNC + "s[t] = v + 1;\n" + SYNC + "x[t] = s[t];",
    ),
    "two values": ("s[t / 2] = x[t];\n" + SYNC + "x[t] = s[t];", "s[t / 2] = x[0];\n" + SYNC + "x[t] = s[t / 2];"),
    "an atomic and a read": (
        "s[t] = 0;\n" + SYNC + "atomicAdd(&s[t % 4], 1.0f);\n x[t] = s[t % 4];",
        "s[t] = 0;\n" + SYNC + "atomicAdd(&s[t % 4], 1.0f);\n" + SYNC + "x[t] = s[t % 4];",
    ),
    "the loop's second turn": (
        "for (int n = 0; n < 2; n++) {\n s[t] = x[t] + n;\n" + SYNC + "x[t] = s[63 - t];\n }",
        "for (int n = 0; n < 2; n++) {\n s[t] = x[t] + n;\n" + SYNC + "x[t] = s[63 - t];\n" + SYNC + "}",
    ),
    "a barrier of one warp": (
        's[t] = x[t];\n asm volatile("bar.sync %0, 32;" :: "r"(1 + t / 32));\n x[t] = s[63 - t];',
        's[t] = x[t];\n asm volatile("bar.sync 1, 64;");\n x[t] = s[63 - t];',
    ),
    "no lock": (
        "if (t == 0) s[0] = 0;\n" + SYNC + "if (t % 32 == 0) s[0] += t + 1;\n" + SYNC + "x[t] = s[0];",
        "__shared__ int lock;\n if (t == 0) { s[0] = 0; lock = 0; }\n" + SYNC + "if (t % 32 == 0) {\n"
        " while (atomicCAS(&lock, 0, 1)) {}\n s[0] += t + 1;\n __threadfence_block();\n atomicExch(&lock, 0);\n }\n"
        + SYNC + "x[t] = s[0];",
    ),
}  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", RACES)
def test_races_in_shared_memory(case: str) -> None:
    wrong, right = RACES[case]
    fault = fault_of(wrong)
    assert fault.kind == "race"
    assert "of shared memory, which thread (" in fault.message
    run(right)


def test_a_race_names_both_lines() -> None:
    fault = fault_of("    s[t] = x[t];\n    x[t] = s[t ^ 1];")
    assert line_of(fault) == 5
    assert "reads 4 bytes at byte 4 of shared memory, which thread (1, 0, 0) writes in line 4;" in fault.message


GRID = "int i = blockIdx.x * 64 + t;\n    "
GLOBAL_RACES = {
    "in a warp": ("x[i] = x[i ^ 1];", "float v = x[i ^ 1];\n __syncthreads();\n x[i] = v;"),
    "between blocks": ("float v = x[i ^ 64];\n __syncthreads();\n x[i] = v;", "x[i ^ 64] = i;"),
    "two values": ("x[0] = i;", "x[0] = 5;"),
    "an atomic and a read": (
        "atomicAdd(x + t % 4, 1.0f);\n if (blockIdx.x == 1) x[128 + t] = x[t];",
        "atomicAdd(x + t % 4, 1.0f);\n x[128 + i] = x[4 + t];",
    ),
    "bytes": ("((char*)x)[i] = ((char*)x)[i + 1];", "((char*)x)[i] += 1;"),
    "the last block done": (
        "x[i] = 1;\n __shared__ int last;\n if (t == 0) last = atomicAdd((int*)x + 200, 1) == LAST;\n"
        " __syncthreads();\n if (last) x[128 + t] = x[t] + x[64 + t];",
        "x[i] = 1;\n __shared__ int last;\n __threadfence();\n __syncthreads();\n"
        " if (t == 0) last = atomicAdd((int*)x + 200, 1) == LAST;\n"
        " __syncthreads();\n if (last) x[128 + t] = x[t] + x[64 + t];",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GLOBAL_RACES)
def test_races_in_global_memory(case: str) -> None:
    """Two blocks of 64 threads; the last block done is the one that counts to 1 after the 200 that x[200] begins as."""
    last = str(int(np.float32(200).view(np.int32)) + 1)
    wrong, right = (GRID + body.replace("LAST", last) for body in GLOBAL_RACES[case])
    fault = fault_of(wrong, blocks=2)
    assert fault.kind == "race"
    assert "; nothing orders the two." in fault.message
    run(right, blocks=2)


def test_a_race_in_global_memory_names_both_lines_and_threads() -> None:
    fault = fault_of(GRID + "x[i] = 1;\n    x[i ^ 64] = 2;", blocks=2)
    assert line_of(fault) in (5, 6)
    assert "(0, 0, 0) of block (1, 0, 0) writes 4 bytes at x[" in fault.message.replace("block (0", "block (1", 1)
    assert fault.message.count(" of block (") == 2


def test_large_launches_are_sampled_by_elements() -> None:
    nobody = np.array([[1 << 20, 1 << 30]], np.int64)
    assert RaceTable(nobody[:, :] * [1, 0] + [0, 2 << 20]).every == 1
    every = RaceTable(nobody).every
    assert every % 2 == 1
    assert (1 << 30) * 12 / every <= SHADOW_LIMIT


def test_a_sampled_launch_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.backends.ptx.kernel._TOLD", set())
    told: list[str] = []
    unsubscribe = events.subscribe(lambda e: told.append(e.message) if "races" in e.message else None, events.Notice)
    large = wb.empty(48 << 18, dtype=wb.float32, device="emulated")
    module = wb.cuda_module(text_of("x[t] = 1;"), run="emulated", name="cell")
    with wb.ScopedDevice("emulated"), wb.checks():
        for _ in range(2):
            module["k"][THREADS](large, block_dim=THREADS)
            wb.synchronize()
    unsubscribe()
    assert len(told) == 1
    assert re.fullmatch(r"The emulated device's arrays take \d+ MiB: races in .* one of every \d+ groups .*", told[0])


UNWRITTEN = {
    "an array": ("x[t] = x[t] + 1;", "x[t] = 1;\n x[t] += 1;", "reads 4 bytes at x[0], which nothing has written."),
    "part of an array": (
        "x[t] = 1;\n __syncthreads();\n x[t] = x[64 + t];", "x[t] = 1;\n x[t] = x[t];", "at x[64], which nothing",
    ),
    "an update": ("atomicAdd(x + t, 1.0f);", "atomicExch(x + t, 1.0f);", "updates 4 bytes at x[0], which nothing"),
    "shared": (
        "if (t < 32) s[t] = t;\n __syncthreads();\n x[t] = s[63 - t];",
        "s[t] = t;\n __syncthreads();\n x[t] = s[63 - t];",
        "reads 4 bytes at byte 252 of shared memory, which no thread has written yet.",
    ),
    "local": (
        "float a[8];\n a[t % 8] = 1;\n x[t] = a[(t + 1) % 8];",
        "float a[8] = {};\n a[t % 8] = 1;\n x[t] = a[(t + 1) % 8];",
        "of its own variables that it has not written",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNWRITTEN)
def test_reads_of_memory_never_written(case: str) -> None:
    wrong, right, text = UNWRITTEN[case]
    fault = fault_of(wrong, arguments=(wb.empty(256, dtype=wb.float32, device="emulated"),))
    assert fault.kind == "unwritten"
    assert text in fault.message
    run(right, arguments=(wb.empty(256, dtype=wb.float32, device="emulated"),))


def test_copies_fills_and_launches_without_checks_write() -> None:
    """And what is freed is not written any more when its addresses are given out again."""
    add = "x[t] = x[t] + 1;"
    for write in (lambda a: a.fill_(1), lambda a: a.assign(np.ones(256, np.float32))):
        x = wb.empty(256, dtype=wb.float32, device="emulated")
        write(x)
        run(add, arguments=(x,))
        assert x.numpy()[0] == 2
    half = wb.empty(256, dtype=wb.float32, device="emulated")
    half[:64].fill_(1)
    run(add, arguments=(half,))
    fault = fault_of("float v = x[t + 1];\n __syncthreads();\n x[t] = v;", arguments=(half,))
    assert "Thread (63, 0, 0) of block (0, 0, 0) reads 4 bytes at x[64], which nothing" in fault.message
    x = wb.empty(256, dtype=wb.float32, device="emulated")
    module = wb.cuda_module(text_of("x[t] = 1;"), run="emulated", name="cell")
    with wb.ScopedDevice("emulated"), wb.checks(False):
        module.kernels["k"][THREADS](x, block_dim=THREADS)
        wb.synchronize()
    run(add, arguments=(x,))


def test_freed_memory() -> None:
    gone = wb.zeros(256, dtype=wb.float32, device="emulated")
    address = gone.address
    body, head = "    ((float*)p)[t] = 1;", "long long p"
    with wb.ScopedDevice("emulated"):
        run(body, head, (address,))
        del gone
        wb.synchronize()
    other = wb.zeros(256, dtype=wb.float32, device="emulated")
    for how, arguments in ((head, (address,)), (head + ", float* other", (address, other))):
        fault = fault_of(body, how, arguments)
        assert "writes 4 bytes at byte 0 of memory that was freed (1,024 bytes)." in fault.message


def test_a_pointer_to_nothing_is_no_index_of_an_array() -> None:
    fault = fault_of("    x[t] = ((float*)p)[t];", "float* x, long long p", (wb.zeros(64, device="emulated"), 4096))
    assert "reads 4 bytes at the address 0x1000, which belongs to no allocation." in fault.message
    fault = fault_of("    x[t - (1ll << 40)] = 1;")
    assert f"at x[{-(1 << 40)}], before its first element" in fault.message


def test_a_fault_does_not_break_the_device() -> None:
    fault_of("    x[t] = x[t + 256];")
    assert run("    x[t] = 7;")[0] == 7


def test_threads_of_a_launch_are_named_by_their_index_and_lines_are_the_open_cells() -> None:
    """Comments above move a kernel; its code comes from the cache, and the line is the one it has now."""
    lines: list[int] = []
    for above in ("", "# one\n# two\n# three\n"):
        cell = wb.build_cell(
            above + "@wb.kernel\ndef k(x: wb.array(dtype=wb.float32)):\n    i = wb.tid()\n    x[i] = x[i + 1]\n",
            {"wb": wb},
        )
        x = wb.zeros(40, dtype=wb.float32, device="emulated")
        with pytest.raises(wb.KernelFault) as met, wb.checks():
            wb.launch(cell.kernels["k"], 40, inputs=[x], device="emulated")
            wb.synchronize()
        lines.append(line_of(met.value))
    assert lines[1] == lines[0] + 3


def test_a_launch_without_checks_runs_the_plain_code() -> None:
    module = wb.cuda_module(text_of("    s[t] = x[t];\n    x[t] = s[t ^ 1];"), run="emulated", name="cell")
    text = module.ptx("sm_90")
    program = parse(text)
    plain, looked = (emit_kernel(program, program.entries[0], sanitizing=on).text for on in (False, True))
    assert "wbe_watch" not in plain and "wbe_race" not in plain
    assert "wbe_watch" in looked
    x = wb.array(np.arange(256, dtype=np.float32), device="emulated")
    with wb.ScopedDevice("emulated"), wb.checks(False):
        module.kernels["k"][THREADS](x, block_dim=THREADS)
        wb.synchronize()
    assert x.numpy()[:2].tolist() == [1, 0]
