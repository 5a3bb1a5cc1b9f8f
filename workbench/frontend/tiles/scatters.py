"""`tile_scatter_add` and `tile_scatter_masked`: values of those threads that have one, at elements of a tile."""

from __future__ import annotations

import ast

from workbench.builtins import tile_gathers
from workbench.builtins.declaration.declare import Form
from workbench.frontend.functions import library
from workbench.frontend.state.coerce import assign_type, usable
from workbench.frontend.state.context import Context, Expression, FormHandler
from workbench.frontend.state.operands import Operand, value_of
from workbench.frontend.state.tiling import is_thread
from workbench.frontend.tiles import elementwise, lanes
from workbench.frontend.tiles.arguments import tiling_of
from workbench.frontend.tiles.slicing import reshaped
from workbench.tiles import Tile, is_tile


def _scattering(form: Form) -> FormHandler:
    """Return the lowering of a scatter to a tile by this form of the library."""

    def lower(context: Context, node: ast.Call, expression: Expression) -> Operand:
        """Lower `tile_scatter_add(t, i, …, value, has_value)` and its kin, which rebind the name t.

        Raises:
            KernelTypeError: there is no local name of a tile, or another number of indices than the tile has.
        """
        tiling_of(context)
        name = ast.unparse(node.func).split(".")[-1]
        target = node.args[0] if node.args else None
        tile = context.env.get(target.id) if isinstance(target, ast.Name) else None
        known = {"value", "has_value", "atomic"}  # `atomic` has no effect: values are added in the order of threads
        named = {k.arg: k.value for k in node.keywords if k.arg in known}
        count = 1 + (tile.type.ndim if is_tile(tile) else 1)
        nodes = [*node.args, *(named[k] for k in ("value", "has_value") if k in named)]
        if not is_tile(tile) or is_thread(tile) or len(nodes) not in (count + 2, count + 3):
            raise context.type_error(
                f"{name}() takes the local name of a tile, an index for each of its dimensions, value and has_value."
            )

        def alone(context: Context, node: ast.expr) -> Operand:
            return elementwise.expression(context, node, expression)

        type: Tile = tile.type  # type: ignore[assignment]
        operands: list[Operand] = [lanes.number_of(context, type, nodes[1:count], alone)]
        operands += [usable(context, alone(context, n)) for n in nodes[count : count + 2]]
        operands[1] = assign_type(context, operands[1], type.dtype, f"An element of {name}()'s tile", tiles=True)
        changed = value_of(library.call(context, form, [reshaped(context, tile, (type.count,)), *operands]))
        context.env[target.id] = reshaped(context, changed, type.shape)  # type: ignore[union-attr]
        return ()

    return lower


FORMS: dict[str, FormHandler] = {
    "tile_scatter_add": _scattering(tile_gathers.scatter_add),
    "tile_scatter_masked": _scattering(tile_gathers.scatter_masked),
}
