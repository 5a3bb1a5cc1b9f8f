"""Accesses that are known when JAX traces: before a write, out of range, undefined.

**Before a write.** XLA's outputs are undefined until they are written, so the order decides what a kernel may do with
one. It may read an array that the thread itself has written, at the same index, on every path. What another thread
wrote does not count: threads have no order.

**Out of range.** Launches that are certain to reach outside of an array are refused when JAX traces them, where all
shapes are known. Sizes that `jax.export` leaves open are compared by the handler, at the call, which gets the
conditions as attributes.

**Undefined.** With checks on, results hold a marker until they are written; inside `with wb.checks():` what is left of
it is reported. The marker is a NaN of one bit pattern for floats, and for integers a number that no count or index
takes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.backends.faults import describe
from workbench.errors import LaunchError
from workbench.interop.jax.values.arguments import is_symbolic
from workbench.ir.analysis import Analysis
from workbench.ir.ops import READS, STRUCTURED
from workbench.ir.values import Block, Function, Value, definitions, indices_of, written_arrays
from workbench.passes.analysis.offsets import SymbolicSize
from workbench.passes.checks.out_of_range import Accesses, Condition, accesses
from workbench.source import Location
from workbench.types import Kind, Scalar

Element = tuple[str, tuple[Value, ...]]


def check_access(
    function: Function,
    inputs: Collection[str],
    in_out: Collection[str],
    outputs: Collection[str],
    init: Collection[str],
) -> None:
    """Check that a kernel does with its arrays what XLA's buffers allow.

    Args:
        function: the kernel's IR.
        inputs, outputs: names of parameters.
        in_out: inputs that come out.
        init: outputs that have an initial value.

    Raises:
        LaunchError: the kernel writes to an input, or reads what an output held.
    """
    name = function.name
    for parameter in sorted(written_arrays(function) & set(inputs) - set(in_out)):
        raise LaunchError(
            f"{name} writes to {parameter}, which is an input, and JAX's arrays do not change.",
            advice=f'Pass in_out_argnames=["{parameter}"]; it then is a result too and counts in num_outputs.',
            function=name,
            parameter=parameter,
        )
    for parameter in sorted(read_before_written(function) & set(outputs) - set(init)):
        raise LaunchError(
            f"{name} reads or adds to its output {parameter}, which XLA passes uninitialised.",
            advice=f'Pass init={{"{parameter}": "zeros"}} (or a number), or pass it in: '
            f'in_out_argnames=["{parameter}"].',
            function=name,
            parameter=parameter,
        )


def read_before_written(function: Function) -> frozenset[str]:
    """Return the array parameters of which an element may be read, or added to, before this thread has stored it."""
    early: set[str] = set()
    _follow(function.body, frozenset(), Analysis(function).representatives, early)
    return frozenset(early)


def _follow(
    block: Block, written: frozenset[Element], equal: Mapping[Value, Value], early: set[str]
) -> frozenset[Element]:
    """Return the elements that have certainly been written after the block; add arrays read before that to `early`."""
    for op in block.ops:
        if op.name in STRUCTURED or op.name == "tile_map":
            after = [_follow(inner, written, equal, early) for inner in op.blocks]
            # Written for certain only if both sides do it; a loop may have no turn.
            written = frozenset.intersection(*after) if op.name == "if" and after else written
        elif op.name in READS or op.name == "store":
            # Equal expressions of equal operands are one index: `x[i + 1]` read after `x[i + 1]` was stored.
            element = (op.operands[0].name, tuple(equal[v] for v in indices_of(op)))
            if op.name == "store":
                written |= {element}
            elif element not in written:
                early.add(op.operands[0].name)
    return written


Shape = Sequence[Any]


@dataclass(frozen=True)
class BoundsCheck:
    """Represents what decides which elements a launch accesses.

    Attributes:
        name: of the kernel.
        function: its IR.
        dims: of the launch.
        shapes: of its arrays, by parameter, without axes of components.
        scalars: values of number parameters that are known.
        outputs: the arrays whose shapes the call chooses.
        dims_from: what gave the launch its dimensions: a parameter, or "launch_dims", or "dim".
        location: the line that launches; the kernel's own by default.
    """

    name: str
    function: Function
    dims: Shape
    shapes: Mapping[str, Shape]
    scalars: Mapping[str, Any]
    outputs: frozenset[str]
    dims_from: str
    location: Location | None = None

    def check(self) -> tuple[Condition, ...]:
        """Return the conditions on sizes that are known at the call only.

        Raises:
            LaunchError: an access is outside, whatever the data.
        """
        accesses_in = self._accesses(self.dims, self.shapes)
        if accesses_in.outside is not None:
            raise self._refusal(accesses_in)
        return tuple(c for c in accesses_in.conditions if all(array for (array, _), _ in c.terms))

    def _accesses(self, dims: Shape, shapes: Mapping[str, Shape]) -> Accesses:
        """Return the analysis of the accesses of a launch with these dimensions and shapes."""
        sized = {n: tuple(_size(s, n, k) for k, s in enumerate(shape)) for n, shape in shapes.items()}
        known = {s.number: s for shape in sized.values() for s in shape if isinstance(s, SymbolicSize)}
        sizes: list[Any] = [known.get(d, _size(d, "", k)) if is_symbolic(d) else d for k, d in enumerate(dims)]
        return accesses(self.function, sizes, sized, self.scalars)

    def _refusal(self, accesses_in: Accesses) -> LaunchError:
        """Return the error for a launch with an access outside of an array: which thread, and what fits instead."""
        outside = accesses_in.outside
        assert outside is not None
        op, array = outside.op, outside.op.operands[0].name
        thread, values = _shown(outside.thread), _shown(outside.values)
        defs = definitions(self.function.body)
        message = describe(self.function, op, defs, thread, values, self.shapes).message
        threads = " × ".join(map(str, self.dims))
        what = f"{threads} thread{'s' if self.dims != (1,) else ''}"
        source = {"launch_dims": "as launch_dims says", "dim": "as its dim says"}
        why = source.get(self.dims_from, f"the shape of {self.dims_from}")
        return LaunchError(
            f"{array} of {self.name} is too small: {_would(message)} The launch has {what}, {why}.",
            self.location or op.location,
            self._advice(array, accesses_in),
            self.name,
            parameter=array,
        )

    def _advice(self, array: str, accesses_in: Accesses) -> str:
        """Return advice on sizes or dimensions with which the launch would stay inside `array`; each is tried first."""
        shape = tuple(self.shapes[array])
        fit = tuple(max(size, accesses_in.needs.get((array, k), 0)) for k, size in enumerate(shape))
        ways, spread = [], False
        if fit != shape and self._fits(self.dims, {**self.shapes, array: fit}, array):
            ways.append(f'output_dims={{"{array}": {fit}}}' if array in self.outputs else f"{array} the shape {fit}")
            spread = array not in self.outputs and all(a in (b, 1) for a, b in zip(shape, fit, strict=True))
        fewer = tuple(map(min, self.dims, shape)) if len(shape) == len(self.dims) else ()
        if fewer and all(fewer) and self._fits(fewer, self.shapes, array):
            ways.append(f"{'dim' if self.dims_from == 'dim' else 'launch_dims'}={fewer}")
        if not ways:
            return "Launch fewer threads, or test the index in the kernel."
        more = f" Kernels do not broadcast: jnp.broadcast_to({array}, {fit}) does." if spread else ""
        return f"Give {' or '.join(ways)}.{more}"

    def _fits(self, dims: Shape, shapes: Mapping[str, Shape], array: str) -> bool:
        """Return whether a launch with these sizes is not reported to leave `array`, as its first access outside."""
        outside = self._accesses(dims, shapes).outside
        return outside is None or outside.op.operands[0].name != array


def _would(message: str) -> str:
    """Return a fault's message as one of what would happen."""
    return message.replace(" asked for ", " would ask for ")


def _size(size: Any, array: str, axis: int) -> Any:
    """Return a size as the analysis takes it: one of JAX's symbols with the axis that it is of."""
    return SymbolicSize.of(size, array, axis) if is_symbolic(size) else size


def _shown(scalars: Sequence[Any]) -> tuple[Any, ...]:
    """Return the numbers, with integers for those that depend on symbolic sizes."""
    return tuple(n.number if isinstance(n, SymbolicSize) else n for n in scalars)


# By size in bytes: NaNs with a payload that no arithmetic makes; for integers the bytes 0xA5.
_FLOATS = {2: 0x7FD5, 4: 0x7FD5A5A5, 8: 0x7FFD5A5A5A5A5A5A}


def marker(scalar: Scalar) -> bytes | None:
    """Return the bytes of an element that nothing wrote; None if every pattern is a value (bool)."""
    if scalar.kind is Kind.BOOL:
        return None
    if scalar.kind is Kind.FLOAT:
        return _FLOATS[scalar.size].to_bytes(scalar.size, "little")
    return b"\xa5" * scalar.size
