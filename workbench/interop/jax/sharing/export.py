"""Exporting programs that call kernels: `jax.export`, with the promise that Workbench's targets keep their meaning.

A target's name is made from its content, so a name never means something else in a later process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.errors import LaunchError
from workbench.interop.jax.native.target import registered
from workbench.interop.jax.values.library import export_library, library
from workbench.runtime.launching.checks import checks_here


def jax_export(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Like `jax.export.export(jax.jit(function), **options)`, for functions that call kernels.

        data = wb.jax_export(f)(jax.ShapeDtypeStruct((8,), "float32")).serialize()

    Shapes may be symbolic. The process that loads the program calls `wb.jax_preload(exported)` first, and needs the
    same kernel cache.

    Args:
        function: jitted or not.
        **options: of `jax.export.export`.

    Returns:
        What `jax.export.export` returns: called with the arguments' shapes and dtypes, it returns the exported program.

    Raises:
        LaunchError: inside `with wb.checks():`, whose reports of unwritten outputs are callbacks into this process.
    """
    jax = library().jax
    export = export_library()
    jitted = function if hasattr(function, "lower") else jax.jit(function)

    def make(*args: Any, **named: Any) -> Any:
        if checks_here():
            raise LaunchError(
                "An exported program cannot report unwritten outputs, as `with wb.checks():` requests.",
                advice="Export outside of it. wb.set_checks(True) exports tests of indices, divisions and asserts.",
            )
        known: tuple[str, ...] = ()
        while True:
            checks = [*options.get("disabled_checks", ()), *map(export.DisabledSafetyCheck.custom_call, known)]
            try:
                return export.export(jitted, **{**options, "disabled_checks": checks})(*args, **named)
            except ValueError:  # lowering it has registered the targets it needs
                if known == registered():
                    raise
                known = registered()

    return make
