"""Stencils under a plain `jax.jit` over devices of one process: what is sent, what is held, and CPU time.

Prints a line per number of devices: bytes that a device receives per step, temporary memory over the part and its
halos, and the CPU time of 20 steps in a scan over that of one device (medians, all in turn).
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import workbench as wb
from tests.jax.programs.halos import five, moved  # which asks for 8 devices

SIZE, ROUNDS, STEPS = 2048, 5, 20


def main() -> None:
    """Measure and print."""
    step = wb.jax_kernel(five)
    programs = {
        "call": lambda u: step(u),
        f"{STEPS} steps in a scan": lambda u: jax.lax.scan(lambda u, _: (step(u), None), u, None, length=STEPS)[0],
        "gradient": jax.grad(lambda u: jnp.sum(step(u) ** 2)),
    }
    for name, program in programs.items():
        cases: dict[int, tuple[Any, Any, list[float]]] = {}
        for count in (1, 4, 8):
            mesh = jax.sharding.Mesh(np.array(jax.devices()[:count]), ("d",))
            u = jax.device_put(jnp.linspace(0.0, 1.0, SIZE * SIZE).reshape(SIZE, SIZE), NamedSharding(mesh, P("d")))
            cases[count] = jax.jit(program).lower(u).compile(), u, []
            jax.block_until_ready(cases[count][0](u))
        for _ in range(ROUNDS):
            for compiled, u, times in cases.values():
                start = time.process_time()
                jax.block_until_ready(compiled(u))
                times.append(time.process_time() - start)
        alone = statistics.median(cases[1][2])
        for count, (compiled, _, times) in cases.items():
            part = 4 * SIZE * (SIZE // count + 2)
            held = compiled.memory_analysis().temp_size_in_bytes / part
            text = f"moves {moved(compiled.as_text())}, temporaries {held:.2f} parts with halos"
            print(f"{name}, {count} devices: {text}, CPU time {statistics.median(times) / alone:.2f}")


if __name__ == "__main__":
    main()
