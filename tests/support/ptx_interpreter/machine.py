"""A plain interpreter of PTX: the lanes of some blocks are one NumPy axis, and groups of lanes wait at basic blocks.

It is what the compiled form is compared with, so it is written to be read, not to be fast. The group at the least
basic block runs next, so lanes that parted meet again (`flow.py`); now and then another one does, so that lanes that
wait for others in a loop let them go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from tests.support.ptx_interpreter.lanes import Lanes, Trap, is_sync
from tests.support.ptx_interpreter.moves import TABLE
from workbench.backends.ptx.flow import Block, basic_blocks
from workbench.backends.ptx.inline import inlined
from workbench.backends.ptx.printf import placed_variables
from workbench.backends.ptx.syntax.parse import parse
from workbench.backends.ptx.syntax.program import Function, Instruction, Parameter, Program, Variable

GANG = 1 << 14
"""Lanes that run side by side."""
TURN = 257
"""After so many basic blocks another group than that at the least one is next."""
IDLE = 1 << 22
"""Basic blocks without a lane that ends or passes a barrier, after which the kernel is taken to wait forever."""


class Memory(Protocol):
    """What a kernel reaches, and where what it prints goes."""

    @property
    def memory(self) -> np.ndarray:
        """All bytes that have addresses."""
        ...

    @property
    def base(self) -> int:
        """The address of the first."""
        ...

    @property
    def device(self) -> int:
        """The number of the device."""
        ...

    def alloc(self, nbytes: int, /) -> int:
        """The address of fresh memory, aligned to 256 bytes."""
        ...

    def free(self, address: int) -> None:
        """Give it back."""
        ...

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """First addresses and ends of all that may be reached, ascending."""
        ...

    def reaches(self, address: int, nbytes: int) -> str:
        """What is wrong with reaching these bytes; empty if nothing is."""
        ...

    def write(self, text: bytes, /) -> object:
        """Take what is printed."""
        ...

    def set_condition(self, handle: int, value: int, /) -> None:
        """Set a condition of a graph."""
        ...


class Module:
    """A PTX text that can be run.

    Attributes:
        program: the parsed text.
        kernels: what is run of each kernel, by name, as far as it was requested.
    """

    def __init__(self, text: str) -> None:
        """Reads it.

        Raises:
            BuildError: it is not PTX that is known here.
        """
        self.program: Program = parse(text)
        self.kernels: dict[str, Code] = {}
        self._globals: dict[int, dict[str, int]] = {}

    def code(self, name: str) -> Code:
        """One kernel.

        Raises:
            BuildError: there is none of that name, or it calls what cannot be executed.
        """
        found = self.kernels.get(name)
        if found is None:
            found = self.kernels[name] = Code(inlined(self.program, name), self.program.variables)
        return found

    def run(
        self,
        name: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        params: Sequence[bytes],
        shared: int,
        memory: Memory,
    ) -> int:
        """Run a launch to its end; returns how many instructions its threads executed.

        Args:
            name: the kernel.
            grid: blocks along x, y, z.
            block: threads of a block along x, y, z.
            params: the bytes of each parameter.
            shared: bytes of dynamic shared memory of a block.
            memory: what it reaches.

        Raises:
            Trap: it did what a GPU does not survive.
        """
        code = self.code(name)
        packed = bytearray(max(code.function.parameter_size, 1))
        for parameter, value in zip(code.function.parameters, params, strict=True):
            packed[parameter.offset : parameter.offset + len(value)] = value
        known = self.placed(memory)
        threads, blocks = int(np.prod(block)), int(np.prod(grid, dtype=np.int64))
        width, count = -(-threads // 32) * 32, 0
        per = max(1, GANG // width)
        for first in range(0, blocks, per):
            chosen = range(first, min(blocks, first + per))
            gang = Gang(code, grid, block, chosen, known, memory)
            count += gang.execute(bytes(packed), shared)
        return count

    def placed(self, memory: Memory) -> dict[str, int]:
        """Where the module's variables lie on a device."""
        found = self._globals.get(memory.device)
        if found is None:
            found = placed_variables(self.program, memory)
            self._globals[memory.device] = found
        return found


class Code:
    """A kernel as it is run: basic blocks, and where its variables lie.

    Attributes:
        function: the kernel, without calls.
        blocks: its basic blocks.
        shared: bytes of shared memory that it declares.
        local: bytes of local memory of a lane.
        offsets: where shared and local variables and parameters begin within theirs.
    """

    def __init__(self, function: Function, module: Mapping[str, Variable]) -> None:
        self.function = function
        self.blocks: list[Block] = basic_blocks(function)
        self.offsets: dict[str, int] = {p.name: p.offset for p in function.parameters}
        self.spaces: dict[str, str] = {p.name: "param" for p in function.parameters}
        everywhere = [v for v in module.values() if v.space == "shared"]
        own = list(function.variables.values())
        self.shared = self._place([*everywhere, *(v for v in own if v.space == "shared")])
        self.local = self._place([v for v in own if v.space == "local"])

    def _place(self, variables: Sequence[Variable]) -> int:
        at = 0
        for v in sorted(variables, key=lambda v: v.size == 0):  # dynamic shared memory comes last
            at = -(-at // max(v.align, 16 if v.size == 0 else 1)) * max(v.align, 16 if v.size == 0 else 1)
            self.offsets[v.name], self.spaces[v.name] = at, v.space
            at += v.size
        return at

    @property
    def name(self) -> str:
        """The kernel's symbol."""
        return self.function.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters."""
        return self.function.parameters


class Gang(Lanes):
    """Some blocks of a launch, run side by side."""

    def execute(self, params: bytes, dynamic: int) -> int:
        """Run all lanes to their ends; returns the instructions that they executed.

        Raises:
            Trap: they did what a GPU does not survive, or wait forever.
        """
        self.enter(params, dynamic)
        try:
            with np.errstate(all="ignore"):
                return self._loop()
        finally:
            self.leave()

    def _loop(self) -> int:
        self.todo: dict[int, np.ndarray] = {0: self.real}
        self.waiting: dict[int, np.ndarray] = {}
        count, turn, idle = 0, 0, 0
        while self.todo:
            number, lanes = self._next(turn)
            turn, idle = turn + 1, idle + 1
            before = self.alive.sum() + len(self.waiting)
            count += self._block(number, lanes)
            if self.alive.sum() + len(self.waiting) != before:
                idle = 0
            if idle > IDLE:
                raise Trap("timeout", f"{len(self.real)} threads wait for one another in a loop that does not end")
        if self.waiting:
            raise Trap("timeout", "threads wait at a barrier that others of their block never reach")
        return count

    def _next(self, turn: int) -> tuple[int, np.ndarray]:
        """The basic block that is run next, with its lanes: those of an instruction of a warp once all are there."""
        order = sorted(self.todo)
        if turn % TURN == TURN - 1:
            order = order[turn // TURN % len(order) :] + order
        for number in order:
            lanes = self.todo[number]
            block = self.code.blocks[number]
            if block.gathers and is_sync(block.code[-1]):
                there = self.gathered(block.code[-1], lanes)
                if not there.any():
                    continue
                rest = lanes[~there]
                if len(rest):
                    self.todo[number] = rest
                else:
                    del self.todo[number]
                return number, lanes[there]
            return number, self.todo.pop(number)
        raise Trap("timeout", "threads wait in an instruction of a warp for others that do not come")

    def goto(self, number: int | None, lanes: np.ndarray) -> None:
        """Let lanes wait at a basic block."""
        if not len(lanes):
            return
        assert number is not None
        waiting = self.todo.get(number)
        self.todo[number] = lanes if waiting is None else np.sort(np.concatenate((waiting, lanes)))

    def _block(self, number: int, lanes: np.ndarray) -> int:
        block, count = self.code.blocks[number], 0
        if not block.code:
            self._end(lanes)
            return 0
        for instruction in block.code:
            count += len(lanes)
            on = self.guarded(instruction, lanes)
            leave = _LEAVES.get(instruction.opcode)
            if leave is not None and not (instruction.opcode == "bar" and "warp" in instruction.modifiers):
                leave(self, block, instruction, lanes, on)
                return count
            if len(on):
                self.do(instruction, on)
        self.goto(block.after, lanes)
        return count

    def do(self, instruction: Instruction, lanes: np.ndarray) -> None:
        """Execute an instruction that is no jump.

        Raises:
            Trap: it cannot be interpreted, or does what a GPU does not survive.
        """
        found = TABLE.get(instruction.opcode)
        if found is None or _DIRECTED.intersection(instruction.modifiers):
            raise Trap("unsupported", f"{instruction.name} is not interpreted")
        found(self, instruction, lanes)

    def _jump(self, block: Block, instruction: Instruction, lanes: np.ndarray, on: np.ndarray) -> None:
        self.goto(block.jump, on)
        if len(on) < len(lanes):
            self.goto(block.after, np.setdiff1d(lanes, on, assume_unique=True))

    def _jump_by_table(self, block: Block, instruction: Instruction, lanes: np.ndarray, on: np.ndarray) -> None:
        index = np.broadcast_to(self.read(instruction.operands[0], "u32", on), on.shape)
        for value in np.unique(index):
            if value >= len(block.table):
                raise Trap("trap", "a jump beyond the end of its table")
            self.goto(block.table[int(value)], on[index == value])
        if len(on) < len(lanes):
            self.goto(block.after, np.setdiff1d(lanes, on, assume_unique=True))

    def _exit(self, block: Block, instruction: Instruction, lanes: np.ndarray, on: np.ndarray) -> None:
        self._end(on)
        if len(on) < len(lanes):
            self.goto(block.after, np.setdiff1d(lanes, on, assume_unique=True))

    def _end(self, lanes: np.ndarray) -> None:
        self.living[lanes] = False
        self.alive -= np.bincount(self.block_of[lanes], minlength=len(self.alive))
        self._release()

    def _trap(self, block: Block, instruction: Instruction, lanes: np.ndarray, on: np.ndarray) -> None:
        if len(on):
            raise Trap("trap", f"{self.who(on[0])} executed a trap")
        self.goto(block.after, lanes)

    def _barrier(self, block: Block, instruction: Instruction, lanes: np.ndarray, on: np.ndarray) -> None:
        if "arrive" in instruction.modifiers or len(instruction.operands) > 1 or "red" in instruction.modifiers:
            raise Trap("unsupported", f"{instruction.name} is not interpreted")
        if len(on) < len(lanes):
            self.goto(block.after, np.setdiff1d(lanes, on, assume_unique=True))
        assert block.after is not None
        before = self.waiting.get(block.after)
        self.waiting[block.after] = on if before is None else np.concatenate((before, on))
        self.arrived += np.bincount(self.block_of[on], minlength=len(self.alive))
        self._release()

    def _release(self) -> None:
        """Let lanes go on whose block has arrived as a whole."""
        free = (self.arrived > 0) & (self.arrived == self.alive)
        if not free.any():
            return
        for number, lanes in list(self.waiting.items()):
            go = free[self.block_of[lanes]]
            self.goto(number, lanes[go])
            if go.all():
                del self.waiting[number]
            else:
                self.waiting[number] = lanes[~go]
        self.arrived[free] = 0


_DIRECTED = {"rz", "rm", "rp"}
"""Roundings that NumPy does not have."""
_LEAVES: dict[str, Callable[..., None]] = {
    "bra": Gang._jump,
    "brx": Gang._jump_by_table,
    "ret": Gang._exit,
    "exit": Gang._exit,
    "trap": Gang._trap,
    "bar": Gang._barrier,
    "barrier": Gang._barrier,
}
