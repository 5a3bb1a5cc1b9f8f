"""A relocatable ELF object: what of it lies in memory, in which order, and what its symbols mean there.

It holds what LLVM makes of position-independent code without exceptions and thread-local variables. All else is
`Unsupported`, and LLVM's own loader takes it. Every number is checked before it is used, so bytes that were cut off or
altered are `Damaged`, never read or written past their end. Source: System V ABI, "Object Files" (gABI 4.1).
"""

from __future__ import annotations

import struct

import msgspec

from workbench.backends.cpu.loader.relocations import MACHINES, SLOT, STUB, Damaged, Unsupported

MOST = 1 << 26
"""Bytes of an object that are loaded here: a call within it reaches all of it, also on aarch64 (±128 MB)."""

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


class _Section(msgspec.Struct):
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
    """An object file that was read and laid out, but not relocated.

    Args:
        image: the file.
        page: bytes of a page of memory: what is written and what is run lie in pages of their own.

    Attributes:
        machine: what it runs on, by ELF's number.
        size: bytes it takes in memory.
        code: of these, how many from the start are never written: code, constants, and our own slots and stubs.
        needs: the symbols that others have to give, by number.

    Raises:
        Unsupported: it holds something that this loader does not know.
        Damaged: it is not whole.
    """

    def __init__(self, image: bytes, page: int) -> None:
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
        self._lay_out(slots, stubs, page)

    def addresses(self, base: int, wanted: tuple[str, ...]) -> dict[str, int]:
        """Return the addresses of the symbols in `wanted`, if the object is loaded at `base`.

        Raises:
            Unsupported: it has no such symbol for others.
        """
        addresses = {}
        missing = set(wanted)
        for number, (name, binding, section, _) in enumerate(self._symbols):
            if binding != _LOCAL and section and (text := self._string(name)) in missing:
                addresses[text] = base + self._offset(number)
                missing.discard(text)
        if missing:
            raise Unsupported(f"no symbol {min(missing)}")
        return {name: addresses[name] for name in wanted}

    def relocated(self, base: int, symbols: dict[int, int]) -> bytearray:
        """Return the bytes as they are to lie at `base`; `symbols` are the addresses of what it needs.

        Raises:
            Unsupported: a distance is too long for an instruction.
            Damaged: a relocation or a symbol points outside its section.
        """
        memory = bytearray(self.size)
        for section in self._sections:
            if section.at >= 0 and section.kind != _NOTHING:
                memory[section.at : section.at + section.size] = self._bytes(section)
        means = [symbols[n] if n in self.needs else -1 for n in range(len(self._symbols))]

        def address(symbol: int) -> int:
            if means[symbol] < 0:
                means[symbol] = base + self._offset(symbol)
            return means[symbol]

        for symbol, at in self._slots.items():
            memory[at : at + SLOT] = struct.pack("<Q", address(symbol))
        for symbol, at in self._stubs.items():
            memory[at : at + STUB] = self._machine.stub + struct.pack("<Q", address(symbol))
        for section, offset, kind, symbol, addend in self._relocations:
            rule = self._machine.rules[kind]
            if offset + rule.size > section.size:
                raise Damaged("a relocation outside its section")
            at = section.at + offset
            known = means[symbol]
            aim = base + self._slots[symbol] if rule.slot else known if known >= 0 else address(symbol)
            if rule.call and symbol in self._stubs and not rule.reaches(aim + addend - base - at):
                aim = base + self._stubs[symbol]
            rule.apply(memory, at, aim + addend, base + at)
        return memory

    def _read_sections(self) -> tuple[int, list[_Section]]:
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
        """Return the names' table, and of each symbol name, binding, section and value."""
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
        """Read each relocation: section, offset, kind, symbol, addend."""
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

    def _lay_out(self, slots: dict[int, int], stubs: dict[int, int], page: int) -> None:
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
        """Return the offset of a symbol of the object's own from its start."""
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
        name, binding, _, _ = self._symbols[symbol]
        if binding == _LOCAL:
            raise Damaged("a local symbol without a definition")
        return self._string(name)

    def _string(self, offset: int) -> str:
        end = self._names.find(b"\0", offset)
        if offset > len(self._names) or end < 0:
            raise Damaged("a name is cut off")
        return self._names[offset:end].decode("utf-8", "replace")

    def _bytes(self, section: _Section) -> bytes:
        if section.kind in (0, _NOTHING):
            raise Damaged("a table without bytes")
        return self._image[section.offset : section.offset + section.size]


def _placed(sections: list[_Section], at: int) -> int:
    """Lay sections side by side from `at`; returns where they end."""
    for section in sections:
        alignment = section.alignment or 1
        section.at = -(-at // alignment) * alignment
        at = section.at + section.size
    return at
