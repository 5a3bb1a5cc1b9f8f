"""The types of the kernel language, as plain values.

A type is a frozen dataclass, compared by content, so that it can stand in a module key and in an error message alike.
A scalar or vector type is callable on the host and gives a value of NumPy: `float32(1.5)`, `vec3(1, 2, 3)`.
"""

from __future__ import annotations

import builtins as py
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, cached_property
from math import prod
from typing import Any, TypeAlias, TypeVar, Union, cast

import numpy as np

from workbench.host.narrow import is_numpy_scalar
from workbench.host.vectors import HostVector
from workbench.ranges import number

MAX_NDIM = 4


class Kind(Enum):
    """Represents the kind of a scalar type, which decides promotion and type rules."""

    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    FLOAT = "float"


class Named:
    """The base of types that stand for classes in Python: `x.__name__`, `isinstance(v, vec3)`, `vec3 | None`."""

    name: str

    @property
    def __name__(self) -> str:
        """Return the name as users write it."""
        return self.name

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007


@dataclass(frozen=True)
class Scalar(Named):
    """Represents a scalar type: `name` as users write it, its kind, its width in bits (a bool takes 8 in memory).

    Attributes:
        weak: whether it is only the default of a value made of literals, which takes the type of what it meets. In IR
            that was just lowered; `passes/weak_literals.py` decides such types. Not part of what users compare.
    """

    name: str
    kind: Kind
    bits: int
    weak: py.bool = field(default=False, compare=False)

    @property
    def plain(self) -> Scalar:
        """The language's own type that is equal to this one: itself, except in subclasses whose values differ."""
        return self

    @cached_property
    def size(self) -> int:
        """Bytes of a value in memory."""
        return self.bits // 8

    @property
    def shape(self) -> tuple[int, ...]:
        """The NumPy shape of a value: ()."""
        return ()

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of one element.

        Raises:
            TypeError: it is bfloat16's, and the package ml_dtypes is not installed.
        """
        return _numpy(self.name)

    __numpy_dtype__ = numpy  # `np.zeros(3, wb.float32)`

    @cached_property
    def is_half(self) -> py.bool:
        """Return whether the type is a float of 16 bits, computed as a float32 and rounded after each operation."""
        return self.kind is Kind.FLOAT and self.bits == 16

    def component(self, number: Any) -> Any:
        """Return a vector's component as Python code gets it, from a NumPy scalar: here that scalar itself."""
        return number

    def __instancecheck__(self, value: object) -> py.bool:
        """Return whether a value is a NumPy scalar of this type, for `isinstance(x[0], wb.float32)`."""
        return is_numpy_scalar(value) and value.dtype == self.numpy

    def __call__(self, value: Any = 0) -> Any:
        """Return a NumPy scalar of this type.

        Raises:
            OverflowError: the number does not fit.
            TypeError: it is no number.
        """
        return number(value, self)

    def __eq__(self, other: object) -> py.bool:
        if self is other:  # nearly always; to compare the fields takes four times as long
            return True
        return isinstance(other, Scalar) and (self.name, self.kind, self.bits) == (other.name, other.kind, other.bits)

    def __hash__(self) -> int:
        """Hash the name, which decides the rest: types are keys of many caches, and an Enum's hash is slow."""
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


@cache
def _numpy(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of a scalar type's name; raise a TypeError for bfloat16 without ml_dtypes."""
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("bfloat16 in NumPy needs the package ml_dtypes: pip install ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Vector(Named):
    """Represents a short vector of `length` (1 to 256) scalars, stored densely; the base of matrices and the like."""

    length: int
    dtype: Scalar
    names = "xyzw"  # of components, read and written by name on the host
    has_product = False  # whether the language's `*` is another than that of the components

    @property
    def size(self) -> int:
        """Bytes in memory: components lie side by side, without padding."""
        return self.length * self.dtype.size

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name users write: `vec3`, `vec3d`, `vec2i`."""
        suffix = _VECTOR_SUFFIX.get(self.dtype.name)
        named = suffix is not None and 2 <= self.length <= 4
        return f"vec{self.length}{suffix}" if named else f"vector({self.length}, {self.dtype})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The NumPy shape of a value: (length,)."""
        return (self.length,)

    @property
    def parts_shape(self) -> tuple[int, ...]:
        """The shape of a value's scalars: of a vector its own; of a complex number (2,), though its own is ()."""
        return self.shape

    @property
    def numpy(self) -> np.dtype[Any]:
        """The dtype of a NumPy array of such elements: that of the components, or a complex one."""
        return self.dtype.numpy

    @property
    def __numpy_dtype__(self) -> np.dtype[Any]:  # `np.zeros(3, wb.complex64)`
        """The NumPy dtype of a complex number's type, for `np.zeros(3, wb.complex64)`.

        Raises:
            TypeError: it is the type of a vector or matrix.
        """
        if self.shape:  # A TypeError, upon which `jnp.asarray(x)` asks the array for its elements instead.
            raise TypeError(f"NumPy has no dtype for {self.name}")
        return self.numpy

    def __instancecheck__(self, value: object) -> py.bool:
        """Return whether a value has this type, for `isinstance(v, wb.vec3)`."""
        return getattr(value, "type", None) == self

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """Return a base class such that `class vec5(vector(5, float)): …` is another name of the type."""
        return (_alias(self),)

    def slice(self, shape: tuple[int, ...]) -> Vector:
        """Return the type of selected components, a vector or matrix of this shape: `v[0:2]`, `m[0]`, `m[:, 1:3]`."""
        return vector_of(shape, self.dtype)

    def with_dtype(self, dtype: Scalar) -> Vector:
        """Return the type of the same class and length with components of this type."""
        return replace(self, dtype=dtype)

    def __call__(self, *components: Any) -> HostVector:
        """Return a value: of zeros, of one scalar everywhere, or of all components.

        Components may be numbers, vectors or one sequence.

        Raises:
            TypeError: they are of another number, or not numbers.
            OverflowError: a number does not fit the component type.
        """
        if len(components) == 1 and not isinstance(components[0], (int, float, complex, np.generic)):
            if not isinstance(components[0], Iterable):
                raise TypeError(f"{self.name}() takes numbers, not {components[0]!r}")
            components = tuple(cast(Iterable[Any], components[0]))
        if any(isinstance(c, np.ndarray) for c in components):  # vec4(v, w): a vector and what follows it
            components = tuple(n for c in components for n in np.asarray(c).reshape(-1))
        components = components or (0,)
        if len(components) == 1:
            components = components * prod(self.shape)
        if len(components) != prod(self.shape):
            raise TypeError(f"{self.name}() takes 0, 1 or {prod(self.shape)} components, not {len(components)}")
        components_array = np.array([number_type(self)(c) for c in components], dtype=self.numpy)
        return HostVector.of(components_array.reshape(self.shape), self)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Matrix(Vector):
    """Represents a small matrix (up to 256 components): the vector of its components, row by row, and `columns`."""

    columns: int
    names = ""
    has_product = True

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.length // self.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """The NumPy shape of a value: (rows, columns)."""
        return (self.rows, self.columns)

    @property
    def name(self) -> str:
        """The name users write: `mat22`, `mat33d`."""
        suffix = _VECTOR_SUFFIX.get(self.dtype.name)
        if suffix is None or self.dtype.kind is not Kind.FLOAT or min(self.shape) < 2 or max(self.shape) > 4:
            return f"matrix({self.shape}, {self.dtype})"
        return f"mat{self.rows}{self.columns}{suffix}"

    def __call__(self, *components: Any) -> HostVector:
        """Return a value of shape (rows, columns): zeros, one scalar everywhere, or all components row by row."""
        return Vector.__call__(self, *(c for part in components for c in np.asarray(part).reshape(-1)))


@dataclass(frozen=True, repr=False)
class Quaternion(Vector):
    """Represents a quaternion x i + y j + z k + w, held as the vector (x, y, z, w)."""

    has_product = True

    @property
    def name(self) -> str:
        """The name users write: `quat`, `quatd`."""
        suffix = _VECTOR_SUFFIX.get(self.dtype.name)
        return f"quat{suffix}" if suffix is not None else f"quaternion({self.dtype})"


@dataclass(frozen=True, repr=False)
class Transform(Vector):
    """Represents a rigid motion, held as the vector (p, q): a translation and a rotation as a quaternion."""

    names = "pq"
    has_product = True

    @property
    def name(self) -> str:
        """The name users write: `transform`, `transformd`."""
        suffix = _VECTOR_SUFFIX.get(self.dtype.name)
        return f"transform{suffix}" if suffix is not None else f"transform({self.dtype})"

    def part(self, name: str) -> Vector:
        """Return the type of `t.p`, a vector, or of `t.q`, a quaternion."""
        return Vector(3, self.dtype) if name == "p" else Quaternion(4, self.dtype)

    def __call__(self, *components: Any, **named: Any) -> HostVector:
        """Return a transform from `p` and `q`, either alone, or seven numbers; without arguments the identity.

        Raises:
            TypeError: there are arguments of another name or number.
        """
        if not components and {*named} == {"q"}:  # a rotation alone
            named["p"] = (0, 0, 0)
        components += tuple(named.pop(n) for n in "pq"[len(components) :] if n in named)
        if named:
            raise TypeError(f"{self.name}() has the arguments p and q, and not {next(iter(named))}")
        flat = [c for part in components for c in np.asarray(part).reshape(-1)]
        flat = [*flat, 0, 0, 0, 1] if len(flat) == 3 else flat  # a translation alone
        return super().__call__(*(flat or (0, 0, 0, 0, 0, 0, 1)))


@dataclass(frozen=True, repr=False)
class Complex(Vector):
    """Represents a complex number, stored as (real, imag); to NumPy one number of dtype complex64 or complex128."""

    names = ""
    has_product = True

    @property
    def name(self) -> str:
        """The name users write: `complex64`, `complex128`."""
        return f"complex{2 * self.dtype.bits}" if self.dtype.kind is Kind.FLOAT else f"complex({self.dtype})"

    @property
    def real(self) -> Any:
        """The type of the real part, and of the imaginary one: a float."""
        return self.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The NumPy shape of a value: ()."""
        return self.real.shape

    @property
    def parts_shape(self) -> tuple[int, ...]:
        """The shape of a value's floats: its own shape, and (2,) for the two parts."""
        return (*self.shape, 2)

    @property
    def numpy(self) -> np.dtype[Any]:
        """NumPy's complex dtype of this width."""
        return np.dtype(f"complex{2 * self.dtype.bits}")

    def __instancecheck__(self, value: object) -> py.bool:
        """Return whether `value` is a NumPy scalar of this type: `isinstance(z[0], wb.complex64)`."""
        return is_numpy_scalar(value) and value.dtype == self.numpy

    def __call__(self, real: Any = 0, imag: Any = 0) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a NumPy scalar of this type, from a number, or from its real and imaginary parts.

        Raises:
            OverflowError: the number does not fit.
            TypeError: it is no number.
        """
        return number(complex(real, imag) if imag else real, self)  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class ComplexVector(Complex):
    """Represents a vector of complex numbers, or with columns a matrix: the vector of all their parts."""

    columns: int = 0

    @property
    def real(self) -> Vector:
        """The type of the real parts: a vector or a matrix of floats."""
        count = self.length // 2
        return Matrix(count, self.dtype, self.columns) if self.columns else Vector(count, self.dtype)

    @property
    def name(self) -> str:
        """The name users write: `vector(3, complex64)`, `matrix((2, 2), complex128)`."""
        size = self.shape if self.columns else self.shape[0]
        return f"{'matrix' if self.columns else 'vector'}({size}, {number_type(self)!r})"

    @property
    def names(self) -> str:  # type: ignore[override]
        """Letters by which the numbers of a vector are read; empty for a matrix."""
        return self.real.names

    @property
    def has_product(self) -> py.bool:  # type: ignore[override]
        """Return whether `*` of two values is a product of its own, as matrices have, and not number by number.

        It is what holds for vectors of real numbers of the same kind (`real`).
        """
        return self.real.has_product

    def slice(self, shape: tuple[int, ...]) -> Vector:
        """Return the type of a selection of the numbers, of this shape."""
        return in_complex(self.real.slice(shape))

    __instancecheck__ = Vector.__instancecheck__

    def __call__(self, *components: Any) -> HostVector:  # type: ignore[override]
        """Return a value: zeros, one number everywhere, or all of them, row by row."""
        return (Matrix if self.columns else Vector).__call__(self, *components)  # type: ignore[arg-type]


def in_complex(real: Any) -> Complex:
    """Return the complex type whose parts have this type: a float, or a vector or matrix of floats."""
    if isinstance(real, Scalar):
        return Complex(2, real)
    return ComplexVector(2 * real.length, real.dtype, getattr(real, "columns", 0))


class _Alias(type):
    """The metaclass with which a class statement on a type of vectors makes an alias of the type."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], type: Vector | None = None) -> Any:
        """Return a base class that stands for `type`; in a class statement, the type that its base stands for.

        Raises:
            TypeError: the statement's body has names of its own.
        """
        if type is not None:
            alias = super().__new__(cls, name, bases, body)
            alias.stands_for = type
            return alias
        own = [n for n in body if not n.startswith("__")]
        if own:
            raise TypeError(f"class {name}: a type of vectors has no attributes of its own, and {own[0]} is one")
        return bases[0].stands_for  # type: ignore[attr-defined]

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], type: Vector | None = None) -> None:
        """Initialise the class; `type` is for `__new__` alone."""
        super().__init__(name, bases, body)

    stands_for: Vector


def _alias(type: Vector) -> Any:
    """Return a class that stands for a vector type where a Python class is derived from it."""
    return _Alias(type.name, (), {}, type=type)


@dataclass(frozen=True)
class ArrayType(Named):
    """Represents an array parameter: element type (scalar or vector) and number of dimensions (1 to 4).

    One field of an array of structs has its elements `pitch` bytes apart, and begins `offset` bytes into each struct; 0
    and 0 elsewhere.

    Attributes:
        wide: whether its sizes are int64 in a kernel, as one of them is 2³¹ or more. Not part of what users compare:
            an annotation takes both.
    """

    dtype: Scalar | Vector
    ndim: int = 1
    pitch: int = 0
    offset: int = 0
    wide: py.bool = field(default=False, compare=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return the name as users write it."""
        return repr(self)

    @property
    def size_type(self) -> Scalar:
        """The type of the array's sizes in a kernel: int32, or int64 where that is too narrow."""
        return int64 if self.wide else int32

    def __repr__(self) -> str:
        layout = f" at {self.offset} of {self.pitch}" if self.pitch else ""
        return f"array{'' if self.ndim == 1 else f'{self.ndim}d'}[{self.dtype!r}{layout}]"


class Aggregate:
    """The base of types of several elements under one value, in IR only: a thread's `Slots`, a block's `Tile`."""

    dtype: Scalar | Vector


@dataclass(frozen=True)
class Slots(Aggregate):
    """Represents a thread's storage for `count` values in an adjoint: states of a loop that runs backwards."""

    dtype: Scalar | Vector
    count: int

    def __repr__(self) -> str:
        return f"slots[{self.count}, {self.dtype!r}]"


Type: TypeAlias = Scalar | Vector | ArrayType | Aggregate

# `bool` hides Python's below this line: code of this file uses `py.bool` where it means that one.
bool = Scalar("bool", Kind.BOOL, 8)
int8, int16, int32, int64 = (Scalar(f"int{b}", Kind.INT, b) for b in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Scalar(f"uint{b}", Kind.UINT, b) for b in (8, 16, 32, 64))
float16, float32, float64 = (Scalar(f"float{b}", Kind.FLOAT, b) for b in (16, 32, 64))
bfloat16 = Scalar("bfloat16", Kind.FLOAT, 16)

SCALARS: dict[str, Scalar] = {
    t.name: t
    for t in (bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64)
}
complex64, complex128 = (Complex(2, t) for t in (float32, float64))
COMPLEX: dict[str, Complex] = {t.name: t for t in (complex64, complex128)}
NUMBERS: dict[str, Any] = {**SCALARS, **COMPLEX}
"""The types of NumPy's numbers, by NumPy's names."""
WEAK_INT, WEAK_FLOAT = Scalar("int32", Kind.INT, 32, weak=True), Scalar("float32", Kind.FLOAT, 32, weak=True)
_VECTOR_SUFFIX = {
    "float32": "", "float64": "d", "int8": "b", "uint8": "ub", "int16": "s", "uint16": "us", "int32": "i",
    "uint32": "ui", "int64": "l", "uint64": "ul", "float16": "h",
}  # fmt: skip
VECTORS: dict[str, Vector] = {
    f"vec{n}{suffix}": Vector(n, SCALARS[name]) for n in (2, 3, 4) for name, suffix in _VECTOR_SUFFIX.items()
}
VECTORS.update({f"vec{n}f": Vector(n, float32) for n in (2, 3, 4)})
_SPATIAL = {"": float32, "f": float32, "d": float64, "h": float16}
VECTORS.update({f"spatial_vector{suffix}": Vector(6, t) for suffix, t in _SPATIAL.items()})
MATRICES: dict[str, Matrix] = {
    f"mat{r}{c}{suffix}": Matrix(r * c, t, c)
    for r in (2, 3, 4)
    for c in (2, 3, 4)
    for t in SCALARS.values()
    if t.kind is Kind.FLOAT and t.name in _VECTOR_SUFFIX
    for suffix in dict.fromkeys((_VECTOR_SUFFIX[t.name], _VECTOR_SUFFIX[t.name] or "f"))
}
MATRICES.update({f"spatial_matrix{suffix}": Matrix(36, t, 6) for suffix, t in _SPATIAL.items()})
QUATERNIONS: dict[str, Quaternion] = {
    f"quat{suffix}": Quaternion(4, t)
    for t in SCALARS.values()
    if t.kind is Kind.FLOAT and t.name in _VECTOR_SUFFIX
    for suffix in dict.fromkeys((_VECTOR_SUFFIX[t.name], _VECTOR_SUFFIX[t.name] or "f"))
}

TRANSFORMS: dict[str, Transform] = {
    name.replace("quat", "transform"): Transform(7, q.dtype) for name, q in QUATERNIONS.items()
}

# What Python's own names mean in an annotation or a cast.
PYTHON_TYPES: dict[type, Any] = {py.bool: bool, py.int: int32, py.float: float32, complex: complex64}


MOST_COMPONENTS = 256


@dataclass(frozen=True)
class AnyVector(Named):
    """Represents an annotation for vectors or matrices of partly open type: `vector(length=Any, dtype=float)`.

    Attributes:
        shape: the sizes; None for one that is open.
        dtype: the scalar type, or a family of them; None if it is open.
        kinds: the class of types: `Vector`, `Matrix`, `Quaternion` or `Transform`.
    """

    shape: tuple[int | None, ...]
    dtype: Any
    kinds: type[Vector]
    __wb_generic__ = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return the name as users write it."""
        sizes = ", ".join("Any" if n is None else str(n) for n in self.shape)
        dtype = self.dtype or "Any"
        if self.kinds is Vector or self.kinds is Matrix:
            return f"vector({sizes}, {dtype})" if self.kinds is Vector else f"matrix(({sizes}), {dtype})"
        return f"{str(self.kinds.__name__).lower()}({dtype})"

    def accepts(self, type: Any) -> py.bool:
        """Return whether a type is one of those that this annotation stands for."""
        real = type.real if isinstance(type, ComplexVector) else type
        fits, own = isinstance(type, Vector) and real.__class__ is self.kinds, number_type(type)
        fits = fits and (self.dtype.accepts(own) if _is_family(self.dtype) else self.dtype in (None, own))
        return fits and all(n in (None, m) for n, m in zip(self.shape, type.shape, strict=True))

    def __repr__(self) -> str:
        return self.name


def _is_open(spec: Any) -> py.bool:
    """Return whether a size or dtype is left open: `Any`, a type variable, or a family of types."""
    return spec is Any or isinstance(spec, TypeVar) or _is_family(spec)


def _is_family(spec: Any) -> py.bool:
    """Return whether the value is a family of types, which has `accepts`."""
    return hasattr(spec, "accepts")


def any_vector(kinds: type[Vector], shape: tuple[Any, ...], dtype: Any) -> AnyVector | None:
    """Return the annotation for a partly open type of vectors; None if no size and not the dtype is open.

    A part is open if it is `Any`, a type variable or a family of types.
    """
    if not any(map(_is_open, (*shape, dtype))):
        return None
    sizes = tuple(None if _is_open(n) else n for n in shape)
    dtype = getattr(dtype, "__bound__", None) or dtype
    scalar = dtype if _is_family(dtype) else None if _is_open(dtype) else number_type(as_type(dtype))
    return AnyVector(sizes, scalar, kinds)


def vector(length: int, dtype: Any) -> Vector:
    """Return the vector type of `length` (1 to 256) and scalar `dtype`; where one is `Any`, an annotation for all.

    Returns:
        The type; called with components it is a value, in kernels and here.

    Raises:
        TypeError: the length is out of range, or the dtype is not a scalar type.
    """
    wanted = f"length is 1 to {MOST_COMPONENTS} and dtype a scalar type; longer data belongs into an array"
    return _small(Vector, (length,), dtype, f"vector(length={length!r}, dtype={dtype!r}): {wanted}")


def matrix(shape: Any, dtype: Any) -> Matrix:
    """Return the matrix type of `shape` (rows, columns), each at least 1, of up to 256 components of scalar `dtype`.

    Returns:
        The type; called with components, row by row, it is a value, in kernels and here.

    Raises:
        TypeError: the shape is not a pair of such sizes, or the dtype is not a scalar type.
    """
    written = cast(Sequence[Any], shape) if isinstance(shape, (tuple, list)) else ()
    sizes = tuple(written) if len(written) == 2 else ()
    wanted = f"shape is two sizes from 1 on, of up to {MOST_COMPONENTS} components in all, and dtype a scalar type"
    return _small(Matrix, sizes, dtype, f"matrix(shape={shape!r}, dtype={dtype!r}): {wanted}")


def _small(kinds: type[Vector], sizes: tuple[Any, ...], dtype: Any, refusal: str) -> Any:
    """Return the vector or matrix type of these sizes, or the annotation if a part is open.

    Raises:
        TypeError: with the message `refusal`: sizes or dtype are not allowed.
    """
    if sizes and (generic := any_vector(kinds, sizes, dtype)):
        return generic
    number = as_type(dtype)
    sizes = tuple(py.int(cast("np.integer[Any]", n)) if isinstance(n, np.integer) else n for n in sizes)
    if not all(isinstance(n, py.int) for n in sizes) or not is_small(sizes) or number != number_type(number):
        raise TypeError(refusal)
    return vector_of(sizes, number)


def vector_of(shape: Sequence[int], number: Any) -> Any:
    """Return the type of a vector, or of a matrix, of this NumPy shape, whose numbers are of the type `number`."""
    if isinstance(number, Complex):
        return in_complex(vector_of(shape, number.dtype))
    return Matrix(prod(shape), number, shape[1]) if len(shape) == 2 else Vector(shape[0], number)


for _make, _kind in ((vector, Vector), (matrix, Matrix)):
    _make.__dict__["__wb_makes__"] = _kind  # in kernels they make values, too: `vector(1.0, 2.0)`


def is_wide(shape: Sequence[int]) -> py.bool:
    """Return whether one of the sizes is 2³¹ or more, which an int32 cannot hold."""
    return max(shape, default=0) >= 2**31


def is_small(shape: Sequence[int]) -> py.bool:
    """Return whether a vector or matrix of this NumPy shape is a type of the language."""
    return len(shape) in (1, 2) and all(n >= 1 for n in shape) and prod(shape) <= MOST_COMPONENTS


def as_type(spec: Any) -> Scalar | Vector:
    """Return the element type of `spec`: a type of the language, Python's int, float, bool or complex, or a dtype.

    Raises:
        TypeError: `spec` names no scalar or vector type of the language.
    """
    if isinstance(spec, (Scalar, Vector)):
        return spec.plain if isinstance(spec, Scalar) else spec
    if isinstance(spec, type) and spec in PYTHON_TYPES:
        return PYTHON_TYPES[spec]
    try:
        name = np.dtype(spec).name
    except (TypeError, ValueError):
        name = ""
    if name in NUMBERS:
        return NUMBERS[name]
    shown = spec.__name__ if isinstance(spec, type) else repr(spec)
    known = ", ".join((*NUMBERS, "vec2", "vec3", "vec4"))
    raise TypeError(f"{shown} is not a type of the kernel language, which has {known}")


def element(t: Any) -> Scalar:
    """Return the scalar at the bottom of a type: a vector's component, an array's or tile's element.

    Of a complex type it is the float of its parts; of a struct see `Struct.dtype`.
    """
    while not isinstance(t, Scalar):
        t = t.dtype
    return t


def number_type(t: Any) -> Any:
    """Return the type of the numbers that NumPy and JAX see in a type's values: the component's, or a complex one."""
    while not isinstance(t, (Scalar, Complex)):
        t = t.dtype
    return Complex(2, t.dtype) if isinstance(t, ComplexVector) else t


def is_complex(t: Any) -> py.bool:
    """Return whether the numbers of the type are complex."""
    return isinstance(number_type(t), Complex)


def is_vector(t: Any) -> py.bool:
    """Return whether the type is a vector, also of complex numbers, but no matrix, quaternion or transform."""
    return type(t) is Vector or (isinstance(t, ComplexVector) and not t.columns)


def is_float(t: Any) -> py.bool:
    """Return whether the type is a float or has float components, and so can carry a gradient."""
    return element(t).kind is _FLOAT


_FLOAT, _INTEGERS = Kind.FLOAT, (Kind.INT, Kind.UINT)  # to look a member up in an Enum takes 0.2 µs


def is_half(t: Type) -> py.bool:
    """Return whether the type is a float of 16 bits, or a vector, array or tile of them."""
    return element(t).is_half


def in_float32(t: Scalar | Vector) -> Scalar | Vector:
    """Return the type with float32 in the place of a float of 16 bits; any other type itself."""
    if not is_half(t):
        return t
    return t.with_dtype(float32) if isinstance(t, Vector) else float32


def is_weak(t: Any) -> py.bool:
    """Return whether a type is weak: a value made of literals alone, which takes the type of what it meets."""
    return isinstance(t, Scalar) and t.weak


def strong(t: Any) -> Any:
    """Return the type that a weak type is by default; any other type itself."""
    return SCALARS[t.name] if is_weak(t) else t


def wrapped(number: int, t: Scalar) -> int:
    """Return the integer of this type that has the lowest bits of a number, as a cast in C does."""
    bits = number % 2**t.bits
    return bits - 2**t.bits if t.kind is Kind.INT and bits >= 2 ** (t.bits - 1) else bits


def is_integer(t: Type) -> py.bool:
    """Return whether the type is a signed or unsigned integer scalar."""
    return isinstance(t, Scalar) and t.kind in _INTEGERS
