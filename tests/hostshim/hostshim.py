"""CUDA text run on the host: g++ compiles it with a header-free prelude, a launcher loops over blocks and threads.

It shows that the text means what the IR means, without a GPU. Threads run one after the other, so it cannot show races;
arguments go through the same parameter buffer as on a device, so it does show that the layout fits.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Options
from workbench.backends.cuda.spell import entry_name, spell
from workbench.backends.cuda.words import c_type
from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.layout import FAULT_SIZE, layout
from workbench.builtins import TABLE
from workbench.ir import Function
from workbench.types import ArrayType, Vector

BLOCK = 48
FLAGS = ("-x", "c++", "-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-fPIC", "-shared", "-w")
# Reports, on stderr, whatever C++ leaves undefined in the arithmetic.
SANITIZE = ("-fsanitize=signed-integer-overflow,float-cast-overflow,integer-divide-by-zero",)
NOT_IN_LIBM = {"rsqrt": "1.0 / sqrt((double)x)"}


class Library:
    """Kernels compiled into one shared object; `run` launches one by name."""

    def __init__(self, functions: Sequence[Function], options: Options, sanitize: bool = False) -> None:
        names = [entry_name(f) for f in functions]
        assert len(set(names)) == len(names), "kernels of one library need names of their own"
        self.functions = {f.name: f for f in functions}
        self.options = options
        self.text = _program(functions, options)
        self.path = _built(self.text, SANITIZE if sanitize else ())
        self._library = ctypes.CDLL(str(self.path))

    def run(self, name: str, dim: int | Sequence[int], args: Sequence[Any]) -> None:
        """Launch `name` over `dim`; arrays are changed in place."""
        function = self.functions[name]
        dims = tuple(dim) if isinstance(dim, Sequence) else (dim,)
        buffer, pointers = packed(function, dims, args, self.options)
        launch = getattr(self._library, f"wb_shim_{entry_name(function)}")
        launch.argtypes = [ctypes.c_void_p, ctypes.c_longlong, ctypes.c_uint]
        launch(ctypes.cast(pointers, ctypes.c_void_p), max(1, -(-math.prod(dims) // BLOCK)), BLOCK)
        record = FaultRecord.read(buffer.raw[-FAULT_SIZE:]) if self.options.checks else None
        if record is not None:
            shapes = {
                p.name: a.shape for p, a in zip(function.params, args, strict=True) if isinstance(p.type, ArrayType)
            }
            raise raised_by(function, record, dims, shapes)


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


def _program(functions: Sequence[Function], options: Options) -> str:
    parts = [(Path(__file__).parent / "prelude.hpp").read_text(), _maths()]
    for number, function in enumerate(functions):
        entry = entry_name(function)
        types = ["wb_dims", *(c_type(p.type) for p in function.params)] + ["wb_fault*"] * options.checks
        args = ", ".join(f"*({t}*)p[{n}]" for n, t in enumerate(types))
        parts.append(f"namespace wb_shim_{number} {{\n{spell(function, options)}\n")
        parts.append(
            f'extern "C" void wb_shim_{entry}(void** p, long long blocks, unsigned int threads) {{\n'
            "    blockDim.x = threads;\n    gridDim.x = (unsigned int)blocks;\n"
            "    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)\n"
            f"        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {entry}({args});\n}}\n"
            f"{sizes(entry, types)}}}\n"
        )
    return "\n".join(parts)


def sizes(entry: str, types: Sequence[str]) -> str:
    """How many parameters a kernel has, and the bytes of each: for who copies them."""
    listed = ", ".join(["0", *(f"sizeof({t})" for t in types)]).replace("0,", f"{len(types)},", 1)
    return f'extern "C" const long long wb_sizes_{entry}[] = {{{listed}}};\n'


def built_text(text: str, entry: str, types: Sequence[str]) -> Path:
    """CUDA text with one kernel of these parameter types as a shared object; its conditions are host words."""
    args = ", ".join(f"*({t}*)p[{n}]" for n, t in enumerate(types))
    program = [
        (Path(__file__).parent / "prelude.hpp").read_text(),
        'extern "C" void cudaGraphSetConditional(unsigned long long h, unsigned int v) { *(unsigned int*)h = v; }',
        text,
        f'extern "C" void wb_shim_{entry}(void** p, long long blocks, unsigned int threads) {{\n'
        "    blockDim.x = threads;\n"
        "    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)\n"
        f"        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {entry}({args});\n}}\n",
        sizes(entry, types),
    ]
    return _built("\n".join(program), ())


def _maths() -> str:
    """The C library's functions under CUDA's names, with CUDA's overloads for float."""
    rows = []
    for entry in TABLE.values():
        for name in re.findall(r"\b([a-z]\w*)\*$", entry.cuda or ""):
            args = ["x", "y", "z"][: len(entry.params)]
            double, single = (", ".join(f"{t} {a}" for a in args) for t in ("double", "float"))
            call = ", ".join(args)
            if name in NOT_IN_LIBM:
                body = NOT_IN_LIBM[name]
                rows.append(f"static inline double {name}({double}) {{ return {body}; }}")
                rows.append(f"static inline float {name}f({single}) {{ return (float)({body}); }}")
            else:
                rows.append(
                    f'extern "C" double {name}({double}) noexcept; extern "C" float {name}f({single}) noexcept;'
                )
            rows.append(f"static inline float {name}({single}) {{ return {name}f({call}); }}")
    return "\n".join(sorted(set(rows), key=lambda row: ("extern" not in row, "double" not in row, row))) + "\n"


def _built(text: str, flags: tuple[str, ...]) -> Path:
    """The shared object of this text, from a folder of the temporary directory where it was built before."""
    compiler = os.environ.get("CXX") or shutil.which("g++")
    assert compiler, "g++ is not installed"
    folder = Path(tempfile.gettempdir()) / f"workbench-hostshim-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    digest = hashlib.sha256("\0".join([text, compiler, *FLAGS, *flags]).encode()).hexdigest()[:32]
    path = folder / f"{digest}.so"
    if not path.exists():
        fresh = folder / f"{digest}.{os.getpid()}.so"
        command = [compiler, *FLAGS, *flags, "-o", str(fresh), "-", "-lm"]
        done = subprocess.run(command, input=text, text=True, capture_output=True)
        assert done.returncode == 0, f"g++ refused the text:\n{done.stderr[:3000]}\n{text}"
        fresh.replace(path)
    return path
