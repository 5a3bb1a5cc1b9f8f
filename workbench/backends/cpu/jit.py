"""Object bytes to callable addresses, in this process, for as long as somebody holds them.

LLVM's ORC with JITLink: 0.2 ms an object, sections side by side (so the small code model holds), and each object is a
library of its own, so that two kernels may share a symbol's name. Windows has RuntimeDyld (`systems`).

Who keeps an address keeps the `CpuCode` that it came from; that is the whole rule. Code without an owner is unloaded by
the next load. Its end is noted by a weak reference whose callback is a C function: a finalizer runs in any thread and
at any line, and one that ran Python, or waited for LLVM's lock, would let other threads in where CPython does not
expect it (inside `ast.parse`, which then fails; see design/cache.md); `__del__` would also run while weak references
still give the object out. LLVM keeps some kilobytes of each library, unloaded or not, until its linker goes; so a
linker serves a few objects, and goes with the last of them.
"""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from workbench.backends.cpu import systems
from workbench.backends.cpu.maths import vecmath
from workbench.errors import BuildError
from workbench.forks import free_at_fork

_SHARE = 16
"""Objects of one linker: alone each would take 0.2 ms and 100 kB more."""

# llvmlite takes a lock of its own in each call. A fork takes both in the opposite order: ours first, as threads do.
free_at_fork(llvm.ffi.lib._lock._lock)
_lock = free_at_fork(threading.RLock())
_numbers = itertools.count()
_trackers: dict[weakref.ref[Any], Any] = {}
_unowned: deque[weakref.ref[Any]] = deque()
_linkers: list[tuple[llvm.LLJIT, int]] = []  # the one in use, and how many objects it has yet to take


class CpuCode:
    """A loaded object: `address` is its entry's, valid as long as this lives.

    `addresses` holds those of all symbols that were requested, `needs` the code that it calls.
    """

    def __init__(self, addresses: dict[str, int], tracker: Any, needs: Sequence[CpuCode] = ()) -> None:
        """`tracker` is LLVM's handle, which unloads the object when it is closed."""
        self.addresses = addresses
        self.address = next(iter(addresses.values()))
        self.needs = tuple(needs)
        # `deque.append` is C code and atomic, so the callback runs no Python; see the module's docstring.
        _trackers[weakref.ref(self, _unowned.append)] = tracker


def load(image: bytes, symbol: str, imports: Mapping[str, int] | None = None) -> CpuCode:
    """The object `image`, with the address of `symbol`; `imports` are addresses of functions that it calls.

    Raises:
        BuildError: it is no object of this platform, has no such symbol, or needs one that the process does not have.
    """
    return load_symbols(image, (symbol,), imports)


def load_symbols(
    image: bytes, symbols: Sequence[str], imports: Mapping[str, int] | None = None, needs: Sequence[CpuCode] = ()
) -> CpuCode:
    """The object `image`, with the addresses of several symbols; `.address` is the first one's.

    `needs` is the code whose addresses stand in `imports`, or in the image itself.

    Raises:
        BuildError: as `load`.
    """
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    for symbol, address in {**_renamed(), **(imports or {})}.items():
        builder.import_symbol(symbol, address)
    with _lock:
        unload()
        try:
            tracker = builder.link(_linker(), f"wb{next(_numbers)}")
        except RuntimeError as error:
            raise BuildError(f"The compiled code of {symbols[0]} cannot be loaded.", log=str(error)) from None
    return CpuCode({symbol: tracker[symbol] for symbol in symbols}, tracker, needs)


def unload() -> int:
    """Unload code that has no owner any more; returns how many objects."""
    count = 0
    with _lock:
        while _unowned:
            with suppress(RuntimeError):  # of something that LLVM could not end; it is gone all the same
                _trackers.pop(_unowned.popleft()).close()
            count += 1
    return count


def _linker() -> llvm.LLJIT:
    """The linker for the next object; one that has all it takes lives on in its objects' trackers."""
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
    found = {usual: llvm.address_of_symbol(theirs) for usual, theirs in names.items()}
    return {usual: address for usual, address in found.items() if address}


@lru_cache(maxsize=1)
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in (systems.maths_library(sys.platform), vecmath.LIBRARY if vecmath.library() else None):
        if name:
            llvm.load_library_permanently(name)
    model = systems.code_model(sys.platform)
    return llvm.Target.from_default_triple().create_target_machine(opt=0, reloc="pic", codemodel=model)
