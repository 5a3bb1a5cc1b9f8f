"""The rooms of the library: sub-packages whose imports run one way, and no circle of files, however it closes.

Imports under `if TYPE_CHECKING` and by string count: a reader has to follow them too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tests.support.checks.modules import PACKAGES, ROOT, files, imports_of, tree

MOST_FILES = 15
Arrows = Mapping[str, set[str]]


@cache
def arrows() -> dict[str, set[str]]:
    """Each file of the library, as "workbench/api/kernels/kernel.py", and the files it imports."""
    paths = {path.relative_to(ROOT).as_posix(): path for package in PACKAGES for path in files(package)}
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in paths}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        reached = {
            modules.get(f"{item.module}.{part}", modules[item.module])
            for item in imports_of(path)
            if item.module in modules
            for part in item.names or ("",)
        }
        found[name] = reached - {name}
    return found


def between_rooms(package: str, all_arrows: Arrows) -> dict[str, set[str]]:
    """Arrows between the rooms of a package: its folders, and its files, each of which is a room of its own."""
    rooms: dict[str, set[str]] = {}
    for source, targets in all_arrows.items():
        if source.startswith(package + "/"):
            here = room(package, source)
            inside = {room(package, target) for target in targets if target.startswith(package + "/")}
            rooms.setdefault(here, set()).update(inside - {here})
    return rooms


def room(package: str, name: str) -> str:
    """The room of a package that a file is in."""
    return f"{package}/{name.removeprefix(package + '/').split('/')[0]}"


def circle(graph: Arrows) -> list[str]:
    """Some circle, its first element repeated at the end; empty if there is none."""
    done: set[str] = set()

    def walk(node: str, way: list[str]) -> list[str]:
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return []
        for target in sorted(graph.get(node, ())):
            if found := walk(target, [*way, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := walk(node, []))), [])


def folders() -> Iterable[Path]:
    """Every package of the library."""
    return sorted({path.parent for package in PACKAGES for path in files(package)})


def test_cuda_cpp_kernels_are_asked_not_known() -> None:
    """What launches and checks kernels asks the kernel: a CUDA C++ one prepares itself."""
    home = "workbench/api/cuda_cpp/"
    known = [name for name, targets in arrows().items() if any(t.startswith(home) for t in targets)]
    inside = [name for name in known if name.startswith("workbench/api/") and not name.startswith(home)]
    assert inside == []


def test_no_circle_of_files() -> None:
    found = circle(arrows())
    assert not found, " imports ".join(found)


@pytest.mark.parametrize("package", [f.relative_to(ROOT).as_posix() for f in folders()])
def test_rooms_import_one_way(package: str) -> None:
    found = circle(between_rooms(package, arrows()))
    assert not found, " imports ".join(found)


def test_each_room_says_what_lives_there() -> None:
    silent = []
    for folder in folders():
        text = ast.get_docstring(tree(folder / "__init__.py")) if (folder / "__init__.py").exists() else None
        if not text or not text.split("\n")[0].endswith("."):
            silent.append(folder.relative_to(ROOT).as_posix())
    assert not silent, f"an __init__.py with a sentence is missing in {', '.join(silent)}"


def test_a_room_holds_what_one_can_look_over() -> None:
    crowded = {}
    for folder in folders():
        held = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(held) > MOST_FILES:
            crowded[folder.relative_to(ROOT).as_posix()] = len(held)
    assert not crowded, crowded


def test_a_circle_is_found_and_named() -> None:
    graph = {"a/x.py": {"a/y.py"}, "a/y.py": {"a/z.py"}, "a/z.py": {"a/y.py"}}
    assert circle(graph) == ["a/y.py", "a/z.py", "a/y.py"]
    assert circle({"a/x.py": {"a/y.py"}, "a/y.py": set()}) == []


def test_rooms_are_folders_and_single_files() -> None:
    graph = {"p/one/x.py": {"p/two/y.py", "q/z.py"}, "p/two/y.py": {"p/top.py"}, "p/top.py": {"p/one/x.py"}}
    assert between_rooms("p", graph) == {"p/one": {"p/two"}, "p/two": {"p/top.py"}, "p/top.py": {"p/one"}}
    assert PurePosixPath(circle(between_rooms("p", graph))[0]).name == "one"
