"""The key of a kernel's code, and the reason for which it was built again."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.api.kernels.kernel import Specialisation
from workbench.backends.base import Backend, Options
from workbench.cache.key import Key, Part, key_of_parts
from workbench.deep import with_deep_stack
from workbench.runtime.device.device import Device, driver_of
from workbench.structs import Struct, StructArray

FORCED = "recompilation was requested"
"""The reason for a build of a kernel that was in the cache."""
_LAST_KEYS: dict[tuple[object, ...], dict[object, Key]] = {}
"""Keys by kernel, direction, backend and target; of each the options, the last one last."""
_WHY: dict[tuple[str, str], dict[object, tuple[str, ...]]] = {}
"""The reason for a build of one direction, by backend, target and options."""


def target_of(device: Device, backend: Backend) -> str:
    """Return the target that code for this device is compiled for."""
    if not device.is_cuda:
        return backend.target()
    return driver_of(device).arch(device.index)


@with_deep_stack
def key_of(
    specialisation: Specialisation, direction: str, options: Options, backend: Backend, target: str, atomic: bool
) -> Key:
    """Return the cache key of the code of one direction of a specialisation."""
    extra = (
        *((Part("atomic", "extra", b"1", "yes"),) if atomic else ()),
        *((Part("fma", "extra", b"1", "yes"),) if specialisation.kernel.fma else ()),
        *_blocks(specialisation.block_dim),
        *(_checkpoints(specialisation) if "adjoint" in direction else ()),
        *_structs(specialisation),
    )
    return key_of_parts(
        specialisation.parts(direction), options=options, backend=backend.name, backend_version=backend.version(target),
        target=target, direction=direction, extra=extra,
    )  # fmt: skip


def _blocks(block_dim: int) -> Iterator[Part]:
    """Yield the part of a key for the threads of a block of a kernel of tiles; none if `block_dim` is 0."""
    if block_dim:
        shown = str(block_dim)
        yield Part("block_dim", "extra", shown.encode(), shown)


def _checkpoints(specialisation: Specialisation) -> Iterator[Part]:
    """Yield the part of a key for the number of a loop's states that the adjoint stores."""
    shown = str(specialisation.kernel.checkpoints)
    yield Part("checkpoints", "extra", shown.encode(), shown)


def _structs(specialisation: Specialisation) -> Iterator[Part]:
    """Yield a part of a key for each struct among the parameters: its fields' names and types, in order.

    The code alone does not show them.
    """
    for n, (name, type) in enumerate(zip(specialisation.parameters, specialisation.types, strict=True)):
        struct = type.dtype if isinstance(type, StructArray) else type
        if isinstance(struct, Struct):
            yield Part(f"struct {n}", "signature", struct.content.encode(), f"{name} {type!r}({struct.content})")


def remember(name: str, direction: str, backend: Backend, key: Key) -> None:
    """Note the key that a kernel is built under, and what differs from the one before."""
    slot, options = _built_for(backend, key)
    keys = _LAST_KEYS.setdefault((name, direction, *slot), {})
    before = keys.pop(options, None) or (list(keys.values())[-1] if keys else None)
    if before is None or before.digest != key.digest:
        _note(name, direction, (slot, options), key.explain(before) if before else ())
    keys[options] = key


def _built_for(backend: Backend, key: Key) -> tuple[tuple[object, ...], object]:
    """Return what the code of a key is built for: its backend and target, and its options."""
    targets = [p.data for p in key.parts if p.label == "target"]
    return (backend.name, *targets), frozenset([(p.label, p.data) for p in key.parts if p.kind == "option"])


def _note(name: str, direction: str, built_for: object, reasons: tuple[str, ...]) -> None:
    """Note as the latest reasons of a kernel's direction why its code for a backend, target and options was built."""
    known = _WHY.setdefault((name, direction), {})
    known.pop(built_for, None)
    known[built_for] = reasons  # the last one last


def why(name: str, direction: str = "forward") -> tuple[str, ...]:
    """Return what differed from the previous key when a kernel of this name was last rebuilt; empty for a first build.

    Options and targets of tools, such as a profiler's, are reported only if nothing else differed.
    """
    last = [reasons for reasons in reversed(_WHY.get((name, direction), {}).values()) if reasons]
    return next((reasons for reasons in last if not all(map(is_of_options, reasons))), last[0] if last else ())


def is_of_options(reason: str) -> bool:
    """Return whether the text of a reason for a rebuild says that an option changed."""
    return reason.startswith("option ")


def why_built(name: str, direction: str, backend: Backend, key: Key) -> tuple[str, ...]:
    """Return what differed from the previous key of the same backend, target and options.

    Empty for a first build; (FORCED,) where a rebuild was requested.
    """
    return _WHY.get((name, direction), {}).get(_built_for(backend, key), ())


def note_forced(name: str, direction: str, backend: Backend, key: Key) -> None:
    """Note that a kernel was compiled although it is in the cache."""
    _note(name, direction, _built_for(backend, key), (FORCED,))
