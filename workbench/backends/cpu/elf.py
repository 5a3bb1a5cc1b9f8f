"""Relocatable ELF objects, linked into images (`jit.Image`): laid out, with all distances within them written.

They hold what LLVM makes of position-independent code without exceptions and thread-local variables. All else is
`Unsupported`, and LLVM's own loader takes it. Every number is checked before it is used, so bytes that were cut off or
altered are `Damaged`, never read or written past their end. The list of relocations is short: what LLVM makes of the
small code model. Sources: System V ABI, "Object Files" (gABI 4.1); System V ABI AMD64 1.0, §4.4; ELF for the Arm 64-bit
Architecture (2023Q3), §5.7.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeAlias

import msgspec

from workbench.backends.cpu.jit import AARCH64, PAGES, X86_64, Damaged, Image, Unsupported, machine

MOST = 1 << 26
"""The most bytes of an object that is loaded here: a call within it reaches all of it, also on aarch64 (±128 MB)."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_IDENT = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
_RELOCATABLE = 1
_PROGRAM, _SYMBOLS, _RELA, _NOTE, _NOTHING, _REL = 1, 2, 4, 7, 8, 9  # sh_type
_UNWIND = 0x70000001  # SHT_X86_64_UNWIND
_WRITE, _ALLOCATED, _THREADS = 1, 2, 0x400  # sh_flags
_LOCAL = 0  # binding of a symbol
_PLAIN = (0, 1, 2, 3)  # types of symbols: none, object, function, section
_RESERVED = 0xFF00  # section numbers from here on mean something else
SLOT = 8
"""Bytes of a symbol's address, which code reads from a table."""
STUB = 16
"""Bytes of a jump to an address that a call cannot reach."""
_WHOLE = 1 << 64


Aims: TypeAlias = Iterable[tuple[int, int, int]]


class Rule(msgspec.Struct, frozen=True):
    """The way in which relocations of one type are applied.

    Attributes:
        apply: writes into memory at offsets: takes the memory, and for each relocation the offset, the target's
            address, and the address of the offset.
        size: how many bytes it writes.
        slot: the target is the slot that holds the symbol's address, not the symbol.
        call: it is in a call, which reaches symbols outside of the object by way of a stub.
        absolute: the address itself is written, not a distance.
    """

    apply: Callable[[bytearray, Aims], None]
    size: int = 4
    slot: bool = False
    call: bool = False
    absolute: bool = False


class Machine(msgspec.Struct, frozen=True):
    """A processor architecture: its relocation rules by number, and the code of a stub.

    A stub jumps to the address that follows its code.
    """

    rules: dict[int, Rule]
    stub: bytes


_TOO_FAR = "the target of a relocation is out of range"


def _absolute(memory: bytearray, aims: Aims) -> None:
    """Write each address `aim` as a word of 64 bits."""
    for at, aim, _ in aims:
        memory[at : at + 8] = (aim % _WHOLE).to_bytes(8, "little")


def _distance(memory: bytearray, aims: Aims) -> None:
    """Write each distance from `here` to `aim` as a signed word of 32 bits.

    Raises:
        Unsupported: it does not fit.
    """
    for at, aim, here in aims:
        try:
            memory[at : at + 4] = (aim - here).to_bytes(4, "little", signed=True)
        except OverflowError:
            raise Unsupported(_TOO_FAR) from None


def _signed(value: int, bits: int) -> int:
    """Return a signed number in two's complement of `bits` bits.

    Raises:
        Unsupported: it does not fit.
    """
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise Unsupported(_TOO_FAR)
    return value % (1 << bits)


def _into(memory: bytearray, at: int, field: int, shift: int, bits: int) -> None:
    """Overwrite a field of a 32-bit instruction: `bits` bits from bit `shift` on."""
    word = int.from_bytes(memory[at : at + 4], "little") & ~(((1 << bits) - 1) << shift)
    memory[at : at + 4] = (word | field << shift).to_bytes(4, "little")


def _page(memory: bytearray, aims: Aims) -> None:
    """Write each distance in pages of 4 KiB into an AArch64 ADRP instruction, which splits it into two fields.

    Raises:
        Unsupported: the distance does not fit.
    """
    for at, aim, here in aims:
        pages = _signed((aim >> 12) - (here >> 12), 21)
        _into(memory, at, pages & 3, 29, 2)
        _into(memory, at, pages >> 2, 5, 19)


def _branch(memory: bytearray, aims: Aims) -> None:
    """Write each distance from `here` to `aim`, in instructions, into an AArch64 branch.

    Raises:
        Damaged: the target is between two instructions.
        Unsupported: the distance does not fit.
    """
    for at, aim, here in aims:
        if (aim - here) % 4:
            raise Damaged("a branch between two instructions")
        _into(memory, at, _signed((aim - here) // 4, 26), 0, 26)


def _low(shift: int) -> Rule:
    """Return a rule that writes an address's lower 12 bits into an AArch64 instruction, in units of `1 << shift`.

    Applying it raises `Damaged` if the address is no multiple of that.
    """

    def apply(memory: bytearray, aims: Aims) -> None:
        """Write the lower 12 bits of each address `aim` into the instruction at `at`."""
        for at, aim, _ in aims:
            if aim % (1 << shift):
                raise Damaged("an access that is not aligned")
            _into(memory, at, (aim & 0xFFF) >> shift, 10, 12)

    return Rule(apply)


_X86_64 = Machine(
    {
        1: Rule(_absolute, 8, absolute=True),  # R_X86_64_64
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
        257: Rule(_absolute, 8, absolute=True),  # R_AARCH64_ABS64
        261: Rule(_distance),  # PREL32
        275: Rule(_page),  # ADR_PREL_PG_HI21
        277: _low(0),  # ADD_ABS_LO12_NC
        278: _low(0),  # LDST8_ABS_LO12_NC
        282: Rule(_branch, call=True),  # JUMP26
        283: Rule(_branch, call=True),  # CALL26
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
"""The supported architectures, by ELF's number."""


class _Section(msgspec.Struct):
    """A section of an ELF object: the fields of its header, and where it is in memory.

    Attributes:
        kind: ELF's section type.
        flags: ELF's bits: allocated, written, …
        offset: in the file.
        size: in bytes.
        link, info: numbers of other sections, as the type has it.
        alignment: in bytes.
        entry: bytes of an entry of a table.
        at: offset in the loaded object's memory; -1 if it is not loaded.
    """

    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int
    at: int = -1


class Object:
    """A relocatable ELF object that was read, and its layout in memory.

    Attributes:
        machine: ELF's number of the architecture it is for.
        size: bytes it takes in memory.
        code: how many bytes from the start are never written to: code, constants, and our own slots and stubs.
        needs: the names of undefined symbols that relocations refer to, by number.

    Raises:
        Unsupported: it is no such object, or holds something that this loader does not know.
        Damaged: it is cut off or inconsistent.
    """

    def __init__(self, image: bytes) -> None:
        """Read an object file and lay it out in memory; `linked` does the rest."""
        self._image = image
        self.machine, self._sections = self._read_sections()
        self._machine = MACHINES[self.machine]
        self._names, self._symbols = self._read_symbols()
        self._relocations = self._read_relocations()
        self.needs: dict[int, str] = {}
        slots: dict[int, int] = {}
        stubs: dict[int, int] = {}
        for _, _, kind, symbol, _ in self._relocations:
            rule = self._machine.rules[kind]
            if symbol not in self.needs and self._symbols[symbol][2] == 0:
                self.needs[symbol] = self._name(symbol)
            if rule.slot:
                slots.setdefault(symbol, len(slots))
            elif rule.call and symbol in self.needs:
                stubs.setdefault(symbol, len(stubs))
        self._lay_out(slots, stubs)

    def linked(self) -> Image:
        """Return the object as an image; only addresses that depend on where it is loaded are left to the loader.

        Raises:
            Unsupported: a distance is too long for an instruction, or leads to data outside of the object.
            Damaged: a relocation or a symbol points outside its section.
        """
        end = max((s.at + s.size for s in self._sections if s.at >= 0 and s.kind != _NOTHING), default=0)
        tables = [at + SLOT for at in self._slots.values()] + [at + STUB for at in self._stubs.values()]
        memory = bytearray(max(end, *tables, 0))
        for section in self._sections:
            if section.at >= 0 and section.kind != _NOTHING:
                memory[section.at : section.at + section.size] = self._bytes(section)
        image = Image(self.machine, self.code, self.size, memory, [], [], self._exported())
        referenced = {symbol for _, _, _, symbol, _ in self._relocations}
        offsets = {symbol: self._offset(symbol) for symbol in referenced if symbol not in self.needs}
        addresses = [(at, symbol, 0) for symbol, at in self._slots.items()]
        for symbol, at in self._stubs.items():
            memory[at : at + STUB - SLOT] = self._machine.stub
            addresses.append((at + STUB - SLOT, symbol, 0))
        aims: dict[int, list[tuple[int, int, int]]] = {}
        for section, offset, kind, symbol, addend in self._relocations:
            rule = self._machine.rules[kind]
            if offset + rule.size > section.size:
                raise Damaged("a relocation outside its section")
            at = section.at + offset
            if rule.absolute:
                addresses.append((at, symbol, addend))
                continue
            if rule.slot:
                aim = self._slots[symbol]
            elif symbol in offsets:
                aim = offsets[symbol]
            elif rule.call:
                aim = self._stubs[symbol]
            else:
                raise Unsupported("a distance to something outside of the object")
            aims.setdefault(kind, []).append((at, aim + addend, at))
        for kind, of_kind in aims.items():
            self._machine.rules[kind].apply(memory, of_kind)
        # Of a symbol of the object its offset is written; of an undefined one the image lists the name.
        for at, symbol, addend in addresses:
            if symbol in offsets:
                memory[at : at + SLOT] = (offsets[symbol] + addend).to_bytes(SLOT, "little", signed=True)
                image.own.append(at)
            else:
                image.others.append((at, self.needs[symbol], addend))
        return image

    def _exported(self) -> dict[str, int]:
        """Return the offsets of the symbols that are defined here and not local, by name."""
        return {
            self._string(name): self._offset(number)
            for number, (name, binding, section, _) in enumerate(self._symbols)
            if binding != _LOCAL and 0 < section < _RESERVED
        }

    def _read_sections(self) -> tuple[int, list[_Section]]:
        """Return ELF's number of the architecture, and the sections.

        Raises:
            Unsupported: it is no relocatable 64-bit object of a supported architecture.
            Damaged: the table or a section is cut off.
        """
        image = self._image
        if len(image) < _HEADER.size or image[:7] != _IDENT:
            raise Unsupported("no ELF object of 64 bits")
        _, kind, machine, _, _, _, offset, _, _, _, _, size, count, _ = _HEADER.unpack_from(image)
        if kind != _RELOCATABLE or machine not in MACHINES or size != _SECTION.size or not 0 < count < _RESERVED:
            raise Unsupported("another kind of ELF object")
        if offset + count * size > len(image):
            raise Damaged("its table of sections is cut off")
        sections = []
        for row in _SECTION.iter_unpack(image[offset : offset + count * size]):
            _, kind, flags, _, at, length, link, info, alignment, entry = row
            section = _Section(kind, flags, at, length, link, info, alignment, entry)
            if kind not in (0, _NOTHING) and at + length > len(image):
                raise Damaged("a section is cut off")
            sections.append(section)
        return machine, sections

    def _read_symbols(self) -> tuple[bytes, list[tuple[int, int, int, int]]]:
        """Return the string table, and for each symbol: offset of its name, binding, section number and value.

        The section number is `_RESERVED` for symbols without an address.

        Raises:
            Unsupported: there is not exactly one symbol table.
            Damaged: it is cut off.
        """
        tables = [s for s in self._sections if s.kind == _SYMBOLS]
        if len(tables) != 1 or tables[0].entry != _SYMBOL.size:
            raise Unsupported("not one table of symbols")
        table = tables[0]
        if table.size % _SYMBOL.size or table.link >= len(self._sections):
            raise Damaged("its table of symbols is cut off")
        symbols = []
        for name, info, _, section, value, _ in _SYMBOL.iter_unpack(self._bytes(table)):
            # What is no function, object or section, and what lies in none (a file's name), has no address.
            plain = info & 15 in _PLAIN and section < _RESERVED
            symbols.append((name, info >> 4, section if plain else _RESERVED, value))
        return self._bytes(self._sections[table.link]), symbols

    def _read_relocations(self) -> list[tuple[_Section, int, int, int, int]]:
        """Return the relocations of the sections that are loaded: section, offset, type, symbol and addend.

        Raises:
            Unsupported: their form or type is unknown.
            Damaged: a table is cut off, or names a section or symbol that does not exist.
        """
        relocations = []
        for table in self._sections:
            if table.kind not in (_RELA, _REL):
                continue
            if table.info >= len(self._sections):
                raise Damaged("relocations of no section")
            section = self._sections[table.info]
            if not section.flags & _ALLOCATED or section.kind == _UNWIND:
                continue
            if table.kind == _REL or table.entry != _RELOCATION.size or section.kind != _PROGRAM:
                raise Unsupported("relocations of another form")
            if table.size % _RELOCATION.size:
                raise Damaged("its relocations are cut off")
            for offset, info, addend in _RELOCATION.iter_unpack(self._bytes(table)):
                kind, symbol = info & 0xFFFFFFFF, info >> 32
                if kind not in self._machine.rules:
                    raise Unsupported(f"a relocation of type {kind}")
                if symbol >= len(self._symbols):
                    raise Damaged("a relocation by a symbol that is not there")
                relocations.append((section, offset, kind, symbol, addend))
        return relocations

    def _lay_out(self, slots: dict[int, int], stubs: dict[int, int]) -> None:
        """Set the offsets in memory of the loaded sections, slots and stubs, and `code` and `size`.

        Args:
            slots: the number of each symbol's slot.
            stubs: the number of each symbol's stub.

        Raises:
            Unsupported: a section is of a kind that is not supported, or there is nothing to load, or too much.
            Damaged: an alignment or a size is impossible.
        """
        page = PAGES[self.machine]  # what is written and what is run lie in pages of their own
        parts = [s for s in self._sections if s.flags & _ALLOCATED and s.kind not in (_NOTE, _UNWIND) and s.size]
        for part in parts:
            if part.kind not in (_PROGRAM, _NOTHING) or part.flags & _THREADS or part.alignment > page:
                raise Unsupported(f"a section of type {part.kind}")
            if part.alignment & (part.alignment - 1) or part.size > MOST:
                raise Damaged("a section of an impossible size")
        end = _placed([p for p in parts if not p.flags & _WRITE], 0)
        end = -(-end // STUB) * STUB
        self._slots = {symbol: end + SLOT * n for symbol, n in slots.items()}
        end += -(-SLOT * len(slots) // STUB) * STUB
        self._stubs = {symbol: end + STUB * n for symbol, n in stubs.items()}
        self.code = -(-(end + STUB * len(stubs)) // page) * page
        written = [p for p in parts if p.flags & _WRITE]
        self.size = _placed(written, self.code) if written else self.code
        if not 0 < self.size <= MOST:
            raise Unsupported("nothing to load, or too much")

    def _offset(self, symbol: int) -> int:
        """Return the offset, from the start of the object in memory, of a symbol that it defines.

        Raises:
            Unsupported: the symbol has no address, or its section is not loaded.
            Damaged: it lies outside its section.
        """
        _, _, number, value = self._symbols[symbol]
        if number == _RESERVED:
            raise Unsupported("a symbol of another kind")
        if number >= len(self._sections):
            raise Damaged("a symbol in no section")
        section = self._sections[number]
        if section.at < 0 and section.size:
            raise Unsupported("a symbol in a section that is not loaded")
        if value > section.size:
            raise Damaged("a symbol outside its section")
        return max(section.at, 0) + value

    def _name(self, symbol: int) -> str:
        """Return the name of an undefined symbol; raise `Damaged` if it is local."""
        name, binding, _, _ = self._symbols[symbol]
        if binding == _LOCAL:
            raise Damaged("a local symbol without a definition")
        return self._string(name)

    def _string(self, offset: int) -> str:
        """Return the string at an offset of the string table; raise `Damaged` if it is cut off."""
        end = self._names.find(b"\0", offset)
        if offset > len(self._names) or end < 0:
            raise Damaged("a name is cut off")
        return self._names[offset:end].decode("utf-8", "replace")

    def _bytes(self, section: _Section) -> bytes:
        """Return a section's bytes in the file; raise `Damaged` if its type has none."""
        if section.kind in (0, _NOTHING):
            raise Damaged("a table without bytes")
        return self._image[section.offset : section.offset + section.size]


def linked(image: bytes) -> bytes:
    """Link an object for this machine into an image, and return that encoded.

    The bytes are returned unchanged if they are for another machine, or hold something our loader does not support.

    Raises:
        Damaged: the object is cut off or inconsistent.
    """
    if machine():
        with suppress(Unsupported):
            read = Object(image)
            if read.machine == machine():
                return read.linked().encode()
    return image


def _placed(sections: list[_Section], at: int) -> int:
    """Set the offset in memory of each section, one behind the other from `at` on; return the end of the last."""
    for section in sections:
        alignment = section.alignment or 1
        section.at = -(-at // alignment) * alignment
        at = section.at + section.size
    return at
