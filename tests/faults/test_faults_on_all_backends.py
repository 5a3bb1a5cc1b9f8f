"""Each kind of fault, on each backend: line, caret, thread, values, sentence, and nothing written outside."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.support.devices.on_gpu import Library
from tests.support.kernels.fault_cases import CASES, check, kernel_of, on_cpu, on_interpreter
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.ir.verify import verify
from workbench.passes.checks.bounds_checks import guard

BOTH = pytest.mark.parametrize("strided", [False, True], ids=["dense", "strided"])


@pytest.mark.parametrize("name", CASES)
def test_on_the_interpreter(name):
    check(CASES[name], kernel_of(CASES[name]).specialise().function, on_interpreter)


@pytest.mark.sample(12)
@BOTH
@pytest.mark.parametrize("name", CASES)
def test_on_the_cpu(name, strided):
    kernel = kernel_of(CASES[name])
    check(CASES[name], kernel.specialise().function, on_cpu(kernel), strided)


@pytest.mark.slow
@BOTH
def test_as_cuda_text_on_the_host(need, strided):
    need("nvrtc")
    functions = {
        name: replace(kernel_of(case).specialise().function, name=f"k{n}")
        for n, (name, case) in enumerate(CASES.items())
    }
    library = Library(list(functions.values()), Options(checks=True, contiguous=not strided))
    for name, case in CASES.items():
        check(case, functions[name], lambda f, c, args: library.run(f.name, c.dim, args), strided)


@pytest.mark.parametrize("versions", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_guarded_functions_are_legal(name, versions):
    function = kernel_of(CASES[name]).specialise().function
    assert verify(guard(function, versions)) is not function


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_nvrtc_takes_the_text(need, target):
    need("nvrtc")
    for name in ("load", "assert of floats", "component", "remainder"):
        image = CudaBackend().compile(kernel_of(CASES[name]).specialise().function, Options(checks=True), target).image
        assert image[:4] == b"\x7fELF"
