"""Answers to a view's questions: a kernel's source, IR, adjoint, generated code and key; the cache; the devices.

Everything here returns text or plain values and changes nothing.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.api.kernels.editions import note_bindings
from workbench.api.launches.recent import (
    LastLaunch,
    changes_of,
    last_launch,
    last_launch_with,
    next_launch,
    note_launches,
    used_since,
)
from workbench.backends.cpu.backend import CpuBackend
from workbench.cache import entries as cache_entries
from workbench.cache import info as cache_info
from workbench.host.uniform import Uniform
from workbench.inspect.pane_names import PANES
from workbench.runtime.device.device import get_devices
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import cpu_threads
from workbench.runtime.launching.opened import opened
from workbench.runtime.launching.pending_faults import settle_all
from workbench.runtime.native.launcher import UnderWay, Watch, install_launcher

if TYPE_CHECKING:
    from workbench.api.builds.cublasdx import ProductView
    from workbench.api.builds.linking import free_memory
    from workbench.api.diagnosis.stepper import Steps
    from workbench.api.diagnosis.sweeps import Item, Sweeps, sweeps
    from workbench.api.graphs.graph import graph_of
    from workbench.api.page_program import page_program
    from workbench.api.profiling.pictures import Drawing, Shape
    from workbench.api.profiling.profile import profiles
    from workbench.api.profiling.threads import Threads, threads
    from workbench.api.profiling.warp import Access, Step
    from workbench.api.tapes.summary import TapeMemory, TapeSteps, tape_graph, tape_memory, tape_steps, tape_svg
    from workbench.builtins.declaration.help import is_word, word_help
    from workbench.doctor import Finding, Report, doctor
    from workbench.inspect.texts import (
        CUDA_PANES,
        adjoint,
        asm,
        can_link,
        constants,
        cuda,
        diff,
        ir,
        key,
        llvm,
        panes,
        parameters,
        products,
        ptx,
        sass,
        source,
        tangent,
        why,
    )
    from workbench.runtime.graphs.body import Stop, trail

_MODULES = {
    "workbench.api.builds.cublasdx": ("ProductView",),
    "workbench.api.builds.linking": ("free_memory",),
    "workbench.api.diagnosis.stepper": ("Steps",),
    "workbench.api.diagnosis.sweeps": ("Item", "Sweeps", "sweeps"),
    "workbench.api.graphs.graph": ("graph_of",),
    "workbench.api.page_program": ("page_program",),
    "workbench.runtime.graphs.body": ("Stop", "trail"),
    "workbench.api.profiling.pictures": ("Drawing", "Shape"),
    "workbench.api.profiling.profile": ("profiles",),
    "workbench.api.profiling.threads": ("Threads", "threads"),
    "workbench.api.profiling.warp": ("Access", "Step"),
    "workbench.api.tapes.summary": ("TapeMemory", "TapeSteps", "tape_graph", "tape_memory", "tape_steps", "tape_svg"),
    "workbench.builtins.declaration.help": ("is_word", "word_help"),
    "workbench.doctor": ("Finding", "Report", "doctor"),
    "workbench.inspect.texts": (
        *("CUDA_PANES", "adjoint", "asm", "can_link", "constants", "cuda", "diff", "ir", "key", "llvm", "panes"),
        *("parameters", "products", "ptx", "sass", "source", "tangent", "why"),
    ),
}
_LATER = {name: module for module, names in _MODULES.items() for name in names}
"""The modules of names that are imported on first use: a notebook's first prompt needs none of them."""


def devices() -> str:
    """Return the devices in one phrase: `cpu (no CUDA device)`, `cpu, cuda:0 NVIDIA H200`."""
    names = [d.name for d in get_devices()]
    return ", ".join(names) if len(names) > 1 else "cpu (no CUDA device)"


def held() -> dict[str, int]:
    """Return bytes of live arrays of this process, by device; arrays that share memory count once."""
    total: dict[str, int] = {}
    seen: set[tuple[str, int]] = set()
    for candidate in gc.get_objects():
        if type(candidate) is Memory and (candidate.device.name, candidate.address) not in seen:
            seen.add((candidate.device.name, candidate.address))
            total[candidate.device.name] = total.get(candidate.device.name, 0) + candidate.nbytes
    return total


def cpu_target() -> str:
    """Return the target of CPU code, without features: the machine's CPU, or what `WORKBENCH_CPU` requests."""
    return CpuBackend().target().split("+")[0]


def arm() -> None:
    """Set the SIGINT handler that stops launches again, if another one replaced it; from any thread.

    Nothing is done before the first launch.
    """
    if install_launcher.cache_info().currsize:
        install_launcher().stopping.arm()


def warm() -> None:
    """Initialise LLVM for its first use; called in a background thread, so that the first cell does not wait."""
    from workbench.backends.cpu.compile import warm as warm_llvm

    warm_llvm()


__all__ = [
    "CUDA_PANES", "PANES", "Access", "Drawing", "Finding", "Item", "LastLaunch", "ProductView", "Report", "Shape",
    "Step", "Steps", "Stop", "Sweeps", "TapeMemory", "TapeSteps", "Threads", "UnderWay", "Uniform", "Watch", "adjoint",
    "arm", "asm", "cache_entries", "cache_info", "can_link", "changes_of", "constants", "cpu_target", "cpu_threads",
    "cuda", "devices", "diff", "doctor", "free_memory", "graph_of", "held", "ir", "is_word", "key", "last_launch",
    "last_launch_with", "llvm", "next_launch", "note_bindings", "note_launches", "opened", "page_program", "panes",
    "parameters", "products", "profiles", "ptx", "sass", "settle_all", "source", "sweeps", "tangent", "tape_graph",
    "tape_memory", "tape_steps", "tape_svg", "threads", "trail", "used_since", "warm", "why", "word_help",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a name of `_LATER` on its first use, and store it here.

    Raises:
        AttributeError: there is no such name.
    """
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)  # found directly the next time
    return value


def __dir__() -> list[str]:
    """Return the public names alone, those not imported yet included."""
    return __all__
