"""The native launcher of this process: loaded from the cache where it is there, else compiled, once."""

from __future__ import annotations

import functools

from workbench.backends.cpu.native import dispatch
from workbench.cache.native import native_image


@functools.cache
def install_launcher() -> dispatch.Launcher:
    """Return the launcher."""
    return dispatch.install(native_image("wb_launcher", dispatch.text, optimise=False))
