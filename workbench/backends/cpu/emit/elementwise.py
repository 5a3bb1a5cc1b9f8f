"""Builtins, casts and the components of vectors: the LLVM instructions of the builtin table, component by component."""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.types import cast, register, saturating, suffix, width
from workbench.builtins import TABLE, Builtin
from workbench.errors import BuildError
from workbench.ir.values import Op
from workbench.passes.analysis.intervals import LEAST, MOST
from workbench.passes.precision import may_lose_sign
from workbench.types import Kind, Scalar, element

FAST = "reassoc nsz arcp contract afn"
"""LLVM's flags for reassociation and approximate maths; NaN and infinity keep their meaning."""

PURE = "nounwind willreturn memory(none)"


def native(builtin: Builtin) -> bool:
    """Return whether LLVM, the C library or a handler of this backend implements the builtin for scalars."""
    return builtin.llvm is not None or builtin.name == "wrap_index"


def emit_builtin(emitter: Emitter, op: Op) -> None:
    """Emit a builtin: one LLVM instruction or call for each component of its result.

    Raises:
        BuildError: LLVM and the C library have no such builtin, or not for this type.
    """
    builtin = TABLE.get(op.name)
    if builtin is None or builtin.llvm is None:
        raise BuildError(f"The CPU backend cannot emit the operation {op.name}.", op.location)
    operands = [emitter.operands(v) for v in op.operands]
    scalar, (result,) = element(op.operands[-1].type), op.results
    rows: list[str] = []
    for k in range(width(result.type)):
        args = [parts[k % len(parts)] for parts in operands]
        rows.append(emitter.writer.emit(_instruction(emitter, builtin, scalar, args, op), result.name))
    emitter.bind(result, rows)


def emit_wrap_index(emitter: Emitter, op: Op) -> None:
    """Emit an index counted from the start: a negative one counts from the end, and gets the size added."""
    (index,), (size,), w = emitter.operands(op.operands[0]), emitter.operands(op.operands[1]), emitter.writer
    if element(op.result.type).kind is Kind.UINT:  # never negative
        emitter.bind(op.result, [index])
        return
    kind = register(element(op.result.type))
    if emitter.wide is not None and kind == "i32":
        emitter.wide[op.result] = _wrapped_by_branch(emitter, op, index, size)
        emitter.bind(op.result, [w.emit(f"trunc i64 {emitter.wide[op.result]} to i32")])
        return
    negative = w.emit(f"icmp slt {kind} {index}, 0")
    counted = w.emit(f"add {kind} {index}, {size}")
    emitter.bind(op.result, [w.emit(f"select i1 {negative}, {kind} {counted}, {kind} {index}", op.result.name)])


def _wrapped_by_branch(emitter: Emitter, op: Op, index: str, size: str) -> str:
    """Emit a wrapped index with a branch around the wrap, in 64 bits, as addresses are: x86 extends as it loads."""
    w, wrap, join = emitter.writer, emitter.writer.block_name("wrap"), emitter.writer.block_name("wrapped")
    wide, before = w.emit(f"sext i32 {index} to i64"), w.label
    w.branch(w.emit(f"icmp sge i64 {wide}, 0"), join, wrap, ", !prof !1")
    w.open(wrap)
    counted = w.emit(f"add i64 {wide}, {w.emit(f'sext i32 {size} to i64')}")
    w.jump(join)
    w.open(join)
    return w.emit(f"phi i64 [ {wide}, %{before} ], [ {counted}, %{wrap} ]", op.result.name)


def _instruction(emitter: Emitter, builtin: Builtin, scalar: Scalar, args: list[str], op: Op) -> str:
    """Return the text of the LLVM instruction or call that computes a builtin of scalars.

    Args:
        emitter: its block is open.
        builtin: the builtin.
        scalar: the type of the last argument.
        args: LLVM operands.
        op: the operation.

    Raises:
        BuildError: there is none for this type.
    """
    kind, flags = register(scalar), FAST if emitter.options.fast_math and scalar.kind is Kind.FLOAT else ""
    if isinstance(builtin.llvm, str):
        return _call(emitter, builtin.llvm, scalar, args, flags, op)
    assert builtin.llvm is not None
    verb = builtin.llvm.get(scalar.kind.value)
    if verb is None:
        raise BuildError(f"The CPU backend has no {builtin.name} for {scalar}.", op.location)
    if verb == "select":
        return f"select i1 {args[0]}, {kind} {args[1]}, {kind} {args[2]}"
    if verb.endswith(","):
        return f"{verb.replace('{T}', kind)} {args[0]}"
    if flags:
        first, *rest = verb.split()
        verb = " ".join([first, flags, *rest])
    return f"{verb} {kind} {', '.join(args)}"


def _call(emitter: Emitter, callee: str, scalar: Scalar, args: list[str], flags: str, op: Op) -> str:
    """Return the text of a call of a maths function: the target's vectorised one, or LLVM's or the C library's.

    What it calls is declared, and `flags` are those of floating-point operations.
    """
    kind = register(scalar)
    library, _, name = callee.rpartition(":")
    base = name.removeprefix("llvm.")
    routine = None if _simple_power(emitter, base, op) else emitter.vector_function(base, scalar)
    if routine is not None:
        function, group = routine
        passed = ", ".join(f"{kind} {a}" for a in args)
        return f"call {flags + ' ' if flags else ''}{kind} @{function}({passed}) #{group}"
    if library:
        function = name + ("f" if scalar.bits == 32 else "")
    else:
        function = f"{name}.{suffix(scalar)}"
    emitter.writer.declare(function, f"declare {kind} @{function}({', '.join([kind] * len(args))}) {PURE}")
    passed = ", ".join(f"{kind} {a}" for a in args)
    return f"call {flags + ' ' if flags else ''}{kind} @{function}({passed})"


def _simple_power(emitter: Emitter, name: str, op: Op) -> bool:
    """Return whether this is a power with the constant exponent -1, 0, 1 or 2, for which LLVM needs no call."""
    return name == "pow" and emitter.constants.get(op.operands[-1]) in (-1, 0, 1, 2)


def emit_cast(emitter: Emitter, op: Op) -> None:
    """Emit a conversion of each component: saturating from float to integer, wrapping between integers."""
    source, target = element(op.operands[0].type), element(op.result.type)
    results = []
    for operand in emitter.operands(op.operands[0]):
        if may_lose_sign(source, target, emitter.compared):
            kind, name = register(source), f"llvm.canonicalize.{suffix(source)}"
            emitter.writer.declare(name, f"declare {kind} @{name}({kind})")
            operand = emitter.writer.emit(f"call {kind} @{name}({kind} {operand})")
        text = cast(operand, source, target)
        results.append(emitter.writer.emit(text, op.result.name) if text else operand)
    if source.is_half or target.is_half:
        emitter.needs_halves(source if source.is_half else target)
    elif source.kind is Kind.FLOAT and target.kind in (Kind.INT, Kind.UINT):
        emitter.writer.declare(f"wb.{target}.{source}", saturating(source, target))
    emitter.bind(op.result, results)


def emit_vec(emitter: Emitter, op: Op) -> None:
    """Emit a vector that is composed of scalars."""
    emitter.bind(op.result, [emitter.operand(v) for v in op.operands])


def emit_extract(emitter: Emitter, op: Op) -> None:
    """Emit the component at an index; an index out of range, which only unchecked code has, gives the last."""
    vector, index = op.operands
    parts = emitter.operands(vector)
    if index in emitter.constants:
        position = int(emitter.constants[index])
        emitter.bind(op.result, [parts[position if 0 <= position < len(parts) else -1]])
        return
    # A row of selects rather than memory: a vector in memory would keep LLVM from putting threads side by side.
    w, kind, where = emitter.writer, register(element(vector.type)), emitter.operand(index)
    chosen = parts[-1]
    for k in reversed(range(len(parts) - 1)):
        hit = w.emit(f"icmp eq {register(element(index.type))} {where}, {k}")
        chosen = w.emit(f"select i1 {hit}, {kind} {parts[k]}, {kind} {chosen}")
    emitter.bind(op.result, [chosen])


def emit_insert(emitter: Emitter, op: Op) -> None:
    """Emit a vector with one component replaced; none if the index is out of range, which only unchecked code has."""
    vector, index, value = op.operands
    parts = list(emitter.operands(vector))
    new = emitter.operand(value)
    if index in emitter.constants:
        if 0 <= (position := int(emitter.constants[index])) < len(parts):
            parts[position] = new
    else:
        w, kind, where = emitter.writer, register(element(vector.type)), emitter.operand(index)
        for k, part in enumerate(parts):
            hit = w.emit(f"icmp eq {register(element(index.type))} {where}, {k}")
            parts[k] = w.emit(f"select i1 {hit}, {kind} {new}, {kind} {part}")
    emitter.bind(op.result, parts)


_WHOLE = "6755399441055744.0"  # 1.5 · 2⁵²: a float64 of this size has no fraction, and its low bits are the integer


def emit_floor_quotient(emitter: Emitter, op: Op) -> None:
    """Emit the quotient of two integers of 32 bits, rounded down; by 0 it is -1, as `//` defines it.

    x/m + 1/(2|m|) - 1/2 lies within 1/2 - 1/(2|m|) of the quotient. The computed number differs from it by less than
    2⁻¹⁹/|m|, so the nearest integer is the quotient, for all x and m. LLVM moves what depends on m alone out of loops.
    """
    w = emitter.writer
    x, m = (emitter.operand(v) for v in op.operands)
    signed = element(op.result.type).kind is Kind.INT
    convert = "sitofp" if signed else "uitofp"
    zero = w.emit(f"icmp eq i32 {m}, 0")
    inverse = w.emit(f"fdiv double 1.0, {w.emit(f'{convert} i32 {m} to double')}")
    inverse = w.emit(f"select i1 {zero}, double 0.0, double {inverse}")
    half = w.emit(f"select i1 {w.emit(f'icmp slt i32 {m}, 0')}, double -0.5, double 0.5") if signed else "0.5"
    shift = w.emit(f"fadd double {w.emit(f'fmul double {half}, {inverse}')}, -0.5")
    shift = w.emit(f"select i1 {zero}, double -1.0, double {shift}")
    near = w.emit(f"fmul double {w.emit(f'{convert} i32 {x} to double')}, {inverse}")
    rounded = w.emit(f"fadd double {w.emit(f'fadd double {near}, {shift}')}, {_WHOLE}")
    emitter.bind(op.result, [w.emit(f"trunc i64 {w.emit(f'bitcast double {rounded} to i64')} to i32", op.result.name)])


def emit_quotient_is(emitter: Emitter, op: Op, across: int = 0) -> None:
    """Emit whether a number of 32 bits, and that plus `across`, have a quotient, rounded down; False if the sum wraps.

    The quotient has to be 0, or that of a number between the two.
    """
    w, far = emitter.writer, abs(across)
    x, quotient, divisor = map(emitter.operand, op.operands)
    # What is left of x is then within 32 bits but for `across`, so that it is what it is modulo 2³².
    rest = w.emit(f"sub i32 {x}, {w.emit(f'mul i32 {quotient}, {divisor}')}")
    least = rest if across >= 0 else w.emit(f"sub i32 {rest}, {far}")
    size = w.call("i32", "llvm.smax.i32", f"i32 {divisor}", "i32 0")
    size = w.call("i32", "llvm.usub.sat.i32", f"i32 {size}", f"i32 {far}") if far else size
    holds = w.emit(f"icmp ult i32 {least}, {size}")
    fits = w.emit(f"icmp sle i32 {x}, {MOST - far}" if across >= 0 else f"icmp sge i32 {x}, {LEAST + far}")
    emitter.bind(op.result, [w.emit(f"and i1 {holds}, {fits}")])
