"""LLVM IR text to an object file, through llvmlite: the CPU backend.

An object, not a live function, is what comes out, so that a cache can keep it; `jit.py` loads it. All work with LLVM
happens under one lock: a build may run in any thread.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import llvmlite
import llvmlite.binding as llvm

from workbench.backends.base import Artifact, Backend, Options
from workbench.backends.cpu import vecmath
from workbench.backends.cpu.spell import entry_name, spell
from workbench.config import settings
from workbench.errors import BuildError, DeviceError
from workbench.ir.build import Builder
from workbench.ir.values import Function, Value, walk
from workbench.types import ArrayType, float32, int32

LEVEL = 3
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
                _optimise(module, target, interleave=_has_chains(function))
            with _timed(stages, "emit"):
                image = _machine(target).emit_object(module)
        metadata = {"entry": entry_name(function), "stages": stages, "backend": self.name, "target": target}
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


def compile_text(text: str, target: str) -> bytes:
    """LLVM IR text of our own (the launcher), as it stands, as an object file.

    Raises:
        BuildError, DeviceError: as `CpuBackend.compile`.
    """
    with _lock:
        return _machine(target).emit_object(_parse(text, target, None))


def warm() -> None:
    """Pay LLVM's first-use costs now: called from a background thread before the first kernel is built."""
    array = Value(ArrayType(float32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(array, i, b.one("add", (b.load(array, i), b.const(1.0, float32)), float32))
    backend = CpuBackend()
    backend.compile(Function("warm", (array,), b.body(), 1), Options(), backend.target())


def _text(function: Function, options: Options, target: str) -> str:
    return spell(function, options, vector_maths=target == _native()[0] and bool(_vector_library()))


@contextmanager
def _timed(stages: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    stages[name] = time.perf_counter() - start


def _parse(text: str, target: str, function: Function | None) -> llvm.ModuleRef:
    machine = _machine(target)
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        label = function.name if function is not None else ""
        raise BuildError("LLVM refused the text made from this kernel.", function=label, log=f"{error}\n{text}") from None
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def _has_chains(function: Function) -> bool:
    """Whether sums or loops make operations wait for each other: only then does interleaving pay for its code."""
    return any(op.name in ("for", "while", "reduce_add") for op in walk(function.body))


def _optimised(function: Function, options: Options, target: str) -> llvm.ModuleRef:
    return _optimise(_parse(_text(function, options, target), target, function), target, _has_chains(function))


def _optimise(module: llvm.ModuleRef, target: str, interleave: bool) -> llvm.ModuleRef:
    tuning = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = True
    tuning.loop_interleaving = interleave
    builder = llvm.create_pass_builder(_machine(target), tuning)
    builder.getModulePassManager().run(module, builder)
    return module


@lru_cache
def _native() -> tuple[str, str, str]:
    """This machine: target, CPU name, features."""
    name = llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten()
    facts = f"{features} {_vector_library()}"
    return f"{name}+{hashlib.sha256(facts.encode()).hexdigest()[:12]}", name, features


def _vector_library() -> str:
    return vecmath.library() if llvm.get_host_cpu_features().get("avx2") else ""


@lru_cache
def _machine(target: str) -> llvm.TargetMachine:
    with _lock:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        native, name, features = _native()
        if target != native:
            if "+" in target:
                raise DeviceError(f"The CPU target {target} is another machine's; this one is {native}.")
            name, features = target, ""
        platform = llvm.Target.from_default_triple()
        return platform.create_target_machine(name, features, opt=LEVEL, reloc="pic", codemodel="small")
