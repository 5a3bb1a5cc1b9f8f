"""Options of a launch under names that other libraries have: refused with the name that is meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from workbench.errors import LaunchError

_INSTEAD = {
    "args": "inputs", "arguments": "inputs", "out": "outputs", "shape": "dim", "size": "dim", "threads": "dim",
    "block": "block_dim", "block_size": "block_dim", "num_threads": "block_dim", "max_blocks": "block_dim",
}  # fmt: skip


def unknown_option(launch: Callable[..., object], names: Iterable[str]) -> LaunchError:
    """Return the error for keywords that a kind of launch does not take.

    Args:
        launch: what was called.
        names: the keywords, of which the first is named.
    """
    name, *_ = names
    known = [p.name for p in inspect.signature(launch).parameters.values() if p.kind is not p.VAR_KEYWORD]
    close = [_INSTEAD[name]] if name in _INSTEAD else get_close_matches(name, known, 1)
    advice = f"Write {close[0]}=…" if close else f"It takes {', '.join(known)}."
    return LaunchError(f"{launch.__name__}() has no option {name}.", advice=advice, parameter=name)
