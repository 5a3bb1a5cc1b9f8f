"""Stand-ins for `warp._src.…`: names that are public too; Warp's compiler and runtime are refused by name."""

from __future__ import annotations

import importlib
import inspect
import sys
from contextlib import nullcontext
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar, get_origin

from workbench.compat.warp.absent import absent
from workbench.compat.warp.kinds import number_type
from workbench.compat.warp.modules import natives, types
from workbench.compat.warp.modules.types import ARRAYS, normal, types_equal
from workbench.compat.warp.names import TABLE, struct_of, variable
from workbench.runtime.arrays.array import array as wp_array
from workbench.runtime.arrays.structure import StructValue
from workbench.types import element


class Internals(ModuleType):
    """Represents a module below `warp._src`: its public names, wherever Workbench has them."""

    def __init__(self, name: str, spec: Any) -> None:
        """Create a package without files of its own; `name` is dotted and begins with `warp._src`."""
        super().__init__(name)
        self.__spec__, self.__path__ = spec, []

    def __getattr__(self, name: str) -> Any:
        """Return a submodule of `warp._src`, a name's stand-in or public value, or else an `absent` class."""
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == "warp._src":
            return importlib.import_module(f"warp._src.{name}")
        if name in OWN:
            return OWN[name]
        wp = sys.modules["workbench.compat.warp"]
        values = [getattr(m, name, None) for m in ((wp,) if name in TABLE else (wp.types, wp))]
        usable = [v for v in values if v is not None and not isinstance(v, ModuleType)]
        return usable[0] if usable else absent(f"{self.__name__.removeprefix('warp.')}.{name}")


def _arguments(function: Any) -> inspect.FullArgSpec:
    """Return a function's `inspect.FullArgSpec`, with annotations that are text evaluated."""
    spec = inspect.getfullargspec(function)
    return spec._replace(annotations=inspect.get_annotations(function, eval_str=True))


def _resolved(function: Any, name: str) -> Any:
    """Return the value of a name in a function's closure or module; None if there is none."""
    names = inspect.getclosurevars(function)
    return names.nonlocals.get(name, getattr(function, "__globals__", {}).get(name))


class _Subscript:
    """Makes annotations of subscripts: `Vector[float, 3]` is the type that `make` returns for float and 3."""

    def __init__(self, make: Any) -> None:
        """Make types by `make`, a function of a dtype and sizes."""
        self.make = make

    def __getitem__(self, parts: Any) -> Any:
        """Return what `make` returns for the parts of a subscript, a dtype and sizes; `Literal[3]` is a size."""
        dtype, *sizes = parts if isinstance(parts, tuple) else (parts,)
        return self.make(dtype, *(n.__args__[0] if get_origin(n) is Literal else n for n in sizes))


class _Struct(type):
    """The class of structs in `warp._src`: `Struct(key=…, cls=…, module=…)` makes one of a class, called `key`.

    `isinstance` is true of every struct class.
    """

    def __new__(mcs, key: str, cls: type, module: Any) -> Any:
        """Return a struct class of `cls`, which gets the name `key`, evaluated annotations and no defaults."""
        cls.__name__ = key
        cls.__annotations__ = inspect.get_annotations(cls, locals=dict(vars(cls)), eval_str=True)
        for name in cls.__annotations__:
            if name in vars(cls):  # of another struct, or None: no default
                delattr(cls, name)
        return struct_of(cls, module)

    def __instancecheck__(cls, value: Any) -> bool:
        """Return whether a value is a struct class."""
        return isinstance(value, type) and issubclass(value, StructValue)


_CORE = absent(
    "_src.context.runtime.core", **natives.calls(), wp_is_error_output_enabled=lambda: False,
    wp_set_error_output_enabled=lambda enabled: None,
)  # fmt: skip
"""A stand-in for Warp's native library, with few calls."""
_RUNTIME = absent(
    "_src.context.runtime", core=_CORE, get_error_string=lambda: "",
    **dict.fromkeys(("_apic_graph", "_apic_capture", "tape")),
)  # fmt: skip
"""A stand-in for Warp's runtime, in which no graph is being written."""
OWN: dict[str, Any] = {
    "runtime": _RUNTIME,
    "_get_apic_capture_for_device": lambda device: None,
    **{name: variable(name) for name in ("Rows", "Cols", "Length", "DType", "Shape")},
    "register_api_function": lambda f=None, *args, **options: f if callable(f) else lambda g: g,
    "type_scalar_type": lambda dtype: number_type(element(normal(dtype))),
    "type_to_warp": normal,
    "type_length": lambda dtype: getattr(normal(dtype), "length", 1),
    "type_zero_element": lambda dtype: normal(dtype)(0),
    "Vector": _Subscript(lambda dtype, length: types.vector(length, dtype)),
    "Matrix": _Subscript(lambda dtype, *shape: types.matrix(shape, dtype)),
    "Quaternion": _Subscript(types.quaternion),
    "Transformation": _Subscript(types.transformation),
    "Array": Generic[TypeVar("DType")],
    "Struct": _Struct,
    "StructInstance": StructValue,
    "get_annotations": lambda thing: inspect.get_annotations(thing, eval_str=True),
    "get_full_arg_spec": _arguments,
    "make_full_qualified_name": lambda f: (f if isinstance(f, str) else f.__qualname__).replace(".", "__"),
    "resolve_closure_or_global": _resolved,
    "det_buffer_allocation_scope": lambda *args, **options: nullcontext(),
    "concrete_array_type": lambda t: wp_array if isinstance(t, ARRAYS) else type(t),
    "types_equal_generic": lambda a, b: types_equal(a, b, match_generic=True),
    "get_type_code": lambda kind: repr(normal(kind)),
    **{name: lambda *args, **options: None for name in ("capture_pause", "capture_resume")},
    "_is_graph_capture_allocation_supported": lambda device: True,
}
"""The names of `warp._src` that the wheel's plain parts use."""
