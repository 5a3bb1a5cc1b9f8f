"""A saved record read back as plain values: kernels in verified IR, arrays, and what ran on them.

Nothing is compiled or allocated on a device here, and nothing in the file is believed: every view must lie inside its
allocation, every number have its type's bits. So what comes out is sound, or a `RecordError` says what is wrong.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.autodiff.directions import parameters
from workbench.backends.base import Options
from workbench.builtins.verify import verify_builtins
from workbench.ir.data import Malformed, from_data, read_bits, read_type
from workbench.ir.values import Function
from workbench.runtime import archive
from workbench.runtime.archive import refused
from workbench.runtime.site import Site
from workbench.types import MAX_NDIM, Scalar, Vector, element

DIRECTIONS = ("forward", "adjoint", "tangent", "adjoint tangent")
KINDS = ("launch", "copy", "add", "fill")


@dataclass(frozen=True, eq=False)
class SavedMemory:
    """An allocation: its device's name and its bytes."""

    device: str
    data: np.ndarray[Any, Any]


@dataclass(frozen=True)
class SavedArray:
    """A view of an allocation, by number; `offset` and `strides` in bytes; `grad` is another array's number or None."""

    memory: int
    dtype: Scalar | Vector
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    grad: int | None


@dataclass(frozen=True)
class SavedLaunch:
    """A launch: arguments are arrays by number (`SavedRef`) or the bits of numbers."""

    module: int
    direction: str
    dim: tuple[int, ...]
    arguments: Mapping[str, Any]
    options: Options
    block_dim: int
    device: str


@dataclass(frozen=True)
class SavedMove:
    """A copy, sum or fill: `source` is an array's number, for a fill its value."""

    target: int
    source: Any


@dataclass(frozen=True)
class Ref:
    """An array, by number."""

    number: int


@dataclass(frozen=True)
class SavedEntry:
    """What ran, with its kind, time and place."""

    kind: str
    what: SavedLaunch | SavedMove
    started: float
    seconds: float | None
    site: Site | None


@dataclass(frozen=True, eq=False)
class Saved:
    """A whole record.

    Attributes:
        functions: the kernels.
        memories, arrays, entries: as above.
        artifacts: digest to the bytes of a cache entry; to be looked at only where the file's maker is trusted.
        machine: system, architecture and CPU of the machine that saved it.
    """

    functions: tuple[Function, ...]
    memories: tuple[SavedMemory, ...]
    arrays: tuple[SavedArray, ...]
    entries: tuple[SavedEntry, ...]
    artifacts: Mapping[str, bytes]
    machine: tuple[str, ...]


def read(data: bytes, trust: bool = False) -> Saved:
    """The record in a file's bytes; with `trust`, CUDA text of funcs is taken too.

    Raises:
        RecordError: the file is damaged or foreign, or what it says makes no sense.
    """
    content, members = archive.unpack(data)
    try:
        return _read(content, members, trust)
    except (Malformed, _Wrong) as error:
        raise refused(str(error)) from None


class _Wrong(Exception):
    """What the content says makes no sense."""


def _read(content: Any, members: Mapping[str, bytes], trust: bool) -> Saved:
    parts = ("entries", "modules", "arrays", "memories", "artifacts", "machine")
    fields = _record(content, "the content", parts)
    lists = [fields[p] for p in parts]
    if not all(isinstance(part, list) for part in lists):
        raise _Wrong("a part of the content is no list")
    functions = tuple(_function(m, members, trust) for m in fields["modules"])
    memories = tuple(_memory(m, members) for m in fields["memories"])
    arrays = tuple(_array(a, memories, len(fields["arrays"])) for a in fields["arrays"])
    entries = tuple(_entry(e, functions, arrays) for e in fields["entries"])
    artifacts = {}
    for told in fields["artifacts"]:
        given = _record(told, "an artifact", ("digest", "member"))
        artifacts[_text(given["digest"])] = _member(given["member"], members)
    return Saved(functions, memories, arrays, entries, artifacts, tuple(_text(m) for m in fields["machine"]))


def _function(told: Any, members: Mapping[str, bytes], trust: bool) -> Function:
    given = _record(told, "a module", ("kernel", "member"))
    function = from_data(archive.read_json(_member(given["member"], members)), trust)
    wrong = verify_builtins(function)
    if wrong:
        raise _Wrong(f"in the kernel {function.name}, {wrong}")
    return function


def _memory(told: Any, members: Mapping[str, bytes]) -> SavedMemory:
    given = _record(told, "an allocation", ("member", "device", "nbytes"))
    raw = _member(given["member"], members)
    try:
        data = np.lib.format.read_array(io.BytesIO(raw), allow_pickle=False, max_header_size=1000)
    except Exception as error:  # NumPy raises several kinds for a file that is none
        raise _Wrong(f"{given['member']} is no .npy file ({type(error).__name__})") from None
    if data.ndim != 1 or data.dtype.kind not in "biuf" or data.nbytes != given["nbytes"] or not data.flags.c_contiguous:
        raise _Wrong(f"{given['member']} does not hold what is listed")
    return SavedMemory(_text(given["device"]), data.view(np.uint8))


def _array(told: Any, memories: Sequence[SavedMemory], count: int) -> SavedArray:
    given = _record(told, "an array", ("memory", "dtype", "shape", "strides", "offset", "grad"))
    dtype = read_type(given["dtype"])
    if not isinstance(dtype, (Scalar, Vector)):
        raise _Wrong("an array of arrays")
    memory, offset = _index(given["memory"], len(memories), "allocation"), _whole(given["offset"])
    shape, strides = _wholes(given["shape"]), _wholes(given["strides"])
    if not 1 <= len(shape) <= MAX_NDIM or len(strides) != len(shape) or min(shape) < 0 or math.prod(shape) > 2**48:
        raise _Wrong("an array with an improper shape")
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low = offset + sum(r for r in reach if r < 0)
    high = offset + sum(r for r in reach if r > 0) + dtype.size
    size = memories[memory].data.nbytes
    if (min(shape) and not 0 <= low <= high <= size) or not 0 <= offset <= size:
        raise _Wrong("an array reaches outside its allocation")
    if any(n % element(dtype).size for n in (offset, *strides)):
        raise _Wrong("an array whose elements are not aligned")
    grad = None if given["grad"] is None else _index(given["grad"], count, "array")
    return SavedArray(memory, dtype, shape, strides, offset, grad)


def _entry(told: Any, functions: Sequence[Function], arrays: Sequence[SavedArray]) -> SavedEntry:
    common = ("kind", "started", "seconds", "site")
    kind = told.get("kind") if isinstance(told, dict) else None
    if kind not in KINDS:
        raise _Wrong(f"an entry of kind {str(kind)[:40]}")
    if kind == "launch":
        names = ("module", "direction", "dim", "arguments", "options", "block_dim", "device")
        given = _record(told, "a launch", (*common, *names))
        what: SavedLaunch | SavedMove = _launch(given, functions, arrays)
    else:
        given = _record(told, f"a {kind}", (*common, "target", "value" if kind == "fill" else "source"))
        target = _index(given["target"], len(arrays), "array")
        source = (
            _fill(given["value"], arrays[target].dtype)
            if kind == "fill"
            else _index(given["source"], len(arrays), "array")
        )
        if kind != "fill" and (arrays[target].shape, arrays[target].dtype) != (
            arrays[source].shape,
            arrays[source].dtype,
        ):
            raise _Wrong(f"a {kind} between arrays that do not match")
        what = SavedMove(target, source)
    started, seconds = _seconds(given["started"]), given["seconds"]
    return SavedEntry(kind, what, started or 0.0, None if seconds is None else _seconds(seconds), _site(given["site"]))


def _launch(given: Mapping[str, Any], functions: Sequence[Function], arrays: Sequence[SavedArray]) -> SavedLaunch:
    module = _index(given["module"], len(functions), "module")
    dim, direction, block_dim = _wholes(given["dim"]), given["direction"], _whole(given["block_dim"])
    if direction not in DIRECTIONS or not 1 <= len(dim) <= 4 or not all(0 <= n < 2**31 for n in dim):
        raise _Wrong("a launch with an improper direction or dimensions")
    if not 1 <= block_dim <= 1024:
        raise _Wrong("a launch with an improper block_dim")
    options = _record(given["options"], "options", [name for name, _ in Options().items()])
    if not all(isinstance(value, bool) for value in options.values()):
        raise _Wrong("a launch with improper options")
    if not isinstance(given["arguments"], dict):
        raise _Wrong("a launch without arguments")
    types = {p.name: p.type for p in parameters(functions[module].params, direction)}
    arguments: dict[str, Any] = {}
    for name, value in given["arguments"].items():
        match value:
            case ["array", number]:
                arguments[name] = Ref(_index(number, len(arrays), "array"))
            case ["number", bits] if name in types:
                arguments[name] = read_bits(bits, types[name])
            case _:
                raise _Wrong(f"the argument {name[:80]} is neither an array nor a number")
    return SavedLaunch(module, direction, dim, arguments, Options(**options), block_dim, _text(given["device"]))


def _record(data: Any, what: str, names: Sequence[str]) -> dict[str, Any]:
    if not isinstance(data, dict) or data.keys() != set(names):
        raise _Wrong(f"{what} has other fields than {', '.join(names)}")
    return data


def _member(name: Any, members: Mapping[str, bytes]) -> bytes:
    if not isinstance(name, str) or name not in members:
        raise _Wrong(f"the member {str(name)[:80]} is missing")
    return members[name]


def _index(data: Any, count: int, what: str) -> int:
    if type(data) is not int or not 0 <= data < count:
        raise _Wrong(f"there is no {what} {str(data)[:40]}")
    return data


def _whole(data: Any) -> int:
    if type(data) is not int or abs(data) >= 2**62:
        raise _Wrong(f"{str(data)[:40]} where a whole number should be")
    return data


def _wholes(data: Any) -> tuple[int, ...]:
    if not isinstance(data, list) or len(data) > MAX_NDIM:
        raise _Wrong("a shape or strides that are none")
    return tuple(_whole(n) for n in data)


def _text(data: Any) -> str:
    if not isinstance(data, str) or len(data) > 1000:
        raise _Wrong("a number where a name should be")
    return data


def _seconds(data: Any) -> float:
    if type(data) not in (int, float) or not abs(data) < 1e18:
        raise _Wrong("a time that is none")
    return float(data)


def _fill(data: Any, dtype: Scalar | Vector) -> Any:
    try:
        match data:
            case ["float", str() as text]:
                value: float = float.fromhex(text)
            case bool() | int():
                value = data
            case _:
                raise _Wrong("a fill with something that is no number")
        with np.errstate(all="ignore"):
            np.full((), value, element(dtype).numpy)
    except (ValueError, OverflowError):
        raise _Wrong("a fill with a number that the array cannot hold") from None
    return value


def _site(data: Any) -> Site | None:
    match data:
        case None:
            return None
        case [str() as filename, int() as line] if not isinstance(line, bool):
            return Site(filename, line)
    raise _Wrong("a place that is none")
