"""Workbench: write a GPU kernel in a notebook cell, run it in the same second, differentiate it, see what happened.

import workbench as wb

@wb.kernel
def saxpy(a: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] += a * x[i]

wb.launch(saxpy, dim=n, inputs=[2.0, x, y])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench import cache, errors, events, types
from workbench.api.cell import Cell
from workbench.api.cell import build_cell as _build_cell
from workbench.api.constant import constant
from workbench.api.cuda_kernel import CudaKernel
from workbench.api.customs import func_grad, func_replay
from workbench.api.func import Func, func
from workbench.api.kernel import Kernel, kernel
from workbench.api.launch import Launch, launch
from workbench.api.native import func_native
from workbench.api.struct import struct
from workbench.builtins import FORMS as _FORMS
from workbench.builtins import TABLE as _TABLE
from workbench.builtins.constants import BARE as _BARE
from workbench.builtins.constants import CONSTANTS as _CONSTANTS
from workbench.errors import (
    BuildError,
    CacheError,
    CellErrors,
    DeviceError,
    KernelFault,
    KernelSyntaxError,
    KernelTypeError,
    LaunchError,
    NotDifferentiable,
    RecordError,
    WorkbenchError,
)
from workbench.frontend import Float, Int, Scalar
from workbench.frontend import array_of as _array_of
from workbench.frontend import instead_of as _instead_of
from workbench.runtime.adopt import from_dlpack, from_jax, from_torch
from workbench.runtime.array import array
from workbench.runtime.checks import checks, set_checks
from workbench.runtime.create import (
    clone,
    copy,
    empty,
    empty_like,
    from_numpy,
    full,
    ones,
    zeros,
    zeros_like,
)
from workbench.runtime.device import Device, ScopedDevice, get_device, get_devices
from workbench.runtime.indexed import indexedarray
from workbench.runtime.peers import is_peer_access_enabled, is_peer_access_supported, set_peer_access_enabled
from workbench.runtime.streams import Event, ScopedStream, ScopedTimer, Stream, synchronize
from workbench.structs import array_type as _array_type
from workbench.types import matrix, vector
from workbench.work import Work, wait

if TYPE_CHECKING:
    from workbench.api.bench import Bench, bench
    from workbench.api.capture import capture, capture_if, capture_stream, capture_while
    from workbench.api.cuda_module import CudaModule, cuda_module
    from workbench.api.explain import explain_grad
    from workbench.api.explanation import Explanation
    from workbench.api.find_nan import find_nan
    from workbench.api.functional import grad, hvp, jacobian, jvp, value_and_grad
    from workbench.api.gradcheck import Verdict, gradcheck
    from workbench.api.gradient_report import GradientReport, gradients_of
    from workbench.api.graph import Graph
    from workbench.api.launch_tiled import launch_tiled
    from workbench.api.load_record import load_record
    from workbench.api.map import map
    from workbench.api.pair import LaunchPair, launch_pair
    from workbench.api.step import step
    from workbench.api.sweep import Sweep, sweep
    from workbench.api.tangents import launch_tangent
    from workbench.api.tape import Tape
    from workbench.interop.jax import GraphMode, jax_callable, jax_export, jax_kernel, jax_preload
    from workbench.runtime.recorder import Recorder, record

__version__ = "0.1.0"
_MODULES = {
    "workbench.api.bench": ("Bench", "bench"),
    "workbench.api.capture": ("capture", "capture_if", "capture_stream", "capture_while"),
    "workbench.api.cuda_module": ("CudaModule", "cuda_module"),
    "workbench.api.explain": ("explain_grad",),
    "workbench.api.explanation": ("Explanation",),
    "workbench.api.find_nan": ("find_nan",),
    "workbench.api.functional": ("grad", "hvp", "jacobian", "jvp", "value_and_grad"),
    "workbench.api.gradcheck": ("Verdict", "gradcheck"),
    "workbench.api.gradient_report": ("GradientReport", "gradients_of"),
    "workbench.api.graph": ("Graph",),
    "workbench.api.launch_tiled": ("launch_tiled",),
    "workbench.api.load_record": ("load_record",),
    "workbench.api.map": ("map",),
    "workbench.api.pair": ("LaunchPair", "launch_pair"),
    "workbench.api.step": ("step",),
    "workbench.api.sweep": ("Sweep", "sweep"),
    "workbench.api.tangents": ("launch_tangent",),
    "workbench.api.tape": ("Tape",),
    "workbench.interop.jax": ("GraphMode", "jax_callable", "jax_export", "jax_kernel", "jax_preload"),
    "workbench.runtime.recorder": ("Recorder", "record"),
}
_LATER = {name: module for module, names in _MODULES.items() for name in names}
"""Where names are that are imported when they are first asked for: a first kernel needs none of them, and importing
them takes as long as a quarter of all the others."""


class _ArrayOf:
    """`array2d[float]` or `array2d(dtype=float)`: an annotation of so many dimensions."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim

    def __getitem__(self, dtype: Any) -> Any:
        return _array_of(dtype, self.ndim) or _array_type(dtype, self.ndim)

    def __call__(self, dtype: Any) -> Any:
        return self[dtype]

    def __repr__(self) -> str:
        return f"array{self.ndim}d"


array1d, array2d, array3d, array4d = (_ArrayOf(n) for n in (1, 2, 3, 4))

_BUILTINS = {name: b for name, b in _TABLE.items() if not b.hidden and not name.endswith("_")} | _FORMS
_TYPES: dict[str, Any] = {**types.SCALARS, **types.VECTORS, **types.MATRICES, **types.QUATERNIONS, **types.TRANSFORMS}
_TYPES |= {"vector": vector, "matrix": matrix}
_ANNOTATIONS = {
    "array": array,
    "indexedarray": indexedarray,
    "array1d": array1d,
    "array2d": array2d,
    "array3d": array3d,
    "array4d": array4d,
    "Any": Any,
    "Float": Float,
    "Int": Int,
    "Scalar": Scalar,
}
LANGUAGE: dict[str, Any] = {**_BUILTINS, **_TYPES, **_ANNOTATIONS, "kernel": kernel, "func": func, "struct": struct}
LANGUAGE |= {"func_grad": func_grad, "func_native": func_native, "func_replay": func_replay}
LANGUAGE |= {name: _CONSTANTS[name] for name in _BARE}
"""Names that a `%%kernel` cell sees without an import."""


def build_cell(text: str, namespace: dict[str, Any], **options: Any) -> Cell:
    """Read a cell of kernels and build them; see `workbench.api.cell.build_cell`, with all of the language in scope.

    Raises:
        WorkbenchError: what is wrong with the cell; several at once as `CellErrors`. Nothing is built then.
    """
    return _build_cell(text, namespace, language=LANGUAGE, **options)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        found = getattr(import_module(_LATER[name]), name)
    else:
        found = _BUILTINS.get(name, _TYPES.get(name, _CONSTANTS.get(name)))
    if found is None:
        raise AttributeError(
            f"module 'workbench' has no attribute {name!r}. {_instead_of(name, True)}".removesuffix(" ")
        )
    globals()[name] = found  # found directly the next time
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_BUILTINS, *_TYPES, *_CONSTANTS})


__all__ = [
    "LANGUAGE", "Bench", "BuildError", "CacheError", "Cell", "CellErrors", "CudaKernel", "CudaModule", "Device",
    "DeviceError", "Event", "Explanation", "Float", "Func", "GradientReport", "Graph", "GraphMode", "Int",
    "Kernel", "KernelFault", "KernelSyntaxError", "KernelTypeError", "Launch", "LaunchError", "LaunchPair",
    "NotDifferentiable", "RecordError", "Recorder", "Scalar", "ScopedDevice", "ScopedStream", "ScopedTimer",
    "Stream", "Sweep", "Tape", "Verdict", "Work", "WorkbenchError", "array", "array1d", "array2d", "array3d",
    "array4d", "bench", "build_cell", "cache", "capture", "capture_if", "capture_stream", "capture_while",
    "checks", "clone", "constant", "copy", "cuda_module", "empty", "empty_like", "errors", "events",
    "explain_grad", "find_nan", "from_dlpack", "from_jax", "from_numpy", "from_torch", "full", "func", "func_grad",
    "func_native", "func_replay", "get_device", "get_devices", "grad", "gradcheck", "gradients_of", "hvp",
    "indexedarray", "is_peer_access_enabled", "is_peer_access_supported", "jacobian", "jax_callable",
    "jax_export", "jax_kernel", "jax_preload", "jvp", "kernel", "launch", "launch_pair", "launch_tangent",
    "launch_tiled", "load_record", "map", "matrix", "ones", "record", "set_checks", "set_peer_access_enabled",
    "step", "struct", "sweep", "synchronize", "types", "value_and_grad", "vector", "wait", "zeros",
    "zeros_like",
]  # fmt: skip
