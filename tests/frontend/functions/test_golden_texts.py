"""What a kernel becomes, stage by stage, as files that a reviewer reads as a diff (`--update-golden` writes them)."""

from __future__ import annotations

import pytest

from tests.support.checks import meaning
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import optimised_text
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.ir.data import canonical, show
from workbench.passes.memory.atomics import demote_atomics

PORTABLE = "x86-64-v3"

KERNELS = {
    "saxpy": """
        def saxpy(a: float, x: array[float], y: array[float]):
            i = tid()
            y[i] += a * x[i]
        """,
    "blur": """
        def blur(source: array2d[float], result: array2d[float]):
            i, j = tid()
            total = 0.0
            for dy in range(-1, 2):
                y = clamp(i + dy, 0, source.shape[0] - 1)
                total += source[y, j] / 3
            result[i, j] = total
        """,
    "branches": """
        def branches(x: array[float], y: array[float]):
            i = tid()
            if x[i] < 0:
                y[i] = 0.0
                return
            r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
            y[i] = sqrt(r + 1)
        """,
    "dynamic_loop": """
        def dynamic_loop(x: array2d[float], y: array[float]):
            i = tid()
            s = 0
            for j in range(x.shape[1]):
                s += sin(x[i, j])
            y[i] = s
        """,
    "recurrence": """
        def recurrence(x: array[float], decay: float, y: array[float]):
            i = tid()
            s = 0.0
            for q in range(len(x)):
                s = 0.5 * s + x[q] * decay
            y[i] = s
        """,
    "particles": """
        def force(a, b):
            d = b - a
            return d / (length_sq(d) + 0.01)

        def particles(p: array[vec3], f: array[vec3]):
            i = tid()
            total = vec3()
            for j in range(len(p)):
                total += force(p[i], p[j])
            f[i] = total
        """,
    "histogram": """
        def histogram(x: array[float], bins: array[int]):
            i = tid()
            atomic_add(bins, int(x[i] * 10.0) % len(bins), 1)
        """,
    "collatz": """
        def collatz(start: array[int], steps: array[int]):
            i = tid()
            n = start[i]
            k = 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                k += 1
                if k >= 1000:
                    break
            steps[i] = k
        """,
    "wrapped": """
        def wrapped(x: array[float], y: array[float]):
            i = tid()
            y[-1 - i] = x[i - 1] * SCALE
        """,
}
STRUCT = """
        @struct
        class Body:
            pos: vec3
            vel: vec3
            mass: float
            id: int
"""
KERNELS |= {
    "struct_values": f"""{STRUCT}
        @func
        def moved(b: Body, dt: float):
            b.pos += b.vel * dt
            return b

        def struct_values(x: array[vec3], b: Body, dt: float):
            i = tid()
            c = b
            c.pos = x[i]
            for k in range(4):
                c = moved(c, dt)
            x[i] = c.pos * b.mass
        """,
    "struct_array": f"""{STRUCT}
        def struct_array(bodies: array(dtype=Body), dt: float):
            i = tid()
            bodies[i].pos += bodies[i].vel * dt
            bodies[i].id += 1
        """,
    "struct_pairs": f"""{STRUCT}
        def struct_pairs(bodies: array(dtype=Body), f: array[vec3]):
            i = tid()
            a = bodies[i]
            total = vec3()
            for j in range(len(bodies)):
                b = bodies[j]
                if b.id != a.id:
                    d = b.pos - a.pos
                    total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
            f[i] = total
        """,
}
NO_FLOATS = {"histogram", "collatz"}


def function(name: str):
    return meaning.define(KERNELS[name], {"SCALE": 2.5})[name].specialise().function


@pytest.mark.parametrize("name", KERNELS)
def test_every_stage(name, golden):
    forward = function(name)
    golden(f"ir/{name}.txt", show(forward, lines=True))
    golden(f"cuda/cells/{name}.cu", CudaBackend().emit(forward, Options(), "sm_90"))
    golden(f"llvm/{name}.ll", CpuBackend().emit(forward, Options(), PORTABLE))
    if name not in NO_FLOATS:
        golden(f"ir/{name}_adjoint.txt", show(adjoint(forward), lines=True))
        golden(f"cuda/cells/{name}_adjoint.cu", CudaBackend().emit(adjoint(forward), Options(), "sm_90"))


@pytest.mark.parametrize("name", ["struct_values", "struct_array", "struct_pairs"])
def test_structs_stay_in_registers(name):
    text = optimised_text(demote_atomics(function(name)), Options(), PORTABLE)
    # What threads of a group keep from turn to turn is in slots; no struct is.
    assert [line for line in text.splitlines() if "alloca" in line and "%slots" not in line] == []
    assert "store" in text


@pytest.mark.parametrize("name", KERNELS)
def test_the_canonical_text_forgets_names_and_places(name):
    text = KERNELS[name].replace("        def ", "        # a comment\n        def ", 1)
    moved = meaning.define(text, {"SCALE": 2.5})[name].specialise().function
    assert canonical(moved) == canonical(function(name))
    assert show(moved, lines=True) != show(function(name), lines=True)
