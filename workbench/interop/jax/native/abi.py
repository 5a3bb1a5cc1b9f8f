"""XLA's foreign function interface as its handlers see it: structures, element types, positions.

Kept as tables: the handler's header xla_ffi.h is generated from them, and Python writes thunks with them. A test
compares every offset with the `xla/ffi/api/c_api.h` that jaxlib ships. Source: that header, API 0.1 to 0.3, LP64.
"""

from __future__ import annotations

import numpy as np

from workbench.types import NUMBERS, Complex, Scalar

# Structure -> its fields in order: (name in the header, LLVM type). `%Name` is another structure, by value.
STRUCTS: dict[str, tuple[tuple[str, str], ...]] = {
    "Extension": (("struct_size", "i64"), ("type", "i32"), ("next", "ptr")),
    "Version": (("struct_size", "i64"), ("extension_start", "ptr"), ("major_version", "i32"), ("minor_version", "i32")),
    "Metadata": (("struct_size", "i64"), ("api_version", "%Version"), ("traits", "i32"), ("state_type_id", "i64")),
    "MetadataExtension": (("extension_base", "%Extension"), ("metadata", "ptr")),
    "Buffer": (
        ("struct_size", "i64"), ("extension_start", "ptr"), ("dtype", "i32"), ("data", "ptr"), ("rank", "i64"),
        ("dims", "ptr"),
    ),
    "Array": (("dtype", "i32"), ("size", "i64"), ("data", "ptr")),
    "Args": (("struct_size", "i64"), ("extension_start", "ptr"), ("size", "i64"), ("types", "ptr"), ("args", "ptr")),
    "Rets": (("struct_size", "i64"), ("extension_start", "ptr"), ("size", "i64"), ("types", "ptr"), ("rets", "ptr")),
    "Attrs": (
        ("struct_size", "i64"), ("extension_start", "ptr"), ("size", "i64"), ("types", "ptr"), ("names", "ptr"),
        ("attrs", "ptr"),
    ),
    "Frame": (
        ("struct_size", "i64"), ("extension_start", "ptr"), ("api", "ptr"), ("ctx", "ptr"), ("stage", "i32"),
        ("args", "%Args"), ("rets", "%Rets"), ("attrs", "%Attrs"), ("future", "ptr"),
    ),
    "Api": (
        ("struct_size", "i64"), ("extension_start", "ptr"), ("api_version", "%Version"), ("internal_api", "ptr"),
        ("XLA_FFI_Error_Create", "[18 x ptr]"),
    ),
    "ErrorCreate": (("struct_size", "i64"), ("extension_start", "ptr"), ("message", "ptr"), ("errc", "i32")),
    "ErrorDestroy": (("struct_size", "i64"), ("extension_start", "ptr"), ("error", "ptr")),
    "FutureCreate": (("struct_size", "i64"), ("extension_start", "ptr"), ("future", "ptr")),
    "FutureSetAvailable": (("struct_size", "i64"), ("extension_start", "ptr"), ("future", "ptr")),
    "FutureSetError": (("struct_size", "i64"), ("extension_start", "ptr"), ("future", "ptr"), ("error", "ptr")),
    "StreamGet": (("struct_size", "i64"), ("extension_start", "ptr"), ("ctx", "ptr"), ("stream", "ptr")),
    "DeviceOrdinalGet": (
        ("struct_size", "i64"), ("extension_start", "ptr"), ("ctx", "ptr"), ("device_ordinal", "i32"),
    ),
    "PoolSchedule": (
        ("struct_size", "i64"), ("extension_start", "ptr"), ("ctx", "ptr"), ("task", "ptr"), ("data", "ptr"),
    ),
    "PoolNumThreads": (("struct_size", "i64"), ("extension_start", "ptr"), ("ctx", "ptr"), ("num_threads", "ptr")),
}  # fmt: skip

# Each structure's name in the header.
HEADER_NAMES: dict[str, str] = {
    "Extension": "XLA_FFI_Extension_Base",
    "Version": "XLA_FFI_Api_Version",
    "Metadata": "XLA_FFI_Metadata",
    "MetadataExtension": "XLA_FFI_Metadata_Extension",
    "Buffer": "XLA_FFI_Buffer",
    "Array": "XLA_FFI_Array",
    "Args": "XLA_FFI_Args",
    "Rets": "XLA_FFI_Rets",
    "Attrs": "XLA_FFI_Attrs",
    "Frame": "XLA_FFI_CallFrame",
    "Api": "XLA_FFI_Api",
    "ErrorCreate": "XLA_FFI_Error_Create_Args",
    "ErrorDestroy": "XLA_FFI_Error_Destroy_Args",
    "FutureCreate": "XLA_FFI_Future_Create_Args",
    "FutureSetAvailable": "XLA_FFI_Future_SetAvailable_Args",
    "FutureSetError": "XLA_FFI_Future_SetError_Args",
    "StreamGet": "XLA_FFI_Stream_Get_Args",
    "DeviceOrdinalGet": "XLA_FFI_DeviceOrdinal_Get_Args",
    "PoolSchedule": "XLA_FFI_ThreadPool_Schedule_Args",
    "PoolNumThreads": "XLA_FFI_ThreadPool_NumThreads_Args",
}

# The functions of the API that the handler calls: their number among the API's function pointers.
FUNCTIONS: dict[str, int] = {
    "XLA_FFI_Error_Create": 0,
    "XLA_FFI_Error_Destroy": 2,
    "XLA_FFI_Stream_Get": 4,
    "XLA_FFI_ThreadPool_Schedule": 11,
    "XLA_FFI_ThreadPool_NumThreads": 12,
    "XLA_FFI_Future_Create": 13,
    "XLA_FFI_Future_SetAvailable": 14,
    "XLA_FFI_Future_SetError": 15,
    "XLA_FFI_DeviceOrdinal_Get": 17,
}

# Values of the header's enums; test_ffi_abi holds them against the installed jaxlib.
STAGE_INITIALIZE, STAGE_EXECUTE = 2, 3
TRAIT_COMMAND_BUFFER = 1
EXTENSION_METADATA = 1
ATTR_ARRAY = 1
CANCELLED, INVALID_ARGUMENT, OUT_OF_RANGE = 1, 3, 11

# XLA's code of each element type.
CODES: dict[str, int] = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
    "float32": 11, "float64": 12, "float16": 10, "complex64": 15, "bfloat16": 16, "complex128": 18,
}  # fmt: skip
CODE_COUNT = 34


def code(scalar: Scalar | Complex) -> int:
    """Return XLA's element type code for a scalar or complex type of the language."""
    assert scalar.name in NUMBERS
    return CODES[scalar.name]


def types_text() -> str:
    """Return the structures as LLVM type definitions."""
    return "\n".join(f"%{name} = type {{ {', '.join(t for _, t in fields)} }}" for name, fields in STRUCTS.items())


def names() -> list[str]:
    """Return the names of XLA's element types by their codes; "another type" where a code is not known."""
    known = {number: name for name, number in CODES.items()}
    return [known.get(number, "another type") for number in range(CODE_COUNT)]


def sizes() -> list[int]:
    """Return the bytes of an element by XLA's code of its type; 0 where the code is not known."""
    known = {number: 2 if name == "bfloat16" else np.dtype(name).itemsize for name, number in CODES.items()}
    # 0 makes the handler refuse the buffer: a size it does not know is never guessed.
    return [known.get(number, 0) for number in range(CODE_COUNT)]


def string_text(symbol: str, text: str) -> str:
    """Return the LLVM IR definition of a constant C string in UTF-8."""
    data = text.encode() + b"\0"
    shown = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'@{symbol} = private constant [{len(data)} x i8] c"{shown}"'
