"""Memory of the lanes of a mask: side by side, or each lane at an address of its own.

Lanes that are off are not accessed; what they load is 0.
"""

from __future__ import annotations

from workbench.backends.llvm.values import Value, splat, suffix, vector


def load(pointer: Value, flags: Value, elem: str, align: int) -> Value:
    """Emit a load of elements side by side.

    Args:
        pointer: the first lane's address.
        flags: which lanes are on, as a vector of i1.
        elem: LLVM type of an element.
        align: of an element, in bytes.
    """
    wide = vector(elem, flags.lanes)
    name, zeros = f"llvm.masked.load.{suffix(wide)}.p0", f"{wide} zeroinitializer"
    return pointer.called(name, str(pointer), f"i32 {align}", str(flags), zeros, elem=elem, lanes=flags.lanes)


def store(pointer: Value, flags: Value, value: Value, align: int) -> None:
    """Emit a store of elements side by side; for `pointer`, `flags` and `align` see `load`."""
    name = f"llvm.masked.store.{suffix(value.type)}.p0"
    pointer.w.call("void", name, str(value), str(pointer), f"i32 {align}", str(flags))


def gather(pointers: Value, flags: Value | None, elem: str, align: int, rest: str = "zeroinitializer") -> Value:
    """Emit a load of an element from each lane's address.

    Args:
        pointers: the addresses.
        flags: which lanes are on, as a vector of i1; None: all.
        elem: LLVM type of an element.
        align: of an element, in bytes.
        rest: the result in lanes that are off.
    """
    lanes = pointers.lanes
    wide, on = vector(elem, lanes), flags or f"{vector('i1', lanes)} {splat('i1', 'true')}"
    name = f"llvm.masked.gather.{suffix(wide)}.v{lanes}p0"
    return pointers.called(name, str(pointers), f"i32 {align}", str(on), f"{wide} {rest}", elem=elem)


def scatter(pointers: Value, flags: Value, value: Value, align: int) -> None:
    """Emit a store of an element to each lane's address, in ascending order; for the arguments see `gather`."""
    name = f"llvm.masked.scatter.{suffix(value.type)}.v{pointers.lanes}p0"
    pointers.w.call("void", name, str(value), str(pointers), f"i32 {align}", str(flags))
