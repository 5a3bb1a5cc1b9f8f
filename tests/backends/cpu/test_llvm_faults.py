"""The table of LLVM's faults: each is still there in the installed LLVM, and its remedy mends it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.backends.cpu.llvm_faults import FAULTS, Fault
from workbench.backends.cpu import codegen
from workbench.backends.cpu.compile import LEVEL, UNOPTIMISED, VECTORISERS
from workbench.backends.cpu.jit import load
from workbench.backends.cpu.llvm_pool import POOL
from workbench.backends.cpu.machine import facts
from workbench.backends.cpu.systems import code_model
from workbench.backends.worker.pool import Limits, Lost, task_name

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
TUNING = {"speed_level": LEVEL, "loop_unrolling": False, "loop_interleaving": False, **dict.fromkeys(VECTORISERS, True)}
AS_SPELLED = {name: value for name, value in UNOPTIMISED.items() if name != "code_level"}
SIZE = 400
EDGES = (-(2**31), -7, -2, -1, 1, 2, 32, 2**31 - 1)


def numbers(fault: Fault) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    if fault.dtype.startswith("int"):
        return rng.choice(np.array(EDGES, fault.dtype), SIZE), rng.choice(np.array(EDGES, fault.dtype), SIZE)
    x, y = rng.normal(size=(2, SIZE)).astype(fault.dtype)
    x[::5] = -0.0
    x[1::5] *= 2.0**-127  # subnormal; of a float16 the least numbers
    return x, y


def compiled(fault: Fault, *, remedied: bool, optimised: bool = True) -> bytes:
    """Return what LLVM makes of a reproducer; raise `Lost` if it crashes or takes too long."""
    text = fault.reproducer()
    if remedied and fault.instead[0]:
        text = text.replace(*fault.instead)
    features = [fault.beside, fault.without if remedied else ""]
    tuning = {**TUNING, **fault.tuning, **(fault.remedy_tuning if remedied else {})} if optimised else AS_SPELLED
    # LLVM plans vectors of 512 bits for some CPUs alone, and takes a new one, or a virtual one, for another.
    cpu = "sapphirerapids" if fault.needs.startswith("avx512") else facts().cpu
    request = {"cpu": cpu, "code_model": code_model("linux"), "form": "object", "tuning": tuning}
    if fault.triple:
        request |= {"cpu": "generic", "code_model": "default", "triple": fault.triple, "form": "assembly"}
    else:
        features.insert(0, facts().features)
    request |= {"features": ",".join(f for f in features if f), "task": task_name(codegen.generate)}
    return POOL.run(request, text.encode(), Limits(fault.seconds))[1]


def results(fault: Fault, image: bytes) -> tuple[bytes, bytes]:
    """Return what a reproducer leaves at y and z."""
    x, y = numbers(fault)
    z = np.zeros(SIZE)
    code = load(image, "reproducer")
    FUNCTION(code.address)(x.ctypes.data, y.ctypes.data, z.ctypes.data, SIZE)
    return y.tobytes(), z.tobytes()


def shows(fault: Fault, *, remedied: bool) -> bool:
    """Return whether the fault shows: LLVM crashes, takes too long, emits the wrong instruction or wrong numbers."""
    try:
        image = compiled(fault, remedied=remedied)
    except Lost as lost:
        assert fault.crash in lost.log if fault.crash else "processor time" in lost.reason
        return True
    if fault.crash or fault.seconds:
        return False
    if fault.assembly:
        return fault.assembly in image.decode()
    right = results(fault, compiled(fault, remedied=True, optimised=False))
    return results(fault, image) != right


# Only what this machine can run: a fault in AVX-512 code says nothing on a machine without.
TESTABLE = [
    pytest.param(fault, id=fault.name, marks=[pytest.mark.slow] if fault.seconds else [])
    for fault in FAULTS
    if not fault.needs or facts().has(fault.needs)
]


@pytest.mark.parametrize("fault", TESTABLE)
def test_the_fault_is_still_there(fault: Fault) -> None:
    if not shows(fault, remedied=False):
        version = ".".join(map(str, facts().llvm))
        pytest.fail(f"LLVM {version} no longer has this fault ({fault.name}). The remedy may go: {fault.remedy}.")


@pytest.mark.parametrize("fault", TESTABLE)
def test_the_remedy_is_right(fault: Fault) -> None:
    assert fault.instead[0] in fault.reproducer()
    assert fault.instead[0] or fault.without or fault.remedy_tuning
    assert not shows(fault, remedied=True)
