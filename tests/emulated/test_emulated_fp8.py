"""Conversions to and from FP8, as `cuda_fp8.h` has them: the instructions of sm_89 against ml_dtypes, bit by bit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import workbench as wb

pytest.importorskip("cuda.bindings.driver")

TEXT = """
#include <cuda_fp8.h>
__global__ void to(const float* x, unsigned char* of_float, unsigned short* of_halves, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    of_float[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, FORM);
    __half2_raw pair = static_cast<__half2_raw>(__halves2half2(__float2half(x[i]), __float2half(x[n - 1 - i])));
    of_halves[i] = __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, FORM);
}
__global__ void from(float* y) {
    y[threadIdx.x] = __half2float(__half(__nv_cvt_fp8_to_halfraw(threadIdx.x, FORM)));
}
"""
FORMS = {"__NV_E4M3": ml_dtypes.float8_e4m3fn, "__NV_E5M2": ml_dtypes.float8_e5m2}


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal bits; NaN has several codes."""
    nan = np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found.astype(np.float32)), nan)
    np.testing.assert_array_equal(found.view(np.uint8)[~nan], wanted.view(np.uint8)[~nan])


@pytest.mark.parametrize("form", FORMS)
def test_fp8_rounds_saturates_and_keeps_nan(form: str) -> None:
    kind = FORMS[form]
    codes = np.arange(256, dtype=np.uint8).view(kind).astype(np.float32)
    finite = np.unique(codes[np.isfinite(codes)])
    middle = (finite[1:] + finite[:-1]) / 2
    edges = np.concatenate([finite, middle, np.nextafter(middle, np.float32(9e9)), np.nextafter(middle, -9e9)])
    more = [np.inf, -np.inf, np.nan, -0.0, 465, -470, 61439, 61441, 1e30, 1e-30, -1e-45]
    chance = np.random.default_rng(3).normal(size=500) * np.exp2(np.random.default_rng(4).integers(-20, 18, 500))
    x = np.concatenate([edges, more, chance]).astype(np.float32)
    n, most = len(x), finite[-1]
    module = wb.cuda_module(TEXT.replace("FORM", form), run="emulated")
    single, pairs, back = np.zeros(n, np.uint8), np.zeros(n, np.uint16), np.zeros(256, np.float32)
    module["to"][n](x, single, pairs, n, block_dim=128)
    module["from"][256](back, block_dim=256)
    np.testing.assert_array_equal(back, codes)
    same(single.view(kind), np.clip(x, -most, most).astype(kind))
    with np.errstate(over="ignore"):
        halves = np.clip(x.astype(np.float16).astype(np.float32), -most, most).astype(kind)
    same((pairs & 255).astype(np.uint8).view(kind), halves)
    same((pairs >> 8).astype(np.uint8).view(kind), halves[::-1])
