"""Vectors, matrices, quaternions, transforms and structs of the oracle, and what their types say of memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.judge.oracle.maths import SCALARS
from tests.judge.oracle.numbers import Number, common, inexact, number, typed, weak
from tests.judge.oracle.run import Current
from tests.judge.oracle.types import OutOfRange, Unsupported, is_float


@dataclass(frozen=True)
class Scalar:
    """A scalar type, as a name of the program: annotation, cast, element of arrays."""

    name: str

    @property
    def leaves(self) -> tuple[str, ...]:
        return (self.name,)

    def build(self, parts: Sequence[Number]) -> Number:
        return parts[0]

    def parts(self, value: Any) -> list[Number]:
        return [typed(value, self.name)]

    def __call__(self, value: Any = 0) -> Number:
        return typed(value, self.name)

    convert = __call__


@dataclass(frozen=True)
class Composite:
    """A type of several components of one scalar type.

    Attributes:
        form: "vector", "matrix", "quaternion" or "transform".
        shape: how many components, or rows and columns.
        scalar: the name of the components' type.
    """

    form: str
    shape: tuple[int, ...]
    scalar: str

    @property
    def leaves(self) -> tuple[str, ...]:
        return (self.scalar,) * math.prod(self.shape)

    def of(self, scalar: str) -> Composite:
        return Composite(self.form, self.shape, scalar)

    def build(self, parts: Sequence[Number]) -> Whole:
        return Whole(self, list(parts))

    def parts(self, value: Any) -> list[Number]:
        return [p.to(self.scalar) for p in self.convert(value).parts]

    def convert(self, value: Any) -> Whole:
        """A value as one of this type: of the same form, its components cast."""
        if not isinstance(value, Whole) or len(value.parts) != len(self.leaves):
            raise Unsupported(f"{value!r} as {self}")
        return Whole(self, [p.to(self.scalar) for p in value.parts])

    def __call__(self, *values: Any) -> Whole:
        flat: list[Any] = []
        for value in values:
            flat += value.parts if isinstance(value, Whole) else [value]
        if not flat:
            flat = [0] * len(self.leaves)
        if len(flat) == 1:
            flat *= len(self.leaves)
        if len(flat) != len(self.leaves):
            raise Unsupported(f"{len(flat)} values for {self}")
        return Whole(self, [typed(v, self.scalar) for v in flat])


class Whole:
    """A value of several components: a copy, or what stands in an array's element (`home`)."""

    __slots__ = ("change", "home", "parts", "type")
    __array_ufunc__ = None

    def __init__(self, type: Composite, parts: list[Number], home: Any = None) -> None:
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "home", home)
        object.__setattr__(self, "change", None)

    def copy(self) -> Whole:
        return Whole(self.type, [p.copy() for p in self.parts])

    def __len__(self) -> int:
        return self.type.shape[0]

    def __iter__(self) -> Iterator[Any]:
        for k in range(len(self)):
            yield self[k]

    @property
    def T(self) -> Whole:
        rows, columns = self.type.shape
        turned = [self.parts[r * columns + c] for c in range(columns) for r in range(rows)]
        return Whole(Composite("matrix", (columns, rows), self.type.scalar), turned)

    def _where(self, key: Any) -> tuple[list[int], Any]:
        """The positions of components that a key names, and their type (None for a scalar)."""
        type = self.type
        if isinstance(key, slice):
            start, stop, step = (None if p is None else p.__index__() for p in (key.start, key.stop, key.step))
            at = list(range(len(self.parts)))[start:stop:step]
            return at, Composite("vector", (len(at),), type.scalar)
        if type.form == "matrix" and not isinstance(key, tuple):
            row, columns = _index(key, type.shape[0]), type.shape[1]
            at = list(range(row * columns, (row + 1) * columns))
            return at, Composite("vector", (columns,), type.scalar)
        if isinstance(key, tuple):
            row, column = (_index(k, n) for k, n in zip(key, type.shape, strict=True))
            return [row * type.shape[1] + column], None
        return [_index(key, len(self.parts))], None

    def _letters(self, name: str) -> tuple[list[int], Any]:
        scalar = self.type.scalar
        if self.type.form == "transform":
            if name not in ("p", "q"):
                raise AttributeError(name)
            is_p = name == "p"
            return (
                ([0, 1, 2], Composite("vector", (3,), scalar))
                if is_p
                else ([3, 4, 5, 6], Composite("quaternion", (4,), scalar))
            )
        at = ["xyzw".find(c) for c in name]
        if self.type.form == "matrix" or min(at) < 0 or max(at) >= len(self.parts):
            raise AttributeError(name)
        return at, None if len(at) == 1 else Composite("vector", (len(at),), scalar)

    def _get(self, at: list[int], type: Any) -> Any:
        consecutive = at == list(range(at[0], at[0] + len(at)))
        if self.home is not None:
            memory, base, element = self.home
            homes = [base + k for k in at]
            if type is None:
                return memory.read(homes[0], element)
            whole = Whole(type, [self.parts[k] for k in at])
            object.__setattr__(whole, "home", (memory, homes[0], element) if consecutive else None)
            return whole
        if type is None:
            return self.parts[at[0]].copy()
        # A row or part of a local value is written through.
        whole = Whole(type, [self.parts[k] for k in at])
        object.__setattr__(whole, "home", (_Local(self.parts), at[0], None) if consecutive else None)
        return whole

    def _set(self, at: list[int], type: Any, value: Any) -> None:
        new = [typed(value, self.type.scalar)] if type is None else _components(value, type, self.type.scalar)
        if self.home is not None:
            memory, base, element = self.home
            memory.write([base + k for k in at], new, element, getattr(value, "change", None))
        for k, part in zip(at, new, strict=True):
            self.parts[k] = part

    def __getitem__(self, key: Any) -> Any:
        return self._get(*self._where(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._set(*self._where(key), value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._get(*self._letters(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "change":
            object.__setattr__(self, name, value)
        else:
            self._set(*self._letters(name), value)

    def __repr__(self) -> str:
        return f"{self.type.form}{self.parts}"

    def __neg__(self) -> Whole:
        return Whole(self.type, [-p for p in self.parts])

    def __pos__(self) -> Whole:
        return self.copy()

    def __matmul__(self, other: Any) -> Any:
        return product(self, other)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Whole) and self.type.form == other.type.form == "quaternion":
            return quaternion_product(self, other)
        return by_component("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return by_component("mul", other, self)

    __hash__ = None  # type: ignore[assignment]


class _Local:
    """What stands where an array's memory would, for a part of a local value."""

    def __init__(self, parts: list[Number]) -> None:
        self.cells = parts

    def read(self, at: int, element: Any) -> Number:
        return self.cells[at].copy()

    def write(self, at: list[int], values: list[Number], element: Any, change: Any) -> None:
        for k, v in zip(at, values, strict=True):
            self.cells[k] = v


def _index(key: Any, length: int) -> int:
    at = key.__index__()
    at += length if at < 0 else 0
    if not 0 <= at < length:
        raise OutOfRange(f"component {at} of {length}")
    return at


def _components(value: Any, type: Composite, scalar: str) -> list[Number]:
    if isinstance(value, (Number, int, float)) or weak(value) is not None:
        return [typed(value, scalar)] * len(type.leaves)
    return [p.to(scalar) for p in value.parts]


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "lshift": lambda a, b: a << b, "rshift": lambda a, b: a >> b, "pow": lambda a, b: a**b,
}  # fmt: skip


def each(f: Callable[..., Any], *values: Any) -> Any:
    """A function of scalars by component; scalars go with each component. All meet in one type first."""
    wholes = [v for v in values if isinstance(v, Whole)]
    if not wholes:
        return f(*values)
    type = wholes[0].type
    if any(w.type.shape != type.shape for w in wholes):
        raise Unsupported("shapes that differ")
    t = common(*(v.parts[0] if isinstance(v, Whole) else v for v in values))
    rows = [
        [typed(p, t) for p in v.parts] if isinstance(v, Whole) else [typed(v, t)] * len(type.leaves) for v in values
    ]
    parts = [f(*row) for row in zip(*rows, strict=True)]
    scalar = parts[0].t
    return Whole(type.of(scalar), parts)


def by_component(name: str, a: Any, b: Any) -> Any:
    """An operator on vectors, matrices and numbers."""
    if not isinstance(a, (Whole, Number, int, float)) and weak(a) is None:
        return NotImplemented
    if not isinstance(b, (Whole, Number, int, float)) and weak(b) is None:
        return NotImplemented
    return each(OPERATORS[name], a, b)


def _whole_operators() -> None:
    def defined(name: str) -> tuple[Any, Any, Any]:
        def forward(a: Whole, b: Any) -> Any:
            return by_component(name, a, b)

        def reflected(a: Whole, b: Any) -> Any:
            return by_component(name, b, a)

        def in_place(a: Whole, b: Any) -> Any:
            result = OPERATORS[name](a, b)
            if a.home is not None:
                result.change = (a.home, name)
            return result

        return forward, reflected, in_place

    for name in OPERATORS:
        forward, reflected, in_place = defined(name)
        if name != "mul":
            setattr(Whole, f"__{name}__", forward)
            setattr(Whole, f"__r{name}__", reflected)
        setattr(Whole, f"__i{name}__", in_place)


_whole_operators()


def inexact_sum(terms: Sequence[Number]) -> Number:
    """A sum whose order is not promised: exact but for the rounding of each step."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    result = total.copy()
    if is_float(total.t):
        result.q = True
        if Current.run.disturbance is not None:
            partial = type(result.v)(0)
            for term in terms:
                partial += term.v
                for v in (term.v, partial):
                    result.v = type(result.v)(result.v + (inexact(float(v), term.t, 1) - v))
    return result


def dot(a: Whole, b: Whole) -> Number:
    return inexact_sum((a * b if a.type.form != "quaternion" else by_component("mul", a, b)).parts)


def length_sq(a: Whole) -> Number:
    return dot(a, a)


def length(a: Whole) -> Any:
    return SCALARS["sqrt"](dot(a, a))


def normalize(a: Whole) -> Whole:
    size = length(a)
    return a / size if bool(size > 0.0) else a * 0.0


def cross(a: Whole, b: Whole) -> Whole:
    (x, y, z), (u, v, w) = a.parts, b.parts
    parts = [inexact_sum([y * w, -(z * v)]), inexact_sum([z * u, -(x * w)]), inexact_sum([x * v, -(y * u)])]
    return Whole(a.type.of(parts[0].t), parts)


def product(a: Whole, b: Whole) -> Any:
    """`@`, NumPy's: matrices and vectors on either side."""
    if not isinstance(b, Whole):
        return NotImplemented
    left = [list(row.parts) for row in a] if a.type.form == "matrix" else [a.parts]
    right = list(zip(*[row.parts for row in b], strict=True)) if b.type.form == "matrix" else [tuple(b.parts)]
    parts = [inexact_sum([x * y for x, y in zip(r, c, strict=True)]) for r in left for c in right]
    if len(parts) == 1:
        return parts[0]
    if a.type.form == b.type.form == "matrix":
        return Whole(Composite("matrix", (len(left), len(right)), parts[0].t), parts)
    return Whole(Composite("vector", (len(parts),), parts[0].t), parts)


def quaternion_product(a: Whole, b: Whole) -> Whole:
    (x, y, z, w), (p, q, r, s) = a.parts, b.parts
    parts = [
        inexact_sum([w * p, x * s, y * r, -(z * q)]), inexact_sum([w * q, y * s, z * p, -(x * r)]),
        inexact_sum([w * r, z * s, x * q, -(y * p)]), inexact_sum([w * s, -(x * p), -(y * q), -(z * r)]),
    ]  # fmt: skip
    return Whole(a.type.of(parts[0].t), parts)


def outer(a: Whole, b: Whole) -> Whole:
    parts = [x * y for x in a.parts for y in b.parts]
    return Whole(Composite("matrix", (len(a.parts), len(b.parts)), parts[0].t), parts)


def rows(*vectors: Whole) -> Whole:
    """The matrix with these rows."""
    shape = (len(vectors), len(vectors[0]))
    return Composite("matrix", shape, common(*(v.parts[0] for v in vectors)))(*vectors)


def identity(n: Any, dtype: Any) -> Whole:
    """1 on the diagonal."""
    size, scalar = n.__index__(), dtype.name if isinstance(dtype, Scalar) else "float32"
    return Composite("matrix", (size, size), scalar)(*(int(r == c) for r in range(size) for c in range(size)))


def diagonal(v: Whole) -> Whole:
    """The matrix with a vector on its diagonal."""
    n = len(v)
    zero = Number(typed(0, v.type.scalar).v, v.type.scalar)
    return Composite("matrix", (n, n), v.type.scalar)(*(v[r] if r == c else zero for r in range(n) for c in range(n)))


def skew(v: Whole) -> Whole:
    """The matrix whose product with w is cross(v, w)."""
    (x, y, z), zero = v.parts, typed(0, v.type.scalar)
    return Composite("matrix", (3, 3), v.type.scalar)(zero, -z, y, z, zero, -x, -y, x, zero)


def where(condition: Any, x: Any, y: Any) -> Any:
    """A choice of values that meet in one type; both are computed, the chosen one has the derivative."""
    taken = bool(condition)
    if isinstance(x, Whole) or isinstance(y, Whole):
        return each(lambda a, b: (a if taken else b).copy(), x, y)
    if number(x) is None and number(y) is None:
        return x if taken else y
    return typed(x if taken else y, common(x, y))


class StructType:
    """A class that `@wb.struct` decorates."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.name, self.fields = name, fields

    @property
    def leaves(self) -> tuple[str, ...]:
        return tuple(leaf for type in self.fields.values() for leaf in type.leaves)

    def build(self, parts: Sequence[Number]) -> Struct:
        values, at = {}, 0
        for name, type in self.fields.items():
            count = len(type.leaves)
            values[name] = type.build(parts[at : at + count])
            at += count
        return Struct(self, values)

    def parts(self, value: Any) -> list[Number]:
        return [p for name, type in self.fields.items() for p in type.parts(value._values[name])]

    def convert(self, value: Any) -> Struct:
        return value.copy()

    def __call__(self, *values: Any, **named: Any) -> Struct:
        named = dict(zip(self.fields, values, strict=False)) | named
        return Struct(self, {
            name: type.convert(named[name]) if name in named else type() for name, type in self.fields.items()
        })  # fmt: skip


class Struct:
    """A value of a struct: a copy, or what stands in an array's element."""

    def __init__(self, type: StructType, values: dict[str, Any], home: Any = None) -> None:
        self.__dict__.update(_type=type, _values=values, _home=home)

    def copy(self) -> Struct:
        return Struct(self._type, {name: value.copy() for name, value in self._values.items()})

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__["_values"]
        if name not in values:
            raise AttributeError(name)
        type = self._type.fields[name]
        if self._home is None:
            return values[name]
        memory, base, element = self._home
        return memory.load(type, base + self._offset(name), element)

    def _offset(self, name: str) -> int:
        names = list(self._type.fields)
        return sum(len(self._type.fields[n].leaves) for n in names[: names.index(name)])

    def __setattr__(self, name: str, value: Any) -> None:
        type = self._type.fields[name]
        if self._home is not None:
            memory, base, element = self._home
            at = base + self._offset(name)
            new = type.parts(value)
            memory.write(list(range(at, at + len(new))), new, element, getattr(value, "change", None))
        self._values[name] = type.convert(value)
