"""Vectorised maths functions: our own formulas, and glibc's libmvec for the rest where this machine has it.

LLVM vectorises a loop over threads with `sinf` in it only if it knows a `sinf` of eight arguments. Each scalar function
is a small function of Workbench that means the same as a lane of the wide one, so a result does not depend on where in
a range a thread stands or how the range was split. The errors of our formulas are stated in `design/cpu_maths.md`.
Where a formula does not hold, the scalar asks the C library and a wide one asks the scalar, lane by lane. They are
compiled once for a machine, not with each kernel: a cell with a sine in it compiles as quickly as one without.
"""

from __future__ import annotations

import msgspec

from workbench.backends.cpu.maths import names
from workbench.backends.cpu.maths.names import ARM, FORMULAS, FUNCTIONS, INSTEAD, WIDTH, scalar_name, symbol
from workbench.ir.ops import VALUE
from workbench.ir.values import Function, walk
from workbench.limits import VECTOR_MATH_ITERATIONS
from workbench.types import Scalar

PURE = "nounwind willreturn memory(none)"
ISA = "n" if ARM else "d"  # as the vector function ABIs call registers of WIDTH bits


class Maths(msgspec.Struct, frozen=True):
    """The vectorised maths that the code for a target may use.

    Attributes:
        formulas: our own functions.
        library: glibc's libmvec, for functions without a formula of ours.
        bits: of a vector register, for code that is emitted as vectors.
        fused: the target has fused multiply-add. Without it, formulas do without, and are defined in the kernel's own
            module.
        preferred: bits of a register that straight code fills at most.
        gathers: an instruction that loads scattered elements takes less time than loads of one each.
    """

    formulas: bool = False
    library: bool = False
    bits: int = 128
    fused: bool = True
    preferred: int = 512
    gathers: bool = False

    @property
    def filled(self) -> int:
        """The bits of a register that straight code fills, as LLVM prefers."""
        return min(self.bits, self.preferred)


class Callee(msgspec.Struct, frozen=True):
    """A maths function to call from a loop over threads.

    Attributes:
        symbol: of its scalar form.
        attribute: LLVM's attribute that names its wide forms for the loop vectoriser.
        definitions: what has to stand in the module, by name.
        kept: symbols that must outlive the passes before the vectoriser as they are: those that only it will use, and a
            function of this module, of which LLVM would drop an argument that is the same number in all calls.
    """

    symbol: str
    attribute: str
    definitions: dict[str, str]
    kept: tuple[str, ...]


def worth_it(function: Function) -> bool:
    """Return whether the loop over threads can be the innermost one, because LLVM unrolls all others.

    So it is if there is no `while`, and each `for` has known bounds and few iterations.
    """
    constants = {op.result: op.attrs[VALUE] for op in walk(function.body) if op.name == "const"}
    for op in walk(function.body):
        if op.name == "while":
            return False
        if op.name == "for":
            bounds = [constants.get(v) for v in op.operands[:3]]
            if any(b is None for b in bounds) or not bounds[2]:
                return False
            if len(range(*map(int, bounds))) > VECTOR_MATH_ITERATIONS:  # type: ignore[arg-type]
                return False
    return True


def callee(name: str, scalar: Scalar, maths: Maths, innermost: bool) -> Callee | None:
    """Return the function to call for a maths function; None if LLVM's own, which calls the C library, is to be used.

    Args:
        name: of the maths function.
        scalar: the type of its arguments.
        maths: what the target has.
        innermost: whether the loop over threads can be the innermost one (`worth_it`).
    """
    instead = name in INSTEAD and not maths.fused
    if name not in FUNCTIONS and not instead:
        return None
    width, isa = WIDTH, ISA
    if instead or (name in FORMULAS and maths.formulas):
        make = _own if maths.fused else _in_module
        if not maths.fused:  # no system's names for vectors: those of LLVM
            width, isa = maths.bits, "_LLVM_"
    elif maths.library and innermost:
        make = _of_library
    else:
        return None
    bits, lanes = scalar.bits, width // scalar.bits
    ours, definitions, wide = make(name, bits, lanes)
    variant = f"_ZGV{isa}N{lanes}{'v' * arguments(name)}_{ours}({wide})"
    chosen = (ours, wide) if make is _of_library else (wide,)
    return Callee(ours, f'"vector-function-abi-variant"="{variant}"', definitions, chosen)


def arguments(name: str) -> int:
    """Return how many arguments a maths function takes."""
    return FUNCTIONS[name] if name in FUNCTIONS else INSTEAD[name]


def module(name: str, bits: int) -> str:
    """Return an LLVM module with our function `name`, scalar and as wide as kernels on this machine call it."""
    return "\n".join(definitions(name, bits, (WIDTH // bits,)).values()) + "\n"


def _own(name: str, bits: int, lanes: int) -> tuple[str, dict[str, str], str]:
    """Return what links a kernel to our maths function in a module of its own.

    Returns:
        The symbol of its scalar form, declarations by symbol, and the symbol of its wide form.
    """
    one, wide = (symbol(name, bits, n) for n in (1, lanes))
    return one, {one: declared(name, bits, 1), wide: declared(name, bits, lanes)}, wide


def _in_module(name: str, bits: int, lanes: int) -> tuple[str, dict[str, str], str]:
    """Return what defines our maths function in the kernel's own module, without fused multiply-add.

    Returns:
        The symbol of its scalar form, definitions by symbol, and the symbol of its wide form.
    """
    return symbol(name, bits, 1), definitions(name, bits, (lanes,), fused=False), symbol(name, bits, lanes)


def _of_library(name: str, bits: int, lanes: int) -> tuple[str, dict[str, str], str]:
    """Return the name of a libmvec function's form for one number, IR by symbol, and its form for `lanes`."""
    ours, theirs = f"wb.{scalar_name(name, bits)}", names.libmvec_symbol(name, bits)
    kind, count = _kind(bits, 1), FUNCTIONS[name]
    wide = _kind(bits, lanes)
    definitions = {
        theirs: f"declare {wide} @{theirs}({', '.join([wide] * count)}) {PURE}",
        ours: _one(ours, theirs, kind, lanes, count),
    }
    return ours, definitions, theirs


def _one(ours: str, theirs: str, kind: str, lanes: int, count: int) -> str:
    """Return LLVM text of the scalar form of a libmvec function, which computes it in every lane."""
    wide = f"<{lanes} x {kind}>"
    # Not inlined: the loop vectoriser replaces calls of this name, and would find none.
    rows = [f"define internal {kind} @{ours}({', '.join(f'{kind} %x{n}' for n in range(count))}) noinline {PURE} {{"]
    for n in range(count):
        rows.append(f"  %one{n} = insertelement {wide} poison, {kind} %x{n}, i64 0")
        rows.append(f"  %all{n} = shufflevector {wide} %one{n}, {wide} poison, <{lanes} x i32> zeroinitializer")
    rows.append(f"  %wide = call {wide} @{theirs}({', '.join(f'{wide} %all{n}' for n in range(count))})")
    rows.append(f"  %first = extractelement {wide} %wide, i64 0")
    return "\n".join([*rows, f"  ret {kind} %first", "}"])


def declared(name: str, bits: int, count: int = 1) -> str:
    """Return the LLVM declaration of our function for `count` elements."""
    kind = _kind(bits, count)
    return f"declare {kind} @{symbol(name, bits, count)}({', '.join([kind] * arguments(name))}) {PURE}"


def definitions(name: str, bits: int, counts: tuple[int, ...], fused: bool = True) -> dict[str, str]:
    """Return LLVM text of our function's scalar form and its wide ones, by symbol, with what they call before them."""
    needs: dict[str, str] = {}
    texts = {symbol(name, bits): _scalar(name, bits, needs, fused)}
    texts |= {symbol(name, bits, count): _wide(name, bits, count, needs, fused) for count in counts}
    return needs | texts


def _kind(bits: int, count: int) -> str:
    """Return the LLVM type of `count` floats of 32 or 64 bits: a scalar for 1, else a vector."""
    one = "float" if bits == 32 else "double"
    return one if count == 1 else f"<{count} x {one}>"


def _head(name: str, bits: int, count: int) -> tuple[str, str]:
    """Return the first line of our function for `count` elements, and its parameters."""
    kind = _kind(bits, count)
    params = ", ".join(f"{kind} %x{n}" for n in range(arguments(name)))
    return f"define {kind} @{symbol(name, bits, count)}({params}) {PURE} {{", params


def _scalar(name: str, bits: int, needs: dict[str, str], fused: bool) -> str:
    """Return LLVM text of our function's scalar form; rare arguments go to the C library's function.

    `needs` receives the declarations of what it calls.
    """
    from workbench.backends.cpu.maths.approximations import body

    w, answer = body(name, bits, 1, fused)
    needs |= w.declarations
    head, params = _head(name, bits, 1)
    if not fused:  # in the kernel's module, where the vectoriser has to see the call
        head = head.replace(PURE, f"noinline {PURE}")
    rows, kind = [head, *w.lines], answer.value.type
    if answer.rare is None:
        return "\n".join([*rows, f"  ret {kind} {answer.value.text}", "}"])
    library = name + ("f" if bits == 32 else "")
    needs[library] = f"declare {kind} @{library}({', '.join([kind] * arguments(name))}) {PURE}"
    rows += [
        f"  br i1 {answer.rare.text}, label %rare, label %common",
        "rare:",
        f"  %asked = call {kind} @{library}({params})",
        f"  ret {kind} %asked",
        "common:",
        f"  ret {kind} {answer.value.text}",
        "}",
    ]
    return "\n".join(rows)


def _wide(name: str, bits: int, count: int, needs: dict[str, str], fused: bool) -> str:
    """Return LLVM text of our function for `count` elements; if one of them is rare, all go lane by lane.

    `needs` receives the declarations of what it calls.
    """
    from workbench.backends.cpu.maths.approximations import body

    w, answer = body(name, bits, count, fused)
    needs |= w.declarations
    rows, kind = [_head(name, bits, count)[0], *w.lines], answer.value.type
    if answer.rare is None:
        return "\n".join([*rows, f"  ret {kind} {answer.value.text}", "}"])
    either = f"llvm.vector.reduce.or.v{count}i1"
    needs[either] = f"declare i1 @{either}({answer.rare.type})"
    rows += [
        f"  %some = call i1 @{either}({answer.rare})",
        "  br i1 %some, label %rare, label %common",
        "common:",
        f"  ret {kind} {answer.value.text}",
        *_lane_by_lane(name, bits, count),
        "}",
    ]
    return "\n".join(rows)


def _lane_by_lane(name: str, bits: int, count: int) -> list[str]:
    """Return the lines of a block "rare" and a loop behind it that call the scalar form for each element and return."""
    n, kind, one = arguments(name), _kind(bits, count), _kind(bits, 1)
    rows = ["rare:", *(f"  %p{k} = alloca {kind}" for k in range(n)), f"  %out = alloca {kind}"]
    rows += [f"  store {kind} %x{k}, ptr %p{k}" for k in range(n)]
    rows += ["  br label %lane", "lane:", "  %k = phi i64 [ 0, %rare ], [ %next, %lane ]"]
    for k in range(n):
        rows += [f"  %a{k} = getelementptr {one}, ptr %p{k}, i64 %k", f"  %l{k} = load {one}, ptr %a{k}"]
    return [
        *rows,
        f"  %r = call {one} @{symbol(name, bits)}({', '.join(f'{one} %l{k}' for k in range(n))})",
        f"  %to = getelementptr {one}, ptr %out, i64 %k",
        f"  store {one} %r, ptr %to",
        "  %next = add nuw i64 %k, 1",
        f"  %more = icmp ult i64 %next, {count}",
        "  br i1 %more, label %lane, label %end",
        "end:",
        f"  %all = load {kind}, ptr %out",
        f"  ret {kind} %all",
    ]
