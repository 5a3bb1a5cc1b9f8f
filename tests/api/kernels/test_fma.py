"""`fma=True`: one rule for all backends, the same bits on each, and nothing else changed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.on_gpu import DEVICE
from workbench.api.builds.build import function_of
from workbench.api.builds.keys import key_of
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.python.interpret import run
from workbench.builtins import TABLE
from workbench.errors import KernelTypeError
from workbench.ir.values import walk


def poly(x: wb.array[wb.float32], c: wb.array[wb.float64], y: wb.array[wb.float32], z: wb.array[wb.float64]):
    """Sums and differences of products in both precisions, with a dynamic loop."""
    i = wb.tid()
    v = wb.float32(0.1)
    for k in range(7):
        v = v * x[i] + wb.float32(0.3) * wb.float32(k)
    y[i] = x[i] - v * v
    z[i] = (c[i] * c[i] - wb.float64(x[i])) + wb.float64(0.7) * c[i]


FUSED, EXACT = wb.kernel(fma=True)(poly), wb.kernel(fma=False)(poly)


def data(n: int = 97) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return random.standard_normal(n).astype(np.float32), random.standard_normal(n) * 1e3


def results(kernel: wb.Kernel, device: str) -> list[np.ndarray]:
    given = [wb.array(a, device=device, requires_grad=True) for a in data()]
    y, z = wb.zeros(97, wb.float32, device=device), wb.zeros(97, wb.float64, device=device)
    with wb.Tape() as tape:
        wb.launch(kernel, 97, [*given, y, z])
    tape.backward(grads={y: np.ones(97, np.float32), z: np.full(97, 0.1)})
    return [a.numpy() for a in (y, z, given[0].grad, given[1].grad)]


def test_results_and_gradients_have_the_same_bits_on_all_backends() -> None:
    cpu, gpu = results(FUSED, "cpu"), results(FUSED, DEVICE)
    for one, other in zip(cpu, gpu, strict=True):
        np.testing.assert_array_equal(one, other)
    expected = [np.zeros(97, np.float32), np.zeros(97)]
    run(function_of(FUSED.specialise(), "forward"), 97, [*data(), *expected])
    np.testing.assert_array_equal(cpu[0], expected[0])
    np.testing.assert_array_equal(cpu[1], expected[1])
    exact = results(EXACT, "cpu")
    assert any((a != b).any() for a, b in zip(cpu, exact, strict=True))
    for one, other in zip(cpu, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=1e-4)


def names(kernel: wb.Kernel, direction: str = "forward") -> list[str]:
    return [op.name for op in walk(function_of(kernel.specialise(), direction).body)]


def test_what_is_contracted() -> None:
    found = names(FUSED)
    assert found.count("fma") == 4 and "fma" in names(FUSED, "adjoint") and "fma" in names(FUSED, "tangent")
    assert found.count("sub") == 0 and found.count("neg") == 2 and found.count("mul") == 1
    assert "fma" not in names(EXACT)

    @wb.kernel(fma=True)
    def kept(x: wb.array[float], h: wb.array[wb.float16], n: wb.array[int], y: wb.array[float]):
        i = wb.tid()
        both = x[i] * x[i]
        y[i] = both + both
        h[i] = h[i] * h[i] + h[i]
        n[i] = n[i] * 3 + 1
        wb.atomic_add(y, 0, x[i] * 2.0)

    assert "fma" not in names(kept)


def test_vectors_are_contracted_by_component() -> None:
    @wb.kernel(fma=True)
    def vectors(x: wb.array[wb.vec3], y: wb.array[wb.vec3]):
        i = wb.tid()
        y[i] = wb.dot(x[i], x[0]) * x[i] + x[i]

    assert names(vectors).count("fma") == 3 and "dot" not in names(vectors)
    values = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    seen = []
    for device in ("cpu", DEVICE):
        x, y = wb.array(values, dtype=wb.vec3, device=device), wb.zeros(5, wb.vec3, device=device)
        wb.launch(vectors, 5, [x, y])
        seen.append(y.numpy())
    np.testing.assert_array_equal(seen[0], seen[1])


def test_a_cell_and_the_environment_may_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def k(x: array[float]):\n    i = tid()\n    x[i] = x[i] * x[i] + 1.0\n"
    assert "fma" in names(wb.build_cell(text, {}, backend="cpu", fma=True).kernels["k"])
    own = wb.build_cell("@kernel(fma=False)\n" + text, {}, backend="cpu", fma=True).kernels["k"]
    assert "fma" not in names(own)
    assert "fma" not in names(wb.build_cell(text, {}, backend="cpu").kernels["k"])
    monkeypatch.setenv("WORKBENCH_FMA", "1")
    assert "fma" in names(wb.build_cell(text, {}, backend="cpu").kernels["k"])
    assert "fma" not in names(wb.build_cell(text, {}, backend="cpu", fma=False).kernels["k"])
    with pytest.raises(KernelTypeError, match="fma='yes'"):
        wb.kernel(fma="yes")(poly)  # pyright: ignore


def test_the_key_knows_it() -> None:
    backend = CpuBackend()
    keys = [
        key_of(k.specialise(), "forward", Options(), backend, backend.target(), False).digest for k in (FUSED, EXACT)
    ]
    assert keys[0] != keys[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_reference_rounds_once(dtype: type) -> None:
    """Held against its definition: no float of the type is nearer to the exact result."""
    fma, random = TABLE["fma"].reference, np.random.default_rng(1)
    info = np.finfo(dtype)
    scales = np.array([1, info.max / 4, info.tiny, info.smallest_subnormal], dtype)
    for _ in range(300):
        with np.errstate(all="ignore"):
            x, y, z = (random.standard_normal(3) * random.choice(scales, 3)).astype(dtype)
            z = dtype(-x * y) if random.random() < 0.3 and np.isfinite(x * y) else z
            if not np.isfinite([x, y, z]).all():
                continue
            got = fma(x, y, z)
        if not np.isfinite(got):
            assert abs(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))) > Fraction(float(info.max))
            continue
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        away = abs(Fraction(float(got)) - exact)
        for side in (np.nextafter(got, dtype(np.inf)), np.nextafter(got, dtype(-np.inf))):
            assert not np.isfinite(side) or away <= abs(Fraction(float(side)) - exact)


def test_the_reference_knows_infinities_and_signs_of_zero() -> None:
    fma, f = TABLE["fma"].reference, np.float32
    with np.errstate(all="ignore"):
        assert fma(f(3e38), f(3e38), f(-np.inf)) == -np.inf and fma(f(np.inf), f(2), f(1)) == np.inf
        assert np.isnan(fma(f(np.inf), f(0), f(1))) and np.isnan(fma(f(np.inf), f(1), f(-np.inf)))
        assert np.isnan(fma(f(1), f(1), f(np.nan)))
    with np.errstate(all="ignore"):
        assert np.signbit(fma(f(-1e-45), f(1e-45), f(0.0)))
    assert np.signbit(fma(f(-0.0), f(1), f(-0.0))) and not np.signbit(fma(f(2), f(3), f(-6)))
