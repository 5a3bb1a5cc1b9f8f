"""Faults of code with checks under XLA: their text, and the way back from XLA's error to a `KernelFault`.

The handler's error carries text alone, all of it: no code of Workbench runs when a jitted function raises. Where a call
does come back to Python (nothing traced it), the fault itself is raised.
"""

from __future__ import annotations

import atexit
import ctypes
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.backends.cpu.native.stopping import called_by_native
from workbench.backends.faults import FaultRecord, raised_by, unravelled
from workbench.backends.layout import FAULT_SIZE, layout, shape_in
from workbench.errors import KernelFault
from workbench.interop.jax.native import registry
from workbench.ir.values import Function
from workbench.runtime.deferred_errors import error_later
from workbench.types import ArrayType

EXPLAIN = "wb_ffi_explain"
_WORDS = ctypes.POINTER(ctypes.c_int64)
_TYPE = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, _WORDS, ctypes.c_int64, ctypes.c_int64, _WORDS, ctypes.c_int64,
    ctypes.c_void_p, ctypes.c_int64,
)  # fmt: skip
# XLA hands text through and nothing else, so the way back is a search for the text.
_recent: deque[tuple[str, KernelFault]] = deque(maxlen=64)
"""Faults and the texts that went to XLA, the newest last."""


@dataclass(frozen=True)
class Reporting:
    """Represents the IR of code that only asserts, with the error to raise for it; it stands where a kernel's IR would.

    Attributes:
        function: makes the IR.
        fault: makes the error, from the first number that the assertion compared.
    """

    function: Callable[[], Function]
    fault: Callable[[int], KernelFault]

    def __call__(self) -> Function:
        """Return the IR that asserts."""
        return self.function()


def explain_faults(address: int) -> None:
    """Let the native handler, whose function pointer is stored at this address, ask Python for the text of a fault."""
    pointer = ctypes.c_void_p.from_address(address)
    pointer.value = ctypes.cast(_explain, ctypes.c_void_p).value
    atexit.register(setattr, pointer, "value", None)  # a thread of XLA's must not enter a Python that ends


def message_of(fault: KernelFault, room: int = 1 << 20) -> str:
    """Return the text of a fault for XLA, of at most `room` bytes; `fault_in` finds the fault by it later."""
    text = str(fault).encode()[:room].decode(errors="ignore")
    _recent.append((text, fault))
    return text


def fault_in(error: Exception | str) -> KernelFault | None:
    """Return the fault that an error of XLA's, or the text of one, reports; None if it reports no recent fault."""
    message = str(error)
    return next((fault for text, fault in reversed(_recent) if text in message), None)


@_TYPE
@called_by_native
def _explain(
    kernel: int, buffer: int, record: Any, ndim: int, axes: int, sizes: Any, late: int, text: int, room: int
) -> None:
    """Write the text of a fault to `text`, cut to `room` bytes; if `late`, raise it later instead.

    Nothing is written if the fault cannot be explained: the handler then reports its numbers.
    """
    try:
        # Without a record: the kernel was interrupted on one of several devices.
        if not record:
            error_later(stopped(ctypes.string_at(ctypes.c_void_p.from_address(kernel).value or 0).decode()))
            return
        source = registry.functions[registry.names[kernel]]
        fault_record = FaultRecord.read(ctypes.string_at(record, FAULT_SIZE))
        assert fault_record is not None
        reports = isinstance(source, Reporting)
        fault = source.fault(record[3]) if reports else _fault(source(), fault_record, buffer, ndim)
        add_batch(fault, unravelled(record[7], sizes[:axes]))
        if late:
            error_later(fault)
            return
        encoded = message_of(fault, room - 1).encode()
        ctypes.memmove(text, encoded + b"\0", len(encoded) + 1)
    except Exception:  # the handler then says the numbers
        return


def stopped(name: str) -> KernelFault:
    """Return the error of a kernel or function that was stopped where it must not fail: on one of several devices."""
    return KernelFault(
        f"{name} was stopped on one of several devices: the results of its program are half written.",
        advice="Run the program again.",
        function=name,
    )


def _fault(function: Function, fault_record: FaultRecord, address: int, ndim: int) -> KernelFault:
    """Return the error of a call whose packed parameters lie at `address`."""
    placed = layout([(p.name, p.type) for p in function.params])
    buffer = (ctypes.c_char * placed.size).from_address(address)
    # The buffer begins with the launch's dimensions.
    dims = (ctypes.c_int64 * ndim).from_address(address)
    shapes = {s.name: shape_in(buffer, s) for s in placed.slots if isinstance(s.type, ArrayType)}
    return raised_by(function, fault_record, tuple(dims), shapes)


def add_batch(fault: KernelFault, batch: tuple[int, ...]) -> None:
    """Add to a fault, and to its message, in which batch of `jax.vmap` it was; nothing if there are no batches."""
    if batch:
        fault.message += f" This was batch {batch} of jax.vmap."
        # `str()` of an exception is made of `args`, which were set before the batch was known.
        fault.args = (fault.message,)
        fault.batch = batch
