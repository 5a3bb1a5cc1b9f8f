"""Atomic changes of elements: on the CPU, by the interpreter, and as CUDA text on the host."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import ONE_BY_ONE, Library, shuffled
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.python.interpret import run
from workbench.passes.memory.atomics import demote_atomics
from workbench.runtime.device.device import driver_of
from workbench.runtime.launching import execute
from workbench.types import SCALARS, ArrayType

WORDS = ("int32", "uint32", "int64", "uint64")
NUMBERS = (*WORDS, "float32", "float64")
EXCHANGED = (*NUMBERS, "complex64")
TYPES = {**SCALARS, "complex64": wb.complex64}
KINDS = [
    *((kind, name) for kind in ("min", "max") for name in NUMBERS),
    *((kind, name) for kind in ("exch", "cas") for name in EXCHANGED),
    *((kind, name) for kind in ("and", "or", "xor") for name in WORDS),
]
EACH = 7


def kernel(kind: str) -> wb.Kernel:
    values, first = "x[i]", ""
    if kind == "cas":  # what the thread before has stored there, for most of them
        first = f"    before = x[i - {EACH}] if i >= {EACH} and i % 11 != 0 else x[i]\n"
        values = "before, x[i]"
    found = define(
        f"def k(x, bins, old):\n    i = tid()\n{first}    old[i] = atomic_{kind}(bins, i % {EACH}, {values})\n"
    )["k"]
    assert isinstance(found, wb.Kernel)
    return found


def inputs(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of both signs where the type has them; the floats with NaN, infinities and both zeros."""
    random, dtype = np.random.default_rng(5), np.dtype(name)
    if dtype.kind == "c":  # the parts of one number are two floats side by side, turned so that both vary
        x = inputs("float32")[0]
        return np.stack([x, np.roll(x[::-1], 9)], axis=1).view(dtype)[:, 0].copy(), np.zeros(EACH, dtype)
    if dtype.kind == "f":
        x = random.normal(size=60).astype(dtype)
        x[[3, 10, 17, 21, 22, 29, 36, 43]] = [np.inf, -np.inf, np.nan, 0.0, -0.0, np.nan, 0.0, 1.0]
        return x, np.zeros(EACH, dtype)
    limits = np.iinfo(dtype)
    x = random.integers(limits.min, limits.max, size=60, dtype=dtype, endpoint=True)
    return x, random.integers(limits.min, limits.max, size=EACH, dtype=dtype)


@pytest.mark.parametrize("name", EXCHANGED)
def test_one_thread_after_the_other_gives_the_same_bits_everywhere(name: str, need) -> None:
    need("nvrtc")
    array = ArrayType(TYPES[name])
    kinds = [kind for kind, n in KINDS if n == name]
    kernels = {kind: kernel(kind) for kind in kinds}
    functions = [replace(k.specialise([array] * 3).function, name=f"k_{kind}") for kind, k in kernels.items()]
    library = Library(functions, Options())
    for kind, function in zip(kinds, functions, strict=True):
        x, bins = inputs(name)
        bins = x[:EACH].copy() if kind == "cas" else bins
        outcomes = []
        for how in ("meaning", "cuda", "cpu"):
            args = [x.copy(), bins.copy(), np.zeros_like(x)]
            if how == "meaning":
                run(function, x.size, args)
            elif how == "cuda":
                library.run(function.name, x.size, args, block=1, seed=ONE_BY_ONE)
            else:
                given = [wb.array(a) for a in args]
                wb.launch(kernels[kind], x.size, inputs=given[:1], outputs=given[1:])
                args = [a.numpy() for a in given]
            outcomes.append(np.concatenate(args).tobytes())
        assert outcomes[0] == outcomes[1] == outcomes[2], kind


@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("name", NUMBERS)
def test_the_extreme_of_many_threads(kind: str, name: str) -> None:
    x = (np.random.default_rng(2).permutation(200_000) * 7 + 3).astype(name)
    found = define(f"def k(x, best):\n    atomic_{kind}(best, 0, x[tid()])\n")["k"]
    best = wb.array(x[:1].copy())
    wb.launch(found, x.size, inputs=[wb.array(x)], outputs=[best])
    assert best.numpy()[0] == getattr(x, kind)()


def test_what_min_and_max_mean_with_nan() -> None:
    x = np.array([2.0, np.nan, 1.0])
    for kind in ("min", "max"):
        found = define(f"def k(x, best):\n    atomic_{kind}(best, 0, x[tid()])\n")["k"]
        best = wb.array(np.array([1.5]))
        wb.launch(found, 3, inputs=[wb.array(x)], outputs=[best])
        assert np.isnan(best.numpy()[0])


def test_a_lock_free_list_by_exchange_and_a_claim_by_cas() -> None:
    text = """
    def k(head: array[int], following: array[int], claimed: array[uint32], winners: array[int]):
        i = tid()
        following[i] = atomic_exch(head, 0, i)
        if atomic_cas(claimed, i // 10, uint32(0), uint32(i + 1)) == uint32(0):
            atomic_add(winners, i // 10, 1)
        atomic_or(claimed, 10, uint32(1) << uint32(i % 32))
    """
    n = 100
    head, following = wb.array(np.array([-1], np.int32)), wb.array(np.zeros(n, np.int32))
    claimed, winners = wb.array(np.zeros(11, np.uint32)), wb.array(np.zeros(10, np.int32))
    wb.launch(define(text)["k"], n, inputs=[], outputs=[head, following, claimed, winners])
    seen, at = [], int(head.numpy()[0])
    while at >= 0:
        seen.append(at)
        at = int(following.numpy()[at])
    assert sorted(seen) == list(range(n))
    assert winners.numpy().tolist() == [1] * 10
    assert claimed.numpy()[10] == 0xFFFFFFFF


COMPLEX = """
def push(x: array[complex], head: array[complex], old: array[complex]):
    i = tid()
    old[i] = atomic_exch(head, 0, x[i])

def largest(x: array[complex], best: array[complex], old: array[complex]):
    i = tid()
    seen = best[0]
    while abs(x[i]) > abs(seen):
        before = atomic_cas(best, 0, seen, x[i])
        if before == seen:
            break
        seen = before
"""


@pytest.mark.parametrize(("cores", "count"), [(1, 100_000), (2, 100_000), (0, 256)])
def test_complex_numbers_are_exchanged_whole(cores: int, count: int, monkeypatch, need) -> None:
    if not cores:
        need("nvrtc")
    monkeypatch.setattr(execute, "cpu_threads", lambda: cores or 1)
    kernels = define(COMPLEX)
    sizes = np.random.default_rng(3).permutation(count) + 1.0
    x = (sizes * np.exp(1j * np.arange(count))).astype(np.complex64)
    device = wb.get_device("cpu" if cores else "emulated")
    order = nullcontext() if cores else shuffled(driver_of(device), 3)
    with wb.ScopedDevice(device), order:
        head, best, old = wb.zeros(1, dtype=complex), wb.zeros(1, dtype=complex), wb.zeros(count, dtype=complex)
        wb.launch(kernels["push"], count, [wb.array(x)], [head, old])
        wb.launch(kernels["largest"], count, [wb.array(x)], [best, old])
        # Each number comes out once, both parts together, or is the last: none is lost, and none is of two numbers.
        seen, last = old.numpy(), head.numpy()
        assert np.array_equal(np.sort(np.append(seen, last)), np.sort(np.append(x, np.complex64(0))))
        assert best.numpy()[0] == x[sizes.argmax()]
    if cores == 1:
        assert last[0] == x[-1] and seen[0] == 0 and np.array_equal(seen[1:], x[:-1])


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("atomic_min(y, 0.5)", "an array, its indices and a value"),
        ("atomic_cas(y, i, 0.5)", "the value it has and the one to put there"),
        ("atomic_max(i, 0, 1)", "takes an array first"),
        ("atomic_and(y, i, 1)", "integers of 32 or 64 bits; y has float32"),
        ("atomic_min(small, i, int8(1))", "numbers of 32 or 64 bits; small has int8"),
        ("atomic_exch(v, i, vec2(1.0, 2.0))", "a component|Keep each component"),
        ("atomic_exch(y, i, value=1.0)", "without names"),
        ("atomic_xor(n, i, 0.5)", "does not fit int32"),
    ],
)
def test_refused_with_a_sentence(statement: str, sentence: str) -> None:
    params = "y: array[float], small: array[int8], v: array[vec2], n: array[int]"
    text = f"@kernel\ndef k({params}):\n    i = tid()\n    {statement}\n"
    with pytest.raises(wb.KernelTypeError) as caught:
        define(text)
    assert any(part in f"{caught.value.message} {caught.value.advice}" for part in sentence.split("|"))
    assert caught.value.location.line == 4


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("atomic_exch(z, 0, complex(x[i], 0))", "atomic_exch.. changes z here in a way that has no derivative yet"),
        ("atomic_cas(z, 0, z[1], complex(x[i], 0))", "atomic_cas.. changes z here in a way that has no derivative yet"),
        ("atomic_max(y, 0, x[i])", "atomic_max.. changes y here in a way that has no derivative yet"),
        ("j = atomic_max(n, 0, 1)\n    y[j] = x[i] * x[i]", "the old value that atomic_max returned here"),
    ],
)
def test_a_gradient_through_it_is_refused(statement: str, sentence: str) -> None:
    params = "x: array[float], y: array[float], n: array[int], z: array[complex]"
    text = f"@kernel\ndef k({params}):\n    i = tid()\n    {statement}\n"
    with pytest.raises(wb.NotDifferentiable, match=sentence):
        adjoint(define(text)["k"].specialise().function)


def test_a_counter_in_integers_leaves_gradients_alone() -> None:
    text = """
    @kernel
    def k(x: array[float64], y: array[float64], n: array[int]):
        i = tid()
        atomic_max(n, 0, i)
        y[i] = x[i] * x[i]
    """
    x, y, n = wb.array(np.arange(4.0)), wb.array(np.zeros(4)), wb.array(np.zeros(1, np.int32))
    verdict = wb.gradcheck(define(text)["k"], 4, inputs=[x], outputs=[y, n])
    assert verdict.ok


def test_an_element_that_others_change_is_added_to_atomically() -> None:
    text = "@kernel\ndef k(x: array[int], at: array[int]):\n    i = tid()\n    x[i] += 1\n    atomic_max(x, {0}, 5)\n"
    shared, alone = (define(text.format(place))["k"].specialise().function for place in ("at[i]", "i"))
    assert demote_atomics(shared) is shared
    assert [op.name for op in demote_atomics(alone).body.ops].count("atomic_add") == 0


VECTORS = """
@kernel
def k(x: array[vec3], low: array[vec3], high: array[mat22], old: array[float]):
    i = tid()
    before = atomic_min(low, 0, x[i])
    atomic_max(high, 0, mat22(x[i][0], x[i][1], x[i][2], -x[i][0]))
    old[i] = before[1]
"""


def test_smallest_and_largest_of_vectors_component_by_component() -> None:
    x = np.random.default_rng(3).normal(size=(200, 3)).astype(np.float32)
    low, high = wb.full(1, wb.vec3(9.0), wb.vec3), wb.full(1, wb.mat22(-9.0), wb.mat22)
    old = wb.zeros(200)
    wb.launch(define(VECTORS)["k"], 200, [wb.array(x, wb.vec3), low, high, old])
    assert low.numpy()[0].tolist() == x.min(axis=0).tolist()
    assert high.numpy().reshape(4).tolist() == [*x.max(axis=0).tolist(), (-x[:, 0]).max()]
    assert set(old.numpy().tolist()) <= {9.0, *x[:, 1].tolist()}


BITS = """
@kernel
def k(x: array[vec3ui], all: array[vec3ui], some: array[mat22ui], odd: array[mat22ui]):
    i = tid()
    v = x[i]
    m = mat22ui(v[0], v[1], v[2], v[0])
    atomic_and(all, 0, v)
    atomic_or(some, 0, (m << mat22ui(uint32(3))) >> mat22ui(uint32(1)))
    atomic_xor(odd, 0, ~m & m | m)
"""


def test_bits_of_vectors_and_matrices_component_by_component() -> None:
    x = np.random.default_rng(4).integers(0, 2**29, (60, 3), dtype=np.uint32) | np.uint32(5)
    vec3ui, mat22ui = wb.vec3ui, wb.types.matrix((2, 2), wb.uint32)
    ones = np.full((1, 3), 2**32 - 1, np.uint32)
    every, some, odd = wb.array(ones, vec3ui), wb.zeros(1, mat22ui), wb.zeros(1, mat22ui)
    kernel = define(BITS, {"vec3ui": vec3ui, "mat22ui": mat22ui, "uint32": wb.uint32})["k"]
    wb.launch(kernel, 60, [wb.array(x, vec3ui), every, some, odd])
    square = x[:, [0, 1, 2, 0]]
    assert np.array_equal(every.numpy()[0], np.bitwise_and.reduce(x))
    assert np.array_equal(some.numpy().reshape(4), np.bitwise_or.reduce(square << 3 >> 1))
    assert np.array_equal(odd.numpy().reshape(4), np.bitwise_xor.reduce(square))


GENERIC = """
@kernel
def k(x: array[Any], n: int, y: array[Any]):
    for _ in range(n > 0):
        y[0] += type(x).dtype(x[1])
"""


@pytest.mark.parametrize("n", [0, 1])
def test_the_type_of_an_array_has_that_of_its_elements_and_a_bool_is_a_range(n: int) -> None:
    x, y = wb.array(np.arange(6, dtype=np.float32).reshape(2, 3), wb.vec3), wb.zeros(1, wb.vec3)
    wb.launch(define(GENERIC)["k"], 1, [x, n, y])
    assert y.numpy()[0].tolist() == [3.0 * n, 4.0 * n, 5.0 * n]
