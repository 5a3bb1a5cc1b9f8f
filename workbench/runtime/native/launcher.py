"""The native launcher of this process: loaded from the cache where it is there, else compiled, once."""

from __future__ import annotations

import functools

from workbench.backends.cpu.native import dispatch
from workbench.cache.native import native_image


@functools.cache
def install_launcher() -> dispatch.Launcher:
    """Return this process's native launcher; the first call loads it from the cache, or compiles it."""
    return dispatch.install(native_image("wb_launcher", dispatch.text, optimise=False))
