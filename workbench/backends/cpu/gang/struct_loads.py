"""Loads of fields of one struct of an array, which gangs do together."""

from __future__ import annotations

from workbench.ir.ops import EFFECTS
from workbench.ir.values import Function, Op, array_of, component_of, walk
from workbench.structs import ELEMENT
from workbench.types import element

FIELD_BYTES = 4
"""Bytes of the cells in which structs are loaded."""


def struct_loads(function: Function) -> dict[Op, list[Op]]:
    """Return, by the first of them, loads of fields of one struct of an array, between which nothing is changed."""
    groups: dict[Op, list[Op]] = {}
    for block in (function.body, *(b for op in walk(function.body) for b in op.blocks)):
        open_groups: dict[tuple[object, ...], list[Op]] = {}
        for op in block.ops:
            if op.blocks or op.name in EFFECTS:
                open_groups.clear()
            elif op.name == "load" and component_of(op) is None and _is_cell(op):
                root = op.operands[0].name.partition(ELEMENT)[0]
                group = open_groups.setdefault((root, *op.operands[1:]), [])
                group.append(op)
                groups[group[0]] = group
    return groups


def _is_cell(op: Op) -> bool:
    """Return whether a load's bytes are whole cells of an array of structs of such."""
    type = array_of(op.operands[0])
    return (
        element(type.dtype).size == FIELD_BYTES
        and type.pitch > 0 == type.pitch % FIELD_BYTES == type.offset % FIELD_BYTES
    )
