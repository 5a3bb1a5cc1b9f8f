"""The worker processes that have LLVM: how they start, and what they say of this machine."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.backends.cpu import codegen
from workbench.backends.worker.pool import Lost, Pool, build_error, call, task_name


def _llvmlite() -> list[str]:
    """List the folder that workers import llvmlite from, without importing it; empty if it is not installed."""
    spec = find_spec("llvmlite")
    return [str(Path(spec.origin).parents[1])] if spec and spec.origin else []


POOL = Pool("llvm", _llvmlite, first=task_name(codegen.prepare))


def host() -> dict[str, Any]:
    """Return what `codegen.host` says of this machine, asked of a worker process that will compile later anyway.

    Raises:
        BuildError: the worker crashed or hung.
    """
    POOL.prepare()
    import_module("workbench.backends.cpu.emit.emit_module")  # needed next, and imported before the process has started
    try:
        return call(POOL, codegen.host, {})[0]
    except Lost as lost:
        raise build_error("LLVM", "", lost) from None
