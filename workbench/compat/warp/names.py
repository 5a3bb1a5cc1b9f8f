"""Warp's names that are not ours, or mean something else there: one table makes the module and the guide's page."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from enum import IntEnum
from functools import partial, wraps
from importlib import import_module, metadata
from inspect import get_annotations
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np

import workbench as wb
from workbench.compat.warp import arrays, dims, launches, settings
from workbench.compat.warp.absent import ABSENT, Renderer, absent, caller, hints, ignored, is_absent, mention
from workbench.compat.warp.arrays import from_ptr
from workbench.compat.warp.finder import FROM_WHEEL, wheel
from workbench.compat.warp.geometry import Bvh, HashGrid, Mesh
from workbench.compat.warp.kinds import NUMBERS, number_type, quaternion, transformation
from workbench.compat.warp.settings import config, get_module
from workbench.doctor import doctor
from workbench.frontend.names.annotate import parameter_annotations
from workbench.interop.jax.values.library import library
from workbench.structs import as_element
from workbench.types import Scalar, Vector, as_type, element, int8, matrix, vector


class Row(NamedTuple):
    """Represents a name of Warp's, with its adapter.

    Attributes:
        value: what it is here.
        ours: how Workbench's own programs write it; empty if they leave it out.
        remark: what a program's author should know.
    """

    value: Any
    ours: str
    remark: str = ""


def _group(ours: str, remark: str, **values: Any) -> dict[str, Row]:
    """Return a row for each named value; the rows have the same `ours` and `remark`."""
    return {name: Row(value, ours, remark) for name, value in values.items()}


def _adapted(
    function: Callable[..., Any], like: bool = False, defaults: Mapping[str, Any] | None = None, **renamed: str
) -> Callable[..., Any]:
    """Return a function whose arrays have Warp's attributes, and which ignores Warp's hints.

    Args:
        function: what is called.
        like: whether an array requires a gradient if its source does, unless a call says otherwise.
        defaults: options for calls without positional arguments.
        **renamed: the names of its arguments by those that Warp gives them.
    """

    @wraps(function)
    def call(*args: Any, retain_grad: bool = False, stream: Any = None, **options: Any) -> Any:
        options = {renamed.get(name, name): value for name, value in arrays.without_hints(options).items()}
        if like and options.get("requires_grad") is None:
            options["requires_grad"] = getattr(args[0], "requires_grad", False)
        result = arrays.marked(function(*args, **{**({} if args else defaults or {}), **options}))
        if retain_grad:
            result.retain_grad = True
        return result

    return call


def _refused(name: str) -> Callable[..., Any]:
    """Return a function that raises ValueError: there are no memory pools."""

    def call(*args: Any, **options: Any) -> None:
        raise ValueError(f"wp.{name}(): Workbench has no memory pools; memory is freed with its arrays.")

    return call


def _cuda_devices() -> list[wb.Device]:
    """Return the CUDA devices."""
    return [d for d in wb.get_devices() if d.is_cuda]


def _set_device(device: Any) -> None:
    """Make a device the default one of this process, by its environment variable."""
    os.environ["WORKBENCH_DEVICE"] = str(wb.get_device(device))


def _from_numpy(data: Any, dtype: Any = None, **options: Any) -> Any:
    """Return an array of NumPy's data, which is converted where its numbers are of another type."""
    kind = as_element(dtype) if dtype is not None else None
    if isinstance(kind, (Scalar, Vector)):
        data = data.astype(element(kind).numpy, copy=False)
    return wb.from_numpy(data, dtype, **options)


def _dtype_from_numpy(dtype: Any) -> Any:
    """Return Warp's type for a dtype of NumPy.

    Raises:
        TypeError: there is none.
    """
    return number_type(dtype if isinstance(dtype, Scalar) else as_type(np.dtype(dtype)))


def _dtype_to_numpy(dtype: Any) -> Any:
    """Return NumPy's scalar class for a type of the language."""
    return as_type(dtype).numpy.type


def _overload(kernel: Any, *types: Any) -> Any:
    """Return the kernel itself, built for the types of each launch; for a `def`, the kernel of its name."""
    frame = caller()
    return kernel if isinstance(kernel, wb.Kernel) else {**frame.f_globals, **frame.f_locals}.get(kernel.__name__)


def _struct(cls: Any = None, **hints_: Any) -> Any:
    """Decorate a class: make a struct class; one without fields holds an unused byte, as in C++.

    A struct with a field of a class that Workbench lacks becomes such a class itself.
    """
    hints("wp.struct", hints_)
    if cls is None:
        return _struct
    cls.__annotations__ = get_annotations(cls, locals={**caller().f_locals}, eval_str=True)
    missing = [kind for kind in cls.__annotations__.values() if is_absent(kind)]
    if missing:
        return absent(f"{missing[0].__name__} (in {cls.__name__})")
    return struct_of(cls, get_module(cls.__module__))


def struct_of(cls: Any, module: Any) -> Any:
    """Make a struct class with the attributes of Warp's: `vars` by name, `cls`, `key`, `module`.

    One without fields holds an unused byte.
    """
    empty = cls.__bases__ == (object,) and not vars(cls).get("__annotations__")
    if empty:
        cls.__annotations__ = {"unused": int8}
    result: Any = wb.struct(cls)
    result.__ctype__ = lambda value: value
    result.numpy_dtype = staticmethod(lambda: result.__wb_struct__.numpy)
    result.assign, result.cls, result._cls, result.key, result.module = _assign, result, result, cls.__name__, module
    fields = () if empty else result.__wb_struct__.fields
    result.vars = {f.name: SimpleNamespace(label=f.name, type=f.type) for f in fields}
    return result


def _assign(value: Any, other: Any) -> Any:
    """Copy the fields of another struct into a struct, and return it."""
    for field in value.__wb_struct__.fields:
        setattr(value, field.name, getattr(other, field.name))
    return value


_JAX_HINTS = ("graph_mode", "module_preload_mode", "graph_cache_max", "stage_in_argnames", "stage_out_argnames")
_FOR_JAX: dict[Any, Callable[..., Any]] = {}
variable: Any = TypeVar  # of names that are not written out


def _for_jax(make: Callable[..., Any], function: Any, *args: Any, **options: Any) -> Callable[..., Any]:
    """Return a function for JAX as Warp has it: it returns a tuple, also of one array.

    Args:
        make: `jax_kernel` or `jax_callable`.
        function: a kernel, or a function that launches kernels.
        *args: the other arguments of `make`.
        **options: its options; hints have no effect.
    """
    meant = {n: v for n, v in options.items() if v is not None and v != [] and n not in _JAX_HINTS}
    key = repr((make, id(function), args, meant))
    if key in _FOR_JAX:
        return _FOR_JAX[key]
    inner = make(function, *args, **meant)
    as_first = {"enable_backward", "launch_dims"} <= {*meant}  # results are as large as the first array

    def call(*values: Any, **named: Any) -> Any:
        if as_first and "output_dims" not in named:
            kinds = zip(values, parameter_annotations(function.definition).values(), strict=False)
            named["output_dims"] = next(v.shape[: t.ndim] for v, t in kinds if isinstance(t, wb.types.ArrayType))
        result = inner(*values, **named)
        return result if isinstance(result, (tuple, list)) else (result,)

    call.function = function  # type: ignore[attr-defined]  # which keeps its id
    _FOR_JAX[key] = call
    return call


def _module_options(options: Mapping[str, Any] | None = None, module: Any = None) -> dict[str, Any]:
    """Return a copy of the options of `module` or of the calling module, after setting those in `options`.

    Setting warns once; of the options, `enable_backward` alone has an effect.
    """
    own = get_module(getattr(module, "__name__", None) or caller().f_globals.get("__name__", "__main__")).options
    if options is not None:
        mention("wp.set_module_options()")
        own.update(options)
    return dict(own)


def from_wheel(name: str) -> Any:
    """Return the value of a name in the wheel's own modules.

    Raises:
        AttributeError: `install()` was not called.
        ModuleNotFoundError: Warp is not installed.
        ImportError: Warp is installed in another version than those tested.
    """
    if sys.modules.get("warp") is not sys.modules["workbench.compat.warp"]:
        raise AttributeError(f"wp.{name} is a part of Warp's own wheel: call workbench.compat.warp.install() first")
    return getattr(import_module(f"warp._src.{FROM_WHEEL[name]}"), name)


def _device_to_jax(device: Any) -> Any:
    """Return JAX's device for one of Workbench's, or for its name."""
    own = wb.get_device(device)
    return library().jax.devices("cuda" if own.is_cuda else "cpu")[own.index if own.is_cuda else 0]


def _to_torch(x: wb.array, requires_grad: bool | None = None) -> Any:
    """Return the array as a PyTorch tensor that shares its memory, as do the gradients if one is required.

    `requires_grad` None: if the array requires one.
    """
    torch = import_module("torch")
    tensor = torch.from_dlpack(x)
    if x.requires_grad if requires_grad is None else requires_grad:
        tensor.requires_grad_()
        tensor.grad = torch.from_dlpack(x.grad) if x.grad is not None else None
    return tensor


def _diagnostics() -> dict[str, Any]:
    """Print what `workbench.doctor` reports; return versions and devices by Warp's names."""
    print("Software\n", doctor(), sep="")
    installed = {str(d.name).lower(): d.version for d in metadata.distributions()}
    devices = [{"alias": "cpu", "name": platform.processor()}, *({"alias": d.name} for d in _cuda_devices())]
    return {
        **dict.fromkeys(("warp_python", "warp_native"), settings.TESTED_VERSION),
        **dict.fromkeys(("cuda_toolkit", "cuda_driver", "nvrtc", "cuda_compatibility", "libmathdx", "nanovdb")),
        **dict.fromkeys(("mathdx_enabled", "cubql_enabled", "debug", "verify_fp", "fast_math"), False),
        **{name: installed[name] for name in ("numpy", "torch", "jax", "jaxlib") if name in installed},
        **{"warp_clang": True, "llvm": installed.get("llvmlite"), "host_compiler": "none", "devices": devices},
        **{"python": platform.python_version(), "platform": platform.platform(), "cuda_enabled": len(devices) > 1},
    }


def _copy(dest: Any, src: Any, dest_offset: int = 0, src_offset: int = 0, count: int = 0, stream: Any = None) -> None:
    """Copy as `workbench.copy`, with Warp's names of the arguments; a count of 0 means all."""
    if dest.dtype != src.dtype and element(dest.dtype) == element(src.dtype):
        src = src.flatten().view(element(src.dtype)).flatten().view(dest.dtype)
    if (dest_offset, src_offset, count) == (0, 0, 0) and dest.dtype == src.dtype:
        src, count = (src.reshape(dest.shape), 0) if dest.size == src.size else (src, src.size)
    wb.copy(dest, src, dest_offset, src_offset, count or None)


_BUILT = "kernels are built at their first launch, and found again by their content"
_HERE = "the name alone; it has no effect"
_NEVER = (
    "is_cubql_available", "is_mempool_enabled", "is_mempool_supported", "is_mempool_access_enabled",
    "is_mempool_access_supported", "is_conditional_graph_supported",
)  # fmt: skip
_OF_POOLS = (
    "set_mempool_enabled", "get_mempool_release_threshold", "set_mempool_release_threshold",
    "get_mempool_used_mem_current", "get_mempool_used_mem_high", "set_mempool_access_enabled",
)  # fmt: skip
_WAITS = ("synchronize_device", "synchronize_stream", "synchronize_event", "wait_event", "wait_stream")


def _same(remark: str, *functions: Any, adapt: Callable[..., Any] = _adapted, **options: Any) -> dict[str, Row]:
    """Return rows of Workbench's own functions under their own names, as `adapt` returns them with these options."""
    return {f.__name__: Row(adapt(f, **options), f"wb.{f.__name__}", remark) for f in functions}


# fmt: off
TABLE: dict[str, Row] = {
    "kernel": Row(launches.kernel, "wb.kernel", "names mean what they mean in Warp; hints have no effect"),
    "func": Row(launches.func, "wb.func"),
    "map": Row(launches.map, "wb.map", "several results are a list; in `wb.map` a tuple"),
    "launch": Row(launches.launch, "wb.launch", "`max_blocks` has no effect"),
    "launch_tiled": Row(launches.launch_tiled, "wb.launch_tiled", "`max_blocks` has no effect"),
    "Launch": Row(launches.Launch, "wb.launch(…, record_cmd=True)", "arguments are set one by one"),
    "Tape": Row(launches.Tape, "wb.Tape", "`reset()` also sets gradients to 0; `wb.Tape`'s keeps them"),
    **_same(
        "has a gradient if its source has, in `wb` on request",
        wb.clone, wb.zeros_like, wb.ones_like, wb.full_like, wb.empty_like, like=True,
    ),
    "array": Row(arrays.array, "wb.array", "`array([1.0])` is of float64, `array([1])` of int64; in `wb` of 32 bits"),
    **{f"array{n}d": Row(arrays.ArrayOf(n), f"wb.array{n}d", "numbers as in `array`") for n in range(1, 5)},
    "capture_if": Row(_adapted(wb.capture_if), "wb.capture_if"),
    "capture_while": Row(_adapted(wb.capture_while, while_body="body"), "wb.capture_while", "`while_body` is `body`"),
    "from_numpy": Row(_adapted(_from_numpy), "wb.from_numpy", "converts data of another type; `wb` refuses it"),
    "ScopedTimer": Row(launches.ScopedTimer, "wb.ScopedTimer", "prints the time; `wb.ScopedTimer(prints=True)` does"),
    **_group(
        "with wb.capture() as graph:", "", ScopedCapture=launches.ScopedCapture,
        capture_begin=launches.capture_begin, capture_end=launches.capture_end,
    ),
    "capture_launch": Row(launches.capture_launch, "graph.launch()"),
    "HashGrid": Row(HashGrid, "wb.HashGrid", "kernels take `grid.id` as a `wp.uint64`; with `wb` the grid itself"),
    "copy": Row(_copy, "wb.copy", "`count=0` copies everything"),
    "Mesh": Row(Mesh, "wb.Mesh", "kernels take `mesh.id` as a `wp.uint64`; with `wb` the mesh itself"),
    "Bvh": Row(Bvh, "wb.Bvh", "kernels take `bvh.id` as a `wp.uint64`; with `wb` the tree itself"),
    **_group("wb.BvhQuery", _HERE, MeshQuery=wb.BvhQuery, MeshQueryAABB=wb.BvhQuery),
    **_group("wb.synchronize", "", **dict.fromkeys(_WAITS, lambda *args, **options: wb.synchronize())),
    "set_device": Row(_set_device, "with wb.ScopedDevice(device):", "sets `WORKBENCH_DEVICE` for this process"),
    "get_preferred_device": Row(wb.get_device, "wb.get_device"),
    **_group(
        "wb.get_devices", "", get_cuda_devices=_cuda_devices, get_cuda_device_count=lambda: len(_cuda_devices()),
        is_cuda_available=lambda: bool(_cuda_devices()), is_cpu_available=lambda: True,
        is_device_available=lambda device: device in wb.get_devices(),
    ),
    "config": Row(config, "wb.set_checks", "`mode`, `enable_backward`, `enable_cpu_blocks` count; others do not"),
    "Function": Row(launches.Function, "wb.Func"),
    "Kernel": Row(launches.Kernel, "wb.Kernel"),
    **_group(
        "", _BUILT, overload=_overload, Module=settings.Module, get_module=get_module,
        **{name: ignored(f"wp.{name}") for name in ("load_module", "force_load", "clear_lto_cache")},
    ),
    **_group(
        "", _HERE, LOG_DEBUG=10, LOG_INFO=20, LOG_WARNING=30, LOG_ERROR=40, get_cuda_supported_archs=lambda: [],
        get_suggested_block_size=lambda kernel, device=None: (dims.block_dim(None, device), 1),
        **dict.fromkeys(("get_cuda_driver_version", "get_cuda_toolkit_version"), lambda: None),
        **dict.fromkeys(_NEVER, lambda *devices: False), DeterministicMode=settings.DeterministicMode,
        MemoryKind=settings.MemoryKind,
        JaxModulePreloadMode=IntEnum("JaxModulePreloadMode", "NONE CURRENT_DEVICE ALL_DEVICES"),
        JaxCallableGraphMode=IntEnum("JaxCallableGraphMode", "NONE JAX WARP WARP_STAGED WARP_STAGED_EX"),
        dtype_from_jax=_dtype_from_numpy, dtype_to_jax=_dtype_to_numpy,
        device_from_jax=lambda d: wb.get_device("cpu" if d.platform == "cpu" else f"cuda:{d.id}"),
    ),
    "__version__": Row(settings.TESTED_VERSION, "wb.__version__", "of the Warp whose programs run"),
    "dtype_from_numpy": Row(_dtype_from_numpy, "", "`wb` takes NumPy's dtypes themselves"),
    "dtype_to_numpy": Row(_dtype_to_numpy, "", "`wb.float32.numpy` is NumPy's dtype"),
    "DeviceLike": Row(wb.Device | str | None, "wb.Device"),
    **{
        f"WarpCodegen{kind}Error": Row(wb.WorkbenchError, "wb.WorkbenchError")
        for kind in ("", "Type", "Value", "Attribute", "Index", "Key")
    },
    **_group("", "refused when it is made", **{name: absent(name) for name in ABSENT}),
    **{n: Row(variable(n, bound=getattr(wb, n)), f"wb.{n}", "a type variable") for n in ("Float", "Int", "Scalar")},
    "ref": Row(wb.ref, "wb.ref", "has a gradient"),
    "handle": Row(NUMBERS["uint64"], "wb.uint64"),
    "transform_set_translation": Row(lambda t, p: setattr(t, "p", p), "t.p = p"),
    "transform_set_rotation": Row(lambda t, q: setattr(t, "q", q), "t.q = q"),
    "transformation": Row(transformation, "wb.transform", "called with a dtype, the type of such transforms"),
    "quaternion": Row(quaternion, "wb.quat", "called with a dtype, the type of such quaternions"),
    "to_jax": Row(lambda x: library().jax.dlpack.from_dlpack(x), "", "`wb` arrays have `__dlpack__`"),
    "device_to_jax": Row(_device_to_jax, "", "the device of JAX"),
    "device_to_torch": Row(lambda d: str(wb.get_device(d)), "", "the name of PyTorch's device"),
    "device_from_torch": Row(lambda d: wb.get_device(str(d)), "wb.get_device"),
    "to_torch": Row(_to_torch, "", "`torch.from_dlpack(x)`"),
    "record_event": Row(lambda event=None: wb.Event() if event is None else event, "wb.Event"),
    "float": Row(NUMBERS["float32"], "wb.float32"),
    "int": Row(NUMBERS["int32"], "wb.int32"),
    "vec": Row(vector, "wb.vector"),
    "mat": Row(matrix, "wb.matrix"),
    **_same("`n` is the shape", wb.zeros, wb.ones, wb.empty, wb.full, defaults={"shape": 0}),
    **_same("has Warp's attributes", wb.from_torch, wb.from_jax, wb.from_dlpack),
    "from_ptr": Row(_adapted(from_ptr), "wb.from_numpy", "an address on the CPU"),
    **{f"indexedarray{n}d": Row(partial(arrays.IndexedArray, ndim=n), "wb.indexedarray") for n in range(1, 5)},
    "indexedarray": Row(arrays.IndexedArray, "wb.indexedarray"),
    **_same(
        "the result is a tuple, also of one array", wb.jax_kernel, wb.jax_callable,
        adapt=lambda make: partial(_for_jax, make),
    ),
    "func_native": Row(
        _adapted(wb.func_native, snippet="cuda", adj_snippet="adj_cuda", replay_snippet="replay_cuda"),
        "wb.func_native", "`snippet` is `cuda`",
    ),
    "struct": Row(_struct, "wb.struct", "may have no fields"),
    "to_dlpack": Row(lambda x: x.__dlpack__(), "", "`wb` arrays have `__dlpack__`"),
    "get_cuda_device": Row(lambda ordinal=None: wb.get_device(f"cuda:{ordinal or 0}"), "wb.get_device"),
    "get_stream": Row(lambda device=None: wb.Stream(wb.get_device(device)), "wb.Stream"),
    **_group(
        "", "there are no pools to switch",
        **dict.fromkeys(("ScopedMempool", "ScopedMempoolAccess"), lambda *args, **options: nullcontext()),
    ),
    **_group("", "refused: there are no pools to ask", **{name: _refused(name) for name in _OF_POOLS}),
    "get_cuda_max_cluster_dim": Row(lambda kernel, device=None: 1, "", "blocks do not form clusters here"),
    "init": Row(lambda: None, "", "nothing has to be initialised"),
    "clear_kernel_cache": Row(ignored("wp.clear_kernel_cache"), "wb.cache.clear", _BUILT),
    "set_module_options": Row(_module_options, "wb.kernel(…)", "without effect: options are a kernel's or a launch's"),
    "get_module_options": Row(lambda module=None: _module_options(None, module), "wb.kernel(…)"),
    "print_diagnostics": Row(_diagnostics, "python -m workbench.doctor", "returns a dict"),
    "render": Row(
        SimpleNamespace(UsdRenderer=Renderer, OpenGLRenderer=Renderer), "", "draws nothing: there is no USD here"
    ),
    "examples": Row(
        SimpleNamespace(get_asset_directory=lambda: str(wheel() / "examples" / "assets")), "",
        "an installed Warp's assets",
    ),
}
# fmt: on
"""Warp's name to ours."""


def page() -> str:
    """Return the table of names in Markdown, for a page of the guide."""
    shown = ((name, f"`{row.ours}`" if row.ours else "leave it out", row.remark) for name, row in TABLE.items())
    lines = [f"| `{name}` | {ours} | {remark} |" for name, ours, remark in shown]
    return "\n".join(["| Warp's name | in Workbench's own programs | remark |", "|---|---|---|", *lines])
