"""Fields of arrays of structs: a parameter each in the IR, one address in the text, so that neighbours are accessed at
once.

NVRTC joins loads and stores of neighbouring fields if they have one base and its alignment is known; but not those of
the read-only path, which therefore reads whole words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from workbench.backends.base import Options
from workbench.backends.layout import access_bytes
from workbench.ir.values import Function, Value, array_of, walk
from workbench.structs import ELEMENT
from workbench.types import ArrayType


class Fields(msgspec.Struct, frozen=True):
    """The fields of arrays of structs among a function's parameters.

    Attributes:
        together: by field, all fields of the same array.
        read: the parameters that the function loads from.
        options: of the code.
    """

    together: Mapping[Value, Sequence[Value]]
    read: Collection[Value]
    options: Options

    def first(self, field: Value) -> tuple[Value, int]:
        """Return the parameter whose address stands for all of the array, and the field's distance from it in bytes."""
        first = min(self.together[field], key=_offset)
        return first, _offset(field) - _offset(first)

    def bytes(self, field: Value) -> int:
        """Return the alignment in bytes of the array of structs that the code may rely on; 1 if none."""
        first, _ = self.first(field)
        return access_bytes(array_of(first)) or 1 if self.options.aligned and not _offset(first) else 1

    def word(self, field: Value, constant: Collection[Value]) -> int:
        """Return the bytes of the words, 16 or 8, by which a constant field is read; 0 to read each scalar alone.

        Words are chosen only if the kernel reads more than half of each of them anyway, and never in checked code.

        Args:
            field: a parameter.
            constant: the parameters that nothing changes while the kernel runs.
        """
        if field not in self.together or self.options.checks:
            return 0
        aligned = self.bytes(field)
        read = {b for f in self.together[field] if f in self.read and f in constant for b in _bytes(f)}
        for size in (16, 8):
            words = {b // size for b in _bytes(field)}
            if aligned % size == 0 and all(2 * sum(b // size == w for b in read) > size for w in words):
                return size
        return 0


def fields_of(function: Function, options: Options) -> Fields:
    """Return the parameters of a function that are fields of arrays of structs, grouped by array."""
    groups: dict[str, list[Value]] = {}
    for p in function.params:
        if isinstance(p.type, ArrayType) and p.type.pitch:
            groups.setdefault(p.name.partition(ELEMENT)[0], []).append(p)
    together = {p: group for group in groups.values() for p in group}
    return Fields(together, {op.operands[0] for op in walk(function.body) if op.name == "load"}, options)


def _offset(field: Value) -> int:
    """Return a field's distance in bytes from the start of its struct."""
    return array_of(field).offset


def _bytes(field: Value) -> range:
    """Return the bytes of the struct that a field covers."""
    return range(_offset(field), _offset(field) + array_of(field).dtype.size)
