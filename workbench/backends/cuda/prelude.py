"""The CUDA text around a kernel: only what that kernel uses, and no header.

Each piece has a key; the emitter asks for keys and the text is put together in the table's order. Pieces are plain C++
wherever the hardware's own instruction is not needed, so that the tests run the very same text on the host.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from workbench.backends.cuda.cpp.atomics import ACCUMULATOR_PIECES, ATOMIC_PIECES
from workbench.backends.cuda.cpp.c_names import C_TYPES, c_type, form_of, label, members, struct
from workbench.backends.cuda.cpp.faults import FAULT_PIECES
from workbench.backends.cuda.cpp.halves import HALF_PIECES
from workbench.backends.cuda.cpp.pieces import Key, Pieces
from workbench.backends.cuda.statements import SLOT_PIECES
from workbench.backends.cuda.tiles.multiply import PRODUCT_PIECES
from workbench.backends.cuda.tiles.pipeline import COPY_PIECES
from workbench.builtins import TABLE
from workbench.types import SCALARS, Kind, Vector

_FUNCTIONS = "#define WB_FN static __device__ __forceinline__\n"
_DIMS = "struct wb_dims { long long n[4]; };\n"
_ARRAY = "template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };\n"

# An index below 2^31 by a dimension, with the multiplier next to it (`backends/layout.py`) in place of a division.
_DIVIDE = """\
WB_FN unsigned int wb_div(unsigned int n, unsigned long long dim) {
    return __umulhi(2U * n, (unsigned int)(dim >> 32)) >> (32 - __clz((int)dim - 1));
}
WB_FN unsigned int wb_mod(unsigned int n, unsigned long long dim) {
    return n - wb_div(n, dim) * (unsigned int)dim;
}
"""

# Products and sums of signed components are done in unsigned numbers: they wrap.
_BITS = """\
template <typename T> WB_FN T wb_bits(T x) { return x; }
WB_FN unsigned int wb_bits(int x) { return x; }
WB_FN unsigned int wb_bits(unsigned short x) { return x; }
WB_FN unsigned long long wb_bits(long long x) { return x; }
"""

# `range` ends without overflow: the step to `stop` or past it gives `stop`.
_RANGE = """\
template <typename T> WB_FN bool wb_more(T i, T stop, T step) {
    return step > T(0) ? i < stop : step < T(0) && i > stop;
}
template <typename T> WB_FN T wb_next(T i, T stop, T step) {
    unsigned long long left = step > T(0) ? (unsigned long long)stop - i : (unsigned long long)i - stop;
    return left > (step > T(0) ? (unsigned long long)step : 0ULL - step) ? T(i + step) : stop;
}
"""

_ATOMIC64 = """\
WB_FN long long wb_atomic_add(long long* target, long long value) {
    return (long long)atomicAdd((unsigned long long*)target, (unsigned long long)value);
}
"""

# 8 and 16 bits have no atomic sum: compare-and-swap on the aligned 32-bit word that holds them.
_ATOMIC_SMALL = """\
template <typename T> WB_FN T wb_atomic_add_small(T* target, T value) {
    unsigned long long address = (unsigned long long)target;
    unsigned int* word = (unsigned int*)(address & ~3ULL);
    unsigned int shift = 8U * (unsigned int)(address & 3ULL);
    unsigned int mask = (sizeof(T) == 1 ? 0xffU : 0xffffU) << shift;
    unsigned int seen, old = *word;
    do {
        seen = old;
        unsigned int sum = ((seen >> shift) + (unsigned int)value) << shift;
        old = atomicCAS(word, seen, (seen & ~mask) | (sum & mask));
    } while (old != seen);
    return T(old >> shift);
}
""" + "".join(
    f"WB_FN {c} wb_atomic_add({c}* target, {c} value) {{ return wb_atomic_add_small(target, value); }}\n"
    for c in (C_TYPES[name] for name in ("int8", "uint8", "int16", "uint16"))
)

# A full warp adds among its threads first and touches memory once.
_REDUCE = """\
template <typename T> WB_FN void wb_reduce_add(T* target, T value) {
    if (__activemask() == 0xffffffffU) {
        for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
        if (threadIdx.x % 32 == 0) atomicAdd(target, value);
    } else {
        atomicAdd(target, value);
    }
}
"""


# Neighbouring threads that add to one element: a full warp of them does as above.
_TOGETHER = """\
template <typename T> WB_FN void wb_add_together(T* target, T value) {
    unsigned long long address = (unsigned long long)target;
    bool full = __activemask() == 0xffffffffU;
    if (full && __all_sync(0xffffffffU, address == __shfl_sync(0xffffffffU, address, 0))) {
        wb_reduce_add(target, value);
    } else {
        wb_atomic_add(target, value);
    }
}
"""


def _vector(form: str) -> str:
    """Return the C++ struct template, without operators, for sizes as text: "3", or "2x3" for a matrix."""
    sizes = form.split("x")
    body = f"T m[{sizes[0]}][{sizes[1]}]" if len(sizes) == 2 else f"T {', '.join(members(form))}"
    body = f"T c[{form}]" if len(sizes) == 1 and int(form) > 4 else body
    return f"template <typename T> struct {struct(form)} {{ {body}; }};\n"


def _operator(kind: str, sign: str, form: str, wraps: bool) -> str:
    """Return the C++ operator `sign` of a vector struct.

    Args:
        kind: the sizes of the struct, such as "3" or "2x3".
        sign: "+", "-", "*" or "/".
        form: of the operands: "vv", "vs" (vector and scalar), "sv", or "v" for one vector.
        wraps: components are small or signed integers, whose results have to wrap.
    """
    vec = f"{struct(kind)}<T>"
    left, right = {"vv": (vec, vec), "vs": (vec, "T"), "sv": ("T", vec), "v": ("", vec)}[form]
    params = f"{left} a, {right} b" if left else f"{right} b"
    side, wrapped = ("wb_bits({})", "T({})") if wraps and sign != "/" else ("{}", "{}")
    parts: list[str] = []
    for c in members(kind):
        a = side.format("a" if form == "sv" else f"a.{c}") + f" {sign} " if left else sign
        parts.append(wrapped.format(a + side.format("b" if form == "vs" else f"b.{c}")))
    return f"template <typename T> WB_FN {vec} operator{sign}({params}) {{\n    return {{{', '.join(parts)}}};\n}}\n"


def _splat(form: str) -> str:
    """Return the C++ function that makes a vector of one scalar in all components.

    `form` is the vector's sizes as text: "3", or "2x3" for a matrix.
    """
    same = ", ".join(["s"] * len(members(form)))
    return f"template <typename T> WB_FN {struct(form)}<T> wb_splat{label(form)}(T s) {{ return {{{same}}}; }}\n"


def _component(form: str) -> str:
    """Return the C++ function that reads component `i` of a vector; the last one for an index out of range.

    `form` is the vector's sizes as text: "3", or "2x3" for a matrix.
    """
    *parts, last = members(form)
    chain = "".join(f"i == {n} ? v.{c} : " for n, c in enumerate(parts))
    return (
        f"template <typename T> WB_FN T wb_component({struct(form)}<T> v, long long i) {{ return {chain}v.{last}; }}\n"
    )


def _with(form: str) -> str:
    """Return the C++ function that copies a vector with component `i` replaced; with none if `i` is out of range.

    `form` is the vector's sizes as text: "3", or "2x3" for a matrix.
    """
    rows = "".join(f"    if (i == {n}) v.{c} = s;\n" for n, c in enumerate(members(form)))
    vec = f"{struct(form)}<T>"
    return f"template <typename T> WB_FN {vec} wb_with({vec} v, long long i, T s) {{\n{rows}    return v;\n}}\n"


def _vector_atomic(form: str) -> str:
    """Return the C++ function that atomically adds to each component of a vector, and returns the old ones.

    `form` is the vector's sizes as text: "3", or "2x3" for a matrix.
    """
    vec = f"{struct(form)}<T>"
    parts = ", ".join(f"wb_atomic_add(&target->{c}, value.{c})" for c in members(form))
    return (
        f"template <typename T> WB_FN {vec} wb_atomic_add({vec}* target, {vec} value) {{\n    return {{{parts}}};\n}}\n"
    )


def _vector_reduce(form: str) -> str:
    """Return the C++ function that adds all threads' vectors to one in memory, component by component.

    `form` is the vector's sizes as text: "3", or "2x3" for a matrix.
    """
    vec = f"{struct(form)}<T>"
    rows = "".join(f"    wb_reduce_add(&target->{c}, value.{c});\n" for c in members(form))
    return f"template <typename T> WB_FN void wb_reduce_add({vec}* target, {vec} value) {{\n{rows}}}\n"


def _at(ndim: int, word: str) -> str:
    """Return the C++ function that accesses an element of an array of `ndim` dimensions by indices of type `word`."""
    indices = ", ".join(f"{word} i{n}" for n in range(ndim))
    stride = "(int)a.strides" if word == "int" else "a.strides"
    offset = " + ".join(f"i{n} * {stride}[{n}]" for n in range(ndim))
    return (
        f"template <typename T> WB_FN T& wb_at(const wb_array<T, {ndim}>& a, {indices}) {{\n"
        f"    return *(T*)((char*)a.data + {offset});\n}}\n"
    )


# A vector's components one after the other, which the compiler loads and stores at once: 64 or 128 bits.
_ALIGNED = """\
template <int bytes, typename T> WB_FN T& wb_aligned(T& place) {
    return *(T*)__builtin_assume_aligned(&place, bytes);
}
"""


# In loops that it unrolls, NVRTC 12.9 reads some `__ldg` from the next element (`test_cuda_read_only`).
_LDG = """\
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif
"""


# An element of an array that nothing changes, by the read-only path; it begins so many bytes into its first word.
_READ_ONLY = """\
template <typename Word, int before = 0, typename T> WB_FN T wb_read_only(const T& place) {
    Word words[(before + sizeof(T) + sizeof(Word) - 1) / sizeof(Word)];
    for (int k = 0; k < int(sizeof(words) / sizeof(Word)); ++k)
        words[k] = __ldg((const Word*)((const char*)&place - before) + k);
    T whole;
    memcpy(&whole, (const char*)words + before, sizeof(T));
    return whole;
}
"""


def _field(word: str) -> str:
    """Return the C++ function that accesses a field of struct `i` of an array, `i` having the C++ type `word`.

    Its template parameters are the field's type, the structs' size, the byte offset of the field from the array's
    address, and the alignment of that address.
    """
    return (
        "template <typename T, int bytes, int at, int aligned, typename F, int N>\n"
        f"WB_FN T& wb_field(const wb_array<F, N>& a, {word} i) {{\n"
        "    return *(T*)((char*)__builtin_assume_aligned((char*)a.data + i * bytes, aligned) + at);\n}\n"
    )


def _to_integer(name: str) -> str:
    """Return the C++ function that converts floats to an integer type.

    NaN gives 0, what is out of range the nearest end.
    """
    type = SCALARS[name]
    c = C_TYPES[name]
    high = 1 << (type.bits - (1 if type.kind is Kind.INT else 0))
    low = -high if type.kind is Kind.INT else 0
    suffix = {32: "", 64: "LL"}.get(type.bits, "") if type.kind is Kind.INT else {32: "U", 64: "ULL"}.get(type.bits, "")
    least = f"({low + 1}{suffix} - 1{suffix})" if low else "0"
    return (
        f"template <typename F> WB_FN {c} wb_to_{name}(F x) {{\n"
        f"    return x != x ? 0 : x <= F({low}.0) ? {least} : x >= F({high}.0) ? {high - 1}{suffix} : ({c})x;\n}}\n"
    )


def _convert(target: str, source: str, instruction: str, letters: str) -> str:
    """Return the C++ function that converts between float and double in PTX, so that LLVM does not see through it.

    See `passes/precision`.

    Args:
        target: the type converted to, as IR names it.
        source: the type converted from.
        instruction: of PTX.
        letters: the `asm` constraints of the result and the operand.
    """
    c = C_TYPES[target]
    return f"""\
WB_FN {c} wb_convert_{target}({C_TYPES[source]} x) {{
#ifdef __CUDA_ARCH__
    {c} result;
    asm("{instruction} %0, %1;" : "={letters[0]}"(result) : "{letters[1]}"(x));
    return result;
#else
    return x;
#endif
}}
"""


# atomicAdd where the hardware has it; the vector forms go through this name.
_ATOMIC = "template <typename T> WB_FN T wb_atomic_add(T* target, T value) { return atomicAdd(target, value); }\n"


@cache
def _pieces(forms: tuple[str, ...]) -> Pieces:
    """Return all pieces of the prelude, with those of vectors of these sizes, in the order of the text."""
    return {
        ("array",): _ARRAY,
        **HALF_PIECES,
        **{("vec", n): _vector(n) for n in forms},
        ("convert", "float32"): _convert("float32", "float64", "cvt.rn.f32.f64", "fd"),
        ("convert", "float64"): _convert("float64", "float32", "cvt.f64.f32", "df"),
        ("range",): _RANGE,
        ("divide",): _DIVIDE,
        ("bits",): _BITS,
        ("aligned",): _ALIGNED,
        ("field",): _field("long long"),
        ("field", "int"): _field("int"),
        **{("at", n): _at(int(n), "long long") for n in ("1", "2", "3", "4")},
        **{("at", n, "int"): _at(int(n), "int") for n in ("1", "2", "3", "4")},
        **{("to", name): _to_integer(name) for name, t in SCALARS.items() if t.kind in (Kind.INT, Kind.UINT)},
        **{
            ("op", n, sign, form, *wraps): _operator(n, sign, form, bool(wraps))
            for n in forms
            for sign, forms in (("+", ("vv",)), ("-", ("vv", "v")), ("*", ("vv", "vs", "sv")), ("/", ("vv", "vs")))
            for form in forms
            for wraps in ((), ("wraps",))
        },
        **{("splat", n): _splat(n) for n in forms},
        **{("component", n): _component(n) for n in forms},
        **{("with", n): _with(n) for n in forms},
        ("atomic",): _ATOMIC,
        ("atomic64",): _ATOMIC64,
        ("atomic_small",): _ATOMIC_SMALL,
        **{("atomic_vec", n): _vector_atomic(n) for n in forms},
        **ATOMIC_PIECES,
        **ACCUMULATOR_PIECES,
        **FAULT_PIECES,
        **SLOT_PIECES,
        **COPY_PIECES,
        **PRODUCT_PIECES,
        ("reduce",): _REDUCE,
        **{("reduce_vec", n): _vector_reduce(n) for n in forms},
        ("together",): _TOGETHER,
        ("ldg",): _LDG,  # behind all headers: those of halves define their own `__ldg`
        ("read_only",): _READ_ONLY,
    }


def prelude(keys: Iterable[Key], builtins: Iterable[str], vectors: Iterable[Vector]) -> str:
    """Return the text before the kernel: pieces by key, these builtins' preludes, typedefs of these vector types."""
    vectors = set(vectors)
    wanted = set(keys) | {("vec", form_of(v)) for v in vectors}
    if any(v.dtype.kind is Kind.INT or v.dtype.bits < 32 for v in vectors):
        wanted = {(*key, "wraps") if key[0] == "op" else key for key in wanted} | {("bits",)}
    if any(key[0] in ("atomic_vec", "together") for key in wanted):
        wanted.add(("atomic",))
    if any(key[0] in ("reduce_vec", "together") for key in wanted):
        wanted.add(("reduce",))
    if ("read_only",) in wanted:
        wanted.add(("ldg",))
    forms = sorted({form_of(v) for v in vectors}, key=lambda f: [len(f.split("x")), *map(int, f.split("x"))])
    texts = [text for key, text in _pieces(tuple(forms)).items() if key in wanted]
    for name in TABLE:
        if name in set(builtins) and TABLE[name].prelude.strip() not in "\n".join(texts):
            texts.append(TABLE[name].prelude.strip() + "\n")
    for vector in sorted(vectors, key=lambda v: v.name):
        if vector.name.isidentifier():
            texts.append(f"typedef {struct(form_of(vector))}<{c_type(vector.dtype)}> {vector.name};\n")
    head = _FUNCTIONS if any("WB_FN" in text for text in texts) else ""
    return head + _DIMS + "".join(texts)
