"""Native code of our own (launcher, FFI handler, maths functions) and facts that a machine computes once and the cache
stores, such as the digest of our sources.

A fact's entry lies under all that decides it, or holds that, so none can be out of date.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from workbench.backends.cpu import machine
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.maths import names
from workbench.cache import key as keys
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part, generator_version
from workbench.cache.store import default_store

if TYPE_CHECKING:
    from workbench.backends.cpu.jit import CpuCode

KIND = "fact"
"""The backend of such an entry in lists of the cache."""


class Facts:
    """The default store, as a mapping of bytes that are computed once, such as a digest, by name and `known_by`.

    `known_by` is all that decides such a fact, or that identifies it.
    """

    def get(self, name: str, known_by: bytes) -> bytes:
        """Return the bytes that `put` stored under this name and `known_by`; empty if there are none."""
        entry = default_store().get(_digest(name, known_by), counted=False)
        return entry.image if entry is not None else b""

    def put(self, name: str, known_by: bytes, fact: bytes) -> None:
        """Store bytes under a name, which lists of the cache show, and under all that decides them."""
        shown: dict[str, Any] = {"name": name, "entry": "", "backend": KIND, "target": "", "stages": {}}
        default_store().put(_digest(name, known_by), Entry(fact, shown))


def _digest(name: str, known_by: bytes) -> str:
    """Return the digest of a fact's key, from its name and the bytes that decide it."""
    return Key((Part(name, "extra", known_by),)).digest


def keep_facts() -> None:
    """Have the facts about this machine and the digests of our sources stored in the cache from now on."""
    # They lie on a lower floor than the store, so it is handed to them.
    machine.REMEMBER[:] = keys.REMEMBER[:] = [Facts()]


keep_facts()


def native_image(
    name: str, text: str | Callable[[], str], optimise: bool = True, vectorise: bool = True, target: str = ""
) -> bytes:
    """Return the object file of `text`: from the store, else compiled now and stored.

    Args:
        name: its name in lists of the cache.
        text: LLVM IR; or a function that returns it, and then `name` and the code generator's version are in the key.
        optimise: whether LLVM's passes run over it.
        vectorise: whether they unroll and vectorise loops, too; not in text that is written in vectors.
        target: the CPU and its features; empty: this machine.

    Raises:
        BuildError: LLVM refused the text.
    """
    backend = CpuBackend()
    target = target or backend.target()
    key = Key(
        (
            Part("code", "code", (text if isinstance(text, str) else f"{name} {generator_version()}").encode()),
            Part("option optimise", "option", b"1" if optimise else b"0"),
            Part("option vectorise", "option", b"1" if vectorise else b"0"),
            Part("target", "target", target.encode(), target),
            Part("compiler", "compiler", backend.version().encode(), backend.version()),
        )
    )
    store = default_store()
    entry = store.get(key.digest)
    if entry is None:
        metadata: dict[str, Any] = {
            "name": name,
            "entry": name,
            "backend": backend.name,
            "target": target,
            "stages": {},
        }
        from workbench.backends.cpu.compile import compile_text

        ir_text = text if isinstance(text, str) else text()
        entry = Entry(compile_text(ir_text, target, optimise, vectorise), metadata)
        store.put(key.digest, entry)
    return entry.image


def load_kernel(image: bytes, symbol: str, *more: str) -> CpuCode:
    """Link a kernel's object file with the maths functions that it calls, and load it.

    Args:
        image: the object file.
        symbol: of the kernel.
        more: further symbols whose addresses are looked up.

    Raises:
        BuildError: it is no object of this platform, has no such symbol, or needs one that no library has.
    """
    from workbench.backends.cpu.jit import load_symbols

    needs = [_maths(name, bits) for name, bits in sorted(names.needed(image))]
    imports = {name: address for code in needs for name, address in code.addresses.items()}
    return load_symbols(image, (symbol, *more), imports, needs)


@cache
def _maths(name: str, bits: int) -> CpuCode:
    """Return the loaded code of a maths function on floats of `bits` bits; from the store, else compiled now."""
    from workbench.backends.cpu.jit import load_symbols

    def text() -> str:
        from workbench.backends.cpu.maths import vecmath

        return vecmath.module(name, bits)

    # What is one block of vectors already gains nothing from LLVM's passes, which take half of the time.
    image = native_image(f"wb_maths_{name}_{bits}", text, optimise=False)
    return load_symbols(image, names.symbols(name, bits))
