"""Compiling for the other systems that notebooks live on: LLVM's targets are all in llvmlite's wheel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from tests.support.checks.objects import undefined
from workbench.backends.base import Options
from workbench.backends.cpu import codegen, systems
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cpu.maths import vecmath
from workbench.backends.cpu.maths.names import needed
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.cpu.systems import renamed
from workbench.ir.values import Function
from workbench.ir.verify import verify

EXPORTS = Path(__file__).parents[2] / "portability/exports"


@dataclass(frozen=True)
class Platform:
    """A system and a CPU; `exports` names the list of what its libraries have, `system` is its `sys.platform`."""

    triple: str
    cpu: str
    system: str
    exports: str
    fused: bool = True

    @property
    def arm(self) -> bool:
        """Whether its registers are ARM's."""
        return self.triple.startswith(("arm64", "aarch64"))

    def object(self, text: str, level: int = 3) -> bytes:
        """A text compiled for it."""
        machine = _machine(self)
        module = llvm.parse_assembly(
            f'target datalayout = "{machine.target_data}"\ntarget triple = "{self.triple}"\n{text}'
        )
        module.verify()
        codegen.never_unwinds(module)
        if level:
            tuning = llvm.create_pipeline_tuning_options(speed_level=level)
            tuning.loop_vectorization = tuning.slp_vectorization = level > 1
            passes = llvm.create_pass_builder(machine, tuning)
            passes.getModulePassManager().run(module, passes)
        return machine.emit_object(module)

    def kernel(self, function: Function, options: Options | None = None, level: int = 3) -> bytes:
        """A kernel compiled for it."""
        maths = Maths(formulas=self.fused, bits=128 if self.arm else 256)
        with self.widths():
            return self.object(emit_llvm(verify(function), options or Options(), maths, self.fused), level)

    @contextmanager
    def widths(self) -> Iterator[None]:
        """A context in which vector functions have this CPU's widths."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(vecmath, "WIDTH", 128 if self.arm else 256)
            patch.setattr(vecmath, "ISA", "n" if self.arm else "d")
            yield

    def missing(self, image: bytes) -> set[str]:
        """What an object needs that neither the system nor our maths functions have."""
        ours = {name for name in undefined(image) if name.startswith("wbm_")}
        assert not ours or needed(image)
        there = exported(self.exports)
        return (
            undefined(image) - ours - there - {name for name, other in renamed(self.system).items() if other in there}
        )


PLATFORMS = (
    Platform("arm64-apple-darwin20.0.0", "apple-m1", "darwin", "macos-arm64"),
    Platform("x86_64-apple-darwin20.0.0", "haswell", "darwin", "macos-x86_64"),
    Platform("x86_64-apple-darwin20.0.0", "penryn", "darwin", "macos-x86_64", fused=False),
    Platform("x86_64-pc-windows-msvc", "haswell", "win32", "windows-x86_64"),
    Platform("x86_64-pc-windows-msvc", "x86-64-v2", "win32", "windows-x86_64", fused=False),
    Platform("aarch64-unknown-linux-gnu", "neoverse-n1", "linux", "linux-aarch64"),
)


@lru_cache
def _machine(platform: Platform) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(platform.triple)
    model = systems.code_model(platform.system)
    return target.create_target_machine(platform.cpu, "", opt=3, reloc="pic", codemodel=model)


@lru_cache
def exported(name: str) -> frozenset[str]:
    """The names in a list of exports."""
    rows = (EXPORTS / f"{name}.txt").read_text().splitlines()
    return frozenset(word for row in rows if not row.startswith("#") for word in row.split())
