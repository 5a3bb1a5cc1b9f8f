"""Reading PTX: programs, scopes, calls, the order of blocks, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.support.kernels.ptx_runs import HEAD, Run
from workbench.backends.ptx.emit.kernel import emit_kernel
from workbench.backends.ptx.flow import basic_blocks
from workbench.backends.ptx.inline import inlined
from workbench.backends.ptx.syntax.parse import parse
from workbench.backends.ptx.syntax.program import Address, Group, Immediate, Loc, Register, Symbol
from workbench.backends.ptx.syntax.tokens import Tokens
from workbench.errors import BuildError

TEXT = """//
.version 9.5
.target sm_90a
.address_size 64
.file 1 "/cell/a.cu"
.const .align 4 .b8 table[8] = {0, 0, 128, 63, 1, 2, 255, 4};
.global .align 8 .u64 pointers[2] = {generic(table), table+4};
.extern .shared .align 16 .b8 dyn[];
.func (.param .b32 r) twice(.param .b32 v)
{ .reg .f32 %f<2>; ld.param.f32 %f1, [v]; add.rn.f32 %f1, %f1, %f1; st.param.f32 [r+0], %f1; ret; }
.visible .entry k(.param .align 8 .b8 dim[32], .param .u64 .ptr .global .align 16 out, .param .f32 x)
.maxntid 128, 1, 1
{
  .reg .pred %p<3>; .reg .f32 %f<4>; .reg .b64 %rd<3>;
  .loc 1 7 3
  ld.param.f32 %f1, [x];
  @!%p1 bra $L_end;
  .loc 1 8 5, function_name $n, inlined_at 1 9 2
  mov.f32 %f3, 0f3F800000; // comment; with ; in it
  {
  .param .b32 a; st.param.f32 [a+0], %f1; .param .b32 b;
  call.uni (b), twice, (a); ld.param.f32 %f2, [b+0];
  }
  ld.global.v2.f32 {%f1, %f2}, [%rd1+-8];
$L_end: ret;
}
.section .debug_str { .b8 1, 2 }
"""


def test_a_program_is_read_as_it_stands() -> None:
    p = parse(TEXT + "\0")
    assert p.version == (9, 5) and p.target == "sm_90a" and p.files == {1: "/cell/a.cu"} and p.entries == ("k",)
    k = p.entry("k")
    assert [(q.name, q.offset, q.size) for q in k.parameters] == [("dim", 0, 32), ("out", 32, 8), ("x", 40, 4)]
    assert k.parameter_size == 44 and k.limits == {"maxntid": (128, 1, 1)}
    first, jump, move, *_ = k.code
    assert (first.name, first.line, first.loc) == ("ld.param.f32", 16, Loc(1, 7))
    assert first.operands == (Register("%f1", "f32"), Address(Symbol("x")))
    assert jump.guard == Register("%p1", "pred") and jump.negated and jump.operands == (Symbol("$L_end"),)
    assert move.loc == Loc(1, 8, Loc(1, 9)) and move.operands[1] == Immediate(0x3F800000, "f32")
    load = k.code[-2]
    assert load.operands == (
        Group((Register("%f1", "f32"), Register("%f2", "f32"))),
        Address(Register("%rd1", "b64"), -8),
    )
    table, pointers = p.variables["table"], p.variables["pointers"]
    assert table.initial == bytes([0, 0, 128, 63, 1, 2, 255, 4]) and table.space == "const"
    assert [(r.at, r.symbol, r.offset) for r in pointers.references] == [(0, "table", 0), (8, "table", 4)]
    assert p.variables["dyn"].extern and p.variables["dyn"].size == 0


def test_calls_are_inlined() -> None:
    k = inlined(parse(TEXT), "k")
    assert "call" not in [i.opcode for i in k.code] and "add" in [i.opcode for i in k.code]
    inner = next(i for i in k.code if i.opcode == "add")
    assert inner.loc is None
    names = [r for i in k.code for o in i.operands if isinstance(o, Register) for r in [o.name]]
    assert all(name in k.registers for name in names)


def test_calls_run() -> None:
    text = f"""{HEAD}.func (.param .b32 r) twice(.param .b32 v, .param .b64 p)
{{ .reg .f32 %f; .reg .b64 %p; ld.param.f32 %f, [v]; ld.param.u64 %p, [p]; setp.lt.f32 %q, %f, 0f40000000;
.reg .pred %q; @%q bra low; add.f32 %f, %f, %f; low: st.param.f32 [r], %f; st.f32 [%p], %f; ret; }}
.visible .entry k(.param .u64 out)
{{ .reg .b32 %t; .reg .f32 %f, %g; .reg .b64 %a, %b; .local .align 8 .b8 l[8]; .reg .pred %p; mov.u32 %t, %tid.x;
cvt.rn.f32.u32 %f, %t; cvta.local.u64 %b, l; mov.f32 %g, 0fBF800000; setp.ne.u32 %p, %t, 5;
{{ .param .b32 x; st.param.f32 [x], %f; .param .b64 y; st.param.b64 [y], %b; .param .b32 z;
@%p call (z), twice, (x, y); ld.param.f32 %g, [z]; }}
ld.local.f32 %f, [l]; add.f32 %f, %f, %g; ld.param.u64 %a, [out]; mul.wide.u32 %b, %t, 4; add.u64 %a, %a, %b;
@%p st.global.f32 [%a], %f; ret; }}"""
    text = text.replace(
        "setp.lt.f32 %q, %f, 0f40000000;\n.reg .pred %q;", ".reg .pred %q; setp.lt.f32 %q, %f, 0f40000000;"
    )
    run = Run(text)
    at = run.memory.put(np.zeros(32, np.float32))
    assert run(1, 32, at) is None
    lanes = np.arange(32)
    want = np.where(lanes < 2, 2 * lanes, 4 * lanes)
    want[5] = 0
    assert np.array_equal(run.memory.get(at, np.zeros(32, np.float32)), want)


def test_joins_come_after_both_sides_and_exits_after_loops() -> None:
    k = parse(
        HEAD
        + """.entry k() { .reg .pred %p<4>; .reg .b32 %r<3>;
        @%p1 bra other; add.u32 %r1, %r1, 1; bra join; other: add.u32 %r1, %r1, 2;
        join: add.u32 %r1, %r1, 3; head: @%p2 bra out; add.u32 %r1, %r1, 4; @%p3 bra head; add.u32 %r1, %r1, 5;
        bra head; out: add.u32 %r1, %r1, 6; ret; }"""
    ).entry("k")
    blocks = basic_blocks(k)
    numbers = [next((i.operands[2].value for i in b.code if i.opcode == "add"), 0) for b in blocks]  # type: ignore[union-attr]
    place = {v: n for n, v in enumerate(numbers) if v}
    assert place[3] > max(place[1], place[2]) and place[3] < place[4] < place[5] < place[6]
    assert all(s > n or s in b.backs for n, b in enumerate(blocks) for s in b.successors)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("wgmma.fence.sync.aligned;", r"wgmma\.fence\.sync\.aligned cannot be executed: warpgroup .*line 6.*PTX 9\.0"),
        ("frobnicate.u32 %r1, %r2;", r"frobnicate\.u32 is not known \(line 6 of the PTX, PTX 9\.0\)"),
        ("mov.u32 %r1, %envreg3;", r"special register %envreg3 cannot be read \(line 6 of the PTX, PTX 9\.0\)"),
        (
            "cvt.rn.satfinite.e2m1x2.f32 %r1, %f1, %f1;",
            r"cvt\.rn\.satfinite\.e2m1x2\.f32 cannot be executed \(line 6 of the PTX, PTX 9\.0\)",
        ),
        ("add.u32 %r1, nothing, 1;", r"'nothing' is not declared \(line 6 of the PTX, PTX 9\.0\)"),
        ("bra nowhere;", r"no label 'nowhere' \(line 6 of the PTX, PTX 9\.0\)"),
        (
            "cp.async.bulk.shared::cluster.global [%r1], [%rd1], 16;",
            r"cp\.async\.bulk.* cannot be executed \(line 6 of the PTX, PTX 9\.0\)",
        ),
        ("ld.global.b128 %rd1, [%rd2];", r"ld\.global\.b128 cannot be executed \(line 6 of the PTX, PTX 9\.0\)"),
        ("add.u32 %r1;", r"add\.u32 is of a form that is not known \(line 6 of the PTX, PTX 9\.0\)"),
        ("ld.global.u32 %r1, [%rd1", r"';' is no operand \(line 7"),
    ],
)
def test_what_cannot_be_executed_is_named(body: str, message: str) -> None:
    text = f"{HEAD}.entry k()\n{{ .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .f32 %f<3>;\n{body}\nret; }}"
    with pytest.raises(BuildError) as error:
        emit_kernel(parse(text), "k")
    assert re.search(message, str(error.value)), error.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".version 12.0\n.target sm_200\n.address_size 64\n", r"PTX 12\.0 is newer than what is known here"),
        ("int main() {}", "is not a directive|no .version"),
        (".version 9.0\n.target sm_90\n.address_size 32\n", "Only 64-bit addresses"),
        (HEAD + ".global .texref t;\n", r"type \.texref cannot be executed"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        parse(text)


def test_recursion_and_absent_kernels_are_refused() -> None:
    text = HEAD + ".func f();\n.func f() { call.uni f; ret; }\n.entry k() { call.uni f; ret; }"
    with pytest.raises(BuildError, match="recursive call of 'f'"):
        inlined(parse(text), "k")
    with pytest.raises(BuildError, match=r"no kernel 'other'.*It has k"):
        parse(text).entry("other")


def test_integers_in_every_base() -> None:
    tokens = Tokens("0b101 0B11U 0x1F 017 42U")
    assert [tokens.integer() for _ in range(5)] == [5, 3, 31, 15, 42]
