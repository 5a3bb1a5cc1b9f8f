"""A launch as a value: what ran, over which threads, on which arguments.

A record is frozen; it holds its arrays by reference and its scalars by value, so it can be run again, shown, or walked
backwards by a tape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.autodiff import GATHERED, LOCAL
from workbench.backends.base import Options
from workbench.errors import LaunchError
from workbench.host.uniform import Uniform
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.geometry import Block
from workbench.source import Location

BLOCK_DIM = 256
"""Threads of a CUDA block if a launch does not say."""
BY_OCCUPANCY = 0
"""The `block_dim` of a launch whose block size is chosen by occupancy when it is bound (`api/builds/bind.py`)."""


class LaunchOptions(msgspec.Struct, frozen=True):
    """The options of a launch: all but its kernel, dimensions and arguments.

    Attributes:
        code: what changes the generated code (checks, fast maths), and whether threads run in order.
        block_dim: threads of a CUDA block; a Block if the kernel sees its blocks.
        stream: the CUDA stream; None is the device's default one.
    """

    code: Options = msgspec.field(default_factory=Options)
    block_dim: int | Block = BLOCK_DIM
    stream: Any = None


PLAIN = LaunchOptions()


class Advance(msgspec.Struct, frozen=True):
    """A change of a number among a launch's arguments: `amount` is added to it."""

    amount: int


class Latest(msgspec.Struct, frozen=True):
    """A change of a launch's argument that came from a uniform: it becomes the uniform's present value."""


class Binder(msgspec.Struct, frozen=True, eq=False):
    """The functions by which a record changes an argument; `workbench.api`, which knows kernels, provides them.

    Attributes:
        check: takes a record, a parameter and a value; returns the value as the packer takes it, or raises LaunchError.
        bind: takes a record, dimensions and arguments by name; returns a record with the code that suits them, or
            raises LaunchError.
    """

    check: Callable[[LaunchRecord, str, Any], Any]
    bind: Callable[[LaunchRecord, Any, Mapping[str, Any]], LaunchRecord]


class LaunchRecord(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A launch, forward or adjoint, as a value.

    Attributes:
        executable: the code.
        dim: the launch's dimensions, 1 to 4.
        values: the arguments in the order of the code's parameters; an adjoint's include the `adj_…` ones.
        specialisation: what the code was built from (opaque here); a tape asks it for the adjoint.
        location: the kernel's `def` in the user's text.
        launch_options: code, block and stream that were requested.
        binder: makes a record of other arguments.
        taped: whether tapes differentiate it.
        uniforms: by parameter, the uniforms whose values were its arguments.
    """

    executable: Executable
    dim: tuple[int, ...]
    values: Sequence[Any]
    specialisation: Any = None
    location: Location | None = None
    launch_options: LaunchOptions = PLAIN
    binder: Binder | None = None
    taped: bool = True
    uniforms: Mapping[str, Uniform] = msgspec.field(default_factory=dict[str, Uniform])

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.executable.name

    @property
    def is_conditional(self) -> bool:
        """Return whether its code is right for some numbers only: a gathering adjoint, or one for certain launches."""
        return self.options.single is not None or self.direction in (GATHERED, LOCAL)

    @property
    def options(self) -> Options:
        """The options of the code (checks, fast maths)."""
        return self.launch_options.code

    @property
    def block_dim(self) -> int | Block:
        """Threads of a CUDA block; a Block if the kernel sees its blocks."""
        return self.launch_options.block_dim

    @property
    def stream(self) -> Any:
        """The CUDA stream; None is the device's default one."""
        return self.launch_options.stream

    @property
    def direction(self) -> str:
        """The direction of the code: "forward", "adjoint", "tangent" (see autodiff/directions.py)."""
        return self.executable.direction

    @property
    def reads(self) -> frozenset[str]:
        """Array parameters whose elements are read."""
        return self.executable.reads

    @property
    def writes(self) -> frozenset[str]:
        """Array parameters whose elements may change."""
        return self.executable.writes

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments by parameter name, in the order of the parameters."""
        return dict(zip(self.executable.types, self.values, strict=True))

    @property
    def threads(self) -> int:
        """Threads of the launch: the product of its dimensions."""
        return math.prod(self.dim)

    @cached_property
    def buffer(self) -> Any:
        """The packed parameters."""
        buffer = self.executable.packer.new()
        self.executable.packer.write(buffer, self.dim, self.values)
        return buffer

    @property
    def changes(self) -> tuple[Memory, ...]:
        """The memory of each array in `writes`."""
        return tuple([self.values[k].memory for k in self.executable.written])

    def again(self) -> LaunchRecord:
        """Return the same launch as a distinct object, which shares the packed parameters."""
        copy = replace(self)
        # Packed again it would have the same bytes; sharing them keeps a replay from packing at all.
        vars(copy)["buffer"] = self.buffer
        return copy

    def ready(self) -> LaunchRecord:
        """Return the same launch with its code, waiting until that has been built."""
        return self if self.executable.build_later is None else replace(self, executable=self.executable.ready())

    def on(self, instead: Callable[[array], array]) -> LaunchRecord:
        """Return the same launch with each array replaced by what `instead` returns for it, of the same layout."""
        return replace(self, values=[instead(v) if isinstance(v, array) else v for v in self.values])

    def checked(self, name: str, value: Any) -> Any:
        """Return `value` as an argument for the parameter `name`.

        An `Advance` adds to the present argument; a uniform, and `Latest` for an argument that was one, gives the value
        that it has now.

        Raises:
            LaunchError: it does not fit.
        """
        if isinstance(value, Advance):
            value = self.arguments[name] + value.amount
        if isinstance(value, Latest):
            value = self.uniforms.get(name, self.arguments[name])
        return self._binder.check(self, name, value)

    def changed(self, values: Mapping[str, Any], dim: Any = None) -> LaunchRecord:
        """Return the same launch with other (checked) arguments or dimensions, and the code that suits them.

        Raises:
            LaunchError: the dimensions do not fit the kernel.
        """
        record = self._binder.bind(self, self.dim if dim is None else dim, {**self.arguments, **values})
        # The binder, which makes launches for everyone, takes them to be taped.
        return record if self.taped and not self.uniforms else replace(record, taped=self.taped, uniforms=self.uniforms)

    def on_stream(self, stream: Any) -> LaunchRecord:
        """Return the same launch in another stream."""
        return replace(self, launch_options=replace(self.launch_options, stream=stream))

    @property
    def _binder(self) -> Binder:
        """The functions that check arguments and bind launches again; a LaunchError is raised if it has none."""
        if self.binder is None:
            raise LaunchError(f"This launch of {self.kernel} was made without its kernel and cannot be changed.")
        return self.binder

    def __repr__(self) -> str:
        dims = "×".join(map(str, self.dim))
        shown = ", ".join(f"{n}={_shown(v)}" for n, v in self.arguments.items())
        return f"<{self.direction} launch {self.kernel}[{dims}] on {self.executable.device}: {shown}>"


def _shown(value: Any) -> str:
    """Return an argument as text: an array by type and shape."""
    return f"{value.type!r}{value.shape}" if isinstance(value, array) else f"{value!r}"
