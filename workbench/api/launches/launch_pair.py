"""A launch and its adjoint launch, bound once: what a training loop without a tape runs again and again.

The adjoint of a kernel that works in place needs what its arrays held before. The pair keeps that: it has room for a
copy, and the forward launch fills it first.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.api.builds.arguments import Dim
from workbench.api.builds.bind import adjoint_arguments, bind
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import adjoint_list, launch_options, prepare
from workbench.errors import LaunchError, must_be
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import covering
from workbench.runtime.arrays.unseen_writes import depend_on, notice
from workbench.runtime.device.device import Device
from workbench.runtime.device.memory import Memory, allocate
from workbench.runtime.launching.execute import execute_again
from workbench.runtime.launching.record import LaunchRecord


class LaunchPair:
    """A launch and its adjoint launch: `forward()`, then `backward()`, as often as wanted.

    Attributes:
        forward_record, backward_record: the two launches.
        kept: names of the arrays that are copied before the forward launch, because the backward one needs them.
        nbytes: the size of the copies.
    """

    def __init__(self, forward: LaunchRecord, adjoints: dict[str, array]) -> None:
        """Bind the adjoint to a forward launch, and allocate memory for copies of arrays that the kernel changes.

        Args:
            forward: the forward launch.
            adjoints: the adjoint arrays, by name (`adj_x`).

        Raises:
            LaunchError, NotDifferentiable: the adjoints do not fit, or the kernel has no right adjoint.
        """
        must_be(forward, LaunchRecord, "LaunchPair() takes a record", advice="wb.launch_pair(…) makes one.")
        self.forward_record = forward
        arrays = {n: a for n, a in forward.arguments.items() if isinstance(a, array)}
        device, options = forward.executable.device, forward.launch_options
        arguments = {**forward.arguments, **adjoints}
        first = bind(forward.specialisation, "adjoint", forward.dim, arguments, device, options)
        changed = {arrays[n].memory for n in forward.writes}
        needed = (first.executable.reads | first.executable.writes) & arrays.keys()
        self.kept = tuple(n for n in arrays if n in needed and arrays[n].memory in changed)
        room: dict[Memory, Memory] = {}
        for name in self.kept:
            memory = arrays[name].memory
            room.setdefault(memory, allocate(memory.device, memory.nbytes))
        self.nbytes = sum(m.nbytes for m in room)
        self._copies = [
            (e.twin(room[m]), e) for m, e in {arrays[n].memory: covering(arrays[n]) for n in self.kept}.items()
        ]
        instead = {n: a.twin(room[a.memory]) for n, a in arrays.items() if a.memory in room}
        self.backward_record = bind(
            forward.specialisation, "adjoint", forward.dim, {**arguments, **instead}, device, options
        )
        read = first.executable.reads & arrays.keys() - set(self.kept)
        self._read = {n: arrays[n].memory for n in arrays if n in read}
        self._versions: dict[str, int] = {}
        self._ran = False

    def forward(self) -> None:
        """Copy what the adjoint needs and the kernel changes, and launch the kernel.

        Raises:
            KernelFault: with checks, something was out of range.
        """
        for copy, original in self._copies:
            copy.copy_(original)
        self._ran = False  # an interrupt may leave it half done
        execute_again(self.forward_record)
        self._versions = {name: depend_on(memory) for name, memory in self._read.items()}
        self._ran = True

    def backward(self) -> None:
        """Launch the adjoint: it reads and clears the adjoints of what was written, and adds to those of what was read.

        Raises:
            LaunchError: `forward()` has not run, or an array that the adjoint reads has changed since.
            KernelFault: with checks, something was out of range.
        """
        if not self._ran:
            raise LaunchError(f"{self.forward_record.kernel}: backward() comes after forward().")
        changed = next((n for n, memory in self._read.items() if notice(memory) != self._versions[n]), "")
        if changed:
            raise LaunchError(
                f"{self.forward_record.kernel}: {changed} has changed since forward(); the adjoint needs it as it was.",
                parameter=changed,
                advice="Call forward() again, or change it after backward().",
            )
        execute_again(self.backward_record)

    def __repr__(self) -> str:
        memory = f", keeps {', '.join(self.kept)}: {self.nbytes:,} bytes" if self.kept else ""
        return f"<LaunchPair {self.forward_record.kernel}[{'×'.join(map(str, self.forward_record.dim))}]{memory}>"


def launch_pair(
    kernel: Kernel, dim: Dim, inputs: Sequence[object] = (), outputs: Sequence[object] = (), *,
    adj_inputs: Sequence[object] = (), adj_outputs: Sequence[object] = (), device: Device | str | None = None,
    fast_math: bool = False, checks: bool | None = None,
) -> LaunchPair:  # fmt: skip
    """Return a launch and its adjoint, to be run later; for kernels that work in place too.

        pair = wb.launch_pair(step, n, inputs=[x, dt])
        pair.forward()
        pair.backward()

    Args:
        kernel, dim, inputs, outputs, device, fast_math, checks: as for `launch`.
        adj_inputs, adj_outputs: adjoint arrays, as for `launch(…, adjoint=True)`: `.grad` if none is given.

    Returns:
        The pair; nothing has run yet.

    Raises:
        LaunchError: the arguments do not fit, or an array has no adjoint.
        NotDifferentiable: the kernel has no right adjoint.
    """
    options = launch_options(kernel, checks, fast_math)
    record = prepare(kernel, dim, [*inputs, *outputs], device=device, options=options)
    adjoints = adjoint_list(inputs, outputs, adj_inputs, adj_outputs)
    target = record.executable.device
    return LaunchPair(record, adjoint_arguments(record.specialisation, record.arguments, adjoints, target))
