"""Making targets known that this process did not trace: what an exported program calls.

The store keeps what each name stands for, so neither the kernels' text nor the functions that launched them are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from workbench.interop.jax.native.table import preload_segment
from workbench.interop.jax.native.target import NAME, kept, make_known, registered, thunk_named
from workbench.interop.jax.sharing.export import is_exported_here
from workbench.interop.jax.sharing.pack import on_gpus


def jax_preload(programs: Iterable[object] | object) -> tuple[str, ...]:
    """Register with XLA the kernels of programs that this process did not trace, such as exported ones.

        exported = jax.export.deserialize(data)
        wb.jax_preload(exported)
        exported.call(x)

    Args:
        programs: an `Exported` (its gradients are read too), a compiled program, a program's text, a target's name, or
            several of these.

    Returns:
        The names of the targets found.

    Raises:
        CacheError: the cache does not hold one of the kernels.
    """
    names: dict[str, None] = {}
    alone = isinstance(programs, str) or hasattr(programs, "mlir_module") or hasattr(programs, "as_text")
    for program in [programs] if alone else programs:  # type: ignore[union-attr]
        for text in [program] if isinstance(program, str) else _texts(program):
            names |= dict.fromkeys(NAME.findall(text))
    known = registered()
    for name in names:
        if name not in known:
            described = kept(name)
            if "program" in described:
                preload_segment(name, described)
            elif described.get("block"):
                target = on_gpus(name)
                if target is not None:
                    target.register()
            else:
                make_known(name, partial(thunk_named, name))
    return tuple(names)


def _texts(program: Any) -> Iterator[str]:
    """Yield an exported program and its gradients, as far as they were exported with it; or a compiled program."""
    if not hasattr(program, "mlir_module"):
        yield program.as_text()
        return
    yield program.mlir_module()
    # One that this process exported would make gradients of gradients without end; it knows their kernels anyway.
    while program.has_vjp() and not is_exported_here(program):
        program = program.vjp()
        yield program.mlir_module()
