"""The state that the rules for instructions share: operands to values, results to registers, locations of faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import msgspec

from workbench.backends.llvm.values import Value, bits_of, numbers
from workbench.backends.ptx.analysis import reads
from workbench.backends.ptx.emit.values import LANES, WarpWriter, element, stored
from workbench.backends.ptx.library import threads
from workbench.backends.ptx.library.words import get
from workbench.backends.ptx.syntax.program import (
    BITS,
    Address,
    Function,
    Group,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Sink,
    Special,
    Symbol,
)

Rule = Callable[["Emitter", Instruction], None]


class VariableLayout(msgspec.Struct, frozen=True):
    """The layout of a kernel's variables.

    Attributes:
        offsets: byte offset of each variable in shared or local memory.
        spaces: state space of each variable.
        symbols: index of each other variable in the launch's table of addresses.
        shared: bytes of static shared memory.
        local: bytes of local memory per thread.
    """

    offsets: Mapping[str, int]
    spaces: Mapping[str, str]
    symbols: Mapping[str, int]
    shared: int
    local: int


class Emitter(WarpWriter):
    """Writes the LLVM IR of one PTX kernel's instructions: operands become values, results are written to registers.

    Attributes:
        current: values of registers within the block that is being written.
        written: names of registers written in that block, in order.
        uniform: names of registers that hold one value in all lanes at all times.
        ctx: the address of the launch's context.
        mask: the i32 mask of the lanes that execute the block.
        active: the lanes that execute the block, as a vector of i1.
        index: of the instruction in the kernel's code, for faults.
        carry: the carry flag of `add.cc` and the like; None if the block has not set it yet.
        counters: the word of the table of counters at which instructions' rows begin; None: nothing is counted.
        sanitizing: accesses are checked (`instrumentation.py`).
        used: names of registers that some instruction reads.
        waits: lanes may wait in loops (`waiting.py`).
        speculated: `id`s of loads whose result may be dropped (`analysis.py`).
    """

    def __init__(
        self, version: tuple[int, int], function: Function, layout: VariableLayout, uniform: frozenset[str]
    ) -> None:
        """Begin the text of a kernel.

        Args:
            version: of the PTX, for messages.
            function: the kernel, with its calls inlined.
            layout: of its variables.
            uniform: names of registers that hold one value in all lanes at all times.
        """
        super().__init__(version)
        self.function = function
        self.layout = layout
        self.uniform = uniform
        self.current: dict[str, Value] = {}
        self.written: dict[str, None] = {}
        self.ctx = self.value("%ctx", "ptr")
        self.mask = self.active = self.ctx
        self.index = 0
        self.parameters = {p.name: p for p in function.parameters}
        self.carry: Value | None = None
        self.counters: int | None = None
        self.sanitizing = False
        self.waits = False
        self.used = frozenset(name for i in function.code for name in reads(i))
        self.speculated: frozenset[int] = frozenset()

    # Reading.

    def read(self, operand: Operand, type: str) -> Value:
        """Emit what reads an operand, and return its value in the LLVM type that represents a PTX type (`element`)."""
        return self.as_type(self.raw(operand, type), type)

    def as_type(self, value: Value, type: str) -> Value:
        """Return a value's bits in the LLVM type that represents a PTX type.

        A wider value is truncated; a narrower one is extended, with its sign for the types "s8" to "s64", else with
        zeros.
        """
        want = element(type)
        if value.elem == want:
            return value
        if bits_of(value.elem) != bits_of(want):
            value = value.bits.to(f"i{bits_of(want)}", type[0] == "s")
        return value.cast("bitcast", want)

    def raw(self, operand: Operand, type: str) -> Value:
        """Return an operand's value in the type that it is stored in; immediates are read as the PTX type `type`.

        Raises:
            BuildError: the operand has a form that cannot be executed.
        """
        match operand:
            case Register():
                return self.register(operand)
            case Immediate(value, "int"):
                elem = element(type)
                if elem in ("half", "float", "double"):
                    raise self.unsupported_instruction(
                        f"{self.instruction.name} has the integer {value} where a float belongs"
                    )
                return self.number(value, elem)
            case Immediate(value, kind):
                held = self.float(value, "float" if kind == "f32" else "double")
                # PTX writes float32 constants as 0f…; one written as 0d… is rounded where a float32 is needed.
                if kind == "f64" and element(type) == "float":
                    return held.cast("fptrunc", "float")
                return held
            case Special(name):
                return self.special(name)
            case Symbol():
                return self.symbol(operand)
            case Negated(inner):
                value = self.read(inner, type)
                return ~value if type == "pred" else -value
            case _:
                raise self.unsupported_instruction(
                    f"{self.instruction.name} has an operand of a form that cannot be executed"
                )

    def register(self, register: Register) -> Value:
        """Return a register's value at this point of the block; its first use in the block loads it from memory."""
        # Within a block a register is an SSA value; memory is read once, at its first use.
        value = self.current.get(register.name)
        if value is None:
            lanes = 0 if register.name in self.uniform else LANES
            value = self.value(f'%"{register.name}"', "ptr").load(stored(register.type), lanes)
            self.current[register.name] = value
        return value

    def symbol(self, symbol: Symbol) -> Value:
        """Return the address of a variable or parameter within its state space.

        Raises:
            BuildError: no such name is declared.
        """
        name, layout = symbol.name, self.layout
        if name in layout.offsets:
            return self.number(layout.offsets[name] + symbol.offset, "i64")
        if name in layout.symbols:
            value = self.word("SYMBOLS").pointer.at(layout.symbols[name], "i64").load("i64")
            return value + symbol.offset if symbol.offset else value
        if name in self.parameters:
            return self.number(self.parameters[name].offset + symbol.offset, "i64")
        raise self.unsupported_instruction(f"The name {name!r} is not declared")

    def word(self, name: str) -> Value:
        """Emit a load of a named 64-bit word of the launch's context (`context.py`); return its value, a scalar."""
        return get(self.ctx, name)

    def special(self, name: str) -> Value:
        """Emit the read of a PTX special register such as `%tid.x`; return its value.

        Raises:
            BuildError: the register cannot be read here.
        """
        base, _, axis = name[1:].partition(".")
        if base in ("ntid", "nctaid", "ctaid") and axis in ("x", "y", "z"):
            return self.word(f"{base.upper()}_{axis.upper()}").to("i32")
        if base == "tid" and axis in ("x", "y", "z"):
            return self.value(f"%tid.{axis}", "i32", LANES)
        if base == "laneid":
            return self.lane_numbers()
        if base == "warpid":
            return self.value("%warp", "i32")
        if base == "nwarpid":
            return self.word("WARPS").to("i32")
        if base.startswith("lanemask_"):
            return self._lane_mask(base[9:])
        # A counter that only grows: times on this device mean nothing, but programs wait for a clock to change.
        if base in ("clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"):
            now = threads.wbe_clock(self.ctx)
            if base.endswith("_hi"):
                now = now >> 32
            return now if base in ("clock64", "globaltimer") else now.to("i32")
        if base in ("smid", "gridid"):
            return self.number(0, "i32") if base == "smid" else self.word("GRID")
        if base == "nsmid":
            return self.number(1, "i32")
        if base in ("dynamic_smem_size", "total_smem_size"):
            return self.word("DYNAMIC" if base[0] == "d" else "SHARED_SIZE").to("i32")
        if "cluster" in base:
            return self._cluster(base, axis)
        if base == "wb_slot":  # from a block's shared memory to the next one's
            return self.word("SLOT_SIZE").to("i32")
        raise self.unsupported_instruction(f"The special register {name} cannot be read")

    def _cluster(self, base: str, axis: str) -> Value:
        """Return the value of a cluster's special register; a kernel without clusters has clusters of one block.

        Args:
            base: the register's name without `%` and axis, such as "cluster_ctaid".
            axis: "x", "y", "z", or "" if the register has none.
        """
        sizes = dict(zip("xyz", self.function.cluster, strict=True))
        if base == "is_explicit_cluster":
            return self.number(1, "i1")
        if base == "cluster_nctarank":
            return self.number(math.prod(sizes.values()), "i32")
        if base == "cluster_ctarank":
            rank = self.number(0, "i32")
            for name in "zyx":
                rank = rank * sizes[name] + self._cluster("cluster_ctaid", name)
            return rank
        size = self.number(sizes[axis], "i32")
        if base == "cluster_nctaid":
            return size
        of_grid = self.special(f"%{'nctaid' if base == 'nclusterid' else 'ctaid'}.{axis}")
        return of_grid.do("urem" if base == "cluster_ctaid" else "udiv", size)

    def _lane_mask(self, kind: str) -> Value:
        """Return `%lanemask_eq` and the like as a constant vector, an i32 per lane; refuse other kinds."""
        bits: dict[str, Callable[[int], int]] = {
            "eq": lambda n: 1 << n,
            "lt": lambda n: (1 << n) - 1,
            "le": lambda n: (2 << n) - 1,
            "gt": lambda n: ~((2 << n) - 1),
            "ge": lambda n: ~((1 << n) - 1),
        }
        if kind not in bits:
            raise self.unsupported_instruction()
        lanes = ", ".join(f"i32 {bits[kind](n) & 0xFFFFFFFF}" for n in range(LANES))
        return self.value(f"<{lanes}>", "i32", LANES)

    @property
    def alive(self) -> Value:
        """The address of the mask of the lanes that have not ended."""
        return self.value("%alive", "ptr")

    def waiting(self, block: int) -> Value:
        """Return the address of the mask of the lanes that are to run a block next."""
        return self.value(f"%wait.{block}", "ptr")

    def lane_numbers(self) -> Value:
        """Return each lane's number."""
        return self.value(numbers("i32", LANES), "i32", LANES)

    # Writing.

    def write(self, operand: Operand, value: Value, type: str = "") -> None:
        """Write a result to a register, in the lanes where the guard holds; a sink discards it.

        A narrower value is extended: with its sign if the PTX type `type` begins with "s", else with zeros.

        Raises:
            BuildError: the operand is no register.
        """
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Register):
            raise self.unsupported_instruction(f"{self.instruction.name} has no register for its result")
        elem = stored(operand.type)
        if value.elem != elem:
            if bits_of(value.elem) != bits_of(elem):
                value = value.bits.to(f"i{bits_of(elem)}", type[:1] == "s")
            value = value.cast("bitcast", elem)
        guard = self.guard()
        if guard is not None:
            value = guard.choose(value, self.register(operand))
        # A lane whose guard is false keeps what the register held.
        if operand.name not in self.uniform:
            value = value.spread(LANES)
        elif value.lanes:
            raise AssertionError(f"{operand.name} was thought uniform")
        self.current[operand.name] = value
        self.written[operand.name] = None

    def guard(self) -> Value | None:
        """Return the instruction's guard as an i1 per lane, already negated for `@!`; None if there is no guard."""
        i = self.instruction
        if i.guard is None:
            return None
        held = self.register(i.guard)
        return ~held if i.negated else held

    def executing(self) -> Value:
        """Return the i32 mask of the lanes that execute the current instruction, whose guard holds."""
        guard = self.guard()
        return self.mask if guard is None else self.mask & guard.spread(LANES).mask

    def suspend(self) -> None:
        """Emit a suspension of the warp's coroutine: other warps run until this one is resumed."""
        number = self.name()[1:]
        state = self.new("call i8 @llvm.coro.suspend(token none, i1 false)", "i8")
        self.do(f"switch i8 {state.text}, label %suspended [i8 0, label %resumed.{number} i8 1, label %cleanup]")
        self.lines.append(f"resumed.{number}:")

    def pair(self, operand: Operand) -> tuple[Operand, Operand]:
        """Return the two destinations of an operand `d|p`; the second is a sink if there is only one."""
        if isinstance(operand, Group):
            first, second = operand.items
            return first, second
        return operand, Sink()

    def group(self, operand: Operand) -> tuple[Operand, ...]:
        """Return the items of a vector operand `{a, b}`; any other operand counts as a vector of one."""
        return operand.items if isinstance(operand, Group) else (operand,)

    def address(self, operand: Operand) -> tuple[Operand, int]:
        """Return the base and the byte offset of an address operand `[base + offset]`.

        Raises:
            BuildError: the operand is no address.
        """
        if not isinstance(operand, Address):
            raise self.unsupported_instruction(f"{self.instruction.name} has no address where one belongs")
        return operand.base, operand.offset


def width(type: str) -> int:
    """Return the size in bytes of a PTX type; a predicate takes one byte."""
    return max(BITS[type] // 8, 1)
