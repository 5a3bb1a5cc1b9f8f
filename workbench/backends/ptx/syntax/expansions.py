"""Rewriting of a PTX text before it is parsed: forms that the parser and the emitter do not know become plain PTX.

They are wmma's loads and stores, `malloc` and `free` of kernels, the counter of the blocks of a cooperative grid, and
operations of the blocks of a cluster. NVIDIA does not document which lane holds which element of a wmma fragment, so
ours are in the order register, lane, part, as in `matrices.Fragments`. Each expansion is one line, so that lines keep
their numbers.
"""

from __future__ import annotations

import re

from workbench.backends.ptx.syntax.program import SANITIZED

_WMMA = re.compile(r"wmma\.(?P<what>load\.[abc]|store\.d)\.sync\.aligned\.(?P<rest>[\w.:]+)\s+(?P<operands>[^;]*);")
_SPACES = ("global", "shared", "const")
_BITS = {"f16": 16, "bf16": 16, "s8": 8, "u8": 8, "tf32": 32, "f32": 32, "s32": 32, "f64": 64}


_HEAP = """
.global .align 16 .b8 wb_heap[8388608];
.global .align 8 .u64 wb_heap_end;
.global .align 8 .u64 wb_heap_lists[64];
.func wb_push(.param .b64 wb_node, .param .b64 wb_list)
{
	.reg .b64 %n, %l, %o, %r; .reg .pred %p;
	ld.param.u64 %n, [wb_node]; ld.param.u64 %l, [wb_list];
again:
	ld.relaxed.gpu.global.u64 %o, [%l]; st.relaxed.gpu.global.u64 [%n], %o;
	atom.global.cas.b64 %r, [%l], %o, %n;
	setp.ne.u64 %p, %r, %o; @%p bra again;
	ret;
}
.func (.param .b64 wb_result) malloc(.param .b64 wb_size)
{
	.reg .b64 %s, %l, %h, %r, %a, %n; .reg .b32 %c; .reg .pred %p;
	ld.param.u64 %s, [wb_size]; st.param.u64 [wb_result], 0;
	setp.gt.u64 %p, %s, 8388592; @%p ret;
	add.u64 %s, %s, 31; clz.b64 %c, %s; sub.u32 %c, 64, %c;
	mov.u64 %l, wb_heap_lists; mad.wide.u32 %l, %c, 8, %l; mov.u64 %s, 1; shl.b64 %s, %s, %c;
	atom.global.exch.b64 %h, [%l], 0;
	setp.eq.u64 %p, %h, 0; @%p bra fresh;
	ld.relaxed.gpu.global.u64 %r, [%h];
rest:
	setp.eq.u64 %p, %r, 0; @%p bra done;
	ld.relaxed.gpu.global.u64 %n, [%r];
	{ .param .b64 a; .param .b64 b; st.param.b64 [a], %r; st.param.b64 [b], %l; call wb_push, (a, b); }
	mov.u64 %r, %n; bra rest;
fresh:
	mov.u64 %a, wb_heap_end; atom.global.add.u64 %h, [%a], %s;
	add.u64 %n, %h, %s; setp.gt.u64 %p, %n, 8388608; @%p bra full;
	mov.u64 %a, wb_heap; add.u64 %h, %h, %a;
done:
	st.global.u32 [%h+8], %c; add.u64 %h, %h, 16; cvta.global.u64 %h, %h; st.param.u64 [wb_result], %h;
	ret;
full:
	neg.s64 %s, %s; atom.global.add.u64 %h, [%a], %s;
	ret;
}
.func free(.param .b64 wb_freed)
{
	.reg .b64 %h, %l; .reg .b32 %c; .reg .pred %p;
	ld.param.u64 %h, [wb_freed]; setp.eq.u64 %p, %h, 0; @%p ret;
	cvta.to.global.u64 %h, %h; sub.u64 %h, %h, 16; ld.global.u32 %c, [%h+8];
	mov.u64 %l, wb_heap_lists; mad.wide.u32 %l, %c, 8, %l;
	{ .param .b64 a; .param .b64 b; st.param.b64 [a], %h; st.param.b64 [b], %l; call wb_push, (a, b); }
	ret;
}
"""
"""PTX of `malloc` and `free` on a heap of 8 MiB, the size that CUDA's heap has by default.

There is a list of free pieces for each power of two. A list is taken whole and what is not needed is pushed back, so
no piece comes back between a look at it and its removal.
"""
_MALLOC = re.compile(r"\.extern \.func[^;{]*?\b(?:malloc|free)\s*\([^;{]*?\)\s*;", re.DOTALL)


WORKSPACE = "wb_workspace"
"""The variable that stands for a cooperative launch's workspace, whose address is in %envreg1 and %envreg2.

It is zero when a launch begins.
"""
_ENVIRONMENT = re.compile(r"mov\.[bu]32\s+(%\w+)\s*,\s*%envreg([12])\s*;")


CLUSTERS = "wb_clusters"
"""The variable that counts arrivals at the barrier of each cluster of a grid; zero when a launch begins."""
MOST_CLUSTERS = 1 << 15
_ARRIVE = re.compile(r"barrier\.cluster\.arrive[.\w]*\s*;")
_WAIT = re.compile(r"barrier\.cluster\.wait[.\w]*\s*;")
_MAPA = re.compile(r"mapa(\.shared::cluster)?\.u(32|64)\s+(%\w+)\s*,\s*([^,;]+?)\s*,\s*([^,;]+?)\s*;")
_REMOTE = re.compile(
    r"((?:ld|st|atom|red)[.\w]*)\.shared::cluster([.\w]*\s[^;\[]*)\[\s*(%rd?\d+)\s*(\+?-?\w*)\s*\]([^;]*);"
)
_HERE = """{ .reg .b32 %wb_i, %wb_j, %wb_n; .reg .b64 %wb_a; .reg .pred %wb_q; mov.u32 %wb_i, %clusterid.z;
mov.u32 %wb_n, %nclusterid.y; mov.u32 %wb_j, %clusterid.y; mad.lo.u32 %wb_i, %wb_i, %wb_n, %wb_j;
mov.u32 %wb_n, %nclusterid.x; mov.u32 %wb_j, %clusterid.x; mad.lo.u32 %wb_i, %wb_i, %wb_n, %wb_j;
mov.u64 %wb_a, wb_clusters; mad.wide.u32 %wb_a, %wb_i, 4, %wb_a;""".replace("\n", " ")
_ARRIVES = f"{_HERE} atom.add.release.gpu.global.u32 %wb_ticket, [%wb_a], 1; }}"
_WAITS = f"""{_HERE} mov.u32 %wb_n, %cluster_nctarank; mov.u32 %wb_i, %ntid.x; mul.lo.u32 %wb_n, %wb_n, %wb_i;
mov.u32 %wb_i, %ntid.y; mul.lo.u32 %wb_n, %wb_n, %wb_i; mov.u32 %wb_i, %ntid.z; mul.lo.u32 %wb_n, %wb_n, %wb_i;
div.u32 %wb_j, %wb_ticket, %wb_n; wb_wait: ld.acquire.gpu.global.u32 %wb_i, [%wb_a]; div.u32 %wb_i, %wb_i, %wb_n;
setp.ls.u32 %wb_q, %wb_i, %wb_j; @%wb_q bra wb_wait; }}""".replace("\n", " ")


def expanded(text: str) -> str:
    """Return a PTX text with `malloc` and `free`, `%envreg`, cluster operations and wmma's loads and stores expanded.

    A text without them is returned as it is, and so is a form of wmma that is not known.
    """
    if _MALLOC.search(text):
        # With checks nothing is given out again: memory that threads have after one another would look like a race.
        heap = _HEAP.replace("[wb_freed];", "[wb_freed]; ret;") if text.startswith(SANITIZED.decode()) else _HEAP
        text = _MALLOC.sub(lambda m: "\n" * m[0].count("\n"), text) + heap
    if "%envreg" in text:
        text = _ENVIRONMENT.sub(_half_of_address, text) + f".global .align 16 .b8 {WORKSPACE}[64];\n"
    if "cluster" in text:
        text = _MAPA.sub(_of_block, _REMOTE.sub(_generic, text))
    if _ARRIVE.search(text):
        text = re.sub(r"(\.(?:entry|func)\b[^;{]*\{)", r"\1 .reg .b32 %wb_ticket;", text)
        text = _WAIT.sub(_WAITS, _ARRIVE.sub(_ARRIVES, text))
        text += f".global .align 16 .b8 {CLUSTERS}[{4 * MOST_CLUSTERS}];\n"
    return _WMMA.sub(_moved, text) if "wmma." in text else text


def _of_block(match: re.Match[str]) -> str:
    """Return the expansion of a `mapa`, the address of another block's shared memory in the cluster.

    Blocks' shared memories follow one another in the order of the blocks in the grid.
    """
    _, bits, to, address, rank = match.groups()
    axes = "".join(
        f"rem.u32 %wb_i, %wb_r, %cluster_nctaid.{axis}; div.u32 %wb_r, %wb_r, %cluster_nctaid.{axis}; "
        f"sub.u32 %wb_i, %wb_i, %cluster_ctaid.{axis}; mad.lo.u32 %wb_d, %wb_i, %wb_s, %wb_d; "
        f"mul.lo.u32 %wb_s, %wb_s, %nctaid.{axis}; "
        for axis in "xyz"
    )
    add = (
        f"mul.lo.u32 %wb_d, %wb_d, %wb_slot; add.u32 {to}, %wb_d, {address};"
        if bits == "32"
        else f"mul.wide.s32 %wb_a, %wb_d, %wb_slot; add.s64 {to}, %wb_a, {address};"
    )
    names = ".reg .b32 %wb_r, %wb_i, %wb_d, %wb_s; .reg .b64 %wb_a;"
    return f"{{ {names} mov.u32 %wb_r, {rank}; mov.u32 %wb_d, 0; mov.u32 %wb_s, 1; {axes}{add} }}"


def _generic(match: re.Match[str]) -> str:
    """Return the expansion of an access to a cluster's shared memory: an access by a generic address."""
    before, after, register, offset, rest = match.groups()
    wide = "mov.u64 %wb_a, {};" if register.startswith("%rd") else "cvt.s64.s32 %wb_a, {};"
    name = wide.format(register)
    return f"{{ .reg .b64 %wb_a; {name} cvta.shared.u64 %wb_a, %wb_a; {before}{after}[%wb_a{offset}]{rest}; }}"


def _half_of_address(match: re.Match[str]) -> str:
    """Return the expansion of a read of `%envreg1` or `%envreg2`: a half of the grid workspace's address."""
    shift = "shr.u64 %wb_a, %wb_a, 32; " if match[2] == "1" else ""
    return f"{{ .reg .b64 %wb_a; mov.u64 %wb_a, {WORKSPACE}; {shift}cvt.u32.u64 {match[1]}, %wb_a; }}"


def _moved(match: re.Match[str]) -> str:
    """Return the expansion of wmma.load or wmma.store: plain loads or stores of each lane's elements.

    The text of the match is returned as it is if its form is not known.
    """
    what, parts = match["what"], match["rest"].split(".")
    shape = next((m for p in parts if (m := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", p))), None)
    kind = next((p for p in parts if p in _BITS), "")
    space = "".join(f".{p}" for p in parts if p.split("::")[0] in _SPACES)
    store = what.startswith("store")
    form = r"\[(.*?)\]\s*,\s*\{(.*?)\}(?:\s*,\s*(\S+))?" if store else r"\{(.*?)\}\s*,\s*\[(.*?)\](?:\s*,\s*(\S+))?"
    operands = re.fullmatch(form, match["operands"].strip(), re.DOTALL)
    if shape is None or not kind or operands is None:
        return match[0]
    m, n, k = map(int, shape.groups())
    height, width = {"a": (m, k), "b": (k, n)}.get(what[-1], (m, n))
    address, listed = (operands[1], operands[2]) if store else (operands[2], operands[1])
    registers = [r.strip() for r in listed.split(",")]
    bits, row = _BITS[kind], "row" in parts
    each = 1 if bits >= 32 else 32 // bits
    stride = operands[3] or str(width if row else height)
    moves = [
        line
        for number, register in enumerate(registers)
        for line in _register(register, number * 32 * each, each, bits, (height, width, row), stride, space, store)
    ]
    names = ".reg .b32 %wb_l, %wb_p, %wb_r, %wb_c, %wb_v; .reg .b64 %wb_a, %wb_b; .reg .b16 %wb_h;"
    lane = f"mov.u32 %wb_l, %laneid; mul.lo.u32 %wb_l, %wb_l, {each}; mov.u64 %wb_b, {address.strip()};"
    return "{ " + " ".join([names, lane, *moves]) + " }" + "\n" * match[0].count("\n")


def _register(
    register: str, first: int, each: int, bits: int, matrix: tuple[int, int, bool], stride: str, space: str,
    store: bool,
) -> list[str]:  # fmt: skip
    """Return the PTX lines that load or store one register of a wmma fragment.

    Args:
        register: its name.
        first: index of lane 0's first element among all elements of the fragment.
        each: elements per register.
        bits: of an element.
        matrix: height, width, and whether the matrix is row-major in memory.
        stride: elements between two rows or columns, as text.
        space: the state space with its dot, or "".
        store: store the register instead of loading it.
    """
    height, width, row = matrix
    shift = width.bit_length() - 1
    out = [f"mov.b32 %wb_v, {register if store else 0};"] if each > 1 else []
    for part in range(each):
        out += [
            f"add.u32 %wb_p, %wb_l, {first + part};",
            f"and.b32 %wb_p, %wb_p, {height * width - 1};",
            f"shr.u32 %wb_r, %wb_p, {shift};",
            f"and.b32 %wb_c, %wb_p, {width - 1};",
            f"mad.lo.u32 %wb_p, {'%wb_r' if row else '%wb_c'}, {stride}, {'%wb_c' if row else '%wb_r'};",
            f"mad.wide.u32 %wb_a, %wb_p, {bits // 8}, %wb_b;",
        ]
        if each == 1:
            out.append(
                f"st{space}.b{bits} [%wb_a], {register};" if store else f"ld{space}.b{bits} {register}, [%wb_a];"
            )
        elif store:
            out += [
                f"shr.u32 %wb_p, %wb_v, {bits * part};",
                "cvt.u16.u32 %wb_h, %wb_p;",
                f"st{space}.b{bits} [%wb_a], %wb_h;",
            ]
        else:
            out += [
                f"ld{space}.b{bits} %wb_h, [%wb_a];",
                "cvt.u32.u16 %wb_p, %wb_h;",
                f"bfi.b32 %wb_v, %wb_p, %wb_v, {bits * part}, {bits};",
            ]
    return out if each == 1 or store else [*out, f"mov.b32 {register}, %wb_v;"]
