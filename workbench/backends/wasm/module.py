"""A linker for one WebAssembly object: makes a module that a browser loads, without what is not called.

LLVM writes relocatable objects and its linker is not in the wheel. One object with one memory needs little linking:
indices of functions, types and globals hold within the object, so only addresses of data are rewritten. Source: the
WebAssembly core specification (binary format) and the tool conventions' `Linking.md` (symbols, relocations).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from workbench.backends.cpu.maths.lanes import WRITTEN
from workbench.errors import BuildError

ALIGNED = 16
CUSTOM, FUNCTIONS, EXPORTS, ELEMENTS, CODE, DATA = 0, 3, 7, 9, 10, 11
_FUNCTION, _DATA_SYMBOL, _SECTION = 0, 1, 3  # kinds of symbols
_UNDEFINED, _NAMED = 0x10, 0x40  # flags of symbols
_ADDRESSES = {3: "leb", 4: "leb", 5: "word"}  # by kinds of relocations
_WITH_ADDEND = {3, 4, 5, 8, 9}
_AS_THEY_ARE = {0, 6, 7, 20}  # indices of functions, types, globals and tables
_PADDED = 5  # bytes of a number that a linker may change
_NOTHING = bytes([3, 0, 0, 0x0B])  # the body of a function that is never called: size, no locals, unreachable, end


class Module(msgspec.Struct, frozen=True):
    """A WebAssembly module for a memory that it shares with others.

    Attributes:
        image: what `WebAssembly.Module` takes; it imports everything from `env`.
        size: bytes of the memory from its base on that are its own.
        addresses: of its data symbols, by name.
        imports: names of the functions that it calls and does not have.
        fused: offsets in the image of the calls of its function of multiply-add (`lanes.WRITTEN`), by bits of an
            element: a browser may put an instruction over the six bytes of each call.
    """

    image: bytes
    size: int
    addresses: dict[str, int]
    imports: tuple[str, ...]
    fused: dict[int, list[int]]


def make_module(image: bytes, exports: Sequence[str], base: int = 0) -> Module:
    """Link an object file into a module.

    Args:
        image: what LLVM wrote for `wasm32`.
        exports: names of the functions to export.
        base: where its data begins in memory, a multiple of 16.

    Raises:
        BuildError: it is no such object, lacks one of the functions, or has what kernels do not have.
    """
    try:
        return _linked(_Object(image), exports, base)
    except (IndexError, KeyError, ValueError) as error:
        raise BuildError("This is no WebAssembly object that can be made a module.", log=repr(error)) from None


class _Reader:
    """A cursor over WebAssembly bytes, which begins at `at`; reading advances it."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        """Return the next byte; raise IndexError at the end."""
        self.at += 1
        return self.data[self.at - 1]

    def leb128(self, signed: bool = False) -> int:
        """Return the next number in LEB128."""
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value - (1 << shift) if signed and b & 64 else value

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes; raise ValueError if there are fewer."""
        if self.at + count > len(self.data):
            raise ValueError("it ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def name(self) -> str:
        """Return the next name: a length in LEB128, then UTF-8."""
        return self.take(self.leb128()).decode()


class _Symbol(msgspec.Struct, frozen=True):
    """A symbol of an object: a function, global or section with its `index`, or data in a segment.

    Attributes:
        kind: its number in the symbol table: `_FUNCTION`, `_DATA_SYMBOL`, `_SECTION` or another.
        name: empty if the object does not spell it.
        defined: it is in this object, not imported.
        index: of a function, global or section; of data, its segment's.
        offset: of data, in its segment.
    """

    kind: int
    name: str
    defined: bool
    index: int
    offset: int = 0


class _Relocation(msgspec.Struct, frozen=True):
    """A spot in a section where the linker puts the index or address of a symbol.

    Attributes:
        kind: its number in the tool conventions.
        offset: in the section's body.
        symbol: the position of the symbol in the symbol table.
        addend: bytes to add to an address.
    """

    kind: int
    offset: int
    symbol: int
    addend: int


class _Object(msgspec.Struct):
    """The parsed sections of an object file.

    Attributes:
        image: the object file.
        sections: (kind, body) of each, in their order.
        symbols: the symbol table.
        relocations: by the position of the section that they change.
    """

    image: bytes
    sections: list[tuple[int, bytes]] = msgspec.field(default_factory=list[tuple[int, bytes]])
    symbols: list[_Symbol] = msgspec.field(default_factory=list[_Symbol])
    relocations: dict[int, list[_Relocation]] = msgspec.field(default_factory=dict[int, list[_Relocation]])

    def __post_init__(self) -> None:
        """Parse `image` into the other fields; raise ValueError if it is no WebAssembly."""
        if self.image[:8] != b"\0asm\1\0\0\0":
            raise ValueError("no WebAssembly")
        reader = _Reader(self.image, 8)
        while reader.at < len(self.image):
            kind = reader.byte()
            self.sections.append((kind, reader.take(reader.leb128())))
        for kind, body in self.sections:
            if kind == CUSTOM:
                inside = _Reader(body)
                name = inside.name()
                if name == "linking":
                    self._read_symbols(inside)
                elif name.startswith("reloc."):
                    section = inside.leb128()
                    self.relocations[section] = list(_relocations(inside))

    def _read_symbols(self, reader: _Reader) -> None:
        """Set `symbols` from the body of the linking section; raise ValueError for another version of that section."""
        if reader.leb128() != 2:
            raise ValueError("another version of the linking section")
        while reader.at < len(reader.data):
            kind = reader.byte()
            part = _Reader(reader.take(reader.leb128()))
            if kind == 8:
                self.symbols = [_symbol(part) for _ in range(part.leb128())]

    def section(self, kind: int) -> tuple[int, bytes]:
        """Return the position and the body of the only section of a kind; -1 and no bytes if there is none."""
        return next(((n, body) for n, (k, body) in enumerate(self.sections) if k == kind), (-1, b""))


def _symbol(reader: _Reader) -> _Symbol:
    """Read the next entry of the symbol table; its name is empty if the object does not spell it."""
    kind, flags = reader.byte(), reader.leb128()
    defined = not flags & _UNDEFINED
    if kind == _DATA_SYMBOL:
        name = reader.name()
        segment, offset = (reader.leb128(), reader.leb128()) if defined else (0, 0)
        if defined:
            reader.leb128()
        return _Symbol(kind, name, defined, segment, offset)
    index = reader.leb128()
    named = kind != _SECTION and (defined or flags & _NAMED)
    return _Symbol(kind, reader.name() if named else "", defined, index)


def _relocations(reader: _Reader) -> Iterator[_Relocation]:
    """Yield the relocations of one section, from its number of entries on."""
    for _ in range(reader.leb128()):
        kind, offset, symbol = reader.byte(), reader.leb128(), reader.leb128()
        yield _Relocation(kind, offset, symbol, reader.leb128(signed=True) if kind in _WITH_ADDEND else 0)


def _linked(parsed: _Object, exports: Sequence[str], base: int) -> Module:
    """Return the module that exports these functions, with data at `base` and only bodies that exports reach.

    Raises:
        ValueError: the object takes the address of a function.
    """
    imported = _imported_functions(parsed.section(2)[1])
    functions = {s.name: s.index for s in parsed.symbols if s.kind == _FUNCTION and s.defined}
    segments, size = _segments(parsed.section(DATA)[1])
    addresses = {
        s.name: base + segments[s.index][0] + s.offset for s in parsed.symbols if s.kind == _DATA_SYMBOL and s.defined
    }
    parts: dict[int, bytes] = {}
    for kind in (CODE, DATA):
        code_start, body = parsed.section(kind)
        parts[kind] = _relocated(bytearray(body), parsed.relocations.get(code_start, []), parsed.symbols, addresses)
    code_start = parsed.section(CODE)[0]
    parts[CODE], calls = _called(parts[CODE], parsed, code_start, len(imported), [functions[name] for name in exports])
    code = 0
    parts[DATA] = _data(segments, parts[DATA], base)
    listed = b"".join(_text(name) + b"\0" + leb(functions[name]) for name in exports)
    image = bytearray(parsed.image[:8])
    for kind, body in parsed.sections:
        if kind in (CUSTOM, 12):  # a count of segments, which only instructions on segments need
            continue
        if kind == ELEMENTS:
            raise ValueError("functions have addresses")
        if kind == CODE:
            image += _section(EXPORTS, leb(len(exports)) + listed)
        image += _section(kind, parts.get(kind, body))
        code = len(image) - len(parts[CODE]) if kind == CODE else code
    fused = {
        bits: [code + at - 1 for at, called in calls if called == functions.get(name)] for bits, name in WRITTEN.items()
    }
    return Module(bytes(image), size, addresses, tuple(imported), fused)


def _imported_functions(body: bytes) -> list[str]:
    """Return the names of the functions in the body of an import section, in the order of their indices."""
    reader = _Reader(body)
    names: list[str] = []
    for _ in range(reader.leb128() if body else 0):
        reader.name()
        name, kind = reader.name(), reader.byte()
        if kind == 0:
            names.append(name)
            reader.leb128()
        elif kind == 3:  # a global: type, whether it changes
            reader.take(2)
        else:  # a table has a type before its limits
            reader.take(1 if kind == 1 else 0)
            if reader.leb128() & 1:
                reader.leb128()
            reader.leb128()
    return names


def _segments(body: bytes) -> tuple[list[tuple[int, int, int]], int]:
    """Return the (address, offset in the section, size) of each data segment, and the bytes of memory they span.

    Raises:
        ValueError: a segment is not at a constant address.
    """
    reader, end = _Reader(body), 0
    segments: list[tuple[int, int, int]] = []
    for _ in range(reader.leb128() if body else 0):
        if reader.leb128() != 0 or reader.byte() != 0x41:  # active, at a constant
            raise ValueError("data that is not at a constant")
        at = reader.leb128(signed=True)
        reader.byte()
        size = reader.leb128()
        segments.append((at, reader.at, size))
        reader.take(size)
        end = max(end, at + size)
    return segments, -(-end // ALIGNED) * ALIGNED


def _relocated(
    body: bytearray, relocations: Sequence[_Relocation], symbols: Sequence[_Symbol], addresses: dict[str, int]
) -> bytes:
    """Return a section's body with the addresses of data that its relocations ask for; `body` itself is changed."""
    for one in relocations:
        if one.kind in _AS_THEY_ARE:
            continue
        form = _ADDRESSES[one.kind]
        address = addresses[symbols[one.symbol].name] + one.addend
        if form == "word":
            body[one.offset : one.offset + 4] = address.to_bytes(4, "little")
        else:
            body[one.offset : one.offset + _PADDED] = leb(address, _PADDED)
    return bytes(body)


def _called(
    code: bytes, parsed: _Object, code_start: int, imported: int, exported: Sequence[int]
) -> tuple[bytes, list[tuple[int, int]]]:
    """Return the code section with only the bodies that exports reach, and the (offset, callee) of its calls.

    The other functions keep their indices, with bodies that trap. (The vectoriser's variants of maths functions
    outlive the passes; most kernels use one or two of them.)
    """
    reader = _Reader(code)
    count = reader.leb128()
    bodies: list[tuple[int, int]] = []
    for _ in range(count):
        start = reader.at
        reader.take(reader.leb128())
        bodies.append((start, reader.at))
    calls = [(r.offset, parsed.symbols[r.symbol].index) for r in parsed.relocations.get(code_start, ()) if not r.kind]
    reached, waiting = set[int](), list(exported)
    while waiting:
        index = waiting.pop()
        if index in reached or index < imported:
            continue
        reached.add(index)
        start, end = bodies[index - imported]
        waiting += [callee for offset, callee in calls if start <= offset < end]
    out, indices = bytearray(leb(count)), list[tuple[int, int]]()
    for n, (start, end) in enumerate(bodies):
        if imported + n in reached:
            indices += [(at - start + len(out), callee) for at, callee in calls if start <= at < end]
        out += code[start:end] if imported + n in reached else _NOTHING
    return bytes(out), indices


def _data(segments: Sequence[tuple[int, int, int]], body: bytes, base: int) -> bytes:
    """Return the body of a data section with the segments at their addresses.

    Memory begins as zeros, so segments of zeros are left out.
    """
    nonzero = [(at, body[start : start + size]) for at, start, size in segments if any(body[start : start + size])]
    return leb(len(nonzero)) + b"".join(
        b"\0\x41" + signed_leb(base + at) + b"\x0b" + leb(len(data)) + data for at, data in nonzero
    )


def _section(kind: int, body: bytes) -> bytes:
    """Return the bytes of a section: its kind, the length, the body."""
    return bytes([kind]) + leb(len(body)) + body


def _text(name: str) -> bytes:
    """Return a name in WebAssembly's encoding: its length in LEB128, then UTF-8."""
    return leb(len(name.encode())) + name.encode()


def leb(value: int, width: int = 0) -> bytes:
    """Return an unsigned number in LEB128, padded to `width` bytes if that is longer.

    Addresses are below 2³¹, so that in five bytes the signed and the unsigned form are the same.
    """
    out = bytearray()
    while True:
        more = value > 127 or len(out) + 1 < width
        out.append(value & 127 | (128 if more else 0))
        value >>= 7
        if not more:
            return bytes(out)


def signed_leb(value: int) -> bytes:
    """Return a number that is not negative in signed LEB128."""
    return leb(value, len(leb(value << 1)))
