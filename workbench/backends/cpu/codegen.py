"""LLVM IR text to machine code: what a worker process does for the CPU backend, with nothing but llvmlite.

A worker imports this file alone, so it imports nothing else of the library; a session imports it for its name, so
llvmlite is imported where it is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any


def prepare() -> None:
    """Import and initialise LLVM in a worker process before its first request arrives."""
    _initialised()


def host(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Return this machine's CPU and features as LLVM sees them, with the versions of LLVM and llvmlite; no bytes.

    These are fields of `machine.Facts`. It takes the arguments of every request to a worker, and uses none of them.
    """
    import llvmlite
    import llvmlite.binding as llvm

    features, version = llvm.get_host_cpu_features().flatten(), list(llvm.llvm_version_info)
    versions = {"llvm": version, "llvmlite": llvmlite.__version__}
    description = {"cpu": llvm.get_host_cpu_name(), "features": features, **versions}
    return description, b""


def generate(request: dict[str, Any], text: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Compile LLVM IR text; return the seconds of each stage under `stages`, and the object code or text as bytes.

    Args:
        request: `cpu`, `features`, `code_model`, perhaps a `triple` of another system; `tuning`, the pipeline's options
            (None: no passes run), with `code_level`, the code generator's optimisation level, if it is not 3; `form`,
            one of "object", "assembly", "ir".
        text: LLVM IR without a target.
        tell: is called with the name of each stage as it begins.

    Raises:
        RuntimeError: LLVM refused the text.
    """
    import llvmlite.binding as llvm

    stages: dict[str, float] = {}
    clock = time.perf_counter()

    def begin(stage: str) -> None:
        """Report that a stage begins, and start the clock."""
        nonlocal clock
        tell(stage)
        clock = time.perf_counter()

    def end(stage: str) -> None:
        """Record the seconds of a stage since `begin`."""
        stages[stage] = time.perf_counter() - clock

    begin("parse")
    tuning = request["tuning"] and dict(request["tuning"])
    level = tuning.pop("code_level", 3) if tuning else 3
    machine = _machine(request.get("triple", ""), request["cpu"], request["features"], request["code_model"], level)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    # A context of its own: types and metadata of earlier modules would stay in a shared one.
    module = llvm.parse_assembly(head + text.decode(), llvm.create_context())
    # With IR that is not well-formed the passes crash; verified, it is an error that gives the reason.
    module.verify()
    never_unwinds(module)
    end("parse")
    if tuning is not None:
        begin("optimise")
        _optimise(module, machine, tuning)
        end("optimise")
    begin("emit")
    object_code = _FORMS[request["form"]](machine, module)
    end("emit")
    return {"stages": stages}, object_code


def never_unwinds(module: Any) -> None:
    """Mark all functions that an LLVM module defines as never unwinding.

    LLVM then writes no unwind tables for them, on which RuntimeDyld aborts on Windows.
    """
    for function in module.functions:
        if not function.is_declaration:
            function.add_function_attribute("nounwind")


_FORMS: dict[str, Callable[[Any, Any], bytes]] = {
    "object": lambda machine, module: machine.emit_object(module),
    "assembly": lambda machine, module: machine.emit_assembly(module).encode(),
    "ir": lambda machine, module: str(module).encode(),
}


def _optimise(module: Any, machine: Any, tuning: dict[str, Any]) -> None:
    """Run LLVM's passes on a module, in place, with these tuning options."""
    import llvmlite.binding as llvm

    options = llvm.create_pipeline_tuning_options(speed_level=tuning["speed_level"])
    for name, value in tuning.items():
        setattr(options, name, value)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


@lru_cache
def _initialised() -> None:
    """Initialise LLVM for this machine and set its options for the process, once."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # Four options that hold for the process, and change how LLVM vectorises and allocates, never a result. Loops
    # vectorise around a float sum that stays in order; off by default on x86, and only this switches it on.
    llvm.set_option("workbench", "-force-ordered-reductions")
    # An array of mat33 is loaded and stored whole and shuffled, as vectors of up to 8 are, not gathered and scattered.
    llvm.set_option("workbench", "-max-interleave-group-factor=9")
    # Before an outer loop that counts down, checks for overlap that are made once for all its turns always fail.
    llvm.set_option("workbench", "-hoist-runtime-checks=false")
    # In functions of many loops the register allocator splits values around each: up to half of the time, for twice the
    # code. Smaller functions never come to this limit (of 10,000).
    llvm.set_option("workbench", "-grow-region-complexity-budget=300")


@lru_cache
def _all_initialised() -> None:
    """Initialise LLVM for all its targets, once."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@lru_cache
def _machine(triple: str, cpu: str, features: str, model: str, level: int = 3) -> Any:
    """Return LLVM's target machine, cached; an empty `triple` is that of this machine.

    Args:
        triple: of the target.
        cpu: its name.
        features: of the processor.
        model: the code model.
        level: of optimisation in instruction selection and register allocation, 0 to 3.
    """
    import llvmlite.binding as llvm

    _initialised()
    if triple:
        _all_initialised()
    target = llvm.Target.from_triple(triple) if triple else llvm.Target.from_default_triple()
    # O3 for all but the longest: what it costs is in the passes before it.
    # WebAssembly has no position-independent code but for shared libraries.
    reloc = "static" if triple.startswith("wasm") else "pic"
    return target.create_target_machine(cpu, features, opt=level, reloc=reloc, codemodel=model)
