"""Atomic changes of elements, beside the sum: the hardware's functions, and the prelude's where it has none.

CUDA C++ Programming Guide, "Atomic Functions": which types each takes. What they leave out is done on the word of the
same size: 64-bit signed integers as unsigned ones, floats by their bits, the smaller and larger float by
compare-and-swap.
"""

from __future__ import annotations

from workbench.types import Scalar

_HARDWARE = {
    "min": ("atomicMin", {"int32", "uint32", "int64", "uint64"}),
    "max": ("atomicMax", {"int32", "uint32", "int64", "uint64"}),
    "and": ("atomicAnd", {"int32", "uint32", "uint64"}),
    "or": ("atomicOr", {"int32", "uint32", "uint64"}),
    "xor": ("atomicXor", {"int32", "uint32", "uint64"}),
    "exch": ("atomicExch", {"int32", "uint32", "uint64", "float32"}),
    "cas": ("atomicCAS", {"int32", "uint32", "uint64"}),
}


def function(kind: str, scalar: Scalar) -> tuple[str, tuple[str, ...] | None]:
    """The function's name, and the key of the prelude's piece that it needs, if any."""
    name, types = _HARDWARE[kind]
    if scalar.name in types:
        return name, None
    return f"wb_atomic_{kind}", ("atomic_op", kind, scalar.name)


def _signed(kind: str, function: str) -> str:
    return (
        f"WB_FN long long wb_atomic_{kind}(long long* target, long long value) {{\n"
        f"    return (long long){function}((unsigned long long*)target, (unsigned long long)value);\n}}\n"
    )


_SIGNED_CAS = """\
WB_FN long long wb_atomic_cas(long long* target, long long seen, long long value) {
    return (long long)atomicCAS((unsigned long long*)target, (unsigned long long)seen, (unsigned long long)value);
}
"""
_DOUBLE_EXCHANGE = """\
WB_FN double wb_atomic_exch(double* target, double value) {
    return __longlong_as_double(
        (long long)atomicExch((unsigned long long*)target, (unsigned long long)__double_as_longlong(value)));
}
"""
_FLOATS = {
    "float32": ("float", "unsigned int", "int", "__int_as_float", "__float_as_int"),
    "float64": ("double", "unsigned long long", "long long", "__longlong_as_double", "__double_as_longlong"),
}


def _float_cas(name: str) -> str:
    type, word, integer, read, bits = _FLOATS[name]
    return (
        f"WB_FN {type} wb_atomic_cas({type}* target, {type} seen, {type} value) {{\n"
        f"    {word} old = atomicCAS(({word}*)target, ({word}){bits}(seen), ({word}){bits}(value));\n"
        f"    return {read}(({integer})old);\n}}\n"
    )


def _float_extreme(kind: str, name: str) -> str:
    """An element that is NaN stays, a value that is NaN goes in."""
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


PIECES: dict[tuple[str, ...], str] = {
    **{("atomic_op", kind, "int64"): _signed(kind, _HARDWARE[kind][0]) for kind in ("and", "or", "xor", "exch")},
    ("atomic_op", "cas", "int64"): _SIGNED_CAS,
    ("atomic_op", "exch", "float64"): _DOUBLE_EXCHANGE,
    **{("atomic_op", "cas", name): _float_cas(name) for name in _FLOATS},
    **{("atomic_op", kind, name): _float_extreme(kind, name) for kind in ("min", "max") for name in _FLOATS},
}
