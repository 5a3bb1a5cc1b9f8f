"""Exporting programs that call kernels: `jax.export`, with the promise that Workbench's targets keep their meaning.

A target's name is made from its content, so a name never means something else in a later process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.errors import LaunchError
from workbench.interop.jax.launches.primitives import fault_effect
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.table import preload_segment
from workbench.interop.jax.native.target import NAME, make_known, registered, stored_description, thunk_named
from workbench.interop.jax.sharing.pack import on_gpus
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
    """Return whether `jax_export` in this process made a program, whose gradient is then exported when requested."""
    make = getattr(exported, "_get_vjp", None)
    return isinstance(make, partial) and make.func is _gradient


def _gradient(make: Callable[[Any], Any], disabled: tuple[Any, ...], arch: str, exported: Any) -> Any:
    """Export the gradient of an exported program, by JAX's `make`, with the same checks disabled."""
    return _allowed(lambda checks: make(replace(exported, disabled_safety_checks=tuple(checks))), disabled, arch)


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
            described = stored_description(name)
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
    """Yield the text of a compiled program, or of an exported one and of the gradients that were exported with it."""
    if not hasattr(program, "mlir_module"):
        yield program.as_text()
        return
    yield program.mlir_module()
    # One that this process exported would make gradients of gradients without end; it knows their kernels anyway.
    while program.has_vjp() and not is_exported_here(program):
        program = program.vjp()
        yield program.mlir_module()
