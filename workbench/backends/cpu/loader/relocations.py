"""Relocations: the bytes that each type writes, on the machines whose objects we load ourselves.

A short list: what LLVM makes of position-independent code of the small code model. Sources: System V ABI AMD64 1.0,
§4.4; ELF for the Arm 64-bit Architecture (2023Q3), §5.7.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

X86_64, AARCH64 = 62, 183
"""ELF's numbers of the machines."""
SLOT = 8
"""Bytes of a symbol's address, which code reads from a table."""
STUB = 16
"""Bytes of a jump to an address that a call cannot reach."""
_WHOLE = 1 << 64


class Unsupported(Exception):
    """Something that is left to LLVM's loader."""


class Damaged(Exception):
    """An object that is not whole."""


class Rule(msgspec.Struct, frozen=True):
    """A type of relocation.

    Attributes:
        apply: writes into memory, at an offset: from the address that is meant and the one where it is written.
        size: how many bytes it writes.
        slot: what is meant is the slot that holds the symbol's address.
        call: it is a call, which may go by way of a stub.
        reach: how far away (bytes, ±) what is meant may lie.
    """

    apply: Callable[[bytearray, int, int, int], None]
    size: int = 4
    slot: bool = False
    call: bool = False
    reach: int = 1 << 31

    def reaches(self, distance: int) -> bool:
        """Return whether what is meant may lie so far away."""
        return -self.reach <= distance < self.reach


class Machine(msgspec.Struct, frozen=True):
    """A machine's relocations by number, and the code of a stub; the address to jump to follows the code."""

    rules: dict[int, Rule]
    stub: bytes


_TOO_FAR = "the target of a relocation is out of range"


def _absolute(memory: bytearray, at: int, aim: int, here: int) -> None:
    memory[at : at + 8] = (aim % _WHOLE).to_bytes(8, "little")


def _distance(memory: bytearray, at: int, aim: int, here: int) -> None:
    try:
        memory[at : at + 4] = (aim - here).to_bytes(4, "little", signed=True)
    except OverflowError:
        raise Unsupported(_TOO_FAR) from None


def _signed(value: int, bits: int) -> int:
    """Return a signed number as so many bits.

    Raises:
        Unsupported: it has more.
    """
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise Unsupported(_TOO_FAR)
    return value % (1 << bits)


def _into(memory: bytearray, at: int, field: int, shift: int, bits: int) -> None:
    """Write a field of an instruction of 32 bits."""
    word = int.from_bytes(memory[at : at + 4], "little") & ~(((1 << bits) - 1) << shift)
    memory[at : at + 4] = (word | field << shift).to_bytes(4, "little")


def _page(memory: bytearray, at: int, aim: int, here: int) -> None:
    """ADRP: the distance in pages of 4 kB, its lower two bits apart."""
    pages = _signed((aim >> 12) - (here >> 12), 21)
    _into(memory, at, pages & 3, 29, 2)
    _into(memory, at, pages >> 2, 5, 19)


def _branch(memory: bytearray, at: int, aim: int, here: int) -> None:
    if (aim - here) % 4:
        raise Damaged("a branch between two instructions")
    _into(memory, at, _signed((aim - here) // 4, 26), 0, 26)


def _low(shift: int) -> Rule:
    """Return the lower 12 bits of an address, in units of an access's size."""

    def apply(memory: bytearray, at: int, aim: int, here: int) -> None:
        if aim % (1 << shift):
            raise Damaged("an access that is not aligned")
        _into(memory, at, (aim & 0xFFF) >> shift, 10, 12)

    return Rule(apply)


_X86_64 = Machine(
    {
        1: Rule(_absolute, 8),  # R_X86_64_64
        2: Rule(_distance),  # PC32
        4: Rule(_distance, call=True),  # PLT32
        9: Rule(_distance, slot=True),  # GOTPCREL
        41: Rule(_distance, slot=True),  # GOTPCRELX
        42: Rule(_distance, slot=True),  # REX_GOTPCRELX
    },
    bytes.fromhex("ff2502000000 0f0b"),  # jmp *2(%rip); ud2
)
_AARCH64 = Machine(
    {
        257: Rule(_absolute, 8),  # R_AARCH64_ABS64
        261: Rule(_distance),  # PREL32
        275: Rule(_page),  # ADR_PREL_PG_HI21
        277: _low(0),  # ADD_ABS_LO12_NC
        278: _low(0),  # LDST8_ABS_LO12_NC
        282: Rule(_branch, call=True, reach=1 << 27),  # JUMP26
        283: Rule(_branch, call=True, reach=1 << 27),  # CALL26
        284: _low(1),  # LDST16_ABS_LO12_NC
        285: _low(2),  # LDST32_ABS_LO12_NC
        286: _low(3),  # LDST64_ABS_LO12_NC
        299: _low(4),  # LDST128_ABS_LO12_NC
        311: Rule(_page, slot=True),  # ADR_GOT_PAGE
        312: Rule(_low(3).apply, slot=True),  # LD64_GOT_LO12_NC
    },
    bytes.fromhex("50000058 00021fd6"),  # ldr x16, #8; br x16
)
MACHINES = {X86_64: _X86_64, AARCH64: _AARCH64}
"""By ELF's number of the machine."""
