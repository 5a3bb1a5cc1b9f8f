"""Wrappers that follow what they were made from: their kernel, and the names around a Python function.

**The kernel.** After the cell was edited and run again, `f = wb.jax_kernel(spring)` is the new one. A cell's binding
decides (see `api/kernels/editions.py`). What JAX compiled with the old one cannot follow: see `native/edits.py`.

**The names.** A program traced from a Python function is valid as long as they stay the same. The function's code, and
that of the functions it calls, shows which global names, variables of enclosing functions and attributes it may read. A
fingerprint of what these names mean is compared at the next call: numbers, strings and containers by content, the
user's functions by their code and its own dependences, objects and modules by the attributes that are read. Functions
and classes of libraries are assumed not to change.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from workbench.api.kernels.editions import newest
from workbench.api.kernels.kernel import Kernel
from workbench.errors import LaunchError, its_type
from workbench.interop.jax.values.signature import FunctionObject
from workbench.runtime.arrays.array import array
from workbench.types import Scalar

W = TypeVar("W", bound="Wrapper")


@dataclass
class Newest(Generic[W]):
    """Holds the function that makes a wrapper for another kernel, and the wrapper that it made last."""

    make: Callable[[Kernel], W] | None = None
    wrapper: W | None = None


class Wrapper(Protocol):
    """Describes a kernel as a JAX function, as far as following its kernel goes."""

    @property
    def kernel(self) -> Kernel:
        """The wrapped kernel."""
        ...

    @property
    def _newest(self) -> Newest[Any]:
        """The function that makes the wrapper of a newer kernel, and the last one from it."""
        ...


def followed(wrapped: W, make: Callable[[Kernel], W]) -> W:
    """Let `wrapped` follow edits, and return it: `make` makes the wrapper of the kernel that replaces its kernel."""
    wrapped._newest.make = make
    return wrapped


def current(wrapped: W) -> W:
    """Return the wrapper of the newest version of a wrapper's kernel; the wrapper itself if it has that.

    Raises:
        LaunchError: the kernel is out of date, or the new one does not fit the wrapper's options.
    """
    old = wrapped.kernel
    kernel = newest(old)
    if kernel is old:
        if old.stale:
            raise LaunchError(f"{old.name} is out of date: {old.stale}", advice="Fix its cell and run it again.")
        return wrapped
    wrapper = wrapped._newest.wrapper
    if wrapper is None or wrapper.kernel is not kernel:
        assert wrapped._newest.make is not None
        with naming_the_edit(wrapped):
            wrapper = wrapped._newest.wrapper = wrapped._newest.make(kernel)
    return wrapper


@contextmanager
def naming_the_edit(wrapped: Wrapper, newest: Wrapper | None = None) -> Iterator[None]:
    """Prefix the edit of the kernel to a LaunchError that is raised in a `with` block, as its cause.

    An error is passed on unchanged if `newest`, the new kernel's wrapper, is given and its annotations are the same.
    """
    try:
        yield
    except LaunchError as error:
        # The parameters are the same, so the edit did not cause the error.
        if newest is not None and newest.kernel.annotations == wrapped.kernel.annotations:
            raise
        advice = f"Wrap the new one: wb.jax_kernel({wrapped.kernel.name}, …)."
        edit = (wrapped.kernel.edition.outdated or wrapped.kernel.stale).rstrip(".")
        raise replace(error, message=f"{edit}. {error.message}", advice=advice, function="") from None


def refuse_text(kernel: object) -> None:
    """Check that an object is a kernel that can be wrapped: one in Python.

    Raises:
        LaunchError: it is no kernel, or is CUDA C++.
    """
    if not isinstance(kernel, Kernel):
        advice = "A function that launches kernels goes to wb.jax_callable."
        raise LaunchError(f"jax_kernel() takes a kernel, not {its_type(kernel)}.", advice=advice)
    if type(kernel) is Kernel:
        return
    from workbench.api.cuda_cpp.kernel import CudaKernel  # late: 20 ms, which a first call of a kernel would wait

    if isinstance(kernel, CudaKernel):
        raise LaunchError(
            f"{kernel.name} is CUDA C++, which JAX's programs cannot call.",
            function=kernel.name,
            advice="Call it outside of JAX, or write the kernel in Python.",
        )


def refuse_outdated(kernel: Kernel) -> None:
    """Check that a kernel is the newest version of its name.

    Raises:
        LaunchError: a cell has bound the kernel's name to another version.
    """
    if newest(kernel) is not kernel:
        raise LaunchError(
            f"{kernel.edition.outdated or kernel.stale}, and this is the one from before.",
            advice=f"Wrap the new one, wb.jax_kernel({kernel.name}, …), or give the old one a name of its own.",
        )


def forget_outdated(plans: dict[Any, Any], cases: dict[Any, Any]) -> None:
    """Drop the plans and signatures of specialisations that use a name which means something else now."""
    for key in [k for k in plans if not k[0].is_current()]:
        del plans[key]
    for key in [k for k, case in cases.items() if not case.specialisation.is_current()]:
        del cases[key]


_PLAIN = (bool, int, str, bytes, type(None), Scalar)
_CONTAINERS = (tuple, list, set, frozenset, dict)


def surroundings(function: Callable[..., Any]) -> Any:
    """Return a snapshot of all that the function can read, to be compared with a later one.

    It holds the objects that are compared by identity.
    """
    return _Reading().function(function)


class _Same:
    """Wraps an object so that it is compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        """Hold the object."""
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Return whether `other` wraps the same object."""
        return isinstance(other, _Same) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]


class _Reading:
    """Takes a snapshot of what a function can read; `open` has the objects that are or were visited, by id."""

    def __init__(self) -> None:
        """Begin a snapshot with no object visited."""
        self.open: dict[int, object] = {}

    def function(self, function: Any) -> Any:
        """Return a key of a function that changes with its code, defaults, and values of names that it can read."""
        code: CodeType = function.__code__
        names = tuple(dict.fromkeys(_names(code)))
        around, cells = function.__globals__, function.__closure__ or ()
        globals_read = [(n, self.value(around[n], names)) for n in names if n in around]
        for name, cell in zip(code.co_freevars, cells, strict=True):
            try:
                globals_read.append((name, self.value(cell.cell_contents, names)))
            except ValueError:  # not assigned yet
                continue
        defaults = self.value((function.__defaults__, function.__kwdefaults__), names)
        return _Same(code), globals_read, defaults

    def value(self, value: Any, names: tuple[str, ...]) -> Any:
        """Return a key of a value that changes if code which uses these names could see a difference."""
        if isinstance(value, _PLAIN):
            return type(value), value
        if isinstance(value, float):
            return type(value), value.hex()  # 0.0 is not -0.0, and NaN is itself
        if isinstance(value, (np.ndarray, np.generic)):
            return value.dtype, value.shape, value.tobytes()
        if isinstance(value, array):
            return _Same(value), value.memory.version
        if isinstance(value, Kernel) or id(value) in self.open:
            return _Same(value)
        self.open[id(value)] = value
        held = type(value) if isinstance(value, (*_CONTAINERS, partial, MethodType)) else _Same(value)
        return (held, *self.parts(value, names))

    def parts(self, value: Any, names: tuple[str, ...]) -> Iterator[Any]:
        """Yield keys of the parts of a value that code with these names can see."""
        if isinstance(value, dict):
            yield from ((self.value(k, names), self.value(v, names)) for k, v in value.items())
        elif isinstance(value, _CONTAINERS):
            yield from (self.value(v, names) for v in value)
        elif isinstance(value, partial):
            yield self.value((value.func, value.args, value.keywords), names)
        elif isinstance(value, MethodType):
            yield self.value((value.__func__, value.__self__), names)
        elif isinstance(value, ModuleType):
            if not _is_library(value.__name__):
                yield from self.attributes(vars(value), names)
        elif isinstance(value, FunctionObject):  # another `jax_callable`
            yield self.value(getattr(value, "function", None), names)
        elif isinstance(value, FunctionType):
            if not _is_library(value.__module__ or ""):
                yield self.function(value)
        else:
            kinds = (value if isinstance(value, type) else type(value)).__mro__
            if not isinstance(value, type):
                yield from self.attributes(getattr(value, "__dict__", {}), names)
                slots = (n for n in names for k in kinds if isinstance(vars(k).get(n), MemberDescriptorType))
                yield from ((n, self.value(getattr(value, n, None), names)) for n in slots)
            for kind in kinds:
                if not _is_library(kind.__module__):
                    yield from self.attributes(vars(kind), names)

    def attributes(self, held: Any, names: tuple[str, ...]) -> Iterator[Any]:
        """Yield those of `names` that are attributes in `held`, each with a key of its value."""
        yield from ((n, self.value(held[n], names)) for n in names if n in held)


@lru_cache(maxsize=1024)
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names that code, and the functions and comprehensions inside it, look up in globals or in objects."""
    inner = (n for c in code.co_consts if isinstance(c, CodeType) for n in _names(c))
    return (*code.co_names, *inner)


@lru_cache(maxsize=1024)
def _is_library(module: str) -> bool:
    """Return whether a module is Workbench's, Python's, or installed."""
    root = module.partition(".")[0]
    if root == "workbench" or (root in sys.stdlib_module_names and root != "__main__"):
        return True
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return any(file.startswith(sysconfig.get_path(kind)) for kind in ("purelib", "platlib"))
