"""What an object file needs from elsewhere: the undefined symbols of ELF, Mach-O and COFF, as a linker sees them.

Sources: System V ABI, "Object Files"; Apple, `mach-o/loader.h` and `mach-o/nlist.h`; Microsoft, "PE Format".
"""

from __future__ import annotations

import struct


def undefined(image: bytes) -> set[str]:
    """The names of its undefined symbols, as C spells them."""
    if image[:4] == b"\x7fELF":
        return _elf(image)
    return _mach_o(image) if image[:4] == b"\xcf\xfa\xed\xfe" else _coff(image)


def has_unwind_tables(image: bytes) -> bool:
    """Whether a COFF object has tables for unwinding."""
    return b".pdata" in image


def _text(image: bytes, at: int) -> str:
    return image[at : image.index(b"\0", at)].decode()


def _elf(image: bytes) -> set[str]:
    (sections,) = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    found = set()
    for n in range(count):
        at = sections + n * size
        kind = struct.unpack_from("<I", image, at + 4)[0]
        if kind != 2:  # SHT_SYMTAB
            continue
        offset, length, strings = struct.unpack_from("<QQI", image, at + 24)
        names = struct.unpack_from("<Q", image, sections + strings * size + 24)[0]
        for symbol in range(offset + 24, offset + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", image, symbol)
            if section == 0:
                found.add(_text(image, names + name))
    return found


def _mach_o(image: bytes) -> set[str]:
    (commands,) = struct.unpack_from("<I", image, 16)
    at, found = 32, set()
    for _ in range(commands):
        command, size = struct.unpack_from("<II", image, at)
        if command == 2:  # LC_SYMTAB
            offset, count, names, _ = struct.unpack_from("<IIII", image, at + 8)
            for symbol in range(offset, offset + 16 * count, 16):
                name, kind, _, _, value = struct.unpack_from("<IBBHQ", image, symbol)
                if kind & 0x0E == 0 and value == 0:  # N_UNDF, and no common symbol
                    found.add(_text(image, names + name).removeprefix("_"))
        at += size
    return found


def _coff(image: bytes) -> set[str]:
    offset, count = struct.unpack_from("<II", image, 8)
    names, found, n = offset + 18 * count, set(), 0
    while n < count:
        at = offset + 18 * n
        value, section, _, storage, more = struct.unpack_from("<IhHBB", image, at + 8)
        if section == 0 and value == 0 and storage == 2:  # IMAGE_SYM_CLASS_EXTERNAL
            zeros, place = struct.unpack_from("<II", image, at)
            found.add(_text(image, names + place) if not zeros else image[at : at + 8].rstrip(b"\0").decode())
        n += 1 + more
    return found
