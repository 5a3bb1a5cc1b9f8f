"""Twenty heat steps and their gradient, with three kinds of borders, against JAX: as `workloads.py` measures.

python benchmarks/stencil_gradients.py
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from measure import RESULTS, machine
from workloads import FLOATS, IMAGE, Workload, heat, markdown, timed

import workbench as wb


@wb.kernel
def warm_walls(x: IMAGE, y: IMAGE):
    """A step of heat flow between walls that keep their temperature."""
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    if i > 0 and i < n - 1 and j > 0 and j < m - 1:
        y[i, j] = x[i, j] + 0.1 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4.0 * x[i, j])
    else:
        y[i, j] = x[i, j]


@wb.kernel
def ring(x: IMAGE, y: IMAGE):
    """A step of heat flow on a torus."""
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    near = x[(i - 1) % n, j] + x[(i + 1) % n, j] + x[i, (j - 1) % m] + x[i, (j + 1) % m]
    y[i, j] = x[i, j] + 0.1 * (near - 4.0 * x[i, j])


@wb.kernel
def energy(x: IMAGE, o: FLOATS):
    """What is compared in the end."""
    i, j = wb.tid()
    o[0] += x[i, j] * x[i, j]


def gradients() -> list[Workload]:
    """Twenty heat steps of 2048² and the gradient by what they began with; JAX loops by `lax.scan`."""
    steps, shape = 20, (2048, 2048)
    start = np.random.default_rng(4).random(shape, np.float32)

    def here(kernel: object) -> Callable[[], np.ndarray]:
        def call() -> np.ndarray:
            first = now = wb.array(start, requires_grad=True)
            with wb.Tape() as tape:
                for _ in range(steps):
                    now, before = wb.zeros(shape, dtype=wb.float32), now
                    wb.launch(kernel, shape, [before], [now])
                total = wb.zeros(1, requires_grad=True)
                wb.launch(energy, shape, [now], [total])
            tape.backward(total)
            return first.grad.numpy()

        return call

    def near(x: Any, how: str) -> Any:
        p = jnp.pad(x, 1, mode=how)
        return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]

    def kept(x: Any) -> Any:
        moved = near(x, "edge")[1:-1, 1:-1] - 4 * x[1:-1, 1:-1]
        return x.at[1:-1, 1:-1].add(0.1 * moved)

    def there(step: Callable[[Any], Any], dtype: Any = jnp.float32) -> Callable[[], np.ndarray]:
        def loss(x: Any) -> Any:
            last, _ = jax.lax.scan(lambda now, _: (step(now), None), x, None, length=steps)
            return jnp.sum(last * last)

        made, given = jax.jit(jax.grad(loss)), jnp.asarray(start, dtype)
        return lambda: np.asarray(made(given))

    forms: dict[str, tuple[object, Callable[[Any], Any]]] = {
        "walls kept": (warm_walls, kept),
        "insulated": (heat, lambda x: x + 0.1 * (near(x, "edge") - 4 * x)),
        "torus": (ring, lambda x: x + 0.1 * (near(x, "wrap") - 4 * x)),
    }
    found: list[Workload] = []
    for name, (kernel, step) in forms.items():
        with jax.enable_x64(True):
            exact = there(step, jnp.float64)()
        found.append(
            Workload(f"gradient of heat, {name}", {"workbench": here(kernel), "jax": there(step)}, exact, 1e-5)
        )
    return found


def main() -> None:
    """Check, time, and write the table."""
    loads = gradients()
    times = timed(loads)
    text = markdown(loads, times).replace("Workloads on the CPU", "Gradients of stencils on the CPU")
    print(text, flush=True)
    kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), "seconds": times}
    (RESULTS / "stencil_gradients.json").write_text(json.dumps(kept, indent=1) + "\n")
    (RESULTS / "stencil_gradients.md").write_text(text)


if __name__ == "__main__":
    main()
