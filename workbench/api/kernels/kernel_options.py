"""What `@kernel(…)` takes, checked where the kernel is written."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from workbench.autodiff import CHECKPOINT_RANGE
from workbench.config import MATMULS, settings
from workbench.errors import KernelTypeError
from workbench.frontend import Definition, is_literal
from workbench.limits import CHECKPOINTS
from workbench.structs import AnyType
from workbench.tiles import Tile


def checked_checkpoints(checkpoints: object, definition: Definition) -> int:
    """Return the number of checkpoints of a loop that an adjoint keeps, validated.

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
    """Return the matrix multiplication that a kernel requests, validated; empty leaves it to the cell.

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


def checked_defaults(definition: Definition) -> dict[str, object]:
    """Return the defaults of parameters: numbers, and None for an array.

    Raises:
        KernelTypeError: one is something else; at its place.
    """
    checked = {name: definition.default(name) for name in definition.default_nodes}
    for name, node in definition.default_nodes.items():
        value = checked[name]
        # Of a literal that is no number the launch says what is wrong.
        if not is_literal(node) and not (value is None or isinstance(value, (bool, int, float, np.generic))):
            text = ast.unparse(node)
            what = f"The default of {name} in {definition.name} is {text}; it must be a number."
            advice = f"Pass {text} at the launch, or use it inside of {definition.name}."
            raise KernelTypeError(what, definition.locate(node), advice, definition.name)
    return checked


def checked_fma(value: object, definition: Definition) -> bool:
    """Return whether a kernel contracts `a * b + c`; None leaves it to `WORKBENCH_FMA`.

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
