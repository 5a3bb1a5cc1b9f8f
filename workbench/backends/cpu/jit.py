"""Code to callable addresses, in this process, for as long as somebody holds them.

What was compiled is kept as an image (`elf`) where we can link it: LLVM need not be imported for what the cache
has. Pages are filled while nothing can run them, and run when nothing can write them. All else, and all on other
systems, is an object, and goes to LLVM's own loader.

Who keeps an address keeps the `CpuCode` that it came from; that is the whole rule. Code without an owner is unloaded by
the next load. Its end is noted by a weak reference whose callback is a C function: a finalizer runs in any thread and
at any line, and one that ran Python, or waited for LLVM's lock, would let other threads in where CPython does not
expect it (inside `ast.parse`, which then fails; see design/cache.md); `__del__` would also run while weak references
still give the object out.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import platform
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

import msgspec

from workbench.backends.cpu import systems
from workbench.backends.cpu.maths import names
from workbench.backends.cpu.systems import symbol_addresses
from workbench.errors import BuildError
from workbench.forks import free_at_fork

X86_64, AARCH64 = 62, 183
"""ELF's numbers of the machines."""
PAGES = {X86_64: 4096, AARCH64: 65536}
"""Bytes of the largest page that each machine's Linux uses."""
_MAGIC = b"WBIMAGE1"
_WORD = 8
_WORDS = 1 << 64

# Linux's numbers, which are the same on both machines; `mmap` is a library that takes longer to load than a kernel.
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 0x02, 0x20
_FAILED = ctypes.c_void_p(-1).value

_SHARE = 16
"""Objects of one linker: alone each would take 0.2 ms and 100 kB more. LLVM keeps some kilobytes of each, unloaded
or not, until its linker goes; so a linker serves a few objects, and goes with the last of them."""

_numbers = itertools.count()
_linkers: list[tuple[Any, int]] = []
"""LLVM's linker in use, and how many objects it has yet to take."""

# LLVM's loader has a lock of its own. A fork takes both in the opposite order: ours first, as threads do.
_lock = free_at_fork(threading.RLock())
_trackers: dict[weakref.ref[Any], Any] = {}
_unowned: deque[weakref.ref[Any]] = deque()


class NoCodeMemory(Exception):
    """The system gives no memory for code. `advice` says what to do; LLVM's loader would end the process instead."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(why)
        self.advice = advice


class Unsupported(Exception):
    """An object holds something that our loader does not support, and that is left to LLVM's."""


class Damaged(Exception):
    """An object or image is cut off or inconsistent, lacks a symbol, or is for another machine."""


class Image(msgspec.Struct, array_like=True):
    """Code laid out for any address: only words that hold addresses are left to write.

    Attributes:
        machine: ELF's number of the architecture it is for.
        code: how many of its bytes, from the start, are never written: code, constants, addresses.
        size: bytes it takes in memory; those behind `memory` are 0.
        memory: its bytes.
        own: offsets of words that hold an offset in the image, to which its address is added.
        others: offsets of words that receive the address of a symbol from elsewhere; its name, and what is added.
        symbols: offsets of the symbols that it defines for others.
    """

    machine: int
    code: int
    size: int
    memory: bytes | bytearray
    own: list[int]
    others: list[tuple[int, str, int]]
    symbols: dict[str, int]

    def encode(self) -> bytes:
        """Return the image as bytes that `decode` reads."""
        return _MAGIC + msgspec.msgpack.encode(self)

    @classmethod
    def decode(cls, data: bytes) -> Image | None:
        """Return the image that `encode` wrote; None if the bytes are something else, such as an object file.

        Raises:
            Damaged: they begin as an image does, and cannot be decoded.
        """
        if not data.startswith(_MAGIC):
            return None
        try:  # Of no type: to make a decoder of one takes longer than to load a kernel.
            return cls(*msgspec.msgpack.decode(memoryview(data)[len(_MAGIC) :]))
        except (msgspec.MsgspecError, TypeError):
            raise Damaged("an image that is not whole") from None

    def at(self, base: int, addresses: Callable[[str], int]) -> bytearray:
        """Return the image's bytes with the addresses that hold if it lies at `base`.

        Args:
            base: the address.
            addresses: returns the address of a symbol from elsewhere by its name.

        Raises:
            Damaged: they would take more memory than it says, or an address lies outside of them.
        """
        memory = bytearray(self.memory)
        if len(memory) > self.size or self.code > self.size:
            raise Damaged("an image that is larger than it says")
        words = [(at, base + int.from_bytes(memory[at : at + _WORD], "little", signed=True)) for at in self.own]
        words += [(at, addresses(name) + addend) for at, name, addend in self.others]
        for at, address in words:
            if not 0 <= at <= len(memory) - _WORD:
                raise Damaged("an address outside of the image")
            memory[at : at + _WORD] = (address % _WORDS).to_bytes(_WORD, "little")
        return memory


class Block:
    """Memory pages of this process for code; writable until `fill`.

    Args:
        size: bytes.

    Raises:
        NoCodeMemory: the system has none left.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        address = _system().mmap(None, size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
        if address == _FAILED:
            raise _out_of_memory()
        self.address: int = address

    def fill(self, memory: bytearray, code: int) -> None:
        """Copy bytes into the pages; the first `code` bytes then become executable and read-only.

        Raises:
            NoCodeMemory: the system lets no program run what it wrote, or cannot divide the pages: a process may have
                only so many maps (`vm.max_map_count`).
        """
        ctypes.memmove(self.address, bytes(memory), len(memory))
        _flush(self.address, code)
        if _system().mprotect(self.address, code, _READ | _EXECUTE):
            if ctypes.get_errno() == errno.ENOMEM:
                raise _out_of_memory()
            rule = "this system lets no program run code that it wrote to memory"
            raise NoCodeMemory(
                rule, "Allow it for Python: SELinux calls it execmem, systemd MemoryDenyWriteExecute=no."
            )

    def close(self) -> None:
        """Return the pages to the system."""
        _system().munmap(self.address, self.size)


class CpuCode:
    """Loaded code, whose addresses are valid as long as this lives.

    Attributes:
        addresses: those of the symbols that were requested, by name.
        address: that of the first.
        needs: the loaded code that it calls, which it keeps alive.
    """

    def __init__(self, addresses: dict[str, int], tracker: Any, needs: Sequence[CpuCode] = ()) -> None:
        """Hold loaded code; `tracker` unloads it when its `close` is called."""
        self.addresses = addresses
        self.address = next(iter(addresses.values()))
        self.needs = tuple(needs)
        # `deque.append` is C code and atomic, so the callback runs no Python; see the module's docstring.
        _trackers[weakref.ref(self, _unowned.append)] = tracker


def load(image: bytes, symbol: str, imports: Mapping[str, int] | None = None) -> CpuCode:
    """Load compiled code; `address` of the result is that of `symbol`.

    Args:
        image: an encoded image or an object file.
        symbol: a name that it defines.
        imports: addresses of functions that it calls, by name; others are looked up in this process.

    Raises:
        BuildError: it is no code for this machine, has no such symbol, needs one that the process does not have, or the
            system gives no memory to run it in.
    """
    return load_symbols(image, (symbol,), imports)


def load_symbols(
    image: bytes, symbols: Sequence[str], imports: Mapping[str, int] | None = None, needs: Sequence[CpuCode] = ()
) -> CpuCode:
    """Load compiled code; `addresses` of the result are those of all `symbols`, `address` that of the first.

    Args:
        image: an encoded image or an object file.
        symbols: names that it defines.
        imports: addresses of functions that it calls, by name; others are looked up in this process.
        needs: the code whose addresses stand in `imports`, or in the image itself; it is kept alive.

    Raises:
        BuildError: it is no code for this machine, lacks one of the symbols, needs one that the process does not
            have, or the system gives no memory to run it in.
    """
    with _lock:
        unload()
        try:
            addresses, tracker = _loaded(image, tuple(symbols), imports or {})
        except (Damaged, RuntimeError) as error:
            raise BuildError(f"The compiled code of {symbols[0]} cannot be loaded.", log=str(error)) from None
        except NoCodeMemory as refused:
            message = f"The compiled code of {symbols[0]} cannot be loaded: {refused}."
            raise BuildError(message, advice=refused.advice) from None
    return CpuCode(addresses, tracker, needs)


def unload() -> int:
    """Unload all code that has no owner any more; return the number of objects."""
    count = 0
    with _lock:
        while _unowned:
            with suppress(RuntimeError):  # of something that LLVM could not end; it is gone all the same
                _trackers.pop(_unowned.popleft()).close()
            count += 1
    return count


def _loaded(image: bytes, symbols: tuple[str, ...], imports: Mapping[str, int]) -> tuple[dict[str, int], Any]:
    """Load an image or object; return the addresses of its symbols, and the object whose `close` unloads it.

    Raises:
        Damaged, RuntimeError: it cannot be loaded.
        NoCodeMemory: the system gives no memory for it.
    """
    read = Image.decode(image)
    if read is not None:
        return _load_image(read, symbols, imports)
    return _linked(image, symbols, imports)


def _load_image(image: Image, symbols: tuple[str, ...], imports: Mapping[str, int]) -> tuple[dict[str, int], Block]:
    """Load an image into memory of its own; return the addresses of `symbols`, and the memory.

    Raises:
        Damaged: the image is for another machine, or lacks one of the symbols.
    """
    missing = set(symbols) - image.symbols.keys()
    if image.machine != machine() or missing:
        raise Damaged(f"no symbol {min(missing)}" if missing else "an image for another machine")
    block = Block(image.size)
    try:
        block.fill(image.at(block.address, lambda name: imports.get(name) or _of_process(name)), image.code)
    except BaseException:
        block.close()
        raise
    return {symbol: block.address + image.symbols[symbol] for symbol in symbols}, block


@cache
def _of_process(name: str) -> int:
    """Return the address of a function of this process or of the maths libraries.

    Raises:
        Damaged: none of them has it.
    """
    for number in range(3):
        library = _library(number)
        if library is not None and (address := symbol_addresses(library, [name])[0]):
            return address
    raise Damaged(f"no function {name}")


@cache
def _library(number: int) -> ctypes.CDLL | None:
    """Return a library in which to look for functions; None if this system has none of that number.

    Args:
        number: 0: the process's own; 1: maths, if it is a library of its own; 2: vectorised maths.
    """
    if not number:
        return ctypes.CDLL(None)
    name = systems.maths_library(sys.platform) if number == 1 else names.LIBRARY if names.library() else None
    return ctypes.CDLL(name) if name else None


def _out_of_memory() -> NoCodeMemory:
    """Return the error for code that the system has no memory for, with advice."""
    return NoCodeMemory(
        "there is no memory left for it", "Let go of kernels, graphs or arrays that you no longer need."
    )


@lru_cache(maxsize=1)
def machine() -> int:
    """Return ELF's number of this machine's architecture; 0 if our loader does not support it or its system."""
    if sys.platform != "linux" or sys.byteorder != "little":
        return 0
    number = {"x86_64": X86_64, "aarch64": AARCH64}.get(platform.machine(), 0)
    return number if number != AARCH64 or _clear_cache() is not None else 0


def _flush(address: int, size: int) -> None:
    """Make the instruction cache see what was written; x86-64 needs no call for that."""
    if platform.machine() != "x86_64":
        _clear_cache()(address, address + size)


@lru_cache(maxsize=1)
def _clear_cache() -> Any:
    """Return GCC's function that clears the instruction cache; None if its library is missing."""
    try:
        function = ctypes.CDLL("libgcc_s.so.1").__clear_cache
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    return function


@lru_cache(maxsize=1)
def _system() -> Any:
    """Return the C library with the signatures of `mmap`, `mprotect` and `munmap`; `ctypes` keeps their `errno`."""
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    system.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    system.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return system


def _linked(image: bytes, symbols: Sequence[str], imports: Mapping[str, int]) -> tuple[dict[str, int], Any]:
    """Link an object by LLVM; return the addresses of its symbols, and the handle whose `close` unloads it.

    Each object is a library of its own, so that two kernels may share a symbol's name. The loader is ORC with JITLink,
    on Windows with RuntimeDyld (`systems`).

    Raises:
        RuntimeError: it is no object of this platform, has no such symbol, or needs one that the process does not have.
    """
    import llvmlite.binding as llvm

    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    for symbol, address in {**_renamed(), **imports}.items():
        builder.import_symbol(symbol, address)
    tracker = builder.link(_linker(), f"wb{next(_numbers)}")
    return {symbol: tracker[symbol] for symbol in symbols}, tracker


def _linker() -> Any:
    """Return LLVM's linker for the next object, a new one after every `_SHARE` objects.

    One that has taken its objects lives on in their trackers.
    """
    linker, room = _linkers.pop() if _linkers else (_new_linker(), _SHARE)
    if not room:
        # Its objects keep it alive through their trackers; this only drops our reference.
        linker.close()
        linker, room = _new_linker(), _SHARE
    _linkers.append((linker, room - 1))
    return linker


def _new_linker() -> Any:
    """Return a new linker of LLVM's that holds no objects yet."""
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(_machine(), use_jit_link=systems.has_jit_link(sys.platform))


@lru_cache(maxsize=1)
def _renamed() -> dict[str, int]:
    """Return the addresses of C library functions that have other names on this system, by their usual name."""
    import llvmlite.binding as llvm

    names = systems.renamed(sys.platform)
    renamed = {usual: llvm.address_of_symbol(theirs) for usual, theirs in names.items()}
    return {usual: address for usual, address in renamed.items() if address}


@lru_cache(maxsize=1)
def _machine() -> Any:
    """Return LLVM's target machine for this process, which only links; the maths libraries are loaded before."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in (systems.maths_library(sys.platform), names.LIBRARY if names.library() else None):
        if name:
            llvm.load_library_permanently(name)
    model = systems.code_model(sys.platform)
    return llvm.Target.from_default_triple().create_target_machine(opt=0, reloc="pic", codemodel=model)
