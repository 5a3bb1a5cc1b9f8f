"""`python -m workbench.compat.warp program.py …`: run a program for Warp without changing it."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.compat.warp.compare import compare, run_program
from workbench.compat.warp.finder import install, wheel

USAGE = """usage: python -m workbench.compat.warp [--compare] program.py [arguments]
       python -m workbench.compat.warp [--compare] -m module [arguments]"""


def main(arguments: list[str]) -> None:
    """Run a program with `import warp` meaning this package; with `--compare` also under Warp, and compare."""
    compares = arguments[:1] == ["--compare"]
    arguments = arguments[compares:]
    program = arguments[arguments[:1] == ["-m"] :]
    if not program or program[0].startswith("-"):
        raise SystemExit(USAGE)
    if program == arguments and not Path(program[0]).exists():
        raise SystemExit(f"{program[0]}: there is no such file\n{USAGE}")
    if compares:
        wheel()
        raise SystemExit(compare(arguments))
    install()
    run_program(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
