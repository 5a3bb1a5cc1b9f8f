"""A compiled host program: its kernels run over a grid of blocks, and what went wrong in them as an error.

A parameter is given as the address of its bytes, as the driver's `cuLaunchKernel` takes it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence

from workbench.backends.cuda.host.compile import load_host
from workbench.errors import KernelFault

PRINTED = 1 << 20
"""Bytes that one launch can print; what is more is lost."""


class Launch(ctypes.Structure):
    """What the program's stubs take beside the parameters; as `wb_host::Launch`."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_longlong),
        ("seed", ctypes.c_ulonglong),
    )


class Report(ctypes.Structure):
    """The first trouble of the last launch; as `wb_host::Report`."""

    _fields_ = (
        ("line", ctypes.c_int),
        ("thread", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("text", ctypes.c_char * 400),
        ("parameter", ctypes.c_int),
        ("first", ctypes.c_longlong),
        ("last", ctypes.c_longlong),
    )

    @property
    def message(self) -> str:
        """What went wrong, without the place."""
        return self.text.decode(errors="replace")


class HostCode:
    """The kernels of one program.

    Args:
        image: what `compile_host` gave.
        prints: show what kernels print on `sys.stdout` (below the cell, in a notebook), not on the process's output.
    """

    def __init__(self, image: bytes, prints: bool = True) -> None:
        self.library = load_host(image)
        self.library.wb_host_report.restype = ctypes.POINTER(Report)
        self.library.wb_host_printed.restype = ctypes.c_longlong
        self._printed = ctypes.create_string_buffer(PRINTED) if prints else None
        if self._printed is not None:
            self.library.wb_host_print_into(self._printed, ctypes.c_longlong(PRINTED))

    def address(self, symbol: str) -> int:
        """The address of a symbol."""
        return ctypes.cast(getattr(self.library, symbol), ctypes.c_void_p).value or 0

    def sizes(self, entry: str) -> tuple[int, ...]:
        """The bytes of each parameter of a kernel."""
        count = ctypes.c_longlong.in_dll(self.library, f"wb_sizes_{entry}").value
        return tuple((ctypes.c_longlong * (count + 1)).in_dll(self.library, f"wb_sizes_{entry}")[1:])

    def launch(
        self, entry: str, pointers: int, grid: Sequence[int], block: Sequence[int], shared: int = 0, seed: int = 0
    ) -> None:
        """Run all blocks of a grid, one after the other.

        Args:
            entry: the kernel's name.
            pointers: the address of the parameters' addresses.
            grid: blocks along x, y, z (those not given are 1).
            block: threads of a block along x, y, z; 1024 at most in all.
            shared: bytes of dynamic shared memory.
            seed: shuffles the order in which threads of a block run; 0 is in order.

        Raises:
            KernelFault: a barrier or a warp's exchange that not all threads reach, a failed assert; `line` is where,
                counted as the text's `#line` says. What ran before it stays done.
        """
        how = Launch(_three(grid), _three(block), shared, seed)
        failed = getattr(self.library, f"wb_host_{entry}")(ctypes.c_void_p(pointers), ctypes.byref(how))
        self.show_printed()
        if failed:
            raise self.fault(entry)

    def show_printed(self) -> None:
        """Write to `sys.stdout` what was printed since the last time."""
        if self._printed is not None:
            size = self.library.wb_host_printed()
            if size:
                sys.stdout.write(self._printed.raw[:size].decode(errors="replace"))

    def report(self) -> Report:
        """What the last launch met; the next launch overwrites it."""
        return self.library.wb_host_report().contents

    def fault(self, entry: str) -> KernelFault:
        """What the last launch, of `entry`, met."""
        found = self.report()
        block, thread = tuple(found.block), tuple(found.thread)
        return KernelFault(
            f"{found.message} (line {found.line}, thread {thread} of block {block})",
            function=entry, line=found.line, thread=thread, block=block,
        )  # fmt: skip


def _three(sizes: Sequence[int]) -> tuple[int, ...]:
    return (*sizes, 1, 1, 1)[:3]
