"""Workbench: write a GPU kernel in a notebook cell, run it in the same second, differentiate it, see what happened.

import workbench as wb

@wb.kernel
def saxpy(a: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] += a * x[i]

wb.launch(saxpy, dim=n, inputs=[2.0, x, y])
"""

import sys as _sys
from difflib import get_close_matches as _close_to
from functools import partial as _partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench import cache, errors, events, types
from workbench.api.builds.cell import Cell
from workbench.api.builds.cell import build_cell as _build_cell
from workbench.api.kernels import pickled as _pickled
from workbench.api.kernels.constant import constant
from workbench.api.kernels.func import Func, func, func_grad, func_native, func_replay
from workbench.api.kernels.kernel import Kernel, kernel
from workbench.api.kernels.struct import struct
from workbench.api.launches.launch import Launch, launch
from workbench.builtins import FORMS as _FORMS
from workbench.builtins import TABLE as _TABLE
from workbench.builtins.scalars.constants import BARE as _BARE
from workbench.builtins.scalars.constants import CONSTANTS as _CONSTANTS
from workbench.errors import (
    BuildError,
    CacheError,
    CellErrors,
    DeviceError,
    KernelFault,
    KernelSyntaxError,
    KernelTypeError,
    LaunchError,
    NotConverged,
    NotDifferentiable,
    RecordError,
    WorkbenchError,
)
from workbench.frontend.names.annotate import Float, Int, Scalar, ref
from workbench.frontend.names.annotate import array_of as _array_of
from workbench.frontend.names.python_names import instead_of as _instead_of
from workbench.host.vectors import ON_HOST as _ON_HOST
from workbench.runtime.arithmetic import OPERATIONS as _OPERATIONS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import (
    clone,
    copy,
    empty,
    empty_like,
    from_numpy,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from workbench.runtime.arrays.import_arrays import from_dlpack, from_jax, from_torch
from workbench.runtime.arrays.indexed import indexedarray
from workbench.runtime.device.device import (
    Device,
    ScopedDevice,
    get_device,
    get_devices,
    is_peer_access_enabled,
    is_peer_access_supported,
    reset_device,
    set_peer_access_enabled,
    trim,
)
from workbench.runtime.device.streams import Event, ScopedStream, ScopedTimer, Stream, synchronize
from workbench.runtime.launching.checks import set_checks
from workbench.runtime.launching.execute import IN_ORDER as _IN_ORDER
from workbench.structs import array_type as _array_type
from workbench.types import matrix, vector
from workbench.work import Work, wait

if TYPE_CHECKING:
    from workbench import linear, optim, utils
    from workbench.api.cuda_cpp.kernel import CudaKernel
    from workbench.api.cuda_cpp.module import CudaModule, cuda_module
    from workbench.api.diagnosis.explain import Explanation, explain_grad
    from workbench.api.diagnosis.find_nan import find_nan
    from workbench.api.diagnosis.races import checks
    from workbench.api.diagnosis.stepper import step
    from workbench.api.gradients.gradcheck import Verdict, gradcheck
    from workbench.api.gradients.report import GradientReport, gradients_of
    from workbench.api.gradients.transforms import grad, hessian, hvp, jacobian, jvp, launch_tangent, value_and_grad
    from workbench.api.graphs.capture import capture, capture_if, capture_stream, capture_while
    from workbench.api.graphs.graph import Graph
    from workbench.api.launches.launch_pair import LaunchPair, launch_pair
    from workbench.api.launches.launch_tiled import launch_tiled
    from workbench.api.launches.map import map
    from workbench.api.load_record import load_record
    from workbench.api.measurement.bench import Bench, Comparison, bench, compare
    from workbench.api.measurement.sweep import Sweep, sweep
    from workbench.api.profiling.profile import profile
    from workbench.api.profiling.report import Profile
    from workbench.api.recorder import Recorder, record
    from workbench.api.tapes.tape import Tape
    from workbench.interop.jax.sharing.export import jax_export, jax_pack, jax_preload, jax_unpack
    from workbench.interop.jax.wrappers.jax_callable import GraphMode, jax_callable
    from workbench.interop.jax.wrappers.jax_kernel import jax_kernel
    from workbench.linear.roots import implicit
    from workbench.utils.hash_grid import HashGrid
    from workbench.utils.mesh import Bvh, BvhQuery, Mesh, Meshes, MeshQueryPoint, MeshQueryRay

__version__ = "0.1.0"
_MODULES = {
    "workbench.api.measurement.bench": ("Bench", "Comparison", "bench", "compare"),
    "workbench.api.graphs.capture": ("capture", "capture_if", "capture_stream", "capture_while"),
    "workbench.api.cuda_cpp.kernel": ("CudaKernel",),
    "workbench.api.cuda_cpp.module": ("CudaModule", "cuda_module"),
    "workbench.api.diagnosis.explain": ("Explanation", "explain_grad"),
    "workbench.api.diagnosis.find_nan": ("find_nan",),
    "workbench.api.diagnosis.races": ("checks",),
    "workbench.api.gradients.transforms": (
        *("grad", "hessian", "hvp", "jacobian", "jvp", "launch_tangent", "value_and_grad"),
    ),
    "workbench.api.gradients.gradcheck": ("Verdict", "gradcheck"),
    "workbench.api.gradients.report": ("GradientReport", "gradients_of"),
    "workbench.api.graphs.graph": ("Graph",),
    "workbench.api.launches.launch_tiled": ("launch_tiled",),
    "workbench.api.load_record": ("load_record",),
    "workbench.api.launches.map": ("map",),
    "workbench.api.launches.launch_pair": ("LaunchPair", "launch_pair"),
    "workbench.api.diagnosis.stepper": ("step",),
    "workbench.api.measurement.sweep": ("Sweep", "sweep"),
    "workbench.api.profiling.profile": ("profile",),
    "workbench.api.profiling.report": ("Profile",),
    "workbench.api.tapes.tape": ("Tape",),
    "workbench.interop.jax.sharing.export": ("jax_export", "jax_pack", "jax_preload", "jax_unpack"),
    "workbench.interop.jax.wrappers.jax_callable": ("GraphMode", "jax_callable"),
    "workbench.interop.jax.wrappers.jax_kernel": ("jax_kernel",),
    "workbench.api.recorder": ("Recorder", "record"),
    "workbench.linear.roots": ("implicit",),
    "workbench.utils.hash_grid": ("HashGrid",),
    "workbench.utils.mesh": ("Bvh", "BvhQuery", "Mesh", "Meshes", "MeshQueryPoint", "MeshQueryRay"),
}


def _on_host(*call: Any) -> Any:
    """Call a builtin or func on Python's values, by a module that is imported on first use."""
    return import_module("workbench.api.launches.host_call").called(*call)


_OPERATIONS.append(_partial(import_module, "workbench.api.launches.map"))
_IN_ORDER.append(_partial(import_module, "workbench.utils.ordered"))
_ON_HOST.append(_on_host)
_LATER = {name: module for module, names in _MODULES.items() for name in names}
"""Modules of the names that are imported on first use.

A first kernel needs none of them, and importing them takes as long as a quarter of all the others.
"""
_PARTS = ("inspect", "linear", "optim", "utils")
"""Modules that are imported on first use."""


class _ArrayOf:
    """Makes annotations and arrays of `ndim` dimensions: `array2d[float]`, `array2d(data)`."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        self.__name__ = self.__qualname__ = f"array{ndim}d"

    def __getitem__(self, dtype: Any) -> Any:
        """Return the annotation for arrays with this number of dimensions and elements of `dtype`."""
        return _array_of(dtype, self.ndim) or _array_type(dtype, self.ndim)

    def __call__(self, data: Any = None, dtype: Any = None, **options: Any) -> Any:
        """Create an array from `data` with this number of dimensions; `options` are those of `wb.array`."""
        return array(data, dtype, ndim=self.ndim, **options)

    def __repr__(self) -> str:
        return self.__name__


array1d, array2d, array3d, array4d = (_ArrayOf(n) for n in (1, 2, 3, 4))

_BUILTINS = {name: b for name, b in _TABLE.items() if not b.hidden and not name.endswith("_")} | _FORMS
_TYPES: dict[str, Any] = {**types.NUMBERS, **types.VECTORS, **types.MATRICES, **types.QUATERNIONS, **types.TRANSFORMS}
_TYPES.update({"vector": vector, "matrix": matrix})
_ANNOTATIONS = {
    "array": array,
    "indexedarray": indexedarray,
    "array1d": array1d,
    "array2d": array2d,
    "array3d": array3d,
    "array4d": array4d,
    "Any": Any,
    "ref": ref,
    "Float": Float,
    "Int": Int,
    "Scalar": Scalar,
}
LANGUAGE: dict[str, Any] = {**_BUILTINS, **_TYPES, **_ANNOTATIONS, "kernel": kernel, "func": func, "struct": struct}
LANGUAGE.update({"func_grad": func_grad, "func_native": func_native, "func_replay": func_replay})
LANGUAGE.update({name: _CONSTANTS[name] for name in _BARE})
_pickled.LANGUAGE.update(LANGUAGE)
"""Names that a `%%kernel` cell sees without an import."""


def build_cell(text: str, namespace: dict[str, Any], **options: Any) -> Cell:
    """Read a cell of kernels and build them; all of the language is in scope.

    Args:
        text: the cell's source code.
        namespace: the names that its kernels may use; `Cell.names` says what the cell adds to them.
        **options: of `workbench.api.builds.cell.build_cell`: `backend`, `name`, `checks`, `fast_math`, `compile`, …

    Returns:
        The kernels, funcs and structs of the cell.

    Raises:
        WorkbenchError: what is wrong with the cell; several at once as `CellErrors`. Nothing is built then.
    """
    return _build_cell(text, namespace, language=LANGUAGE, **options)


def __getattr__(name: str) -> Any:
    """Return a name of the package, imported on first use and then stored as a global.

    Raises:
        AttributeError: there is none; the message suggests another.
    """
    if name in _LATER:
        value = getattr(import_module(_LATER[name]), name)
    elif name in _PARTS:
        value = import_module(f"workbench.{name}")
    else:
        value = _BUILTINS.get(name, _TYPES.get(name, _CONSTANTS.get(name)))
    if value is None:
        instead = _instead_of(name, True) or _similar(name)
        raise AttributeError(f"module 'workbench' has no attribute {name!r}. {instead}".removesuffix(" "))
    globals()[name] = value  # found directly the next time
    return value


def _similar(name: str) -> str:
    """Return a sentence that suggests a name of the package, or NumPy's function; empty if none is similar."""
    if close := _close_to(name, __dir__(), 1, 0.8):
        return f"Did you mean {close[0]}?"
    known = not name.startswith("_") and callable(getattr(_sys.modules.get("numpy"), name, None))
    return f"NumPy has it: wb.array(np.{name}(…))." if known else ""


def __dir__() -> list[str]:
    """Return all public names, sorted; also those that are imported on first use."""
    return sorted({*__all__, *_BUILTINS, *_TYPES, *_CONSTANTS, *_PARTS, "__all__", "__doc__", "__version__"})


__all__ = [
    "LANGUAGE", "Bench", "BuildError", "Bvh", "BvhQuery", "CacheError", "Cell", "CellErrors", "Comparison",
    "CudaKernel", "CudaModule", "Device", "DeviceError", "Event", "Explanation", "Float", "Func", "GradientReport",
    "Graph", "GraphMode", "HashGrid", "Int", "Kernel", "KernelFault", "KernelSyntaxError", "KernelTypeError", "Launch",
    "LaunchError", "LaunchPair", "Mesh", "MeshQueryPoint", "MeshQueryRay", "Meshes", "NotConverged",
    "NotDifferentiable", "Profile", "RecordError", "Recorder", "Scalar",
    "ScopedDevice", "ScopedStream", "ScopedTimer", "Stream", "Sweep",
    "Tape", "Verdict", "Work", "WorkbenchError", "array", "array1d", "array2d", "array3d", "array4d", "bench",
    "build_cell", "cache", "capture", "capture_if", "capture_stream", "capture_while", "checks", "clone", "compare",
    "constant", "copy", "cuda_module", "empty", "empty_like", "errors", "events", "explain_grad", "find_nan",
    "from_dlpack", "from_jax", "from_numpy", "from_torch", "full", "full_like", "func", "func_grad", "func_native",
    "func_replay", "get_device", "get_devices", "grad", "gradcheck", "gradients_of", "hessian", "hvp", "implicit",
    "indexedarray", "is_peer_access_enabled", "is_peer_access_supported", "jacobian", "jax_callable", "jax_export",
    "jax_kernel", "jax_pack", "jax_preload", "jax_unpack", "jvp", "kernel", "launch", "launch_pair", "launch_tangent",
    "launch_tiled", "linear", "load_record", "map", "matrix", "ones", "ones_like", "optim", "profile", "record", "ref",
    "reset_device", "set_checks", "set_peer_access_enabled", "step", "struct", "sweep", "synchronize", "trim", "types",
    "utils", "value_and_grad", "vector", "wait", "zeros", "zeros_like",
]  # fmt: skip
