"""One program through NVRTC: what a worker process does for the CUDA backend.

The one file that imports NVRTC, inside functions, so that nothing of CUDA is needed until something is compiled.
`cuda.core` is not used here: without a driver it can lock up the process.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from workbench.errors import BuildError, DeviceError

WHEEL = "nvidia-cuda-nvrtc"
BINDINGS = "cuda-bindings"
FILE_NAME = "kernel.cu"


def compile_program(request: dict[str, Any], text: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """What NVRTC makes of a text: facts `status`, `log` and `names` (symbols by kernel), and the image.

    The image is empty where the status is not NVRTC_SUCCESS.

    Args:
        request: `target` ("sm_90"), `flags`, `names` of kernels whose symbols are wanted, `form` (CUBIN, PTX, LTOIR).
        text: CUDA C++.
        tell: hears each stage as it begins.

    Raises:
        BuildError: NVRTC failed for a reason that is not the text's.
        DeviceError: NVRTC is not installed, or does not know the target.
    """
    api = _api()
    _check_target(request["target"])
    tell("nvrtc")
    program = _checked(api.nvrtcCreateProgram(text, FILE_NAME.encode(), 0, [], []))
    try:
        for name in request["names"]:
            _checked((*api.nvrtcAddNameExpression(program, name.encode()), None))
        flags = [flag.encode() for flag in request["flags"]]
        (status,) = api.nvrtcCompileProgram(program, len(flags), flags)
        log = _read(api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog, program).decode(errors="replace")
        facts = {"status": status.name, "log": log.replace("\0", "").strip(), "names": {}}
        if status != api.nvrtcResult.NVRTC_SUCCESS:
            return facts, b""
        size, get = (getattr(api, f"nvrtcGet{request['form']}{end}") for end in ("Size", ""))
        image = _read(size, get, program)
        symbols = {
            name: _checked(api.nvrtcGetLoweredName(program, name.encode())).decode() for name in request["names"]
        }
        return {**facts, "names": symbols}, image
    finally:
        api.nvrtcDestroyProgram(program)


def supported(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """The fact `known`: the compute capabilities that this NVRTC compiles for.

    Raises:
        DeviceError: NVRTC is not installed.
    """
    return {"known": _known()}, b""


@cache
def _known() -> tuple[int, ...]:
    return tuple(_checked(_api().nvrtcGetSupportedArchs()))


def _check_target(target: str) -> None:
    if not re.fullmatch(r"sm_\d+[af]?", target) or int(re.sub(r"\D", "", target)) not in _known():
        listed = ", ".join(f"sm_{n}" for n in _known())
        raise DeviceError(f"NVRTC cannot compile for {target!r}.", advice=f"It knows {listed}.", target=target)


def _api() -> Any:
    try:
        from cuda.bindings import nvrtc  # type: ignore[attr-defined]  (an extension without stubs)

        nvrtc.nvrtcVersion()
    except (ImportError, OSError, RuntimeError) as problem:
        raise not_installed(str(problem).splitlines()[0] if str(problem) else type(problem).__name__) from problem
    return nvrtc


def not_installed(problem: str) -> DeviceError:
    """The error of a machine without NVRTC."""
    here = sys.platform != "darwin"
    return DeviceError(
        f"CUDA kernels need NVRTC, which could not be loaded: {problem}.",
        advice=f"Install it: pip install {BINDINGS} {WHEEL}" if here else "There is none for macOS.",
    )


def _checked(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if status != type(status).NVRTC_SUCCESS:
        raise BuildError(f"NVRTC failed: {status.name}.", log="")
    return values[-1]


def _read(size: Any, get: Any, program: Any) -> bytes:
    """What a pair of size and copy functions gives; the copy fills the bytes in place."""
    data = b" " * _checked(size(program))
    if data:
        _checked((*get(program, data), None))
    return data
