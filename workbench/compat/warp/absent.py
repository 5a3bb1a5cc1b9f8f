"""Classes of Warp that are not here: programs may name them in annotations, and each use is refused by name."""

from __future__ import annotations

from typing import Any

from workbench.frontend import instead_of

ABSENT = (
    "Bvh", "BvhQuery", "BvhQueryTiled", "HashGridQuery", "MarchingCubes", "Mesh", "MeshQuery", "MeshQueryAABB",
    "MeshQueryAABBTiled", "MeshQueryPoint", "MeshQueryRay", "Texture1D", "Texture2D", "Texture3D", "Volume",
    "fabricarray", "fabricarrayarray", "indexedfabricarray", "indexedfabricarrayarray", "fixedarray",
)  # fmt: skip


class _Absent(type):
    """Annotations and `isinstance` take such a class; making one, or asking it for anything, is refused by name."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"wp.{cls.__name__} is not in Workbench. {instead_of(cls.__name__, True)}".rstrip())

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.isupper():  # a flag, of what cannot be made
            return 0
        raise AttributeError(f"wp.{cls.__name__}.{name}: wp.{cls.__name__} is not in Workbench")

    def __getitem__(cls, item: Any) -> Any:
        return cls


def absent(name: str) -> type:
    """A class of this name that annotations and `isinstance` take; making one raises NotImplementedError."""
    return _Absent(name, (), {})
