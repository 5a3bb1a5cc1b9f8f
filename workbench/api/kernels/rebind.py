"""Binding a cell's names: whose kernels use them, and from now on get something else."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.api.kernels.editions import note_bindings
from workbench.api.kernels.func import Func
from workbench.api.kernels.kernel import Kernel
from workbench.events import Remark, publish


def rebind(names: Mapping[str, object], namespace: dict[str, object], cell: str) -> None:
    """Bind the names for `cell`; says which other kernels of the namespace use one that means something else now."""
    for replaced in [namespace.get(name) for name in names]:
        if isinstance(replaced, Kernel):
            replaced.drop_builds()
    namespace.update(names)
    note_bindings(namespace, cell)
    others = {id(k): k for k in list(namespace.values()) if isinstance(k, Kernel) and names.get(k.name) is not k}
    for kernel in others.values():
        for name in kernel.outdated_by(names, namespace):
            what = "calls this" if isinstance(names[name], Func) else "uses this"
            publish(Remark(f"{kernel.name} ({kernel.place.source.name}) now {what} {name}"))
