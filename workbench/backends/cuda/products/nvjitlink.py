"""LTO-IR of a kernel and of its products to one cubin (or PTX, for reading) with nvJitLink, without a GPU.

The one file that imports it. It links in the process that calls it; `products/linker.py` does so in one that can be
ended, since nvJitLink takes seconds and cannot be asked to stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from workbench.backends.base import Options
from workbench.errors import BuildError, DeviceError

WHEEL = "nvidia-nvjitlink"
KINDS = ("cubin", "ptx")


class Linked(msgspec.Struct, frozen=True):
    """A cubin or PTX, and what the linker and ptxas said."""

    image: bytes
    log: str


def version() -> str:
    """The wheel's exact version: for keys.

    Raises:
        DeviceError: nvJitLink is not installed.
    """
    from importlib import metadata  # 20 ms, which most processes need not pay

    try:
        return f"{WHEEL} {metadata.version(WHEEL)}"
    except metadata.PackageNotFoundError:
        raise _not_installed(f"there is no {WHEEL}") from None


def link_options(options: Options, target: str, kind: str) -> list[str]:
    """nvJitLink's options.

    NVRTC's options for contraction and approximate division do not reach LTO-IR, so the linker gets them again.
    Constants that nothing reads go: of a product they are 1.9 MB a kernel.
    """
    fast = ("-fma=1", "-ftz=1", "-prec-div=0", "-prec-sqrt=0") if options.fast_math else ("-fma=0",)
    shown = ("-ptx",) if kind == "ptx" else ("-Xptxas=-v",)
    return [f"-arch={target}", "-lto", "-optimize-unused-variables", "-no-cache", *fast, *shown]


def link(parts: Sequence[tuple[str, bytes]], options: Sequence[str], kind: str = "cubin") -> Linked:
    """Link LTO-IR.

    Args:
        parts: name and LTO-IR of each; the name is for messages.
        options: `link_options`.
        kind: "cubin" or "ptx", as the options say.

    Raises:
        BuildError: nvJitLink refused; `log` holds what it said.
        DeviceError: it is not installed.
    """
    api = _api()
    handle = api.create(len(options), list(options))
    try:
        try:
            for name, data in parts:
                api.add_data(handle, api.InputType.LTOIR, data, len(data), name)
            api.complete(handle)
            size, read = (getattr(api, f"get_linked_{kind}{end}") for end in ("_size", ""))
            image = _read(handle, size, read)
        except api.nvJitLinkError as problem:
            log = _text(handle, api.get_error_log_size, api.get_error_log)
            first = log.splitlines()[0] if log else str(problem)
            raise BuildError(f"nvJitLink refused to link: {first}", log=log) from None
        return Linked(image, _text(handle, api.get_info_log_size, api.get_info_log))
    finally:
        api.destroy(handle)


def _read(handle: int, size: Any, read: Any) -> bytes:
    data = bytearray(size(handle))
    if data:
        read(handle, data)
    return bytes(data)


def _text(handle: int, size: Any, read: Any) -> str:
    return _read(handle, size, read).decode(errors="replace").replace("\0", "").strip()


def _api() -> Any:
    try:
        from cuda.bindings import nvjitlink  # type: ignore[attr-defined]  (an extension without stubs)

        nvjitlink.version()
    except (ImportError, OSError, RuntimeError) as problem:
        raise _not_installed(str(problem).splitlines()[0] if str(problem) else type(problem).__name__) from problem
    return nvjitlink


def _not_installed(problem: str) -> DeviceError:
    advice = f"Install it: pip install cuda-bindings {WHEEL}"
    return DeviceError(f"Linking needs nvJitLink, which could not be loaded: {problem}.", advice=advice)
