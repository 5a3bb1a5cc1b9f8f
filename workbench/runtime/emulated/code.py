"""Code that was loaded: modules, kernels and functions, and what a launch of one is."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from workbench.backends.cuda.architectures import Architecture
from workbench.runtime.emulated.status_error import CudaStatusError, expect

FREE_SHARED = 48 << 10
"""Bytes of dynamic shared memory that a kernel may have without setting an attribute."""


class Entry(msgspec.Struct, frozen=True):
    """The properties of a kernel that a launch needs, however it is executed.

    Attributes:
        name: its symbol.
        param_sizes: bytes of each parameter.
        shared: bytes of shared memory that it declares.
    """

    name: str
    param_sizes: tuple[int, ...]
    shared: int


class Executable(Protocol):
    """A module of device code that can be executed."""

    @property
    def sanitized(self) -> bool:
        """Return whether the accesses of its kernels to memory are checked."""
        ...

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The kernels by symbol."""
        ...

    @property
    def variables(self) -> Mapping[str, int]:
        """The bytes of each of its variables, by symbol."""
        ...

    def addresses(self, machine: Any) -> Mapping[str, int]:
        """Return the addresses of its variables by symbol, on the machine's device."""
        ...

    def run(self, name: str, launch: Launch, machine: Any) -> None:
        """Run a launch of a kernel to its end.

        Raises:
            CudaStatusError: the launch did what a GPU does not survive.
        """
        ...


class Launch(msgspec.Struct, frozen=True):
    """A launch with copied parameters.

    Attributes:
        grid: blocks along x, y, z.
        block: threads of a block along x, y, z.
        params: the bytes of each parameter.
        shared: bytes of dynamic shared memory of a block.
        cooperative: whether blocks may wait for one another.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    params: tuple[bytes, ...]
    shared: int = 0
    cooperative: bool = False


class Library(msgspec.Struct, eq=False):
    """Loaded code, which a CUlibrary stands for."""

    module: Executable


class Kernel(msgspec.Struct, eq=False):
    """A kernel of a library, which a CUkernel stands for; it is of no device yet.

    Attributes:
        module: its code.
        entry: its properties.
        allowed: by device, the bytes of dynamic shared memory that launches may have.
        number: that of its handle.
        library: that of its library's handle.
    """

    module: Executable
    entry: Entry
    allowed: dict[int, int] = msgspec.field(default_factory=dict[int, int])
    number: int = 0
    library: int = 0

    @property
    def name(self) -> str:
        """The kernel's symbol."""
        return self.entry.name


class Function(msgspec.Struct, eq=False):
    """A kernel on a device, which a CUfunction stands for."""

    kernel: Kernel
    device: int


def parameters(kernel: Kernel, pointers: int) -> tuple[bytes, ...]:
    """Copy the parameters of a launch; `pointers` is the address of their addresses.

    Raises:
        CudaStatusError: they are missing, or one is a null pointer.
    """
    sizes = kernel.entry.param_sizes
    if not sizes:
        return ()
    expect(pointers, f"{kernel.name} has {len(sizes)} parameters; the launch has none")
    addresses = (ctypes.c_void_p * len(sizes)).from_address(pointers)
    for number, address in enumerate(addresses):
        expect(address, f"{kernel.name}: parameter {number} is a null pointer")
    return tuple(ctypes.string_at(p or 0, size) for p, size in zip(addresses, sizes, strict=True))


def check(kernel: Kernel, launch: Launch, device: int, architecture: Architecture) -> None:
    """Check that a device can execute a launch: its grid, its block and its shared memory.

    Raises:
        CudaStatusError: it cannot.
    """
    (gx, gy, gz), (bx, by, bz) = launch.grid, launch.block
    grid = 0 < gx < 1 << 31 and 0 < gy < 1 << 16 and 0 < gz < 1 << 16
    expect(grid, f"{kernel.name} cannot have {gx} × {gy} × {gz} blocks")
    block = min(bx, by, bz) > 0 and math.prod(launch.block) <= 1024 and bz <= 64
    expect(block, f"{kernel.name} cannot have {bx} × {by} × {bz} threads in a block")
    most = max(FREE_SHARED, kernel.allowed.get(device, 0))
    if launch.shared > most or launch.shared + kernel.entry.shared > max(most, FREE_SHARED):
        raise CudaStatusError(
            "CUDA_ERROR_INVALID_VALUE",
            f"{kernel.name} asks for {launch.shared:,} bytes of dynamic shared memory; it is allowed {most:,}",
        )
    total = launch.shared + kernel.entry.shared
    limit = architecture.attributes()["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]
    expect(total <= limit, f"{kernel.name} needs {total:,} bytes of shared memory; {architecture.name} has {limit:,}")


Runner = Callable[[Kernel, Launch, int], None]
"""Executes a launch of a kernel on the device of this number, at once."""
