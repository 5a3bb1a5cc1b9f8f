"""Object bytes to callable addresses, in this process.

LLVM's ORC with JITLink: 0.2 ms an object, sections side by side (so the small code model holds), and each object is a
library of its own, so that two kernels may share a symbol's name. Windows has RuntimeDyld (`systems`).
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from workbench.backends.cpu import systems, vecmath
from workbench.errors import BuildError

_lock = threading.RLock()
_numbers = itertools.count()


class CpuCode:
    """A loaded object: `address` is its entry's, valid until `close`, by default for the process's life.

    `addresses` holds those of all symbols that were asked for.
    """

    def __init__(self, addresses: dict[str, int], tracker: Any) -> None:
        """`tracker` is LLVM's handle, which unloads the object when it is closed."""
        self.addresses = addresses
        self.address = next(iter(addresses.values()))
        self._tracker = tracker
        _loaded.add(self)

    def close(self) -> None:
        """Unload it. The address must not be called again; closing twice is allowed."""
        with _lock:
            if self in _loaded:
                _loaded.discard(self)
                self.address, self.addresses = 0, {}
                self._tracker.close()


_loaded: set[CpuCode] = set()


def load(image: bytes, symbol: str, imports: Mapping[str, int] | None = None) -> CpuCode:
    """The object `image`, with the address of `symbol`; `imports` are addresses of functions that it calls.

    Raises:
        BuildError: it is no object of this platform, has no such symbol, or needs one that the process does not have.
    """
    return load_symbols(image, (symbol,), imports)


def load_symbols(image: bytes, symbols: Sequence[str], imports: Mapping[str, int] | None = None) -> CpuCode:
    """The object `image`, with the addresses of several symbols; `.address` is the first one's.

    Raises:
        BuildError: as `load`.
    """
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    for symbol, address in {**_renamed(), **(imports or {})}.items():
        builder.import_symbol(symbol, address)
    with _lock:
        try:
            tracker = builder.link(_linker(), f"wb{next(_numbers)}")
        except RuntimeError as error:
            raise BuildError(f"The compiled code of {symbols[0]} cannot be loaded.", log=str(error)) from None
    return CpuCode({symbol: tracker[symbol] for symbol in symbols}, tracker)


@lru_cache(maxsize=1)
def _renamed() -> dict[str, int]:
    """Addresses of the C library's functions that have other names here."""
    names = systems.renamed(sys.platform)
    found = {usual: llvm.address_of_symbol(theirs) for usual, theirs in names.items()}
    return {usual: address for usual, address in found.items() if address}


@lru_cache(maxsize=1)
def _linker() -> llvm.LLJIT:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in (ctypes.util.find_library("m"), vecmath.LIBRARY if vecmath.library() else None):
        if name:
            llvm.load_library_permanently(name)
    model = systems.code_model(sys.platform)
    machine = llvm.Target.from_default_triple().create_target_machine(opt=0, reloc="pic", codemodel=model)
    return llvm.create_lljit_compiler(machine, use_jit_link=systems.has_jit_link(sys.platform))
