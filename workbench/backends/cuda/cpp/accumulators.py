"""Changes of one element by all threads, in locals until the end of the kernel (marked by `passes/reductions.py`).

A marked change becomes one of a local of the thread, and the kernel ends with a `combine` per element: the threads of a
block combine their locals, pairwise in each warp by shuffles, then warp after warp through shared memory, and one of
them changes memory. A thread goes through the launch with a step of all threads there are, so a launch needs no more
blocks than run at the same time. The last warp of a block may have fewer than 32 threads.

Floats are added as float64. 16-bit floats and integers of fewer than 32 bits stay atomic changes.
"""

from __future__ import annotations

from workbench.backends.cuda.cpp import atomics
from workbench.backends.cuda.cpp.c_names import c_type, cast, form_of, members
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.pieces import Pieces
from workbench.ir.attributes import ACCUMULATOR, KIND, REDUCTION, VALUE, attributes
from workbench.ir.ops import ELEMENTS, PURE
from workbench.ir.rewrite import Rewriter, copy_op, replace_body, rewrite
from workbench.ir.values import Block, Function, Op, Value, definitions, dtype_of, walk
from workbench.passes.reductions import kind_of
from workbench.types import Kind, Scalar, Vector, element

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
    function = atomics.function_of(e, kind, scalar, op)
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
    "atomic_add": atomics.emit_atomic_add,
    "atomic": atomics.emit_atomic,
    "reduce_add": atomics.emit_reduce_add,
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


PIECES: Pieces = {
    **{("join", kind): _join(kind) for kind in _JOINED},
    **{("block", kind): _block(kind) for kind in _JOINED},
}
