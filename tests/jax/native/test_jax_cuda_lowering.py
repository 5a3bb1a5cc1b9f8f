"""What JAX hands to XLA for GPUs, looked at without one: calls, targets, what is registered under "CUDA"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.ffi_gpu_frames import Gpu
from workbench.interop.jax.launches import cuda
from workbench.interop.jax.native import target

jax = pytest.importorskip("jax")
pytest.importorskip("cuda.bindings.driver")
jnp = jax.numpy
X = np.linspace(0.2, 1, 6, dtype=np.float32)


@wb.kernel
def scale(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = s * wb.sin(x[i])


@pytest.fixture
def registered(need: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Two mock GPUs; returns what is registered, as (name, bundle, platform)."""
    need("nvrtc")
    from tests.support.devices.mock_device import device

    made, found = Gpu(), []
    monkeypatch.setattr(cuda, "driver_functions", lambda: made.addresses)
    monkeypatch.setattr(jax.ffi, "register_ffi_target", lambda *args, **named: found.append((*args, *named.values())))
    with device(monkeypatch, 2):
        yield found


def lowered(f: Callable[..., Any], *args: Any) -> str:
    return jax.jit(f).trace(*args).lower(lowering_platforms=("cuda",)).as_text()


def test_a_kernel_and_its_gradient_are_calls_of_cuda_targets(registered: list[Any]) -> None:
    f = wb.jax_kernel(scale)
    text = lowered(lambda x: jax.value_and_grad(lambda x, s: f(x, s).sum(), (0, 1))(x, 1.5), X)
    assert text.count("custom_call @workbench.scale") == 2
    assert len(registered) == 2 and all(name in text for name, _, _ in registered)
    assert all(set(bundle) == {"initialize", "execute"} and platform == "CUDA" for _, bundle, platform in registered)
    lowered(lambda x: f(x, 2.5), X)
    assert len(registered) == 2


def test_checks_are_not_made_there_and_a_warning_says_so(registered: list[Any]) -> None:
    f = wb.jax_kernel(scale, init={"y": "zeros"})  # without, checks fill what a kernel leaves out: another target
    plain = lowered(lambda x: f(x, 1.0), X)
    before = wb.set_checks(True)
    try:
        with pytest.warns(UserWarning, match="without checks on GPUs under JAX"):
            checked = lowered(lambda x: f(x, 1.0), X)
    finally:
        wb.set_checks(before)
    called = [re.findall(r"@(workbench\.scale\.\w+)", text) for text in (plain, checked)]
    assert called[0] == called[1] != []


def test_checkify_finds_no_fault_there(registered: list[Any]) -> None:
    from jax.experimental import checkify

    f = checkify.checkify(wb.jax_kernel(scale), errors=checkify.all_checks)
    with pytest.warns(UserWarning, match="without checks on GPUs under JAX"):
        text = lowered(lambda x: f(x, 1.0), X)
    assert text.count("custom_call @workbench.scale") == 1


def test_another_block_is_another_target(registered: list[Any]) -> None:
    f = wb.jax_kernel(scale, block_dim=64)
    names = {lowered(lambda x, n=n: f(x, 1.0, **n), X) for n in ({}, {"block_dim": 128}, {"block_dim": 64})}
    assert len(names) == 2 and len(registered) == 2
    lowered(lambda x: jax.grad(lambda x: f(x, 1.0, block_dim=128).sum())(x), X)
    assert len(registered) == 3


def twice(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    between = wb.empty(x.shape[0])
    wb.launch(scale, dim=x.shape, inputs=[x, 2.0], outputs=[between], block_dim=32)
    wb.launch(scale, dim=x.shape, inputs=[between, 3.0], outputs=[y])


def test_a_function_of_launches_is_a_call_a_launch_that_xla_can_capture(registered: list[Any]) -> None:
    text = lowered(wb.jax_callable(twice), X)
    assert text.count("custom_call @workbench.scale") == 2
    assert len(registered) == 2


def test_gpus_of_two_kinds_are_refused(registered: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found = cuda.driver()
    monkeypatch.setattr(type(found), "arch", lambda self, n: f"sm_9{n}")
    with pytest.raises(wb.DeviceError, match=r"GPUs of different kinds: sm_90, sm_91"):
        lowered(wb.jax_kernel(scale), X, 7.0)


def test_without_a_gpu_a_lowering_for_one_is_refused() -> None:
    if cuda.driver() is not None:
        pytest.skip("there is a GPU here")
    with pytest.raises(wb.DeviceError, match="no CUDA device to compile scale for"):
        lowered(wb.jax_kernel(scale), X, 1.0)


@wb.kernel
def stretch(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = s * x[i] * x[i]


SHAPES = jax.ShapeDtypeStruct((6,), "float32"), jax.ShapeDtypeStruct((), "float32")


def test_a_program_for_both_is_exported_packed_and_run_where_there_is_no_gpu(need: Callable[[str], str]) -> None:
    need("nvrtc")
    pytest.importorskip("flatbuffers")
    f = wb.jax_kernel(stretch)
    with pytest.raises(wb.DeviceError, match='Pass arch="sm_90"'):
        wb.jax_export(f, platforms=["cpu", "cuda"])(*SHAPES)
    exported = wb.jax_export(f, platforms=["cpu", "cuda"], arch="sm_90")(*SHAPES)
    assert len(exported.disabled_safety_checks) == 2
    again = wb.jax_unpack(wb.jax_pack(exported, vjp_order=1))
    assert again.platforms == ("cpu", "cuda")
    np.testing.assert_allclose(again.call(X, np.float32(3)), 3 * X * X, rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda x: again.call(x, 3.0).sum())(jnp.array(X)), 6 * X, rtol=1e-6)
    wb.jax_preload(again)


@wb.kernel
def squeeze(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = x[i] / (s + x[i])


@pytest.mark.parametrize("how", ["unpacked", "preloaded"])
def test_where_there_are_gpus_it_is_registered_for_them(how: str, registered: list[Any]) -> None:
    pytest.importorskip("flatbuffers")
    with pytest.MonkeyPatch.context() as patch:  # written where there is no GPU, for another architecture
        patch.setattr(cuda, "driver", lambda: None)
        exported = wb.jax_export(wb.jax_kernel(squeeze), platforms=["cuda"], arch="sm_80")(*SHAPES)
    assert registered == []
    data = wb.jax_pack(exported)
    if how == "unpacked":
        wb.jax_unpack(data)
    else:
        wb.jax_preload(exported)
    ((name, bundle, platform),) = registered
    assert name in exported.mlir_module() and platform == "CUDA" and set(bundle) == {"initialize", "execute"}
    cuda_names = [n for n in target._registered if "squeeze" in n]
    for known in cuda_names:  # a mock GPU knew it; the next case is another process
        target._registered.pop(known)
