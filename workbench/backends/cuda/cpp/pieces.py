"""Pieces of the prelude as data: the functions and types that a kernel's text may need next to it, each under a key.

Whoever writes text asks for keys; each file that needs pieces declares them (`…_PIECES`), and `prelude` puts those
that were requested in order.
"""

from __future__ import annotations

Key = tuple[str, ...]
"""A piece's name, with its type or form: `("range",)`, `("to", "int32")`, `("op", "3", "+", "vv")`."""
Pieces = dict[Key, str]
"""The C++ text of each piece, in the order in which they stand in the prelude."""
