"""LTO-IR of a kernel and of its products to one cubin (or PTX, for reading) with nvJitLink, without a GPU.

It links in the process that calls it; `compile/lto.py` does so in one that can be ended, since nvJitLink takes
seconds and cannot be asked to stop.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_void_p
from typing import Any

import msgspec

from workbench.backends.base import Options
from workbench.backends.cuda import toolkit
from workbench.errors import BuildError

KINDS = ("cubin", "ptx")
_LTOIR = 3
"""NVJITLINK_INPUT_LTOIR."""


class Linked(msgspec.Struct, frozen=True):
    """A linked cubin or PTX, and the log of nvJitLink and ptxas."""

    image: bytes
    log: str


def version(target: str = "") -> str:
    """Return the exact version of nvJitLink's wheel for `target` (empty: the default architecture), for keys.

    Raises:
        DeviceError: nvJitLink is not installed.
    """
    return str(toolkit.matching_library(toolkit.NVJITLINK, target))


def link_options(options: Options, target: str, kind: str) -> list[str]:
    """Return nvJitLink's options for a result of `kind`, "cubin" or "ptx".

    NVRTC's options for contraction and approximate division do not reach LTO-IR, so the linker gets them again.
    Constants that nothing reads are removed: those of a product are 1.9 MB per kernel.
    """
    fast = ("-fma=1", "-ftz=1", "-prec-div=0", "-prec-sqrt=0") if options.fast_math else ("-fma=0",)
    shown = ("-ptx",) if kind == "ptx" else ("-Xptxas=-v",)
    return [f"-arch={target}", "-lto", "-optimize-unused-variables", "-no-cache", *fast, *shown]


def link(library: str, parts: Sequence[tuple[str, bytes]], options: Sequence[str], kind: str = "cubin") -> Linked:
    """Link LTO-IR into one image.

    Args:
        library: nvJitLink's path.
        parts: name and LTO-IR of each; the name is for messages.
        options: from `link_options`.
        kind: "cubin" or "ptx", as the options say.

    Raises:
        BuildError: nvJitLink refused; `log` holds what it said.
        DeviceError: it cannot be loaded.
    """
    api = toolkit.load(library, "nvJitLink")
    handle = c_void_p()
    spelled = (c_char_p * len(options))(*(option.encode() for option in options))
    if status := api.nvJitLinkCreate(byref(handle), c_uint32(len(options)), spelled):
        raise BuildError(f"nvJitLink refused its options ({' '.join(options)}): status {status}.", log="")
    try:
        status = 0
        for name, data in parts:
            status = status or api.nvJitLinkAddData(handle, _LTOIR, data, c_size_t(len(data)), name.encode())
        if status := status or api.nvJitLinkComplete(handle):
            log = _text(api, handle, "ErrorLog")
            first = log.splitlines()[0] if log else f"status {status}"
            raise BuildError(f"nvJitLink refused to link: {first}", log=log)
        image = _read(api, handle, f"Linked{kind.capitalize()}")
        return Linked(image, _text(api, handle, "InfoLog"))
    finally:
        api.nvJitLinkDestroy(byref(handle))


def _read(api: Any, handle: c_void_p, what: str) -> bytes:
    """Return an output of nvJitLink, such as "LinkedCubin"; empty if there is none."""
    size = c_size_t()
    if getattr(api, f"nvJitLinkGet{what}Size")(handle, byref(size)) or not size.value:
        return b""
    data = ctypes.create_string_buffer(size.value)
    getattr(api, f"nvJitLinkGet{what}")(handle, data)
    return data.raw


def _text(api: Any, handle: c_void_p, what: str) -> str:
    """Return an output of nvJitLink that is text, such as "ErrorLog", stripped; empty if there is none."""
    return _read(api, handle, what).decode(errors="replace").replace("\0", "").strip()
