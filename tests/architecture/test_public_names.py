"""The public face: every name documented, and the package importable where the optional libraries are missing."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import types
from pathlib import Path

import workbench

WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"cuda", "jax", "jaxlib", "IPython", "torch", "anywidget", "ipywidgets", "matplotlib"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
RUN = """
import numpy as np
import workbench as wb

source = wb.array(np.arange(8, dtype=np.float32))
assert source.numpy().sum() == 28
print(wb.__version__, sorted(wb.__all__) == sorted(set(wb.__all__)))
"""


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=900)


def public() -> dict[str, object]:
    return {name: getattr(workbench, name) for name in workbench.__all__}


def test_every_public_name_exists_and_is_documented() -> None:
    missing = [
        name
        for name, thing in public().items()
        if (inspect.isroutine(thing) or inspect.isclass(thing) or isinstance(thing, types.ModuleType))
        and not (inspect.getdoc(thing) or "").strip()
    ]
    assert not missing, f"without a docstring: {', '.join(missing)}"


def test_every_public_method_is_documented() -> None:
    missing = []
    for name, thing in public().items():
        if not inspect.isclass(thing) or not thing.__module__.startswith("workbench"):
            continue
        for method, member in vars(thing).items():
            described = inspect.isroutine(member) or isinstance(member, property | classmethod | staticmethod)
            if described and not method.startswith("_") and not (inspect.getdoc(getattr(thing, method)) or "").strip():
                missing.append(f"{name}.{method}")
    assert not missing, f"without a docstring: {', '.join(missing)}"


def test_the_library_works_without_cuda_jax_and_ipython() -> None:
    result = python(WITHOUT + RUN)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split()[1] == "True"


def imported_with_the_library() -> list[str]:
    """Return the modules that `import workbench` adds to those of a bare interpreter.

    Some wheels import a package of theirs at every start, by a `.pth` file: cuda-bindings 12 the namespace `cuda`.
    """
    statement = "import sys; bare = {*sys.modules}; import workbench"
    result = python(f"{statement}; print(*(name for name in sys.modules if name not in bare))")
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_importing_the_library_does_not_import_the_optional_ones() -> None:
    loaded = {name.split(".")[0] for name in imported_with_the_library()}
    assert not loaded & {"jax", "jaxlib", "torch", "IPython", "cuda", "matplotlib", "anywidget"}


FIRST = """
import sys
import workbench as wb

text = "def ones(x: array(dtype=float)):\\n    i = tid()\\n    x[i] = 1.0"
kernel = wb.build_cell(text, {}, backend="cpu").kernels["ones"]
x = wb.zeros(3, device="cpu")
wb.launch(kernel, 3, [x], device="cpu")
unneeded = {*wb._MODULES, "cuda.pathfinder"}
print(x.numpy().sum(), sorted(unneeded & set(sys.modules)))
"""


def test_a_first_kernel_imports_nothing_that_it_does_not_need() -> None:
    """Its time is what a user waits for first; what comes later is imported on first use."""
    done = python(FIRST)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.0 []\n", "")


LOADED = """
import sys
from IPython.core.interactiveshell import InteractiveShell

InteractiveShell.instance().run_line_magic("load_ext", "kernel_ext")
import workbench as wb

late = {*wb._MODULES, *wb.inspect._MODULES, "kernel_ext.show", "kernel_ext.launch_views", "anywidget"}
print(sorted(late & set(sys.modules)))
"""


def test_a_first_prompt_imports_nothing_that_it_does_not_need() -> None:
    """Views, profiles, tapes and generated code were two thirds of the time of `%load_ext kernel_ext`."""
    done = python(LOADED)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


def test_every_public_name_has_a_place_in_the_reference() -> None:
    tree = ast.parse((Path(__file__).parents[2] / "docs" / "build.py").read_text(encoding="utf-8"))
    tables = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "API"
    ]
    listed = [name for names in ast.literal_eval(tables[0]).values() for name in names.split()]
    assert sorted(listed) == sorted(workbench.__all__)


def test_importing_the_library_reads_nothing_that_is_used_later() -> None:
    """Two thirds of the time of `import workbench` were the CUDA half, LLVM and differentiation."""
    loaded = imported_with_the_library()
    late = (
        "jax", "cuda", "workbench.backends.ptx", "workbench.backends.cuda.emit", "workbench.runtime.records",
        "llvmlite", "workbench.backends.cpu.emit", "workbench.autodiff.reverse", "zipfile", "platformdirs",
    )  # fmt: skip
    assert "workbench.api.launches.launch" in loaded
    assert [name for name in loaded if name.startswith(late)] == []
