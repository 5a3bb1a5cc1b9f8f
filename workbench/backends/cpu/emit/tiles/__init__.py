"""The rest of tiles once loops are written out: products, and tiles transposed or read in memory."""

from workbench.backends.cpu.emit.tiles.matmul import emit_add_product, emit_disjoint, emit_matmul, emit_window
from workbench.backends.cpu.emit.tiles.transpose import emit_transpose

HANDLERS = {
    "slot_matmul": emit_matmul,
    "slot_transpose": emit_transpose,
    "window": emit_window,
    "add_product": emit_add_product,
    "apart": emit_disjoint,
}
