"""LLVM IR text to machine code, through llvmlite: the CPU backend.

An image or an object, not a live function, is what comes out, so that a cache can keep it; `jit.py` loads it. LLVM runs
in worker processes (`design/isolation.md`): it may hang, crash or take all memory. Here it only says what machine this
is.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.backends.base import Artifact, Options
from workbench.backends.cpu import codegen, machine
from workbench.backends.cpu.elf import linked
from workbench.backends.cpu.llvm_pool import POOL
from workbench.backends.cpu.machine import (
    NAME,
    WASM,
    WRONG_COMPARED_HALVES,
    converts_halves,
    cpu_of,
    facts,
    miscompiled,
    native,
)
from workbench.backends.cpu.maths import vecmath
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.cpu.systems import code_model
from workbench.backends.prints import prints
from workbench.backends.worker.pool import Lost, build_error, call
from workbench.errors import BuildError, WorkbenchError
from workbench.forks import fork_safe_lock
from workbench.ir.build import Builder
from workbench.ir.ops import AXIS, LOOPS
from workbench.ir.values import Block, Function, Value, walk
from workbench.limits import (
    OPTIMISED_CHARACTERS,
    STRAIGHT_CHARACTERS,
    SUPERWORD_OPERATIONS,
    UNROLLED_LOOPS,
    UNROLLED_TILES,
    UNSWITCHED_NEST,
)
from workbench.types import ArrayType, Vector, float32, int32

if TYPE_CHECKING:
    from workbench.backends.cpu.emit.emit_module import Module

LEVEL = 3
VECTORISERS = ("loop_vectorization", "slp_vectorization")
AS_WRITTEN = {"speed_level": 1, "loop_unrolling": False, **dict.fromkeys(VECTORISERS, False)}
"""For texts that are vectors already: the loops in them stay loops."""
UNOPTIMISED = {**AS_WRITTEN, "speed_level": 0, "code_level": 0}
"""For such texts if they are long (optimising machine code takes twice the time of the rest), or if LLVM crashes."""


HALF = r"half\b(?<!\whalf)"  # `\bhalf\b`, but the text is searched for the word first: ten times as fast
"""The pattern that finds, in LLVM IR, conversions of float16 by the machine's own instructions."""

_one_text = fork_safe_lock(__name__, "_one_text", threading.RLock)
"""A lock, so that texts are written one after the other: side by side, all of them would reach LLVM late."""
WASM_TRIPLE = "wasm32-unknown-unknown"

FUSED = ("x86-64-v3", "x86-64-v4")  # portable levels with fused multiply-add
GATHERS = 512
"""Bits of the vectors of targets that use gathers: LLVM does for all of these, or it was measured on them."""
WHOLE_REGISTERS = ("znver",)
"""Prefixes of LLVM's names of CPUs for which it prefers vectors of 512 bits to two of half of them."""
SLOW_GATHERS = ("znver", "skylake", "cascadelake", "cooperlake", "cannonlake", "icelake", "tigerlake", "rocketlake")
"""Prefixes of LLVM's names of such CPUs that load elements one by one in less time. Measured on Zen 4 and Ice Lake; on
Sapphire Rapids it takes longer. Intel's older ones do so since their microcode keeps gathers from leaking data."""
NO_GATHERS = "+prefer-no-gather,+prefer-no-scatter"
PORTABLE_BITS = {"x86-64-v3": 256, "x86-64-v4": 512}


def compiled(function: Function, options: Options, target: str) -> Artifact:
    """Compile a function for a CPU; return the image or object, with the metadata for loading and launching it.

    Raises:
        BuildError: it cannot be expressed in LLVM IR, or LLVM refused the text, crashed or hung.
        DeviceError: `target` is no CPU of this platform.
    """
    from workbench.backends.cpu.emit.emit_module import entry_name

    started = time.perf_counter()
    with _one_text:
        module = emitted(function, options, target)
    spent = time.perf_counter() - started
    generated = _compile_ir(module, function, target, "object")
    metadata: dict[str, Any] = {
        "entry": entry_name(function),
        "stages": {"spell": spent, **generated.stages},
        "backend": NAME,
        "target": target,
    }
    if generated.retried:
        metadata["unvectorised"] = generated.retried
    if prints(function):
        metadata["prints"] = True
    if module.sums:
        metadata["sums"] = module.sums
    if module.one_core:
        metadata["one_core"] = True
    if module.open_order:
        metadata["order"] = "not fixed"
    if module.declines:
        metadata["declines"] = True
    return Artifact(linked(generated.image), metadata)


def optimised_text(function: Function, options: Options, target: str) -> str:
    """Return the function's LLVM IR after optimisation, for readers.

    Raises:
        BuildError: it cannot be expressed in LLVM IR, or LLVM refused the text, crashed or hung.
        DeviceError: `target` is no CPU of this platform.
    """
    return _compile_ir(emitted(function, options, target), function, target, "ir").image.decode()


def assembly(function: Function, options: Options, target: str) -> str:
    """Return the function's machine code as assembly text, for readers.

    Raises:
        BuildError: it cannot be expressed in LLVM IR, or LLVM refused the text, crashed or hung.
        DeviceError: `target` is no CPU of this platform.
    """
    return _compile_ir(emitted(function, options, target), function, target, "assembly").image.decode()


def compile_text(text: str, target: str, optimise: bool = True, vectorise: bool = True) -> bytes:
    """Compile LLVM IR text of our own (the launcher, an FFI handler) into an image, or else an object.

    Args:
        text: LLVM IR without a target.
        target: a CPU's name, as of `CpuBackend`.
        optimise: run LLVM's passes.
        vectorise: allow LLVM to vectorise and unroll loops; only with `optimise`.

    Raises:
        BuildError: LLVM refused the text, crashed or hung.
        DeviceError: `target` is no CPU of this platform.
    """
    written = UNOPTIMISED if len(text) > OPTIMISED_CHARACTERS else AS_WRITTEN
    tuning = ({"speed_level": 1} if vectorise else written) if optimise else None
    return linked(_generate(text, target, tuning, "object").image)


def warm() -> None:
    """Compile a trivial kernel for this machine, so that the first real one does not pay LLVM's costs of first use.

    A background thread calls it.
    """
    array = Value(ArrayType(float32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {AXIS: 0})
    b.store(array, i, b.one("add", (b.load(array, i), b.const(1.0, float32)), float32))
    compiled(Function("warm", (array,), b.body(), 1), Options(), machine.target())


def emitted(function: Function, options: Options, target: str) -> Module:
    """Return the function as LLVM IR before optimisation, with what the launcher must know about it.

    Raises:
        BuildError: an operation cannot be expressed in LLVM IR.
    """
    # Late: what is loaded from the cache needs none of it.
    from workbench.backends.cpu.gang.emit_gang import emit_function

    here = target == native()
    return emit_function(function, options, _maths(target), here and converts_halves())


@lru_cache
def _maths(target: str) -> Maths:
    """Return which maths functions and vectors code for a target may use.

    Our formulas need fused multiply-add, except on WebAssembly; the vector library is only used on this machine.
    """
    if target == WASM:
        return Maths(formulas=True, bits=128, fused=False)
    if target != native():
        bits = PORTABLE_BITS.get(target, 128)
        return Maths(formulas=target in FUSED, bits=bits, preferred=256, gathers=bits == GATHERS)
    has = facts().has
    bits = 512 if has("avx512f") else 256 if has("avx2") and has("fma") else 128
    preferred = 512 if facts().cpu.startswith(WHOLE_REGISTERS) else 256
    gathers = bits == GATHERS and not facts().cpu.startswith(SLOW_GATHERS)
    return Maths(vecmath.ARM or has("fma"), bool(facts().vector_library), bits, preferred=preferred, gathers=gathers)


class _Generated(msgspec.Struct, frozen=True):
    """LLVM's output: the bytes, the seconds of each stage, and why it was compiled again with less optimisation.

    Attributes:
        image: object code, or text.
        stages: seconds by stage.
        retried: how and at which stage LLVM failed the first time; empty if it did not.
    """

    image: bytes
    stages: dict[str, float] = msgspec.field(default_factory=dict)
    retried: str = ""


def _compile_ir(module: Module, function: Function, target: str, form: str) -> _Generated:
    """Compile a function's LLVM IR with the passes that suit it.

    Args:
        module: the text that was emitted for the function.
        function: the function.
        target: the CPU.
        form: of the output: "object", "assembly" or "ir".
    """
    tuning = _tuning(function)
    if module.gangs:  # only what a thread does in a loop of its own is left to vectorise
        tuning |= {"loop_vectorization": tuning["loop_interleaving"], "slp_vectorization": False}
        if len(module.text) > STRAIGHT_CHARACTERS and not any(op.blocks for op in walk(function.body)):
            tuning["speed_level"] = 0  # the code generator sees such a body whole, and finds in it what passes do
    return _generate(module.text, target, tuning, form, function.name)


def _generate(text: str, target: str, tuning: dict[str, Any] | None, form: str, function: str = "") -> _Generated:
    """Compile a text in a worker process, and a second time with less optimisation if LLVM crashed or hung.

    The second attempt is without vectorisation, the usual culprit, or without optimisation if the first did not
    vectorise loops.

    Args:
        text: the LLVM IR.
        target: the CPU, or WebAssembly.
        tuning: the optimiser's settings; None: without optimisation, and then without a second attempt.
        form: the form of the result, for the worker.
        function: the kernel's name, for errors.

    Raises:
        BuildError: the worker was lost again, or at a stage where another attempt would end the same way; or LLVM
            refused the text.
        DeviceError: `target` is no CPU of this platform.
    """
    name, features = cpu_of(target)
    request = {"cpu": name, "features": features, "code_model": code_model(sys.platform), "form": form}
    if target == WASM:
        request |= {"triple": WASM_TRIPLE, "code_model": "default"}
    else:
        request["features"] = features_for(text, features if _maths(target).gathers else f"{features},{NO_GATHERS}")
    try:
        try:
            return _Generated(*_called(request, text, tuning))
        except Lost as lost:
            vectorised = tuning is not None and tuning.get("loop_vectorization")
            # Lost elsewhere, or without optimisation: another try would end the same way.
            if tuning is None or not (vectorised or lost.stage in ("optimise", "emit")):
                raise build_error("LLVM", function, lost) from None
            first = lost
        plain = {**tuning, **dict.fromkeys(VECTORISERS, False)} if vectorised else UNOPTIMISED
        try:
            return _Generated(*_called(request, text, plain), retried=f"LLVM {first.reason} at stage {first.stage}")
        except Lost:
            what = "vectorisation" if vectorised else "optimisation"
            raise build_error("LLVM", function, first, f" Without {what} it did not succeed either.") from None
    except WorkbenchError:  # which is a RuntimeError, too
        raise
    except RuntimeError as error:
        message = "LLVM refused the text made from this kernel."
        raise BuildError(message, function=function, log=f"{error}\n{text}") from None


def _called(request: dict[str, Any], text: str, tuning: dict[str, Any] | None) -> tuple[bytes, dict[str, float]]:
    """Compile LLVM IR text in a worker process; return the requested output, and the seconds of each stage."""
    details, image = call(POOL, codegen.generate, {**request, "tuning": tuning}, text.encode())
    return image, details["stages"]


def _tuning(function: Function) -> dict[str, Any]:
    """Choose LLVM's options for a function: O3, without passes that cost more time than they save.

    Interleaving and unrolling help where operations wait for each other: in loops and sums. Straight-line superwords
    are for short vectors; tiles are loops that vectorise as they stand. For each loop that it unrolls, LLVM seems to
    analyse the whole loop over threads again, n² for n loops, so among many loops none is unrolled. Superwords take
    most of a long function's time, and gain nothing where threads go side by side. O3 differs from O2 in copying a loop
    for each value of a condition that does not change in it (`SimpleLoopUnswitch`): n² and more for n loops in one
    another.
    """
    operations = list(walk(function.body))
    count = len([op for op in operations if op.name in LOOPS or op.name.startswith("tile_")])
    loops = count > 0 or function.block_dim > 0
    unrolled = count <= (UNROLLED_TILES if function.block_dim else UNROLLED_LOOPS)
    vectors = any([isinstance(v.type, Vector) for op in operations for v in op.results])
    superwords = ((loops and not function.block_dim) or vectors) and len(operations) <= SUPERWORD_OPERATIONS
    return {
        "speed_level": LEVEL if _nested_loops(function.body) <= UNSWITCHED_NEST else 2,
        "loop_vectorization": True,
        "loop_unrolling": loops and unrolled,
        "loop_interleaving": loops,
        "slp_vectorization": superwords,
    }


def _nested_loops(body: Block) -> int:
    """Return how deeply loops are nested; 0 if there are none."""
    most, waiting = 0, [(body, 0)]
    while waiting:
        block, outside = waiting.pop()
        most = max(most, outside)
        waiting += [(b, outside + (op.name in LOOPS)) for op in block.ops for b in op.blocks]
    return most


def features_for(text: str, features: str) -> str:
    """Return a CPU's features for LLVM, with those switched off that it miscompiles in such a text.

    Args:
        text: LLVM IR.
        features: LLVM's list of features, separated by commas.
    """
    wrong = (miscompiled(), WRONG_COMPARED_HALVES if miscompiled() and "half" in text and re.search(HALF, text) else "")
    return ",".join(f for f in (features, *wrong) if f)
