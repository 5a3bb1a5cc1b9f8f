"""Classes of Warp that are not here: programs may name them in annotations, and each use is refused by name."""

from __future__ import annotations

from typing import Any

from workbench.frontend import instead_of

ABSENT = (
    "BvhQueryTiled", "HashGridQuery", "MarchingCubes", "MeshQueryAABBTiled", "Texture1D", "Texture2D", "Texture3D",
    "Volume", "fabricarray", "fabricarrayarray", "indexedfabricarray", "indexedfabricarrayarray", "fixedarray",
    "tile_stack",
)  # fmt: skip


class _Absent(type):
    """Annotations and `isinstance` take such a class; making one, or asking it for anything, is refused by name."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if options and not args and set(options) <= {"shape", "dtype", "ndim", "capacity"}:
            return cls  # an annotation
        raise NotImplementedError(f"wp.{cls.__name__} is not in Workbench. {instead_of(cls.__name__, True)}".rstrip())

    def __getattr__(cls, name: str) -> Any:
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
        return cls


def is_absent(annotation: Any) -> bool:
    """Return whether an annotation names a class that is not here."""
    return isinstance(annotation, _Absent)


def absent(name: str) -> type:
    """A class of this name that annotations and `isinstance` take; making one raises NotImplementedError."""
    return _Absent(name, (), {})
