"""What a kernel's code is known by, and why it was built again."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.api.kernels.kernel import Specialisation
from workbench.backends.base import Backend, Options
from workbench.cache.key import Key, Part, key_of_parts
from workbench.deep import deep
from workbench.runtime.device.device import Device, driver_of
from workbench.structs import Struct, StructArray

FORCED = "recompilation was requested"
"""Why a kernel was compiled that was in the cache."""
_LAST_KEYS: dict[
    tuple[str, str, str], dict[object, Key]
] = {}  # kernel, direction, backend; by option, the last one last
_WHY: dict[tuple[str, str], tuple[str, ...]] = {}


def target_of(device: Device, backend: Backend) -> str:
    """What code for this device is compiled for."""
    if not device.is_cuda:
        return backend.target()
    return driver_of(device).arch(device.index)


@deep
def key_of(
    specialisation: Specialisation, direction: str, options: Options, backend: Backend, target: str, atomic: bool
) -> Key:
    """The module key of one direction of a specialisation."""
    extra = (
        *((Part("atomic", "extra", b"1", "yes"),) if atomic else ()),
        *((Part("fma", "extra", b"1", "yes"),) if specialisation.kernel.fma else ()),
        *_blocks(specialisation.block_dim),
        *(_checkpoints(specialisation) if "adjoint" in direction else ()),
        *_structs(specialisation),
    )
    return key_of_parts(
        specialisation.parts(direction), options=options, backend=backend.name, backend_version=backend.version(),
        target=target, direction=direction, extra=extra,
    )  # fmt: skip


def _blocks(block_dim: int) -> Iterator[Part]:
    """How many threads a block of a kernel of tiles has."""
    if block_dim:
        shown = str(block_dim)
        yield Part("block_dim", "extra", shown.encode(), shown)


def _checkpoints(specialisation: Specialisation) -> Iterator[Part]:
    """How many states of a loop the adjoint keeps."""
    shown = str(specialisation.kernel.checkpoints)
    yield Part("checkpoints", "extra", shown.encode(), shown)


def _structs(specialisation: Specialisation) -> Iterator[Part]:
    """The structs among the parameters: fields in order, with their names, which the code alone does not show."""
    for n, (name, type) in enumerate(zip(specialisation.kernel.parameters, specialisation.types, strict=True)):
        struct = type.dtype if isinstance(type, StructArray) else type
        if isinstance(struct, Struct):
            yield Part(f"struct {n}", "signature", struct.content.encode(), f"{name} {type!r}({struct.content})")


def remember(name: str, direction: str, backend: Backend, key: Key) -> None:
    """Note the key that a kernel is built under, and what differs from the one before."""
    keys = _LAST_KEYS.setdefault((name, direction, backend.name), {})
    options = frozenset((p.label, p.data) for p in key.parts if p.kind == "option")
    before = keys.pop(options, None) or (list(keys.values())[-1] if keys else None)
    if before is None or before.digest != key.digest:
        _WHY[name, direction] = key.explain(before) if before else ()
    keys[options] = key


def why(name: str, direction: str = "forward") -> tuple[str, ...]:
    """What differed from the key before, when the kernel of this name was last rebuilt; empty for a first build."""
    return _WHY.get((name, direction), ())


def note_forced(name: str, direction: str) -> None:
    """Note that a kernel was compiled although it is in the cache."""
    _WHY[name, direction] = (FORCED,)
