"""Our table of XLA's structures against the header that the installed jaxlib ships."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from workbench.interop.jax.native.abi import (
    ATTR_ARRAY,
    CODES,
    EXTENSION_METADATA,
    FUNCTIONS,
    HEADER_NAMES,
    INVALID_ARGUMENT,
    OUT_OF_RANGE,
    STAGE_EXECUTE,
    STAGE_INITIALIZE,
    STRUCTS,
    TRAIT_COMMAND_BUFFER,
    types_text,
)

# Our name of an element type -> the header's.
ENUM = {
    "bool": "PRED", "int8": "S8", "int16": "S16", "int32": "S32", "int64": "S64", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "float16": "F16", "float32": "F32", "float64": "F64", "bfloat16": "BF16",
    "complex64": "C64", "complex128": "C128",
}  # fmt: skip


# What older headers lack -> the name in the header; the handler uses it only where XLA says that it has it.
LATER = {
    "Metadata.state_type_id": "state_type_id",
    **{f"DeviceOrdinalGet.{f}": "XLA_FFI_DeviceOrdinal_Get" for f, _ in STRUCTS["DeviceOrdinalGet"]},
    "sizeof DeviceOrdinalGet": "XLA_FFI_DeviceOrdinal_Get",
    "function XLA_FFI_DeviceOrdinal_Get": "XLA_FFI_DeviceOrdinal_Get",
}

# What newer headers call otherwise (JAX 0.12).
RENAMED = {"XLA_FFI_Extension_Base": "XLA_FFI_InternalExtension"}


@pytest.fixture(scope="module")
def header(need: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Numbers that a C++ compiler finds in the header, by what they are of."""
    jax = pytest.importorskip("jax")
    text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    asked = {
        f"{name}.{field}": f"offsetof({HEADER_NAMES[name]}, {field})" for name in STRUCTS for field, _ in STRUCTS[name]
    }
    asked |= {f"sizeof {name}": f"sizeof({HEADER_NAMES[name]})" for name in STRUCTS}
    asked |= {f"function {name}": f"offsetof(XLA_FFI_Api, {name})" for name in FUNCTIONS}
    asked |= {f"code {name}": f"XLA_FFI_DataType_{label}" for name, label in ENUM.items()}
    asked |= {
        "execute": "XLA_FFI_ExecutionStage_EXECUTE",
        "initialize": "XLA_FFI_ExecutionStage_INITIALIZE",
        "command buffer": "XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE",
        "metadata": "XLA_FFI_Extension_Metadata",
        "array": "XLA_FFI_AttrType_ARRAY",
        "invalid": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
        "range": "XLA_FFI_Error_Code_OUT_OF_RANGE",
    }
    asked = {label: code for label, code in asked.items() if LATER.get(label, "") in text}
    rows = "\n".join(f'std::printf("%s\\t%ld\\n", "{label}", (long)({text}));' for label, text in asked.items())
    folder: Path = tmp_path_factory.mktemp("abi")
    source = folder / "abi.cpp"
    names = "".join(f"#define {ours} {theirs}\n" for ours, theirs in RENAMED.items() if ours not in text)
    source.write_text(f'#include <cstdio>\n#include "xla/ffi/api/c_api.h"\n{names}int main() {{\n{rows}\n}}\n')
    compiler = [need("g++"), "-std=c++17", "-Wno-invalid-offsetof", f"-I{jax.ffi.include_dir()}"]
    subprocess.run([*compiler, str(source), "-o", str(folder / "abi")], check=True)
    text = subprocess.run([str(folder / "abi")], check=True, capture_output=True, text=True).stdout
    return {label: int(number) for label, number in (row.split("\t") for row in text.splitlines())}


@pytest.fixture(scope="module")
def ours() -> dict[str, int]:
    """The offsets and sizes that LLVM gives to our types."""
    llvm.initialize_native_target()
    layout = llvm.Target.from_default_triple().create_target_machine().target_data
    globals = "\n".join(f"@{name} = external global %{name}" for name in STRUCTS)
    module = llvm.parse_assembly(f"{types_text()}\n{globals}\n")
    found = {}
    for name, fields in STRUCTS.items():
        type = module.get_global_variable(name).global_value_type
        found[f"sizeof {name}"] = layout.get_abi_size(type)
        for number, (field, _) in enumerate(fields):
            found[f"{name}.{field}"] = layout.get_element_offset(type, number)
    return found


def test_every_field_lies_where_the_header_has_it(header: dict[str, int], ours: dict[str, int]) -> None:
    assert len(ours) > 60
    absent = ours.keys() - header.keys()
    assert absent <= LATER.keys()
    wrong = {label: (number, header[label]) for label, number in ours.items() if number != header.get(label, number)}
    if "Metadata.state_type_id" in absent:  # a part that only later versions have, at the end
        wrong.pop("sizeof Metadata")
    # XLA's table of functions has grown with its versions; we name the first and take the rest as an array.
    wrong.pop("sizeof Api", None)
    assert not wrong


def test_the_functions_stand_at_their_numbers(header: dict[str, int]) -> None:
    first = header["Api.XLA_FFI_Error_Create"]
    known = [name for name in FUNCTIONS if f"function {name}" in header]
    assert len(known) >= len(FUNCTIONS) - 1
    assert {name: (header[f"function {name}"] - first) // 8 for name in known} == {n: FUNCTIONS[n] for n in known}


def test_the_codes_are_the_headers(header: dict[str, int]) -> None:
    assert {name: header[f"code {name}"] for name in ENUM} == CODES
    found = (header["execute"], header["metadata"], header["array"], header["invalid"], header["range"])
    assert found == (STAGE_EXECUTE, EXTENSION_METADATA, ATTR_ARRAY, INVALID_ARGUMENT, OUT_OF_RANGE)
    assert (header["initialize"], header["command buffer"]) == (STAGE_INITIALIZE, TRAIT_COMMAND_BUFFER)


def test_the_struct_sizes_in_the_text_are_not_too_small(header: dict[str, int]) -> None:
    """XLA refuses arguments whose struct_size is below its own; ours are what STRUCT_SIZE makes in the C."""
    sizes = {"ErrorCreate": 28, "ErrorDestroy": 24, "FutureSetAvailable": 24, "FutureCreate": 24, "PoolSchedule": 40}
    sizes |= {"PoolNumThreads": 32, "StreamGet": 32, "DeviceOrdinalGet": 28, "FutureSetError": 32}
    for name, size in sizes.items():
        if f"sizeof {name}" not in header:
            continue
        fields = [field for field, _ in STRUCTS[name]]
        assert header[f"{name}.{fields[-1]}"] < size <= header[f"sizeof {name}"]
