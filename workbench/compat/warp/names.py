"""Warp's names that are not ours, or mean something else there: one table makes the module and the guide's page."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from enum import IntEnum
from functools import partial, wraps
from importlib import import_module, metadata
from inspect import get_annotations
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

import workbench as wb
from workbench.compat.warp import arrays, dims, launches
from workbench.compat.warp.absent import ABSENT, Renderer, absent, hints, ignored, is_absent, mention
from workbench.compat.warp.arrays import from_ptr
from workbench.compat.warp.attributes import Module, get_module
from workbench.compat.warp.finder import FROM_WHEEL, wheel
from workbench.compat.warp.geometry import Bvh, HashGrid, Mesh
from workbench.compat.warp.makers import NUMBERS, number_type, quaternion, transformation
from workbench.compat.warp.settings import TESTED_VERSION, DeterministicMode, MemoryKind, config
from workbench.doctor import doctor
from workbench.frontend import parameter_annotations
from workbench.interop.jax.values.library import library
from workbench.structs import as_element
from workbench.types import Scalar, Vector, as_type, element, int8, matrix, vector


@dataclass(frozen=True)
class Row:
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
    return {name: Row(value, ours, remark) for name, value in values.items()}


def _making(make: Callable[..., Any], like: bool = False, **defaults: Any) -> Callable[..., Any]:
    """Return a maker of arrays that ignores Warp's hints, and whose arrays have Warp's attributes.

    With `like`, an array requires a gradient if its source does, unless a call says otherwise; `defaults` are options
    for calls without positional arguments.
    """

    @wraps(make)
    def call(*args: Any, **options: Any) -> Any:
        retained = options.pop("retain_grad", False)
        options = arrays.without_hints(options)
        if like and options.get("requires_grad") is None:
            options["requires_grad"] = args[0].requires_grad
        result = arrays.marked(make(*args, **{**({} if args else defaults), **options}))
        if retained:
            result.retain_grad = True
        return result

    return call


def _signature(function: Callable[..., Any], **renamed: str) -> Callable[..., Any]:
    """Return a function whose named arguments may have Warp's names, `renamed`, and which ignores `stream`."""

    @wraps(function)
    def call(*args: Any, stream: Any = None, **options: Any) -> Any:
        return function(*args, **{renamed.get(name, name): value for name, value in options.items()})

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


def _asset_directory() -> str:
    """Return the folder of the assets of an installed Warp.

    Raises:
        ModuleNotFoundError: Warp is not installed.
    """
    return str(wheel() / "examples" / "assets")


def _from_numpy(data: Any, dtype: Any = None, **options: Any) -> Any:
    """Return an array of NumPy's data, which is converted where its numbers are of another type."""
    kind = as_element(dtype) if dtype is not None else None
    if isinstance(kind, (Scalar, Vector)) and data.dtype != element(kind).numpy:
        data = data.astype(element(kind).numpy)
    return arrays.marked(wb.from_numpy(data, dtype, **arrays.without_hints(options)))


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
    if isinstance(kernel, wb.Kernel):
        return kernel
    frame = sys._getframe(1)
    return frame.f_locals.get(kernel.__name__, frame.f_globals.get(kernel.__name__))


def _struct(cls: Any = None, **hints_: Any) -> Any:
    """Decorate a class: make a struct class; one without fields holds an unused byte, as in C++.

    A struct with a field of a class that Workbench lacks becomes such a class itself.
    """
    hints("wp.struct", hints_)
    if cls is None:
        return _struct
    cls.__annotations__ = get_annotations(cls, locals={**sys._getframe(1).f_locals}, eval_str=True)
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
    result.numpy_dtype = classmethod(lambda c: c.__wb_struct__.numpy)
    result.assign, result.cls, result._cls, result.key, result.module = _assign, result, result, cls.__name__, module
    fields = () if empty else result.__wb_struct__.fields
    result.vars = {f.name: SimpleNamespace(label=f.name, type=f.type) for f in fields}
    return result


def _assign(value: Any, other: Any) -> Any:
    """Copy the fields of another struct into a struct, and return it."""
    for field in value.__wb_struct__.fields:
        setattr(value, field.name, getattr(other, field.name))
    return value


def _jax(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return `jax_kernel` or `jax_callable` as Warp has it: its functions return a tuple, also of one array."""
    known: dict[Any, Callable[..., Any]] = {}

    def made(function: Any, *args: Any, **options: Any) -> Any:
        meant = {n: v for n, v in options.items() if v is not None and v != [] and n not in _JAX_HINTS}
        key = repr((id(function), args, meant))
        if key not in known:
            known[key] = _made_for_jax(make, function, args, meant)
        return known[key]

    made.__name__, made.__doc__ = make.__name__, make.__doc__
    return made


def _made_for_jax(make: Any, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Callable[..., Any]:
    inner = make(function, *args, **_elements(function, options))
    as_first = {"enable_backward", "launch_dims"} <= {*options}  # results are as large as the first array

    def call(*values: Any, **named: Any) -> Any:
        if as_first and "output_dims" not in named:
            kinds = zip(values, _types_of(function).values(), strict=False)
            named["output_dims"] = next(v.shape[: t.ndim] for v, t in kinds if isinstance(t, wb.types.ArrayType))
        result = inner(*values, **_elements(function, named))
        return result if isinstance(result, (tuple, list)) else (result,)

    call.function = function  # type: ignore[attr-defined]  # which keeps its id
    return call


def _types_of(function: Any) -> dict[str, Any]:
    """Return the annotations of a kernel's or a function's parameters, by name."""
    kernel = isinstance(function, wb.Kernel)
    return parameter_annotations(function.definition) if kernel else get_annotations(function, eval_str=True)


def _elements(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with `output_dims` that count elements: without the sizes of vectors that end them in Warp."""
    dims = options.get("output_dims")
    if not isinstance(dims, Mapping):
        return options
    types = _types_of(function)
    inner = {name: tuple(getattr(getattr(types.get(name), "dtype", None), "shape", ())) for name in dims}
    shapes = {name: (size,) if isinstance(size, int) else tuple(size) for name, size in dims.items()}
    ends = {name: bool(inner[name]) and shape[-len(inner[name]) :] == inner[name] for name, shape in shapes.items()}
    counted = {n: s[: -len(inner[n])] if ends[n] and len(s) > types[n].ndim else s for n, s in shapes.items()}
    return {**options, "output_dims": counted}


_JAX_HINTS = ("graph_mode", "module_preload_mode", "graph_cache_max", "stage_in_argnames", "stage_out_argnames")


def _options_of(depth: int, module: Any) -> dict[str, Any]:
    name = getattr(module, "__name__", None) or sys._getframe(depth + 1).f_globals.get("__name__", "__main__")
    return get_module(name).options


def _set_options(options: dict[str, Any], module: Any = None) -> None:
    """Set options of the calling module, or of `module`, with a warning: only `enable_backward` has an effect."""
    mention("wp.set_module_options()")
    _options_of(1, module).update(options)


def _get_options(module: Any = None) -> dict[str, Any]:
    """Return the options of the calling module, or of `module`: those set, and the initial ones."""
    return dict(_options_of(1, module))


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


def _to_jax(x: wb.array) -> Any:
    """Return the array as a JAX array that shares its memory."""
    jax = library().jax
    return jax.dlpack.from_dlpack(x)


def _device_to_jax(device: Any) -> Any:
    """Return JAX's device for one of Workbench's, or for its name."""
    jax = library().jax
    known = wb.get_device(device)
    return jax.devices("cuda")[known.index] if known.is_cuda else jax.devices("cpu")[0]


def _device_from_jax(device: Any) -> wb.Device:
    """Return Workbench's device for one of JAX's."""
    return wb.get_device("cpu" if device.platform == "cpu" else f"cuda:{device.id}")


def _to_torch(x: wb.array, requires_grad: bool | None = None) -> Any:
    """Return the array as a PyTorch tensor that shares its memory, as do the gradients if one is required.

    `requires_grad` None: if the array requires one.
    """
    torch = import_module("torch")
    tensor = torch.from_dlpack(x)
    if requires_grad or (requires_grad is None and x.requires_grad):
        tensor.requires_grad_()
        tensor.grad = torch.from_dlpack(x.grad) if x.grad is not None else None
    return tensor


def _diagnostics() -> dict[str, Any]:
    """Print what `workbench.doctor` reports; return versions and devices by Warp's names."""
    print("Software\n", doctor(), sep="")
    versions = {name: _version(name) for name in ("numpy", "torch", "jax", "jaxlib")}
    return {
        **dict.fromkeys(("warp_python", "warp_native"), TESTED_VERSION),
        "warp_clang": True,
        "llvm": _version("llvmlite"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host_compiler": "none",
        **dict.fromkeys(("cuda_toolkit", "cuda_driver", "nvrtc", "cuda_compatibility", "libmathdx", "nanovdb")),
        **dict.fromkeys(("mathdx_enabled", "cubql_enabled", "debug", "verify_fp", "fast_math"), False),
        "cuda_enabled": bool(_cuda_devices()),
        **{name: version for name, version in versions.items() if version},
        "devices": [{"alias": "cpu", "name": platform.processor()}, *({"alias": d.name} for d in _cuda_devices())],
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _copy(dest: Any, src: Any, dest_offset: int = 0, src_offset: int = 0, count: int = 0, stream: Any = None) -> None:
    """Copy as `workbench.copy`, with Warp's names of the arguments; a count of 0 means all."""
    if dest.dtype != src.dtype and element(dest.dtype) == element(src.dtype):
        src = src.flatten().view(element(src.dtype)).flatten().view(dest.dtype)
    if (dest_offset, src_offset, count) == (0, 0, 0) and dest.dtype == src.dtype:
        src, count = (src.reshape(dest.shape), 0) if dest.size == src.size else (src, src.size)
    wb.copy(dest, src, dest_offset, src_offset, count or None)


_FAMILIES = (("Float", wb.Float), ("Int", wb.Int), ("Scalar", wb.Scalar))
_BUILT = "kernels are built at their first launch, and found again by their content"
_HERE = "the name alone; it has no effect"
_NO_POOLS = "there are no pools to switch"
_POOLS = ("ScopedMempool", "ScopedMempoolAccess")
_NEVER = (
    "is_cubql_available",
    "is_mempool_enabled",
    "is_mempool_supported",
    "is_mempool_access_enabled",
    "is_mempool_access_supported",
    "is_conditional_graph_supported",
)
_OF_GPU = (
    "set_mempool_enabled", "get_mempool_release_threshold", "set_mempool_release_threshold",
    "get_mempool_used_mem_current", "get_mempool_used_mem_high", "set_mempool_access_enabled",
)  # fmt: skip
_NO_RENDERER = "draws nothing: there is no USD here"

# fmt: off
_LIKE = (wb.clone, wb.zeros_like, wb.ones_like, wb.full_like, wb.empty_like)
_AS_SOURCE = "has a gradient if its source has, in `wb` on request"
_MAKERS = (wb.zeros, wb.ones, wb.empty, wb.full)
_FOREIGN = (wb.from_torch, wb.from_jax, wb.from_dlpack)
_WAITS = ("synchronize_device", "synchronize_stream", "synchronize_event", "wait_event", "wait_stream")
_ERRORS = ("", "Type", "Value", "Attribute", "Index", "Key")
_NATIVE = {"snippet": "cuda", "adj_snippet": "adj_cuda", "replay_snippet": "replay_cuda"}

TABLE: dict[str, Row] = {
    "kernel": Row(launches.kernel, "wb.kernel", "names mean what they mean in Warp; hints have no effect"),
    "func": Row(launches.func, "wb.func"),
    "map": Row(launches.map, "wb.map", "several results are a list; in `wb.map` a tuple"),
    "launch": Row(launches.launch, "wb.launch", "`max_blocks` has no effect"),
    "launch_tiled": Row(launches.launch_tiled, "wb.launch_tiled", "`max_blocks` has no effect"),
    "Launch": Row(launches.Launch, "wb.launch(…, record_cmd=True)", "arguments are set one by one"),
    "Tape": Row(launches.Tape, "wb.Tape", "`reset()` also sets gradients to 0; `wb.Tape`'s keeps them"),
    **{f.__name__: Row(_making(f, like=True), f"wb.{f.__name__}", _AS_SOURCE) for f in _LIKE},
    "array": Row(arrays.array, "wb.array", "`array([1.0])` is of float64, `array([1])` of int64; in `wb` of 32 bits"),
    **{f"array{n}d": Row(arrays.ArrayOf(n), f"wb.array{n}d", "numbers as in `array`") for n in range(1, 5)},
    "capture_if": Row(_signature(wb.capture_if), "wb.capture_if"),
    "capture_while": Row(_signature(wb.capture_while, while_body="body"), "wb.capture_while", "`while_body` is `body`"),
    "from_numpy": Row(_from_numpy, "wb.from_numpy", "converts data of another type; `wb` refuses it"),
    "ScopedTimer": Row(launches.ScopedTimer, "wb.ScopedTimer", "prints the time; `wb.ScopedTimer` keeps it"),
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
        "", _BUILT, overload=_overload, Module=Module, get_module=get_module,
        **{name: ignored(f"wp.{name}") for name in ("load_module", "force_load", "clear_lto_cache")},
    ),
    **_group(
        "", _HERE, LOG_DEBUG=10, LOG_INFO=20, LOG_WARNING=30, LOG_ERROR=40, get_cuda_supported_archs=lambda: [],
        get_suggested_block_size=lambda kernel, device=None: (dims.block_dim(None, device), 1),
        get_cuda_driver_version=lambda: None, get_cuda_toolkit_version=lambda: None,
        **dict.fromkeys(_NEVER, lambda *devices: False), DeterministicMode=DeterministicMode, MemoryKind=MemoryKind,
        JaxModulePreloadMode=IntEnum("JaxModulePreloadMode", "NONE CURRENT_DEVICE ALL_DEVICES"),
        JaxCallableGraphMode=IntEnum("JaxCallableGraphMode", "NONE JAX WARP WARP_STAGED WARP_STAGED_EX"),
        dtype_from_jax=_dtype_from_numpy, dtype_to_jax=_dtype_to_numpy, device_from_jax=_device_from_jax,
    ),
    "__version__": Row(TESTED_VERSION, "wb.__version__", "of the Warp whose programs run"),
    "dtype_from_numpy": Row(_dtype_from_numpy, "", "`wb` takes NumPy's dtypes themselves"),
    "dtype_to_numpy": Row(_dtype_to_numpy, "", "`wb.float32.numpy` is NumPy's dtype"),
    "DeviceLike": Row(wb.Device | str | None, "wb.Device"),
    **{f"WarpCodegen{kind}Error": Row(wb.WorkbenchError, "wb.WorkbenchError") for kind in _ERRORS},
    **{name: Row(absent(name), "", "refused when it is made") for name in ABSENT},
    **{name: Row(TypeVar(name, bound=kind), f"wb.{name}", "a type variable") for name, kind in _FAMILIES},
    "ref": Row(wb.ref, "wb.ref", "has a gradient"),
    "handle": Row(NUMBERS["uint64"], "wb.uint64"),
    "transform_set_translation": Row(lambda t, p: setattr(t, "p", p), "t.p = p"),
    "transform_set_rotation": Row(lambda t, q: setattr(t, "q", q), "t.q = q"),
    "transformation": Row(transformation, "wb.transform", "called with a dtype, the type of such transforms"),
    "quaternion": Row(quaternion, "wb.quat", "called with a dtype, the type of such quaternions"),
    "to_jax": Row(_to_jax, "", "`wb` arrays have `__dlpack__`"),
    "device_to_jax": Row(_device_to_jax, "", "the device of JAX"),
    "to_torch": Row(_to_torch, "", "`torch.from_dlpack(x)`"),
    "record_event": Row(lambda event=None: wb.Event() if event is None else event, "wb.Event"),
    "float": Row(NUMBERS["float32"], "wb.float32"),
    "int": Row(NUMBERS["int32"], "wb.int32"),
    "vec": Row(vector, "wb.vector"),
    "mat": Row(matrix, "wb.matrix"),
    **{f.__name__: Row(_making(f, shape=0), f"wb.{f.__name__}", "`n` is the shape") for f in _MAKERS},
    **{f.__name__: Row(_making(f), f"wb.{f.__name__}", "has Warp's attributes") for f in _FOREIGN},
    "from_ptr": Row(_making(from_ptr), "wb.from_numpy", "an address on the CPU"),
    **{f"indexedarray{n}d": Row(partial(arrays.IndexedArray, ndim=n), "wb.indexedarray") for n in range(1, 5)},
    "indexedarray": Row(arrays.IndexedArray, "wb.indexedarray"),
    "jax_kernel": Row(_jax(wb.jax_kernel), "wb.jax_kernel", "the result is a tuple, also of one array"),
    "jax_callable": Row(_jax(wb.jax_callable), "wb.jax_callable", "the result is a tuple, also of one array"),
    "func_native": Row(_signature(wb.func_native, **_NATIVE), "wb.func_native", "`snippet` is `cuda`"),
    "struct": Row(_struct, "wb.struct", "may have no fields"),
    "to_dlpack": Row(lambda x: x.__dlpack__(), "", "`wb` arrays have `__dlpack__`"),
    "get_cuda_device": Row(lambda ordinal=None: wb.get_device(f"cuda:{ordinal or 0}"), "wb.get_device"),
    "get_stream": Row(lambda device=None: wb.Stream(wb.get_device(device)), "wb.Stream"),
    **_group("", _NO_POOLS, **dict.fromkeys(_POOLS, lambda *args, **options: nullcontext())),
    **{name: Row(_refused(name), "", "refused: there are no pools to ask") for name in _OF_GPU},
    "get_cuda_max_cluster_dim": Row(lambda kernel, device=None: 1, "", "blocks do not form clusters here"),
    "init": Row(lambda: None, "", "nothing has to be initialised"),
    "clear_kernel_cache": Row(ignored("wp.clear_kernel_cache"), "wb.cache.clear", _BUILT),
    "set_module_options": Row(_set_options, "wb.kernel(…)", "without effect: options are a kernel's or a launch's"),
    "get_module_options": Row(_get_options, "wb.kernel(…)"),
    "print_diagnostics": Row(_diagnostics, "python -m workbench.doctor", "returns a dict"),
    "render": Row(SimpleNamespace(UsdRenderer=Renderer, OpenGLRenderer=Renderer), "", _NO_RENDERER),
    "examples": Row(SimpleNamespace(get_asset_directory=_asset_directory), "", "an installed Warp's assets"),
}
# fmt: on
"""Warp's name to ours."""


def page() -> str:
    """Return the table of names in Markdown, for a page of the guide."""
    shown = ((name, f"`{row.ours}`" if row.ours else "leave it out", row.remark) for name, row in TABLE.items())
    lines = [f"| `{name}` | {ours} | {remark} |" for name, ours, remark in shown]
    return "\n".join(["| Warp's name | in Workbench's own programs | remark |", "|---|---|---|", *lines])
