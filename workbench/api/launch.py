"""Launching: arguments checked before anything runs, then one record, executed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.api import build
from workbench.api.arguments import as_dims, check, deduce
from workbench.api.kernel import Kernel, Specialisation
from workbench.autodiff import adjoint as differentiate
from workbench.autodiff import adjoint_names
from workbench.backends.base import Options
from workbench.errors import LaunchError, NotDifferentiable
from workbench.events import Launched, listening
from workbench.ir.values import written_arrays
from workbench.runtime.array import array
from workbench.runtime.checks import checks_wanted
from workbench.runtime.create import zeros
from workbench.runtime.device import Device, get_device
from workbench.runtime.execute import execute, execute_again, run_unseen
from workbench.runtime.loaded import Loaded
from workbench.runtime.observers import OBSERVERS
from workbench.runtime.record import LaunchRecord, memory_versions
from workbench.types import ArrayType, is_float

_PLAIN = Options()
_OPTIONS = {(c, f): Options(checks=c, fast_math=f) for c in (False, True) for f in (False, True)}


def launch(
    kernel: Kernel,
    dim: Any,
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
    *,
    adjoint: bool = False,
    adj_inputs: Sequence[Any] = (),
    adj_outputs: Sequence[Any] = (),
    record_cmd: bool = False,
    device: Device | str | None = None,
    fast_math: bool = False,
    checks: bool | None = None,
) -> Launch | None:
    """Run a kernel once for each thread of `dim`.

    Args:
        kernel: what to run.
        dim: threads along 1 to 4 dimensions; as many as the kernel asks `tid()` for. 0 threads do nothing.
        inputs: arguments for the first parameters, in order.
        outputs: arguments for the rest.
        adjoint: run the adjoint instead: it reads and clears the adjoints of what the kernel writes and adds to the
            adjoints of what it reads.
        adj_inputs: adjoint arrays for `inputs`, None where there is none to give; the `.grad` of an array that
            requires one is taken where nothing is given. For a number: an array of one element, or None.
        adj_outputs: the same for `outputs`.
        record_cmd: run nothing; give a `Launch` to be run later, again, and with other arguments.
        device: where; the arrays' device where none is given.
        fast_math: allow approximate maths.
        checks: test bounds, asserts, integer divisions and shifts. None: as the kernel's cell says, else as `checks()`
            around the call says, else off (in notebooks on).

    Returns:
        A `Launch` with `record_cmd`, else None.

    Raises:
        LaunchError: the arguments do not fit; the message names the parameter, and nothing has run.
        KernelSyntaxError, KernelTypeError: the kernel has errors.
        NotDifferentiable: with `adjoint`, the kernel has no right adjoint.
        KernelFault: with checks, something was out of range; the launch is over, and all that did not fault is done.
    """
    values = [*inputs, *outputs]
    options = _OPTIONS[checks_wanted(checks, getattr(kernel, "checks", None)), bool(fast_math)]
    plan = None if adjoint else _plan_for(kernel, dim, values, device, options)
    if plan is not None and not (record_cmd or OBSERVERS.get() or listening(Launched)):
        dims, arguments = plan.arguments(kernel, dim, values)
        run_unseen(plan.loaded, dims, arguments)
        return None
    if plan is not None:
        dims, arguments = plan.arguments(kernel, dim, values)
        record = record_of(plan.loaded, plan.specialisation, dims, dict(zip(kernel.parameters, arguments, strict=True)))
    else:
        adjoints = _adjoint_list(inputs, adj_inputs, adj_outputs)
        record = prepare(kernel, dim, values, adjoint=adjoint, adjoints=adjoints, device=device, options=options)
    if record_cmd:
        return Launch(kernel, record, options)
    execute(record)
    return None


@dataclass(frozen=True)
class _Plan:
    """What a forward launch with arguments of these kinds comes to, found once.

    Attributes:
        specialisation, loaded: the code.
        numbers: positions of arguments that are checked each time: numbers and vectors.
    """

    specialisation: Specialisation
    loaded: Loaded
    numbers: tuple[int, ...]

    def arguments(self, kernel: Kernel, dim: Any, values: list[Any]) -> tuple[tuple[int, ...], list[Any]]:
        """Dimensions and checked arguments.

        Raises:
            LaunchError: a number does not fit.
        """
        for k in self.numbers:
            values[k] = check(kernel, kernel.parameters[k], self.specialisation.types[k], values[k], self.loaded.device)
        return (dim,) if type(dim) is int and 0 <= dim < 2**31 else as_dims(dim, kernel.name), values


def _plan_for(
    kernel: Kernel, dim: Any, values: Sequence[Any], device: Device | str | None, options: Options
) -> _Plan | None:
    """The plan of an earlier launch with arguments of the same kinds, where all is as it was; else None."""
    if not isinstance(kernel, Kernel) or kernel.stale:
        return None
    plan: _Plan | None = kernel.plans.get(_kinds(dim, values, options))
    if plan is None or not plan.specialisation.is_current():
        return None
    if device is not None and device not in (plan.loaded.device, plan.loaded.device.name):
        return None
    alone = plan.specialisation.adds_alone
    return None if alone and _overlap([v for v in values if type(v) is array]) else plan


def _kinds(dim: Any, values: Sequence[Any], options: Options) -> tuple[Any, ...]:
    kinds = [v.tag if type(v) is array else type(v) for v in values]
    return (len(dim) if isinstance(dim, (tuple, list)) else 1, options.checks, options.fast_math, *kinds)


def _keep_plan(kernel: Kernel, dim: Any, values: Sequence[Any], options: Options, record: LaunchRecord) -> None:
    """Keep what was found for the next launch of this kind; not where it depends on more than the arguments' kinds."""
    arrays = [v for v in values if type(v) is array]
    specialisation = record.specialisation
    if not arrays or any(isinstance(v, np.ndarray) for v in values) or (specialisation.adds_alone and _overlap(arrays)):
        return
    numbers = tuple(k for k, t in enumerate(specialisation.types) if not isinstance(t, ArrayType))
    kernel.plans[_kinds(dim, values, options)] = _Plan(specialisation, record.loaded, numbers)


def _adjoint_list(inputs: Sequence[Any], adj_inputs: Sequence[Any], adj_outputs: Sequence[Any]) -> list[Any]:
    padding = [None] * (len(inputs) - len(adj_inputs)) if adj_outputs else []
    return [*adj_inputs, *padding, *adj_outputs]


def prepare(
    kernel: Kernel, dim: Any, values: Sequence[Any], *, adjoint: bool = False, adjoints: Sequence[Any] = (),
    device: Device | str | None = None, options: Options = _PLAIN,
) -> LaunchRecord:  # fmt: skip
    """A checked launch as a record, not yet run."""
    if not isinstance(kernel, Kernel):
        above = isinstance(getattr(kernel, "__wrapped__", None), Kernel)
        raise LaunchError(
            f"launch() takes a kernel; this is a {type(kernel).__name__}.",
            advice="Put @wb.kernel above the other decorators." if above else "Decorate it: @wb.kernel.",
        )
    if kernel.stale:
        raise LaunchError(f"{kernel.name} is out of date: {kernel.stale}", advice="Mend its cell and run it again.")
    dims = as_dims(dim, kernel.name)
    if len(values) != len(kernel.parameters):
        raise _count(kernel, values)
    place = get_device(device) if device is not None else _device_of(values)
    specialisation = kernel.specialise(deduce(kernel, values))
    arguments = {
        name: check(kernel, name, type, value, place)
        for name, type, value in zip(kernel.parameters, specialisation.types, values, strict=True)
    }
    if not adjoint:
        record = bind(specialisation, "forward", dims, arguments, place, options)
        _keep_plan(kernel, dim, values, options, record)
        return record
    pairs = adjoint_arguments(specialisation, arguments, adjoints, place)
    record = bind(specialisation, "adjoint", dims, {**arguments, **pairs}, place, options)
    _refuse_overwritten(record)
    return record


def _refuse_overwritten(record: LaunchRecord) -> None:
    """A bare adjoint launch has the arrays of now, and those that the kernel changes are no longer what they were."""
    loaded = record.loaded
    lost = (loaded.reads | loaded.writes) & written_arrays(record.specialisation.function)
    if lost:
        name = min(lost)
        raise NotDifferentiable(
            f"{record.kernel} changes {name}, and its adjoint needs what {name} held before.",
            advice="Launch it inside `with wb.Tape()`, which keeps a copy, or let it write to another array.",
            function=record.kernel,
            parameter=name,
        )


def _count(kernel: Kernel, values: Sequence[Any]) -> LaunchError:
    if len(values) < len(kernel.parameters):
        missing = ", ".join(kernel.parameters[len(values) :])
        return LaunchError(f"{kernel.name} takes {len(kernel.parameters)} arguments; {missing} is missing.")
    return LaunchError(f"{kernel.name} takes {len(kernel.parameters)} arguments; {len(values)} were given.")


def _device_of(values: Sequence[Any]) -> Device:
    return next((v.device for v in values if isinstance(v, array)), None) or get_device()


def bind(
    specialisation: Specialisation, direction: str, dims: tuple[int, ...], arguments: Mapping[str, Any], device: Device,
    options: Options = _PLAIN,
) -> LaunchRecord:  # fmt: skip
    """Checked arguments and the code that suits them, as a record.

    Raises:
        LaunchError: the kernel asks for another number of dimensions.
    """
    arrays = [a for a in arguments.values() if isinstance(a, array)]
    options = replace(options, contiguous=all(a.is_contiguous for a in arrays))
    if direction == "adjoint":
        adjoints = adjoint_names(specialisation.function.params).values()
        atomic = _overlap([arguments[name] for name in adjoints])
        if atomic and _is_aliased(specialisation, arguments):
            differentiate(specialisation.function, aliased=True)  # raises where the order of accesses would matter
    elif "adjoint" in direction:
        atomic = _overlap(arrays)
    else:
        atomic = specialisation.adds_alone and _overlap(arrays)
    wanted = specialisation.function.launch_ndim
    if wanted and wanted != len(dims):
        raise LaunchError(
            f"{specialisation.kernel.name} asks tid() for {wanted} indices; dim has {len(dims)} dimensions.",
            parameter="dim", advice="Give dim as many sizes as there are indices.",
        )  # fmt: skip
    loaded = build.load(specialisation, direction, options, device, atomic)
    return record_of(loaded, specialisation, dims, arguments)


def _is_aliased(specialisation: Specialisation, arguments: Mapping[str, Any]) -> bool:
    """Whether an array that the kernel writes may share memory with another argument."""
    names = [p.name for p in specialisation.function.params if isinstance(p.type, ArrayType)]
    written = written_arrays(specialisation.function)
    return any(_overlap([arguments[a], arguments[b]]) for a, b in itertools.combinations(names, 2) if {a, b} & written)


def record_of(
    loaded: Loaded, specialisation: Specialisation, dims: tuple[int, ...], arguments: Mapping[str, Any]
) -> LaunchRecord:
    """A record of these, with the arrays' versions of now."""
    return LaunchRecord(
        loaded, dims, dict(arguments), specialisation, specialisation.kernel.place, memory_versions(arguments)
    )


def _overlap(arrays: Sequence[array]) -> bool:
    """Whether two of the arrays, or two elements of one, may share memory: then accumulation must be atomic."""
    spans = []
    for a in arrays:
        if a.size == 0:
            continue
        if any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True)):
            return True
        reach = [(n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)]
        low = a.address + sum(r for r in reach if r < 0)
        spans.append((low, a.address + sum(r for r in reach if r > 0) + a.dtype.size))
    spans.sort()
    return any(before[1] > after[0] for before, after in itertools.pairwise(spans))


def adjoint_arguments(
    specialisation: Specialisation, arguments: Mapping[str, Any], given: Sequence[Any], device: Device
) -> dict[str, array]:
    """The `adj_…` arguments: those given, else the arrays' `.grad`, else (for numbers) a fresh sum nobody keeps.

    Raises:
        LaunchError: an array has neither, or a given one does not fit.
    """
    kernel = specialisation.kernel
    listed = [*given, *[None] * (len(kernel.parameters) - len(given))]
    result = {}
    names = adjoint_names(specialisation.function.params)
    for name, type, value in zip(kernel.parameters, specialisation.types, listed, strict=True):
        if not is_float(type):
            continue
        wanted = type if isinstance(type, ArrayType) else ArrayType(type, 1)
        if value is None:
            value = arguments[name].grad if isinstance(type, ArrayType) else zeros(1, type, device)
        if value is None:
            raise LaunchError(
                f"{kernel.name}: the adjoint of {name} is missing.", parameter=names[name],
                advice=f"Make {name} with requires_grad=True, or give its adjoint array.",
            )  # fmt: skip
        checked = check(kernel, names[name], wanted, value, device)
        if isinstance(type, ArrayType) and checked.shape != arguments[name].shape:
            raise LaunchError(
                f"{kernel.name}: {names[name]} has shape {checked.shape}; {name} has {arguments[name].shape}.",
                parameter=names[name],
            )
        result[names[name]] = checked
    return result


class Launch:
    """A launch kept for later, forward or adjoint: run it, change its arguments, run it again."""

    def __init__(self, kernel: Kernel, record: LaunchRecord, options: Options = _PLAIN) -> None:
        self.kernel = kernel
        self._record = record
        self._options = options

    @property
    def record(self) -> LaunchRecord:
        """The launch as it stands."""
        return self._record

    @property
    def params(self) -> dict[str, Any]:
        """Parameter name to argument; an adjoint's include the `adj_…` ones."""
        return dict(self._record.arguments)

    @property
    def adjoint(self) -> bool:
        """Whether it runs the adjoint."""
        return self._record.direction == "adjoint"

    def launch(self) -> None:
        """Run it on the arrays' contents of now."""
        execute_again(self._record)

    def set_dim(self, dim: Any) -> None:
        """Change the dimensions.

        Raises:
            LaunchError: they do not fit the kernel; nothing is changed.
        """
        self._rebind(dict(self._record.arguments), as_dims(dim, self.kernel.name))

    def set_param_by_name(self, name: str, value: Any) -> None:
        """Change one argument.

        Raises:
            LaunchError: there is no such parameter, or the value does not fit; nothing is changed.
        """
        slots = {s.name: s for s in self._record.loaded.layout.slots}
        if name not in slots:
            raise LaunchError(f"{self.kernel.name} has no parameter {name}; it has {', '.join(slots)}.", parameter=name)
        checked = check(self.kernel, name, slots[name].type, value, self._record.loaded.device)
        self._rebind({**self._record.arguments, name: checked}, self._record.dim)

    def set_param_at_index(self, index: int, value: Any) -> None:
        """Change the argument of parameter `index`, counted from 0.

        Raises:
            LaunchError: there is no such parameter, or the value does not fit; nothing is changed.
        """
        names = list(self._record.arguments)
        if not 0 <= index < len(names):
            raise LaunchError(f"{self.kernel.name} has {len(names)} parameters; there is no parameter {index}.")
        self.set_param_by_name(names[index], value)

    def set_params(self, values: Sequence[Any]) -> None:
        """Change all forward arguments.

        Raises:
            LaunchError: too few or too many, or one does not fit; nothing is changed.
        """
        if len(values) != len(self.kernel.parameters):
            raise _count(self.kernel, values)
        slots = self._record.loaded.layout.slots
        checked = {
            slot.name: check(self.kernel, slot.name, slot.type, value, self._record.loaded.device)
            for slot, value in zip(slots, values, strict=False)
        }
        self._rebind({**self._record.arguments, **checked}, self._record.dim)

    def _rebind(self, arguments: dict[str, Any], dims: tuple[int, ...]) -> None:
        r = self._record
        self._record = bind(r.specialisation, r.direction, dims, arguments, r.loaded.device, self._options)

    def __repr__(self) -> str:
        return f"<Launch: {self._record!r}>"
