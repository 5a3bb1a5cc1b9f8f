"""Names and syntax that the language lacks, each with the sentence that a user gets and what to write instead.

The names are those that programs elsewhere use.
"""

from __future__ import annotations

import ast
import re

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
