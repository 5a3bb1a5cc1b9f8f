"""Object bytes to callable addresses, in this process, for as long as somebody holds them.

Objects are loaded by `loader.elf` where it knows them: LLVM need not be imported for what the cache has. All others,
and all on other systems, go to LLVM's own loader (`loader.linker`).

Who keeps an address keeps the `CpuCode` that it came from; that is the whole rule. Code without an owner is unloaded by
the next load. Its end is noted by a weak reference whose callback is a C function: a finalizer runs in any thread and
at any line, and one that ran Python, or waited for LLVM's lock, would let other threads in where CPython does not
expect it (inside `ast.parse`, which then fails; see design/cache.md); `__del__` would also run while weak references
still give the object out.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from workbench.backends.cpu import systems
from workbench.backends.cpu.loader import elf
from workbench.backends.cpu.loader.memory import Block, Refused, machine, page
from workbench.backends.cpu.loader.relocations import Damaged, Unsupported
from workbench.backends.cpu.maths import libmvec
from workbench.backends.cpu.symbols import symbol_address
from workbench.errors import BuildError
from workbench.forks import free_at_fork

# LLVM's loader has a lock of its own. A fork takes both in the opposite order: ours first, as threads do.
_lock = free_at_fork(threading.RLock())
_trackers: dict[weakref.ref[Any], Any] = {}
_unowned: deque[weakref.ref[Any]] = deque()


class CpuCode:
    """A loaded object: `address` is its entry's, valid as long as this lives.

    `addresses` holds those of all symbols that were requested, `needs` the code that it calls.
    """

    def __init__(self, addresses: dict[str, int], tracker: Any, needs: Sequence[CpuCode] = ()) -> None:
        """Hold loaded code; `tracker` unloads the object when it is closed."""
        self.addresses = addresses
        self.address = next(iter(addresses.values()))
        self.needs = tuple(needs)
        # `deque.append` is C code and atomic, so the callback runs no Python; see the module's docstring.
        _trackers[weakref.ref(self, _unowned.append)] = tracker


def load(image: bytes, symbol: str, imports: Mapping[str, int] | None = None) -> CpuCode:
    """Return the object `image`, with the address of `symbol`; `imports` are addresses of functions that it calls.

    Raises:
        BuildError: it is no object of this platform, has no such symbol, needs one that the process does not have, or
            the system gives no memory to run it in.
    """
    return load_symbols(image, (symbol,), imports)


def load_symbols(
    image: bytes, symbols: Sequence[str], imports: Mapping[str, int] | None = None, needs: Sequence[CpuCode] = ()
) -> CpuCode:
    """Return the object `image`, with the addresses of several symbols; `.address` is the first one's.

    `needs` is the code whose addresses stand in `imports`, or in the image itself.

    Raises:
        BuildError: as `load`.
    """
    with _lock:
        unload()
        try:
            addresses, tracker = _loaded(image, tuple(symbols), imports or {})
        except (Damaged, RuntimeError) as error:
            raise BuildError(f"The compiled code of {symbols[0]} cannot be loaded.", log=str(error)) from None
        except Refused as refused:
            message = f"The compiled code of {symbols[0]} cannot be loaded: {refused}."
            raise BuildError(message, advice=refused.advice) from None
    return CpuCode(addresses, tracker, needs)


def unload() -> int:
    """Unload code that has no owner any more; returns how many objects."""
    count = 0
    with _lock:
        while _unowned:
            with suppress(RuntimeError):  # of something that LLVM could not end; it is gone all the same
                _trackers.pop(_unowned.popleft()).close()
            count += 1
    return count


def _loaded(image: bytes, symbols: tuple[str, ...], imports: Mapping[str, int]) -> tuple[dict[str, int], Any]:
    """Return the addresses of an object's symbols, and what unloads it."""
    if machine():
        with suppress(Unsupported):
            return _load_elf(image, symbols, imports)
    from workbench.backends.cpu.loader import linker

    return linker.link(image, symbols, imports)


def _load_elf(image: bytes, symbols: tuple[str, ...], imports: Mapping[str, int]) -> tuple[dict[str, int], Block]:
    read = elf.Object(image, page())
    if read.machine != machine():
        raise Unsupported("an object for another machine")
    symbol_addresses = {number: imports.get(name) or _of_process(name) for number, name in read.needs.items()}
    block = Block(read.size)
    try:
        addresses = read.addresses(block.address, symbols)
        block.fill(read.relocated(block.address, symbol_addresses), read.code)
    except BaseException:
        block.close()
        raise
    return addresses, block


@cache
def _of_process(name: str) -> int:
    """Return the address of a function of this process or of the maths libraries.

    Raises:
        Unsupported: none has it; perhaps LLVM knows another place.
    """
    for library in _libraries():
        if address := symbol_address(library, name):
            return address
    raise Unsupported(f"no function {name}")


@lru_cache(maxsize=1)
def _libraries() -> list[ctypes.CDLL]:
    names = (None, systems.maths_library(sys.platform), libmvec.LIBRARY if libmvec.library() else None)
    return [ctypes.CDLL(name) for n, name in enumerate(names) if name or not n]
