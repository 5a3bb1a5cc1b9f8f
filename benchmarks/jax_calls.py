"""What a kernel costs as a JAX function: calls in a chain inside one jit, a function of launches as one call, and a
large launch over XLA's threads.

The measure of the first is a native handler that does nothing at all, called through the same chain; of the second, the
same kernel on one thread. Annotations are values here: Warp reads those of its kernel so.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import warp as wp
from measure import Row, Table, clock, take_turns, write
from warp._src.jax.ffi import jax_kernel

import workbench as wb
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.jit import load
from workbench.interop.jax.native.abi import types_text

ROUNDS = 25
CHAIN = 100
LARGE = 4_000_000
SMALL = 10_000
MANY = 2_000

# A handler that answers XLA's question for its API version, and otherwise returns at once.
EMPTY = """
define ptr @empty(ptr %frame) {
  %first.at = getelementptr %Frame, ptr %frame, i64 0, i32 1
  %extension = load ptr, ptr %first.at
  %none = icmp eq ptr %extension, null
  br i1 %none, label %done, label %answer
answer:
  %metadata.at = getelementptr %MetadataExtension, ptr %extension, i64 0, i32 1
  %metadata = load ptr, ptr %metadata.at
  %major = getelementptr %Metadata, ptr %metadata, i64 0, i32 1, i32 2
  store i32 0, ptr %major
  %minor = getelementptr %Metadata, ptr %metadata, i64 0, i32 1, i32 3
  store i32 1, ptr %minor
  br label %done
done:
  ret ptr null
}
"""


@wb.kernel
def touch(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    """The smallest kernel from array to array."""
    i = wb.tid()
    out[i] = x[i]


def touches(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    """`CHAIN` launches as one function."""
    now, after = wb.empty(x.shape[0]), wb.empty(x.shape[0])
    wb.copy(now, x)
    for _ in range(CHAIN):
        wb.launch(touch, dim=x.shape, inputs=[now], outputs=[after])
        now, after = after, now
    wb.copy(out, now)


@wb.kernel
def sin_exp(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    """Enough arithmetic that threads pay."""
    i = wb.tid()
    out[i] = wb.sin(x[i]) * wb.exp(x[i])


def empty_handler() -> Callable[[Any], Any]:
    """A JAX function that calls the empty handler."""
    code = load(compile_text(types_text() + EMPTY, CpuBackend().target()), "empty")
    jax.devices("cpu")
    jax.ffi.register_ffi_target("workbench.bench.empty", jax.ffi.pycapsule(code.address), platform="cpu")

    def call(x: Any) -> Any:
        return jax.ffi.ffi_call("workbench.bench.empty", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    return call


def python_handler(x: Any) -> Any:
    """The same through a Python callback."""
    return jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def chain(f: Callable[[Any], Any], length: int) -> Callable[[Any], Any]:
    """`f` after itself `length` times, as one program."""

    @jax.jit
    def program(x: Any) -> Any:
        for _ in range(length):
            x = f(x)
        return x

    return program


def per_call(f: Callable[[Any], Any], x: Any, repeat: int) -> Callable[[], float]:
    """Seconds of one more call in a program: what `CHAIN` more calls add to one, over `CHAIN`."""
    short, long = chain(f, 1), chain(f, 1 + CHAIN)
    one, all = (clock(lambda p=p: p(x).block_until_ready(), repeat) for p in (short, long))
    return lambda: (all() - one()) / CHAIN


@wp.kernel
def warp_touch(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    """The same for Warp."""
    i = wp.tid()
    out[i] = x[i]


def warp_kernel() -> Callable[[Any], Any]:
    """The same kernel through Warp."""
    called = jax_kernel(warp_touch, enable_backward=True)
    return lambda x: called(x)[0]


def two_programs() -> dict[str, Callable[[], float]]:
    """Two programs of launches that each stay on one thread: from two Python threads, and one after the other.

    Each on a CPU device of its own: whatever JAX orders within one device is not asked here.
    """
    kernel = wb.jax_kernel(sin_exp)
    program = jax.jit(lambda x: jax.lax.fori_loop(0, MANY, lambda _, x: kernel(x), x))
    inputs = [jax.device_put(jnp.full(SMALL, 0.5), device) for device in jax.devices("cpu")]
    pool = ThreadPoolExecutor(2)

    def run(x: Any) -> None:
        program(x).block_until_ready()

    return {
        "workbench": clock(lambda: list(pool.map(run, inputs))),
        "one after the other": clock(lambda: [run(x) for x in inputs]),
    }


def main() -> None:
    """Time the rows and write the table."""
    jax.config.update("jax_num_cpu_devices", 2)
    x = jnp.ones(8)
    ours, empty = wb.jax_kernel(touch), empty_handler()
    peer = warp_kernel()
    single, nothing, single_peer, plain = jax.jit(ours), jax.jit(empty), jax.jit(peer), jax.jit(lambda x: x + 0.0)
    fused, unfused = (jax.jit(wb.jax_callable(touches, graph_mode=mode)) for mode in ("workbench", "jax"))
    hollow = chain(empty, CHAIN)
    slope, slope_peer = (jax.jit(jax.grad(lambda x, f=f: (f(x) ** 2).sum())) for f in (ours, peer))
    rows = {
        f"one more call in a chain of {CHAIN}, inside one jit": {
            "workbench": per_call(ours, x, 200),
            "empty handler": per_call(empty, x, 200),
            "Python callback": per_call(python_handler, x, 2),
            "warp": per_call(peer, x, 5),
        },
        f"a function of {CHAIN} launches, inside one jit": {
            "workbench": clock(lambda: fused(x).block_until_ready(), 200),
            "a call per launch": clock(lambda: unfused(x).block_until_ready(), 200),
            "empty handlers": clock(lambda: hollow(x).block_until_ready(), 200),
        },
        "jit(f)(x) with one call": {
            "workbench": clock(lambda: single(x).block_until_ready(), 500),
            "empty handler": clock(lambda: nothing(x).block_until_ready(), 500),
            "jax.jit of a sum": clock(lambda: plain(x).block_until_ready(), 500),
            "warp": clock(lambda: single_peer(x).block_until_ready(), 100),
        },
        "jit(grad(f))(x)": {
            "workbench": clock(lambda: slope(x).block_until_ready(), 300),
            "warp": clock(lambda: slope_peer(x).block_until_ready(), 100),
        },
        "f(x) without jit": {
            "workbench": clock(lambda: ours(x).block_until_ready(), 200),
            "empty handler": clock(lambda: empty(x).block_until_ready(), 200),
        },
    }
    table = Table("jax_calls", "A kernel as a JAX function, CPU", ROUNDS)
    table.rows = [Row(what, take_turns(cases, ROUNDS, warm=3)) for what, cases in rows.items()]

    many = jnp.asarray(np.linspace(0, 1, LARGE, dtype=np.float32))
    shared, one_loop = jax.jit(wb.jax_kernel(sin_exp)), jax.jit(lambda x: jnp.sin(x) * jnp.exp(x))
    source, target = wb.array(np.asarray(many), device="cpu"), wb.zeros(LARGE, dtype=wb.float32, device="cpu")
    alone = wb.launch(sin_exp, LARGE, inputs=[source], outputs=[target], device="cpu", record_cmd=True)
    cases = {
        "workbench": clock(lambda: shared(many).block_until_ready()),
        "wb.launch": clock(alone.launch),
        "jax.jit": clock(lambda: one_loop(many).block_until_ready()),
    }
    table.rows.append(Row(f"sin·exp over {LARGE:,} numbers", take_turns(cases, ROUNDS, warm=3)))
    what = f"two programs of {MANY:,} launches over {SMALL:,} numbers"
    table.rows.append(Row(what, take_turns(two_programs(), ROUNDS, warm=3), "from two Python threads"))
    write(table)


if __name__ == "__main__":
    main()
