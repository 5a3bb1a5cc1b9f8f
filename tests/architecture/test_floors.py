"""The floors of the library: who may import whom, and where third parties may be imported.

Kept by a test, because a rule about imports that nothing checks is gone in a month.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests.support.checks.modules import ROOT, Import, files, imports, imports_of

FLOORS = {
    "types": 0,
    "tiles": 0,
    "structs": 0,
    "source": 0,
    "function_text": 0,
    "errors": 0,
    "config": 0,
    "events": 0,
    "forks": 0,
    "work": 0,
    "weak": 0,
    "deep": 0,
    "ranges": 0,
    "host": 0,
    "limits": 0,
    "ir": 1,
    "builtins": 2,
    "frontend": 3,
    "autodiff": 3,
    "passes": 3,
    "backends": 4,
    "cache": 5,
    "runtime": 6,
    "api": 7,
    "interop": 8,
    "optim": 8,
    "linear": 8,
    "utils": 8,
    "__init__": 9,
    "doctor": 9,
    "compat": 10,
    "inspect": 9,
}
# Floor 3 has one agreed exception to "never sideways": whoever makes IR ends by making it smaller.
# A long solve shows its progress as an optimisation does.
SIDEWAYS = {("autodiff", "passes"), ("frontend", "passes"), ("linear", "optim")}
OPTIONAL = ("jax", "jaxlib", "ml_dtypes", "torch", "cuda", "IPython", "scipy")
NAMESPACES = ("cuda", "cuda.bindings")  # what is imported from these is a library module of its own
# Neither an import of the library nor a first call of a kernel that is in the cache needs these: reading them at once
# would be half of `import workbench`, and of a first JAX call.
ON_FIRST_USE = (
    "workbench.api.builds.linking",
    "workbench.api.cuda_cpp.kernel",
    "workbench.api.measurement.cost_model",
    "workbench.api.tapes.differentiate",
    "workbench.autodiff.instrumented",
    "workbench.autodiff.forward_mode",
    "workbench.autodiff.gather.form",
    "workbench.autodiff.memory.effects",
    "workbench.autodiff.promote",
    "workbench.autodiff.residuals",
    "workbench.autodiff.reverse_mode",
    "workbench.backends.cpu.codegen",
    "workbench.backends.cpu.compile",
    "workbench.backends.cpu.emit.effects.look",
    "workbench.backends.cpu.emit.effects.reports",
    "workbench.backends.cpu.emit.emit_module",
    "workbench.backends.cpu.gang.emit_gang",
    "workbench.backends.cpu.gang.rows",
    "workbench.backends.cpu.gang.slots",
    "workbench.backends.cpu.jit",
    "workbench.backends.cpu.llvm_pool",
    "workbench.backends.cpu.maths",
    "workbench.backends.cpu.maths.approximations",
    "workbench.backends.cpu.emit.halves",
    "workbench.backends.cuda.compile.nvrtc",
    "workbench.backends.worker.windows",
    "workbench.interop.jax.wrappers.pickled",
    "workbench.passes.loops.panels",
    "workbench.passes.loops.row_strips",
    "workbench.runtime.emulated.api",
    "workbench.runtime.emulated.execution",
    "workbench.runtime.emulated.status_error",
)
NOTEBOOK_MAY = ("workbench", "workbench.inspect", "workbench.events", "workbench.errors", "workbench.source")


def folder(path: str) -> str:
    """The entry of FLOORS that a file under workbench/ belongs to."""
    return path.split("/")[0].removesuffix(".py")


def floor_problems(path: str, found: Iterable[Import]) -> list[str]:
    """What is wrong with the imports of one file of workbench/; `path` is relative to it."""
    own = folder(path)
    if own not in FLOORS:
        return [f"{path} has no floor: give it a folder of architecture.md"]
    problems = []
    for item in found:
        if item.module.startswith("."):
            problems.append(f"{path}:{item.line} imports relatively; write the full name")
            continue
        if item.module.split(".")[0] != "workbench":
            continue
        if item.inside_function and not item.by_string and item.module not in ON_FIRST_USE:
            problems.append(f"{path}:{item.line} imports {item.module} inside a function; put it at the top")
        for target in targets(item):
            problems += step(path, own, target)
    return problems


def targets(item: Import) -> set[str]:
    """The files or folders of workbench/, as "api/kernel", that an import reaches."""
    parts = item.module.split(".")[1:]
    if parts:
        return {"/".join(parts)}
    return {name if name in FLOORS else "__init__" for name in item.names} or {"__init__"}


def step(path: str, own: str, target: str) -> list[str]:
    """The sentence about one import that goes up or sideways."""
    other = folder(target)
    here, there = FLOORS[own], FLOORS.get(other)
    if there is None:
        return [f"{path} (floor {here}) imports {target}, which has no floor"]
    sideways = there == here and own != other and here not in (0, 9) and (own, other) not in SIDEWAYS
    if there > here or sideways:
        return [f"{path} (floor {here}) imports {target}.py (floor {there})"]
    return []


def test_each_file_imports_from_lower_floors_or_its_own_folder() -> None:
    problems = []
    for path in files("workbench"):
        problems += floor_problems(path.relative_to(ROOT / "workbench").as_posix(), imports_of(path))
    assert not problems, "\n".join(problems)


def test_optional_third_parties_are_imported_inside_functions() -> None:
    problems = []
    for path in files("workbench"):
        for item in imports_of(path):
            if item.module.split(".")[0] in OPTIONAL and not (item.inside_function or item.only_for_types):
                problems.append(f"{path.relative_to(ROOT)}:{item.line} imports {item.module} at the top of the file")
    assert not problems, "\n".join(problems)


def test_each_optional_module_has_one_importing_file() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for path in files("workbench"):
        for item in imports_of(path):
            if item.module.split(".")[0] in OPTIONAL and not item.only_for_types:
                parts = [f".{name}" for name in item.names] if item.module in NAMESPACES else [""]
                for part in parts:
                    homes[item.module + part].add(str(path.relative_to(ROOT)))
    crowded = {module: sorted(where) for module, where in homes.items() if len(where) > 1}
    assert not crowded, "\n".join(f"{module} is imported by {', '.join(where)}" for module, where in crowded.items())


def test_the_library_never_imports_the_notebook() -> None:
    for path in files("workbench"):
        for item in imports_of(path):
            top = item.module.split(".")[0]
            assert top not in ("IPython", "kernel_ext", "ipywidgets", "anywidget"), f"{path}:{item.line}: {item.module}"


def test_the_notebook_uses_public_names_only() -> None:
    problems = []
    for path in files("kernel_ext"):
        for item in imports_of(path):
            reached = {f"workbench.{name}" for name in item.names} if item.module == "workbench" else {item.module}
            for module in reached:
                hidden = module.startswith("workbench.") and module.split(".")[1] in FLOORS
                if hidden and module not in NOTEBOOK_MAY:
                    problems.append(
                        f"{path.relative_to(ROOT)}:{item.line} imports {module}; ask workbench.inspect for it"
                    )
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        (
            "runtime/native/pack.py",
            "from workbench.api.kernels.kernel import k",
            "runtime/native/pack.py (floor 6) imports api/kernels/kernel.py (floor 7)",
        ),
        ("passes/dce.py", "import workbench.frontend", "passes/dce.py (floor 3) imports frontend.py (floor 3)"),
        ("ir/build.py", "import workbench", "ir/build.py (floor 1) imports __init__.py (floor 9)"),
        ("ir/build.py", "from workbench import cache", "ir/build.py (floor 1) imports cache.py (floor 5)"),
        ("odd/x.py", "", "odd/x.py has no floor: give it a folder of architecture.md"),
        ("api/tapes/tape.py", "from .kernel import k", "api/tapes/tape.py:1 imports relatively; write the full name"),
        (
            "api/tapes/tape.py",
            "def f():\n    import workbench.ir",
            "api/tapes/tape.py:2 imports workbench.ir inside a function; put it at the top",
        ),
    ],
)
def test_the_rule_says_what_is_wrong(path: str, text: str, sentence: str) -> None:
    assert floor_problems(path, imports(ast.parse(text))) == [sentence]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("runtime/native/pack.py", "from workbench.ir import values"),
        ("runtime/native/pack.py", "from workbench.runtime.arrays.array import Array"),
        ("autodiff/reverse_mode.py", "from workbench.passes.dce import prune"),
        ("__init__.py", "from workbench.api.kernels.kernel import kernel"),
    ],
)
def test_the_rule_lets_good_imports_pass(path: str, text: str) -> None:
    assert floor_problems(path, imports(ast.parse(text))) == []
