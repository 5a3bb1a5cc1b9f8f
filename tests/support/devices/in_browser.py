"""Kernels as WebAssembly in a browser beside the same kernels as native code: one page runs many of them."""

from __future__ import annotations

import base64
import ctypes
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernel_ext.widgets.modules import script_text
from tests.support.devices.on_gpu import packed, ranges
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.machine import WASM
from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.layout import FAULT_SIZE
from workbench.cache.native import load_kernel
from workbench.errors import KernelFault
from workbench.ir.values import Function
from workbench.runtime.native.pack import dims_piece
from workbench.runtime.pages.program import Program
from workbench.types import ArrayType

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
PLAIN = Options(few_cores=True)
_ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 3
)  # fmt: skip
_RUN = """async ([program, payload, places, fused]) => {
  const bytes = Uint8Array.from(atob(payload), (c) => c.charCodeAt(0));
  const machine = await openMachine(program, bytes, fused && hasFused());
  const said = [];
  for (let k = 0; k < program.rows.length; k++) said.push((await machine.run([k])).said);
  const all = machine.bytes();
  const text = (part) => btoa(Array.from(part, (byte) => String.fromCharCode(byte)).join(""));
  const back = places.map(([at, size]) => text(all.subarray(at, at + size)));
  return [back, said];
}"""


@dataclass
class _Handle:
    handle: int


@dataclass
class _Range:
    """Memory of this process and where it lies in the page's."""

    low: int
    high: int
    place: _Handle


@dataclass(frozen=True)
class Job:
    """A launch: arguments are NumPy arrays, which are changed in place, and numbers."""

    function: Function
    dims: tuple[int, ...]
    args: Sequence[Any]
    options: Options = PLAIN

    @property
    def total(self) -> int:
        return math.prod(self.dims)

    def fault(self, record: bytes) -> KernelFault | None:
        found = FaultRecord.read(record)
        arrays = ((p, a) for p, a in zip(self.function.params, self.args, strict=True) if isinstance(p.type, ArrayType))
        shapes = {p.name: a.shape for p, a in arrays}
        return raised_by(self.function, found, self.dims, shapes) if found else None


def copied(job: Job) -> Job:
    """The same launch on copies of its arrays."""
    return replace(job, args=[a.copy() if isinstance(a, np.ndarray) else a for a in job.args])


def run_natively(job: Job) -> KernelFault | None:
    """Run a launch in this thread; the fault that it met."""
    backend = CpuBackend()
    made = backend.compile(job.function, job.options, backend.target())
    code = load_kernel(made.image, made.metadata["entry"])
    same = [_Range(low, high, _Handle(low)) for low, high in ranges(job.args)]
    params, _ = packed(job.function, dims_piece(tuple(job.dims)), job.args, same)  # type: ignore[arg-type]
    buffer = ctypes.create_string_buffer(params, len(params))
    stop, record = (ctypes.c_int64 * 5)(), ctypes.create_string_buffer(FAULT_SIZE)
    fault = ctypes.addressof(record) if job.options.checks else None
    assert _ENTRY(code.address)(ctypes.addressof(buffer), 0, job.total, fault, ctypes.addressof(stop), None) == 0
    return job.fault(record.raw)


class Browser:
    """A page that runs programs."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.set_content("<!doctype html><title>kernels</title>")
        page.add_script_tag(content=script_text("machine"))

    def evaluate(
        self, program: Program, places: Sequence[tuple[int, int]], fused: bool = True
    ) -> tuple[list[bytes], list[str]]:
        """Run all rows, one by one; the bytes at these places afterwards, and what each row said.

        `fused`: with this browser's instruction for multiply-add, if it has one that rounds once.
        """
        payload = base64.b64encode(program.payload()).decode()
        back, said = self.page.evaluate(_RUN, [program.data(), payload, [list(p) for p in places], fused])
        return [base64.b64decode(part) for part in back], said

    def run(self, jobs: Sequence[Job], fused: bool = True) -> list[KernelFault | None]:
        """Run launches; arrays are changed in place, and faults are returned. `fused`: as of `evaluate`."""
        program, places, faults = Program(), [], []
        for job in jobs:
            made = CpuBackend().compile(job.function, job.options, WASM)
            entry = program.entry(made.image, made.metadata["entry"])
            sent = []
            for low, high in ranges(job.args):
                data = ctypes.string_at(low, high - low)
                at = program.reserve(high - low + low % 64) + low % 64
                program.place(data, at)
                sent.append(_Range(low, high, _Handle(at)))
                places.append((at, low, high - low))
            params, _ = packed(job.function, dims_piece(tuple(job.dims)), job.args, sent)  # type: ignore[arg-type]
            fault = program.reserve(FAULT_SIZE) if job.options.checks else 0
            faults.append(fault)
            program.rows.append((entry, program.place(params), job.total, max(1, job.total), 0, fault))
        wanted = [(at, size) for at, _, size in places] + [(at, FAULT_SIZE if at else 0) for at in faults]
        back, _ = self.evaluate(program, wanted, fused)
        for (_, low, size), data in zip(places, back, strict=False):
            ctypes.memmove(low, data, size)
        records = back[len(places) :]
        return [job.fault(r) if r else None for job, r in zip(jobs, records, strict=True)]


@contextmanager
def opened(path: str) -> Iterator[Browser]:
    """A browser, the program at `path`, with one page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield Browser(browser.new_page())
        browser.close()
