"""The compilation of one program by NVRTC, as a worker process does it for the CUDA backend.

NVRTC's C interface is called as it is: `cuda.bindings` would open whichever library the system finds first.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from typing import Any

from workbench.backends.cuda.toolkit import load
from workbench.errors import BuildError, DeviceError

FILE_NAME = b"kernel.cu"
SUCCESS = "NVRTC_SUCCESS"


def compile_program(request: dict[str, Any], text: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Compile a text by NVRTC; return `status`, `log` and `names` (symbols by kernel), and the image.

    The image is empty unless the status is NVRTC_SUCCESS.

    Args:
        request: `library` (NVRTC's path), `target` ("sm_90"), `flags`, `names` of kernels whose symbols are requested,
            `form` (CUBIN, PTX, LTOIR), `advice` for the error if NVRTC does not know the target.
        text: CUDA C++.
        tell: receives the name of each stage as it begins.

    Raises:
        BuildError: NVRTC failed for a reason other than the text.
        DeviceError: NVRTC cannot be loaded, or does not know the target.
    """
    api = _Nvrtc(request["library"])
    _check_target(request["target"], api.known, request["advice"])
    tell("nvrtc")
    program, flags = c_void_p(), [flag.encode() for flag in request["flags"]]
    api.call("nvrtcCreateProgram", byref(program), c_char_p(text), FILE_NAME, 0, None, None)
    try:
        for name in request["names"]:
            api.call("nvrtcAddNameExpression", program, name.encode())
        status = api.status(api.library.nvrtcCompileProgram(program, len(flags), (c_char_p * len(flags))(*flags)))
        log = api.read("nvrtcGetProgramLog", program).decode(errors="replace")
        answer: dict[str, Any] = {"status": status, "log": log.replace("\0", "").strip(), "names": {}}
        if status != SUCCESS:
            return answer, b""
        image = api.read(f"nvrtcGet{request['form']}", program)
        symbols = {name: api.symbol(program, name) for name in request["names"]}
        return {**answer, "names": symbols}, image
    finally:
        api.library.nvrtcDestroyProgram(byref(program))


def supported(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Return the compute capabilities that an NVRTC compiles for, as `known` in an answer, and no data.

    Args:
        request: `library`, NVRTC's path.
        data: not used.
        tell: not used.

    Raises:
        DeviceError: NVRTC cannot be loaded.
    """
    return {"known": _Nvrtc(request["library"]).known}, b""


def _check_target(target: str, known: tuple[int, ...], advice: str) -> None:
    """Raise a DeviceError if the target is malformed, or its compute capability is not among the `known` ones."""
    if not re.fullmatch(r"sm_\d+[af]?", target) or int(re.sub(r"\D", "", target)) not in known:
        listed = ", ".join(f"sm_{n}" for n in known)
        raise DeviceError(f"NVRTC cannot compile for {target!r}.", advice=f"It knows {listed}. {advice}".strip())


class _Nvrtc:
    """The NVRTC library at a path, opened, whose calls raise a BuildError unless they succeed."""

    def __init__(self, path: str) -> None:
        self.library = load(path, "NVRTC")
        self.library.nvrtcGetErrorString.restype = c_char_p

    def status(self, number: int) -> str:
        """Return the name of a result of NVRTC, such as "NVRTC_SUCCESS"."""
        return self.library.nvrtcGetErrorString(number).decode()

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of NVRTC; raise a BuildError unless it succeeds."""
        status = self.status(getattr(self.library, name)(*arguments))
        if status != SUCCESS:
            raise BuildError(f"NVRTC failed: {status}.", log="")

    def read(self, name: str, program: c_void_p) -> bytes:
        """Return an output of a program by its C function, such as "nvrtcGetCUBIN"; empty if its size is 0."""
        size = c_size_t()
        self.call(f"{name}Size", program, byref(size))
        data = ctypes.create_string_buffer(size.value)
        if size.value:
            self.call(name, program, data)
        return data.raw

    def symbol(self, program: c_void_p, name: str) -> str:
        """Return the mangled name of a name expression of a compiled program."""
        lowered = c_char_p()
        self.call("nvrtcGetLoweredName", program, name.encode(), byref(lowered))
        return (lowered.value or b"").decode()

    @property
    def known(self) -> tuple[int, ...]:
        """The compute capabilities that this NVRTC compiles for: 75, 80, 90, …"""
        count = c_int()
        self.call("nvrtcGetNumSupportedArchs", byref(count))
        numbers = (c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", numbers)
        return tuple(numbers)
