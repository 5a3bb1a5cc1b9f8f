"""The subject of a profile: a launch's PTX, blocks and parameters, and the lines that its instructions come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from workbench.api.builds.build import compile_for, function_for
from workbench.api.builds.overlaps import launch_assumptions
from workbench.api.kernels.countable import Countable
from workbench.api.profiling.run import Geometry
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend, build
from workbench.backends.cuda.emit import EmittedKernel, emit_kernel, entry_name
from workbench.backends.cuda.lines import NUMBERS, lines_by_operation, repeated
from workbench.backends.ptx.counters import Counted
from workbench.backends.ptx.syntax.parse import parse
from workbench.backends.ptx.syntax.program import Instruction, Loc, Program
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store
from workbench.ir.values import Function, number_ops, walk
from workbench.passes.pipeline import CONTRACTED, run
from workbench.runtime.arrays.array import array
from workbench.runtime.launching.executable import cuda_grid
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.native.pack import dims_piece
from workbench.source import Location

FILE = f"/cell/{NUMBERS.label}"
"""The file of the PTX whose lines are operations."""


def numbered_ptx(function: Function, options: Options, arch: str) -> tuple[EmittedKernel, str]:
    """Return the CUDA C++ text of a function, and its PTX, compiled or cached; `.loc` lines are numbers of operations.

    Raises:
        BuildError, DeviceError: NVRTC refused the text, is missing, or does not know the architecture.
    """
    emitted = emit_kernel(lines_by_operation(function), options, arch, lines=True)
    ptx = repeated(emitted.text)
    backend, kind = CudaBackend(arch), "ptx with lines"
    version = backend.version(arch)
    key = Key(
        (
            Part("code", "code", ptx.encode()),
            Part("fast_math", "option", bytes([options.fast_math])),
            Part("kind", "option", kind.encode(), kind),
            Part("target", "target", arch.encode(), arch),
            Part("compiler", "compiler", version.encode(), version),
        )
    )
    store = default_store()
    entry = store.get(key.digest)
    if entry is None:
        image = build(ptx, options, arch, kind, function.name).image.rstrip(b"\0")
        name = f"{function.name} (PTX to count)"
        entry = Entry(image, {"name": name, "entry": name, "backend": backend.name, "target": arch, "stages": {}})
        store.put(key.digest, entry)
    return emitted, entry.image.decode()


class Subject(msgspec.Struct, frozen=True):
    """The launch that is profiled, compiled for one architecture.

    Attributes:
        code: the PTX.
        program: the same, parsed.
        geometry: blocks and threads.
        offsets: where each of the kernel's parameters begins in the record's packed arguments.
    """

    code: Countable
    program: Program
    geometry: Geometry
    offsets: tuple[int, ...]

    @property
    def shared(self) -> int:
        """Bytes of shared memory of a block, with what the launch adds."""
        return self.code.resources.get("shared", 0) + self.geometry.shared - self.code.dynamic_shared

    def by_line(self, counted: Iterable[Counted]) -> list[tuple[Location, list[Counted]]]:
        """Group counted instructions by the line of the cell that they come from.

        What a function of CUDA's library executes belongs to the line that calls it; what comes before the first
        statement, to the kernel's own line.
        """
        groups: dict[tuple[str, int], tuple[Location, list[Counted]]] = {}
        counted = list(counted)
        for one, at in zip(counted, self.lines_of(one.instruction for one in counted), strict=True):
            groups.setdefault((at.source.label, at.line), (at, []))[1].append(one)
        return list(groups.values())

    def lines_of(self, code: Iterable[Instruction]) -> Iterator[Location]:
        """Yield the location in the cell of each instruction; if it has none of its own, that of the one before.

        The instructions of a kernel are in order.
        """
        last = self.code.own
        for instruction in code:
            last = self._location(instruction.loc) or last
            yield last

    def _location(self, loc: Loc | None) -> Location | None:
        """Return the cell's location for a PTX `.loc`, or for the innermost call around it in the cell; else None."""
        while loc is not None:
            location = self.code.locate(self.program.files.get(loc.file, ""), loc.line)
            if location is not None:
                return location
            loc = loc.inlined_at
        return None


def subject_of(record: LaunchRecord, arch: str) -> Subject:
    """Return the subject of a launch's profile, compiled for an architecture or from the cache.

    Raises:
        BuildError, DeviceError: NVRTC refused the text, is missing, or does not know the architecture.
    """
    slots, block = record.executable.layout.slots, record.launch_options.block_dim
    code = record.specialisation.countable(record.direction, arch)
    if record.executable.geometry is not None:
        own = record.executable.geometry.block
        offsets = tuple(slots[k].offset for k in record.executable.geometry.param_slots)
        return Subject(code, parse(code.ptx), Geometry(own.grid(record.dim), own.sizes, own.shared), offsets)
    code = _of_ir(record, arch)
    assert isinstance(block, int)
    blocks, threads, _ = cuda_grid(code.resources, record.threads, block)
    dims = dims_piece(tuple(record.dim), _options(record).index32)
    geometry = Geometry((blocks, 1, 1), (threads, 1, 1), code.dynamic_shared, dims)
    return Subject(code, parse(code.ptx), geometry, (0, *(slot.offset for slot in slots)))


def contracted(record: LaunchRecord, arch: str) -> Program | None:
    """Return the PTX of the launch as with `fma=True`; None if it is contracted already, or has nothing to contract.

    It is None, too, for CUDA C++, and with `fast_math`.

    Raises:
        BuildError, DeviceError: NVRTC refused the text.
    """
    options = _options(record)
    if record.executable.geometry is not None or record.specialisation.kernel.fma or options.fast_math:
        return None
    function = function_for(record.specialisation, record.direction, options)
    fused = run(CONTRACTED, function)
    if _fused(fused) == _fused(function):
        return None
    return parse(numbered_ptx(fused, options, arch)[1])


def _fused(function: Function) -> int:
    """Return the number of fused multiply-adds in a function."""
    return sum(op.name == "fma" for op in walk(function.body))


def _options(record: LaunchRecord) -> Options:
    """Return the options that the launch's code would have on a GPU, with those that follow from its arrays."""
    arrays = {n: a for n, a in record.arguments.items() if isinstance(a, array)}
    return replace(record.launch_options.code, checks=False, **launch_assumptions(record.dim, arrays)._asdict())


def _of_ir(record: LaunchRecord, arch: str) -> Countable:
    """Return the PTX of a launch of a Python kernel for an architecture, with what maps its lines to the cell."""
    options = _options(record)
    function = function_for(record.specialisation, record.direction, options)
    emitted, ptx = numbered_ptx(function, options, arch)
    definition = record.specialisation.kernel.definition
    source, node = definition.source, definition.node
    located = {number: op.location for op, number in number_ops(function).items()}
    assert record.location is not None
    own = record.location

    def location(file: str, line: int) -> Location | None:
        statement = located.get(line) if file == FILE else None
        return None if statement is None else statement if statement.line else own

    lines = {n + source.line_offset: source.line(n) for n in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    resources = compile_for(record.specialisation, record.direction, options, arch).metadata
    return Countable(ptx, entry_name(function), resources, own, lines, location, emitted.dynamic_shared)
