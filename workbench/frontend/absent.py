"""Names that kernels elsewhere may use and that this language does not have: what to write instead of each."""

from __future__ import annotations

_TRANSFORMS = "Use a quat and a vec3: quat_rotate(q, p) + t."
_SPATIAL = "Use two vec3, one for the angular and one for the linear part."
_GEOMETRY = "Compute it before, with a library of geometry, and pass the results as arrays."
_SOLVED = "Solve small systems by a loop in a func, large ones with a library between launches."
_TILES = "Tiles have tile_load, tile_store, tile_map, tile_sum, tile_scan, tile_matmul and their kin: see wb.tile_load."
ABSENT: dict[str, str] = {
    "select": "Write where(condition, if_true, if_false): the order of the last two is the other way round.",
    "cast": "Call the type: float64(x), int(x).",
    "reinterpret": "There is no view of a number's bits; keep bits as integers.",
    "erfcinv": "Write erfinv(1.0 - x).",
    "fma": "Write x * y + z.",
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
    "svd2": "Use svd3 of the matrix in the upper left of a mat33.",
    "mlp": "Write the sums: for k in range(n): s += weights[j, k] * x[k].",
    "dense_gemm": "Write the sums: for k in range(n): s += a[i, k] * b[k, j].",
    "relu": "Write max(x, 0.0).",
    "leaky_relu": "Write where(x > 0.0, x, 0.01 * x).",
    "sigmoid": "Write 1.0 / (1.0 + exp(-x)).",
    "silu": "Write x / (1.0 + exp(-x)).",
    "norm_l1": "Write abs(v.x) + abs(v.y) + abs(v.z).",
    "norm_l2": "Write length(v).",
    "quaternion": "Write quat(x, y, z, w).",
    "quat_rpy": "Multiply three quat_from_axis_angle(axis, angle).",
    "quat_from_euler": "Multiply three quat_from_axis_angle(axis, angle).",
    "quat_to_euler": "Use quat_to_matrix(q) and atan2 of its elements.",
    "quat_from_matrix": "Build the rotation as a quat: quat_from_axis_angle(axis, angle).",
    "tile_fft": "Transforms of tiles are not built yet; transform the array between launches.",
    "tile_ifft": "Transforms of tiles are not built yet; transform the array between launches.",
    "tile_cholesky": f"Factors of tiles are not built yet. {_SOLVED}",
    "tile_cholesky_solve": f"Factors of tiles are not built yet. {_SOLVED}",
    "tile_lower_solve": f"Triangular solves of tiles are not built yet. {_SOLVED}",
    "tile_upper_solve": f"Triangular solves of tiles are not built yet. {_SOLVED}",
    "tile_diag_add": "Write t + tile_map(func, t, index), or add in a func given the indices.",
    "tile_sort": "Sorting of tiles is not built yet; sort the array between launches.",
    "tile_query_valid": "Queries of trees are not in the language.",
    "grid_index": "A kernel sees its thread's index, tid(), and not how threads are grouped.",
    "velocity_at_point": "Write cross(w, r) + v.",
}
_FAMILIES = {
    "transform": _TRANSFORMS, "spatial": _SPATIAL, "mesh": _GEOMETRY, "bvh": _GEOMETRY, "hash": _GEOMETRY,
    "volume": _GEOMETRY, "texture": _GEOMETRY, "intersect": _GEOMETRY, "closest": _GEOMETRY, "tile": _TILES,
}  # fmt: skip


def instead_of(name: str) -> str:
    """What to write instead of a name that Warp's kernels know; empty for any other name."""
    head, rest, _ = name.partition("_")
    family = _FAMILIES.get(head.removesuffix("ation"), "") if rest or head == "transformation" else ""
    return ABSENT.get(name) or family
