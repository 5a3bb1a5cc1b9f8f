"""`python -m workbench.compat.warp program.py …`: run a program for Warp without changing it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from workbench.compat.warp.finder import install

USAGE = """usage: python -m workbench.compat.warp program.py [arguments]
       python -m workbench.compat.warp -m module [arguments]"""


def main(arguments: list[str]) -> None:
    """Run a program, or with `-m` a module, as Python does, with `import warp` meaning this package."""
    module = arguments[:1] == ["-m"]
    rest = arguments[module:]
    if not rest or rest[0].startswith("-"):
        raise SystemExit(USAGE)
    install()
    sys.argv = rest
    if module:
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    if not Path(rest[0]).exists():
        raise SystemExit(f"{rest[0]}: there is no such file\n{USAGE}")
    sys.path[0] = str(Path(rest[0]).resolve().parent)
    runpy.run_path(rest[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
