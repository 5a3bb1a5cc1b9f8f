"""Generated CUDA text run on the CPU by `workbench.backends.cuda.host`, with the arguments of a launch of ours.

It shows that the text means what the IR means, without a GPU. Threads run one after the other unless a test wants
fibers; arguments go through the same parameter buffer as on a device, so it does show that the layout fits.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Options
from workbench.backends.cuda.cpp.c_names import c_type
from workbench.backends.cuda.emit import emit_cuda, entry_name
from workbench.backends.cuda.host.code import HostCode
from workbench.backends.cuda.host.compile import FLAGS, compile_host, compiler
from workbench.backends.cuda.host.program import Entry, Unit, program
from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.layout import FAULT_SIZE, layout
from workbench.ir import Function
from workbench.types import ArrayType, Vector

BLOCK = 48
# Reports, on stderr, whatever C++ leaves undefined in the arithmetic.
SANITIZE = ("-fsanitize=signed-integer-overflow,float-cast-overflow,integer-divide-by-zero",)


class Library:
    """Kernels compiled into one shared object; `run` launches one by name.

    Args:
        functions: kernels with names of their own.
        options: what their text is written with.
        sanitize: tell on stderr what C++ leaves undefined.
        threads: how a block's threads run (see `host.program`); by default one after the other, of tiles as fibers.
    """

    def __init__(
        self, functions: Sequence[Function], options: Options, sanitize: bool = False, threads: str = ""
    ) -> None:
        names = [entry_name(f) for f in functions]
        assert len(set(names)) == len(names), "kernels of one library need names of their own"
        self.functions = {f.name: f for f in functions}
        self.options = options
        self.text = program([unit(f, options) for f in functions], threads or threads_of(functions))
        self.image = built(self.text, SANITIZE if sanitize else ())
        self.code = HostCode(self.image, prints=False)

    def run(self, name: str, dim: int | Sequence[int], args: Sequence[Any], block: int = BLOCK, seed: int = 0) -> None:
        """Launch `name` over `dim`; arrays are changed in place."""
        function = self.functions[name]
        dims = tuple(dim) if isinstance(dim, Sequence) else (dim,)
        buffer, pointers = packed(function, dims, args, self.options)
        grid = math.prod(dims) if function.block_dim else max(1, -(-math.prod(dims) // block))
        block = function.block_dim or block
        self.code.launch(entry_name(function), ctypes.addressof(pointers), (grid,), (block,), 1 << 17, seed)
        record = FaultRecord.read(buffer.raw[-FAULT_SIZE:]) if self.options.checks else None
        if record is not None:
            shapes = {
                p.name: a.shape for p, a in zip(function.params, args, strict=True) if isinstance(p.type, ArrayType)
            }
            raise raised_by(function, record, dims, shapes)


def threads_of(functions: Sequence[Function]) -> str:
    """How the threads of these kernels run."""
    return "fibers" if any(f.block_dim for f in functions) else "alone"


def run(function: Function, dim: int | Sequence[int], args: Sequence[Any], *, options: Options | None = None) -> None:
    """Launch one kernel over `dim`, as `workbench.backends.python.interpret.run` does; arrays are changed in place."""
    Library([function], options or Options()).run(function.name, dim, args)


def packed(function: Function, dims: Sequence[int], args: Sequence[Any], options: Options) -> tuple[Any, Any]:
    """The parameter buffer of `backends/layout.py`, and a pointer to each piece of it."""
    plan = layout([(p.name, p.type) for p in function.params])
    assert len(args) == len(plan.slots), f"{function.name} takes {len(plan.slots)} arguments"
    buffer = ctypes.create_string_buffer(plan.size + 16 + FAULT_SIZE)
    base = ctypes.addressof(buffer)
    ctypes.memmove(base, np.array([*dims, 1, 1, 1, 1][:4], np.int64).tobytes(), 32)
    for slot, arg in zip(plan.slots, args, strict=True):
        data = _piece(slot.type, arg, options)
        assert len(data) == slot.size, slot
        ctypes.memmove(base + slot.offset, data, len(data))
    # The address of the fault record, which lies at the end, is the last parameter of a kernel with checks.
    record = base + plan.size + 16
    ctypes.memmove(base + plan.size, np.array([record], np.int64).tobytes(), 8)
    places = [base, *(base + slot.offset for slot in plan.slots), base + plan.size]
    return buffer, (ctypes.c_void_p * len(places))(*places)


def _piece(type: Any, arg: Any, options: Options) -> bytes:
    if isinstance(type, ArrayType):
        assert not options.contiguous or type.pitch or arg.flags.c_contiguous, "this array needs contiguous=False"
        return np.array([arg.ctypes.data, *arg.shape[: type.ndim], *arg.strides[: type.ndim]], np.int64).tobytes()
    scalar = type.dtype if isinstance(type, Vector) else type
    return np.asarray(arg, dtype=scalar.numpy).tobytes()


def unit(function: Function, options: Options) -> Unit:
    types = ["wb_dims", *(c_type(p.type) for p in function.params)] + ["wb_fault*"] * options.checks
    return Unit(emit_cuda(function, options), (Entry(entry_name(function), tuple(types)),))


def built_text(text: str, entry: str, types: Sequence[str]) -> bytes:
    """CUDA text with one kernel of these parameter types as a shared object; its conditions are host words."""
    return built(program([Unit(text, (Entry(entry, tuple(types)),))], "alone", conditions=True), ())


def built(text: str, flags: tuple[str, ...] = ()) -> bytes:
    """The shared object of this text, from a folder of the temporary directory where it was built before."""
    folder = Path(tempfile.gettempdir()) / f"workbench-hostshim-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    digest = hashlib.sha256("\0".join([text, compiler(), *FLAGS, *flags]).encode()).hexdigest()[:32]
    path = folder / f"{digest}.so"
    if not path.exists():
        fresh = folder / f"{digest}.{os.getpid()}.so"
        fresh.write_bytes(compile_host(text, flags))
        fresh.replace(path)
    return path.read_bytes()
