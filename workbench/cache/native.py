"""Our own native code (the launcher, the FFI handler): LLVM text that is compiled once on a machine and then kept."""

from __future__ import annotations

from workbench.backends.cpu.compile import CpuBackend, compile_text
from workbench.cache.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store


def native_image(name: str, text: str, optimise: bool = True) -> bytes:
    """The object file of `text` for this machine: from the store, else compiled now and put there.

    Args:
        name: what lists of the cache call it.
        text: LLVM IR.
        optimise: whether LLVM's passes run over it.

    Raises:
        BuildError: LLVM refused the text.
    """
    backend = CpuBackend()
    target = backend.target()
    key = Key(
        (
            Part("code", "code", text.encode()),
            Part("option optimise", "option", b"1" if optimise else b"0"),
            Part("target", "target", target.encode(), target),
            Part("compiler", "compiler", backend.version().encode(), backend.version()),
        )
    )
    store = default_store()
    entry = store.get(key.digest)
    if entry is None:
        metadata = {"name": name, "entry": name, "backend": backend.name, "target": target, "stages": {}}
        entry = Entry(compile_text(text, target, optimise), metadata)
        store.put(key.digest, entry)
    return entry.image
