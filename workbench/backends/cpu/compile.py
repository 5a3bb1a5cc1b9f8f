"""LLVM IR text to an object file, through llvmlite: the CPU backend.

An object, not a live function, is what comes out, so that a cache can keep it; `jit.py` loads it. All work with LLVM
happens under one lock: a build may run in any thread.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import llvmlite
import llvmlite.binding as llvm

from workbench.backends.base import Artifact, Backend, Options
from workbench.backends.cpu import vecmath
from workbench.backends.cpu.spell import entry_name, for_one_core, spell
from workbench.backends.cpu.systems import code_model
from workbench.backends.cpu.vecmath import Maths
from workbench.backends.prints import prints
from workbench.config import settings
from workbench.errors import BuildError, DeviceError
from workbench.ir.build import Builder
from workbench.ir.values import Function, Value, walk
from workbench.types import ArrayType, Vector, float32, int32

LEVEL = 3

# LLVM 22 folds VPMOV*2M + KMOV into VMOVMSK although the mask is still needed: wrong results where a sign mask is read
# lane by lane (llvm/llvm-project#174871, #191304, #198220). Without these two features there is no VPMOV*2M.
MISCOMPILED = (
    "-avx512dq,-avx512bw" if llvm.llvm_version_info[0] >= 22 and platform.machine() in ("x86_64", "AMD64") else ""
)

FUSED = ("x86-64-v3", "x86-64-v4")  # portable levels with fused multiply-add
PORTABLE_BITS = {"x86-64-v3": 256, "x86-64-v4": 512}

_lock = threading.RLock()


class CpuBackend(Backend):
    """LLVM through llvmlite.

    A target is a CPU's name; the machine's own stands with a digest of its features and its vector maths library, which
    only code for this machine uses.
    """

    name = "cpu"

    def version(self) -> str:
        """llvmlite's and LLVM's versions."""
        number = ".".join(str(n) for n in llvm.llvm_version_info)
        return f"llvmlite {llvmlite.__version__} / LLVM {number}"

    def target(self) -> str:
        """What `settings().cpu` asks for: this machine (`sapphirerapids+1f2e…`), or a portable level as it stands."""
        asked = settings().cpu
        return _native()[0] if asked == "native" else asked

    def spell(self, function: Function, options: Options, target: str) -> str:
        """The function's LLVM IR before optimisation.

        Raises:
            BuildError: an operation has no LLVM spelling.
        """
        return _text(function, options, target)

    def compile(self, function: Function, options: Options, target: str) -> Artifact:
        """The function as an ELF, Mach-O or COFF object of this platform.

        Raises:
            BuildError: an operation has no LLVM spelling, or LLVM refused the text; `log` holds what it said.
            DeviceError: `target` is no CPU of this platform.
        """
        stages: dict[str, float] = {}
        with _timed(stages, "spell"):
            text = _text(function, options, target)
        with _lock:
            with _timed(stages, "parse"):
                module = _parse(text, target, function)
            with _timed(stages, "optimise"):
                _optimise(module, target, function)
            with _timed(stages, "emit"):
                image = _machine(target).emit_object(module)
        metadata = {"entry": entry_name(function), "stages": stages, "backend": self.name, "target": target}
        if prints(function):
            metadata["prints"] = True
        if for_one_core(function, options):
            metadata["one_core"] = True
        return Artifact(image, metadata)


def optimised_text(function: Function, options: Options, target: str) -> str:
    """The function's LLVM IR after optimisation, for readers.

    Raises:
        BuildError, DeviceError: as `CpuBackend.compile`.
    """
    with _lock:
        return str(_optimised(function, options, target))


def assembly(function: Function, options: Options, target: str) -> str:
    """The function's machine code as assembly text, for readers.

    Raises:
        BuildError, DeviceError: as `CpuBackend.compile`.
    """
    with _lock:
        return _machine(target).emit_assembly(_optimised(function, options, target))


def compile_text(text: str, target: str, optimise: bool = True) -> bytes:
    """LLVM IR text of our own (the launcher, an FFI handler) as an object file.

    Raises:
        BuildError, DeviceError: as `CpuBackend.compile`.
    """
    with _lock:
        module = _parse(text, target, None)
        if optimise:
            builder = llvm.create_pass_builder(_machine(target), llvm.create_pipeline_tuning_options(speed_level=1))
            builder.getModulePassManager().run(module, builder)
        return _machine(target).emit_object(module)


def warm() -> None:
    """Pay LLVM's first-use costs now: called from a background thread before the first kernel is built."""
    array = Value(ArrayType(float32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(array, i, b.one("add", (b.load(array, i), b.const(1.0, float32)), float32))
    backend = CpuBackend()
    backend.compile(Function("warm", (array,), b.body(), 1), Options(), backend.target())


def _text(function: Function, options: Options, target: str) -> str:
    here = target == _native()[0]
    return spell(function, options, _maths(target), here and converts_halves())


@lru_cache
def converts_halves() -> bool:
    """Whether this machine has instructions between float16 and float32."""
    return bool(llvm.get_host_cpu_features().get("f16c")) or platform.machine() in ("arm64", "aarch64")


@lru_cache
def _maths(target: str) -> Maths:
    """What a target has: formulas need fused multiply-add, the library is this machine's."""
    if target != _native()[0]:
        return Maths(formulas=target in FUSED, bits=PORTABLE_BITS.get(target, 128))
    has = llvm.get_host_cpu_features().get
    bits = 512 if has("avx512f") else 256 if has("avx2") and has("fma") else 128
    return Maths(vecmath.ARM or bool(has("fma")), bool(_vector_library()), bits)


@contextmanager
def _timed(stages: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    stages[name] = time.perf_counter() - start


def _parse(text: str, target: str, function: Function | None) -> llvm.ModuleRef:
    machine = _machine(target)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    try:
        module = llvm.parse_assembly(head + text)
        module.verify()
    except RuntimeError as error:
        label = function.name if function is not None else ""
        raise BuildError(
            "LLVM refused the text made from this kernel.", function=label, log=f"{error}\n{text}"
        ) from None
    never_unwinds(module)
    return module


def never_unwinds(module: llvm.ModuleRef) -> None:
    """Say that no function unwinds: then no tables are made for it, which RuntimeDyld aborts on on Windows."""
    for function in module.functions:
        if not function.is_declaration:
            function.add_function_attribute("nounwind")


def _optimised(function: Function, options: Options, target: str) -> llvm.ModuleRef:
    return _optimise(_parse(_text(function, options, target), target, function), target, function)


def _optimise(module: llvm.ModuleRef, target: str, function: Function) -> llvm.ModuleRef:
    """O3, without what cannot pay for its time here (a fifth of a small kernel's).

    Interleaving and unrolling help where operations wait for each other: in loops and sums. Straight-line superwords
    are for short vectors; tiles are loops that vectorise as they stand.
    """
    names = {op.name for op in walk(function.body)}
    loops = bool(names & {"for", "while"}) or function.block_dim > 0
    tuning = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    tuning.loop_vectorization = True
    tuning.loop_unrolling = loops
    tuning.loop_interleaving = loops or "reduce_add" in names
    tuning.slp_vectorization = (loops and not function.block_dim) or any(
        isinstance(v.type, Vector) for op in walk(function.body) for v in op.results
    )
    builder = llvm.create_pass_builder(_machine(target), tuning)
    builder.getModulePassManager().run(module, builder)
    return module


@lru_cache
def _native() -> tuple[str, str, str]:
    """This machine: target, CPU name, features."""
    name = llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten()
    facts = f"{features} {MISCOMPILED} {_vector_library()}"
    return f"{name}+{hashlib.sha256(facts.encode()).hexdigest()[:12]}", name, features


def _vector_library() -> str:
    return vecmath.library() if llvm.get_host_cpu_features().get("avx2") else ""


@lru_cache
def _allow_ordered_sums() -> None:
    """Let loops vectorise around a float sum that stays in order: off by default on x86, and only this switches it on.

    It holds for the process; it changes how LLVM vectorises, never a result.
    """
    llvm.set_option("workbench", "-force-ordered-reductions")


@lru_cache
def _machine(target: str) -> llvm.TargetMachine:
    with _lock:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _allow_ordered_sums()
        native, name, features = _native()
        if target != native:
            if "+" in target:
                raise DeviceError(f"The CPU target {target} is another machine's; this one is {native}.")
            name, features = target, ""
        features = ",".join(f for f in (features, MISCOMPILED) if f)
        machine = llvm.Target.from_default_triple()
        return machine.create_target_machine(name, features, opt=LEVEL, reloc="pic", codemodel=code_model(sys.platform))
