"""LLVM's loader: ORC with JITLink, on Windows with RuntimeDyld (`systems`).

Each object is a library of its own, so that two kernels may share a symbol's name. LLVM keeps some kilobytes of each,
unloaded or not, until its linker goes; so a linker serves a few objects, and goes with the last of them.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from workbench.backends.cpu import systems
from workbench.backends.cpu.maths import libmvec

_SHARE = 16
"""Objects of one linker: alone each would take 0.2 ms and 100 kB more."""

_numbers = itertools.count()
_linkers: list[tuple[llvm.LLJIT, int]] = []  # the one in use, and how many objects it has yet to take


def link(image: bytes, symbols: Sequence[str], imports: Mapping[str, int]) -> tuple[dict[str, int], Any]:
    """Return the addresses of `symbols`, and LLVM's handle, which unloads the object when it is closed.

    Raises:
        RuntimeError: it is no object of this platform, has no such symbol, or needs one that the process does not have.
    """
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    for symbol, address in {**_renamed(), **imports}.items():
        builder.import_symbol(symbol, address)
    tracker = builder.link(_linker(), f"wb{next(_numbers)}")
    return {symbol: tracker[symbol] for symbol in symbols}, tracker


def _linker() -> llvm.LLJIT:
    """Return the linker for the next object; one that has all it takes lives on in its objects' trackers."""
    linker, room = _linkers.pop() if _linkers else (_new_linker(), _SHARE)
    if not room:
        # Its objects keep it alive through their trackers; this only drops our reference.
        linker.close()
        linker, room = _new_linker(), _SHARE
    _linkers.append((linker, room - 1))
    return linker


def _new_linker() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(_machine(), use_jit_link=systems.has_jit_link(sys.platform))


@lru_cache(maxsize=1)
def _renamed() -> dict[str, int]:
    """Addresses of the C library's functions that have other names here."""
    names = systems.renamed(sys.platform)
    renamed = {usual: llvm.address_of_symbol(theirs) for usual, theirs in names.items()}
    return {usual: address for usual, address in renamed.items() if address}


@lru_cache(maxsize=1)
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in (systems.maths_library(sys.platform), libmvec.LIBRARY if libmvec.library() else None):
        if name:
            llvm.load_library_permanently(name)
    model = systems.code_model(sys.platform)
    return llvm.Target.from_default_triple().create_target_machine(opt=0, reloc="pic", codemodel=model)
