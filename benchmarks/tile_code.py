"""The code of `tile_matmul` for sm_90, without a GPU: counts of the emulated device beside the instructions in SASS.

Run: python benchmarks/tile_code.py. Each kernel is C = A·B in tiles, accumulated in float32 over a loop along K, and
its adjoint. Counts are of the PTX, executed on the CPU; registers, spills and instructions are the cubin's. Nothing
here is a time, and nothing has run on silicon.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import ml_dtypes
import numpy as np
from measure import RESULTS, machine

import workbench as wb
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cuda.compile.disassemble import sass
from workbench.backends.cuda.compile.nvrtc import CudaBackend

ARCH = "sm_90"
TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "tf32": np.float32, "float32": np.float32}
SHAPES = {(64, 64, 32): 128, (128, 128, 32): 256}
"""Rows, columns and inner size of a tile's product, and the threads of its block."""
STEPS = 6
"""Turns of the loop along K."""
INSTRUCTIONS = ("HMMA", "LDSM", "FFMA", "LDGSTS", "RED", "CAS")
"""What is counted of the SASS, by the beginning of its name; CAS are atomics that compare and swap."""


def kernel_of(shape: tuple[int, int, int], tf32: bool) -> wb.Kernel:
    """The product of matrices for one shape of tile."""
    TM, TN, TK = (wb.constant(n) for n in shape)

    @wb.kernel
    def gemm(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[float]):
        i, j = wb.tid()
        acc = wb.tile_zeros((TM, TN))
        for k in range(A.shape[1] // TK):
            a = wb.tile_load(A, shape=(TM, TK), offset=(i * TM, k * TK))
            b = wb.tile_load(B, shape=(TK, TN), offset=(k * TK, j * TN))
            wb.tile_matmul(a, b, acc)
        wb.tile_store(C, acc, offset=(i * TM, j * TN))

    @wb.kernel
    def gemm_tf32(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[float]):
        i, j = wb.tid()
        acc = wb.tile_zeros((TM, TN))
        for k in range(A.shape[1] // TK):
            a = wb.tile_load(A, shape=(TM, TK), offset=(i * TM, k * TK))
            b = wb.tile_load(B, shape=(TK, TN), offset=(k * TK, j * TN))
            wb.tile_matmul(a, b, acc, precision="tf32")
        wb.tile_store(C, acc, offset=(i * TM, j * TN))

    return gemm_tf32 if tf32 else gemm


def instructions(text: str) -> dict[str, int]:
    """How often each of `INSTRUCTIONS` stands in SASS."""
    names = Counter(re.findall(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([\w.]+)", text, re.MULTILINE))
    found = {kind: sum(n for name, n in names.items() if name.startswith(kind)) for kind in INSTRUCTIONS}
    return {**found, "CAS": sum(n for name, n in names.items() if ".CAS" in name), "all": sum(names.values())}


def measured(name: str, shape: tuple[int, int, int], backwards: bool) -> dict[str, float]:
    """The figures of one kernel."""
    m, n, k = shape
    block_dim = SHAPES[shape]
    rng = np.random.default_rng(0)
    a, b = (wb.array(rng.uniform(-1, 1, s).astype(TYPES[name])) for s in ((m, STEPS * k), (STEPS * k, n)))
    c = wb.zeros((m, n))
    kernel = kernel_of(shape, name == "tf32")
    wb.launch_tiled(kernel, [1, 1], inputs=[a, b, c], block_dim=block_dim)
    function = kernel.used().function
    function = adjoint(function) if backwards else function
    made = CudaBackend().compile(function, Options(), ARCH)
    p = wb.profile(kernel, [1, 1], [a, b, c], adjoint=backwards, arch=ARCH, block_dim=block_dim, tiled=True)
    warps = block_dim // 32
    return {
        "wavefronts": p.total.shared_wavefronts, "least": p.total.shared_wavefronts_least,
        "barriers per step": p.total.barriers / warps / STEPS, "warp instructions": p.total.instructions,
        "atomics": p.total.atomics, "registers": made.metadata["registers"],
        "spilled bytes": made.metadata.get("spill_stores", 0), "shared bytes": made.metadata["shared"],
        **instructions(sass(made.image)),
    }  # fmt: skip


def shown(rows: dict[str, dict[str, float]]) -> str:
    """The table as Markdown."""
    heads = list(next(iter(rows.values())))
    lines = [f"## tile_matmul as {ARCH} code, counted without a GPU", ""]
    lines += ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    lines += [f"| {what} | " + " | ".join(f"{row[h]:,g}" for h in heads) + " |" for what, row in rows.items()]
    note = (
        f"One block, {STEPS} steps along K. Wavefronts, barriers, warp instructions and atomics: executed PTX on the "
        "emulated device; the rest is the cubin, its instructions counted where they stand, not how often they run."
    )
    return "\n".join([*lines, "", note, ""])


def main() -> None:
    """Measure each kernel and write the table; arguments choose rows by their words."""
    rows: dict[str, dict[str, float]] = {}
    for shape in SHAPES:
        for name in TYPES:
            for backwards in (False, True):
                what = f"{name} {'×'.join(map(str, shape))} {'adjoint' if backwards else 'forward'}"
                if all(word in what.split() for word in sys.argv[1:]):
                    rows[what] = measured(name, shape, backwards)
                    print(what, rows[what], file=sys.stderr, flush=True)
    if len(sys.argv) == 1:
        facts = {key: value for key, value in machine().items() if key in ("python", "nvidia-cuda-nvrtc")}
        (RESULTS / "tile_code.json").write_text(json.dumps({"machine": facts, "rows": rows}, indent=1) + "\n")
        (RESULTS / "tile_code.md").write_text(shown(rows))
    print(shown(rows))


if __name__ == "__main__":
    main()
