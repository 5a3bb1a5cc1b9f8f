"""IR as text, for readers and for keys, and as plain JSON values and back, for files.

Text for readers (`show`) has the values' names; canonical text (`canonical`), for module keys, has neither names of
locals nor locations. `to_data` writes a whole function: every bit of constants, names, locations, its source text.
`from_data` trusts nothing: each value is checked as it is read, then the whole is verified, so the result is legal IR
or an error.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypedDict, cast

import numpy as np

from workbench.errors import its_type
from workbench.ir.json_values import Json, Locations, Malformed, checked, nth
from workbench.ir.ops import ADJ_CUDA, ADJOINTS, CAPTURED, CUDA, NAME, REFERENCE, REPLAY_CUDA, VALUE, Number, attributes
from workbench.ir.values import GRADIENT, REPLAY, Block, Captured, Function, Op, Value, scalar_or_vector_of
from workbench.ir.verify import InvalidIR, verify
from workbench.limits import BLOCK_THREADS, FILE_DEPTH, FILE_OPERATIONS
from workbench.source import UNKNOWN, Location, Source
from workbench.tiles import STORAGES, Tile, is_shape
from workbench.types import (
    MAX_NDIM,
    NUMBERS,
    SCALARS,
    ArrayType,
    Complex,
    ComplexVector,
    Matrix,
    Quaternion,
    Scalar,
    Transform,
    Type,
    Vector,
    element,
    in_complex,
    is_small,
)

_HEX = re.compile(r"[0-9a-f]*")
_PACKED = {"bool": ">?", "int32": ">i", "int64": ">q", "float32": ">f", "float64": ">d"}
# Attributes of many lines, which readers find in the cell.
TEXTS = (CUDA, ADJ_CUDA, REPLAY_CUDA)


def show(function: Function, *, lines: bool = False) -> str:
    """Return the function as readable text; with `lines`, operations end in `@ line`, the line of the user's text."""
    return _Printer(function, canonical=False, lines=lines).to_str()


def canonical(function: Function) -> str:
    """Return the function as text that depends on its meaning alone, for module keys.

    Locals are numbered in order, locations are left out, constants stand with all their bits; a captured constant
    stands by its name alone (its value is a key part of its own).
    """
    return _Printer(function, canonical=True, lines=False).to_str()


def literal_bits(value: object, type: Scalar | Vector) -> str:
    """Return all bits of a constant: the hexadecimal digits of the bytes of its NumPy value, big-endian."""
    scalar = type if isinstance(type, Scalar) else type.dtype
    # Most are packed so: NumPy takes ten times as long. A conversion would not keep the bits of a signalling NaN.
    if type is scalar and scalar.name in _PACKED and value == value:
        with suppress(struct.error, OverflowError):
            return struct.pack(_PACKED[scalar.name], value).hex()
    with np.errstate(over="ignore"):  # 1e300 as a float32 is infinite
        if scalar.is_half:
            bits = [scalar(v).view(np.uint16) for v in np.asarray(value, dtype=object).reshape(-1)]
            return np.array(bits, dtype=">u2").tobytes().hex()
        data = np.asarray(value, dtype=scalar.numpy)
    return data.astype(scalar.numpy.newbyteorder(">")).tobytes().hex()


def read_bits(bits: object, type: Type) -> Number | tuple[Number, ...]:
    """Return the number, or for a vector the tuple of numbers, that `literal_bits` wrote.

    Raises:
        Malformed: the bits are no constant of this type.
    """
    if not isinstance(type, (Scalar, Vector)):
        raise Malformed(f"a constant of {type!r}")
    count = type.length if isinstance(type, Vector) else 1
    scalar = element(type)
    if not isinstance(bits, str) or not _HEX.fullmatch(bits) or len(bits) != 2 * count * scalar.size:
        raise Malformed(f"a constant of {type!r} with the bits {str(bits)[:40]}")
    if scalar.is_half:
        numbers = np.frombuffer(bytes.fromhex(bits), ">u2").astype(np.uint16).view(scalar.numpy).astype(np.float32)
        return tuple(numbers.tolist()) if isinstance(type, Vector) else numbers.tolist()[0]
    decoded = np.frombuffer(bytes.fromhex(bits), scalar.numpy.newbyteorder(">")).tolist()
    return tuple(decoded) if isinstance(type, Vector) else decoded[0]


class _Printer:
    """Writes one function as text: `canonical` for module keys, else for readers; `lines` appends line numbers."""

    def __init__(self, function: Function, canonical: bool, lines: bool) -> None:
        self.function = function
        self.canonical = canonical
        self.lines = lines
        self.names: dict[Value, str] = {}
        self.used: set[str] = set()
        self.rows: list[str] = []

    def to_str(self) -> str:
        """Return the text of the function, one line per operation; call it once per printer."""
        params = ", ".join(f"{self.name(p)}: {p.type!r}" for p in self.function.params)
        head = "function" if self.canonical else self.function.name
        blocks = f" block {self.function.block_dim}" if self.function.block_dim else ""
        self.rows.append(f"{head}({params}) tid {self.function.launch_ndim}{blocks}")
        self.block(self.function.body, 1)
        return "\n".join(self.rows) + "\n"

    def name(self, value: Value) -> str:
        """Return a value's unique label, assigned at first use: `%v0`, … if canonical, else from the value's name."""
        if value not in self.names:
            if self.canonical:
                label = f"v{len(self.names)}"
            else:
                base = value.name or "_"
                label, n = base, 0
                while label in self.used or label == "_":
                    n += 1
                    label = f"{base}{n}"
                self.used.add(label)
            self.names[value] = f"%{label}"
        return self.names[value]

    def block(self, block: Block, depth: int) -> None:
        """Append the lines of a block's operations to `rows`, indented by `depth` steps."""
        for op in block.ops:
            self.op(op, depth)

    def op(self, op: Op, depth: int) -> None:
        """Append the line of an operation to `rows`, then its blocks, gradient and replay in braces."""
        pad = "  " * depth
        operands = ", ".join([self.names.get(v) or self.name(v) for v in op.operands])
        results = ", ".join([f"{self.name(v)}: {v.type!r}" for v in op.results])
        attrs = self.attrs(op)
        line = f"   @ {op.location.shown_line}" if self.lines and op.location.line else ""
        head = f"{pad}{results + ' = ' if results else ''}{op.name}{attrs}{' ' + operands if operands else ''}{line}"
        self.rows.append(head)
        for block in op.blocks:
            params = ", ".join(f"{self.name(v)}: {v.type!r}" for v in block.params)
            self.rows.append(f"{pad}{{ {params}".rstrip())
            self.block(block, depth + 1)
            self.rows.append(f"{pad}}}")
        for name in (GRADIENT, REPLAY):
            block = op.attrs.get(name)
            if block is not None:
                params = ", ".join(f"{self.name(v)}: {v.type!r}" for v in block.params)
                self.rows.append(f"{pad}{name} {{ {params}".rstrip())
                self.block(block, depth + 1)
                self.rows.append(f"{pad}}}")

    def attrs(self, op: Op) -> str:
        """Return an operation's attributes as text behind its name: ` #bits`, ` @captured` or `[name=value, …]`.

        Blocks, locations and missing attributes are left out; for readers, CUDA text too. Empty if nothing is left.
        """
        if op.name == "const":
            captured, value, type = op.attrs.get(CAPTURED), op.attrs[VALUE], scalar_or_vector_of(op.result)
            if captured:
                return f" @{captured}"
            return f" #{literal_bits(value, type)}" if self.canonical else f" {value!r}"
        hidden = () if self.canonical else TEXTS
        items = sorted((k, v) for k, v in op.attrs.items() if v is not None and k not in hidden)
        shown = [f"{k}={v}" for k, v in items if not isinstance(v, (Block, Location))]
        return f"[{', '.join(shown)}]" if shown else ""


_NAME = re.compile(r"[^\x00-\x1f]{1,1000}")
_PARAMETER = re.compile(r"[^\W\d]\w*((\[\])?\.[^\W\d]\w*)*")  # `x`; `p.x` and `ps[].x` of structs
_LOCAL = re.compile(r"[^\W\d][\w.]{0,200}")


class _BlockData(TypedDict):
    """The JSON fields of a block.

    A parameter is [its type's number, its name]; an operation [name, operands, results, attributes, blocks, location].
    """

    params: list[Json]
    ops: list[Json]


class _FunctionData(_BlockData):
    """The JSON fields of a function.

    `tid` is its `launch_ndim`, `block` its `block_dim`, `source` the number of its source, -1 if that is unknown;
    `types` and `sources` are the tables to which numbers in the rest refer.
    """

    name: str
    tid: int
    captured: list[Json]
    block: int
    source: int
    types: list[Json]
    sources: list[Json]


class Unwritable(ValueError):
    """Raised for a function with something that has no form as data."""


def to_data(function: Function, locations: Locations | None = None) -> Mapping[str, Json]:
    """Return the function as JSON values.

    Args:
        function: of any kind.
        locations: writes locations; None: they are written with the texts that they are in.

    Raises:
        Unwritable: a type or an attribute has no form as data, or it is too large or nests too deeply to be read again.
    """
    return _Writer(locations).function(function)


def from_data(data: Json, texts: bool = False, locations: Locations | None = None) -> Function:
    """Return the function that `to_data` wrote, verified.

    Args:
        data: JSON values.
        texts: keep a func's CUDA text. Otherwise such a func is its Python body.
        locations: reads locations, if they were written by one; the function's source is then unknown.

    Raises:
        Malformed: it is no such function, or a func in it is CUDA text alone and `texts` is off.
    """
    reader = _Reader(texts, locations)
    try:
        return verify(reader.function(data))
    except InvalidIR as error:
        raise Malformed(str(error)) from None
    except (AssertionError, AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, Malformed):
            raise
        raise Malformed(f"an operation is malformed ({type(error).__name__}: {error})") from None


def type_data(type: Type) -> Json:
    """Return a type as JSON values.

    Raises:
        Unwritable: it is of a kind that has no form as data, such as an array with a size of 2³¹ or more.
    """
    match type:
        case Scalar() | Complex() if NUMBERS.get(type.name) == type:
            return type.name
        case ComplexVector():
            return ["complex", type_data(type.real)]
        case Matrix():
            return ["matrix", type.rows, type.columns, type_data(type.dtype)]
        case Quaternion():
            return ["quaternion", type_data(type.dtype)]
        case Transform():
            return ["transform", type_data(type.dtype)]
        case Vector() if type.__class__ is Vector:
            return ["vector", type.length, type_data(type.dtype)]
        case Tile():
            return ["tile", type_data(type.dtype), [*type.shape], type.storage]
        case ArrayType(wide=False):
            field = (type.pitch, type.offset) if type.pitch else ()
            return ["array", type_data(type.dtype), type.ndim, *field]
        case ArrayType():
            raise Unwritable(f"{type!r} with a size of 2³¹ or more has no form in a file")
        case _:
            raise Unwritable(f"{type!r} has no form in a file")


def read_type(data: Json) -> Type:
    """Return the type that `type_data` wrote.

    Raises:
        Malformed: the data are no type.
    """
    match data:
        case str() if data in NUMBERS:
            return NUMBERS[data]
        case ["vector", int() as length, dtype] if is_small((length,)):
            return Vector(length, _scalar(dtype))
        case ["complex", ["vector" | "matrix", *_] as real]:
            return in_complex(read_type(real))
        case ["matrix", int() as rows, int() as columns, dtype] if is_small((rows, columns)):
            return Matrix(rows * columns, _scalar(dtype), columns)
        case ["quaternion", dtype]:
            return Quaternion(4, _scalar(dtype))
        case ["transform", dtype]:
            return Transform(7, _scalar(dtype))
        case ["array", dtype, int() as ndim] if 1 <= ndim <= MAX_NDIM:
            inner = read_type(dtype)
            if isinstance(inner, (Scalar, Vector)):
                return ArrayType(inner, ndim)
        case ["array", dtype, int() as ndim, int() as pitch, int() as offset] if 1 <= ndim <= MAX_NDIM:
            inner = read_type(dtype)
            if isinstance(inner, (Scalar, Vector)) and 0 <= offset <= pitch - inner.size:
                return ArrayType(inner, ndim, pitch, offset)
        case ["tile", dtype, [*sizes], str() as storage] if storage in STORAGES:
            inner, shape = read_type(dtype), tuple(sizes)
            if isinstance(inner, (Scalar, Vector)) and is_shape(shape):
                return Tile(inner, shape, storage)
        case _:
            pass
    raise Malformed(f"{str(data)[:80]} is no type")


def _scalar(data: Json) -> Scalar:
    """Return the scalar type of this name; raise `Malformed` if the data are no such name."""
    if isinstance(data, str) and data in SCALARS:
        return SCALARS[data]
    raise Malformed(f"{str(data)[:80]} is not a scalar type")


class _Writer:
    """Writes one function as data, with its types, sources and values by number."""

    def __init__(self, locations: Locations | None) -> None:
        """Begin without types, sources and values; `locations` writes locations, None: they come with their texts."""
        self.locations = locations
        self.depth = self.ops = 0
        self.types: dict[str, int] = {}
        self.forms: list[Json] = []
        self.sources: dict[Source, int] = {}
        self.values: dict[Value, int] = {}

    def function(self, function: Function) -> Mapping[str, Json]:
        """Return the function as JSON values, with the tables of types and sources; call it once per writer."""
        params = [self.value(p) for p in function.params]
        source = self.source(function.source) if self.locations is None else -1
        ops = self.block(function.body)["ops"]
        captured = [[c.name, self.type(c.type), literal_bits(c.value, c.type)] for c in function.captured]
        return {
            "name": function.name, "params": params, "tid": function.launch_ndim, "captured": captured,
            "block": function.block_dim, "source": source, "ops": ops, "types": self.forms,
            "sources": [[s.text, s.name, s.line_offset] for s in self.sources],
        }  # fmt: skip

    def type(self, type: Type) -> int:
        """Return the number of a type in `forms`, where it is added at first use."""
        key = repr(type)
        if key not in self.types:
            self.types[key] = len(self.forms)
            self.forms.append(type_data(type))
        return self.types[key]

    def source(self, source: Source) -> int:
        """Return the number of a source, which is added to `sources` at first use; -1 for the unknown source."""
        return self.sources.setdefault(source, len(self.sources)) if source is not UNKNOWN.source else -1

    def value(self, value: Value) -> list[Json]:
        """Assign the next number to a newly defined value; return the number of its type, and its name."""
        self.values[value] = len(self.values)
        return [self.type(value.type), value.name]

    def block(self, block: Block) -> dict[str, Json]:
        """Return the parameters and operations of a block as JSON values, and number the values that it defines.

        Raises:
            Unwritable: the function has more than `FILE_OPERATIONS`, or blocks nested deeper than `FILE_DEPTH`.
        """
        self.ops += len(block.ops)
        if self.depth > FILE_DEPTH or self.ops > FILE_OPERATIONS:
            raise Unwritable("it has more operations, or deeper ones, than a file may have")
        self.depth += 1
        data: dict[str, Json] = {"params": [self.value(p) for p in block.params], "ops": [*map(self.op, block.ops)]}
        self.depth -= 1
        return data

    def op(self, op: Op) -> list[Json]:
        """Return name, operands by number, results, attributes, blocks and location of an operation as JSON values."""
        operands = [*map(self.values.__getitem__, op.operands)]
        attrs = self.attributes(op)
        results = [*map(self.value, op.results)]
        blocks = [*map(self.block, op.blocks)]
        return [op.name, operands, results, attrs, blocks, self.write_location(op.location)]

    def write_location(self, location: Location) -> list[Json]:
        """Return a location as `locations` writes it; without it, its source's number and its lines and columns."""
        if self.locations is not None:
            return self.locations.write(location)
        return [self.source(location.source), location.line, location.column, location.end_line, location.end_column]

    def attributes(self, op: Op) -> dict[str, Json]:
        """Return an operation's attributes as JSON values by name, without those that are None."""
        data: dict[str, Json] = {}
        for name, value in op.attrs.items():
            if op.name == "const" and name == VALUE:
                kind = scalar_or_vector_of(op.result)
                data[name] = self.constant(value, kind)
            elif value is not None:
                data[name] = self.plain(value, op.name)
        return data

    def constant(self, value: object, type: Scalar | Vector) -> Json:
        """Return the bits of a constant as data.

        With `locations`, for the same IR, the number as written is added, if it has digits for which its type has no
        room.
        """
        bits = literal_bits(value, type)
        exact = self.locations is None or repr(value) == repr(read_bits(bits, type)) or "nan" in repr(value)
        return ["bits", bits] if exact else ["bits", bits, self.plain(value, "const")]

    def plain(self, value: object, op: str) -> Json:
        """Return an attribute's value as JSON: numbers and strings as they are, others as a list headed by a tag.

        Raises:
            Unwritable: it is of another type; the error names the operation `op`.
        """
        if isinstance(value, (bool, int, str)) or value is None:
            return value
        if isinstance(value, float):
            return ["float", value.hex()]
        if isinstance(value, (tuple, list)):
            return ["tuple", *(self.plain(v, op) for v in cast(Sequence[object], value))]
        if isinstance(value, Block):
            return ["block", self.block(value)]
        if isinstance(value, (Scalar, Vector, ArrayType)):
            return ["type", self.type(value)]
        if isinstance(value, Location):
            return ["place", self.write_location(value)]
        raise Unwritable(f"the operation {op} holds {its_type(value)}, which has no form in a file")


class _Reader:
    """Reads a function from data, checking everything."""

    def __init__(self, texts: bool, locations: Locations | None) -> None:
        """Begin empty; `texts`: keep CUDA text of funcs; `locations` reads locations if they were written by one."""
        self.texts = texts
        self.locations = locations
        self.types: list[Type] = []
        self.sources: list[Source] = []
        self.values: list[Value] = []
        self.ops = 0

    def function(self, stored: Json) -> Function:
        """Return the function that `_Writer.function` wrote, not yet verified; call it once per reader.

        Raises:
            Malformed: a field is missing, of another type or out of range.
        """
        known = {"block": 0, **stored} if isinstance(stored, dict) else stored
        data = checked(known, "a function", _FunctionData)
        self.types = [read_type(t) for t in data["types"]]
        self.sources = [self.source(s) for s in data["sources"]]
        if (
            not data["name"].isidentifier()
            or not 0 <= data["tid"] <= MAX_NDIM
            or not 0 <= data["block"] <= BLOCK_THREADS
        ):
            raise Malformed("a function without a proper name, number of dimensions or size of blocks")
        params = tuple(self.value(p) for p in data["params"])
        if not all(_PARAMETER.fullmatch(p.name) for p in params):
            raise Malformed("a parameter without a proper name")
        captured = tuple(self.captured(c) for c in data["captured"])
        body = Block((), tuple(self.op(op, 0) for op in data["ops"]))
        return Function(data["name"], params, body, data["tid"], captured, self.at(data["source"]), data["block"])

    def source(self, data: Json) -> Source:
        """Return the source with this text, name and line offset; raise `Malformed` if the data are none."""
        match data:
            case [str() as text, str() as name, int() as offset] if not isinstance(offset, bool):
                return Source(text, name, "<record>", offset)
            case _:
                pass
        raise Malformed("a source that is none")

    def at(self, number: Json) -> Source:
        """Return the source of this number, the unknown one for -1."""
        return UNKNOWN.source if number == -1 else nth(self.sources, number, "source")

    def captured(self, data: Json) -> Captured:
        """Return the captured constant with this name, type number and bits; raise `Malformed` if the data are none."""
        match data:
            case [str() as name, number, bits] if _NAME.fullmatch(name):
                type = nth(self.types, number, "type")
                if isinstance(type, (Scalar, Vector)):
                    return Captured(name, type, read_bits(bits, type))
            case _:
                pass
        raise Malformed("a captured constant that is none")

    def value(self, data: Json) -> Value:
        """Return a new value with this number of a type and this name, and append it to `values`.

        Raises:
            Malformed: the data are no value, or the name is not one of a local or a parameter.
        """
        match data:
            case [number, str() as name] if not name or _LOCAL.fullmatch(name) or _PARAMETER.fullmatch(name):
                self.values.append(Value(nth(self.types, number, "type"), name))
                return self.values[-1]
            case _:
                pass
        raise Malformed(f"{str(data)[:80]} is no value")

    def block(self, stored: Json, depth: int) -> Block:
        """Return the block that `_Writer.block` wrote, with its operations at this depth; its values join `values`."""
        data = checked(stored, "a block", _BlockData)
        params = tuple(self.value(p) for p in data["params"])
        return Block(params, tuple(self.op(op, depth) for op in data["ops"]))

    def op(self, data: Json, depth: int) -> Op:
        """Return the operation that `_Writer.op` wrote, less CUDA text unless `texts`; its results join `values`.

        Raises:
            Malformed: the data are no operation, or the function has too many or lies too deep.
        """
        self.ops += 1
        if self.ops > FILE_OPERATIONS or depth > FILE_DEPTH:
            raise Malformed("more operations, or deeper ones, than a function can have")
        match data:
            case [
                str() as name,
                list() as operands,
                list() as results,
                dict() as attrs,
                list() as blocks,
                list() as at,
            ]:
                inputs = tuple(nth(self.values, v, "value") for v in operands)
                read = {k: self.plain(v, depth) for k, v in attrs.items() if k != VALUE or name != "const"}
                results_ = tuple(self.value(r) for r in results)
                inner = tuple(self.block(b, depth + 1) for b in blocks)
                if name == "const":
                    self.constant(read, attrs, results_)
                return Op(name, inputs, results_, attributes(self.without_texts(name, read)), inner, self.location(at))
            case _:
                pass
        raise Malformed(f"{str(data)[:80]} is no operation")

    def without_texts(self, name: str, attrs: dict[str, object]) -> dict[str, object]:
        """Return the attributes of an operation named `name`, without CUDA text unless texts are kept.

        Raises:
            Malformed: it is a func with CUDA text alone.
        """
        if name != "custom" or self.texts:
            return attrs
        if attrs.get(REFERENCE) is False:
            raise Malformed(f"the func {str(attrs.get(NAME))[:80]} is CUDA text alone; that takes trust=True")
        return {k: v for k, v in attrs.items() if k in (NAME, GRADIENT, REPLAY, ADJOINTS)}

    def constant(self, read: dict[str, object], attrs: Mapping[str, Json], results: tuple[Value, ...]) -> None:
        """Add the value of a `const` to its attributes `read`, decoded from the raw `attrs` by the type of its result.

        Raises:
            Malformed: there is no such value, or the captured name is improper.
        """
        match attrs.get(VALUE):
            case ["bits", bits] if len(results) == 1:
                read[VALUE] = read_bits(bits, results[0].type)
            case ["bits", _, written] if self.locations is not None:  # 0.1 of a float32, as the user wrote it
                read[VALUE] = self.plain(written, 0)
            case _:
                raise Malformed("a constant without a value")
        name = read.get(CAPTURED)
        if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise Malformed("a constant with an improper name")

    def plain(self, data: Json, depth: int) -> object:
        """Return the value of an attribute that `_Writer.plain` wrote, `depth` blocks and tuples deep.

        Raises:
            Malformed: the data are no attribute, or nest too deeply.
        """
        if data is None or isinstance(data, (bool, int, str)):
            return data
        match data:
            case ["float", str() as text]:
                return float.fromhex(text)
            case ["tuple", *items]:
                if depth > FILE_DEPTH:
                    raise Malformed("an attribute that is too deep")
                return tuple(self.plain(item, depth + 1) for item in items)
            case ["block", inner]:
                return self.block(inner, depth + 1)
            case ["type", number]:
                return nth(self.types, number, "type")
            case ["place", at]:
                return self.location(at)
            case _:
                pass
        raise Malformed(f"{str(data)[:80]} is no attribute")

    def location(self, data: Json) -> Location:
        """Return the location that `_Writer.write_location` wrote; raise `Malformed` if the data are none."""
        if self.locations is not None and isinstance(data, list):
            return self.locations.read(data)
        match data:
            case [number, int() as line, int() as column, int() as end_line, int() as end_column]:
                if min(line, column, end_line, end_column) >= 0:
                    return Location(self.at(number), line, column, end_line, end_column)
            case _:
                pass
        raise Malformed("an operation without a proper place")
