"""Calls that do not fit are refused when JAX traces, naming kernel and parameter and saying what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def scale(a: wb.float32, x: wb.array[wb.float32], out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = a * x[i]


@wb.kernel
def turn(v: wb.array[wb.vec3], angle: wb.int32, out: wb.array2d[wb.float32]):
    i, j = wb.tid()
    out[i, j] = v[i][0] * wb.float32(angle)


@wb.kernel
def wide(x: wb.array[wb.float64], out: wb.array[wb.float64]):
    i = wb.tid()
    out[i] = x[i]


@wb.kernel
def untyped(x: wb.array[wb.float32], out):
    i = wb.tid()
    out[i] = x[i]
    out[i] = wb.vec2(x[i], 0.0)


@wb.kernel
def accumulate(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    i = wb.tid()
    wb.atomic_add(out, 0, x[i])


@wb.kernel
def overwrite(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    i = wb.tid()
    x[i] = 0.0
    out[i] = 1.0


x4 = np.zeros(4, np.float32)
v4 = np.zeros((4, 3), np.float32)
to_scale, to_turn = wb.jax_kernel(scale), wb.jax_kernel(turn, launch_dims=(4, 2))

# What is called -> the parameter at fault, and the sentence that says so.
CALLS: list[tuple[Callable[[], Any], str | None, str]] = [
    (lambda: to_scale(1.0, x4.astype(float)), "x", "x of scale takes array[float32], not float64[4]. Convert it"),
    (lambda: to_scale(1.0, x4.astype(np.int32)), "x", "not int32[4]. Convert it: x.astype('float32')."),
    (lambda: to_scale(1.0, x4[None]), "x", "not float32[1,4]. The kernel's has 1 dimension: reshape it, or call"),
    (lambda: to_scale(1.0, 3.0), "x", "not 3.0 (float). Pass a JAX or NumPy array."),
    (lambda: to_scale(1.0, [1.0, 2.0]), "x", "not [1.0, 2.0] (list). Pass a JAX or NumPy array."),
    (lambda: to_scale(x4, x4), "a", "a of scale takes float32, not float32[4]. Pass one value."),
    (lambda: to_scale("1", x4), "a", "a of scale takes float32, not '1' (str)."),
    (lambda: to_scale(1 + 2j, x4), "a", "a of scale takes float32, not (1+2j) (complex)."),
    (lambda: to_scale(1.0), None, "scale takes 2 inputs under JAX (a, x), not 1. Parameters after these are outputs;"),
    (lambda: to_scale(1.0, x4, x4), None, "scale takes 2 inputs under JAX (a, x), not 3."),
    (lambda: to_turn(v4[:, :2], 1), "v", "v of turn takes array[vec3], not float32[4,2]. Its last axis holds the 3"),
    (lambda: to_turn(x4, 1), "v", "not float32[4]. Its shape has 2 dimensions: any, 3 components."),
    (lambda: to_turn(v4, 1.5), "angle", "angle of turn takes int32, not 1.5 (float)."),
    (lambda: to_turn(v4, jnp.float32(1)), "angle", "angle of turn takes int32, not float32[]."),
    (lambda: to_turn(v4, 2**40), "angle", "angle of turn takes int32, not 1099511627776 (int)."),
    (lambda: to_scale(1.0, x4, launch_dims=-1), None, "launch_dims of scale is -1; it takes 1 to 4 whole numbers"),
    (lambda: to_scale(1.0, x4, launch_dims=(1,) * 5), None, "whole numbers below 2³¹, known when JAX traces"),
    (lambda: to_scale(1.0, x4, launch_dims=2**31), None, "is 2147483648; it takes 1 to 4 whole numbers below 2³¹"),
    (lambda: jax.jit(lambda n: to_scale(1.0, x4, launch_dims=n))(4), None, "known when JAX traces"),
    (lambda: to_scale(1.0, x4, launch_dims=(2, 2)), None, "scale asks tid() for 1 dimensions; its launch would have 2"),
    (lambda: to_scale(1.0, x4, output_dims=(2, 2)), "out", "and its dimensions would be (2, 2)"),
    (lambda: to_scale(1.0, x4, output_dims={"y": 3}), "y", "output_dims of scale names 'y', which is not one of out."),
    (lambda: wb.jax_kernel(turn)(v4, 1), None, "turn asks tid() for 2 dimensions; its launch would have 1: (4,)."),
    (lambda: wb.jax_kernel(wide)(x4.astype(float)), "x", 'jax.config.update("jax_enable_x64", True)'),
    (lambda: wb.jax_kernel(untyped)(x4), "out", "out of untyped: outputs without annotation"),
    (lambda: wb.jax_kernel(accumulate, output_dims=1)(x4), "out", "adds to its output out, which XLA passes"),
    (lambda: wb.jax_kernel(overwrite)(x4), "x", "overwrite writes to x, which is an input"),
    (lambda: wb.jax_kernel(scale, num_outputs=3)(), "a", "a of scale is an output of type float32;"),
    (lambda: wb.jax_kernel(scale, static_argnames="a")(jnp.float32(1), x4), "a", "static and takes a Python number"),
    (lambda: wb.jax_kernel(scale, init={"out": "ones"})(1.0, x4), "out", "init of scale sets out to 'ones'; it"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "parameter", "sentence"), CALLS, ids=[c[2][:40] for c in CALLS])
def test_a_call_that_does_not_fit(call: Callable[[], Any], parameter: str | None, sentence: str) -> None:
    with pytest.raises(LaunchError) as error:
        call()
    shown = re.sub(r"\s+", " ", str(error.value))
    assert sentence in shown
    assert error.value.parameter == (parameter or "")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"in_out_argnames": ["y"]}, "in_out_argnames of scale names 'y', which is not one of"),
        ({"init": {"x": 0}}, "init of scale names 'x', which is not one of out."),
        ({"static_argnames": ["out"]}, "static_argnames of scale names 'out', which is not one of a, x."),
        ({"num_outputs": 0}, "num_outputs=0 does not fit scale, which has 3 parameters."),
        ({"num_outputs": 4}, "num_outputs=4 does not fit scale"),
        ({"vmap_method": "fast"}, "vmap_method='fast' is not one of expand_dims, broadcast_all, sequential."),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LaunchError) as error:
        wb.jax_kernel(scale, **options)
    assert sentence in str(error.value)


def test_the_error_comes_while_jit_traces() -> None:
    with pytest.raises(LaunchError, match="x of scale takes"):
        jax.jit(to_scale).lower(1.0, jnp.zeros(4, jnp.int32))


def test_what_jax_itself_gives_wrongly_is_an_error_with_names() -> None:
    """Past our checks at trace time, the handler still refuses: here a target called with other operands."""
    jax.block_until_ready(to_scale(1.0, x4))
    name = re.search(r"workbench\.scale\.\w+", jax.jit(to_scale).lower(1.0, x4).as_text())
    assert name
    call = jax.ffi.ffi_call(name[0], jax.ShapeDtypeStruct((4,), jnp.float32))
    with pytest.raises(Exception, match="kernel 'scale', parameter 'x': takes float32 elements, was given int32"):
        jax.block_until_ready(call(jnp.float32(1), jnp.zeros(4, jnp.int32), dims=np.array([4], np.int64)))


def test_a_cuda_text_is_not_called_from_jax() -> None:
    text = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }\n"
    kernel = wb.cuda_module(text, run="emulated")["k"]
    with pytest.raises(LaunchError, match=r"k is CUDA C\+\+, which JAX's programs cannot call"):
        wb.jax_kernel(kernel, in_out_argnames=["y"], launch_dims=4)


def test_a_tree_where_an_array_should_be_is_told_in_one_line() -> None:
    with pytest.raises(LaunchError, match=r"x of scale takes array\[float32\], not \{'x': Array.*… \(dict\)") as error:
        to_scale(1.0, {"x": jnp.linspace(0, 1, 50)})
    assert "\n" not in error.value.message
