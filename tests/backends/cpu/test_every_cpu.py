"""Machine code of the whole builtin table, forward and adjoint, for CPUs that are not here: generated, not run.

In a worker, so that a compiler that crashes is a failed assertion. LLVM chooses instructions by CPU, and a choice that
it cannot make ends the process: so it did with comparisons of float16 for AVX-512. CPUs that want the same vectors
share the optimised code.
"""

from __future__ import annotations

from itertools import chain

import pytest
from msgspec.structs import replace

from tests.builtins.test_table_on_cpu import Job, jobs
from tests.support.kernels.builtin_cases import kernel_of
from tests.worker import tasks
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.worker.pool import Limits, Lost, Pool, task_name
from workbench.builtins import TABLE
from workbench.errors import NotDifferentiable
from workbench.ir.values import Function
from workbench.types import SCALARS, Scalar, float16, is_float

X86 = "x86_64-unknown-linux-gnu"
ARM = {"apple-m1": "arm64-apple-darwin", "neoverse-v2": "aarch64-unknown-linux-gnu"}
# CPUs for which LLVM prefers vectors of one width, and what is the widest that they have.
FAMILIES = {
    ("x86-64-v2",): 128,
    ("x86-64-v3", "haswell", "znver2"): 256,
    ("x86-64-v4", "skylake-avx512", "sapphirerapids"): 512,
    ("znver4", "znver5"): 512,
}
TUNING = {
    "speed_level": cpu.LEVEL, "loop_vectorization": True, "slp_vectorization": True, "loop_unrolling": False,
    "loop_interleaving": False,
}  # fmt: skip
# CPUs as name, features and triple; what their texts may use.
Group = tuple[list[tuple[str, str, str]], Maths, bool]
POOL = Pool("table", lambda: None)
LIMITS = Limits(seconds=600, memory=8 << 30, clock=6000)


def functions(work: list[Job]) -> list[Function]:
    """A kernel for each builtin, and its adjoint where it has one."""
    found = []
    for number, (name, signature) in enumerate(work):
        forward = replace(kernel_of(name, signature), name=f"{name}_{number}")
        found.append(forward)
        try:
            found.append(replace(adjoint(forward), name=f"{name}_{number}_adjoint"))
        except NotDifferentiable:
            continue
    return found


def texts(made: list[Function], maths: Maths, instructions: bool) -> list[str]:
    return [emit_llvm(f, Options(), maths, instructions) for f in made]


def machines(scalar: Scalar) -> list[Group]:
    """Groups of CPUs that share their texts and how these are optimised."""
    features = cpu.features_for("half" if scalar is float16 else "", "")
    found: list[Group] = []
    turn = list(SCALARS.values()).index(scalar)
    for names, bits in FAMILIES.items():
        if not is_float(scalar):  # what is chosen for integers differs by family; each type meets another of its CPUs
            names = names[turn % len(names) :][:1]
        split = scalar is float16  # a named CPU may have instructions for it, a level has none
        parts = [[n for n in names if is_level(n)], [n for n in names if not is_level(n)]] if split else [names]
        for part in filter(None, parts):
            level = is_level(part[0])
            cpus = [(name, cpu.miscompiled() if level else features, X86) for name in part]
            found.append((cpus, Maths(part[0] != "x86-64-v2", False, bits), not level))
    return [*found, *(([(name, "", triple)], Maths(True, False, 128), True) for name, triple in ARM.items())]


def is_level(name: str) -> bool:
    """Whether it is a level of x86-64, which stands for many CPUs."""
    return name.startswith("x86-64")


@pytest.mark.slow
@pytest.mark.parametrize("scalar", SCALARS.values(), ids=repr)
def test_every_builtin_compiles_for_every_cpu(scalar: Scalar) -> None:
    made, groups = functions(jobs(scalar, 0)), machines(scalar)
    if scalar is not float16:
        assert all(texts(made, maths, True) == texts(made, maths, False) for _, maths, _ in groups)
    sizes = compiled(made, groups)
    assert sizes.keys() == {name for cpus, _, _ in groups for name, _, _ in cpus}
    assert not is_float(scalar) or sizes.keys() == {*chain(*FAMILIES), *ARM}
    assert min(sizes.values()) > 1000


@pytest.mark.slow
def test_builtins_on_vectors_and_matrices_compile_for_avx_512() -> None:
    work = [(name, given) for name, given in jobs(float16, 3) if not TABLE[name].elementwise]
    wide = [(cpus[:1], maths, halves) for cpus, maths, halves in machines(float16) if maths.bits == 512 and halves]
    assert compiled(functions(work), wide[:1]).keys() == {"skylake-avx512"}


def compiled(made: list[Function], wanted: list[Group]) -> dict[str, int]:
    """Bytes of machine code by CPU; a compiler that crashes names the functions."""
    assert made
    sizes: dict[str, int] = {}
    problems = []
    for cpus, maths, instructions in wanted:
        written = texts(made, maths, instructions)
        request = {"task": task_name(tasks.table), "cpus": cpus, "tuning": TUNING}
        try:
            sizes |= POOL.run(request, "\0".join(written).encode(), LIMITS)[0]
        except Lost as lost:
            problems.append(f"{lost} at stage {lost.stage}: {culprits(request, made, written)}\n{lost.log}")
    assert not problems, "\n".join(problems)
    return sizes


def culprits(request: dict[str, object], made: list[Function], written: list[str]) -> list[str]:
    """Which functions a compiler crashes on, one by one."""
    found = []
    for function, text in zip(made, written, strict=True):
        try:
            POOL.run(request, text.encode(), LIMITS)
        except Lost as lost:
            found.append(f"{function.name} ({lost.stage})")
    return found
