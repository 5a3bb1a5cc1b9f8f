"""The meaning in a kernel of names of the user's Python, and what to write instead of names that have none.

Names and syntax that the language lacks are those that programs elsewhere use, each with the sentence that a user gets.
"""

from __future__ import annotations

import ast
import difflib
import enum
import math
import re
import types as python_types
from collections.abc import Container, Hashable
from typing import Any, TypeGuard, cast

import numpy as np

from workbench import types
from workbench.builtins.declaration.declare import TABLE, Builtin, Form
from workbench.frontend.state.context import Context
from workbench.frontend.state.definition import MISSING, Definition, Dependency, Scope, dotted, note_attribute, watch
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.frontend.values import structs
from workbench.host.narrow import HostArray, is_list, is_numpy, is_numpy_array, is_numpy_scalar, is_tuple
from workbench.host.uniform import Uniform
from workbench.ir.values import Captured
from workbench.source import nodes_of
from workbench.structs import Struct
from workbench.types import ArrayType, Scalar, Vector
from workbench.types import bool as bool_

# Names of other libraries' functions that are called otherwise here.
OTHER_NAMES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "absolute": "abs", "fabs": "abs", "minimum": "min", "maximum": "max", "power": "pow",
    "deg2rad": "radians", "rad2deg": "degrees", "clip": "clamp", "fix": "trunc", "conjugate": "conj",
}  # fmt: skip
MATHS_MODULES = ("math", "numpy", "jax")
CONSTANTS = ("math", "workbench", "workbench.compat.warp")  # modules whose floats never change
USABLE = (
    bool, int, float, complex, np.generic, enum.Enum, tuple, Builtin, Form, Scalar, Vector, ArrayType,
    python_types.ModuleType, Uniform,
)  # fmt: skip
PYTHON_FORMS = {
    range: "range", len: "len", int: "int", float: "float", bool: "bool", print: "print", type: "type",
    complex: "complex", sum: "sum", math.prod: "prod", any: "any", all: "all", tuple: "tuple", divmod: "divmod",
}  # fmt: skip


def as_builtin(value: Any) -> Builtin | None:
    """Return the builtin that a function of Python, math, NumPy or jax.numpy means; None if there is none.

    A function of our own that has a builtin's name says so by `__wb_builtin__`.
    """
    if isinstance(value, Builtin):
        return value
    if getattr(value, "__wb_builtin__", None) in TABLE:
        return TABLE[value.__wb_builtin__]
    name = getattr(value, "__name__", None)
    module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, np.ufunc) else "")
    home = module.split(".")[0]
    if not callable(value) or name is None or isinstance(value, type):
        return None
    if home == "builtins" and name in ("min", "max", "abs", "round", "pow"):
        return TABLE[name]
    if isinstance(value, np.ufunc) or home in MATHS_MODULES:
        builtin = TABLE.get(OTHER_NAMES.get(str(name), str(name)))
        return builtin if builtin is not None and not builtin.hidden else None
    return None


def as_scalar(value: Any) -> Any:
    """Return the scalar type that a type of Python, NumPy or jax.numpy means, such as `np.float32`; None for none."""
    if isinstance(value, type):
        known = types.PYTHON_TYPES.get(value)
        return known or (
            types.NUMBERS.get(np.dtype(cast("type[np.generic]", value)).name) if issubclass(value, np.generic) else None
        )
    ours = type(value).__module__.split(".")[0] == "jax" and hasattr(value, "dtype")
    return types.NUMBERS.get(np.dtype(value).name) if ours else None


def usable_in_kernel(value: Any) -> bool:
    """Return whether a kernel can do anything with the value: only then does a user's name win over the language's."""
    if isinstance(value, USABLE) or _is_vector(value) or hasattr(value, "__wb_definitions__") or struct_of(value):
        return True
    return (_hashable(value) and value in PYTHON_FORMS and value is not print) or as_builtin(value) is not None


def struct_of(value: Any) -> Struct | None:
    """Return the struct type that a class made by `struct` stands for, or the type itself; None for anything else."""
    struct = getattr(value, "__wb_struct__", None) if isinstance(value, type) else value
    return struct if isinstance(struct, Struct) else None


def _hashable(value: Any) -> bool:
    """Return whether a value's class has a hash, so that it can be looked up in a dict."""
    return getattr(value, "__hash__", None) is not None


def _is_vector(value: object) -> TypeGuard[HostArray]:
    """Return whether a NumPy array has the shape of a vector or matrix type."""
    return is_numpy_array(value) and types.is_small(value.shape) and value.dtype.name in types.NUMBERS


def _is_number(value: Any) -> bool:
    """Return whether a Python value is a number, an enum member, a tuple, or an array of the shape of a vector."""
    return isinstance(value, (bool, int, float, complex, np.generic, enum.Enum, tuple)) or _is_vector(value)


MODULES = {"math": "import math", "np": "import numpy as np", "numpy": "import numpy"}
"""Modules whose constants kernels read, and how they get into a notebook."""


def name(context: Context, identifier: str) -> Operand:
    """Return the operand that a bare name means: a local, or a name of the user's namespace or of the language.

    Raises:
        KernelSyntaxError: it is not defined, or is assigned in the function and has no value yet.
    """
    if identifier in context.env:
        return structs.gather(context.env, identifier)
    known = context.shared.statics.get((context.definition, identifier))
    if known is not None:
        return known
    value = context.definition.read(identifier, usable_in_kernel)
    if value is MISSING:
        near = difflib.get_close_matches(identifier, {*context.env, *context.definition.scope.known()}, 1, 0.7)
        advice = f"Did you mean {near[0]}?" if near else "Assign it first, or define it above the kernel."
        if identifier in MODULES:
            advice = f"Run `{MODULES[identifier]}` in a cell before."
        advice = instead_of(identifier) or advice
        raise context.syntax_error(f"The name {identifier} is not defined.", advice)
    if identifier in context.definition.locals and _is_number(value):
        nodes = nodes_of(context.definition.node)
        if not any(isinstance(n, ast.Name) and n.id == identifier and isinstance(n.ctx, ast.Store) for n in nodes):
            message = f"{context.definition.name} cannot change {identifier}, a value outside of it."
            advice = f"Change a copy, own = {identifier}, or pass an array as an argument."
            raise context.syntax_error(message, advice)
        message = f"{identifier} has no value yet: {context.definition.name} assigns it, so it is its own name, as in"
        advice = f"Give it another name; the {identifier} outside stays what it is."
        raise context.syntax_error(f"{message} Python.", advice)
    return _noted(context, (context.definition, identifier), python_value(context, value, identifier))


def _noted(context: Context, where: Hashable, operand: Operand) -> Operand:
    """Return an operand; while this lowering lasts, what is read there is it, unless it is computed there."""
    if isinstance(operand, Static):
        context.shared.statics[where] = operand
    return operand


def attribute(context: Context, base: Static, attr: str) -> Operand:
    """Return an attribute of a Python object, such as a module, an enum or a namespace of constants, as an operand.

    Raises:
        KernelSyntaxError: there is no attribute of this name.
    """
    path = f"{base.path}.{attr}"
    where = context.definition, id(base.value), path
    known = context.shared.statics.get(where)
    if known is not None:
        return known
    value = note_attribute(base.value, attr, getattr(base.value, attr, MISSING))
    if value is MISSING:
        near = difflib.get_close_matches(attr, dir(base.value), 1)
        advice = f"Did you mean {base.path}.{near[0]}?" if near else ""
        advice = instead_of(attr, True) or advice if isinstance(base.value, python_types.ModuleType) else advice
        raise context.syntax_error(f"{base.path} has no {attr}.", advice)
    if isinstance(base.value, python_types.ModuleType) and base.value.__name__ in CONSTANTS and type(value) is float:
        _watch(context, path, value)  # the name of the module may come to mean another one
        return Literal(value)
    return _noted(context, where, python_value(context, value, path))


def python_value(context: Context, value: Any, path: str) -> Operand:
    """Return a value of the user's namespace as an operand, and have launches compare it.

    Numbers, vectors and tuples become constants, a uniform the parameter for it; all else is a `Static`.

    Args:
        context: where it is read.
        value: the value.
        path: how the user wrote it.

    Raises:
        KernelTypeError: it is an int that is too large, or a uniform without a parameter.
    """
    if isinstance(value, (Builtin, Form, Scalar, Vector, python_types.ModuleType)):
        if not isinstance(value, python_types.ModuleType):
            _watch(context, path, value)
        return Static(value, path)
    _watch(context, path, value)
    if isinstance(value, Uniform):
        return _uniform(context, value, path)
    return captured_value(context, value, path)


def _uniform(context: Context, value: Uniform, path: str) -> Operand:
    """Return the parameter that the kernel has for a uniform.

    Raises:
        KernelTypeError: there is none.
    """
    operand = context.shared.uniforms.get(id(value))
    if operand is None:
        message, advice = f"{path} is a slider, and this code has no parameter for it.", f"Pass {path} as an argument."
        raise context.type_error(message, advice)
    return operand


def uniforms_read(definition: Definition) -> dict[str, Uniform]:
    """Return the uniforms that a kernel, or a func that it calls, reads by name.

    Returns:
        Each under the name of its parameter: the name that the kernel has for it.
    """
    uniforms: dict[str, Uniform] = {}
    taken = {*definition.locals, *(a.arg for a in definition.parameters)}
    waiting, met = [definition], {definition}
    for reader in waiting:
        own = {*reader.locals, *(a.arg for a in reader.parameters)}
        paths = {p for n in reader.nodes if isinstance(n, (ast.Name, ast.Attribute)) and (p := dotted(n))}
        for path in sorted(paths):
            value = seen(reader.scope, path) if path.split(".")[0] not in own else MISSING
            if isinstance(value, Uniform) and all(value is not u for u in uniforms.values()):
                name = path.replace(".", "_")
                while name in taken:
                    name += "_"
                taken.add(name)
                uniforms[name] = value
            called = [d for d in getattr(value, "__wb_definitions__", ()) if not d.library and d not in met]
            waiting += called
            met.update(called)
    return uniforms


def captured_value(context: Context, value: Any, path: str) -> Operand:
    """Return a Python value as an operand: a number or a vector as a constant, a tuple by its items, else a `Static`.

    That launches compare it is up to the caller.

    Raises:
        KernelTypeError: an int is too large for 64 bits.
    """
    if isinstance(value, enum.Enum):
        value = note_attribute(value, "value", value.value)
    if is_tuple(value) and type(value) is tuple:
        return tuple(captured_value(context, v, f"{path}[{k}]") for k, v in enumerate(value))
    if isinstance(value, bool) or (is_numpy_scalar(value) and value.dtype == np.bool_):
        return _constant(context, path, bool_, bool(value))
    if isinstance(value, np.float64):  # a Python float, which np.mean and others return
        value = float(value)
    if isinstance(value, (int, float)) and not is_numpy_scalar(value):
        return Literal(value, _capture(context, path, types.int64 if isinstance(value, int) else types.float64, value))
    if isinstance(value, complex):  # and NumPy's complex128, which is one
        return Literal(complex(value), _capture(context, path, types.complex128, (value.real, value.imag)))
    if is_numpy_scalar(value) and value.dtype == types.complex64.numpy:
        return _constant(context, path, types.complex64, (float(np.real(value)), float(np.imag(value))))
    if is_numpy_scalar(value) and value.dtype.name in types.SCALARS:
        return _constant(context, path, types.SCALARS[value.dtype.name], value.item())
    if _is_vector(value):
        flat: Any = np.ascontiguousarray(value).reshape(-1)
        flat = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
        type_ = getattr(value, "type", None) or types.vector_of(value.shape, types.NUMBERS[value.dtype.name])
        return _constant(context, path, type_, tuple(flat.tolist()))
    return Static(value, path)


def _constant(context: Context, path: str, type: Scalar | Vector, value: Any) -> Operand:
    """Emit a constant of a Python value that the kernel reads at `path`, and note it among the captured ones."""
    return context.builder.const(value, type, _capture(context, path, type, value))


def _capture(context: Context, path: str, type: Scalar | Vector, value: Any) -> str:
    """Note a constant that the kernel reads, and return its name among them.

    It is the path; a number follows if the kernel and its funcs mean different values by that.

    Raises:
        KernelTypeError: an int is too large for 64 bits.
    """
    if type == types.int64 and not -(2**63) <= value < 2**63:
        raise context.type_error(f"The constant {path} is too large for 64 bits.")
    captured = context.shared.captured
    for number in range(1, len(captured) + 2):
        name = path if number == 1 else f"{path} #{number}"
        before = captured.setdefault(name, Captured(name, type, value))
        if before.type == type and bits(before.value) == bits(value):
            return name
    raise AssertionError("more names than constants")


def bits(value: Any) -> Any:
    """Return a value in a form that is equal only where type and all bits are; an object is only equal to itself."""
    if is_list(value):
        return (type(value), *map(bits, value))
    if is_numpy(value):
        return (type(value), value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, float):
        return (type(value), value.hex())
    if isinstance(value, complex):
        return (type(value), value.real.hex(), value.imag.hex())
    if struct_of(type(value)) is not None:
        return (type(value), *map(bits, cast("dict[str, object]", vars(value)).values()))
    return (type(value), value) if isinstance(value, (int, range)) else _ByIdentity(value)


class _ByIdentity:
    """A wrapper that compares its object by identity."""

    def __init__(self, value: Any) -> None:
        """Wrap any Python object, also one whose own `==` fails or means something else."""
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a wrapper of the same object."""
        return isinstance(other, _ByIdentity) and self.value is other.value

    __hash__ = None  # type: ignore[assignment]


def _watch(context: Context, path: str, value: Any) -> None:
    """Have launches compare the Python value that a definition reads at `path` with this one.

    Nothing is watched for the library, or for constants of a cell that are no numbers.
    """
    if context.definition.library:
        return
    root = path.split(".")[0]
    if root in context.definition.scope.own and not isinstance(value, (int, float, complex, np.generic)):
        return  # constants given with the cell stay what they are; its numbers can be swept
    watch(Dependency(context.definition, path, value))


def watch_annotations(context: Context) -> None:
    """Have launches look whether the structs that the parameters' annotations name are still the same.

    Structs that are defined again are other types.
    """
    for name, value in structs_named(context.definition).items():
        _watch(context, name, value)


def structs_named(definition: Definition) -> dict[str, Any]:
    """Return the structs whose names stand in the annotations of the parameters, as these names mean them now."""
    annotations = [a.annotation for a in definition.parameters if a.annotation and a.arg not in definition.annotations]
    names = {n.id for a in annotations for n in nodes_of(a) if isinstance(n, ast.Name)}
    structs = {name: definition.read(name) for name in sorted(names)}
    return {name: value for name, value in structs.items() if isinstance(value, type) and struct_of(value) is not None}


def callee(definition: Definition, node: ast.AST, names: Container[str] | None = None) -> Any:
    """Return the value of the dotted name that a node calls; MISSING if it calls no such, or none of these `names`."""
    path = dotted(node.func) if isinstance(node, ast.Call) else None
    if path is None or (names is not None and path.rpartition(".")[2] not in names):
        return MISSING
    return definition.read(path, usable_in_kernel)


def reread(definition: Definition, path: str) -> Any:
    """Return the present value of `path` in the user's namespace; MISSING where it is gone."""
    return definition.read(path, usable_in_kernel)


def seen(scope: Scope, path: str) -> Any:
    """Return the present meaning of the dotted name `path` in a scope, not noting it; MISSING where it is gone."""
    root, *attrs = path.split(".")
    value = scope.lookup(root, usable_in_kernel)
    for attr in attrs:
        value = getattr(value, attr, MISSING)
    return value


def meaning(value: Any) -> Any:
    """Return the meaning of a value in a kernel, for comparison by ==; equal for funcs and structs of the same text.

    Of other objects it is the object.
    """
    if hasattr(value, "__wb_definitions__"):
        customs = value.__wb_customs__
        return [(d.content, customs[d].content if d in customs else "") for d in value.__wb_definitions__]
    if is_list(value):
        return [type(value), *map(meaning, value)]
    if is_numpy(value):
        return [value.dtype, value.shape, value.tobytes()]
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, complex):
        return value.real.hex(), value.imag.hex()
    return struct_of(value) or [type(value), value]


def callee_name(value: Any) -> str:
    """Return the name of the form that a Python callable stands for, such as `range` or `int`; empty for none."""
    if isinstance(value, Form):
        return value.name
    return PYTHON_FORMS.get(value, "") if _hashable(value) else ""


_TRANSFORMS = "Use a quat and a vec3: quat_rotate(q, p) + t."
_SPATIAL = "Use two vec3, one for the angular and one for the linear part."
_GEOMETRY = "Compute it before, with a library of geometry, and pass the results as arrays."
_TILES = "Tiles have tile_load, tile_store, tile_map, tile_sum, tile_scan, tile_matmul and others: see wb.tile_load."
_THREADS = "A kernel gets its own index: i = tid(), or i, j = tid() for two dimensions."
ABSENT: dict[str, str] = {
    **dict.fromkeys(("cuda", "threadIdx", "blockIdx", "blockDim"), _THREADS),
    "syncthreads": "Threads of a block work together on tiles: see tile_load, tile_sum, and wb.launch_tiled.",
    **dict.fromkeys(
        ("zeros", "ones", "full", "empty"),
        "A kernel makes no arrays: pass one, or write vector(length=3, dtype=float) for a few numbers.",
    ),
    "select": "Write where(condition, if_true, if_false): the order of the last two is the other way round.",
    "cast": "Call the type: float64(x), int(x).",
    "reinterpret": "There is no view of a number's bits; keep bits as integers.",
    "fma": "Write x * y + z; @wb.kernel(fma=True) makes it one operation that rounds once.",
    "unot": "Write not x.",
    "pos": "Write x.",
    "load": "Write x[i].",
    "ldg": "Write x[i].",
    "store": "Write x[i] = v.",
    "address": "Write x[i].",
    "assign": "Write v = value, or x[i] = value.",
    "view": "Write x[i] or x[a:b].",
    "breakpoint": "Step through one thread: print(wb.step(kernel, dim, inputs, thread=i)).",
    "isclose": "Write abs(x - y) <= tolerance.",
    "mlp": "Write the sums: for k in range(n): s += weights[j, k] * x[k].",
    "dense_gemm": "Write the sums: for k in range(n): s += a[i, k] * b[k, j].",
    "relu": "Write max(x, 0.0).",
    "leaky_relu": "Write where(x > 0.0, x, 0.01 * x).",
    "sigmoid": "Write 1.0 / (1.0 + exp(-x)).",
    "silu": "Write x / (1.0 + exp(-x)).",
    "norm": "Write length(v).",
    "random": "Draw with randf(state), after state = rand_init(seed, i).",
    **dict.fromkeys(("i", "j", "k", "idx", "index"), _THREADS),
    "norm_l1": "Write abs(v.x) + abs(v.y) + abs(v.z).",
    "norm_l2": "Write length(v).",
    "quaternion": "Write quat(x, y, z, w).",
    "quat_to_euler": "Use quat_to_rpy(q), or quat_to_matrix(q) and atan2 of its elements.",
    "tile_query_valid": "Queries of trees are not in the language.",
    "grid_index": "A kernel sees its thread's index, tid(), and not how threads are grouped.",
    "hash_grid_query_next": "Write for j in hash_grid_query(grid, x, r): …",
    "velocity_at_point": "Write cross(w, r) + v.",
}
_DEVICES = "Give device= to zeros, array and launch, or write with wb.ScopedDevice(device): …"
_CAPTURES = "Write with wb.capture() as graph: …, then graph.launch()."
_QUERIES = (
    "Queries of geometry are not in the language: compute it before, with trimesh say, and pass the results as arrays. "
    "Neighbours of points are in wb.HashGrid."
)
_LIBRARY = "It is a library beside the language, and there is none here yet."
_BUILT = "Leave it out: a kernel is built at its first launch, and kept on disk."
_EXCHANGED = "Give the array itself: it has __dlpack__, so torch.from_dlpack(x) and jax.dlpack.from_dlpack(x) share it."
HOST: dict[str, str] = {
    "init": "Leave it out: nothing has to be initialised.",
    **dict.fromkeys(("set_device", "get_preferred_device", "get_cuda_device", "map_cuda_device"), _DEVICES),
    **dict.fromkeys(
        ("is_cuda_available", "get_cuda_devices", "get_cuda_device_count", "is_device_available"),
        "wb.get_devices() lists what there is.",
    ),
    **dict.fromkeys(("capture_begin", "capture_end", "capture_launch", "ScopedCapture"), _CAPTURES),
    **dict.fromkeys(("synchronize_device", "synchronize_stream", "synchronize_event"), "Write wb.synchronize()."),
    **dict.fromkeys(("Volume", "MarchingCubes", "Texture2D", "Texture3D"), _QUERIES),
    **dict.fromkeys(("fem", "sim", "render", "sparse", "autograd", "jax_experimental"), _LIBRARY),
    **dict.fromkeys(("force_load", "load_module", "compile_aot_module", "build_module", "overload"), _BUILT),
    **dict.fromkeys(("to_torch", "to_jax", "to_dlpack", "to_paddle"), _EXCHANGED),
    **dict.fromkeys(("float", "int"), "Write float(x) and int(x), or the width: float32, int32."),
    **{name: f"Write x.{name}(), x.{name}(axis=0)." for name in ("sum", "mean")},
    "cumsum": "Write wb.utils.array_scan(x, out).",
    "sort": "Write wb.utils.radix_sort_pairs(keys, values, n).",
    **dict.fromkeys(("grid", "thread_id", "program_id"), _THREADS),
}
"""Names outside of kernels, of Warp, of numba and of NumPy, and what to write instead of each."""
_FAMILIES = {
    "transform": _TRANSFORMS, "spatial": _SPATIAL, "mesh": _GEOMETRY, "bvh": _GEOMETRY, "hash": _GEOMETRY,
    "volume": _GEOMETRY, "texture": _GEOMETRY, "intersect": _GEOMETRY, "closest": _GEOMETRY, "tile": _TILES,
}  # fmt: skip


def instead_of(name: str, of_module: bool = False) -> str:
    """Return what to write instead of a name that programs for Warp or numba use; empty for any other name.

    Args:
        of_module: it stands as `wb.name`, so that it may be a name for use outside of kernels, too.
    """
    sized = re.fullmatch(r"(vec|mat)(\d)(\d?)[a-z]*", name)
    if sized:
        return f"Write vector({sized[2]}, float)." if sized[1] == "vec" else "Write matrix((rows, columns), float)."
    head, rest, _ = name.partition("_")
    family = _FAMILIES.get(head.removesuffix("ation"), "") if rest or head == "transformation" else ""
    return ABSENT.get(name) or (HOST.get(name, "") if of_module else "") or family


REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("A kernel has no lambda.", "Define a func above the kernel."),
    ast.ListComp: (
        "A comprehension stands behind name =, in a loop, behind in, or in sum(), any(), all(), min(), max(), tuple().",
        "Give it a name.",
    ),
    ast.SetComp: ("A kernel has no comprehension.", "Write a for loop."),
    ast.DictComp: ("A kernel has no comprehension.", "Write a for loop."),
    ast.GeneratorExp: (
        "A generator expression stands in sum(), any(), all(), min(), max() and tuple() alone.",
        "Write a for loop.",
    ),
    ast.List: (
        "A list stands behind name =, in a loop or behind in, or in sum(), any(), all(), min() or max().",
        "Give it a name, or write a tuple, (…).",
    ),
    ast.Set: ("A kernel has no set.", "Use an array parameter."),
    ast.Dict: ("A kernel has no dict.", "Use separate variables or an array parameter."),
    ast.JoinedStr: ("A kernel has no strings.", ""),
    ast.Try: ("A kernel has no try.", "Test for the condition with if."),
    ast.Raise: ("A kernel has no raise.", 'Write assert condition, "message".'),
    ast.With: ("A kernel has no with.", ""),
    ast.AsyncFor: ("A kernel has no async.", ""),
    ast.AsyncWith: ("A kernel has no async.", ""),
    ast.Await: ("A kernel has no await.", ""),
    ast.Yield: ("A kernel has no yield.", "Write results to an array."),
    ast.YieldFrom: ("A kernel has no yield.", "Write results to an array."),
    ast.FunctionDef: ("A function cannot be defined inside a kernel.", "Define it above, as a func."),
    ast.AsyncFunctionDef: ("A kernel has no async.", ""),
    ast.ClassDef: ("A class cannot be defined inside a kernel.", ""),
    ast.Global: ("A kernel cannot change global names.", "Write to an array parameter."),
    ast.Nonlocal: ("A kernel cannot change outer names.", "Write to an array parameter."),
    ast.Delete: ("A kernel has no del.", "Leave the name as it is: it costs nothing."),
    ast.Import: ("A kernel has no import.", "Import above the kernel."),
    ast.ImportFrom: ("A kernel has no import.", "Import above the kernel."),
    ast.Starred: ("A kernel has no starred expression.", "Write the elements out."),
    ast.Slice: ("A slice stands here where one index is expected.", "Index one element: x[i]."),
}
REFUSED_SINCE_311: tuple[tuple[str, str, str], ...] = (
    ("TryStar", "A kernel has no try.", "Test for the condition with if."),
    ("TypeAlias", "A kernel has no type statement.", ""),
)
for _name, _message, _advice in REFUSED_SINCE_311:
    if hasattr(ast, _name):
        REFUSED[getattr(ast, _name)] = (_message, _advice)
