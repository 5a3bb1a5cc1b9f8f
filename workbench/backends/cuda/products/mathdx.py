"""cuBLASDx through libmathdx: one matrix multiplication as LTO-IR, without a GPU or a driver.

The one file that loads libmathdx. It runs in the worker process (`workers.py`): a product takes gigabytes, and a
library that hangs or crashes must not take the session with it. Names and numbers are of its C headers, version 0.4.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

from workbench.backends.cuda import toolkit
from workbench.backends.cuda.products.spec import ROW, ProductSpec
from workbench.errors import BuildError, DeviceError

# NVRTC 13.5's own C++ headers are newer than those that libmathdx 0.4 was written against, so it takes its own.
ENVIRONMENT = {"LIBMATHDX_NVRTC_NO_BUNDLED_HEADERS": "1"}

_PRECISION = {"bfloat16": 2, "float16": 3, "tf32": 4, "float32": 5, "float64": 6}
_ARRANGEMENT = {"column": 0, ROW: 1}
_MODIFIER = {"": 0, "a": 1, "f": 2}
_COMPILATION_ERROR = 3
# cublasdxOperatorType, commondxOption
_FUNCTION, _SIZE, _TYPE, _PRECISIONS, _SM, _EXECUTION, _BLOCK_DIM, _LEADING = range(8)
_API, _ARRANGEMENTS, _ALIGNMENT, _STATIC_BLOCK_DIM = range(9, 13)
_MATRIX_MULTIPLY, _REAL, _BLOCK, _SHARED_POINTERS = 0, 0, 1, 0
_SYMBOL_NAME, _TARGET_SM = 0, 1

Handle = ctypes.c_longlong


def version(target: str = "") -> str:
    """Return the exact versions of libmathdx and NVRTC, which build a product for `target`, for its key.

    Raises:
        DeviceError: libmathdx or NVRTC is not installed.
    """
    return f"{toolkit.matching_library(toolkit.MATHDX, target)}, {toolkit.compiler(target)}"


def missing() -> str:
    """Return why no product can be built here: the error's message; empty if one can."""
    try:
        version()
    except DeviceError as error:
        return error.message
    return ""


def advice() -> str:
    """Return the sentence that says how to install libmathdx, for the CUDA major of the installed NVRTC.

    Without NVRTC it is for the default major.
    """
    try:
        return toolkit.advice(f"mathdx-cu{toolkit.compiler().major}")
    except DeviceError:
        return toolkit.advice(f"mathdx-cu{toolkit.DEFAULT}")


def generate(spec: ProductSpec) -> tuple[bytes, dict[str, Any]]:
    """Return the product's LTO-IR, whose symbol is `spec.symbol`, and metadata: `alignment`, in bytes, of its operands.

    With aligned operands some layouts are refused, so those are tried again without alignment.

    Raises:
        BuildError: cuBLASDx refused; `log` holds what it said.
        DeviceError: libmathdx is not installed.
    """
    attempts = [None] if spec.alignment == spec.element_bytes else [spec.alignment, None]
    for alignment in attempts:
        try:
            return _generate(spec, alignment)
        except _StatusError as refusal:
            if alignment is None:
                shown = f"cuBLASDx refused the {spec.shown} product for {spec.arch}: {refusal}"
                raise BuildError(shown, log=refusal.log) from None
    raise AssertionError("the last attempt returns or raises")


class _StatusError(Exception):
    """An error of a call of libmathdx, with its reason; `log` is what the compiler said."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.log = log


def _generate(spec: ProductSpec, alignment: tuple[int, int, int] | None) -> tuple[bytes, dict[str, Any]]:
    """Return a product's LTO-IR and metadata; operands are aligned to these bytes, None: to their elements.

    Raises:
        _StatusError: libmathdx cannot build it, or a call of it failed.
    """
    library = _library(spec.arch)
    number, suffix = spec.compute_capability()
    with _Handle(library, "cublasdxCreateDescriptor", "cublasdxDestroyDescriptor") as product:
        _describe(library, product, spec, alignment)
        _call(library, "cublasdxSetOptionStr", product, ctypes.c_int(_SYMBOL_NAME), spec.symbol.encode())
        with _Handle(library, "commondxCreateCode", "commondxDestroyCode") as code:
            target = (Handle * 2)(number * 10, _MODIFIER[suffix])
            count = ctypes.c_size_t(2 if suffix else 1)
            _call(library, "commondxSetCodeOptionInt64s", code, ctypes.c_int(_TARGET_SM), count, target)
            status = library.cublasdxFinalizeCode(code, product)
            if status:
                raise _refusal(library, status)
            image = _read(library, code)
        # its traits are not requested: that compiles the product once more
        return image, {"alignment": list(alignment or spec.element_bytes)}


def _describe(library: Any, product: Handle, spec: ProductSpec, alignment: tuple[int, int, int] | None) -> None:
    """Set the operators of the cuBLASDx descriptor `product`: sizes, types, layouts, threads, alignment, ….

    Raises:
        _StatusError: libmathdx refused one.
    """
    inputs = ["tf32" if spec.tf32 else t for t in (spec.a, spec.b)]
    numbers = {
        _FUNCTION: _MATRIX_MULTIPLY,
        _TYPE: _REAL,
        _SM: spec.compute_capability()[0] * 10,
        _EXECUTION: _BLOCK,
        _API: _SHARED_POINTERS,
        _STATIC_BLOCK_DIM: 1,
    }
    lists: dict[int, tuple[int, ...] | None] = {
        _SIZE: (spec.m, spec.n, spec.k),
        _PRECISIONS: tuple(_PRECISION[t] for t in (*inputs, spec.c)),
        _BLOCK_DIM: (spec.threads, 1, 1),
        _ARRANGEMENTS: tuple(_ARRANGEMENT[layout] for layout in spec.layouts),
        _LEADING: spec.rows if any(spec.leading) else None,
        _ALIGNMENT: alignment,
    }
    for operator, number in numbers.items():
        _call(library, "cublasdxSetOperatorInt64", product, ctypes.c_int(operator), Handle(number))
    for operator, values in lists.items():
        if values is not None:
            array = (Handle * len(values))(*values)
            count = ctypes.c_size_t(len(values))
            _call(library, "cublasdxSetOperatorInt64s", product, ctypes.c_int(operator), count, array)


def _read(library: Any, code: Handle) -> bytes:
    """Return the LTO-IR of code that libmathdx has finished."""
    size = ctypes.c_size_t()
    _call(library, "commondxGetCodeLTOIRSize", code, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    _call(library, "commondxGetCodeLTOIR", code, size, image)
    return image.raw


class _Handle:
    """A libmathdx object that is destroyed when its `with` ends; `create` and `destroy` name the C functions."""

    def __init__(self, library: Any, create: str, destroy: str) -> None:
        self._value = Handle()
        self._destroy = getattr(library, destroy)
        _call(library, create, ctypes.byref(self._value))

    def __enter__(self) -> Handle:
        """Return the object's handle."""
        return self._value

    def __exit__(self, *_: object) -> None:
        """Destroy the object."""
        self._destroy(self._value)


def _call(library: Any, name: str, *arguments: Any) -> None:
    """Call a function of libmathdx; raise `_StatusError` if it fails."""
    status = getattr(library, name)(*arguments)
    if status:
        raise _StatusError(f"{name}: {_status(library, status)}", _last_error(library))


def _refusal(library: Any, status: int) -> _StatusError:
    """Return the error for a product that libmathdx did not build, with the compiler's first line of an error."""
    log = _last_error(library) if status == _COMPILATION_ERROR else ""
    return _StatusError(
        next((row.strip() for row in log.splitlines() if "error" in row), _status(library, status)), log
    )


def _status(library: Any, status: int) -> str:
    """Return what libmathdx calls a status."""
    text = library.commondxStatusToStr
    text.restype = ctypes.c_char_p
    return (text(ctypes.c_int(status)) or b"").decode(errors="replace") or f"status {status}"


def _last_error(library: Any) -> str:
    """Return libmathdx's text about its last error; empty if there is none."""
    size, status = ctypes.c_size_t(), ctypes.c_int()
    if library.commondxGetLastErrorStrSize(ctypes.byref(size)):
        return ""
    text = ctypes.create_string_buffer(size.value)
    library.commondxGetLastErrorStr(ctypes.byref(status), size, text)
    return text.value.decode(errors="replace")


@cache
def _library(arch: str) -> Any:
    """Load NVRTC, which libmathdx then uses, and libmathdx for an architecture; return the latter.

    Raises:
        DeviceError: one of them is not installed or cannot be loaded.
    """
    os.environ.update(ENVIRONMENT)
    nvrtc, own = toolkit.compiler(arch), toolkit.matching_library(toolkit.MATHDX, arch)
    try:
        ctypes.CDLL(nvrtc.path, mode=getattr(os, "RTLD_GLOBAL", 0) | ctypes.DEFAULT_MODE)
        return ctypes.CDLL(own.path)
    except OSError as problem:
        raise DeviceError(f"libmathdx could not be loaded: {problem}.", advice=advice()) from None
