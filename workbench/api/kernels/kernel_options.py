"""What `@kernel(…)` takes, checked where the kernel is written."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.autodiff import CHECKPOINT_RANGE, CHECKPOINTS
from workbench.config import MATMULS, settings
from workbench.errors import KernelTypeError
from workbench.frontend import Definition
from workbench.structs import AnyType
from workbench.tiles import Tile


def checked_checkpoints(checkpoints: object, definition: Definition) -> int:
    """How many checkpoints of a loop an adjoint keeps.

    Raises:
        KernelTypeError: it is no whole number in `CHECKPOINT_RANGE`.
    """
    if isinstance(checkpoints, int) and not isinstance(checkpoints, bool) and checkpoints in CHECKPOINT_RANGE:
        return checkpoints
    raise KernelTypeError(
        f"{definition.name} requests checkpoints={checkpoints!r}.", definition.locate(definition.node),
        f"Give a whole number from {CHECKPOINT_RANGE[0]} to {CHECKPOINT_RANGE[-1]}, or leave it out for {CHECKPOINTS}.",
        definition.name,
    )  # fmt: skip


def checked_matmul(value: object, definition: Definition) -> str:
    """Which matrix multiplication a kernel requests; empty if it leaves that to its cell.

    Raises:
        KernelTypeError: there is none of this name.
    """
    if isinstance(value, str) and value in ("", *MATMULS):
        return value
    listed = ", ".join(f'"{word}"' for word in MATMULS)
    raise KernelTypeError(
        f"{definition.name} requests matmul={value!r}.", definition.locate(definition.node), f"Give one of {listed}.",
        definition.name,
    )  # fmt: skip


def refuse_tiles(definition: Definition, annotations: Mapping[str, AnyType | None]) -> None:
    """Refuse parameters of a kernel that are tiles: those belong to a block, and funcs take them.

    Raises:
        KernelTypeError: a parameter is annotated as a tile; at its place.
    """
    for argument in definition.parameters:
        if isinstance(annotations[argument.arg], Tile):
            what = f"{argument.arg} of {definition.name} is {annotations[argument.arg]!r}; a kernel takes arrays."
            place = definition.locate(argument)
            raise KernelTypeError(what, place, "Take an array, and load it: tile_load(x, shape=…).", definition.name)


def checked_fma(value: object, definition: Definition) -> bool:
    """Whether a kernel contracts `a * b + c`; None leaves it to `WORKBENCH_FMA`.

    Raises:
        KernelTypeError: it is neither True, False nor None.
    """
    if value is None:
        return settings().fma
    if isinstance(value, bool):
        return value
    raise KernelTypeError(
        f"{definition.name} requests fma={value!r}.", definition.locate(definition.node),
        "Give True or False, or leave it out.", definition.name,
    )  # fmt: skip
