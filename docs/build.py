"""Builds the site: `python docs/build.py [FOLDER]`, by default build/site. Needs the extra `docs`, and no network.

Each page has one source: README.md, the guide in docs/guide, the notebooks as committed, design/*.md, and the
docstrings. They are staged in one folder that is laid out like the repository, so that links between them hold.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from inspect import getdoc, isclass, isfunction, ismodule
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from sphinx.cmd.build import build_main

import workbench
from kernel_ext import puzzles, show
from kernel_ext.magics.options import help_text
from workbench import inspect as views
from workbench.builtins import FORMS, TABLE

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
STAGED = (("docs/guide", "docs/guide"), ("notebooks", "notebooks"), ("design", "design"))
LEFT_OUT = shutil.ignore_patterns("*.py", ".ipynb_checkpoints", "__pycache__")
# Where one of our pages may lead: to what is staged, or out of the site.
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)")

API = {
    "Kernels, functions, types": """
        kernel func func_grad func_replay func_native ref struct constant map Kernel Func Cell build_cell vector matrix
        array1d array2d array3d array4d Float Int Scalar LANGUAGE""",
    "CUDA C++": "cuda_module CudaModule CudaKernel",
    "Arrays": """
        array zeros ones full empty zeros_like ones_like full_like empty_like clone copy from_numpy from_dlpack from_jax
        from_torch indexedarray HashGrid""",
    "Geometry": "Mesh Meshes Bvh MeshQueryRay MeshQueryPoint BvhQuery",
    "Launching": "launch launch_tiled launch_pair launch_tangent Launch LaunchPair step checks set_checks",
    "Gradients": """
        Tape grad value_and_grad jvp hvp jacobian hessian implicit gradcheck Verdict gradients_of GradientReport
        explain_grad find_nan Explanation""",
    "Records and graphs": "record Recorder load_record capture capture_if capture_while capture_stream Graph",
    "JAX": "jax_kernel jax_callable GraphMode jax_export jax_pack jax_unpack jax_preload",
    "Devices": """
        Device get_device get_devices reset_device ScopedDevice Stream ScopedStream Event ScopedTimer synchronize
        is_peer_access_supported is_peer_access_enabled set_peer_access_enabled trim""",
    "Measuring, waiting": "bench Bench compare Comparison sweep Sweep profile Profile wait Work",
    "Errors": """
        WorkbenchError KernelSyntaxError KernelTypeError CellErrors BuildError LaunchError KernelFault NotDifferentiable
        NotConverged RecordError CacheError DeviceError""",
    "Modules": "linear optim utils types cache events errors",
}  # fmt: skip
VALUES = {
    "LANGUAGE": "Names that a `%%kernel` cell sees without an import, a dictionary.",
    "ref": "An annotation of a func's parameter, `ref[T]`: what the func assigns to it, the argument gets.",
    "Float": "An annotation: any float type, decided by the argument; one kernel for each that is used.",
    "Int": "An annotation: any integer type, decided by the argument.",
    "Scalar": "An annotation: any number type, decided by the argument.",
}


FRAME = """<iframe src="{}" title="The kernels of this page, running in your browser" loading="lazy"
  style="width: 100%; height: {}px; border: 0; color-scheme: auto"></iframe>
"""


def stage(folder: Path) -> None:
    """Put every source of the site into `folder`, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for source, target in STAGED:
        shutil.copytree(ROOT / source, folder / target, ignore=LEFT_OUT)
    for name in ("README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(HERE / "conf.py", folder)
    (folder / "README.md").rename(folder / "index.md")
    for name, text in generated().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        path.write_text(keep_links_inside(path.read_text(encoding="utf-8"), path.parent), encoding="utf-8")
    (folder / "design" / "README.md").rename(folder / "design" / "index.md")
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write(contents(folder))


def embed(files: dict[str, tuple[str, int]], folder: Path) -> None:
    """Put the pages that compute, which lie in `live/` of the site, behind the first paragraph of their lessons."""
    for source, (name, height) in files.items():
        path = folder / source
        frame = FRAME.format("../" * (len(Path(source).parts) - 1) + f"live/{name}", height)
        if path.suffix == ".ipynb":
            lesson = nbformat.read(path, as_version=4)
            lesson.cells[0].source += f"\n\n{frame}"
            nbformat.write(lesson, path)
        else:
            title, first, rest = path.read_text(encoding="utf-8").split("\n\n", 2)
            path.write_text(f"{title}\n\n{first}\n\n{frame}\n{rest}", encoding="utf-8")


def keep_links_inside(text: str, folder: Path) -> str:
    """`text` with links to what the site does not have turned into their words."""

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        return found[0] if "://" in target or (folder / target).is_file() else words

    return LINK.sub(link, text)


def contents(folder: Path) -> str:
    """The site's table of contents, appended to its first page."""
    guide = [line for line in (HERE / "guide" / "ORDER").read_text().split() if line]
    lessons = sorted(str(path.relative_to(folder))[:-6] for path in folder.glob("notebooks/**/*.ipynb"))
    notes = re.findall(r"\]\((\w+)\.md\)", (folder / "design" / "index.md").read_text(encoding="utf-8"))
    parts = {
        "Guide": [f"docs/guide/{name}" for name in guide],
        "Lessons": ["notebooks/README", *lessons],
        "Reference": ["reference/api", "reference/builtins", "reference/magics"],
        "Why it is so": ["design/index", *dict.fromkeys(f"design/{name}" for name in notes), "CONTRIBUTING"],
    }
    trees = (
        "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])
        for caption, pages in parts.items()
    )
    return "".join(trees)


def generated() -> dict[str, str]:
    """Pages made from the code itself, by file name."""
    return {
        "reference/api.rst": api_page(),
        "reference/builtins.md": builtins_page(),
        "reference/magics.md": magics_page(),
    }


def api_page() -> str:
    """Every public name of the library, by what it is for.

    Raises:
        ValueError: a public name is in no group, or in two: the page would not have it.
    """
    grouped = [name for names in API.values() for name in names.split()]
    wrong = set(grouped) ^ set(workbench.__all__) | {name for name in grouped if grouped.count(name) > 1}
    if wrong:
        raise ValueError(f"docs/build.py groups these names wrongly: {sorted(wrong)}")
    page = [heading("The library", "="), "All names are those of `workbench`, imported as `wb`.", ""]
    for group, names in API.items():
        page += [heading(group, "-")]
        page += [entry(workbench, name) for name in names.split()]
    for module, title in ((views, "What a view may ask"), (show, "What a notebook shows")):
        page += [heading(f"{title}: `{module.__name__}`", "-"), *(entry(module, name) for name in own(module))]
    page += [heading("Puzzles: `kernel_ext.puzzles`", "-"), *(entry(puzzles, name) for name in puzzles.__all__)]
    return "\n".join(page)


def own(module: ModuleType) -> list[str]:
    """Names of the functions and classes that a module defines itself."""
    values = {name: value for name, value in vars(module).items() if isfunction(value) or isclass(value)}
    return [name for name, value in values.items() if value.__module__ == module.__name__ and name[0] != "_"]


def heading(text: str, line: str) -> str:
    """A heading in reStructuredText."""
    return f"\n{text}\n{line * len(text)}\n"


def entry(module: ModuleType, name: str) -> str:
    """The directive that documents one name."""
    value = getattr(module, name)
    full = f"{module.__name__}.{name}"
    if isclass(value):
        return f".. autoclass:: {full}\n   :members:\n   :undoc-members:\n   :inherited-members: BaseException\n"
    if ismodule(value):
        return f"{heading(full, '~')}\n.. automodule:: {full}\n   :members:\n   :no-index:\n"
    if not callable(value):  # the docstring of a plain value is that of its type
        return f".. py:data:: {name}\n   :module: {module.__name__}\n\n   {VALUES[name]}\n"
    return f".. autofunction:: {full}\n"


def builtins_page() -> str:
    """What a kernel may call."""
    rows = ["| name | what it gives | its gradient |", "|---|---|---|"]
    for name in sorted({n for n, b in TABLE.items() if not b.hidden} | set(FORMS)):
        found = TABLE.get(name) or FORMS[name]
        rows.append(f"| `{name}` | {first_sentence(found)} | {gradient(found)} |")
    intro = "Inside a kernel these names need no `wb.`. Rules of derivatives: [derivatives](../design/derivatives.md)."
    return "\n".join(["# Functions of the language", "", intro, "", *rows, ""])


def first_sentence(found: Any) -> str:
    """The first paragraph of a declaration's text, on one line, fit for a table."""
    text = (getattr(found, "doc", "") or getdoc(found) or "").strip().split("\n\n")[0]
    return " ".join(text.split()).replace("|", "\\|")


def gradient(found: Any) -> str:
    """Whether a builtin has a derivative, in a word or two."""
    if not hasattr(found, "differentiable"):
        return "as the operations in it"
    if found.gradient is not None:
        return "yes"
    return f"none: {found.differentiable}" if isinstance(found.differentiable, str) else "as the operations in it"


def magics_page() -> str:
    """The help of every magic that the extension brings, as the notebook shows it."""
    shell = InteractiveShell.instance()
    before = {kind: set(found) for kind, found in shell.magics_manager.magics.items()}
    shell.run_line_magic("load_ext", "kernel_ext")
    page = [
        "# Magics",
        "",
        "After `%load_ext kernel_ext`. In a notebook `%%kernel?` and `--help` show the same texts.",
        "",
    ]
    for kind, mark in (("cell", "%%"), ("line", "%")):
        found = shell.magics_manager.magics[kind]
        for name in sorted(set(found) - before[kind]):
            page += [f"## `{mark}{name}`", "", "```text", help_text(found[name], mark), "```", ""]
    return "\n".join(page)


def main() -> int:
    """Build the site; the exit status of Sphinx, which takes warnings for errors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    folder = parser.parse_args().folder
    staged = folder.parent / f"{folder.name}-sources"
    import live  # beside this file: where it is run, not where it is imported

    stage(staged)
    embed(live.write(staged / "extra" / "live"), staged)
    status = build_main(["-W", "--keep-going", "-q", "-b", "html", str(staged), str(folder)])
    print(f"{folder / 'index.html'}" if status == 0 else "The site was not built.")
    return status


if __name__ == "__main__":
    sys.exit(main())
