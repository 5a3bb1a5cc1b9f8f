"""The names of the texts about a kernel, in the order in which they are made from one another."""

from __future__ import annotations

PANES = ("source", "ir", "adjoint", "tangent", "cuda", "llvm", "ptx", "sass", "asm", "key")
