"""Names of Warp that Workbench lacks: refused when used, or accepted without effect and mentioned once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from workbench.frontend.names.python_names import instead_of

ABSENT = (
    "BvhQueryTiled", "HashGridQuery", "MarchingCubes", "MeshQueryAABBTiled", "Texture1D", "Texture2D", "Texture3D",
    "Volume", "fabricarray", "fabricarrayarray", "indexedfabricarray", "indexedfabricarrayarray", "fixedarray",
    "tile_stack",
)  # fmt: skip


class _Absent(type):
    """The metaclass of classes of Warp that Workbench lacks: they serve for annotations and `isinstance`.

    Creating an instance raises NotImplementedError, and most attributes raise AttributeError, each naming the class.
    """

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Return the class itself for an annotation, with only `shape`, `dtype`, `ndim` or `capacity` by name.

        Raises:
            NotImplementedError: any other call; it says what to use instead.
        """
        if options and not args and set(options) <= {"shape", "dtype", "ndim", "capacity"}:
            return cls  # an annotation
        raise NotImplementedError(f"wp.{cls.__name__} is not in Workbench. {instead_of(cls.__name__, True)}".rstrip())

    def __getattr__(cls, name: str) -> Any:
        """Return a harmless value for `core`, `wp_is_…` and names in capitals; other names raise AttributeError.

        An absent class for `core`, a function that returns False for `wp_is_…`, and 0 for a name in capitals.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "core":  # of Warp's runtime: its native library
            return absent(f"{cls.__name__}.core")
        if name.startswith("wp_is_"):  # how that library was built
            return lambda *args: False
        if name.isupper():  # a flag, of what cannot be made
            return 0
        raise AttributeError(f"wp.{cls.__name__}.{name}: wp.{cls.__name__} is not in Workbench")

    def __getitem__(cls, item: Any) -> Any:
        """Return the class itself: `Name[…]` is an annotation."""
        return cls


def is_absent(annotation: Any) -> bool:
    """Return whether an annotation is a class that Workbench lacks, one made by `absent`."""
    return isinstance(annotation, _Absent)


def absent(name: str, **attributes: Any) -> type:
    """Return a class of this name for annotations and `isinstance`; creating an instance raises NotImplementedError.

    It has these attributes. A call with only `shape`, `dtype`, `ndim` or `capacity` by name is an annotation too, and
    returns the class.
    """
    return _Absent(name, (), attributes)


_MENTIONED: set[str] = set()


def caller() -> FrameType:
    """Return the frame of the user's program that called Workbench."""
    frame: Any = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("workbench."):
        frame = frame.f_back
    return frame


def mention(what: str, instead: str = "") -> None:
    """Warn, once in a process, that `what` has no effect in Workbench, and say what to use `instead`."""
    if what not in _MENTIONED:
        _MENTIONED.add(what)
        code, line = caller().f_code, caller().f_lineno
        text = f"{what} has no effect in Workbench. {instead}".rstrip()
        warnings.warn_explicit(text, UserWarning, code.co_filename, line)


def hints(where: str, options: dict[str, Any]) -> None:
    """Warn of each option of the function `where` that is not None: it has no effect."""
    for name, value in options.items():
        if value is not None:
            mention(f"{where}({name}=…)")


def ignored(name: str, result: Any = None) -> Callable[..., Any]:
    """Return a function that takes any arguments, warns once that it has no effect, and returns `result`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        mention(f"{name}()")
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Accepted, without effect."
    return call


class Renderer:
    """Stands for a renderer: every method does nothing and returns None; the first one created warns of that."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept the arguments of Warp's renderers; nothing is written."""
        mention("warp.render", "Draw arrays with a plotting library: x.numpy().")

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Return a function that takes any arguments and returns None; AttributeError for names as `__len__`."""
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None
