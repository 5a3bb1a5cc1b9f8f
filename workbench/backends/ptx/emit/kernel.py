"""A kernel as LLVM IR: one function that runs one warp of one block.

Blocks stand one after the other in the order of `flow`. `%wait.n` holds the lanes that are to run block n next; a
block without such lanes is skipped; at its end a block adds its lanes to its successors'. Control only goes forward,
or back to the head of a loop in which lanes wait. So the lanes whose next block is the earliest always run, and lanes
that took different branches join again where the branches do (`design/ptx.md`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from workbench.backends.llvm.values import Value, vector
from workbench.backends.ptx.analysis import (
    liveness,
    loop_membership,
    speculated,
    spin_latches,
    uniform_registers,
    waits,
    writes,
)
from workbench.backends.ptx.counters import empty_table, first_row
from workbench.backends.ptx.emit import conversions, floats, integers, memory, waiting, warps
from workbench.backends.ptx.emit.emitter import Emitter, Rule, VariableLayout
from workbench.backends.ptx.emit.instrumentation import GROUPS, count_guarded
from workbench.backends.ptx.emit.values import LANES, stored
from workbench.backends.ptx.flow import Block, basic_blocks
from workbench.backends.ptx.inline import inlined
from workbench.backends.ptx.library import barriers, faults, threads
from workbench.backends.ptx.syntax.expansions import WORKSPACE
from workbench.backends.ptx.syntax.program import Function, Instruction, Program, Special, Symbol, Variable, unsupported
from workbench.limits import OPTIMISED_CHARACTERS

ENTRY = "wbe_warp"
"""The symbol of the function that runs one warp."""
TURNS = 64
"""Jumps back in a loop that may wait for other lanes, before those lanes are allowed to run."""
RULES: dict[str, Rule] = {
    **integers.RULES, **floats.RULES, **conversions.RULES, **memory.RULES, **warps.RULES,
}  # fmt: skip
ABSENT = {
    "wgmma": "warpgroup matrix products", "tcgen05": "tensor memory",
    "tex": "textures", "tld4": "textures", "txq": "textures", "suld": "surfaces", "sust": "surfaces",
    "mapa": "clusters of this form", "getctarank": "clusters of this form", "multimem": "multicast memory",
    "setmaxnreg": "warpgroups", "griddepcontrol": "dependent launches", "tensormap": "tensor maps",
    "alloca": "dynamic stack memory",
}  # fmt: skip


class KernelMetadata(msgspec.Struct, frozen=True):
    """The properties of a kernel that a launch needs besides its object file.

    Attributes:
        name: the kernel's name.
        code: its instructions after inlining; faults and counters name an index in it.
        suspends: its warps may wait for each other: `ENTRY` is a coroutine.
        shared: bytes of static shared memory; dynamic shared memory follows, aligned to 16.
        local: bytes of local memory per thread.
        symbols: module variables whose addresses a launch passes, in this order.
        blocks: index in `code` of each basic block's first instruction.
        parameter_size: bytes of its packed parameters.
        counters: words of the table that it counts in; 0 if it does not count.
        syncs_grid: its blocks synchronise across the grid (`grid.sync()`), so it needs a cooperative launch.
        cluster: blocks of a cluster along x, y, z.
    """

    name: str
    code: tuple[Instruction, ...]
    suspends: bool
    shared: int
    local: int
    symbols: tuple[str, ...]
    blocks: tuple[int, ...]
    parameter_size: int
    counters: int = 0
    syncs_grid: bool = False
    cluster: tuple[int, int, int] = (1, 1, 1)


class KernelText(msgspec.Struct, frozen=True):
    """A PTX kernel as LLVM IR: the text of the function `ENTRY`, which runs one warp, and the kernel's metadata."""

    text: str
    metadata: KernelMetadata


def emit_kernel(program: Program, name: str, counting: bool = False, sanitizing: bool = False) -> KernelText:
    """Translate one PTX kernel to LLVM IR.

    Args:
        program: what `parse` returned.
        name: the kernel's name.
        counting: emit calls that count what is executed (`counters.py`).
        sanitizing: emit calls that check each access to memory (`instrumentation.py`).

    Raises:
        BuildError: there is no such kernel, its calls cannot be inlined, or it has an instruction, a form or a special
            register that cannot be executed; the message names it, its line and the version of the PTX.
    """
    function = inlined(program, name)
    layout, symbols = _layout_of(program, function)
    blocks = basic_blocks(function)
    work = _Kernel(program, function, layout, blocks, counting)
    work.e.sanitizing = sanitizing
    work.e.speculated = speculated(blocks) if sanitizing else frozenset()
    text = work.text()
    counters = len(empty_table(len(work.starts), len(function.code))) if counting else 0
    metadata = KernelMetadata(
        name, function.code, work.suspends, layout.shared, layout.local, symbols, work.starts, function.parameter_size,
        counters, any(Symbol(WORKSPACE) in i.operands for i in function.code),
        function.cluster,
    )  # fmt: skip
    return KernelText(text, metadata)


def _layout_of(program: Program, function: Function) -> tuple[VariableLayout, tuple[str, ...]]:
    """Return the layout of a kernel's variables, and the names of those whose addresses a launch passes, in order.

    Variables in shared and local memory get offsets; those of the module only if the kernel uses them.
    """
    offsets: dict[str, int] = {}
    spaces: dict[str, str] = {}
    symbols: dict[str, int] = {}
    used = {n for i in function.code for o in i.operands for n in _names(o)}
    ends = {"shared": 0, "local": 0}
    dynamic: list[Variable] = []
    for variable in (*program.variables.values(), *function.variables.values()):
        spaces[variable.name] = variable.space
        if variable.space in ends:
            if variable.name not in used and variable.name not in function.variables:
                continue
            if not variable.size:
                dynamic.append(variable)
                continue
            at = -(-ends[variable.space] // variable.align) * variable.align
            offsets[variable.name] = at
            ends[variable.space] = at + variable.size
        else:
            symbols[variable.name] = len(symbols)
    shared = -(-ends["shared"] // 16) * 16
    # All dynamic arrays begin at one address, as in CUDA.
    offsets.update({v.name: shared for v in dynamic})
    local = -(-ends["local"] // 16) * 16
    return VariableLayout(offsets, spaces, symbols, shared, local), tuple(symbols)


def _names(operand: object) -> list[str]:
    """Return the names of the symbols in an operand, including those inside an address, a group or a negation."""
    if isinstance(operand, Symbol):
        return [operand.name]
    inner = getattr(operand, "items", None) or [getattr(operand, "base", None) or getattr(operand, "operand", None)]
    return [n for o in inner if o is not None for n in _names(o)]


class _Kernel:
    """The translation of one PTX kernel to the text of an LLVM function."""

    def __init__(
        self, program: Program, function: Function, layout: VariableLayout, blocks: list[Block], counting: bool
    ) -> None:
        """Analyse a kernel before its text is emitted by `text()`.

        Args:
            program: the PTX module, for its version.
            function: the kernel, with its calls inlined.
            layout: of its variables.
            blocks: its basic blocks, in the order in which lanes converge.
            counting: emit calls that count what is executed.
        """
        self.program = program
        self.function = function
        self.blocks = blocks
        self.counting = counting
        self.live = liveness(blocks)
        self.loops = loop_membership(blocks)
        self.latches = {back: n for n, b in enumerate(blocks) for back in b.backs}
        """The last block that jumps back to each loop's head: only there control goes back, so lanes stay together."""
        self.spins = spin_latches(blocks)
        self.suspends = bool(self.spins) or any(b.barrier for b in blocks)
        uniform = uniform_registers(function.code)
        self.e = Emitter(program.version, function, layout, uniform)
        self.e.waits = bool(self.spins)
        self.e.counters = first_row(len(blocks)) if counting else None
        index = {id(i): n for n, i in enumerate(function.code)}
        self.index = index
        # A register with several definitions may hold another lane's value: its writes are blended.
        self.definitions = Counter(name for i in function.code for name in writes(i))
        self.starts = tuple(index[id(b.code[0])] if b.code else len(function.code) for b in blocks)
        self.bodies: list[tuple[int, int]] = []
        """Begin and end of each block's rows that run its instructions and hand its lanes on."""

    def text(self) -> str:
        """Emit the warp's function, and return it as LLVM IR with its declarations; call it once."""
        for n in range(len(self.blocks)):
            self._block(n)
        body, parts = self.e.lines, []
        if sum(map(len, body)) > OPTIMISED_CHARACTERS:
            body, parts = outlined(body, self.bodies)
        self.e.lines = []
        self._prologue()
        # The head is written last, since what the blocks use decides what it has to load.
        head = self.e.lines
        self.e.lines = []
        self._end()
        rows = [*parts, self._signature(), *head, *body, *self.e.lines, "}"]
        return "\n".join([*self.e.declarations.values(), *waiting.COROUTINE * self.suspends, *rows, ""])

    def _signature(self) -> str:
        """Return the first line of the warp's function, which is a coroutine if warps may wait."""
        # A function of its own per warp; as a coroutine it returns its frame.
        if self.suspends:
            return f"define ptr @{ENTRY}(ptr %ctx, i32 %warp) presplitcoroutine {{"
        return f"define ptr @{ENTRY}(ptr %ctx, i32 %warp) {{"

    def _prologue(self) -> None:
        """Emit the function's entry: memory for registers that cross blocks and for waiting lanes, and lane indices."""
        e = self.e
        e.lines.append("entry:")
        # Memory for registers that cross blocks; LLVM turns what it can into phis. The others never leave their block.
        live = set[str]().union(*self.live.out, *self.live.into) if self.blocks else set[str]()
        for name in sorted(live):
            register = self.function.registers[name]
            kind = stored(register.type) if name in e.uniform else vector(stored(register.type), LANES)
            e.do(f'%"{name}" = alloca {kind}')
        for n in range(len(self.blocks)):
            e.do(f"%wait.{n} = alloca i32")
            e.do(f"store i32 0, ptr %wait.{n}")
        e.do("%alive = alloca i32")
        if e.sanitizing and any(i.opcode == "cp" for i in self.function.code):
            for text in GROUPS:
                e.do(text)
        if any(i.opcode in warps.MATRIX_RULES for i in self.function.code):
            e.do("%scratch = alloca [64 x <32 x i32>], align 64")
        if self.spins:
            for text in waiting.WORDS:
                e.do(text)
        if self.suspends:
            e.lines += waiting.BEGIN
        warp = e.value("%warp", "i32")
        everyone = threads.wbe_lanes(e.ctx, warp)
        used = {o.name for i in self.function.code for o in i.operands if isinstance(o, Special)}
        for number, axis in enumerate("xyz"):
            if f"%tid.{axis}" in used:
                e.do(f"%tid.{axis} = {threads.wbe_tid.instruction(e, e.ctx, warp, number)}")
        if e.layout.local or any(i.opcode == "isspacep" or "local" in i.modifiers for i in self.function.code):
            e.do(f"%local = {threads.wbe_local.instruction(e, e.ctx, warp)}")
        e.alive.store(everyone)
        e.waiting(0).store(everyone)
        e.do("br label %check.0")

    def _block(self, n: int) -> None:
        """Emit block `n`: a test for waiting lanes, the instructions, the hand-over of lanes, jumps to loop heads.

        The rows of its body are noted in `bodies`.
        """
        e, block = self.e, self.blocks[n]
        following = f"%check.{n + 1}" if n + 1 < len(self.blocks) else "%finish"
        e.lines.append(f"check.{n}:")
        e.do(f"%mask.{n} = load i32, ptr %wait.{n}")
        e.do(f"%none.{n} = icmp eq i32 %mask.{n}, 0")
        backs = sorted(b for b in block.backs if self.latches[b] == n)
        # Lanes may wait at a loop's head though none of them came this way: the loop's last block looks in any case.
        onward = f"%tail.{n}" if backs else following
        e.do(f"br i1 %none.{n}, label {onward}, label %block.{n}")
        e.lines.append(f"block.{n}:")
        start = len(e.lines)
        e.do(f"store i32 0, ptr %wait.{n}")
        e.mask = e.value(f"%mask.{n}", "i32")
        e.active = e.mask.flags
        e.current, e.written, e.carry = {}, {}, None
        if self.spins and waiting.is_meeting_point(block):
            waiting.gathered(e, n, block, onward)
        if self.counting:
            threads.wbe_count(e.ctx, n, e.mask)
        for i in block.code:
            e.instruction, e.index = i, self.index[id(i)]
            # Jumps are not instructions here: `_leave` hands their lanes on.
            if i.opcode not in ("bra", "brx", "ret", "exit"):
                count_guarded(e)
                self._apply(i)
        self._leave(n, block)
        self.bodies.append((start, len(e.lines)))
        e.do(f"br label {onward}")
        if backs:
            e.lines.append(f"tail.{n}:")
            self._back(n, backs, following)

    def _apply(self, i: Instruction) -> None:
        """Emit an instruction by its rule; raise a BuildError if there is none or the form is not known."""
        rule = self._rule(i)
        try:
            rule(self.e, i)
        except (IndexError, KeyError, ValueError, StopIteration):  # fewer operands or modifiers than the rule knows
            raise unsupported(f"{i.name} is of a form that is not known", i.line, self.program.version) from None

    def _rule(self, i: Instruction) -> Rule:
        """Return the rule of an instruction's opcode; raise a BuildError if there is none."""
        rule = RULES.get(i.opcode)
        if rule is None:
            what = ABSENT.get(i.opcode)
            text = f"{i.name} cannot be executed: {what} are not there" if what else f"{i.name} is not known"
            raise unsupported(text, i.line, self.program.version)
        return rule

    def _leave(self, n: int, block: Block) -> None:
        """Emit the end of a block: write back its registers, and hand its lanes on to its successors."""
        e = self.e
        last = block.code[-1] if block.code else Instruction("exit", (), ())
        e.instruction = last
        guard = e.guard() if last.opcode in ("bra", "brx", "ret", "exit", "trap") else None
        taken = e.mask if guard is None else e.mask & guard.spread(LANES).mask
        index = e.read(last.operands[0], "u32").spread(LANES) if last.opcode == "brx" else None
        self._write_back(n)
        leaves = last.opcode in ("bra", "brx", "ret", "exit", "trap")
        if leaves:
            if index is not None:
                self._table(block, index, taken)
            elif block.jump is not None:
                self._wait(block.jump, taken)
            else:
                self._exit(taken)
        if block.after is not None and not (leaves and guard is None):
            self._wait(block.after, e.mask ^ taken if leaves else e.mask)
        elif block.after is None and not leaves:
            self._exit(e.mask)

    def _write_back(self, n: int) -> None:
        """Emit stores of the registers that block `n` wrote and later blocks read, blended where lanes may differ."""
        e = self.e
        for name in e.written:
            # Nothing reads it after this block.
            if name not in self.live.out[n]:
                continue
            value = e.current[name]
            if value.lanes and (self.spins or self.loops[n] or self.definitions[name] > 1):
                value = e.active.choose(value, e.value(f'%"{name}"', "ptr").load(value.elem, LANES))
            e.do(f'store {value}, ptr %"{name}"')

    def _wait(self, target: int, lanes: Value) -> None:
        """Emit that the lanes of an i32 mask join those that are to run block `target` next."""
        at = self.e.waiting(target)
        at.store(at.load("i32") | lanes)

    def _table(self, block: Block, index: Value, taken: Value) -> None:
        """Emit the hand-over of a `brx`: each of the lanes `taken` to the block of the table at its index."""
        for number, target in enumerate(block.table):
            self._wait(target, index.is_("eq", number).mask & taken)

    def _exit(self, lanes: Value) -> None:
        """Emit the end of the lanes of an i32 mask: they are no more alive, nor do barriers await them."""
        e = self.e
        e.alive.store(e.alive.load("i32") & ~lanes)
        if self.suspends:
            barriers.wbe_exit(e.ctx, lanes)

    def _back(self, n: int, backs: list[int], following: str) -> None:
        """Emit the end of a loop: jump back to each head in `backs` at which lanes wait.

        If no lanes wait, or the launch is to end, control goes to `following`, the next block, or out of the function.
        """
        e = self.e
        for back in backs:
            label = f"{n}.{back}"
            again = e.waiting(back).load("i32").is_("ne", 0)
            e.branch(again.text, f"again.{label}", f"on.{label}")
            e.lines.append(f"again.{label}:")
            # Only where control goes back: straight code ends by itself, and a faulting lane does nothing more to
            # memory.
            words = [e.word(name).pointer.load("i32", flags="volatile") for name in ("STOP", "FAULT")]
            calm = (words[0] | words[1]).is_("eq", 0)
            e.branch(calm.text, f"calm.{label}", f"look.{label}")
            e.lines.append(f"look.{label}:")
            e.branch(faults.wbe_ends(e.ctx).text, "abort", f"calm.{label}")
            e.lines.append(f"calm.{label}:")
            if n in self.spins:
                turns = e.value("%turns", "ptr")
                more = turns.load("i32") + 1
                turns.store(more)
                # After so many turns the loop is left with its lanes waiting at the head, so that the lanes behind it
                # can run.
                e.branch(more.is_("ult", TURNS).text, f"check.{back}", f"on.{label}")
            else:
                e.jump(f"check.{back}")
            e.lines.append(f"on.{label}:")
        e.do(f"br label {following}")

    def _waits_by(self, head: int, latch: int) -> int:
        """Return the index of the first instruction by which a loop, blocks `head` to `latch`, may wait for others."""
        code = [i for b in self.blocks[head : latch + 1] for i in b.code]
        return self.index[id(next(filter(waits, code)))]

    def _end(self) -> None:
        """Emit the end of the warp's function.

        Lanes may still wait there at the heads of loops that were left so that others run.
        """
        e = self.e
        e.lines.append("finish:")
        if self.spins:
            heads = {b: self._waits_by(b, n) for n in self.spins for b in self.blocks[n].backs if self.latches[b] == n}
            waiting.rest(e, heads, [n for n, b in enumerate(self.blocks) if waiting.is_meeting_point(b)])
        else:
            e.do("br label %over")
        e.lines.append("abort:")
        e.do("br label %over")
        e.lines.append("over:")
        e.lines += waiting.OVER if self.suspends else ["  ret ptr null"]


_NAME = re.compile(r'(?<!label )%(?:"[^"]*"|[\w.]+)')
_RESULT = re.compile(r"  (%[\w.]+) = ")
_TYPES = {"%warp": "i32", "%local": "<32 x i64>", **{f"%tid.{axis}": "<32 x i32>" for axis in "xyz"}}
"""LLVM types of names that all blocks share; others are pointers, except `%mask.n`, the i32 of block n's lanes."""


def outlined(rows: Sequence[str], bodies: Sequence[tuple[int, int]]) -> tuple[list[str], list[str]]:
    """Move the bodies of basic blocks into functions of their own.

    LLVM's fastest code generator gives each value of a function its own stack slot: megabytes for thousands of blocks,
    where a host thread has eight. A block's values do not outlive it, so a function per block frees them. Bodies that
    suspend the warp or jump out stay where they are.

    Args:
        rows: lines of LLVM IR.
        bodies: begin and end of each block's body in `rows`.

    Returns:
        The lines with calls in place of the bodies, and the lines of the new functions.
    """
    out: list[str] = []
    functions: list[str] = []
    at = 0
    for number, (start, end) in enumerate(bodies):
        body = rows[start:end]
        out += rows[at:start]
        at = end
        if _stays(body):
            out += body
            continue
        results = {match[1] for row in body if (match := _RESULT.match(row))}
        names = dict.fromkeys(name for row in body for name in _NAME.findall(row) if name not in results)
        listed = ", ".join(f"{_TYPES.get(n) or ('i32' if n.startswith('%mask.') else 'ptr')} {n}" for n in names)
        functions += [f"define internal void @wbe_block.{number}({listed}) {{", *body, "  ret void", "}"]
        out.append(f"  call void @wbe_block.{number}({listed})")
    return [*out, *rows[at:]], functions


def _stays(body: Sequence[str]) -> bool:
    """Return whether a block's lines jump to a label outside of them, so that they cannot be a separate function."""
    labels = {f"%{row[:-1]}" for row in body if row.endswith(":")}
    jumps = (label for row in body if "label " in row for label in re.findall(r"label (%[\w.]+)", row))
    return any(label not in labels for label in jumps)
