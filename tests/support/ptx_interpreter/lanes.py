"""The lanes of the interpreter: their registers, their memory, and who is where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.support.ptx_interpreter.copies import Copies
from workbench.backends.ptx.syntax.program import (
    BITS,
    Address,
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

UNSIGNED: dict[int, Any] = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
"""NumPy's type of a register, by its bits."""
NUMPY: dict[str, Any] = {
    **{f"{kind}{bits}": np.dtype(f"u{bits // 8}").type for kind in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"i{bits // 8}").type for bits in (8, 16, 32, 64)},
    **{"pred": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64, "tf32": np.float32},
    **{"bf16": np.float32, "f16x2": np.uint32, "bf16x2": np.uint32},
}  # fmt: skip
"""What values of a type are computed in; bf16 is widened."""
SPACES = ("global", "shared", "local", "param", "const")


class Trap(Exception):
    """A kernel did what a GPU does not survive.

    Attributes:
        kind: "address", "misaligned", "trap", "assert", "timeout" or "unsupported".
    """

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def is_sync(instruction: Instruction) -> bool:
    """Whether it waits for the lanes of a mask: its last operand, or the first of a barrier of a warp."""
    return "sync" in instruction.modifiers


class Lanes:
    """The lanes of some blocks: registers by name, each as long as there are lanes."""

    def __init__(
        self,
        code: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        blocks: Sequence[int],
        variables: Mapping[str, int],
        memory: Any,
    ) -> None:
        self.code, self.memory, self.globals = code, memory, variables
        threads = block[0] * block[1] * block[2]
        width = -(-threads // 32) * 32
        self.count = width * len(blocks)
        self.all = np.arange(self.count, dtype=np.int64)
        inside = self.all % width
        self.block_of = self.all // width
        self.real = self.all[inside < threads]
        self.living = inside < threads
        self.alive: np.ndarray = np.bincount(self.block_of[self.real], minlength=len(blocks))
        self.arrived: np.ndarray = np.zeros(len(blocks), np.int64)
        self.number = np.asarray(blocks, np.int64)
        self.inside = inside
        here = self.number[self.block_of]
        self.registers: dict[str, np.ndarray] = {}
        self.carry = np.zeros(self.count, np.uint64)
        self.copies = Copies(self.count, memory)
        self.special: dict[str, np.ndarray | int] = {"%laneid": self.all % 32, "%warpid": inside // 32}
        self.special |= {"%clock": 0, "%clock64": 0, "%globaltimer": 0, "%smid": 0, "%nsmid": 1, "%gridid": 1}
        self.special |= {"%nwarpid": width // 32}
        for axis, n, b in zip("xyz", (0, 1, 2), (1, block[0], block[0] * block[1]), strict=True):
            before = (1, grid[0], grid[0] * grid[1])[n]
            self.special[f"%tid.{axis}"] = inside // b % block[n]
            self.special[f"%ctaid.{axis}"] = here // before % grid[n]
            self.special[f"%ntid.{axis}"], self.special[f"%nctaid.{axis}"] = block[n], grid[n]

    def enter(self, params: bytes, dynamic: int) -> None:
        """Give the lanes their memory."""
        self.shared_size = -(-(self.code.shared + dynamic + 16) // 256) * 256
        self.local_size = -(-self.code.local // 16) * 16
        get = self.memory.alloc
        self.own = [
            get(len(params)),
            get(self.shared_size * len(self.number)),
            get(max(1, self.local_size * self.count)),
        ]
        start = self.own[0] - self.memory.base
        self.memory.memory[start : start + len(params)] = np.frombuffer(params, np.uint8)
        self.bases: dict[str, Any] = {
            "param": self.own[0],
            "shared": self.own[1] + self.block_of * self.shared_size,
            "local": self.own[2] + self.all * self.local_size,
        }
        self.starts, self.ends = self.memory.spans()

    def leave(self) -> None:
        """Take it back."""
        for address in self.own:
            self.memory.free(address)

    def who(self, lane: int) -> str:
        """A lane as messages call it."""
        return f"thread {int(self.inside[lane])} of block {int(self.number[self.block_of[lane]])}"

    # Registers.

    def guarded(self, instruction: Instruction, lanes: np.ndarray) -> np.ndarray:
        """Those that execute it."""
        if instruction.guard is None:
            return lanes
        holds = self._register(instruction.guard)[lanes]
        return lanes[holds != instruction.negated]

    def _register(self, register: Register) -> np.ndarray:
        found = self.registers.get(register.name)
        if found is None:
            found = self.registers[register.name] = np.zeros(self.count, UNSIGNED[BITS[register.type]])
        return found

    def bits(self, operand: Operand, width: int, lanes: np.ndarray) -> np.ndarray:
        """An operand's bits, as an unsigned number of this width: one per lane, or one for all."""
        if isinstance(operand, Register):
            found = self._register(operand)[lanes]
            return found if found.dtype.itemsize * 8 == width or width == 1 else found.astype(UNSIGNED[width])
        if isinstance(operand, Immediate):
            return np.asarray(operand.value % (1 << width), np.uint64).astype(UNSIGNED[width])
        if isinstance(operand, Special):
            found = self.special.get(operand.name)
            if found is None:
                raise Trap("unsupported", f"{operand.name} is not interpreted")
            return (found[lanes] if isinstance(found, np.ndarray) else np.asarray(found)).astype(UNSIGNED[width])
        if isinstance(operand, Symbol):
            if operand.name in self.special:
                return np.asarray(self.special[operand.name]).astype(UNSIGNED[width])
            return np.asarray(self._symbol(operand) % (1 << 64), np.uint64).astype(UNSIGNED[width])
        raise Trap("unsupported", f"the operand {operand} is not interpreted")

    def _symbol(self, symbol: Symbol) -> int:
        if symbol.name in self.globals:
            return self.globals[symbol.name] + symbol.offset
        base = self.bases["param"] if self.code.spaces[symbol.name] == "param" else 0
        return base + self.code.offsets[symbol.name] + symbol.offset

    def read(self, operand: Operand, type: str, lanes: np.ndarray) -> Any:
        """An operand's value, in NumPy's type for it."""
        if isinstance(operand, Negated):
            value = self.read(operand.operand, type, lanes)
            return ~value if type == "pred" else -value
        if type == "pred":
            return self.bits(operand, 1, lanes).astype(np.bool_)
        if isinstance(operand, Immediate) and operand.kind != "int":
            known = np.asarray(operand.value, UNSIGNED[32 if operand.kind == "f32" else 64])
            return known.view(NUMPY[operand.kind]).astype(NUMPY[type]) if type[0] == "f" else known.view(NUMPY[type])
        raw = self.bits(operand, BITS[type], lanes)
        if type == "bf16":
            return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return np.ascontiguousarray(raw).view(NUMPY[type]).reshape(raw.shape)

    def write(self, operand: Operand, value: Any, type: str, lanes: np.ndarray) -> None:
        """Set a register; a wider one than the value is extended by its sign, if its type has one."""
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Register):
            raise Trap("unsupported", f"the destination {operand} is not interpreted")
        bits = BITS[operand.type]
        value = np.asarray(value)
        if type == "bf16":
            value = to_bf16(value)
        elif value.dtype.kind == "f":
            value = np.ascontiguousarray(value.astype(NUMPY[type])).view(UNSIGNED[BITS[type]]).reshape(value.shape)
        elif type[0] == "s":
            value = value.astype(NUMPY[type]).astype(NUMPY[f"s{bits}"])
        elif type != "pred":
            value = value.astype(UNSIGNED[BITS[type]])
        self._register(operand)[lanes] = value.astype(UNSIGNED[bits])

    # Memory.

    def place(self, operand: Operand, space: str, size: int, lanes: np.ndarray) -> np.ndarray:
        """Where each lane's bytes lie in `memory.memory`.

        Raises:
            Trap: some lie where the kernel may not reach, or not as aligned as they are long.
        """
        assert isinstance(operand, Address)
        at = self.bits(operand.base, 64, lanes).astype(np.int64) + operand.offset
        at = np.broadcast_to(at, lanes.shape)
        if space in ("shared", "local") and not self._has_base(operand):
            at = at + self.bases[space][lanes]
        elif space in ("shared", "local"):
            at = (at & 0xFFFFFFFF) + self.bases[space][lanes]
        bad = at % size != 0
        if bad.any():
            lane = lanes[bad][0]
            raise Trap("misaligned", f"{self.who(lane)} reaches {size} bytes at {int(at[bad][0]):#x}")
        found = np.searchsorted(self.starts, at, "right") - 1
        inside = (found >= 0) & (at + size <= self.ends[np.maximum(found, 0)])
        if not inside.all():
            where = int(at[~inside][0])
            why = self.memory.access_problem(where, size) or "it is no memory of the kernel"
            raise Trap("address", f"{self.who(lanes[~inside][0])} reaches {size} bytes at {where:#x}: {why}")
        return at - self.memory.base

    @staticmethod
    def _has_base(operand: Address) -> bool:
        return isinstance(operand.base, Register)

    def load(self, at: np.ndarray, size: int) -> np.ndarray:
        """Numbers of `size` bytes from places of `place`."""
        return self.memory.memory.view(UNSIGNED[8 * size])[at // size]

    def store(self, at: np.ndarray, value: np.ndarray, size: int) -> None:
        """Store them; of lanes that store to one place, the last one stays."""
        self.memory.memory.view(UNSIGNED[8 * size])[at // size] = value

    # Warps.

    def mask(self, lanes: np.ndarray) -> np.ndarray:
        """The lanes of each warp that are among these, as a mask."""
        there = np.zeros(self.count, np.uint8)
        there[lanes] = 1
        return np.packbits(there.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32).reshape(-1)

    def gathered(self, instruction: Instruction, lanes: np.ndarray) -> np.ndarray:
        """Which lanes have all others of their mask beside them, or those have ended."""
        if instruction.opcode in ("mma", "ldmatrix", "stmatrix", "movmatrix", "wmma"):
            wanted: Any = np.uint32(0xFFFFFFFF)
        else:
            wanted = self.bits(instruction.operands[-1], 32, lanes)
        living = self.mask(np.flatnonzero(self.living))[lanes >> 5]
        return (wanted & living & ~self.mask(lanes)[lanes >> 5]) == 0


def to_bf16(value: np.ndarray) -> np.ndarray:
    """Float32 rounded to bfloat16, nearest even, as 16 bits."""
    raw = np.ascontiguousarray(value.astype(np.float32)).view(np.uint32).reshape(value.shape).astype(np.uint64)
    rounded = (raw + np.uint64(0x7FFF) + ((raw >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)
    return np.where(np.isnan(value), np.uint64(0x7FFF), rounded).astype(np.uint16)


def items(operand: Operand) -> tuple[Operand, ...]:
    """The parts of `{a, b}`, or the operand alone."""
    return operand.items if isinstance(operand, Group) else (operand,)
