"""The operations of a block's threads as C++: shared memory, barriers, shuffles, products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.backends.cuda.cpp.c_names import c_type, cast, identifier
from workbench.backends.cuda.tiles import multiply
from workbench.backends.cuda.tiles.arena import STATIC_SHARED
from workbench.backends.cuda.tiles.copies import KEY, spell_copy
from workbench.ir.values import Op
from workbench.types import Scalar, Slots

if TYPE_CHECKING:
    from workbench.backends.cuda.statements import Statements

MEMORY = "wb_shared"
"""The name of a block's shared memory."""
_SHUFFLES = {"down": "__shfl_down_sync", "xor": "__shfl_xor_sync", "from": "__shfl_sync"}
_WIDE = ("int32", "uint32", "int64", "uint64", "float32", "float64")


def shared_memory(size: int) -> str:
    """Its declaration; beyond what a kernel may declare, the launch gives it."""
    kind = "__shared__" if size <= STATIC_SHARED else "extern __shared__"
    count = str(size) if size <= STATIC_SHARED else ""
    return f"{kind} __align__(16) unsigned char {MEMORY}[{count}];"


def _shared(s: Statements, op: Op) -> list[str]:
    type = op.result.type
    assert isinstance(type, Slots)
    name = s.names[op.result] = identifier(op.result.name, s.taken, "tile")
    s.taken.add(name)
    s.expressions.meet(type.dtype)
    place = f"{MEMORY} + {op.attrs['offset']}" if op.attrs["offset"] else MEMORY
    return [f"{c_type(type.dtype)}* {name} = ({c_type(type.dtype)}*)({place});"]


def _barrier(s: Statements, op: Op) -> list[str]:
    if not op.attrs["wait"]:
        return ["__syncthreads();"]
    s.expressions.keys.add(KEY)
    return ["wb_arrived();", "__syncthreads();"]


def _shuffle(s: Statements, op: Op) -> list[str]:
    (value,) = op.operands
    type, threads = op.result.type, op.attrs["threads"]
    assert isinstance(type, Scalar)
    s.expressions.meet(type)
    text = s.expressions.of(value)
    mask = "0xffffffffU"
    if threads < 32:
        mask = f"0x{(1 << threads) - 1:x}U"
    elif threads % 32:
        mask = f"(threadIdx.x < {threads // 32 * 32} ? 0xffffffffU : 0x{(1 << threads % 32) - 1:x}U)"
    call = f"{_SHUFFLES[op.attrs['kind']]}({mask}, {{}}, {op.attrs['step']})"
    if type.name in _WIDE:
        found = call.format(text.text)
    elif type.is_half:
        found = f"{c_type(type)}{{(unsigned short){call.format(f'(int){text.within(16)}.bits')}}}"
    else:
        found = cast(c_type(type), call.format(f"(int){text.within(15)}"))
    return [f"{s._declare(op.result)} = {found};"]


def _product(s: Statements, op: Op) -> list[str]:
    made: multiply.Product = op.attrs["product"]
    s.expressions.keys |= multiply.keys(made)
    base, number = made.name, 1
    name = base
    while s.natives.setdefault(name, multiply.function(made, name)) != multiply.function(made, name):
        number += 1
        name = f"{base}_{number}"
    c, a, a_offset, b, b_offset = op.operands
    args = [s.name(c)]
    for slots, offset in ((a, a_offset), (b, b_offset)):
        text = s.expressions.argument(offset)
        args.append(s.name(slots) if text == "0" else f"{s.name(slots)} + {text}")
    return [f"{name}({', '.join(args)});"]


STATEMENTS: dict[str, Callable[[Statements, Op], list[str]]] = {
    "shared": _shared,
    "barrier": _barrier,
    "shuffle": _shuffle,
    "product": _product,
    "copy_in": spell_copy,
}
