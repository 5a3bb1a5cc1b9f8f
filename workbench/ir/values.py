"""The IR on one page.

    function = name, params, body, launch_ndim, captured        a kernel, or its adjoint
    block    = params, ops                                      the last op of a nested block is a `yield`
    op       = name, operands, results, attrs, blocks, location
    value    = type, name                                       equal only to itself; the name is for readers

Core operations (every other operation is the name of an elementwise builtin, see `workbench.builtins`):

    const          () -> scalar or vector          attrs: value; captured, the constant's name in user code, if any
    tid            () -> int32                     attrs: axis; level "block" where it is a block's index
    shape          (array) -> int32                attrs: axis
    load           (array, *indices) -> element
    store          (array, *indices, element) -> ()
    atomic_add     (array, *indices, element) -> element        the old value
    atomic         (array, *indices, *elements) -> element       attrs: kind (see ATOMIC_KINDS); the old value
        attrs of both, a hint for a backend: reduction, one element for all threads (see passes/memory/atomics.py)
    atomic_load    (array, *indices) -> element    what stands there, which other threads change by `atomic_swap`
    atomic_swap    (array, *indices, old, new) -> bool          put `new` where `old` still stands, bit by bit;
                   whether another thread has changed it, so that nothing was put there
        `store` and those beginning in atomic_ may have one index more than the array has dimensions: the number of a
        component, row by row, which is what they then mean (see passes/memory/elements.py)
    owned          (array) -> bool                 whether no other thread has access to the elements that this one
                   has access to; only as the condition of an `if` that `passes/memory/atomics.py` decides
    reduce_add     (array, element) -> ()          add to element 0, summed over the threads of the launch
    cast           (scalar or vector) -> same shape, other scalar type
    vec            (*scalars) -> vector            a matrix or quaternion too: its components, row by row
    extract        (vector, index) -> scalar
    insert         (vector, index, scalar) -> vector
    slots          () -> slots                     storage of the thread's own; undefined until written
    slot_read      (slots, index) -> element
    slot_write     (slots, index, element) -> ()
    unavailable    () -> any                       attrs: reason; only inside autodiff: a value the adjoint cannot have
    assert         (condition) -> ()               attrs: message; reports where the condition does not hold
    fault          (*up to 4 numbers) -> ()        attrs: number; writes the record (passes/checks/bounds_checks.py)
    print          (*scalars and vectors) -> ()    attrs: parts, in order: text, or (conversion,) in the place of an
                                                   operand, where "" is as Python shows it and others are printf's
    mark           (*values) -> the same values    attrs: frames, end; what names are here, only for stepping
    launch_dim     () -> int64                     attrs: axis; the launch's extent
    yield          (*values) -> ()                 ends a nested block
    if             (condition) -> *results         blocks: then, else; both yield the results
        attrs, hints for a backend: interior, at the end of a body (see passes/loops/peeling.py); cold, the second
        block is seldom run; scalar, threads go through it one by one (see passes/memory/atomics.py)
    for            (start, stop, step, *init) -> *results       block: (index, *carried) yields the next carried
        attrs, hints for a backend: cold, seldom run; plain, the index stays far from its type's ends; unroll; scalar,
        as of an `if`
    while          (*init) -> *results             blocks: (*carried) yields the condition; (*carried) yields the next
    custom         (*inputs) -> *results           a func whose gradient or replay a user wrote. block: its body
        attrs: name; gradient and replay, closed blocks or None; adjoints, the positions of inputs
        gradient: (*inputs, *adjoints of the results, *adjoint arrays of the inputs that are float arrays) yields an
        adjoint for each input in `adjoints`; replay: (*inputs) yields the results
        with CUDA text also: cuda, adj_cuda, replay_cuda, the texts; inputs and outputs, the names of operands and
        results in them; reference, whether the block means anything (see `frontend/functions/derivatives.py`); derive,
        the body as a closed block if there is an adj_cuda: its derivative is what that text is elsewhere

Operations on tiles are in `workbench.ir.tiles`; what passes may take for granted of each operation is in the table
`workbench.ir.ops`. These are not legal IR: they live inside one pass or one backend.

    native         (*inputs) -> *results           a `custom` with CUDA text, for CUDA; attrs as there
    cuda_text      (*inputs) -> ()                 the whole of a CUDA C++ kernel, whose function has only parameters
    call           (*values) -> *results           attrs: func, a closed block without effects that `fold` writes out
                                                   (see `frontend/functions/inline.py`)
    later          (*values) -> *results           attrs: stands_for; a branch or loop that the adjoint may not need
                                                   (see `autodiff/reverse/recompute.py`)
    slot_matmul    (slots, slots, slots) -> ()     total += a·b on the CPU. attrs: shape, transpose_a, accumulate
    slot_transpose (slots, slots[, rows, columns]) -> ()  the second, of rows × columns, turned over; of its first ones
                                                   if these are given, multiples of 8. attrs: shape, its own
    window         (array, *place, slots, condition) -> slots  on the CPU: the tile at a place of an array if the
                                                   condition holds, else the slots; `slot_matmul` reads one,
                                                   `slot_transpose` reads and writes one. attrs: axes, as of `tile_load`
    row_load       (array, *place, slots, count) -> ()  reads elements from a place on along a thread's own row into
                                                   slots, on the CPU (see `passes/loops/row_strips.py`)
    row_store      (array, *place, slots, count) -> ()  writes them
    row_add        (array, *place, slots, count) -> ()  adds to them, plainly
    slot_total     (slots, index, element) -> ()   writes sums over threads of a gang, of which `row_total` adds up the
                                                   rest: as many as a vector has lanes
    row_total      (array, *place, slots, count) -> ()  adds what all threads of a gang have to them
    add_product    (array, *place, slots, condition, slots, slots) -> ()  `slot_matmul` that adds to such a window,
                                                   plainly
    apart          (array, array) -> bool          whether two arrays share no memory; of one twice, no two elements
    unit_stride    (array) -> bool                 whether neighbours along an axis are adjacent. attrs: axis
    row_length     (threads, *turns) -> ()         of a flattened launch, on the CPU (see `passes/loops/dimensions.py`)
                                                   or of threads that are so many each (`passes/loops/dimensions.py`)
    row_first      () -> int32                     the index in such a launch of the first thread of a row
    floor_quotient (a, b) -> integer               a // b on the CPU, where b is the same in all threads
    lead           (value) -> value                what a gang's first thread has, or any number
    quotient_is    (a, quotient, b) -> bool        whether a // b is surely that in all of a gang's threads
    tile_copy      (tile) -> tile                  the same elements in shared memory
    same           (value) -> value                of which all threads have the same
    combine        (array, *place) -> ()           what all threads' accumulators come to, in an element.
                                                   attrs: accumulator, kind (see `backends/cuda/cpp/atomics.py`)
    lane           () -> int32                     the thread's number in its block. attrs: count, how many it has
    quotient       (a, b) -> integer               a // b and a % b of integers that are not negative
    remainder      (a, b) -> integer
    shared         () -> slots                     memory of the block. attrs: offset
    touch          () -> ()                        attrs: uses, from which `barrier`s follow
    barrier        () -> ()                        attrs: wait, whether copies are under way; count, groups of them
                                                   that may stay so
    commit         () -> ()                        ends a group of copies
    add_pair       (array, *indices, first, second, low, high) -> ()  adds to two neighbours of 16 bits, each where
                                                   its bool says so
    shuffle        (value) -> value                another thread's. attrs: kind, step, threads
    product        (slots, slots, offset, slots, offset) -> ()  result and operands of a `tile_matmul`. attrs: product
    copy_in        (slots, offset, array, *offsets) -> ()  a `tile_load` that ends at a `barrier`. attrs: also
                                                   threads, and step, elements from a row of the slots to the next

Indices are integers of any width; they are already non-negative (the front end wraps what may be negative with the
builtin `wrap_index`). `for` counts like Python's range, step of either sign, index of the type of start. Kernels have
effects, in order: those in `ops.EFFECTS` are the only operations with an effect (they are given the array first, the
value last); those in `ops.READS` read what an effect may change. `slot_write` changes its slots alone. `assert`,
`fault` and `print` only report; backends drop `assert` where checks are off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import msgspec
import numpy as np

from workbench.ir.ops import ADJ_CUDA, EFFECTS, READS, REFERENCE, VALUE, Attribute, Attributes, Number, attributes
from workbench.source import UNKNOWN, Location, Source
from workbench.types import Aggregate, ArrayType, Scalar, Slots, Type, Vector

NumPyValue: TypeAlias = np.generic | np.ndarray[Any, np.dtype[Any]]
"""A NumPy scalar, or a vector as an array of its NumPy shape, of the exact dtype."""

# What `atomic` does to an element, and how many elements it is given: `cas` the expected one and the new one.
ATOMIC_KINDS = {"min": 1, "max": 1, "and": 1, "or": 1, "xor": 1, "exch": 1, "cas": 2}


class Value(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A result of an operation or a parameter; compared by identity, since its name is for readers.

    It is in no circle of references, so the garbage collector need not look at it.
    """

    type: Type
    name: str = ""


def array_of(value: Value) -> ArrayType:
    """Return the type of a value that is an array."""
    assert isinstance(value.type, ArrayType)
    return value.type


def scalar_of(value: Value) -> Scalar:
    """Return the type of a value that is a scalar."""
    assert isinstance(value.type, Scalar)
    return value.type


def scalar_or_vector_of(value: Value) -> Scalar | Vector:
    """Return the type of a value that is a scalar or a vector."""
    assert isinstance(value.type, (Scalar, Vector))
    return value.type


def slots_of(value: Value) -> Slots:
    """Return the type of a value that is slots."""
    assert isinstance(value.type, Slots)
    return value.type


def vector_of(value: Value) -> Vector:
    """Return the type of a value that is a vector."""
    assert isinstance(value.type, Vector)
    return value.type


def dtype_of(value: Value) -> Scalar | Vector:
    """Return the type of the elements of an array, of slots or of a tile."""
    assert isinstance(value.type, (ArrayType, Aggregate))
    return value.type.dtype


class Op(msgspec.Struct, frozen=True, eq=False):
    """An operation with its operands, results, attributes and blocks, at a location of the user's text."""

    name: str
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    attrs: Attributes = msgspec.field(default_factory=lambda: attributes({}))
    blocks: tuple[Block, ...] = ()
    location: Location = UNKNOWN

    @property
    def result(self) -> Value:
        """The only result; an error if there is none or several."""
        (value,) = self.results
        return value

    def replace(
        self,
        operands: tuple[Value, ...] | None = None,
        *,
        results: tuple[Value, ...] | None = None,
        attrs: Attributes | Mapping[str, object] | None = None,
        blocks: tuple[Block, ...] | None = None,
    ) -> Op:
        """Return the operation with other operands, results, attributes or blocks: those that are passed.

        Its name and location stay.
        """
        return Op(
            self.name,
            self.operands if operands is None else operands,
            self.results if results is None else results,
            self.attrs if attrs is None else attributes(attrs),
            self.blocks if blocks is None else blocks,
            self.location,
        )


class Block(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A sequence of operations with parameters; a nested block ends in `yield`, a function's body does not."""

    params: tuple[Value, ...] = ()
    ops: tuple[Op, ...] = ()

    @property
    def yielded(self) -> tuple[Value, ...]:
        """The operands of the block's final `yield`; empty if it ends in none."""
        return self.ops[-1].operands if self.ops and self.ops[-1].name == "yield" else ()

    @cached_property
    def every_op(self) -> tuple[Op, ...]:
        """The operations of the block and of the blocks inside, outer before inner, in order; computed once."""
        ops = list[Op]()
        open_blocks = [iter(self.ops)]
        while open_blocks:
            for op in open_blocks[-1]:
                ops.append(op)
                if op.blocks:
                    open_blocks += [iter(inner.ops) for inner in reversed(op.blocks)]
                    break
            else:
                open_blocks.pop()
        return tuple(ops)

    @cached_property
    def op_names(self) -> frozenset[str]:
        """The names of the operations of the block and of the blocks inside; computed once."""
        return frozenset([op.name for op in self.every_op])

    @cached_property
    def definitions(self) -> dict[Value, Op]:
        """The operation that defines each result in the block and the blocks inside; not to be changed."""
        return {value: op for op in self.every_op for value in op.results}


GRADIENT = Attribute("gradient", Block)
REPLAY = Attribute("replay", Block)
DERIVE = Attribute("derive", Block)
FUNC = Attribute("func", Block)


class Captured(msgspec.Struct, frozen=True):
    """A constant of the user's namespace that a kernel uses: its name there, its type, its value."""

    name: str
    type: Scalar | Vector
    value: NumPyValue | Number | tuple[Number, ...]


class Function(msgspec.Struct, frozen=True, eq=False):
    """A kernel or a derivative: what a backend compiles.

    Attributes:
        name: the kernel's name; an adjoint's ends in `_adjoint`.
        params: one value per parameter, named.
        body: operations in order.
        launch_ndim: how many dimensions `tid()` asks for; 0 if the kernel never calls it.
        captured: constants taken from the user's namespace, in order of first use; `const` ops refer to them by name.
        source: the text it came from.
        block_dim: threads of a block, if the kernel runs once per block (design/tiles.md): launches count blocks; 0: it
            runs once per thread.
        axes: which dimension of the launch each axis is, where a backend has changed their order; empty: its own.
        transposed: a backend has put the indices and sizes of every array in reverse.
    """

    name: str
    params: tuple[Value, ...]
    body: Block
    launch_ndim: int = 0
    captured: tuple[Captured, ...] = ()
    source: Source = UNKNOWN.source
    block_dim: int = 0
    axes: tuple[int, ...] = ()
    transposed: bool = False


def walk(block: Block) -> Sequence[Op]:
    """Return the operations of a block and of the blocks inside, outer before inner, in order."""
    return block.every_op


def definitions(*blocks: Block) -> dict[Value, Op]:
    """Return the operation that defines each result in these blocks and the blocks inside; not to be changed."""
    if len(blocks) == 1:
        return blocks[0].definitions
    return {value: op for block in blocks for value, op in block.definitions.items()}


def carried_params(op: Op) -> Sequence[Value]:
    """Return the parameters of a loop's body that it carries from iteration to iteration; not the index of a `for`."""
    return op.blocks[-1].params[1 if op.name == "for" else 0 :]


VALUES = {"store": 1, "atomic_add": 1, "atomic_load": 0, "atomic_swap": 2}
"""By access to an element or a component, how many values it has as operands."""


def indices_of(op: Op) -> tuple[Value, ...]:
    """Return the indices of an access to an array: of the element, or where a tile begins; empty for `reduce_add`."""
    return () if op.name == "reduce_add" else op.operands[1 : 1 + array_of(op.operands[0]).ndim]


def component_of(op: Op) -> Value | None:
    """Return the number of the component that an access to an element is confined to.

    It is None if the access is to the whole element, or is one that cannot be confined.
    """
    values = VALUES.get(op.name)
    if values is None or len(op.operands) == 1 + array_of(op.operands[0]).ndim + values:
        return None
    return op.operands[-1 - values]


def number_of(const: Op) -> Number:
    """Return the value of a `const` that is a scalar."""
    number = const.attrs[VALUE]
    assert not isinstance(number, tuple)
    return number


def closed_blocks(op: Op) -> tuple[Block, ...]:
    """Return the blocks among a `custom`'s attributes; empty for other operations.

    They use no values from outside, and `walk` does not enter them.
    """
    if op.name != "custom":
        return ()
    return tuple(b for b in map(op.attrs.get, (GRADIENT, REPLAY, DERIVE)) if b is not None)


def is_opaque(op: Op) -> bool:
    """Return whether a `custom`'s gradient is not that of its block.

    That is so if the user wrote a gradient, or if CUDA text is all that the func has.
    """
    return bool(op.attrs.get(GRADIENT) or op.attrs.get(ADJ_CUDA) or not op.attrs.get(REFERENCE, True))


def number_ops(function: Function) -> dict[Op, int]:
    """Return each operation's number in `walk` order, from 1, which artifacts contain in place of lines."""
    return {op: n for n, op in enumerate(walk(function.body), 1)}


def read_arrays(function: Function) -> frozenset[str]:
    """Return names of the array parameters whose elements are read, by loads or by what adds to them."""
    return _arrays(function, READS)


def written_arrays(function: Function) -> frozenset[str]:
    """Return names of the array parameters whose elements may change."""
    return _arrays(function, EFFECTS)


def _arrays(function: Function, names: frozenset[str]) -> frozenset[str]:
    """Return the name of the first operand, an array parameter, of every operation that has one of these names."""
    return frozenset(op.operands[0].name for op in walk(function.body) if op.name in names)
