"""Atomic changes of elements, beside the sum: one instruction, or compare-and-swap where floats are compared."""

from __future__ import annotations

from workbench.backends.cpu.emit import memory
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.types import register
from workbench.ir.ops import KIND
from workbench.ir.values import ATOMIC_KINDS, Op
from workbench.types import Kind, Scalar, Vector, element, uint64

_VERBS = {"exch": "xchg", "and": "and", "or": "or", "xor": "xor"}


def emit_atomic(emitter: Emitter, op: Op) -> None:
    """Emit an atomic change of an element other than an addition; the result is the element's old value."""
    address = memory.element_addresses(emitter, op)[0]
    kind, scalar = op.attrs[KIND], element(op.result.type)
    hint = op.result.name
    if isinstance(op.result.type, Vector):
        emitter.bind(op.result, _exchange_number(emitter, op, address))
        return
    value = emitter.operand(op.operands[-1])
    if kind == "cas":
        old = _swap(emitter, address, scalar, emitter.operand(op.operands[-2]), value, hint)
    elif kind in ("min", "max") and scalar.kind is Kind.FLOAT:
        old = _extreme(emitter, address, scalar, value, "olt" if kind == "min" else "ogt", hint)
    else:
        verb = _VERBS.get(kind) or (f"u{kind}" if scalar.kind is Kind.UINT else kind)
        old = emitter.writer.emit(f"atomicrmw {verb} ptr {address}, {register(scalar)} {value} monotonic", hint)
    emitter.bind(op.result, [old])


def _exchange_number(emitter: Emitter, op: Op, address: str) -> list[str]:
    """Exchange a complex64, or compare and swap one, as one 64-bit word; return the two parts of its old value."""
    w, words = emitter.writer, []
    for value in op.operands[-ATOMIC_KINDS[op.attrs[KIND]] :]:
        pair = "poison"
        for k, part in enumerate(emitter.operands(value)):
            pair = w.emit(f"insertelement <2 x float> {pair}, float {part}, i64 {k}")
        words.append(w.emit(f"bitcast <2 x float> {pair} to i64"))
    if len(words) == 2:
        expected, new = words
        old = _swap(emitter, address, uint64, expected, new, "old")
    else:
        old = w.emit(f"atomicrmw xchg ptr {address}, i64 {words[0]} monotonic")
    pair = w.emit(f"bitcast i64 {old} to <2 x float>")
    return [w.emit(f"extractelement <2 x float> {pair}, i64 {k}", op.result.name) for k in (0, 1)]


def emit_swap(emitter: Emitter, op: Op) -> None:
    """Emit one attempt to compare and swap an element, by its bits; the result is true if it has to be tried again."""
    (address,) = memory.element_addresses(emitter, op)
    w, old, new = emitter.writer, emitter.operand(op.operands[-2]), emitter.operand(op.operands[-1])
    scalar, word = element(op.operands[-1].type), f"i{8 * element(op.operands[-1].type).size}"
    if scalar.kind is Kind.BOOL:
        old, new = (w.emit(f"zext i1 {value} to i8") for value in (old, new))
    elif not scalar.is_half:
        old, new = _bits(emitter, old, scalar), _bits(emitter, new, scalar)
    pair = w.emit(f"cmpxchg ptr {address}, {word} {old}, {word} {new} monotonic monotonic")
    done = w.emit(f"extractvalue {{ {word}, i1 }} {pair}, 1")
    emitter.bind(op.result, [w.emit(f"xor i1 {done}, true", op.result.name)])


def _bits(emitter: Emitter, value: str, scalar: Scalar) -> str:
    """Emit a bitcast of a float to an integer of its width; return its register, or that of an integer as it is."""
    if scalar.kind is not Kind.FLOAT:
        return value
    return emitter.writer.emit(f"bitcast {register(scalar)} {value} to i{scalar.bits}")


def _swap(emitter: Emitter, address: str, scalar: Scalar, expected: str, value: str, hint: str) -> str:
    """Emit an atomic compare and swap of a scalar; return the register of the old value."""
    w, word = emitter.writer, f"i{scalar.bits}"
    wanted, new = _bits(emitter, expected, scalar), _bits(emitter, value, scalar)
    pair = w.emit(f"cmpxchg ptr {address}, {word} {wanted}, {word} {new} monotonic monotonic")
    old = w.emit(f"extractvalue {{ {word}, i1 }} {pair}, 0", hint)
    return w.emit(f"bitcast {word} {old} to {register(scalar)}", hint) if scalar.kind is Kind.FLOAT else old


def _extreme(emitter: Emitter, address: str, scalar: Scalar, value: str, keeps: str, hint: str) -> str:
    """Emit an atomic minimum or maximum of floats; return the old value.

    As in the language, an element that is NaN stays, and a value that is NaN is stored.

    Args:
        emitter: its block is open.
        address: of the element.
        scalar: its type.
        value: the operand.
        keeps: LLVM comparison of element and value that is true where the element stays: "olt" or "ogt".
        hint: name for the result's register.
    """
    w, word, kind = emitter.writer, f"i{scalar.bits}", register(scalar)
    new = _bits(emitter, value, scalar)
    first = w.emit(f"load atomic {word}, ptr {address} monotonic, align {scalar.size}")
    before = w.label
    head, swap, done = (w.block_name(label) for label in ("atomic", "swap", "endatomic"))
    w.jump(head)
    w.open(head)
    seen, row = w.name(), w.reserve()
    now = w.emit(f"bitcast {word} {seen} to {kind}", hint)
    nan = w.emit(f"fcmp uno {kind} {now}, 0.0")
    ahead = w.emit(f"fcmp {keeps} {kind} {now}, {value}")
    w.branch(w.emit(f"or i1 {nan}, {ahead}"), done, swap)
    w.open(swap)
    pair = w.emit(f"cmpxchg ptr {address}, {word} {seen}, {word} {new} monotonic monotonic")
    again = w.emit(f"extractvalue {{ {word}, i1 }} {pair}, 0")
    w.fill(row, seen, f"phi {word} [ {first}, %{before} ], [ {again}, %{swap} ]")
    w.branch(w.emit(f"extractvalue {{ {word}, i1 }} {pair}, 1"), done, head)
    w.open(done)
    return now
