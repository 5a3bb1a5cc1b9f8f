"""`wp.config` and modules of kernels: the settings that mean something here, and those that have no effect."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from workbench.compat.warp.absent import mention
from workbench.runtime.launching.checks import set_checks

TESTED_VERSION = "1.19.0"


LaunchArrayAccessMode = IntEnum("LaunchArrayAccessMode", "RELAXED CHECKED STRICT", start=0)
"""The check of overlapping arrays at a launch; here a tape always computes right or refuses."""
MemoryKind = IntEnum("MemoryKind", "UNKNOWN HOST PINNED CUDA_DEVICE CUDA_MEMPOOL CUDA_MANAGED", start=0)
"""The kinds of memory that arrays lie in; here the CPU's and the device's."""
DeterministicMode = IntEnum("DeterministicMode", "NOT_GUARANTEED RUN_TO_RUN GPU_TO_GPU", start=0)
"""The tolerated difference of atomic float sums from run to run; without effect."""


_INSTEAD = {
    "verify_fp": "Use `with wb.find_nan():`.",
    "verify_autograd_array_access": "A tape refuses by itself where a gradient would need what was overwritten.",
    "print_launches": "Use `with wb.record() as r:`.",
    "kernel_cache_dir": "Set the environment variable WORKBENCH_CACHE.",
}
_INITIAL: dict[str, Any] = {
    "mode": "release", "enable_backward": True, "quiet": False, "verbose": False, "max_unroll": 16,
    "cache_kernels": True, "kernel_cache_dir": None, "verify_fp": False, "verify_cuda": False,
    "print_launches": False, "verify_autograd_array_access": False, "version": TESTED_VERSION,
    "log_level": 20, "enable_cpu_blocks": False, "optimization_level": None, "verbose_warnings": False,
    "default_grid_stride": True, "legacy_scalar_return_types": False, "load_module_max_workers": 0,
    "enable_graph_capture_module_load_by_default": True, "cpu_compiler_flags": None, "track_memory": False,
    "enable_vector_component_overwrites": False, "use_precompiled_headers": True, "lineinfo": False,
    "line_directives": True, "compile_time_trace": False, "enable_mathdx_gemm": True, "enable_mathdx_solver": True,
    "enable_mathdx_fft": True, "llvm_cuda": False, "enable_mempools_at_init": True, "ptx_target_arch": None,
    "cuda_output": None, "cuda_arch_suffix": None, "enable_tiles_in_stack_memory": True, "legacy_cpu_linker": False,
    "deterministic_max_records": 0, "deterministic_debug": False, "fast_math": False, "fuse_fp": True,
    "launch_array_access_mode": LaunchArrayAccessMode.RELAXED,
    "deterministic": DeterministicMode.NOT_GUARANTEED,
}  # fmt: skip
_SILENT = ("enable_cpu_blocks", "quiet", "verbose", "log_level", "verbose_warnings")


class Config:
    """Represents Warp's settings as attributes, with Warp's initial values; most have no effect and warn of that.

    Attributes:
        mode: "debug" switches the checks of all launches on, any other value off.
        enable_backward: whether kernels that are made from now on may have an adjoint.
        enable_cpu_blocks: whether blocks of the CPU have as many threads as a launch asks for.
    """

    mode: str
    enable_backward: bool
    enable_cpu_blocks: bool
    legacy_scalar_return_types: bool

    LaunchArrayAccessMode = LaunchArrayAccessMode
    DeterministicMode = DeterministicMode

    def __init__(self) -> None:
        """Set all settings to Warp's initial values, without effects or warnings."""
        vars(self).update(_INITIAL)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a setting: `mode` switches checks on or off; a changed one without effect warns once."""
        if name == "mode":
            set_checks(value == "debug")
        elif name != "enable_backward" and name not in _SILENT and value != getattr(self, name, None):
            mention(f"wp.config.{name}", _INSTEAD.get(name, ""))
        vars(self)[name] = value


config = Config()

INITIAL_OPTIONS: dict[str, Any] = {
    "enable_backward": True, "mode": None, "max_unroll": None, "block_dim": 256, "fast_math": False,
    "fuse_fp": True, "deterministic": None, "lineinfo": False, "enable_mathdx_gemm": True, "strip_hash": False,
    "compile_time_trace": False, "cuda_output": None, "deterministic_max_records": None, "optimization_level": None,
    "cpu_compiler_flags": None, "enable_cpu_blocks": None, "default_grid_stride": None, "extra_build_options": None,
}  # fmt: skip


class Module:
    """Represents a module of kernels in name and options only; kernels are built one by one at their first launch.

    Attributes:
        name: that of the Python module.
        options: settings, without effect but for `enable_backward`.
    """

    def __init__(self, name: str, loader: Any = None) -> None:
        """Create an empty module of kernels with Warp's initial options; the loader is only stored."""
        self.name, self.loader = name, loader
        self.options: dict[str, Any] = {**INITIAL_OPTIONS}
        self.kernels, self.functions, self.structs = dict[str, Any](), dict[str, Any](), dict[str, Any]()

    def load(self, *args: Any, **options: Any) -> Module:
        """Return the module itself: nothing is loaded ahead."""
        return self

    def unload(self) -> None:
        """Do nothing: what was built stays in the cache."""

    mark_modified = unload


_MODULES: dict[str, Module] = {}


def get_module(name: str) -> Module:
    """Return the module of kernels of this name, which is created if there is none; `warp._src.x` is `warp.x`."""
    name = name.replace("warp._src.", "warp.")
    return _MODULES.setdefault(name, Module(name))
