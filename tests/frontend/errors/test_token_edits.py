"""Random token edits of valid kernels: each ends in code or in an error meant for the user, never in another."""

from __future__ import annotations

import enum
import math
import random
import warnings
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.token_edits import CORPUS, mutant, pieces
from workbench.api.builds import build
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run, step
from workbench.errors import KernelFault, KernelTypeError, NotDifferentiable, WorkbenchError
from workbench.ir.data import canonical
from workbench.ir.values import Function, walk
from workbench.ir.verify import verify
from workbench.passes.memory.atomics import demote_atomics
from workbench.types import ArrayType, element
from workbench.types import Kind as ScalarKind


class Kind(enum.Enum):
    A = 1
    B = "text"


NAMESPACE: dict[str, Any] = {
    "SCALE": 2.5, "TAPS": (0.25, 0.5, 0.25), "MATRIX": np.eye(3), "HUGE": 10**30, "HUGER": 10**6000,
    "TEXT": "text", "NOTHING": None, "THING": object(), "math": math, "np": np, "Kind": Kind,
    "Callable": Callable, "Any": Any,
}  # fmt: skip
ARRAY = wb.array(np.zeros(1)).type
CHECKED = Options(checks=True)


def emit(function: Function) -> None:
    """The function as text for both compilers, with and without checks."""
    verify(function)
    canonical(function)
    for options in (Options(), CHECKED):
        CudaBackend().emit(function, options, "sm_90")
        CpuBackend().emit(function, options, "x86-64-v3")


def outcome(text: str) -> list[Function] | WorkbenchError:
    """The kernels of a cell, every stage of them emitted; or the error it ends in.

    Raises:
        Exception: what must not happen.
    """
    found = []
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        patch.setattr(build, "load", lambda *args, **options: None)
        try:
            cell = wb.build_cell(text, NAMESPACE)
            for kernel in cell.kernels.values():
                types = [t or ARRAY for t in kernel.annotations.values()]
                found.append(kernel.specialise(types).function)
        except WorkbenchError as error:
            assert error.render() and str(error)
            return error
    for function in found:
        emit(demote_atomics(function))
        try:
            backward = adjoint(function)
        except NotDifferentiable as error:
            assert error.location is not None
        else:
            emit(backward)
    return found


NAMES = tuple(CORPUS)
FEW, MANY, CHUNKS = 200, 3_000, 10
# What edits once ended in: a body, and what its error says; None where it is a kernel.
FOUND = [
    ("y[i] = 9 ** 9 ** 9 ** 9", "more than 1023 bits"),
    ("y[i] = 1 << 10 ** 9", "more than 1023 bits"),
    ("y[i] = x[i] * 10 ** 400", "more than 1023 bits"),
    (f"y[i] = float({'9' * 400})", "more than 1023 bits"),
    ("y[i] = x[HUGER]", "too large for 64 bits"),
    ("y[i] = static(HUGER)", "more than 1023 bits"),
    (f"y[i] = {'-' * 30_000}1.0", "nested too deeply"),
    (f"a = {'not ' * 2000}i", None),
    (f"y[i] = {'(' * 250}1.0{')' * 250}", "not Python"),
    ("y[i] = float(uint8(-2.5))", "-2 does not fit uint8"),
    ("y[i] = float(int8(300.5))", "300 does not fit int8"),
    ("for q in range(10**30):\n        y[i] = x[i]", "does not fit int32"),
    ("f[i] += True", "f has bool elements, which have no sum"),
    ("atomic_add(f, i, True)", "f has bool elements, which have no sum"),
    ("y[i] = x[i] + 1e308", "does not fit float32"),
    ("v = vec3(x[i], 1.0, 2.0) * 1e308\n    y[i] = v.x", "does not fit float32"),
    ("y[i] = x[i] % math.inf // -math.inf", None),
]


def mutants(seeds: range) -> list[str]:
    drawn = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        for seed in seeds:
            rng = random.Random(seed)
            drawn.append(mutant(CORPUS[rng.choice(NAMES)], rng))
    return drawn


def check_edits(seeds: range) -> None:
    kernels = 0
    for seed, text in zip(seeds, mutants(seeds), strict=True):
        try:
            kernels += isinstance(outcome(text), list)
        except Exception as error:
            raise AssertionError(f"mutant {seed} ends in {error!r}:\n{text}") from error
    assert len(seeds) / 8 < kernels < len(seeds) / 1.5  # else the edits are too wild or too tame to find anything


@pytest.mark.slow
def test_kernels_before_any_edit():
    for name, text in CORPUS.items():
        assert isinstance(outcome(text), list), name
        assert "".join(gap + word for gap, word, _ in pieces(text)) == text


@pytest.mark.parametrize(("body", "sentence"), FOUND)
def test_what_edits_once_found(body, sentence):
    text = f"def k(x: array[float], y: array[float], f: array[bool]):\n    i = tid()\n    {body}\n"
    result = outcome(text)
    assert isinstance(result, list) if sentence is None else sentence in str(result)


@pytest.mark.parametrize("annotation", ["k", "array[k]", "'int('", "'k'", "array[array[k]]", "np"])
def test_annotations_that_are_no_types(annotation):
    result = outcome(f"def k(x: {annotation}, y: array[float]):\n    y[0] = 1.0\n")
    assert isinstance(result, KernelTypeError) and "annotation of x" in str(result)


def test_few_edits():
    check_edits(range(FEW))


@pytest.mark.slow
@pytest.mark.share(CHUNKS // 2)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_many_edits(chunk):
    size = MANY // CHUNKS
    check_edits(range(FEW + chunk * size, FEW + (chunk + 1) * size))


EXACT = frozenset(
    "tid launch_dim const cast shape load store atomic_add atomic if for while yield assert wrap_index add sub mul neg "
    "floordiv mod eq ne lt le gt ge and_ or_ not_ bit_and bit_or bit_xor invert lshift rshift min max abs where "
    "clamp".split()
)
STEPS = 5_000  # of one thread in the interpreter
SIZE = 3


def is_exact(function: Function) -> bool:
    """Whether it computes with whole numbers alone: then all backends agree in all bits."""
    ops = list(walk(function.body))
    types = [p.type for p in function.params] + [v.type for op in ops for v in op.results]
    return {op.name for op in ops} <= EXACT and all(element(t).kind is not ScalarKind.FLOAT for t in types)


def arguments(function: Function, turn: int) -> list[Any]:
    """Small numbers; arrays of 3 along each dimension."""
    rng, given = np.random.default_rng(turn), []
    for type in (p.type for p in function.params):
        numbers = rng.integers(0, 9, (SIZE,) * type.ndim if isinstance(type, ArrayType) else ())
        given.append(numbers.astype(element(type).numpy) if isinstance(type, ArrayType) else int(numbers))
    return given


def runs_away(function: Function, turn: int) -> bool:
    """Whether a thread takes many steps, or may do so once a fault has been passed over."""
    zero = (0,) * max(1, function.launch_ndim)
    try:
        taken = step(function, tuple(1 for _ in zero), arguments(function, turn), zero)
        return sum(1 for _ in islice(taken, STEPS)) == STEPS
    except KernelFault:
        return any(op.name in ("while", "for") for op in walk(function.body))


def outputs(run_it: Callable[[list[Any]], Any], given: list[Any]) -> tuple[str, list[Any]]:
    """What the arrays hold after one thread, and the fault it ended in."""
    fault = ""
    try:
        run_it(given)
    except KernelFault as error:
        fault = error.message
    return fault, [np.asarray(g.numpy() if isinstance(g, wb.array) else g).tolist() for g in given]


@pytest.mark.slow
def test_edited_kernels_of_whole_numbers_run_alike():
    """One thread, so that no two can race, on several draws of its arguments, with checks on both sides."""
    compared = faults = 0
    for text in mutants(range(10_000_000, 10_004_000)):
        found = outcome(text) if "float" not in text else []
        if not isinstance(found, list) or len(found) != 1 or not is_exact(found[0]):
            continue
        function, one = found[0], (1,) * max(1, found[0].launch_ndim)
        (kernel,) = wb.build_cell(text, NAMESPACE, backend="cpu").kernels.values()
        if kernel.specialise().tiling is not None:
            continue  # it asks for block_dim(), so it runs in whole blocks only
        for turn in range(4):
            if runs_away(function, turn):
                continue
            there = [wb.array(a) if isinstance(a, np.ndarray) else a for a in arguments(function, turn)]
            got = outputs(lambda a, k=kernel, d=one: wb.launch(k, d, inputs=a, device="cpu", checks=True), there)
            wanted = outputs(lambda a, f=function, d=one: run(f, d, a, checks=True), arguments(function, turn))
            assert got == wanted, text
            compared, faults = compared + 1, faults + bool(got[0])
        if compared >= 300:
            break
    assert compared >= 300 and 3 <= faults < compared / 2
