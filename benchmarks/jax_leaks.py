"""What retraces leave in memory, up to 100,000: of programs with kernels, their gradients, and the same in plain JAX.

Each kind runs in a process of its own, for at most `SECONDS` (`LONG` where it is a kernel), and reports its resident
memory after 10, 50 and 100 % of what it reached. A kind that grows where plain JAX does not is a leak in Workbench.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import OURS, Row, Table, write

RETRACES = 100_000
SECONDS, LONG = 30.0, 600.0  # seconds of a kind, and of those that shall come to all retraces
JAX = "plain JAX"
# What is traced again, how, and the same in plain JAX below it.
HOWS = ("traced", "gradient traced")
KINDS = [(what, how) for how in HOWS for what in ("a kernel", JAX)]
KINDS += [("a function of launches", "gradient traced"), ("a kernel, wrapped again", "gradient traced")]


def resident() -> float:
    """MB of this process in memory, what the allocator could give back left out."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def retrace(what: str, how: str) -> Callable[[], Any]:
    """What is done again and again: tracing a function that JAX has not seen."""
    import jax
    import jax.numpy as jnp

    import workbench as wb

    @wb.kernel
    def smooth(x: wb.array[wb.float32], y: wb.array[wb.float32]):
        i = wb.tid()
        y[i] = wb.sin(x[i]) * x[i]

    def twice(x: wb.array[wb.float32], y: wb.array[wb.float32]):
        between = wb.empty(x.shape[0])
        wb.launch(smooth, dim=x.shape, inputs=[x], outputs=[between])
        wb.launch(smooth, dim=x.shape, inputs=[between], outputs=[y])

    x = jnp.ones(64)
    kept = {
        "a kernel": wb.jax_kernel(smooth), "a function of launches": wb.jax_callable(twice),
        JAX: lambda x: jnp.sin(x) * x,
    }  # fmt: skip

    def again() -> Any:
        f = kept.get(what) or wb.jax_kernel(smooth)
        if how == "traced":
            return jax.make_jaxpr(lambda x: f(x))(x)
        return jax.make_jaxpr(jax.value_and_grad(lambda x: f(x).sum()))(x)

    return again


def told(what: str, how: str) -> dict[str, Any]:
    """Run one kind here: how many retraces it made, seconds of each, and MB after 10, 50 and 100 % of them."""
    again = retrace(what, how)
    for _ in range(100):
        again()
    seen, number, begun = [resident()], 0, time.perf_counter()
    limit = LONG if what == "a kernel" else SECONDS
    while number < RETRACES and time.perf_counter() - begun < limit:
        again()
        number += 1
        if number % 100 == 0:
            seen.append(resident())
    seconds = (time.perf_counter() - begun) / number
    seen.append(resident())
    last = len(seen) - 1
    return {"count": number, "seconds": seconds, "megabytes": [seen[last // 10], seen[last // 2], seen[last]]}


def measured(what: str, how: str) -> Row:
    """One kind in a process of its own."""
    done = subprocess.run([sys.executable, __file__, what, how], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    first, half, last = found["megabytes"]
    grown = (last - first) * 1e6 / (0.9 * found["count"])
    note = f"{found['count']:,} times: {first:.1f}, {half:.1f}, {last:.1f} MB at 10, 50, 100 %, {grown:.0f} bytes each"
    print(what, how, note, flush=True)
    return Row(f"{what}, {how}", {OURS if what != JAX else JAX: found["seconds"]}, note)


def main() -> None:
    """Measure each kind and write the table."""
    table = Table("jax_leaks", "Functions traced again, and what that leaves in memory", 1)
    table.rows = [measured(*kind) for kind in KINDS]
    write(table)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(told(*sys.argv[1:])))
    else:
        main()
