"""A launch kept for later: what `record_cmd=True` gives.

It holds one record, and each change makes a new one through the same checks as a launch, so that it can never run code
that does not suit its arguments; a change that is refused changes nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, NoReturn

from msgspec.structs import replace

from workbench.api.builds.arguments import Dim, as_block_dim, as_stream, check, wrong_count
from workbench.api.builds.bind import block_size, refuse_tiles
from workbench.api.kernels.kernel import Kernel
from workbench.autodiff import adjoint_names
from workbench.errors import LaunchError
from workbench.host.narrow import is_count
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.structure import spread_all
from workbench.runtime.launching.execute import execute_again
from workbench.runtime.launching.record import BY_OCCUPANCY, LaunchRecord


class Launch:
    """A launch that is kept to be run later, forward or adjoint: its arguments can be changed between runs.

    Attributes:
        kernel: the kernel that it launches.
    """

    def __init__(self, kernel: Kernel, record: LaunchRecord) -> None:
        """Hold a launch of `kernel` that is ready to run as `record`; it is not run."""
        self.kernel = kernel
        self._record = record

    @property
    def record(self) -> LaunchRecord:
        """The record of the launch, with its present arguments and options."""
        return self._record

    @property
    def params(self) -> dict[str, Any]:
        """The arguments by parameter, in a new dictionary; an adjoint launch's include the `adj_…` ones."""
        return dict(self._record.arguments)

    @property
    def dim(self) -> tuple[int, ...]:
        """The dimensions of the launch; for a kernel of tiles they count blocks."""
        return self._record.dim

    @property
    def adjoint(self) -> bool:
        """Return whether the launch runs the adjoint."""
        return self._record.direction == "adjoint"

    def launch(self, stream: object = None, **values: object) -> None:
        """Run it on the arrays' present contents; tapes, recorders and graphs that are open see it.

            kept.launch(dt=0.02)

        Args:
            stream: a CUDA stream for this run alone.
            values: arguments for this run alone, by parameter.

        Raises:
            LaunchError: the stream is not one of its device, or a value does not fit; nothing has run.
            KernelFault: with checks, something was out of range.
        """
        values = {**self._latest(), **values}
        if stream is None and not values:
            execute_again(self._record)
            return
        stored = self._record
        try:
            for name, value in values.items():
                self.set_param_by_name(name, value)
            record = self._record
            execute_again(record if stream is None else record.on_stream(self._stream(stream)))
        finally:
            self._record = stored

    def _latest(self) -> dict[str, object]:
        """Return the present values of the numbers that came from uniforms, by parameter.

        Arrays that stand for uniforms are left out: the uniforms update these themselves.
        """
        record = self._record
        return {n: u.peek() for n, u in record.uniforms.items() if not isinstance(record.arguments[n], array)}

    def set_dim(self, dim: Dim) -> None:
        """Change the dimensions.

        Raises:
            LaunchError: they do not fit the kernel; nothing is changed.
        """
        self._record = self._record.changed({}, dim)

    def set_block_dim(self, block_dim: int | None) -> None:
        """Change the threads of a CUDA block: 1 to 1024, or None for the best occupancy; without effect on the CPU.

        Raises:
            LaunchError: it is neither, or None and the kernel uses tiles; nothing is changed.
        """
        size = as_block_dim(block_dim, self.kernel.name)
        if size == BY_OCCUPANCY:
            refuse_tiles(self._record.specialisation)
            size = block_size(self._record.specialisation, self._record.executable, self._record.options)
        self._record = replace(self._record, launch_options=replace(self._record.launch_options, block_dim=size))

    def set_stream(self, stream: object) -> None:
        """Run in this CUDA stream from now on; None is the device's default one.

        Raises:
            LaunchError: it is not one of the launch's device; nothing is changed.
        """
        self._record = self._record.on_stream(self._stream(stream))

    def set_param_by_name(self, name: str, value: object, adjoint: bool = False) -> None:
        """Change one argument.

        Args:
            name: the parameter, or with `adj_` before it an adjoint launch's adjoint array.
            value: the new argument.
            adjoint: change the adjoint array of the parameter `name`.

        Raises:
            LaunchError: there is no such parameter, or the value does not fit; nothing is changed.
        """
        if name in self._record.specialisation.parameters and not adjoint:
            self._change({name: value})
            return
        names = self._record.arguments
        wanted = self._adjoint_name(name) if adjoint and name in names else name
        if wanted not in names:
            close = difflib.get_close_matches(wanted, list(names), 1)
            advice = f"Did you mean {close[0]}?" if close else ""
            raise LaunchError(
                f"{self.kernel.name} has no parameter {wanted}; it has {', '.join(names)}.",
                parameter=wanted,
                advice=advice,
            )
        self._change({wanted: value})

    def set_param_at_index(self, index: int, value: object, adjoint: bool = False) -> None:
        """Change the argument of parameter `index`, counted from 0, or with `adjoint` its adjoint array.

        Raises:
            LaunchError: there is no such parameter, or the value does not fit; nothing is changed.
        """
        own = self._record.specialisation.parameters
        others = [n for n in self._record.arguments if n.split(".")[0] not in own]  # "p.a" is a part of the struct p
        names = own if adjoint else (*own, *others)
        if not is_count(index) or index >= len(names):
            raise LaunchError(f"{self.kernel.name} has {len(names)} parameters; there is no parameter {index!r}.")
        self.set_param_by_name(names[index], value, adjoint)

    def set_params(self, values: Sequence[object]) -> None:
        """Change all forward arguments.

        Raises:
            LaunchError: too few or too many, or one does not fit; nothing is changed.
        """
        if len(values) != len(self._record.specialisation.parameters):
            raise wrong_count(self.kernel, values)
        self._change(dict(zip(self._record.specialisation.parameters, values, strict=True)))

    def _change(self, values: dict[str, object]) -> None:
        """Replace arguments by parameter, or by name of the IR such as `adj_x`; nothing is changed if one does not fit.

        Raises:
            LaunchError: a value does not fit.
        """
        record = self._record
        types = dict(zip(record.specialisation.parameters, record.specialisation.types, strict=True))
        checked = {
            n: check(self.kernel, n, types[n], v, record.executable.device) for n, v in values.items() if n in types
        }
        parts = {n: record.checked(n, v) for n, v in values.items() if n not in types}
        self._record = record.changed({**spread_all(checked), **parts})

    def _adjoint_name(self, name: str) -> str:
        """Return the name of a parameter's adjoint.

        Raises:
            LaunchError: this is no adjoint launch, or the parameter is not a float's.
        """
        if not self.adjoint:
            raise LaunchError(
                f"This launch of {self.kernel.name} is not an adjoint launch.", advice="Make it with adjoint=True."
            )
        names = adjoint_names(self._record.specialisation.function.params)
        if name not in names:
            raise LaunchError(f"{name} of {self.kernel.name} is not a float and has no adjoint.", parameter=name)
        return names[name]

    def _stream(self, stream: object) -> object:
        """Return the value as a stream of the launch's device; None for None, and on the CPU.

        Raises:
            LaunchError: it is a stream of another device.
        """
        return as_stream(stream, self._record.executable.device, self.kernel.name)

    def __copy__(self) -> Launch:
        """Return another launch with the same arguments, on the same arrays; a change of one does not change it."""
        return Launch(self.kernel, self._record)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled.

        Raises:
            LaunchError: always.
        """
        raise LaunchError(
            f"A launch of {self.kernel.name} that is kept cannot be pickled.",
            advice='Record it and save that: rec.save("run.wbr"). copy.copy gives another one on the same arrays.',
        )

    def __repr__(self) -> str:
        return f"<Launch: {self._record!r}>"
