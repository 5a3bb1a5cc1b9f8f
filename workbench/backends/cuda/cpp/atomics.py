"""Atomic changes of elements, and changes of one element by all threads, in C++.

**Atomic changes** are the hardware's functions, and the prelude's where it has none. CUDA C++ Programming Guide,
"Atomic Functions": which types each takes. What they leave out is done on the word of the same size: 64-bit signed
integers as unsigned ones, floats and complex64 by their bits, the smaller and larger float by compare-and-swap.

**Changes of one element by all threads** (marked by `passes/memory/atomics.py`) are made in locals until the end of the
kernel. A marked change becomes one of a local of the thread, and the kernel ends with a `combine` per element: the
threads of a block combine their locals, pairwise in each warp by shuffles, then warp after warp through shared memory,
and one of them changes memory. A thread goes through the launch with a step of all threads there are, so a launch needs
no more blocks than run at the same time. The last warp of a block may have fewer than 32 threads. Floats are added as
float64. 16-bit floats and integers of fewer than 32 bits stay atomic changes.
"""

from __future__ import annotations

from workbench.backends.cuda.cpp.c_names import C_TYPES, c_type, cast, form_of, members
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.pieces import Pieces
from workbench.errors import BuildError
from workbench.ir.build import Rewriter, copy_op, replace_body, rewrite
from workbench.ir.ops import ACCUMULATOR, ELEMENTS, KIND, PURE, REDUCTION, VALUE, attributes
from workbench.ir.values import (
    ATOMIC_KINDS,
    Block,
    Function,
    Op,
    Value,
    array_of,
    component_of,
    definitions,
    dtype_of,
    number_of,
    walk,
)
from workbench.passes.analysis.divergence import varying_values
from workbench.passes.memory.atomics import kind_of
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


ATOMIC_PIECES: Pieces = {
    ("atomic_bits",): _BITS,
    ("atomic_swap",): _SWAP,
    **{("atomic_op", kind): text for kind, text in _AS_WORDS.items()},
    **{("atomic_op", kind, "int64"): _signed(kind, _HARDWARE[kind][0]) for kind in ("and", "or", "xor")},
    **{("atomic_op", kind, name): _float_extreme(kind, name) for kind in ("min", "max") for name in _FLOATS},
}


MOST = 16
"""At most so many scalars are kept in registers."""


def accumulate(function: Function) -> Function:
    """Return the function with marked changes of elements made in thread locals, combined at the kernel's end.

    A change is marked if it is a `reduce_add` or has the attribute `REDUCTION`. Changes of one element share a
    local, and a `combine` per local ends the kernel. The function itself is returned if no change is marked, or if
    the locals would be more than `MOST` scalars.
    """
    by_element: dict[tuple[object, ...], list[Op]] = {}
    constants = {op.result: op.attrs[VALUE] for op in walk(function.body) if op.name == "const"}
    for op in walk(function.body):
        if _is_accumulated(op):
            same = (("const", constants[v]) if v in constants else v for v in _indices(op))
            by_element.setdefault((op.operands[0], *same), []).append(op)
    if not by_element or sum(_components(changes[0]) for changes in by_element.values()) > MOST:
        return function
    numbers = {op: number for number, changes in enumerate(by_element.values()) for op in changes}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        return (op.replace(attrs={**op.attrs, ACCUMULATOR: numbers[op]}),) if op in numbers else None

    defs = definitions(function.body)
    end: list[Op] = []
    for number, (first, *_) in enumerate(by_element.values()):
        end += _combine(first, number, defs)
    changed = rewrite(function, change)
    *ops, last = changed.body.ops
    ending = (*end, last) if last.name == "yield" else (last, *end)
    return replace_body(changed, Block(changed.body.params, (*ops, *ending)))


def _is_accumulated(op: Op) -> bool:
    """Return whether an operation changes an element by way of a thread's local.

    It does if it is a `reduce_add` or has the attribute `REDUCTION`, and its numbers have at least 32 bits.
    """
    if op.name != "reduce_add" and not op.attrs.get(REDUCTION):
        return False
    scalar = element(op.operands[-1].type)
    return scalar.bits >= 32 and scalar.kind is not Kind.BOOL


def _indices(op: Op) -> tuple[Value, ...]:
    """Return the indices of the element that an operation changes; empty for `reduce_add`."""
    return op.operands[1:-1] if op.name in ELEMENTS else ()


def _components(op: Op) -> int:
    """Return how many numbers a change adds or combines: a vector's components, else 1."""
    return getattr(op.operands[-1].type, "length", 1)


def _combine(op: Op, number: int, defs: dict[Value, Op]) -> list[Op]:
    """Return the operations that end one accumulator of a kernel: its indices, computed again, and the `combine`.

    The indices are the same in every thread, so they can be computed outside of every branch.

    Args:
        op: the first of the changes that share the accumulator.
        number: the accumulator's number.
        defs: by value, the operation that defines it.
    """
    needed: dict[Op, None] = {}

    def need(value: Value) -> None:
        if value in defs:
            for operand in defs[value].operands:
                need(operand)
            needed[defs[value]] = None

    for value in _indices(op):
        need(value)
    mapping: dict[Value, Value] = {}
    copies = [copy_op(one, mapping, lambda v: Value(v.type, "")) for one in needed]
    operands = (op.operands[0], *(mapping.get(v, v) for v in _indices(op)))
    attrs = attributes({ACCUMULATOR: number, KIND: kind_of(op)})
    return [*copies, Op("combine", operands, (), attrs, (), op.location)]


_WORDS = {32: "unsigned int", 64: "unsigned long long"}
_ENDS = {  # what is greater and less than all others
    "float32": ("__int_as_float(0x7f800000)", "__int_as_float(0xff800000)"),
    "float64": ("__longlong_as_double(0x7ff0000000000000LL)", "__longlong_as_double(0xfff0000000000000LL)"),
    "int32": ("2147483647", "(-2147483647 - 1)"),
    "uint32": ("4294967295U", "0U"),
    "int64": ("9223372036854775807LL", "(-9223372036854775807LL - 1)"),
    "uint64": ("18446744073709551615ULL", "0ULL"),
}
_NAMES = {"add": "sum"}
_SIGNS = {"add": "+", "and": "&", "or": "|", "xor": "^"}
_JOINED = {
    **{kind: f"a {sign} b" for kind, sign in _SIGNS.items()},
    # An element that is NaN stays, a value that is NaN goes in.
    "min": "a != a || a < b ? a : b",
    "max": "a != a || a > b ? a : b",
}


def ending(function: Function) -> int:
    """Return the position in a kernel's body of the first operation of its end, where accumulators are combined.

    The operations before it run for each thread index. Without a `combine` it is the body's length.
    """
    ops = function.body.ops
    first = next((n for n, op in enumerate(ops) if op.name == "combine"), len(ops))
    # Right before it the indices of the first `combine` are computed; what nothing uses is not there any more.
    while 0 < first < len(ops) and ops[first - 1].name in PURE:
        first -= 1
    return first


def combines(function: Function) -> list[Op]:
    """Return the `combine` operations at the top level of the function's body, in order."""
    return [op for op in function.body.ops if op.name == "combine"]


def declared(e: Emitter, function: Function) -> list[str]:
    """Name the locals of a kernel's accumulators; return the C++ lines that declare them with neutral values."""
    rows: list[str] = []
    for op in combines(function):
        name = e.accumulators[op.attrs[ACCUMULATOR]] = e.fresh(
            f"{e.name(op.operands[0])}_{_NAMES.get(op.attrs[KIND], op.attrs[KIND])}"
        )
        dtype = dtype_of(op.operands[0])
        type, start = _type(op.attrs[KIND], element(dtype))
        starts = ", ".join([start] * dtype.length) if isinstance(dtype, Vector) else start
        rows.append(f"{type} {name}[] = {{{starts}}};" if isinstance(dtype, Vector) else f"{type} {name} = {start};")
        rows.append(f"bool {name}_any = false;")
    return rows


def emit_change(e: Emitter, op: Op) -> list[str]:
    """Emit an atomic or `reduce_add`: as a change of its accumulator's local, or of memory if it has none."""
    if ACCUMULATOR not in op.attrs:
        return _ATOMIC[op.name](e, op)
    name, value = e.accumulators[op.attrs[ACCUMULATOR]], op.operands[-1]
    kind = "add" if op.name != "atomic" else op.attrs[KIND]
    type, _ = _type(kind, element(value.type))
    e.expressions.require_type(value.type)
    e.expressions.keys |= {("join", kind)} - {("join", k) for k in _SIGNS}
    rows, parts = [], [(name, e.expressions.argument(value))]
    if isinstance(value.type, Vector):
        vector = e.fresh("change")
        rows = [f"{c_type(value.type)} {vector} = {parts[0][1]};"]
        parts = [(f"{name}[{n}]", f"{vector}.{c}") for n, c in enumerate(members(form_of(value.type)))]
    for local, text in parts:
        operand = text if type == c_type(element(value.type)) else cast(type, text)
        sign = _SIGNS.get(kind)
        rows.append(f"{local} {sign}= {operand};" if sign else f"{local} = wb_join_{kind}({local}, {operand});")
    return [*rows, f"{name}_any = true;"]


def emit_combine(e: Emitter, op: Op) -> list[str]:
    """Emit the combination of the locals of a block's threads, after which one of the threads changes memory."""
    array, *indices = op.operands
    kind, dtype, name = op.attrs[KIND], dtype_of(array), e.accumulators[op.attrs[ACCUMULATOR]]
    scalar = element(dtype)
    e.expressions.keys |= {("join", kind), ("block", kind)}
    target = e.expressions.element(array, tuple(indices)).text if indices else f"{e.name(array)}.data[0]"
    function = function_of(e, kind, scalar, op)
    parts = [(name, target)]
    if isinstance(dtype, Vector):
        parts = [(f"{name}[{n}]", f"{target}.{c}") for n, c in enumerate(members(form_of(dtype)))]
    return [
        f"if (wb_block_{kind}({local}, {name}_any)) {function}(&{address}, ({c_type(scalar)}){local});"
        for local, address in parts
    ]


def _type(kind: str, scalar: Scalar) -> tuple[str, str]:
    """Return the C++ type of an accumulator and its neutral value.

    Of a minimum or maximum it is the element's type; otherwise double for floats, and an unsigned integer for integers.
    """
    if kind in ("min", "max"):
        return c_type(scalar), _ENDS[scalar.name][kind == "max"]
    if scalar.kind is Kind.FLOAT:
        return "double", "-0.0"
    word = _WORDS[scalar.bits]
    return word, f"~({word})0" if kind == "and" else "0"


_ATOMIC = {
    "atomic_add": emit_atomic_add,
    "atomic": emit_atomic,
    "reduce_add": emit_reduce_add,
}


def _join(kind: str) -> str:
    """Return the C++ function `wb_join_<kind>`, which combines two values: add, and, or, xor, min or max."""
    return f"template <typename T> WB_FN T wb_join_{kind}(T a, T b) {{ return {_JOINED[kind]}; }}\n"


def _block(kind: str) -> str:
    """Return the C++ function `wb_block_<kind>`, which combines one value per thread over a block.

    It returns true in thread 0 alone, whose `value` then is the result; false everywhere if no thread has `any`.
    """
    # Not unrolled: it runs once per block, and a kernel has one for each component.
    return f"""\
template <typename T> WB_FN bool wb_block_{kind}(T& value, bool any) {{
    __shared__ T warps[32];
    if (!__syncthreads_or(any)) return false;
    unsigned int lane = threadIdx.x % 32U, warp = threadIdx.x / 32U, left = blockDim.x - 32U * warp;
    unsigned int lanes = left < 32U ? left : 32U, mask = 0xffffffffU >> (32U - lanes);
    #pragma unroll 1
    for (unsigned int step = 16U; step > 0U; step /= 2U) {{
        T other = __shfl_down_sync(mask, value, step);
        if (lane + step < lanes) value = wb_join_{kind}(value, other);
    }}
    if (lane == 0U) warps[warp] = value;
    __syncthreads();
    if (threadIdx.x != 0U) return false;
    #pragma unroll 1
    for (unsigned int n = 1U; 32U * n < blockDim.x; ++n) value = wb_join_{kind}(value, warps[n]);
    return true;
}}
"""


ACCUMULATOR_PIECES: Pieces = {
    **{("join", kind): _join(kind) for kind in _JOINED},
    **{("block", kind): _block(kind) for kind in _JOINED},
}
