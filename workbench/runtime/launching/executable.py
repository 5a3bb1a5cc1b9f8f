"""A kernel that can be launched: its code on a device, and what the launcher must know of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeAlias, cast

import msgspec
from msgspec.structs import force_setattr, replace

from workbench.backends.layout import Layout, access_bytes
from workbench.ir.values import Function
from workbench.runtime.device.device import Device, driver_of
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.queues import Queue
from workbench.runtime.launching.geometry import Block, Geometry
from workbench.runtime.native.pack import Packer
from workbench.source import Location
from workbench.types import ArrayType, Type, is_float

ALIGNED, LEAST = 64, 16
"""A strip's threads are a multiple of the first number, so that vectors are full and stay aligned.

If threads are so heavy that a strip has fewer, they are a multiple of the second one, unless one core runs them all.
"""
MOST_BLOCKS = 1024
"""The most blocks of a launch whose threads go on to further indices: about what a large GPU runs at the same time.

Each block changes memory once at its end, and the error of a float32 sum grows with their number.
"""
FULL, EACH, LIGHT = 128, 4, 64
"""Limits for launches whose threads may go on to further indices.

Beyond FULL blocks, about one per multiprocessor, each thread takes up to EACH indices if it costs at most LIGHT
operations: what a block does at its end is about 100 instructions per thread.
"""
KEPT_SHAPES = 256
"""The number of launches' dimensions that a kernel remembers, each with the launch's shape for the driver."""


def titled(name: str, direction: str) -> str:
    """Return the name of one direction of a kernel in messages: `blur`, `blur (adjoint)`."""
    return name if direction == "forward" else f"{name} ({direction})"


def cuda_grid(metadata: Mapping[str, Any], threads: int, block_dim: int) -> tuple[int, int, int]:
    """Return blocks, threads of a block and bytes of dynamic shared memory of a CUDA launch; see `Executable.grid`.

    Args:
        metadata: the code's.
        threads: of the launch; for a kernel of tiles its blocks.
        block_dim: threads of a block, if the code does not say.
    """
    own = metadata.get("block_dim", 0)
    # A kernel of tiles was compiled for its block size, and its launch counts blocks.
    if own:
        return threads, own, metadata.get("dynamic_shared", 0)
    blocks = -(-threads // block_dim)
    if metadata.get("strided"):
        if metadata.get("cost", LIGHT) <= LIGHT:
            blocks = max(min(blocks, FULL), -(-blocks // EACH))
        blocks = min(blocks, MOST_BLOCKS)
    return blocks, block_dim, 0


Arguments: TypeAlias = "Callable[[Sequence[Any]], tuple[Any, ...]]"


def _taken(positions: tuple[int, ...]) -> Arguments:
    """Return a function that selects the items at these positions; it needs a third of a comprehension's time."""
    if len(positions) > 1:
        return itemgetter(*positions)
    first = positions[0] if positions else 0
    return itemgetter(slice(first, first + len(positions)))  # of one position `itemgetter` makes no sequence


class Call(msgspec.Struct, frozen=True):
    """A launch as a driver takes it.

    Attributes:
        grid: blocks along x, y, z.
        block: threads of a block along x, y, z.
        shared: bytes of dynamic shared memory of a block.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0


class InOrder(msgspec.Struct, frozen=True, eq=False):
    """The sums of a kernel that are to be added in the order of threads.

    Attributes:
        sums: to which arrays, in which ways and how often (`autodiff/instrumented.py`).
        specialisation, options, atomic: what the code is derived from, and compiled with (`api/builds/build.py`).
    """

    sums: Any
    specialisation: Any
    options: Any
    atomic: bool


class Executable(msgspec.Struct, frozen=True, eq=False, dict=True, weakref=True):
    """Executable code of one direction of a specialisation on one device.

    Attributes:
        name: the kernel's name.
        direction: "forward", "adjoint", "tangent" (see autodiff/directions.py).
        device: where it runs.
        address: the CPU entry (backends/cpu); 0 on CUDA.
        handle: what keeps the code alive; on CUDA the driver's kernel.
        layout: of the parameter buffer.
        launch_ndim: dimensions a launch must have; 0 for any.
        reads, writes: names of array parameters whose elements are read, may change.
        cost: a rough count of operations a thread does: large launches are split by it.
        digest: the module key.
        contiguous: the code does not read strides.
        index32: it computes indices in 32 bits (see `Options`), so some launches need other code.
        aligned: it loads whole vectors (see `Options`), so vectors elsewhere need other code.
        apart: it reads some arguments ahead (see `Options`), so arguments that share memory need other code.
        checked: the code tests bounds, divisions and asserts, and takes a fault record.
        ordered: all threads of a launch run on one core, in order.
        build_later: waits until the code has been built, and returns it; None: the code is here already.
        in_order: how launches add in the order of threads on a device; it has no code of its own then.
        metadata: what the artifact says of itself.
        geometry: how it is called, if it sees its blocks; None if it is called once per thread.
        locate: returns the place in the cell of a line of the compiled text; None: lines are numbers of operations.
        make_function: returns the IR (an adjoint from the cache is derived only when it is read).
        compile_for: returns the same code for another target of the CPU's backend, as the cache's entry; None: it
            cannot.
        load_complete: of code that declines some launches (`Options.quick`): returns the code that takes all; None if
            this code does.
        one_call: whether a launch is one native call: no driver, no fault record, no text to show.
        packer: writes this layout's parameter buffers.
        written: positions of the parameters in `writes`.
        shared: positions of those that it also reads: no other launch may change their arrays at the same time.
        strip: the number of threads that native code runs between two tests whether to stop: about 0.1 ms.
        sums: the number of words that a strip leaves for the end of the launch (backends/cpu/emit/combine.py).
        arrays_of, written_of, floats_written_of, floats_read_of: take the arguments of a launch; return those that are
            arrays, those in `writes`, and of arrays that can have a gradient those whose elements may change, are read.
        bound: a store for what `workbench.api.tapes.adjoint_launch` finds out about launches of this code.
    """

    name: str
    direction: str
    device: Device
    address: int
    handle: Any
    layout: Layout
    launch_ndim: int
    reads: frozenset[str]
    writes: frozenset[str]
    cost: int
    digest: str
    contiguous: bool
    checked: bool
    ordered: bool
    metadata: dict[str, Any]
    make_function: Callable[[], Function]
    index32: bool = False
    aligned: bool = False
    apart: bool = False
    geometry: Geometry | None = None
    locate: Callable[[int], Location] | None = None
    compile_for: Callable[[str], Any] | None = None
    build_later: Callable[[], Executable] | None = None
    in_order: InOrder | None = None
    load_complete: Callable[[], Executable] | None = None
    # Worked out when it is made: launches read these, and a cached property takes ten times as long as a field.
    one_call: bool = False
    packer: Packer = cast("Packer", None)
    written: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    strip: int = 0
    sums: int = 0
    arrays_of: Arguments = tuple
    written_of: Arguments = tuple
    floats_written_of: Arguments = tuple
    floats_read_of: Arguments = tuple
    bound: dict[object, Any] = msgspec.field(default_factory=dict[object, Any])

    def ready(self) -> Executable:
        """Return the code with all that is known once it is built; wait until it is.

        Raises:
            BuildError: the compiler refused our text.
        """
        return self if self.build_later is None else self.build_later()

    def __post_init__(self) -> None:
        """Compute the attributes that launches read from the layout, the metadata and the names read and written."""
        names = [slot.name for slot in self.layout.slots]
        written = tuple(k for k, name in enumerate(names) if name in self.writes)
        few = 1_048_576 // max(1, self.cost)
        unit = ALIGNED if few >= ALIGNED or self.ordered else LEAST
        if few < ALIGNED and self.metadata.get("block_dim"):
            unit = 1
        derived: dict[str, Any] = {
            "one_call": not (self.device.is_cuda or self.checked or self.prints),
            "packer": Packer(self.layout, self.index32 and self.geometry is None),
            "written": written,
            "shared": tuple(k for k in written if names[k] in self.reads),
            "strip": max(unit, few - few % unit),
            "sums": self.metadata.get("sums", 0),
            "arrays_of": _taken(self.arrays),
            "written_of": _taken(written),
            "floats_written_of": _taken(tuple(k for k in self.floats if names[k] in self.writes)),
            "floats_read_of": _taken(self.floats_read),
            "bound": {},
        }
        for name, value in derived.items():
            force_setattr(self, name, value)

    @cached_property
    def complete(self) -> Executable:
        """The code that takes every launch: this one, or built when it is first needed.

        What leaves the process or runs without Python (graphs, records in files, JAX's programs) has this code.
        """
        return self if self.load_complete is None else self.load_complete()

    @cached_property
    def title(self) -> str:
        """The name in messages: `blur`, `blur (adjoint)`."""
        return titled(self.name, self.direction)

    @cached_property
    def function(self) -> Function:
        """The compiled function in IR."""
        return self.make_function()

    @cached_property
    def types(self) -> dict[str, Type]:
        """The type of each parameter."""
        return {slot.name: slot.type for slot in self.layout.slots}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, in order."""
        return tuple(self.types)

    @cached_property
    def arrays(self) -> tuple[int, ...]:
        """Positions of the parameters that are arrays."""
        return tuple(k for k, slot in enumerate(self.layout.slots) if isinstance(slot.type, ArrayType))

    @cached_property
    def wide_of(self) -> Arguments:
        """A function of a launch's arguments: it returns the arrays whose vectors `aligned` code loads whole."""
        slots = self.layout.slots
        return _taken(tuple(k for k in self.arrays if access_bytes(slots[k].type)))  # type: ignore[union-attr]

    @cached_property
    def floats(self) -> tuple[int, ...]:
        """Positions of the parameters that are arrays of floats, and so can have a gradient."""
        return tuple(k for k in self.arrays if is_float(self.layout.slots[k].type))

    @cached_property
    def floats_read(self) -> tuple[int, ...]:
        """Positions of the parameters that are arrays of floats whose elements are read."""
        return tuple(k for k in self.floats if self.names[k] in self.reads)

    @cached_property
    def only_read(self) -> tuple[int, ...]:
        """Positions of the parameters that are arrays whose elements are read and do not change."""
        return tuple(k for k in self.arrays if self.names[k] in self.reads - self.writes)

    @cached_property
    def prints(self) -> bool:
        """Return whether the code leaves what it prints to the host (see runtime/launching/prints.py)."""
        return bool(self.metadata.get("prints"))

    @cached_property
    def on_device(self) -> bool:
        """Return whether the code runs as CUDA code, on a GPU or an emulated one."""
        return self.device.is_cuda

    @cached_property
    def reports(self) -> bool:
        """Return whether a launch leaves something on its device that is collected later: faults, findings or text."""
        return self.checked or self.sanitized or self.prints

    @cached_property
    def sanitized(self) -> bool:
        """Return whether its accesses to memory are checked: the code has checks, and its device is emulated."""
        return self.device.is_emulated and bool(self.metadata.get("checks"))

    def in_blocks(self, block: Block) -> Executable:
        """Return the same code, which must be one that sees its blocks, for launches in blocks of this shape."""
        assert self.geometry is not None
        sized = self._in_blocks.get(block)
        if sized is None:
            sized = self._in_blocks[block] = replace(self, geometry=replace(self.geometry, block=block))
        return sized

    @cached_property
    def _in_blocks(self) -> dict[Block, Executable]:
        """The forms of this code for blocks of a shape, as `in_blocks` has returned them."""
        return {}

    @cached_property
    def param_offsets(self) -> tuple[int, ...]:
        """The offset of each parameter of the device's kernel in the packed parameters."""
        slots = self.layout.slots
        if self.geometry is not None:
            return tuple(slots[k].offset for k in self.geometry.param_slots)
        # Generated kernels take the launch's dimensions first, then their parameters.
        return (0, *(slot.offset for slot in slots))

    @cached_property
    def driver(self) -> Driver:
        """The device's driver."""
        return driver_of(self.device)

    @cached_property
    def queue(self) -> Queue:
        """The queue by which launches of the code reach its device."""
        return self.driver.queue(self.handle, self.param_offsets)

    def call(self, dims: Sequence[int], block_dim: int | Block) -> Call:
        """Return the grid, block and shared memory of a CUDA launch over `dims`.

        `block_dim` counts only if the code does not see its blocks, and then is a number.
        """
        if self.geometry is not None:
            block = self.geometry.block
            return Call(block.grid(dims), block.sizes, block.shared)
        assert isinstance(block_dim, int)
        blocks, threads, shared = self.grid(math.prod(dims), block_dim)
        return Call((blocks, 1, 1), (threads, 1, 1), shared)

    def shape(self, dims: tuple[int, ...], block_dim: int | Block) -> bytes:
        """Return a launch's blocks, threads of a block and shared memory, as `Driver.launch` takes them; remembered.

        Args:
            dims: the launch's dimensions.
            block_dim: threads of a block; it counts only if the code does not see its blocks.

        Raises:
            DeviceError: a launch cannot have so many blocks, or a block so much memory.
        """
        memo = self._shapes
        shape = memo.get((dims, block_dim))
        if shape is None:
            if len(memo) == KEPT_SHAPES:
                memo.clear()
            call = self.call(dims, block_dim)
            shape = memo[dims, block_dim] = self.driver.shape(self.handle, call.grid, call.block, call.shared)
        return shape

    @cached_property
    def _shapes(self) -> dict[tuple[tuple[int, ...], int | Block], bytes]:
        """The results of `shape`, by dimensions and block."""
        return {}

    @cached_property
    def touched(self) -> frozenset[str]:
        """Array parameters whose elements are read or may change."""
        return self.reads | self.writes

    def mask(self, arguments: Sequence[Any]) -> int:
        """Return the lock bits of the memory of the arguments that the code reads and changes (`shared`).

        See `backends/cpu/native/dispatch.py`.
        """
        mask = 0
        for position in self.shared:
            mask |= arguments[position].memory.lock_bit
        return mask

    @cached_property
    def threads_per_task(self) -> int:
        """The number of a launch's threads that one core takes at a time; all of them if they have to run in order."""
        return 2**62 if self.ordered else self.strip

    def grid(self, threads: int, block_dim: int) -> tuple[int, int, int]:
        """Return blocks, threads of a block and bytes of dynamic shared memory of a CUDA launch.

        Args:
            threads: of the launch; for a kernel of tiles its blocks.
            block_dim: threads of a block, where the code does not say.
        """
        return cuda_grid(self.metadata, threads, block_dim)
