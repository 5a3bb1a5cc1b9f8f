"""Every operation of the IR, and the attributes that operations have, in one table each.

**Operations**: what each takes, what it returns, what it does to memory, who makes it. Passes ask this table, or the
sets below that are derived from it, instead of listing names of their own. What the operations mean is explained in
`workbench.ir.values` (those of one thread, and those that only lowering makes) and in `workbench.ir.tiles`;
`tests/ir/test_ops.py` compares the pages with the table and both with the code. A name that is not in the table is an
elementwise builtin (`workbench.builtins.TABLE`): pure, with one result and no blocks.

To add an operation: a row here, a line on its page, a rule in `ir.verify` or `ir.tiles` if it is legal IR, and an
emitter in each backend.

**Attributes** are each declared once, with the type of its values.

    op.attrs[SHAPE]         its value; a type checker knows that it is a tuple of ints
    op.attrs.get(UNROLL)    of one that may be missing or None ("?" in the table of operations): its value, or None
    {SHAPE: (4, 4)}         what `Builder.emit` takes
    SHAPE.of((4, 4))        the same with the value's type checked ahead, if an operation has one attribute

The table says which operation has which attributes, and `ir.verify` compares operations with both. What they mean is
explained with the operations, in `ir.values` and `ir.tiles`.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from enum import Enum, auto
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast, get_args, get_origin, overload

import msgspec

from workbench.source import Location


class Dialect(Enum):
    """The stages at which an operation is legal; all but `LOWERED` are legal IR, for which `ir.verify` has a rule."""

    CORE = auto()
    """Executed by each thread."""
    CHECK = auto()
    """Executed by each thread, but only passes emit it: a kernel that was just read has none."""
    TILE = auto()
    """Executed by a block of threads together."""
    LOWERED = auto()
    """Used inside one backend or one pass."""


class Memory(Enum):
    """The memory that an operation reads or writes."""

    NONE = auto()
    ARRAY = auto()
    """Elements of the array that is its first operand."""
    ARRAYS = auto()
    """Any array among its operands: what it does was written by the user."""
    SLOTS = auto()
    """The slots that are its first operand."""


class Operation(msgspec.Struct, frozen=True):
    """An operation of the IR, as a row of the table.

    Attributes:
        dialect: the stage at which it is legal.
        name: as in `Op.name`.
        operands, results: as the pages write them: "array, *indices"; "" if there are none.
        attrs: names of attributes, as declared in `ir.attributes`; one with a "?" may be missing or None.
        blocks: names of its blocks, an optional one with a "?".
        reads, writes: the memory that it reads and writes. With `writes` ARRAY, the array is the first operand, and the
            value the last one.
        reports: it reports something to the host, and changes nothing else.
        together: threads of a block synchronise in it; nothing moves past it.
        control: "branch" or "loop" if values decide which of its blocks run, else "".
        pure: equal operands and attributes give equal results, so two of them may be shared.
        cheap: no more than one instruction, which cannot fault on legal operands.
        view: the result is the operand's elements in other positions: no element is computed.
    """

    dialect: Dialect
    name: str
    operands: str = ""
    results: str = ""
    attrs: str = ""
    blocks: str = ""
    reads: Memory = Memory.NONE
    writes: Memory = Memory.NONE
    reports: bool = False
    together: bool = False
    control: str = ""
    pure: bool = False
    cheap: bool = False
    view: bool = False

    @property
    def form(self) -> str:
        """The operands and results as on the page, after the name: "(array, *indices) -> element"."""
        return f"({self.operands}) -> {self.results or '()'}"


_ARRAY, _ARRAYS, _SLOTS = Memory.ARRAY, Memory.ARRAYS, Memory.SLOTS
_CORE, _CHECK, _TILE, _LOWERED = Dialect
_CUSTOM = (
    "name gradient? replay? adjoints cuda? adj_cuda? replay_cuda? cuda_place? adj_cuda_place? replay_cuda_place? "
    "inputs? outputs? reference? derive?"
)

_ROWS = (
    Operation(_CORE, "const", "", "scalar or vector", "value captured?", pure=True, cheap=True),
    Operation(_CORE, "tid", "", "int32", "axis level?", pure=True),
    Operation(_CORE, "shape", "array", "int32", "axis", pure=True, cheap=True),
    Operation(_CORE, "load", "array, *indices", "element", reads=_ARRAY),
    Operation(_CORE, "store", "array, *indices, element", writes=_ARRAY),
    Operation(_CORE, "atomic_add", "array, *indices, element", "element", "reduction? accumulator?", reads=_ARRAY,
              writes=_ARRAY),
    Operation(_CORE, "atomic", "array, *indices, *elements", "element", "kind reduction? accumulator?", reads=_ARRAY,
              writes=_ARRAY),
    Operation(_CORE, "atomic_load", "array, *indices", "element", reads=_ARRAY),
    Operation(_CORE, "atomic_swap", "array, *indices, old, new", "bool", reads=_ARRAY, writes=_ARRAY),
    Operation(_CORE, "owned", "array", "bool", pure=True),
    Operation(_CORE, "reduce_add", "array, element", attrs="accumulator?", reads=_ARRAY, writes=_ARRAY),
    Operation(_CORE, "cast", "scalar or vector", "same shape, other scalar type", pure=True, cheap=True),
    Operation(_CORE, "vec", "*scalars", "vector", pure=True),
    Operation(_CORE, "extract", "vector, index", "scalar", pure=True, cheap=True),
    Operation(_CORE, "insert", "vector, index, scalar", "vector", pure=True),
    Operation(_CORE, "slots", "", "slots"),
    Operation(_CORE, "slot_read", "slots, index", "element", reads=_SLOTS),
    Operation(_CORE, "slot_write", "slots, index, element", writes=_SLOTS),
    Operation(_CORE, "unavailable", "", "any", "reason"),
    Operation(_CORE, "assert", "condition", attrs="message", reports=True),
    Operation(_CORE, "print", "*scalars and vectors", attrs="parts number?", reports=True),
    Operation(_CORE, "mark", "*values", "the same values", "frames end", reports=True),
    Operation(_CORE, "yield", "*values"),
    Operation(_CORE, "if", "condition", "*results", "interior? versions? cold? scalar?", "then, else",
              control="branch"),
    Operation(_CORE, "for", "start, stop, step, *init", "*results", "cold? plain? unroll? scalar? independent?", "body",
              control="loop"),
    Operation(_CORE, "while", "*init", "*results", "", "condition, body", control="loop"),
    Operation(_CORE, "custom", "*inputs", "*results", _CUSTOM, "body", reads=_ARRAYS, writes=_ARRAYS),
    Operation(_CHECK, "fault", "*up to 4 numbers", attrs="number", reports=True),
    Operation(_CHECK, "launch_dim", "", "int64", "axis", pure=True),
    Operation(_TILE, "tile_map", "*tiles of one shape", "*tiles", "shape", "element"),
    Operation(_TILE, "tile_load", "array, *offsets", "tile", "shape bounds axes", reads=_ARRAY),
    Operation(_TILE, "tile_store", "array, *offsets, tile", "", "bounds axes", writes=_ARRAY),
    Operation(_TILE, "tile_atomic_add", "array, *offsets, tile", "tile", "bounds axes", reads=_ARRAY, writes=_ARRAY),
    Operation(_TILE, "tile_extract", "tile, *indices", "element", pure=True),
    Operation(_TILE, "tile_insert", "tile, *indices, element", "tile", pure=True),
    Operation(_TILE, "tile_slice", "tile, *offsets", "tile", "shape", pure=True, view=True),
    Operation(_TILE, "tile_place", "tile, *offsets, tile", "tile", pure=True),
    Operation(_TILE, "tile_transpose", "tile", "tile", "axes", pure=True, view=True),
    Operation(_TILE, "tile_reshape", "tile", "tile", "shape", pure=True, view=True),
    Operation(_TILE, "tile_broadcast", "tile", "tile", "shape", pure=True, view=True),
    Operation(_TILE, "tile_reduce", "tile", "element or tile", "kind axis?", "combination?", pure=True),
    Operation(_TILE, "tile_scan", "tile", "tile", "kind exclusive", pure=True),
    Operation(_TILE, "tile_matmul", "a, b[, acc]", "tile", "transpose_a transpose_b role precision? linked?",
              pure=True),
    Operation(_LOWERED, "native", "*inputs", "*results", _CUSTOM, reads=_ARRAYS, writes=_ARRAYS),
    Operation(_LOWERED, "cuda_text", "*inputs", reads=_ARRAYS, writes=_ARRAYS),
    Operation(_LOWERED, "call", "*values", "*results", "func", pure=True),
    Operation(_LOWERED, "later", "*values", "*results", "stands_for"),
    Operation(_LOWERED, "slot_matmul", "slots, slots, slots", "", "shape transpose_a accumulate", reads=_SLOTS,
              writes=_SLOTS),
    Operation(_LOWERED, "slot_transpose", "slots, slots[, rows, columns]", "", "shape", reads=_SLOTS, writes=_SLOTS),
    Operation(_LOWERED, "row_load", "array, *place, slots, count", "", "step", reads=_ARRAY),
    Operation(_LOWERED, "row_store", "array, *place, slots, count", "", "step", writes=_ARRAY),
    Operation(_LOWERED, "row_add", "array, *place, slots, count", "", "step", reads=_ARRAY, writes=_ARRAY),
    Operation(_LOWERED, "slot_total", "slots, index, element", writes=_SLOTS),
    Operation(_LOWERED, "row_total", "array, *place, slots, count", "", "step", reads=_ARRAY, writes=_ARRAY),
    Operation(_LOWERED, "window", "array, *place, slots, condition", "slots", "axes"),
    Operation(_LOWERED, "add_product", "array, *place, slots, condition, slots, slots", "",
              "shape transpose_a axes", reads=_ARRAY, writes=_ARRAY),
    Operation(_LOWERED, "apart", "array, array", "bool", pure=True),
    Operation(_LOWERED, "unit_stride", "array", "bool", "axis", pure=True),
    Operation(_LOWERED, "row_length", "threads, *turns"),
    Operation(_LOWERED, "row_first", "", "int32", pure=True),
    Operation(_LOWERED, "floor_quotient", "a, b", "integer", pure=True),
    Operation(_LOWERED, "lead", "value", "value"),
    Operation(_LOWERED, "quotient_is", "a, quotient, b", "bool"),
    Operation(_LOWERED, "tile_copy", "tile", "tile"),
    Operation(_LOWERED, "same", "value", "value"),
    Operation(_LOWERED, "combine", "array, *place", "", "accumulator kind", reads=_ARRAY, writes=_ARRAY, together=True),
    Operation(_LOWERED, "lane", "", "int32", "count", pure=True, cheap=True),
    Operation(_LOWERED, "quotient", "a, b", "integer", pure=True),
    Operation(_LOWERED, "remainder", "a, b", "integer", pure=True),
    Operation(_LOWERED, "shared", "", "slots", "offset"),
    Operation(_LOWERED, "touch", attrs="uses", together=True),
    Operation(_LOWERED, "barrier", attrs="wait count?", together=True),
    Operation(_LOWERED, "commit", together=True),
    Operation(_LOWERED, "add_pair", "array, *indices, first, second, low, high", reads=_ARRAY, writes=_ARRAY),
    Operation(_LOWERED, "shuffle", "value", "value", "kind step threads"),
    Operation(_LOWERED, "product", "slots, slots, offset, slots, offset", "", "product", reads=_SLOTS, writes=_SLOTS,
              together=True),
    Operation(_LOWERED, "copy_in", "slots, offset, array, *offsets", "", "shape bounds axes step threads",
              reads=_ARRAYS, writes=_SLOTS, together=True),
)  # fmt: skip

OPERATIONS: dict[str, Operation] = {row.name: row for row in _ROWS}


def _names(chosen: Callable[[Operation], object]) -> frozenset[str]:
    """Return the names of the operations for whose rows of the table `chosen` is true."""
    return frozenset(row.name for row in _ROWS if chosen(row))


LEGAL = _names(lambda row: row.dialect is not Dialect.LOWERED)
"""The operations that `ir.verify` has a rule for."""
FROM_PASSES = _names(lambda row: row.dialect is Dialect.CHECK)
TILED = _names(lambda row: row.dialect is Dialect.TILE)

READS = _names(lambda row: row.reads is Memory.ARRAY)
"""Operations that read elements of their first operand; what adds to an element reads it."""
EFFECTS = _names(lambda row: row.writes is Memory.ARRAY)
"""Operations that change elements of their first operand."""
LOADS = READS - EFFECTS
UPDATES = READS & EFFECTS
"""Operations that change elements by what they contain: the order of two threads may matter."""
ADDITIONS = UPDATES - {"atomic", "atomic_swap", "combine"}
"""Additions, whose order matters only to users of the old value, and to rounding."""
ACCESSES = READS | EFFECTS
ELEMENTS = _names(lambda row: row.operands.startswith("array, *indices"))
"""Accesses to one element of an array, at indices."""
REGIONS = _names(lambda row: row.operands.startswith("array, *offsets"))
"""Accesses to a part of an array, as a tile."""
ROWS = ("row_load", "row_store", "row_add", "row_total")
"""Accesses to a strip of a row of the thread's own (`passes/loops/row_strips.py`)."""
TILE_PARTS = _names(lambda row: row.operands.startswith("tile, *"))
"""Operations that read or change a part of a tile, at indices or offsets."""
OPAQUE = _names(lambda row: row.writes is Memory.ARRAYS)
"""The user's own code: it may read and change any array that it gets."""
SLOT_WRITES = _names(lambda row: row.writes is Memory.SLOTS)

REPORTS = _names(lambda row: row.reports)
TOGETHER = _names(lambda row: row.together)
FENCES = EFFECTS | TOGETHER | (OPAQUE - {"custom"})
"""The operations that no load moves past. A `custom` is one if its block has one."""
LASTING = FENCES | REPORTS | {"row_length"}
"""The operations that stay even if no result of theirs is used."""

STRUCTURED = _names(lambda row: row.control)
LOOPS = _names(lambda row: row.control == "loop")
LEAD = {name: sum(not part.startswith("*") for part in OPERATIONS[name].operands.split(", ")) for name in STRUCTURED}
"""By structured operation, the number of operands before the initial values of carried values."""
PURE = _names(lambda row: row.pure)
CHEAP = _names(lambda row: row.cheap)
VIEWS = _names(lambda row: row.view)


T = TypeVar("T")
Number: TypeAlias = int | float
DECLARED: dict[str, Attribute[Any]] = {}
"""Every attribute by its name."""


class Attribute(str, Generic[T]):
    """The name of an attribute whose values are of type T.

    It is a string, so that the attributes of an operation are a plain dict, which prints, pickles and is written to a
    file without a step of its own.

    Args:
        name: as in the table `ir.ops`; no two attributes share one.
        kind: the type of its values, a class or `tuple[…, ...]`. None if it cannot be checked, or if its type is
            declared in a package that `ir` must not import.
    """

    def __new__(cls, name: str, kind: type[T] | None = None) -> Attribute[T]:
        """Declare an attribute and add it to `DECLARED`."""
        assert name not in DECLARED, f"the attribute {name} is declared twice"
        attribute = DECLARED[name] = super().__new__(cls, name)
        attribute._whole = get_origin(kind) or kind or object
        attribute._part = next(iter(get_args(kind)), object)
        return attribute

    _whole: type
    _part: type

    def takes(self, value: object) -> bool:
        """Return whether `value` has the declared type.

        A bool counts as no int, and the elements of a tuple have to be of the declared type too.
        """
        if isinstance(value, bool):
            return self._whole in (bool, object)
        if not isinstance(value, self._whole):
            return False
        return not isinstance(value, tuple) or all(isinstance(p, self._part) for p in cast(tuple[object, ...], value))

    def of(self, value: T) -> Attributes:
        """Return the attributes of an operation that has this one alone, with this value."""
        return attributes({self: value})

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as a plain str, which is equal to the attribute."""
        return str, (str(self),)  # equal to it, so that it is found under either


class Attributes(Protocol):
    """The type of `Op.attrs`, as a type checker sees it: values by attributes. At run time it is a dict."""

    def __getitem__(self, key: Attribute[T], /) -> T: ...

    @overload
    def get(self, key: Attribute[T], /) -> T | None: ...
    @overload
    def get(self, key: Attribute[T], default: T, /) -> T: ...
    def get(self, key: Attribute[T], default: T | None = None, /) -> T | None:
        """Return the value; if the operation does not have the attribute, `default`, or None without one."""

    def __contains__(self, key: object, /) -> bool: ...

    def values(self) -> ValuesView[object]:
        """Return the values of the attributes that the operation has."""
        ...

    def keys(self) -> KeysView[Attribute[object]]:
        """Return the attributes that the operation has."""
        ...

    def items(self) -> ItemsView[Attribute[object], object]:
        """Return the attributes that the operation has, with their values."""
        ...


def attributes(values: Attributes | Mapping[str, object]) -> Attributes:
    """Return a dict, typed as `Attributes` for type checkers; `ir.verify` checks the values' types.

    An attribute that is None is left out, as it is when a function is read from a file: passes compare attributes, and
    a kernel that comes from the cache must become the same code as one that was just lowered.
    """
    if None in values.values():
        values = {name: value for name, value in values.items() if value is not None}
    return cast(Attributes, values)


VALUE = Attribute[Number | tuple[Number, ...]]("value")
"""The value of a constant: a number, or a tuple of numbers for a vector; see `ir.values.number_of`."""
CAPTURED = Attribute("captured", str)
AXIS = Attribute("axis", int)
LEVEL = Attribute("level", str)
KIND = Attribute("kind", str)
REASON = Attribute[object]("reason")
"""The reason why a value is unavailable: a string; inside autodiff a `Missing`."""
MESSAGE = Attribute("message", str)
NUMBER = Attribute("number", int)
PARTS = Attribute[tuple[str | tuple[str, ...], ...]]("parts", tuple)
FRAMES = Attribute[tuple[object, ...]]("frames", tuple)
"""A tuple of `Frame`s of the front end."""
END = Attribute("end", bool)
COLD = Attribute("cold", bool)
SCALAR = Attribute("scalar", bool)
PLAIN = Attribute("plain", bool)
UNROLL = Attribute("unroll", bool)
INDEPENDENT = Attribute("independent", bool)
"""Of a `for` whose iterations may run in any order, or side by side."""
REDUCTION = Attribute("reduction", bool)
ACCUMULATOR = Attribute("accumulator", int)
"""The number of the CUDA thread's local that accumulates the change."""
INTERIOR = Attribute("interior", bool)
VERSIONS = Attribute("versions", bool)
"""Of an `if` that chooses one of two forms of the whole function, by what is known before a launch."""

# Of a `custom`; its blocks, `gradient`, `replay` and `derive`, are in `ir.values`.
NAME = Attribute("name", str)
ADJOINTS = Attribute("adjoints", tuple[int, ...])
CUDA = Attribute("cuda", str)
ADJ_CUDA = Attribute("adj_cuda", str)
REPLAY_CUDA = Attribute("replay_cuda", str)
CUDA_PLACE = Attribute("cuda_place", Location)
ADJ_CUDA_PLACE = Attribute("adj_cuda_place", Location)
REPLAY_CUDA_PLACE = Attribute("replay_cuda_place", Location)
INPUTS = Attribute("inputs", tuple[str, ...])
OUTPUTS = Attribute("outputs", tuple[str, ...])
REFERENCE = Attribute("reference", bool)

SHAPE = Attribute("shape", tuple[int, ...])
BOUNDS = Attribute("bounds", bool)
AXES = Attribute("axes", tuple[int, ...])
EXCLUSIVE = Attribute("exclusive", bool)
TRANSPOSE_A = Attribute("transpose_a", bool)
TRANSPOSE_B = Attribute("transpose_b", bool)
ROLE = Attribute("role", str)
PRECISION = Attribute("precision", str)
LINKED = Attribute("linked", str)

# Of operations inside one pass or one backend.
STANDS_FOR = Attribute[object]("stands_for")
"""A `Later` of autodiff."""
ACCUMULATE = Attribute("accumulate", bool)
COUNT = Attribute("count", int)
OFFSET = Attribute("offset", int)
USES = Attribute[tuple[object, ...]]("uses", tuple)
"""A tuple of `Use`s of shared memory, of the CUDA backend."""
WAIT = Attribute("wait", bool)
STEP = Attribute("step", int)
THREADS = Attribute("threads", int)
PRODUCT = Attribute[object]("product")
"""A `Product` of the CUDA backend."""
