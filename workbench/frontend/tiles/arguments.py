"""Arguments of calls on tiles: shapes and options known at compile time, offsets and indices of the whole block.

Such an index is what `tid()` returns in a kernel of tiles: that of a block, or of a thread in it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.state import coerce
from workbench.frontend.state.coerce import apply, nodes_by_name, stored
from workbench.frontend.state.context import Context, NeedsBlocks, Tiling
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.frontend.tiles import elementwise
from workbench.ir.ops import AXIS, LEVEL
from workbench.ir.values import Value
from workbench.tiles import MOST_ELEMENTS, is_shape, is_tile, shown
from workbench.types import Scalar, Vector, as_type, int32, int64, is_integer

# The third storage, "thread", is not for users: it marks the per-thread values that `tid()` and lifted lines make.
WHERE = ("register", "shared")


class Arguments:
    """The arguments of one call of an operation on tiles, by name.

    Attributes:
        name: that of the operation.
        nodes: the arguments as they are written.
        by_name: the arguments as operands; without those that are None.
    """

    def __init__(self, context: Context, node: ast.Call, names: str) -> None:
        """Match the arguments of a call to the parameters, and lower them.

        Args:
            context: of the call.
            node: the call.
            names: the parameters in order, those that may be missing with `?`: `a shape offset? storage?`.

        Raises:
            KernelTypeError: one is missing, given twice, or unknown.
            NeedsBlocks: the kernel was to run once per thread.
        """
        self.context = context
        self.name = ast.unparse(node.func).split(".")[-1]
        # First of all: a kernel that is still lowered as one per thread unwinds here, before anything of the call is
        # computed.
        tiling_of(context)
        self.nodes = coerce.nodes_by_name(context, node, names)
        operands = ((name, elementwise.expression(context, n, coerce.argument)) for name, n in self.nodes.items())
        self.by_name = {n: o for n, o in operands if not (isinstance(o, Static) and o.value is None)}

    def __contains__(self, name: str) -> bool:
        """Return whether the call has the argument of this name, and it is not None."""
        return name in self.by_name

    def tile(self, name: str) -> Value:
        """Return the argument of this name, a tile; a number of the block stands for the tile of one element.

        Raises:
            KernelTypeError: it is something else.
        """
        operand = self.by_name[name]
        if is_tile(operand):
            return operand
        value = coerce.usable(self.context, operand)
        if isinstance(value, Value) and isinstance(value.type, (Scalar, Vector)):
            # Reductions return numbers of the block, and the peer's programs go on with them as with tiles of one
            # element.
            coerce.as_element(self.context, value.type, "A tile")
            return coerce.fill(self.context, (1,), value, "register")
        raise self.error(
            f"takes a tile as {name}; this is {coerce.describe(value)}.", "Make one: tile_load, tile_full."
        )

    def several(self, name: str) -> tuple[Operand, ...]:
        """Return the items of the argument of this name, a tuple; one that is none as the only item."""
        operand = self.by_name[name]
        return operand if isinstance(operand, tuple) else (operand,)

    def integers(self, name: str, default: int) -> list[int]:
        """Return the items of the argument of this name that are integers written out; `default` for each other."""
        return [int(p.value) if isinstance(p, Literal) and not p.is_float else default for p in self.several(name)]

    def shape(self, name: str = "shape") -> tuple[int, ...]:
        """Return the argument of this name, a shape: 1 to 4 sizes known at compile time; an int is one size.

        Raises:
            KernelTypeError: it is something else, or too large.
        """
        parts = self.several(name)
        if not all(isinstance(p, Literal) and not p.is_float for p in parts):
            message = f"takes {name} as whole numbers that are known at compile time."
            raise self.error(message, "Write them out, or use names of the module: TILE = 16.")
        shape = tuple(int(p.value) for p in parts)  # type: ignore[union-attr]
        if not is_shape(shape):
            raise self.error(
                f"got the shape {shown(shape)}; a tile has 1 to 4 dimensions of at least 1 and up to "
                f"{MOST_ELEMENTS} elements."
            )
        return shape

    def number(self, name: str, default: int | None = None) -> int | None:
        """Return the argument of this name, an integer known at compile time; the default if the call has none.

        Raises:
            KernelTypeError: it is something else.
        """
        if name not in self.by_name:
            return default
        operand = self.by_name[name]
        if isinstance(operand, Literal) and not operand.is_float:
            return int(operand.value)
        raise self.error(f"takes {name} as a whole number written out.")

    def dtype(self, default: Scalar | Vector, name: str = "dtype") -> Scalar | Vector:
        """Return the argument of this name, a type that tiles' elements can have; the default if there is none.

        Raises:
            KernelTypeError: it is no type, or one that tiles do not have.
        """
        if name not in self.by_name:
            return default
        operand = self.by_name[name]
        try:
            # An assert for control flow: both ways of not being a type end in the one message below.
            assert isinstance(operand, Static)
            dtype = as_type(operand.value)
        except (AssertionError, TypeError):
            raise self.error(f"takes a type as {name}; this is {coerce.describe(operand)}.") from None
        return coerce.as_element(self.context, dtype, "A tile")

    def storage(self) -> str:
        """Return the argument `storage`, the memory that the tile is to lie in: "shared" or "register" (default).

        Raises:
            KernelTypeError: it is something else.
        """
        operand = self.by_name.get("storage")
        value = operand.value if isinstance(operand, Static) else None if operand is None else ""
        if value is None:
            return "register"
        if value not in WHERE:
            raise self.error('takes storage="register" or storage="shared".')
        return str(value)

    def flag(self, name: str, default: bool) -> bool:
        """Return the argument of this name, a True or False that is written out; the default if the call has none.

        Raises:
            KernelTypeError: it is something else.
        """
        if name not in self.nodes:
            return default
        # Read from the syntax: a bool that only the launch knows would choose between two different kernels.
        written = self.nodes[name]
        if isinstance(written, ast.Constant) and isinstance(written.value, bool):
            return written.value
        raise self.error(f"takes {name}=True or {name}=False written out.")

    def word(self, name: str, allowed: Sequence[str], default: str) -> str:
        """Return the argument of this name, one of the `allowed` words; the default if the call has none.

        Raises:
            KernelTypeError: it is something else.
        """
        operand = self.by_name.get(name)
        if operand is None:
            return default
        if isinstance(operand, Static) and operand.value in allowed:
            return str(operand.value)
        raise self.error(f"takes {name} as one of {', '.join(map(repr, allowed))}.")

    def offsets(self, ndim: int, name: str = "offset") -> list[Value]:
        """Return the argument of this name, `ndim` integers that a whole block shares; zeros if there is none.

        Raises:
            KernelTypeError: there are more or fewer, or one is no integer or differs between threads.
        """
        if name not in self.by_name:
            return [self.context.builder.const(0, int32) for _ in range(ndim)]
        parts = self.several(name)
        if len(parts) != ndim:
            raise self.error(f"takes {ndim} number{'s' * (ndim != 1)} as {name}; it got {len(parts)}.")
        return [uniform_index(self.context, p, f"The {name} of {self.name}()") for p in parts]

    def error(self, message: str, advice: str = "") -> Exception:
        """Return a KernelTypeError at the current location whose message begins with the operation's name."""
        return self.context.type_error(f"{self.name}() {message}", advice)


def uniform_index(context: Context, operand: Operand, what: str) -> Value:
    """Return an integer that is the same for the whole block, as int32 or int64.

    Raises:
        KernelTypeError: it is no integer, or a tile; `what` is how the message calls it.
    """
    number = coerce.usable(context, coerce.uniform(context, operand, what))
    if isinstance(number, Literal):
        if number.is_float:
            raise context.type_error(f"{what} has to be an integer; this is a float.", "Write int(…).")
        return coerce.materialise(context, number)
    if not is_integer(number.type):
        raise context.type_error(f"{what} has to be an integer; this is {coerce.describe(number)}.", "Write int(…).")
    # Offsets are added to sizes, which may need 64 bits; narrower and unsigned types would wrap on the way.
    return number if number.type in (int32, int64) else context.builder.cast(number, int64)


def tiling_of(context: Context) -> Tiling:
    """Return the kernel's tiling.

    Raises:
        NeedsBlocks: it was to run once per thread.
        KernelTypeError: this is a line of per-thread values or a mapped func.
    """
    tiling = context.shared.tiling
    if tiling is None:
        # Not an error: the caller lowers the kernel again, now as code of a block.
        raise NeedsBlocks
    if context.shared.lifted:
        message = "An operation on tiles cannot stand in a line of per-thread values, nor in a mapped func."
        raise context.type_error(message, "Compute the per-thread value on a line of its own, then wb.tile(value).")
    return tiling


def indices(context: Context, count: int) -> tuple[Value, ...]:
    """Lower `tid()` asked for so many indices: those of the block, and the thread in it where there is one more.

    Raises:
        KernelTypeError: the launch has other dimensions.
    """
    tiling = context.shared.tiling
    assert tiling is not None
    if context.shared.lifted:
        raise context.type_error("A mapped func has no tid().", "Pass the index: tile_map(f, t, index).")
    # Launched over threads: `dim` counts threads, numbered block · block_dim + lane.
    if tiling.flat:
        ndim = len(tiling.threads) or 1
        if count != ndim:
            message = f"Launched over threads of {ndim} dimension{'s' * (ndim > 1)}, tid() gives as many indices"
            advice = "Give dim as many sizes, or count blocks: wb.launch_tiled(kernel, dim=[…], …)."
            raise context.type_error(f"{message}; this asks for {count}.", advice)
        context.shared.launch_ndim = 1
        return _of_threads(context, tiling.block_dim, tiling.threads)
    # Without a launch (`%inspect`, a cell's check) nothing says how many dimensions there are: all are taken to be
    # blocks'.
    ndim = count if tiling.ndim is None else tiling.ndim
    if count not in (ndim, ndim + 1):
        raise context.type_error(
            f"tid() gives {ndim} block indices in a launch of {ndim} dimensions, and the thread's "
            f"place in its block as one more; this asks for {count}.",
            "Give dim as many sizes as there are indices.",
        )
    context.shared.launch_ndim = ndim
    blocks = tuple(_block(context, axis) for axis in range(ndim))
    return blocks if count == ndim else (*blocks, lane(context, tiling.block_dim))


def _block(context: Context, axis: int) -> Value:
    """Emit the index of the block along an axis of the launch, an int32."""
    return context.builder.one("tid", (), int32, {AXIS: axis, LEVEL: "block"})


def lane(context: Context, block_dim: int) -> Value:
    """Return the thread's index in its block, a per-thread value; in a block of one thread the number 0."""
    if block_dim == 1:
        return context.builder.const(0, int32)
    (lanes,) = context.builder.tile_map((block_dim,), (), lambda at, elements: [at[0]])
    # So `x[lane]` has no test for an index from the end.
    context.shared.non_negative.add(lanes)
    return stored(lanes, "thread")


def _of_threads(context: Context, block_dim: int, sizes: tuple[int, ...]) -> tuple[Value, ...]:
    """Emit the indices of a thread in a launch over threads of these sizes (none: one dimension).

    Where the last dimensions hold whole blocks, those before them have one index for the whole block: with
    `dim=(rows, block_dim)`, `row, lane = tid()` gives a row that may choose what a tile is loaded from.
    """
    if block_dim == 1:
        return _unravelled(context, _block(context, 0), sizes[1:])
    shared = max((k for k in range(1, len(sizes)) if prod(sizes[k:]) % block_dim == 0), default=0)
    block: Value | Literal = _block(context, 0)
    before: tuple[Value, ...] = ()
    if shared:
        count = Literal(prod(sizes[shared:]) // block_dim)
        slab = block if count.value == 1 else apply(context, TABLE["floordiv"], (block, count))
        before = _unravelled(context, slab, sizes[1:shared])
        block = Literal(0) if count.value == 1 else apply(context, TABLE["mod"], (block, count))
    if isinstance(block, Literal):
        return *before, *_unravelled(context, lane(context, block_dim), sizes[shared + 1 :])
    first = apply(context, TABLE["mul"], (block, Literal(block_dim)))
    (numbers,) = context.builder.tile_map(
        (block_dim,), (), lambda at, elements: [apply(context, TABLE["add"], (first, at[0]))]
    )
    context.shared.non_negative.add(numbers)
    return *before, *_unravelled(context, stored(numbers, "thread"), sizes[shared + 1 :])


def _unravelled(context: Context, number: Value, sizes: tuple[int, ...]) -> tuple[Value, ...]:
    """Return the indices of a thread by its number, in a launch whose dimensions after the first have these sizes."""
    indices: list[Value] = []
    for size in reversed(sizes):
        indices.insert(0, apply(context, TABLE["mod"], (number, Literal(size))))
        number = apply(context, TABLE["floordiv"], (number, Literal(size)))
    indices.insert(0, number)
    context.shared.non_negative.update(indices)
    return tuple(indices)


def _block_dim(context: Context, node: ast.Call) -> Operand:
    """Lower `block_dim()` to the number of threads in a block, a literal.

    Raises:
        KernelTypeError: it has arguments.
    """
    nodes_by_name(context, node, "")
    tiling = context.shared.tiling
    return Literal((tiling or tiling_of(context)).block_dim)


FORMS = {"block_dim": _block_dim}
