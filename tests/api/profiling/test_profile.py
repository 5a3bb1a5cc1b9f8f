"""`wb.profile`: whose lines the counts are, what is kept, samples, refusals and the text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import inspect
from workbench.api.profiling import run, subject
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.cuda.lines import repeated
from workbench.backends.ptx.counters import Counts
from workbench.backends.ptx.emit.kernel import emit_kernel
from workbench.backends.ptx.syntax.parse import parse
from workbench.errors import DeviceError, LaunchError, NotDifferentiable

CELL = """def helper(v: float32) -> float32:
    return v * 2.0

def scaled(x: array[float], y: array[float]):
    i = tid()
    v = x[i * 4]
    y[i] = helper(v)
"""
N = 256


def kernel(text: str = CELL) -> Any:
    cell = text.replace("def helper", "@func\ndef helper")
    return wb.build_cell(cell, {"func": wb.func}, name="cell").kernels["scaled"]


def arrays() -> list[wb.array]:
    return [wb.zeros(4 * N), wb.zeros(N)]


def test_lines_are_those_of_the_open_cell():
    p = wb.profile(kernel(), N, arrays())
    found = {n: line for n, line in p.lines.items() if line.global_sectors}
    assert {n: line.text.strip() for n, line in found.items()} == {7: "v = x[i * 4]", 8: "y[i] = helper(v)"}
    assert found[7].global_sectors == 16 * N // 32
    assert {n: line.flops for n, line in p.lines.items() if line.flops} == {8: N}


def test_a_comment_above_is_a_hit_and_moves_the_lines(monkeypatch):
    before = wb.profile(kernel(), N, arrays())
    monkeypatch.setattr(subject, "build", lambda *_: pytest.fail("compiled again"))
    after = wb.profile(kernel("# A comment.\n# Another.\n" + CELL), N, arrays())
    assert {n + 2: line.global_sectors for n, line in before.lines.items()} == {
        n: line.global_sectors for n, line in after.lines.items()
    }
    assert after.lines[9].text.strip() == "v = x[i * 4]"


def test_no_line_is_in_what_is_compiled():
    one, two = (kernel(before + CELL).specialise().function for before in ("", "# A comment.\n"))
    texts = [subject.numbered_ptx(f, Options(), "sm_90") for f in (one, two)]
    assert texts[0] == texts[1]
    plain = CudaBackend().ptx(one, Options(), "sm_90")

    def code(text: str) -> list[str]:
        rows = (row.strip() for row in text.split(".section")[0].split("\n"))
        return [r for r in rows if re.match(r"(@!?%p\d+ )?[a-z]", r)]

    assert code(texts[0][1]) == code(plain)


def test_every_row_of_a_statement_is_of_its_line():
    rows = ["a", '#line 3 "/cell/x"', "b", "c", '#line 4 "/cell/x"', "d", "}", "e"]
    assert repeated("\n".join(rows)).split("\n") == [
        "a", '#line 3 "/cell/x"', "b", '#line 3 "/cell/x"', "c", '#line 4 "/cell/x"', "d", "}", "e",
    ]  # fmt: skip


def test_code_without_counters_has_no_trace_of_them():
    _, text = subject.numbered_ptx(kernel().specialise().function, Options(), "sm_90")
    program = parse(text)
    assert "wbe_count" not in emit_kernel(program, "scaled").text
    assert "wbe_count" in emit_kernel(program, "scaled", counting=True).text


def test_arrays_stay_as_they_are():
    x, y = wb.ones(4 * N), wb.zeros(N)
    wb.profile(kernel(), N, [x, y])
    assert (y.numpy() == 0).all() and (x.numpy() == 1).all()
    assert y.memory.version == 0


def test_views_keep_their_strides():
    # Every second element of x, of which the kernel takes every fourth: 32 bytes apart, each in a sector of its own.
    whole = wb.zeros(8 * N)
    p = wb.profile(kernel(), N, [whole[::2], wb.zeros(N)])
    assert p.lines[7].global_sectors == 32 * N // 32


def test_arrays_on_an_emulated_device():
    values = [wb.zeros(4 * N, device="emulated"), wb.zeros(N, device="emulated")]
    assert wb.profile(kernel(), N, values).total == wb.profile(kernel(), N, arrays()).total


def test_what_is_queued_is_done_before_arrays_are_read():
    at = wb.zeros(N, dtype=wb.int32, device="emulated")
    at.fill_(3)
    p = wb.profile(gather(), N, [wb.zeros(4, device="emulated"), at, wb.zeros(N, device="emulated")])
    assert p.total.bytes == 3 * 4 * N


def gather() -> Any:
    cell = "def gather(x: array[float], at: array[int], y: array[float]):\n    y[tid()] = x[at[tid()]]\n"
    return wb.build_cell(cell, {}, name="gather").kernels["gather"]


def test_an_adjoint_is_counted_at_the_lines_of_the_cell():
    # Each line's own: line 8 reads the adjoint of y (4 sectors per warp) and clears it (4); line 7 reads the adjoint of
    # x[4 i], adds to it and writes it: 16 sectors each, where 4 would hold the elements. `v * 2.0` is one product, the
    # sum into x one addition.
    p = wb.profile(kernel("# A comment.\n" + CELL), N, arrays(), adjoint=True)
    warps = N // 32
    found = {n: (line.global_sectors, line.global_sectors_least) for n, line in p.lines.items() if line.global_sectors}
    assert found == {8: (2 * 16 * warps, 2 * 4 * warps), 9: (2 * 4 * warps, 2 * 4 * warps)}
    assert {n: line.flops for n, line in p.lines.items() if line.flops} == {4: N, 8: N}
    assert p.lines[8].text.strip() == "v = x[i * 4]" and p.title.startswith("scaled (adjoint): ")


def test_a_sample_says_so_and_is_scaled(monkeypatch):
    n = 1 << 16
    values = [wb.zeros(4 * n), wb.zeros(n)]
    full = wb.profile(kernel(), n, values)
    assert full.sampled is None
    monkeypatch.setattr(run, "ALL", 1 << 14)
    some = wb.profile(kernel(), n, values)
    assert some.sampled is not None and some.sampled < n // 256
    assert some.total == full.total
    assert f"{some.sampled} of 256 blocks ran" in str(some)


def test_the_text():
    text = str(wb.profile(kernel(), N, arrays()))
    assert text.startswith("scaled: 1 block of 256 threads over 256, for sm_90\n")
    assert "line 7: stride 4: 4.0× the sectors needed; let neighbouring threads read neighbouring elements." in text
    assert "no times" in text and "\nBound by latency: 1 block, where H100 SXM runs 1,056 at once; with" in text
    assert "sectors is l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum" in text
    assert "\nBound by memory on H100 SXM" in str(
        wb.profile(kernel(), 256 * 1056, [wb.zeros(1024 * 1056), wb.zeros(256 * 1056)])
    )


def test_registers_and_shared_memory_are_those_of_the_cubin():
    p = wb.profile(kernel(), N, arrays(), arch="sm_80")
    facts = CudaBackend().compile(kernel().specialise().function, Options(), "sm_80").metadata
    assert (p.registers, p.spills, p.shared_bytes) == (facts["registers"], facts["spill_stores"], 0)
    assert p.arch == "sm_80" and p.bound is not None and p.bound.gpu.startswith("A100 80 GB")
    other = p.bound_on("A100 40 GB SXM")
    assert other is not None and other.cycles["memory"] == pytest.approx(p.bound.cycles["memory"] * 2039 / 1555)
    with pytest.raises(DeviceError, match="'RTX 4090' of sm_80"):
        p.bound_on("RTX 4090")


def test_what_is_refused():
    with pytest.raises(DeviceError, match="no architecture 'sm_11'"):
        wb.profile(kernel(), N, arrays(), arch="sm_11")
    with pytest.raises(LaunchError, match="scaled"):
        wb.profile(kernel(), N, arrays()[:1])
    with pytest.raises(LaunchError, match="memory that does not exist"):
        wb.profile(kernel(), 1 << 20, arrays())
    one = kernel()
    one.enable_backward = False
    with pytest.raises(NotDifferentiable):
        wb.profile(one, N, arrays(), adjoint=True)


def test_no_threads():
    p = wb.profile(kernel(), 0, arrays())
    assert p.total == Counts() and p.bound is None and p.findings == []
    assert np.isfinite(p.total.efficiency)


def test_the_card():
    text = kernel(CELL.replace("helper(v)", "helper(v)  # <b>&"))
    p = wb.profile(text, N, arrays())
    html = p._repr_html_()
    assert "stride 4: 4.0× the sectors needed" in html and "# &lt;b&gt;&amp;" in html and "<b>&" not in html
    assert html.index("stride 4") < html.index("v = x[i * 4]")
    # 32 lanes in 16 sectors and 4 sectors written: bars of 64 pixels.
    assert "width:51px" in html and "width:13px" in html
    assert repr(p) == str(p)


def test_launches_of_a_call_are_profiled_and_run():
    one, values = kernel(), [wb.ones(4 * N), wb.zeros(N)]

    def call() -> None:
        for _ in range(3):
            wb.launch(one, N, values)
        wb.launch(one, N // 2, values)

    found = inspect.profiles(call)
    assert [p.dim for p in found] == [(N,), (N // 2,)]
    assert found[0].total == wb.profile(one, N, arrays()).total
    assert (values[1].numpy() == 2).all()
