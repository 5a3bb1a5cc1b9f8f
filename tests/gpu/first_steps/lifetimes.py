"""Order with other libraries' streams, and memory and handles that go in strange threads or to other libraries."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.gpu.first_steps.harness import Given, NotAvailable
from tests.gpu.first_steps.smoke import calls, cell

NON_BLOCKING = 1
"""CU_STREAM_NON_BLOCKING: in no order with the default stream."""
SPIN = """
def spin(x: array[float], turns: int):
    i = tid()
    v = x[i]
    for _ in range(turns):
        v = v * 0.5 + 1.0
    x[i] = v
"""


class Foreign:
    """A non-blocking stream as other libraries hand theirs over: the protocol, and nothing else."""

    def __init__(self, given: Given) -> None:
        """Makes one on the step's device."""
        given.gpu.use(given.index)
        self._handle = given.gpu.call("cuStreamCreateWithPriority", NON_BLOCKING, 0)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self._handle)


def _busy(given: Given) -> Callable[[], None]:
    """Queues work in the default stream that takes a while."""
    import workbench as wb

    x = wb.zeros(given.size(1 << 16, 32), float, device=given.device)
    kernel = wb.build_cell(SPIN, {}, backend="cpu").names["spin"]
    kept = wb.launch(kernel, x.shape[0], [x, given.size(100_000, 10)], record_cmd=True)
    assert kept is not None
    return kept.launch


def foreign_stream(given: Given) -> None:
    """A launch in a non-blocking stream right after wb.zeros, behind a long kernel, sees the zeros (R8)."""
    import workbench as wb

    stream, busy = Foreign(given), _busy(given)
    count, rounds = given.size(1 << 18, 64), given.size(1000, 20)
    wrong = 0
    for turn in range(rounds):
        dirty = wb.full(count, 7.0, float, device=given.device)
        wb.synchronize(given.device)
        del dirty
        busy()
        x = wb.zeros(count, float, device=given.device)
        wb.launch(cell()["add"], count, [x, 1.0], stream=stream)
        wrong += bool((x.numpy() != 1).any())
        if turn % 100 == 0:
            given.saw(rounds=turn + 1, wrong=wrong)
    given.saw(rounds=rounds, wrong=wrong)
    assert not wrong, f"{wrong} of {rounds} rounds were out of order"


def foreign_free(given: Given) -> None:
    """Arrays that are dropped while a non-blocking stream uses them keep their memory until it is done (R8)."""
    import workbench as wb

    stream = Foreign(given)
    spin = wb.build_cell(SPIN, {}, backend="cpu").names["spin"]
    count, rounds = given.size(1 << 18, 64), given.size(300, 20)
    out = wb.zeros(count, float, device=given.device)
    wrong = 0
    for _ in range(rounds):
        x = wb.full(count, 3.0, float, device=given.device)
        out.zero_()
        wb.synchronize(given.device)
        wb.launch(spin, count, [wb.zeros(count, float, device=given.device), given.size(100_000, 10)], stream=stream)
        wb.launch(cell()["saxpy"], count, [1.0, x, out], stream=stream)
        del x
        wb.full(count, 9.0, float, device=given.device)
        given.gpu.call("cuStreamSynchronize", stream._handle)
        wrong += bool((out.numpy() != 3).any())
    given.saw(rounds=rounds, wrong=wrong)
    assert not wrong, f"{wrong} of {rounds} rounds read memory that was given away"


def frees_in_thread(given: Given) -> None:
    """What a thread that never used CUDA drops, also by garbage collection, is given back (R10)."""
    import workbench as wb

    size, rounds = given.size(1 << 28, 1 << 20), given.size(40, 10)

    def things() -> list[Any]:
        place = given.device
        x = wb.zeros(size // 4, float, device=place)
        with wb.capture() as graph:
            wb.launch(cell()["add"], 4, [x, 1.0])
        graph.launch()
        made = [x, graph, wb.Stream(place), wb.Event(place), wb.empty(1000, float, device="cpu", pinned=True)]
        made.append(made)  # a circle, which only the collector ends
        return made

    def used() -> int:
        wb.synchronize(given.device)
        free, whole = given.gpu.call("cuMemGetInfo")
        return whole - free

    things()
    before = used()
    gc.disable()
    try:
        with calls(given.gpu) as made:
            for _ in range(rounds):
                held = things()
                del held
                thread = threading.Thread(target=gc.collect)
                thread.start()
                thread.join()
    finally:
        gc.enable()
    refused = [f"{name}: {error}" for name, error in made if error]
    freed = [name for name, _ in made if "Destroy" in name or "Free" in name]
    given.saw(grown=used() - before, round=size, rounds=rounds, refused=refused[:5], given_back=len(freed))
    assert not refused, refused[0]
    assert freed, "nothing was given back"
    assert given.seen["grown"] <= 3 * size, f"{given.seen['grown']:,} bytes more are used after {rounds} rounds"


def two_threads(given: Given) -> None:
    """Two threads launch in streams of their own."""
    import workbench as wb

    count, turns = given.size(1 << 16, 64), given.size(2000, 50)
    results: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        x = wb.zeros(count, float, device=given.device)
        with wb.ScopedStream(wb.Stream(given.device)):
            for _ in range(turns):
                wb.launch(cell()["add"], count, [x, float(number)])
        results[number] = x.numpy()

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    given.saw(ended=sorted(results))
    assert sorted(results) == [1, 2]
    for number, found in results.items():
        np.testing.assert_array_equal(found, np.full(count, number * turns))


def current_device(given: Given) -> None:
    """Work on a second device leaves the first one current (R11)."""
    import workbench as wb

    gpu = given.gpu
    if gpu.count() < 2:
        raise NotAvailable("there is one device")
    gpu.use(0)
    before = int(gpu.call("cuCtxGetCurrent"))
    x = wb.zeros(100, float, device=gpu.label(1))
    wb.launch(cell()["add"], 100, [x, 1.0])
    x.numpy()
    after = int(gpu.call("cuCtxGetCurrent"))
    given.saw(kept=before == after)
    assert before == after, "another device is current than before"


def memory_in_turn(given: Given) -> None:
    """Workbench, PyTorch and JAX take 60 % of the memory one after the other (R9)."""
    torch = given.need("torch")
    import workbench as wb

    if not torch.cuda.is_available():
        raise NotAvailable("this torch has no CUDA")
    given.gpu.use(given.index)  # the driver asks the current context, and none is current before the first work
    _, whole = given.gpu.call("cuMemGetInfo")
    share = int(0.6 * whole) // 4
    for turn in range(2):
        x = wb.full(share, 1.0, float, device=given.device)
        assert float(x[-1:].numpy()[0]) == 1
        del x
        given.saw(**{f"free_after_workbench_{turn}": _trimmed(given)})
        y = torch.ones(share, device=given.device)
        assert float(y[-1]) == 1
        del y
        torch.cuda.empty_cache()
        given.saw(**{f"free_after_torch_{turn}": given.gpu.call("cuMemGetInfo")[0]})
    jax = given.need("jax")
    try:
        place = jax.devices("cuda")[given.index]
    except RuntimeError as problem:
        raise NotAvailable(f"JAX has no CUDA device ({problem}); PyTorch and Workbench took turns") from None
    # Two axes: JAX's subscripts are of 32 bits, and half of a large GPU's memory has more elements than they reach.
    with jax.default_device(place):
        z = jax.numpy.ones((share // 2048, 1024), np.float32)
    assert float(z[-1, -1]) == 1
    given.saw(jax_bytes=z.nbytes)


def _trimmed(given: Given) -> int:
    """Bytes that are free after Workbench's unused memory is given back, if it can do so."""
    import workbench as wb

    wb.synchronize(given.device)
    if hasattr(wb, "trim"):
        wb.trim(given.device)
    given.saw(trim=hasattr(wb, "trim"))
    return given.gpu.call("cuMemGetInfo")[0]
