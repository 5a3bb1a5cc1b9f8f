"""Atomic changes of elements: the hardware's functions, and the prelude's where it has none.

CUDA C++ Programming Guide, "Atomic Functions": which types each takes. What they leave out is done on the word of the
same size: 64-bit signed integers as unsigned ones, floats and complex64 by their bits, the smaller and larger float by
compare-and-swap.
"""

from __future__ import annotations

from workbench.backends.cuda.cpp.c_names import C_TYPES, c_type, form_of, members
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.pieces import Pieces
from workbench.errors import BuildError
from workbench.ir.attributes import KIND
from workbench.ir.values import ATOMIC_KINDS, Function, Op, array_of, component_of, dtype_of, number_of, walk
from workbench.passes.analysis.divergence import varying_values
from workbench.types import Kind, Scalar, Type, Vector, element

_ADDED = frozenset({"float32", "float64", "int32", "uint32", "uint64"})
"""The types that `atomicAdd` takes."""

_HARDWARE = {
    "min": ("atomicMin", {"int32", "uint32", "int64", "uint64"}),
    "max": ("atomicMax", {"int32", "uint32", "int64", "uint64"}),
    "and": ("atomicAnd", {"int32", "uint32", "uint64"}),
    "or": ("atomicOr", {"int32", "uint32", "uint64"}),
    "xor": ("atomicXor", {"int32", "uint32", "uint64"}),
    "exch": ("atomicExch", {"int32", "uint32", "uint64", "float32"}),
    "cas": ("atomicCAS", {"int32", "uint32", "uint64"}),
}


def emit_atomic_add(e: Emitter, op: Op) -> list[str]:
    """Emit an atomic addition to an element; the old value is stored only if it is used."""
    value, target = op.operands[-1], lvalue_of(e, op)
    name = _adding(e, op, op.operands[-1].type)
    # Adding to two halves at once would make a quiet NaN of other bits: only halves are next to these.
    alone = e.expressions.options.contiguous and not array_of(op.operands[0]).pitch
    if op.result not in e.inlining.uses and isinstance(value.type, Scalar) and value.type.is_half and alone:
        e.expressions.keys.add(("added_half", value.type.name))
        name = "wb_added"
    if op in e.together and op.result not in e.inlining.uses:
        name = "wb_add_together"
        e.expressions.keys.add(("together",))
        e.expressions.keys |= {("reduce_vec", form_of(value.type))} if isinstance(value.type, Vector) else set()
    call = f"{name}(&{target}, {e.expressions.argument(value)})"
    return [f"{e.declare(op.result)} = {call};" if op.result in e.inlining.uses else f"{call};"]


def together(function: Function) -> frozenset[Op]:
    """Return the additions that neighbouring threads mostly make to one element, to be added up by shuffles first.

    These are the `atomic_add`s whose indices do not depend on the launch's last index, as in `p[j]` in iteration j
    of all threads, and whose type `atomicAdd` takes. A kernel with tiles has none.
    """
    added = [op for op in walk(function.body) if op.name == "atomic_add"]
    added = [op for op in added if element(op.operands[-1].type).name in _ADDED]
    if not added or function.block_dim:
        return frozenset()
    varying = varying_values(function)
    return frozenset(op for op in added if varying.isdisjoint(op.operands[1:-1]))


def emit_swap(e: Emitter, op: Op) -> list[str]:
    """Emit an atomic compare-and-swap, whose result is whether the old value differed from the expected one."""
    e.expressions.keys |= {("atomic_bits",), ("atomic_swap",)}
    e.expressions.require_type(op.operands[-1].type)
    values = map(e.expressions.argument, op.operands[-2:])
    call = f"wb_atomic_swap({', '.join([f'&{lvalue_of(e, op)}', *values])})"
    return [f"{e.declare(op.result)} = {call};" if op.result in e.inlining.uses else f"{call};"]


def emit_load(e: Emitter, op: Op) -> list[str]:
    """Emit a volatile load of an element, which the compiler may not reuse: another thread may write there."""
    e.expressions.keys.add(("atomic_swap",))
    e.expressions.require_type(op.result.type)
    return [f"{e.declare(op.result)} = wb_atomic_load(&{lvalue_of(e, op)});"]


def lvalue_of(e: Emitter, op: Op) -> str:
    """Return the C++ lvalue of the element, or of the vector's component, that a store or an atomic accesses."""
    array, component = op.operands[0], component_of(op)
    text = e.expressions.element(array, op.operands[1 : 1 + array_of(array).ndim]).text
    if component is None:
        return text
    constant, type = e.inlining.definition.get(component), dtype_of(array)
    assert isinstance(type, Vector)
    if constant is not None and constant.name == "const":
        return f"{text}.{members(form_of(type))[int(number_of(constant))]}"
    # The components of a struct of the prelude lie one behind the other.
    return f"(({c_type(type.dtype)}*)&{text})[{e.expressions.argument(component)}]"


def emit_atomic(e: Emitter, op: Op) -> list[str]:
    """Emit an atomic min, max, and, or, xor, exch or cas of an element; the old value is stored if it is used."""
    array, *rest = op.operands
    count = ATOMIC_KINDS[op.attrs[KIND]]
    target = e.expressions.element(array, tuple(rest[:-count])).text
    name = function_of(e, op.attrs[KIND], op.result.type, op)
    call = f"{name}({', '.join([f'&{target}', *map(e.expressions.argument, rest[-count:])])})"
    return [f"{e.declare(op.result)} = {call};" if op.result in e.inlining.uses else f"{call};"]


def emit_reduce_add(e: Emitter, op: Op) -> list[str]:
    """Emit the addition of all threads' values to element 0 of an array.

    Raises:
        BuildError: the type is one that `atomicAdd` does not take, and no half.
    """
    array, value = op.operands
    scalar = element(value.type)
    if scalar.is_half:
        e.expressions.keys |= {("atomic_half", scalar.name), ("reduce_half", scalar.name)}
    elif scalar.name not in _ADDED:
        raise BuildError(f"reduce_add has no CUDA spelling for {C_TYPES[element(value.type).name]}.", op.location)
    e.expressions.require_type(array.type)
    length = form_of(value.type) if isinstance(value.type, Vector) else ""
    e.expressions.keys.add(("reduce_vec", length) if length else ("reduce",))
    return [f"wb_reduce_add({e.name(array)}.data, {e.expressions.argument(value)});"]


def function_of(e: Emitter, kind: str, type: Type, op: Op) -> str:
    """Return the name of the C++ function that changes a number atomically, and request it in the prelude.

    Args:
        e: the emitter, which collects what the prelude needs.
        kind: "add", or a key of `_HARDWARE`.
        type: of the number; only additions take vectors.
        op: the operation, for errors.

    Raises:
        BuildError: bools are added.
    """
    if kind == "add":
        return _adding(e, op, type)
    name, types = _HARDWARE[kind]
    if str(type) in types:
        return name
    own = {("atomic_op", kind, element(type).name)}
    e.expressions.keys |= {("atomic_bits",), ("atomic_op", kind)} if kind in _AS_WORDS else own
    return f"wb_atomic_{kind}"


def _adding(e: Emitter, op: Op, type: Type) -> str:
    """Return the name of the C++ function that atomically adds to an element, and request it in the prelude.

    Raises:
        BuildError: the type is bool.
    """
    scalar = element(type)
    if scalar.kind is Kind.BOOL:
        raise BuildError("atomic_add() has no meaning for bools.", op.location, "Use an int array.")
    keys = e.expressions.keys
    if scalar.is_half:
        keys |= {("atomic_half", scalar.name), *([("atomic_vec", form_of(type))] if isinstance(type, Vector) else [])}
        return "wb_atomic_add"
    if isinstance(type, Vector):
        keys |= {("atomic_vec", form_of(type)), *([("atomic64",)] if scalar.name == "int64" else [])}
        keys |= {("atomic_small",)} if scalar.bits < 32 else set()
        return "wb_atomic_add"
    if scalar.name in _ADDED:
        return "atomicAdd"
    keys.add(("atomic64",) if scalar.bits == 64 else ("atomic_small",))
    return "wb_atomic_add" if scalar.bits == 64 else "wb_atomic_add_small"


def _signed(kind: str, function: str) -> str:
    """Return the C++ function `wb_atomic_<kind>` for int64, which calls CUDA's for unsigned long long."""
    return (
        f"WB_FN long long wb_atomic_{kind}(long long* target, long long value) {{\n"
        f"    return (long long){function}((unsigned long long*)target, (unsigned long long)value);\n}}\n"
    )


_FLOATS = {
    "float32": ("float", "unsigned int", "int", "__int_as_float", "__float_as_int"),
    "float64": ("double", "unsigned long long", "long long", "__longlong_as_double", "__double_as_longlong"),
}


def _float_extreme(kind: str, name: str) -> str:
    """Return the C++ function of an atomic minimum or maximum of floats.

    An element that is NaN stays, a value that is NaN replaces it.

    Args:
        kind: "min" or "max".
        name: "float32" or "float64".
    """
    type, word, integer, read, bits = _FLOATS[name]
    sign = "<" if kind == "min" else ">"
    return (
        f"WB_FN {type} wb_atomic_{kind}({type}* target, {type} value) {{\n"
        f"    {word} seen, old = *(volatile {word}*)target;\n"
        f"    do {{\n"
        f"        seen = old;\n"
        f"        {type} now = {read}(({integer})seen);\n"
        f"        if (now != now || now {sign} value) break;\n"
        f"        old = atomicCAS(({word}*)target, seen, ({word}){bits}(value));\n"
        f"    }} while (old != seen);\n"
        f"    return {read}(({integer})old);\n}}\n"
    )


_BITS = """\
template <typename W, typename T> WB_FN W wb_bits(T value) {
    W bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return bits;
}
"""
_AS_WORDS = {
    "exch": """\
template <typename T> WB_FN T wb_atomic_exch(T* target, T value) {
    typedef unsigned long long wide;
    wide bits = atomicExch((wide*)target, wb_bits<wide>(value));
    memcpy(&value, &bits, sizeof(T));
    return value;
}
""",
    "cas": """\
template <typename T> WB_FN T wb_atomic_cas(T* target, T seen, T value) {
    typedef unsigned int word;
    typedef unsigned long long wide;
    wide bits = sizeof(T) == 8 ? atomicCAS((wide*)target, wb_bits<wide>(seen), wb_bits<wide>(value))
        : atomicCAS((word*)target, wb_bits<word>(seen), wb_bits<word>(value));
    memcpy(&value, &bits, sizeof(T));
    return value;
}
""",
}
# Elements are compared by their bits; of 8 and 16 bits, in the aligned word of 32 that holds them.
_SWAP = """\
template <typename T> WB_FN T wb_atomic_load(T* target) {
    T value;
    unsigned long long bits = sizeof(T) == 8 ? *(volatile unsigned long long*)target
        : sizeof(T) == 4 ? *(volatile unsigned int*)target
        : sizeof(T) == 2 ? *(volatile unsigned short*)target : *(volatile unsigned char*)target;
    memcpy(&value, &bits, sizeof(T));
    return value;
}
template <typename T> WB_FN bool wb_atomic_swap(T* target, T old, T value) {
    typedef unsigned int word;
    typedef unsigned long long wide;
    if (sizeof(T) == 8) return atomicCAS((wide*)target, wb_bits<wide>(old), wb_bits<wide>(value)) != wb_bits<wide>(old);
    if (sizeof(T) == 4) return atomicCAS((word*)target, wb_bits<word>(old), wb_bits<word>(value)) != wb_bits<word>(old);
    word* around = (word*)((wide)target & ~3ULL);
    word shift = 8U * (word)((wide)target & 3ULL), mask = (sizeof(T) == 1 ? 0xffU : 0xffffU) << shift;
    word seen = *(volatile word*)around;
    while ((seen & mask) == wb_bits<word>(old) << shift) {
        word now = atomicCAS(around, seen, (seen & ~mask) | wb_bits<word>(value) << shift);
        if (now == seen) return false;
        seen = now;
    }
    return true;
}
"""


PIECES: Pieces = {
    ("atomic_bits",): _BITS,
    ("atomic_swap",): _SWAP,
    **{("atomic_op", kind): text for kind, text in _AS_WORDS.items()},
    **{("atomic_op", kind, "int64"): _signed(kind, _HARDWARE[kind][0]) for kind in ("and", "or", "xor")},
    **{("atomic_op", kind, name): _float_extreme(kind, name) for kind in ("min", "max") for name in _FLOATS},
}
