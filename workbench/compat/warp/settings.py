"""`wp.config`: the settings that mean something here, and those that have no effect."""

from __future__ import annotations

from typing import Any

from workbench.compat.warp.ignored import mention
from workbench.runtime.launching.checks import set_checks

_INSTEAD = {
    "verify_fp": "Use `with wb.find_nan():`.",
    "verify_autograd_array_access": "A tape refuses by itself where a gradient would need what was overwritten.",
    "print_launches": "Use `with wb.record() as r:`.",
    "kernel_cache_dir": "Set the environment variable WORKBENCH_CACHE.",
}
_INITIAL: dict[str, Any] = {
    "mode": "release", "enable_backward": True, "quiet": False, "verbose": False, "max_unroll": 16,
    "cache_kernels": True, "kernel_cache_dir": None, "verify_fp": False, "verify_cuda": False,
    "print_launches": False, "verify_autograd_array_access": False,
}  # fmt: skip
_SILENT = ("quiet", "verbose")


class Config:
    """Settings as attributes, with Warp's initial values.

    Attributes:
        mode: "debug" switches the checks of all launches on, "release" off.
        enable_backward: whether kernels that are made from now on may have an adjoint.
    """

    mode: str
    enable_backward: bool

    def __init__(self) -> None:
        vars(self).update(_INITIAL)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "mode":
            set_checks(value == "debug")
        elif name != "enable_backward" and name not in _SILENT and value != getattr(self, name, None):
            mention(f"wp.config.{name}", _INSTEAD.get(name, ""))
        vars(self)[name] = value


config = Config()
