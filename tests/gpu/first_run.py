"""What to run in the first ten minutes on a real GPU: `python tests/gpu/first_run.py` (README.md in this folder).

Each step has a process of its own and a time limit; each writes one line of JSON as soon as it is over.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.gpu.first_steps import lifetimes, measured, smoke
from tests.gpu.first_steps.harness import Step, main
from tests.gpu.first_steps.suites import tests

XLA = "XLA runs kernels on real GPUs only"
LIBRARIES = "other libraries see real GPUs only"
SANITIZER = "compute-sanitizer watches real GPUs only"
TIMES = "it has counts, and no times"
WAYS = ("eager", "jit", "grad", "vmap", "scan", "command_buffers")

STEPS = [
    Step("versions", 60, smoke.versions, needed=True),
    Step("memory", 30, smoke.memory),
    Step("launch", 30, smoke.launch),
    Step("graph_node_by_kern", 30, smoke.graph_node_by_kern),
    Step("conditional_if", 30, smoke.conditional_if),
    Step("conditional_else", 30, smoke.conditional_else),
    Step("conditional_while", 30, smoke.conditional_while),
    Step("update_in_body", 30, smoke.update_in_body),
    Step("graph_node_by_func", 30, smoke.graph_node_by_func),
    Step("printing", 30, smoke.printing),
    Step("fault", 30, smoke.fault),
    Step("broken_context", 30, smoke.broken_context),
    Step("shared_memory", 30, tests("test_gpu_tiles.py", "-k", "more_shared_memory")),
    Step("event_times", 30, smoke.event_times),
    Step("foreign_stream", 60, lifetimes.foreign_stream),
    Step("foreign_free", 60, lifetimes.foreign_free),
    Step("frees_in_thread", 60, lifetimes.frees_in_thread),
    Step("memory_in_turn", 60, lifetimes.memory_in_turn, only_real=LIBRARIES),
    Step("current_device", 30, lifetimes.current_device),
    Step("two_threads", 30, lifetimes.two_threads),
    Step("adjoint_sums", 60, tests("test_gpu_kernels.py", "-k", "whole_and_partial_warps")),
    Step("tile_products", 60, tests("test_gpu_tiles.py", "-k", "product_of_matrices or tf32")),
    Step("tile_gradients", 60, tests("test_gpu_tiles.py", "-k", "gradients")),
    *(Step(f"jax_{way}", 60, tests("test_gpu_jax.py", "-k", way), only_real=XLA) for way in WAYS),
    Step("tests_kernels", 120, tests("test_gpu_kernels.py")),
    Step("tests_runtime", 120, tests("test_gpu_runtime.py")),
    Step("tests_tiles", 120, tests("test_gpu_tiles.py")),
    Step("tests_exchange", 90, tests("test_gpu_exchange.py"), only_real=LIBRARIES),
    Step("tests_jax", 120, tests("test_gpu_jax.py"), only_real=XLA),
    Step("tests_vocabulary", 120, tests("test_gpu_vocabulary.py")),
    Step("tests_catalogue", 240, tests("test_gpu_catalogue.py", workers=True)),
    *(
        Step(f"sanitizer_{tool}", 240, tests("test_gpu_sanitizer.py", "-k", tool), only_real=SANITIZER)
        for tool in ("memcheck", "racecheck")
    ),
    Step("bandwidth", 60, measured.bandwidth, stage=2),
    Step("grids", 60, measured.grids, stage=2),
    Step("arithmetic", 60, measured.arithmetic, stage=2),
    Step("sums", 60, measured.sums, stage=2),
    Step("tiles_forward", 120, measured.tiles_forward, stage=2),
    Step("tiles_adjoint", 120, measured.tiles_adjoint, stage=2),
    Step("launch_costs", 60, measured.launch_costs, stage=2, only_real=TIMES),
    Step("graph_costs", 60, measured.graph_costs, stage=2, only_real=TIMES),
    Step("counters", 120, measured.counters, stage=2, only_real="ncu reads real GPUs only"),
]
"""In the order in which they decide what to look at next; what takes long comes late."""

if __name__ == "__main__":
    sys.exit(main(STEPS))
