"""The notebook's side of Workbench: `%load_ext kernel_ext`.

Magics parse and delegate, plain functions do the work, frozen views are what widgets and static pages show. Importing
this package needs neither IPython nor a front end; loading it as an extension does.
"""

from __future__ import annotations

import sys
from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Add the magics and short errors to `shell` and print a greeting; what is loaded already is not added twice."""
    from kernel_ext import extension

    extension.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove from the shell all that loading the extension added."""
    from kernel_ext import extension

    extension.unload(shell)


if "marimo" in sys.modules:
    from kernel_ext import marimo_host

    marimo_host.install()
