"""Making targets known that this process did not trace: what an exported program calls.

The store keeps what each name stands for, so neither the kernels' text nor the functions that launched them are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from workbench.interop.jax.native.table import preload_segment
from workbench.interop.jax.native.target import NAME, kept, make_known, registered, thunk_named
from workbench.interop.jax.sharing.pack import on_gpus


def jax_preload(programs: Iterable[object] | object) -> tuple[str, ...]:
    """Register with XLA the kernels of programs that this process did not trace, such as exported ones.

        exported = jax.export.deserialize(data)
        wb.jax_preload(exported)
        exported.call(x)

    Args:
        programs: an `Exported`, a program's text, a target's name, or several of these.

    Returns:
        The names of the targets found.

    Raises:
        CacheError: the cache does not hold one of the kernels.
    """
    found: dict[str, None] = {}
    for program in [programs] if isinstance(programs, str) or hasattr(programs, "mlir_module") else programs:  # type: ignore[union-attr]
        text = program if isinstance(program, str) else program.mlir_module()
        found |= dict.fromkeys(NAME.findall(text))
    known = registered()
    for name in found:
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
    return tuple(found)
