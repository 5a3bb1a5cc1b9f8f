"""What relocations write, on both machines: instructions worked out by hand, and whole objects of the one not here."""

from __future__ import annotations

import struct

import pytest

from tests.support.checks.platforms import PLATFORMS
from workbench.backends.cpu.elf import MACHINES, Object
from workbench.backends.cpu.jit import AARCH64, PAGES, X86_64, Damaged, Unsupported
from workbench.backends.cpu.native import dispatch

LINUX_ON_ARM = next(p for p in PLATFORMS if p.triple.startswith("aarch64") and p.system == "linux")
PAGE = PAGES[AARCH64]
BASES = (0x10000, 0x7F12_3456_7000, 0xFFFF_8000_0000)
FAR, NEAR = 0x5555_0000_0040, 1 << 20


@pytest.mark.parametrize(
    ("machine", "kind", "before", "aim", "here", "after"),
    [
        (X86_64, 1, "0000000000000000", 0x7F0012345678, 0x1000, "78563412007f0000"),
        (X86_64, 2, "00000000", 0x2000 - 4, 0x1001, "fb0f0000"),
        (X86_64, 4, "00000000", 0x1000 - 4, 0x2001, "fbefffff"),
        (AARCH64, 261, "00000000", 0x1000, 0x2000, "00f0ffff"),
        # bl #0x10, bl #-0x10
        (AARCH64, 283, "00000094", 0x10010, 0x10000, "04000094"),
        (AARCH64, 283, "00000094", 0xFFF0, 0x10000, "fcffff97"),
        # adrp x0, #0x12000 and #-0x12000
        (AARCH64, 275, "00000090", 0x412345, 0x400000, "800000d0"),
        (AARCH64, 275, "00000090", 0x400010, 0x412345, "60ffffd0"),
        # add x0, x0, #0x345; ldrb, ldrh, ldr w, ldr x, ldr q at the lower 12 bits
        (AARCH64, 277, "00000091", 0x412345, 0, "00140d91"),
        (AARCH64, 278, "00004039", 0x412345, 0, "00144d39"),
        (AARCH64, 284, "00004079", 0x412346, 0, "008c4679"),
        (AARCH64, 285, "000040b9", 0x412344, 0, "004443b9"),
        (AARCH64, 286, "000040f9", 0x412348, 0, "00a441f9"),
        (AARCH64, 299, "0000c03d", 0x412340, 0, "00d0c03d"),
    ],
)
def test_what_an_instruction_becomes(machine: int, kind: int, before: str, aim: int, here: int, after: str) -> None:
    memory = bytearray(b"\xff\xff" + bytes.fromhex(before) + b"\xff\xff")
    MACHINES[machine].rules[kind].apply(memory, [(2, aim, here)])
    assert memory[2:-2].hex() == after
    assert memory[:2] == memory[-2:] == b"\xff\xff"


@pytest.mark.parametrize(
    ("machine", "kind", "aim", "error"),
    [
        (X86_64, 2, 1 << 31, Unsupported), (X86_64, 2, -(1 << 31) - 1, Unsupported),
        (AARCH64, 283, 1 << 27, Unsupported), (AARCH64, 275, 1 << 32, Unsupported),
        (AARCH64, 283, 2, Damaged), (AARCH64, 286, 4, Damaged),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(machine: int, kind: int, aim: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        MACHINES[machine].rules[kind].apply(bytearray(8), [(0, aim, 0)])
    nearest = {1 << 31: aim - 1, -(1 << 31) - 1: aim + 1, 1 << 27: aim - 4, 1 << 32: aim - 1, 2: 4, 4: 8}[aim]
    MACHINES[machine].rules[kind].apply(bytearray(8), [(0, nearest, 0)])


TEXT = """
@own = internal global i64 7
@small = internal global [3 x i8] c"abc", align 1
@halfword = internal constant i16 5
@word = internal constant i32 5
@other = internal constant i64 9
@byte = internal constant i8 9
@wide = internal constant <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>
@empty = internal global [64 x i64] zeroinitializer
@theirs = external global i64
@table = internal global [3 x ptr] [ptr @own, ptr @callee, ptr getelementptr (i8, ptr @small, i64 2)]

declare double @far(double)
declare double @near(double)

define internal double @callee(double %x) noinline {
  %y = call double @far(double %x)
  %z = call double @near(double %y)
  %w = fadd double %y, %z
  ret double %w
}

define double @entry(double %x, i64 %i) {
  %a = load volatile i64, ptr @own
  %b = load volatile i64, ptr @theirs
  %a.2 = load volatile i64, ptr @other
  %a.3 = load volatile i8, ptr @byte
  %c.at = getelementptr i8, ptr @small, i64 %i
  %c = load volatile i8, ptr %c.at
  %d = load volatile i16, ptr @halfword
  %e = load volatile i32, ptr @word
  %f = load volatile <4 x float>, ptr @wide
  %g.at = getelementptr i64, ptr @empty, i64 %i
  store volatile i64 %b, ptr %g.at
  %h.at = getelementptr ptr, ptr @table, i64 %i
  %h = load volatile ptr, ptr %h.at
  store volatile i64 %a, ptr @own
  store volatile i8 %c, ptr %h
  %y = call double @callee(double %x)
  %z = tail call double @near(double %y)
  ret double %z
}
"""


def sign(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def meant(kind: int, memory: bytes, at: int, here: int) -> tuple[int, int]:
    """What an instruction or a word refers to, as far as it says it, and the bits of an address that it says."""
    word = struct.unpack_from("<I", memory, at)[0]
    if kind == 257:
        return struct.unpack_from("<Q", memory, at)[0], (1 << 64) - 1
    if kind == 261:
        return here + sign(word, 32), (1 << 64) - 1
    if kind in (282, 283):
        return here + 4 * sign(word & 0x3FFFFFF, 26), (1 << 64) - 1
    if kind in (275, 311):
        pages = sign((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, 21)
        return (here & ~0xFFF) + (pages << 12), ~0xFFF
    scale = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4, 312: 3}[kind]
    return (word >> 10 & 0xFFF) << scale, 0xFFF


def check(image: bytes, base: int) -> set[int]:
    """Each relocated place refers to what it should, directly, by a slot or by a stub; gives their kinds."""
    read = Object(image)
    given = {n: (base + NEAR if name == "near" else FAR) + 8 * n for n, name in read.needs.items()}
    named = {name: given[n] for n, name in read.needs.items()}
    memory = bytes(read.linked().at(base, named.__getitem__)).ljust(read.size, b"\0")
    assert len(memory) == read.size and read.code % PAGE == 0
    for section, offset, kind, symbol, addend in read._relocations:
        at = section.at + offset
        number, value = read._symbols[symbol][2:]
        wanted = given[symbol] if symbol in given else base + read._sections[number].at + value
        said, mask = meant(kind, memory, at, base + at)
        if kind in (311, 312):
            slot = read._slots[symbol]
            assert struct.unpack_from("<Q", memory, slot)[0] == wanted and slot < read.code
            wanted, addend = base + slot, 0
        elif kind in (282, 283) and said != wanted + addend:
            stub = said - base
            assert memory[stub : stub + 8].hex() == "5000005800021fd6"
            assert struct.unpack_from("<Q", memory, stub + 8)[0] == wanted and symbol in given
            assert stub % 8 == 0 and stub < read.code
            continue
        assert said & mask == (wanted + addend) & mask, (kind, hex(said), hex(wanted))
    return {kind for _, _, kind, _, _ in read._relocations}


def test_an_object_for_linux_on_arm_wherever_it_lies() -> None:
    kinds = set()
    for level in (0, 3):
        image = LINUX_ON_ARM.object(TEXT, level)
        for base in BASES:
            kinds |= check(image, base)
    assert kinds >= {257, 275, 277, 278, 282, 283, 284, 285, 286, 299, 311, 312}


@pytest.mark.slow
def test_the_launcher_for_linux_on_arm() -> None:
    assert check(LINUX_ON_ARM.object(dispatch.text("linux"), 0), BASES[1]) >= {257, 275, 277, 283, 311, 312}
