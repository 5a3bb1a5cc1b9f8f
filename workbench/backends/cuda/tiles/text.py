"""The operations of a block's threads as C++: shared memory, barriers, shuffles, products."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.cuda.cpp.c_names import c_type, cast
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.tiles import multiply
from workbench.backends.cuda.tiles.pipeline import KEY, emit_copy
from workbench.backends.cuda.tiles.placement.arena import STATIC_SHARED
from workbench.ir.ops import COUNT, KIND, OFFSET, STEP, THREADS, WAIT
from workbench.ir.values import Op, scalar_of, slots_of
from workbench.types import element

MEMORY = "wb_shared"
"""The name of a block's shared memory."""
_SHUFFLES = {"down": "__shfl_down_sync", "xor": "__shfl_xor_sync", "from": "__shfl_sync"}
_WIDE = ("int32", "uint32", "int64", "uint64", "float32", "float64")


def shared_memory(size: int) -> str:
    """Return the C++ declaration of a block's shared memory; above the static limit, the launch allocates it."""
    kind = "__shared__" if size <= STATIC_SHARED else "extern __shared__"
    count = str(size) if size <= STATIC_SHARED else ""
    return f"{kind} __align__(16) unsigned char {MEMORY}[{count}];"


def _shared(e: Emitter, op: Op) -> list[str]:
    """Emit the pointer to a region of the block's shared memory."""
    type = slots_of(op.result)
    name = e.names[op.result] = e.fresh(op.result.name, "tile")
    e.expressions.require_type(type.dtype)
    # One array of bytes, cut by offsets: CUDA puts only one dynamic array into a block's shared memory.
    address = f"{MEMORY} + {op.attrs[OFFSET]}" if op.attrs[OFFSET] else MEMORY
    return [f"{c_type(type.dtype)}* {name} = ({c_type(type.dtype)}*)({address});"]


def _barrier(e: Emitter, op: Op) -> list[str]:
    """Emit a barrier of the block, after a wait for the thread's asynchronous copies if it has `wait`.

    With the attribute `count`, the last so many groups of copies are not waited for.
    """
    if not op.attrs[WAIT]:
        return ["__syncthreads();"]
    e.expressions.keys.add(KEY)
    left = op.attrs.get(COUNT)
    return [f"wb_arrived_but<{left}>();" if left else "wb_arrived();", "__syncthreads();"]


def _add_pair(e: Emitter, op: Op) -> list[str]:
    """Emit the atomic addition of two halves to neighbouring elements, each under its own test."""
    array, *indices, first, second, low, high = op.operands
    scalar = element(low.type)
    e.expressions.keys |= {(key, scalar.name) for key in ("atomic_half", "added_half", "pair_half")}
    target = e.expressions.element(array, tuple(indices)).text
    return [f"wb_add_pair(&{target}, {', '.join(map(e.expressions.argument, (low, high, first, second)))});"]


def _commit(e: Emitter, op: Op) -> list[str]:
    """Emit the end of a group of asynchronous copies."""
    e.expressions.keys.add(KEY)
    return ["wb_commit();"]


def _shuffle(e: Emitter, op: Op) -> list[str]:
    """Emit a local with another thread's value, by a warp shuffle among the threads that exist."""
    (value,) = op.operands
    type, threads = scalar_of(op.result), op.attrs[THREADS]
    e.expressions.require_type(type)
    text = e.expressions.of(value)
    # The mask names the threads that take part: all of the warp that exist, since the last warp may not be full. Naming
    # one that does not exist is undefined.
    mask = "0xffffffffU"
    if threads < 32:
        mask = f"0x{(1 << threads) - 1:x}U"
    elif threads % 32:
        mask = f"(threadIdx.x < {threads // 32 * 32} ? 0xffffffffU : 0x{(1 << threads % 32) - 1:x}U)"
    call = f"{_SHUFFLES[op.attrs[KIND]]}({mask}, {{}}, {op.attrs[STEP]})"
    # __shfl_*_sync is overloaded for these types alone; others travel as int: a half as its bits, the rest by value.
    if type.name in _WIDE:
        result = call.format(text.text)
    elif type.is_half:
        result = f"{c_type(type)}{{(unsigned short){call.format(f'(int){text.within(16)}.bits')}}}"
    else:
        result = cast(c_type(type), call.format(f"(int){text.within(15)}"))
    return [f"{e.declare(op.result)} = {result};"]


def _product(e: Emitter, op: Op) -> list[str]:
    """Emit the call of a product's C++ function, which is added to `e.natives` unless an equal one is there."""
    multiplication = multiply.product_of(op)
    e.expressions.keys |= multiply.keys(multiplication)
    base, number = multiplication.name, 1
    name = base
    # Equal functions share a name; others of the same shape (steps, types) get a number.
    while e.natives.setdefault(name, multiply.function(multiplication, name)) != multiply.function(
        multiplication, name
    ):
        number += 1
        name = f"{base}_{number}"
    c, a, a_offset, b, b_offset = op.operands
    args = [e.name(c)]
    for slots, offset in ((a, a_offset), (b, b_offset)):
        text = e.expressions.argument(offset)
        args.append(e.name(slots) if text == "0" else f"{e.name(slots)} + {text}")
    return [f"{name}({', '.join(args)});"]


STATEMENTS: dict[str, Callable[[Emitter, Op], list[str]]] = {
    "shared": _shared,
    "barrier": _barrier,
    "commit": _commit,
    "add_pair": _add_pair,
    "shuffle": _shuffle,
    "product": _product,
    "copy_in": emit_copy,
}
