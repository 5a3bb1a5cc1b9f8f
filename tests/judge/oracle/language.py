"""The names that a program finds when the oracle runs it: a `wb` of the oracle's own, and Python's few."""

from __future__ import annotations

import builtins
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from tests.judge.oracle import composites, tiles
from tests.judge.oracle.composites import Composite, Scalar, StructType, Whole, each
from tests.judge.oracle.maths import SCALARS, larger, smaller
from tests.judge.oracle.memory import Array, atomic
from tests.judge.oracle.numbers import Number, Weak, common, number, typed
from tests.judge.oracle.random_numbers import DRAWS
from tests.judge.oracle.run import Current
from tests.judge.oracle.tiles import mapped
from tests.judge.oracle.types import FLOATS, INTEGERS, Unsupported, is_float, meet

SUFFIXES = {"": "float32", "f": "float32", "d": "float64", "h": "float16", "i": "int32", "ub": "uint8", "b": "int8",
            "s": "int16", "us": "uint16", "ui": "uint32", "l": "int64", "ul": "uint64"}  # fmt: skip


class Parameter:
    """The annotation of an array or of anything: no value is converted to it."""

    def __getitem__(self, item: Any) -> Parameter:
        return self

    def __call__(self, *args: Any, **named: Any) -> Parameter:
        return self

    def convert(self, value: Any) -> Any:
        return value


def _types() -> dict[str, Any]:
    result: dict[str, Any] = {t: Scalar(t) for t in ("bool", *INTEGERS, *FLOATS)}
    for suffix, t in SUFFIXES.items():
        for n in (2, 3, 4):
            result[f"vec{n}{suffix}"] = Composite("vector", (n,), t)
            for m in (2, 3, 4):
                result[f"mat{n}{m}{suffix}"] = Composite("matrix", (n, m), t)
        result[f"quat{suffix}"] = Composite("quaternion", (4,), t)
        result[f"transform{suffix}"] = Composite("transform", (7,), t)
    return result


def _vector(length: int, dtype: Any) -> Composite:
    return Composite("vector", (int(length),), _scalar(dtype))


def _matrix(shape: tuple[int, int], dtype: Any) -> Composite:
    return Composite("matrix", tuple(shape), _scalar(dtype))


def _scalar(dtype: Any) -> str:
    return {"Float": "float32", "Int": "int32"}.get(type(dtype).__name__) or dtype.name


def as_type(annotation: Any) -> Any:
    """The type that an annotation means."""
    return {float: Scalar("float32"), int: Scalar("int32"), bool: Scalar("bool")}.get(annotation, annotation)


def struct(definition: type) -> StructType:
    """`@wb.struct`."""
    return StructType(definition.__name__, {n: as_type(a) for n, a in definition.__annotations__.items()})


def value(v: Any) -> Any:
    """What an assignment gives to a name: a copy."""
    if isinstance(v, tuple):
        return tuple(map(value, v))
    return v.copy() if hasattr(v, "copy") and not isinstance(v, (Array, list)) else v


class Func:
    """Versions of a func: arguments are values, and take the types that its annotations say."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.versions: list[tuple[Callable[..., Any], inspect.Signature]] = []

    def add(self, f: Callable[..., Any]) -> None:
        self.versions.append((f, inspect.signature(f)))

    def __call__(self, *args: Any, **named: Any) -> Any:
        scored = [(self._fit(s, args, named), -k) for k, (_, s) in enumerate(self.versions)]
        f, signature = self.versions[-max(scored)[1]]
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        for name, given in bound.arguments.items():
            bound.arguments[name] = _convert(given, signature.parameters[name].annotation)
        result = f(*bound.args, **bound.kwargs)
        said = signature.return_annotation
        if said is not inspect.Signature.empty and hasattr(as_type(said), "convert"):
            return _convert(result, said)
        return value(result)

    def _fit(self, signature: inspect.Signature, args: Any, named: Any) -> int:
        try:
            bound = signature.bind(*args, **named)
        except TypeError:
            return -1
        score = 0
        for name, v in bound.arguments.items():
            wanted = as_type(signature.parameters[name].annotation)
            score += 2 * (_own_type(v) == wanted)
        return score


def _own_type(v: Any) -> Any:
    if isinstance(v, Whole):
        return v.type
    return Scalar(common(v)) if isinstance(v, (Number, Weak, int, float)) else None


def _convert(v: Any, annotation: Any) -> Any:
    wanted = as_type(annotation)
    if isinstance(wanted, Scalar) or (isinstance(wanted, Composite) and isinstance(v, Whole)):
        return wanted.convert(v)
    return value(v)


class Counter:
    """Python's range with counters of the language."""

    def __init__(self, *bounds: Any) -> None:
        t = common(*bounds)
        self.t = "int32" if t in ("bool", "int8", "int16", "uint8", "uint16") else t
        self.range = range(*(b.__index__() for b in bounds))

    def __iter__(self) -> Iterator[Number]:
        for k in self.range:
            yield Number(k, self.t)

    def __reversed__(self) -> Iterator[Number]:
        return reversed(list(self))

    def __len__(self) -> int:
        return len(self.range)


def _enumerate(items: Any) -> Iterator[tuple[Number, Any]]:
    return ((Number(k, "int32"), item) for k, item in enumerate(items))


def tid() -> Any:
    """The thread's index."""
    own = (Current.run.lane,) if Current.run.lanes else ()
    index = tuple(Number(k, "int32") for k in (*Current.run.index, *own))
    return index if len(index) > 1 else index[0]


def _extreme(f: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        if len(values) == 1:
            values = tuple(values[0])
        result = values[0]
        for v in values[1:]:
            result = each(f, result, v)
        return result

    return call


def _function(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: each(f, *values)


def _type_of(v: Any) -> Any:
    if isinstance(v, Whole):
        return v.type
    known = number(v)
    if known is None:
        raise Unsupported("the type of a literal")
    return Scalar(known.t)


def lower_bound(array: Array, *rest: Any) -> Number:
    """The first index whose element is not below the value."""
    *bounds, wanted = rest
    first, last = (b.__index__() for b in bounds) if bounds else (0, len(array))
    while first < last:
        middle = (first + last) // 2
        if bool(array[middle] < wanted):
            first = middle + 1
        else:
            last = middle
    return Number(first, "int32")


def _length(v: Any) -> Any:
    return Number(len(v), "int32") if isinstance(v, Array) else len(v)


ATOMICS: dict[str, Any] = {
    "atomic_add": ("add", lambda old, v: old + v), "atomic_sub": ("sub", lambda old, v: old - v),
    "atomic_min": ("min", lambda old, v: each(smaller, old, v)),
    "atomic_max": ("max", lambda old, v: each(larger, old, v)),
    "atomic_and": ("and", lambda old, v: old & v), "atomic_or": ("or", lambda old, v: old | v),
    "atomic_xor": ("xor", lambda old, v: old ^ v), "atomic_exch": ("exch", lambda old, v: v),
    "atomic_cas": ("cas", lambda old, test, v: v if _same_bits(old, test) else old),
}  # fmt: skip


def _same_bits(a: Number, b: Number) -> bool:
    if isinstance(a.v, (int, bool)):
        return a.v == b.v
    return a.v.tobytes() == b.v.tobytes()


CONSTANTS = {
    "pi": math.pi, "PI": math.pi, "e": math.e, "E": math.e, "tau": math.tau, "TAU": math.tau,
    "inf": math.inf, "INF": math.inf, "nan": math.nan, "NAN": math.nan, "HALF_PI": math.pi / 2, "half_pi": math.pi / 2,
}  # fmt: skip


class Library(SimpleNamespace):
    """The oracle's `workbench`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("array") or name in ("Float", "Int", "Scalar"):
            return Parameter()
        raise Unsupported(f"wb.{name}")


def _names() -> dict[str, Any]:
    names: dict[str, Any] = {**_types(), **{name: mapped(_function(f)) for name, f in SCALARS.items()}, **DRAWS}
    names |= {name: Weak(v) for name, v in CONSTANTS.items()}
    names |= {name: atomic(kind, combine) for name, (kind, combine) in ATOMICS.items()}
    names |= {
        "min": mapped(_extreme(smaller)), "max": mapped(_extreme(larger)), "where": mapped(composites.where),
        "dot": composites.dot,
        "length": composites.length, "length_sq": composites.length_sq, "normalize": composites.normalize,
        "cross": composites.cross, "outer": composites.outer, "transpose": lambda m: m.T,
        "cw_mul": lambda a, b: each(lambda x, y: x * y, a, b), "cw_div": lambda a, b: each(lambda x, y: x / y, a, b),
        "vector": _vector, "matrix": _matrix, "struct": struct, "tid": tid, "static": lambda v: v,
        "lower_bound": lower_bound, "len": _length, "printf": lambda *args: None, "func_grad": lambda f: lambda g: g,
        "matrix_from_rows": composites.rows, "matrix_from_cols": lambda *v: composites.rows(*v).T,
        "identity": composites.identity, "diag": composites.diagonal, "skew": composites.skew, **tiles.NAMES,
        "get_diag": lambda m: Composite("vector", (len(m),), m.type.scalar)(*(m[k, k] for k in range(len(m)))),
        "trace": lambda m: composites.inexact_sum([m[k, k] for k in range(len(m))]),
    }  # fmt: skip
    return names


NAMES = _names()
PYTHON = {
    "float": NAMES["float32"], "int": NAMES["int32"], "bool": NAMES["bool"], "min": NAMES["min"], "max": NAMES["max"],
    "abs": NAMES["abs"], "round": NAMES["round"], "range": Counter, "len": _length,
    "enumerate": _enumerate, "type": _type_of, "pow": NAMES["pow"], "print": lambda *args, **named: None,
}  # fmt: skip


def _typed_value(annotation: Any, v: Any) -> Any:
    wanted = as_type(annotation)
    return wanted.convert(v) if isinstance(wanted, (Scalar, Composite)) else value(v)


def _join(value: Any, carried: str = "") -> Any:
    """A value of a ternary, or of a name that a loop carries, in the type that it has in all threads.

    A sum that starts with a literal is at least an int32 or float32.
    """
    joins, own = Current.run.joins, number(value)
    if own is None and not isinstance(value, (Weak, int, float)):
        return value
    types = joins.types.setdefault((carried, *_calls(bool(carried))), set())
    if not joins.settled:
        types.add("" if own is None else own.t)
        return value
    strong = [Number(0, t) for t in sorted(types - {""})]
    if not strong:
        return value
    t = common(*strong, *([] if own is not None else [value]))
    if carried and "" in types and t != "bool":
        t = meet(t, "float32" if is_float(t) else "int32")
    return typed(value, t)


def _calls(of_loop: bool) -> tuple[int, ...]:
    """The instructions at which the program's frames are, whose code is the oracle's copy of its text.

    A loop joins its names at several instructions; its own frame counts by its first line.
    """
    instructions: list[int] = []
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<oracle:"):
            instructions += [0 if of_loop and not instructions else frame.f_lasti, frame.f_code.co_firstlineno]
        frame = frame.f_back
    return tuple(instructions)


def namespace(text_name: str) -> dict[str, Any]:
    """A fresh module's names."""
    funcs: dict[str, Func] = {}

    def func(f: Callable[..., Any]) -> Func:
        entry = funcs.setdefault(f.__name__, Func(f.__name__))
        entry.add(f)
        return entry

    def kernel(*args: Any, **named: Any) -> Any:
        def decorated(f: Callable[..., Any]) -> Callable[..., Any]:
            f.fma = bool(named.get("fma"))  # type: ignore[attr-defined]
            return f

        return decorated(args[0]) if args else decorated

    library = Library(**NAMES, func=func, kernel=kernel)

    def imported(name: str, *rest: Any, **named: Any) -> Any:
        return library if name == "workbench" else builtins.__import__(name, *rest, **named)

    own = vars(builtins) | PYTHON | {"__import__": imported}
    return {
        "__builtins__": own, "__name__": text_name, "__value__": value, "__typed__": _typed_value, "__literal__": Weak,
        "__each__": lambda items: map(value, items), "__join__": _join, "__carried__": _join,
    }  # fmt: skip


__all__ = ["namespace", "typed"]
