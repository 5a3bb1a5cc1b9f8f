"""PyTorch itself, where it is installed: tensors and arrays share memory both ways. (The protocol: test_exchange.)"""

from __future__ import annotations

import numpy as np
import pytest
import torch

import workbench as wb

KINDS = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool"]


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_shared_both_ways(kind: str) -> None:
    t = torch.zeros(5, dtype=getattr(torch, kind))
    a = wb.from_torch(t)
    assert a.dtype == getattr(wb, kind) and a.address == t.data_ptr()
    a.fill_(1)
    assert t.to(torch.float64).sum() == 5
    back = torch.from_dlpack(a)
    back[2] = 0
    assert back.data_ptr() == a.address and float(a[2]) == 0


def test_views_and_vectors_keep_their_strides() -> None:
    t = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    a = wb.from_torch(t[1:, ::2])
    assert a.shape == (3, 3) and a.strides == (24, 8)
    assert np.array_equal(a.numpy(), t[1:, ::2].numpy())
    v = wb.from_torch(t.reshape(8, 3), wb.vec3)
    assert v.shape == (8,) and v[1].tolist() == [3, 4, 5]
    whole = wb.array(np.arange(12, dtype=np.float64).reshape(3, 4))
    assert torch.equal(torch.from_dlpack(whole[:, 1]), torch.tensor([1.0, 5.0, 9.0], dtype=torch.float64))


def test_a_tensor_that_requires_a_gradient_gives_an_array_that_has_one() -> None:
    @wb.kernel
    def square(x: wb.array(dtype=float), y: wb.array(dtype=float)):
        i = wb.tid()
        y[i] = x[i] * x[i]

    t = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x, y = wb.from_torch(t), wb.zeros(3, float, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [y])
    tape.backward(grads={y: np.ones(3, np.float32)})
    assert torch.equal(torch.from_dlpack(x.grad), 2 * t.detach())
    assert t.grad is None, "torch's own gradient is torch's own"


def test_the_memory_lives_as_long_as_somebody_uses_it() -> None:
    a = wb.from_torch(torch.full((1000,), 3.0))
    t = torch.from_dlpack(wb.full(1000, 4.0, float))
    assert a.numpy().sum() == 3000 and t.sum() == 4000
