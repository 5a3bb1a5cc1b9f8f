"""Small PTX texts run on the CPU: an arena of memory, launches, and instructions applied to arrays lane by lane."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.backends.ptx.compile import Options, compile_kernel
from workbench.backends.ptx.kernel import Arena, Fault, Kernel, Launch, load
from workbench.backends.ptx.syntax.parse import parse

Array = NDArray[Any]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
SIZE = 1 << 24
TYPES = {"i": "s", "u": "u", "f": "f"}


class Memory:
    """An arena: its upper half is scratch memory."""

    def __init__(self) -> None:
        self.bytes = np.zeros(SIZE + 64, np.uint8)
        self.base = -(-self.bytes.ctypes.data // 64) * 64
        self.top = self.base + 4096
        self.arena = Arena(self.base, SIZE, self.base + SIZE // 2, SIZE // 2)

    def put(self, array: Array) -> int:
        """A copy of an array; its address."""
        array = np.ascontiguousarray(array)
        at = self.top
        ctypes.memmove(at, array.ctypes.data, array.nbytes)
        self.top = -(-(at + array.nbytes) // 256) * 256
        return at

    def get(self, address: int, like: Array) -> Array:
        """What is at an address, as an array like another."""
        out = np.empty_like(like)
        ctypes.memmove(out.ctypes.data, address, out.nbytes)
        return out


class Run:
    """A kernel of a text, with memory of its own."""

    def __init__(self, text: str, name: str = "", counting: bool = False) -> None:
        self.program = parse(text)
        self.name = name or self.program.entries[0]
        self.kernel: Kernel = load(compile_kernel(self.program, self.name, Options(counting)))
        self.memory = Memory()

    def __call__(self, grid: int, block: int, *values: Any, **options: Any) -> Fault | None:
        """Launch it: arrays are addresses, ints and floats as the parameters' types say, bytes as they are."""
        entry = self.program.entry(self.name)
        packed = bytearray(entry.parameter_size)
        for p, value in zip(entry.parameters, values, strict=True):
            if isinstance(value, bytes):
                data = value
            elif isinstance(value, float):
                data = struct.pack("<f" if p.size == 4 else "<d", value)
            else:
                data = int(value).to_bytes(p.size, "little", signed=value < 0)
            packed[p.offset : p.offset + len(data)] = data
        variables = self.program.variables
        symbols = {}
        for name in self.kernel.metadata.symbols:
            v = variables[name]
            symbols[name] = self.memory.put(np.frombuffer(v.initial.ljust(v.size, b"\0"), np.uint8))
        launch = Launch(symbols=symbols, **options)
        return self.kernel.launch((grid,), (block,), bytes(packed), self.memory.arena, launch)


def ptx_type(dtype: Any) -> str:
    """The type in which PTX loads and stores a dtype."""
    dtype = np.dtype(dtype)
    if dtype == np.float16:
        return "b16"
    return f"{TYPES[dtype.kind]}{8 * dtype.itemsize}"


def evaluate(inputs: Mapping[str, Array], statements: Sequence[tuple[str, Any]], declared: str = "") -> list[Array]:
    """Apply instructions to arrays, one thread per element.

    Args:
        inputs: arrays by register ("a" is `%a`).
        statements: instructions that write `%o`, and the dtype of each result.
        declared: more declarations.
    """
    count = len(next(iter(inputs.values())))
    names = list(inputs)
    parameters = [*names, *(f"o{n}" for n in range(len(statements)))]
    rows = [HEAD + ".visible .entry k(" + ", ".join(f".param .u64 p_{p}" for p in parameters) + ")\n{"]
    rows += [".reg .b64 %at, %i64; .reg .b32 %i, %n; .reg .pred %all, %p, %q;", declared]
    rows += ["mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %i, %n, 0; mov.u32 %n, %tid.x;"]
    rows += ["add.u32 %i, %i, %n; cvt.u64.u32 %i64, %i;", f"setp.ge.u32 %all, %i, {count}; @%all exit;"]
    for name, array in inputs.items():
        kind, size = ptx_type(array.dtype), array.dtype.itemsize
        rows += [f".reg .{kind} %{name}; ld.param.u64 %at, [p_{name}]; mad.lo.u64 %at, %i64, {size}, %at;"]
        rows += [f"ld.global.{kind} %{name}, [%at];"]
    for n, (text, dtype) in enumerate(statements):
        kind, size = ptx_type(dtype), np.dtype(dtype).itemsize
        rows += [f"{{ .reg .{kind} %o; {text} ld.param.u64 %at, [p_o{n}];"]
        rows += [f"mad.lo.u64 %at, %i64, {size}, %at; st.global.{kind} [%at], %o; }}"]
    run = Run("\n".join([*rows, "ret;", "}"]))
    results = [np.zeros(count, dtype) for _, dtype in statements]
    places = [run.memory.put(a) for a in (*inputs.values(), *results)]
    fault = run(-(-count // 64), 64, *places)
    assert fault is None, fault
    return [run.memory.get(at, like) for at, like in zip(places[len(names) :], results, strict=True)]
