"""Is everything there that Workbench can use, and what would have to be installed?

Each check answers one question about this machine and changes nothing. Versions are read from package metadata, so
that asking for JAX does not import it; the CPU backend and NVRTC are tried with a small kernel, since having a
compiler installed does not mean that it works.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from html import escape
from importlib import metadata

import msgspec

from workbench.api.builds.build import backend_for
from workbench.api.builds.cell import build_cell
from workbench.backends.base import Options
from workbench.backends.cuda import toolkit
from workbench.backends.cuda.compile.disassemble import disassembler
from workbench.backends.cuda.compile.nvrtc import CudaBackend, architectures
from workbench.backends.cuda.emit import DEFAULT_TARGET
from workbench.backends.cuda.products import mathdx
from workbench.builtins import FORMS, TABLE
from workbench.cache import info
from workbench.errors import WorkbenchError
from workbench.ir.values import Function
from workbench.runtime.arrays.array import array
from workbench.runtime.device.driver import devices, why_no_cuda
from workbench.types import float32

OLDEST_JAX = (0, 5)
WIDGETS = ("anywidget", "ipywidgets")
_MARKS = {"ok": "ok", "optional": "--", "problem": "!!"}
_TEXT = "def doctor(x: array[float32], y: array[float32]):\n    i = tid()\n    y[i] = 2.0 * x[i]\n"


class Finding(msgspec.Struct, frozen=True):
    """Represents the result of one check.

    Attributes:
        what: what was looked for.
        state: "ok", "optional" (not there; only what `advice` names needs it) or "problem".
        found: what there is.
        advice: what to install or do; empty if nothing is missing.
    """

    what: str
    state: str
    found: str
    advice: str = ""


class Report(msgspec.Struct, frozen=True):
    """Represents all findings; true if none is a problem."""

    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return all(f.state != "problem" for f in self.findings)

    def __str__(self) -> str:
        width = max(len(f.what) for f in self.findings)
        lines: list[str] = []
        for f in self.findings:
            lines.append(f"{_MARKS[f.state]}  {f.what.ljust(width)}  {f.found}")
            lines += [f"{' ' * (width + 6)}{f.advice}"] if f.advice else []
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the findings as a table for a notebook."""
        cell = "text-align:left;padding:1px 12px 1px 0;vertical-align:top"
        first = f"{cell};white-space:nowrap"
        rows = "".join(
            f'<tr><td style="{first}">{_MARKS[f.state]}</td><td style="{cell}">{escape(f.what)}</td>'
            f'<td style="{cell};overflow-wrap:anywhere">{escape(f.found)}'
            f"{f'<br><b>{escape(f.advice)}</b>' if f.advice else ''}</td></tr>"
            for f in self.findings
        )
        return f'<table style="border-collapse:collapse">{rows}</table>'


def doctor() -> Report:
    """Look at the machine: driver, compilers, JAX, widgets, cache folder, and what the optional tools are for.

    Returns:
        One finding per thing looked at: whether it is there, its version, and what to do if it is missing.
    """
    return Report(tuple(check() for check in CHECKS))


def _python() -> Finding:
    """Return the finding on the running Python: its version and path; its status is always "ok"."""
    return Finding("Python", "ok", f"{sys.version.split()[0]} ({sys.executable})")


def _version(name: str) -> str:
    """Return the version of an installed package; empty if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _sample() -> Function:
    """Return the IR of a small kernel, to try a compiler with."""
    language = {**FORMS, **TABLE, "array": array, "float32": float32}
    kernel = build_cell(_TEXT, {}, name="doctor", compile=False, language=language).kernels["doctor"]
    return kernel.specialise().function


def _cpu() -> Finding:
    """Compile a sample for the CPU and return the finding on whether that works."""
    backend = backend_for("cpu")
    try:
        backend.compile(_sample(), Options(), backend.target())
    except WorkbenchError as error:
        return Finding(
            "CPU backend", "problem", error.message, "Install it again: pip install --force-reinstall llvmlite"
        )
    return Finding("CPU backend", "ok", f"{backend.version()} for {backend.target().split('+')[0]}")


def _driver() -> Finding:
    """Return the finding on the CUDA driver and the GPUs."""
    why = why_no_cuda()
    if why:
        return Finding("CUDA driver", "optional", why, "Kernels run on the CPU. For a GPU, install NVIDIA's driver.")
    version = toolkit.shown(toolkit.driver_version())
    listed = ", ".join(f"cuda:{i} {d.name} ({d.arch})" for i, d in enumerate(devices()))
    return Finding("CUDA driver", "ok", f"for CUDA {version}: {listed}")


def _nvrtc() -> Finding:
    """Compile a sample with NVRTC, for the first GPU if it knows that; return the finding on whether that works."""
    target = next((d.arch for d in devices()), DEFAULT_TARGET)
    backend = CudaBackend(target)
    try:
        version, known = backend.version(), architectures(target)
        backend.compile(_sample(), Options(), target if _capability(target) in known else f"sm_{known[-1]}")
    except WorkbenchError as error:
        return Finding("NVRTC", "problem" if devices() else "optional", error.message, error.advice)
    return Finding("NVRTC", "ok", f"{version}; compiles for sm_{known[0]} to sm_{known[-1]}")


def _architecture() -> Finding:
    """Return the finding on whether NVRTC compiles for the GPUs of this machine."""
    what = "GPU architecture"
    try:
        strange = [d.arch for d in devices() if _capability(d.arch) not in architectures(d.arch)]
    except WorkbenchError as error:
        return Finding(what, "optional", error.message)
    if strange:
        advice = toolkit.advice(toolkit.extra_for(strange[0]))
        return Finding(what, "problem", f"NVRTC does not compile for {', '.join(strange)}", advice)
    listed = ", ".join(d.arch for d in devices()) or "no device; compile for one with --arch sm_90"
    return Finding(what, "ok", listed)


def _capability(arch: str) -> int:
    """Return the compute capability of an architecture as a number: 90 for "sm_90"."""
    return int("".join(c for c in arch if c.isdigit()))


def _jax() -> Finding:
    """Return the finding on JAX: whether it is installed and new enough."""
    version = _version("jax")
    if not version:
        return Finding("JAX", "optional", "not installed", "For wb.jax_kernel: pip install 'jax>=0.5'")
    numbers = tuple(int(n) for n in version.split(".")[:2])
    if numbers < OLDEST_JAX:
        return Finding("JAX", "problem", f"{version} is older than 0.5", "pip install --upgrade jax")
    return Finding("JAX", "ok", f"jax {version}, jaxlib {_version('jaxlib') or 'missing'}")


def _shared_memory() -> Finding:
    """Return the finding on whether JAX would take most of the GPU's memory."""
    what = "GPU memory"
    preallocates = os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "true").lower() not in ("false", "0")
    if devices() and _version("jax") and preallocates:
        advice = "To share the GPU, set XLA_PYTHON_CLIENT_PREALLOCATE=false before JAX is imported."
        return Finding(what, "optional", "JAX takes three quarters of it when it starts", advice)
    return Finding(what, "ok", "shared with other libraries") if devices() else Finding(what, "optional", "no device")


def _widgets() -> Finding:
    """Return the finding on the packages for live pictures in notebooks."""
    missing = [name for name in WIDGETS if not _version(name)]
    if missing:
        advice = f"For live pictures in notebooks (static ones work without): pip install {' '.join(missing)}"
        return Finding("widgets", "optional", f"{', '.join(missing)} not installed", advice)
    return Finding("widgets", "ok", ", ".join(f"{name} {_version(name)}" for name in WIDGETS))


def _front_end() -> Finding:
    """Return the finding on the front end that shows this process's output, with advice on live views there."""
    for name, is_here, advice in _HOSTS:
        if is_here():
            return Finding("front end", "ok", name, advice)
    return Finding("front end", "optional", "none: a script or a terminal, where views are text")


_HOSTS = (
    ("marimo", lambda: "marimo" in sys.modules,
     "It has no magics: import kernel_ext, write @wb.kernel, and end cells with values or views of kernel_ext.show."),
    ("Colab", lambda: "google.colab" in sys.modules,
     "If views stay empty: from google.colab import output; output.enable_custom_widget_manager()"),
    ("Kaggle", lambda: "KAGGLE_KERNEL_RUN_TYPE" in os.environ,
     "Its server lacks anywidget's files, so views are static pictures; show.page(…) computes in its output."),
    ("VS Code", lambda: "VSCODE_PID" in os.environ or "VSCODE_CWD" in os.environ
     or hasattr(sys.modules.get("__main__"), "__vsc_ipynb_file__"),
     "For live views, allow the download of widgets' scripts when it asks (setting jupyter.widgetScriptSources)."),
    ("a Jupyter front end", lambda: "ipykernel.zmqshell" in sys.modules, ""),
)  # fmt: skip


def _cache() -> Finding:
    """Return the finding on the cache folder: whether it can be used, and its size."""
    state = info()
    if state.problem:
        advice = "Set WORKBENCH_CACHE to a folder that only you may write to."
        return Finding("cache folder", "problem", f"{state.path}: {state.problem}", advice)
    return Finding("cache folder", "ok", f"{state.path}, {state.modules} modules, {state.bytes / 1e6:.1f} MB")


def _disassembler() -> Finding:
    """Return the finding on a disassembler for machine code of GPUs."""
    command = disassembler()
    if command:
        return Finding("SASS", "ok", command[0])
    return Finding("SASS", "optional", "no disassembler", "For the sass pane: pip install nvidia-cuda-nvdisasm")


def _cublasdx() -> Finding:
    """Return the finding on the headers of cuBLASDx."""
    reason = mathdx.missing()
    if reason:
        return Finding("cuBLASDx", "optional", reason, f"For tile_matmul on GPUs by its code: {mathdx.advice()}")
    return Finding("cuBLASDx", "ok", mathdx.version())


CHECKS: tuple[Callable[[], Finding], ...] = (
    _python, _cpu, _driver, _nvrtc, _architecture, _jax, _shared_memory, _front_end, _widgets, _cache, _disassembler,
    _cublasdx,
)  # fmt: skip
"""In the order they are shown."""
