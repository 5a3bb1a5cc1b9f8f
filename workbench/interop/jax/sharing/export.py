"""Exporting programs that call kernels: `jax.export`, with the promise that Workbench's targets keep their meaning.

A target's name is made from its content, so a name never means something else in a later process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.errors import LaunchError
from workbench.interop.jax.launches.primitives import fault_effect
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.target import NAME
from workbench.interop.jax.values.library import export_library, library
from workbench.runtime.launching.checks import checks_here


def jax_export(function: Callable[..., Any], arch: str = "", **options: Any) -> Callable[..., Any]:
    """Export functions that call kernels, like `jax.export.export(jax.jit(function), **options)`.

        exported = wb.jax_export(f)(jax.ShapeDtypeStruct((8,), "float32"))
        data = exported.serialize(vjp_order=1)      # with its gradient

    Shapes may be symbolic. The process that loads the program calls `wb.jax_preload(exported)` first, and needs the
    same kernel cache; `wb.jax_pack` makes bytes that need neither.

    Args:
        function: jitted or not.
        arch: with `platforms=["cpu", "cuda"]`, the GPUs to compile for ("sm_90"), which need not be in this machine; by
            default those that are.
        **options: of `jax.export.export`.

    Returns:
        What `jax.export.export` returns: called with the arguments' shapes and dtypes, it returns the exported program.

    Raises:
        LaunchError: inside `with wb.checks():`, whose reports of unwritten outputs are callbacks into this process.
        DeviceError: for GPUs, if there is none and no `arch`, or NVRTC does not know it.
    """
    jax = library().jax
    export = export_library()
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    disabled = tuple(options.pop("disabled_checks", ()))

    def make(*args: Any, **named: Any) -> Any:
        if checks_here():
            raise LaunchError(
                "An exported program cannot report unwritten outputs, as `with wb.checks():` requests.",
                advice="Export outside of it. wb.set_checks(True) exports tests of indices, divisions and asserts.",
            )

        def attempt(checks: Sequence[Any]) -> Any:
            return export.export(jitted, disabled_checks=checks, **options)(*args, **named)

        return _allowed(attempt, disabled, arch)

    return make


def _allowed(make: Callable[[Sequence[Any]], Any], disabled: tuple[Any, ...], arch: str) -> Any:
    """Export by `make` without the safety checks `disabled` and those of the targets that it calls."""
    allow = export_library().DisabledSafetyCheck.custom_call
    known = frozenset[str]()
    token = edits.EXPORTING.set(arch)
    try:
        while True:
            try:
                exported = make((*disabled, *map(allow, sorted(known))))
                break
            except ValueError:  # what it calls is known only now that it, or an equal program before, was lowered
                if known == edits.exported:
                    raise
                known = frozenset(edits.exported)
    finally:
        edits.EXPORTING.reset(token)
    called = sorted(known.intersection(NAME.findall(exported.mlir_module()))) if known else ()
    # JAX exports a gradient when it is serialised; it calls adjoints, which are other targets.
    gradient = partial(_gradient, exported._get_vjp, disabled, arch)
    # What keeps unused launches in the program has done so; a file cannot hold our effect.
    effects = tuple(e for e in exported.unordered_effects if e not in fault_effect())
    allowed = (*disabled, *map(allow, called))
    return replace(exported, disabled_safety_checks=allowed, unordered_effects=effects, _get_vjp=gradient)


def is_exported_here(exported: Any) -> bool:
    """Return whether `jax_export` made it in this process: then its gradient is exported when it is asked for."""
    make = getattr(exported, "_get_vjp", None)
    return isinstance(make, partial) and make.func is _gradient


def _gradient(make: Callable[[Any], Any], disabled: tuple[Any, ...], arch: str, exported: Any) -> Any:
    return _allowed(lambda checks: make(replace(exported, disabled_safety_checks=tuple(checks))), disabled, arch)
