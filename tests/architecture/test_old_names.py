"""Public names of earlier versions, in `tests/golden/public_names.txt`, still work; those with another spelling say so.

`--update-golden` adds the names of this version to the list; no name leaves it.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.inspect import Access, tape_graph, tape_svg

ROOT = Path(__file__).parents[2]
LIST = ROOT / "tests" / "golden" / "public_names.txt"
MODULES = (
    "workbench", "workbench.config", "workbench.errors", "workbench.events", "workbench.inspect", "workbench.linear",
    "workbench.optim", "workbench.types", "workbench.utils", "kernel_ext.show",
)  # fmt: skip
READ = Access("read", "global", "x", 4, (0, 4, 8))


def parameters(value: Any) -> set[str]:
    """Return the names of a function's parameters, old ones too; none of what is no function of ours."""
    function = getattr(value, "__func__", value)
    if not inspect.isfunction(function):
        return set()
    return set(inspect.signature(function).parameters) | set(getattr(function, "renamed", ()))


def public_names() -> Iterator[str]:
    """Yield each public name of this version with its parameters, and each setting."""
    for home in MODULES:
        module = importlib.import_module(home)
        own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == home and not n.startswith("_")]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            yield f"{home}.{name} {' '.join(sorted(parameters(value)))}".strip()
            if inspect.isclass(value) and value.__module__.startswith(("workbench", "kernel_ext")):
                for member, defined in members(value).items():
                    yield f"{home}.{name}.{member} {' '.join(sorted(parameters(defined)))}".strip()
    texts = "".join(path.read_text("utf-8") for path in (ROOT / "workbench").rglob("*.py"))
    yield from sorted(set(re.findall(r"WORKBENCH_[A-Z_]+", texts)))


def members(value: type) -> dict[str, Any]:
    """Return the public attributes of a class that it or a base class of the library's defines."""
    bases = [base for base in reversed(value.__mro__) if base.__module__.startswith(("workbench", "kernel_ext"))]
    defined = {name: member for base in bases for name, member in vars(base).items()}
    return {name: member for name, member in sorted(defined.items()) if not name.startswith("_")}


def listed() -> dict[str, set[str]]:
    rows = [row.split() for row in LIST.read_text("utf-8").splitlines()]
    return {name: set(taken) for name, *taken in rows}


def test_each_name_of_an_earlier_version_works_with_its_parameters(request: pytest.FixtureRequest) -> None:
    present = {name: set(taken) for name, *taken in map(str.split, public_names())}
    known = listed()
    if request.config.getoption("--update-golden"):
        known |= {name: taken | known.get(name, set()) for name, taken in present.items()}
        LIST.write_text("".join(f"{' '.join([n, *sorted(t)])}\n" for n, t in sorted(known.items())), "utf-8")
    assert len(known) > 900
    gone = [name for name in known if name not in present]
    lost = {name: taken - present[name] for name, taken in known.items() if name in present and taken - present[name]}
    assert not gone and not lost, (gone, lost)


def test_an_old_attribute_and_an_old_parameter_say_what_to_write() -> None:
    with pytest.warns(UserWarning, match=r"Access\.said is summary now"):
        assert READ.said == READ.summary
    x = wb.ones(2, requires_grad=True)
    with wb.Tape() as tape:
        x * 2.0
    picture = tape_graph(tape, lambda value: "x")
    with pytest.warns(UserWarning, match="parameter made is picture now"):
        assert tape_svg(made=picture, title="t") == tape_svg(picture, title="t")


def test_a_setting_that_is_gone_says_so() -> None:
    command = [sys.executable, "-c", "import workbench"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "WORKBENCH_GANG": "1"})
    assert done.returncode == 0 and "WORKBENCH_GANG has no effect any more" in done.stderr
