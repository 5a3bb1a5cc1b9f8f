"""Warp's names that are not ours, or mean something else there: one table makes the module and the guide's page."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import workbench as wb
from workbench.compat.warp import arrays, launches
from workbench.compat.warp.ignored import Renderer, hints, ignored
from workbench.compat.warp.settings import config
from workbench.compat.warp.spelling import HashGrid


@dataclass(frozen=True)
class Row:
    """One name.

    Attributes:
        value: what it is here.
        ours: how Workbench's own programs write it; empty if they leave it out.
        remark: what to know.
    """

    value: Any
    ours: str
    remark: str = ""


def _like(make: Callable[..., wb.array]) -> Callable[..., wb.array]:
    """A function that makes an array after another one, whose result has a gradient if that has one."""

    def made(source: wb.array, *args: Any, requires_grad: bool | None = None, **given: Any) -> wb.array:
        hints(f"wp.{make.__name__}", {name: given.pop(name, None) for name in ("pinned", "retain_grad")})
        return make(
            source, *args, requires_grad=source.requires_grad if requires_grad is None else requires_grad, **given
        )

    made.__name__, made.__doc__ = make.__name__, make.__doc__
    return made


def _cuda_devices() -> list[wb.Device]:
    """The CUDA devices."""
    return [d for d in wb.get_devices() if d.is_cuda]


def _set_device(device: Any) -> None:
    """Make a device the default one."""
    os.environ["WORKBENCH_DEVICE"] = str(wb.get_device(device))


def _asset_directory() -> str:
    """The folder of the assets of an installed Warp.

    Raises:
        FileNotFoundError: Warp is not installed.
    """
    found = importlib.util.find_spec("warp")
    if found is None or found.origin is None:
        raise FileNotFoundError("Warp's assets are in its own package, which is not installed: pip install warp-lang")
    return str(Path(found.origin).parent / "examples" / "assets")


_BUILT = "kernels are built at their first launch, and found again by their content"
_NO_RENDERER = "draws nothing: there is no USD here"

TABLE: dict[str, Row] = {
    "kernel": Row(launches.kernel, "wb.kernel", "names mean what they mean in Warp; hints have no effect"),
    "func": Row(launches.func, "wb.func"),
    "map": Row(launches.map, "wb.map", "several results are a list; in `wb.map` a tuple"),
    "launch": Row(launches.launch, "wb.launch", "`max_blocks` has no effect"),
    "Tape": Row(launches.Tape, "wb.Tape", "`reset()` also sets gradients to 0; `wb.Tape`'s keeps them"),
    **{
        f.__name__: Row(_like(f), f"wb.{f.__name__}", "has a gradient if its source has, in `wb` on request")
        for f in (wb.clone, wb.zeros_like, wb.ones_like, wb.full_like, wb.empty_like)
    },
    "array": Row(arrays.array, "wb.array", "`array([1.0])` is of float64, `array([1])` of int64; in `wb` of 32 bits"),
    **{
        f"array{n}d": Row(arrays.ArrayOf(n), f"wb.array{n}d", "numbers without a dtype as in `array`")
        for n in range(1, 5)
    },
    "ScopedTimer": Row(launches.ScopedTimer, "wb.ScopedTimer", "prints the time; `wb.ScopedTimer` keeps it"),
    "ScopedCapture": Row(launches.ScopedCapture, "with wb.capture() as graph:"),
    "capture_begin": Row(launches.capture_begin, "with wb.capture() as graph:"),
    "capture_end": Row(launches.capture_end, "with wb.capture() as graph:"),
    "capture_launch": Row(launches.capture_launch, "graph.launch()"),
    "HashGrid": Row(HashGrid, "wb.HashGrid", "kernels take `grid.id` as a `wp.uint64`; with `wb` the grid itself"),
    "synchronize_device": Row(wb.synchronize, "wb.synchronize"),
    "set_device": Row(_set_device, "with wb.ScopedDevice(device):", "sets `WORKBENCH_DEVICE` for this process"),
    "get_preferred_device": Row(wb.get_device, "wb.get_device"),
    "get_cuda_devices": Row(_cuda_devices, "wb.get_devices"),
    "get_cuda_device_count": Row(lambda: len(_cuda_devices()), "wb.get_devices"),
    "is_cuda_available": Row(lambda: bool(_cuda_devices()), "wb.get_devices"),
    "is_cpu_available": Row(lambda: True, "wb.get_devices"),
    "config": Row(config, "wb.set_checks", "`mode` and `enable_backward` count; other settings have no effect"),
    "Function": Row(wb.Func, "wb.Func"),
    "overload": Row(lambda kernel, *types: kernel, "", _BUILT),
    "init": Row(lambda: None, "", "nothing has to be initialised"),
    "load_module": Row(ignored("wp.load_module"), "", _BUILT),
    "force_load": Row(ignored("wp.force_load"), "", _BUILT),
    "clear_kernel_cache": Row(ignored("wp.clear_kernel_cache"), "wb.cache.clear", _BUILT),
    "clear_lto_cache": Row(ignored("wp.clear_lto_cache"), "", _BUILT),
    "set_module_options": Row(ignored("wp.set_module_options"), "wb.kernel(…)", "options are a kernel's or a launch's"),
    "get_module_options": Row(ignored("wp.get_module_options", {}), "wb.kernel(…)"),
    "print_diagnostics": Row(ignored("wp.print_diagnostics"), "python -m workbench.doctor"),
    "render": Row(SimpleNamespace(UsdRenderer=Renderer, OpenGLRenderer=Renderer), "", _NO_RENDERER),
    "examples": Row(SimpleNamespace(get_asset_directory=_asset_directory), "", "an installed Warp's assets"),
}
"""Warp's name to ours."""


def page() -> str:
    """The table as the guide has it, in Markdown."""
    shown = ((name, f"`{row.ours}`" if row.ours else "leave it out", row.remark) for name, row in TABLE.items())
    lines = [f"| `{name}` | {ours} | {remark} |" for name, ours, remark in shown]
    return "\n".join(["| Warp's name | in Workbench's own programs | remark |", "|---|---|---|", *lines])
