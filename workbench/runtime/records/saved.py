"""A saved record read back as plain values, each checked as it is read.

What is read is kernels in verified IR, arrays, and what ran on them. Nothing is compiled or allocated on a device here,
and nothing in the file is believed: every view must lie inside its allocation, every number have its type's bits. So
what comes out is sound, or a `RecordError` says what is wrong. The classes of what is saved are also what the JSON is
checked against (`converted`); what types cannot say is checked then. The functions that read single values of the JSON
raise `Wrong`, of which the file's reader makes a `RecordError`.

**Element types** are those of the IR, and structs, which the IR does not know. A struct's layout follows from its
fields, so names and types are all that is written, and all that has to be believed.

**Facts** of a saved kernel that an analysis of its IR has derived are what builds and launches need of them. A file
holds them with a digest of the analysis and of the IR. They are believed in the user's own files only, since they
decide which machine code is run.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, ClassVar, TypeAlias, cast

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from workbench.autodiff import CHECKPOINT_RANGE
from workbench.autodiff.directions import ADJOINTS, parameters
from workbench.backends.base import RARE, Options
from workbench.builtins.declaration.verify import verify_builtins
from workbench.cache.key import Part, front_end_version
from workbench.host.narrow import is_list, is_mapping
from workbench.ir.data import from_data, read_bits, read_type, type_data
from workbench.ir.json_values import Malformed
from workbench.ir.values import Function
from workbench.limits import BLOCK_THREADS
from workbench.runtime.arrays.host_convert import item
from workbench.runtime.device.call_site import Site
from workbench.runtime.records import archive
from workbench.runtime.records.archive import record_error
from workbench.structs import Struct
from workbench.types import MAX_NDIM, Complex, Scalar, Vector, element, int32


class Wrong(Exception):
    """The error of a file whose content makes no sense."""


def record(data: Any, what: str, names: Sequence[str]) -> dict[str, Any]:
    """Return a dict that must have exactly these fields; `what` names it in messages."""
    if not isinstance(data, dict) or data.keys() != set(names):
        raise Wrong(f"{what} has other fields than {', '.join(names)}")
    return cast("dict[str, Any]", data)


def member(name: Any, members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a member of the file, which must exist."""
    if not isinstance(name, str) or name not in members:
        raise Wrong(f"the member {str(name)[:80]} is missing")
    return members[name]


def index(data: Any, count: int, what: str) -> int:
    """Return a number that must be at least 0 and less than `count`; `what` names the things that it numbers."""
    if type(data) is not int or not 0 <= data < count:
        raise Wrong(f"there is no {what} {str(data)[:40]}")
    return data


Number = Annotated[int, Meta(ge=0)]
"""The number of an array, a graph or the like in the file."""
Whole = Annotated[int, Meta(gt=-(2**62), lt=2**62)]
Name = Annotated[str, Meta(max_length=1000)]
Sizes = Annotated[tuple[Whole, ...], Meta(max_length=MAX_NDIM)]
"""A shape or strides."""
Seconds = Annotated[float, Meta(gt=-1e18, lt=1e18)]
BlockDim = Annotated[int, Meta(ge=1, le=int(BLOCK_THREADS))]


def converted(data: Any, form: Any, what: str) -> Any:
    """Return JSON values as a value of a type, which may be a struct; `what` names them in messages.

    Raises:
        Wrong: they are of another form.
    """
    try:
        return msgspec.convert(data, form)
    except msgspec.ValidationError as error:
        raise Wrong(f"{what}: {error}") from None


def fill_value(data: Any, dtype: Scalar | Vector | Struct) -> Any:
    """Return the value of a fill, a number or one element, which an array of this type must be able to hold."""
    try:
        match data:
            case ["bytes", str() as digits]:
                return np.frombuffer(bytes.fromhex(digits), item(dtype)).reshape(dtype.shape)[()]
            case ["float", str() as text]:
                value: float = float.fromhex(text)
            case bool() | int():
                value = data
            case _:
                raise Wrong("a fill with something that is not a number")
        with np.errstate(all="ignore"):
            np.full((), value, item(dtype))
    except (ValueError, OverflowError, TypeError):
        raise Wrong("a fill with a number that the array cannot hold") from None
    return value


MOST_FIELDS, MOST_STRUCT_DEPTH = 1000, 16


def element_data(dtype: Scalar | Vector | Struct) -> Any:
    """Return an element type as JSON values.

    Raises:
        Unwritable: it cannot be represented.
    """
    if not isinstance(dtype, Struct):
        return type_data(dtype)
    return ["struct", dtype.name, [[f.name, element_data(f.type)] for f in dtype.fields]]  # type: ignore[arg-type]


def read_element(data: Any, depth: int = 0) -> Scalar | Vector | Struct:
    """Return the element type that `element_data` wrote; `depth` counts the structs around it.

    Raises:
        Malformed: the data is none.
    """
    match data:
        case ["struct", str() as name, [*fields]] if name.isidentifier() and depth < MOST_STRUCT_DEPTH:
            if not 1 <= len(fields) <= MOST_FIELDS:
                raise Malformed(f"the struct {name[:80]} with {len(fields)} fields")
            named = [_field(field, depth) for field in fields]
            if len({label for label, _ in named}) < len(named):
                raise Malformed(f"the struct {name[:80]} with a field twice")
            return Struct.of(name, named)  # type: ignore[arg-type]
        case _:
            pass
    type_ = read_type(data)
    if not isinstance(type_, (Scalar, Vector)):
        raise Malformed("an array of arrays")
    return type_


def _field(data: Any, depth: int) -> tuple[str, Scalar | Vector | Struct]:
    """Return a struct field's name and type; raise `Malformed` for anything else. `depth` is that of nested structs."""
    match data:
        case [str() as label, form] if label.isidentifier() and not label.startswith("__"):
            return label, read_element(form, depth + 1)
        case _:
            raise Malformed("a struct with an improper field")


def element_alignment(dtype: Scalar | Vector | Struct) -> int:
    """Return the number of bytes that an element's address must be a multiple of."""
    return dtype.alignment if isinstance(dtype, Struct) else element(dtype).size


class KernelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Facts that an analysis has derived from a kernel's IR, as a file stores them.

    Attributes:
        digest: of the analysis and of the IR, as `facts_digest` makes it.
        adds_alone: whether some atomic additions become plain ones where no other thread adds to the element, so that
            arguments that overlap need other code.
        forward: the parts of the cache key for the forward direction that depend on the function.
        others: the same for all other directions.
    """

    digest: str
    adds_alone: bool
    forward: tuple[Part, ...]
    others: tuple[Part, ...]


def facts_digest(member: bytes) -> str:
    """Return the digest of the version of the analysis that runs here, and of a kernel's IR as a file holds it."""
    return hashlib.sha256(front_end_version().encode() + b"\n" + member).hexdigest()


def facts_data(specialisation: Any, member: bytes) -> dict[str, Any]:
    """Return what an analysis derives from a kernel's IR, with a digest of both, as JSON values for a file.

    Args:
        specialisation: the kernel.
        member: its IR as the file holds it.
    """
    forward, others = (specialisation.parts(direction) for direction in ("forward", "adjoint"))
    kernel_facts = KernelFacts(facts_digest(member), specialisation.adds_alone, forward, others)
    stored: dict[str, Any] = msgspec.to_builtins(kernel_facts)
    return stored


def read_facts(stored: Any, member: bytes) -> KernelFacts | None:
    """Return what a file of the user's own says that an analysis derived from a kernel's IR.

    None if it says nothing valid, or its digest is not that of this analysis and of the IR `member`.
    """
    try:
        kernel_facts = msgspec.convert(stored, KernelFacts)
    except msgspec.ValidationError:
        return None
    return kernel_facts if kernel_facts.digest == facts_digest(member) else None


STEPS = (*ADJOINTS, "tangent")
DIRECTIONS = ("forward", *(" ".join(words) for n in (1, 2, 3) for words in product(STEPS, repeat=n)))
BODIES = {"graph": {"body"}, "while": {"body"}, "if": {"true", "false"}}
MOVES = ("launch", "copy", "add", "fill")
NODES, ENTRIES, STEPS_OF_CALLS = (*MOVES, *BODIES), (*MOVES, *BODIES, "jax"), ("launch", "copy", "fill")
"""The kinds of work that a graph, a record and a call may hold."""
MOST_NODES, MOST_DEPTH = 1_000_000, 32


class SavedMemory(msgspec.Struct, frozen=True, eq=False):
    """An allocation in a file: the name of its device, and the contents."""

    device: str
    data: np.ndarray[Any, Any]


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A base of what has the same fields in a file: `converted` makes it of JSON values."""


class SavedArray(Stored, frozen=True):
    """An array in a file: a view of an allocation.

    Attributes:
        memory: the allocation's number.
        dtype: the element type.
        field: pitch and offset, if it is a field of every element of an array of structs; else None.
        shape: sizes.
        strides, offset: in bytes.
        grad: the number of the array that is its gradient; None without one.
    """

    memory: Number
    dtype: Any  # in the file as `element_data` writes it
    field: tuple[Annotated[int, Meta(gt=0, lt=2**31)], int] | None
    shape: Annotated[tuple[Annotated[int, Meta(ge=0, lt=2**62)], ...], Meta(min_length=1, max_length=MAX_NDIM)]
    strides: Sizes
    offset: Whole
    grad: Number | None


class SavedLaunch(Stored, frozen=True):
    """A launch in a file.

    Attributes:
        module: the kernel's number.
        direction: "forward", or what it was derived by.
        dim: its dimensions.
        arguments: by parameter, a `Ref` to an array, or a number (a tuple of them for a vector).
        options: of its code.
        block_dim: threads of a CUDA block.
        device: the device's name.
    """

    module: Number
    direction: str
    dim: Annotated[tuple[Annotated[int, Meta(ge=0, lt=2**31)], ...], Meta(min_length=1, max_length=4)]
    arguments: dict[str, Any]
    options: Any  # `Options`; in the file its items
    block_dim: BlockDim
    device: Name


class SavedMove(Stored, frozen=True):
    """A copy or sum in a file, by the numbers of the array that is written and of that which is read."""

    target: Number
    source: Number


class SavedFill(Stored, frozen=True):
    """A fill in a file: the number of the array that is written, and the value."""

    target: Number
    value: Any  # a scalar, or an element


class Ref(msgspec.Struct, frozen=True):
    """A reference to an array in a file, by its number."""

    number: int


class SavedCall(Stored, frozen=True):
    """A call that another library made.

    Attributes:
        label: the kernel's name.
        dims: the launch's dimensions.
        steps: what it does, each step with its kind.
        outputs: the numbers of the arrays with its results.
    """

    label: Name
    dims: Sizes
    steps: tuple[Any, ...]
    outputs: tuple[Number, ...]


class SavedBranch(Stored, frozen=True):
    """A node with graphs inside: a graph that runs, a branch or a loop.

    Attributes:
        bodies: the graphs' numbers, by what they are for.
        condition: the number of the array that decides; None for a graph that just runs.
    """

    bodies: dict[str, Number]
    condition: Number | None


SavedWork: TypeAlias = SavedLaunch | SavedMove | SavedFill | SavedCall | SavedBranch


class SavedGraph(msgspec.Struct, frozen=True):
    """A graph in a file.

    Attributes:
        nodes: each with its kind.
        total: the number of nodes, those of graphs inside included.
        depth: how deeply graphs are nested; 1 if no node has graphs inside.
    """

    nodes: tuple[tuple[str, SavedWork], ...]
    total: int
    depth: int


class SavedEntry(msgspec.Struct, frozen=True):
    """An entry of a record in a file.

    Attributes:
        kind: of its work.
        what: its work.
        started: when it ran; 0 if not known.
        seconds: how long the caller waited for it; None if not known.
        site: the line that requested it; None if not known.
    """

    kind: str
    what: SavedWork
    started: float
    seconds: float | None
    site: Site | None


class SavedModule(Stored, frozen=True):
    """A kernel in a file.

    Attributes:
        kernel: its name.
        member: the member of the file with its IR.
        checkpoints: how many states of a loop its adjoint keeps.
        fma: whether products and sums are contracted; only kernels where they are say so.
        facts: what an analysis derived from the IR; None in files from before facts.
        tiling: of a kernel of tiles, how it was launched: the fields of its `Tiling`.
    """

    kernel: str
    member: str
    checkpoints: int
    fma: bool = False
    facts: Any = None
    tiling: tuple[BlockDim, int | None, bool, Sizes] | None = None


class _Memory(Stored, frozen=True):
    """An allocation as a file lists it: the member with its bytes, the name of its device, and its size."""

    member: str
    device: Name
    nbytes: int


class _Artifact(Stored, frozen=True):
    """A cache entry as a file lists it: its digest, and the member with its bytes."""

    digest: Name
    member: str


class _Ran(Stored, frozen=True):
    """The moment at which an entry ran, for how long, and the file and line that requested it."""

    started: Seconds
    seconds: Seconds | None
    site: tuple[str, int] | None


class _Content(Stored, frozen=True):
    """The content of a file; files from before counters have none."""

    entries: list[Any]
    graphs: list[Any]
    modules: list[SavedModule]
    arrays: list[SavedArray]
    memories: list[_Memory]
    artifacts: list[_Artifact]
    machine: tuple[Name, ...]
    counters: tuple[tuple[str, int, int], ...] = ()


class Saved(msgspec.Struct, frozen=True, eq=False):
    """A whole record, as read from a file.

    Attributes:
        functions: the kernels.
        checkpoints: of each kernel, how many states of a loop its adjoint keeps.
        fma: of each kernel, whether products and sums are contracted.
        facts: of each kernel, what was derived from it; None: it has to be derived again.
        tilings: of each kernel of tiles, how it was launched (`Tiling`); None of others, and in files
            from before tilings.
        memories, arrays, graphs, entries: those of the record, which refer to one another by number.
        artifacts: digest to the bytes of a cache entry; to be looked at only if the file's maker is trusted.
        machine: system, architecture and CPU of the machine that saved it.
        counters: numbers that advance from replay to replay: name, step, and how far they are.
    """

    functions: tuple[Function, ...]
    checkpoints: tuple[int, ...]
    fma: tuple[bool, ...]
    facts: tuple[KernelFacts | None, ...]
    tilings: tuple[tuple[int, int | None, bool, tuple[int, ...]] | None, ...]
    memories: tuple[SavedMemory, ...]
    arrays: tuple[SavedArray, ...]
    graphs: tuple[SavedGraph, ...]
    entries: tuple[SavedEntry, ...]
    artifacts: Mapping[str, bytes]
    machine: tuple[str, ...]
    counters: tuple[tuple[str, int, int], ...] = ()


def read(data: bytes, trust: bool = False, own: bool = False) -> Saved:
    """Return the record in a file's bytes.

    Args:
        data: the file's bytes.
        trust: accept funcs that are CUDA text.
        own: use the facts of kernels in the file, which nobody but this user can have written.

    Raises:
        RecordError: the file is damaged or foreign, or what it says makes no sense.
    """
    content, members = archive.unpack(data)
    try:
        return _read(content, members, trust, own)
    except (Malformed, Wrong) as error:
        raise record_error(str(error)) from None


def _read(content: Any, members: Mapping[str, bytes], trust: bool, own: bool) -> Saved:
    """Return the values of a file's content, all checked; facts of kernels are read only if the file is our `own`.

    Raises:
        Wrong, Malformed: the content is not as `save` writes it.
    """
    fields: _Content = converted(content, _Content, "the content")
    modules = [read_function(m, members, trust) for m in fields.modules]
    functions, checkpoints, fma = (tuple(column) for column in zip(*modules, strict=True)) if modules else ((), (), ())
    kernel_facts = tuple(read_facts(m.facts, members[m.member]) if own else None for m in fields.modules)
    memories = tuple(_memory(m, members) for m in fields.memories)
    arrays = tuple(_array(a, memories, len(fields.arrays)) for a in fields.arrays)
    reader = _Reader(functions, arrays)
    for stored in fields.graphs:
        reader.graphs.append(reader.graph(stored))
    entries = tuple(map(reader.entry, fields.entries))
    artifacts = {a.digest: member(a.member, members) for a in fields.artifacts}
    if not all(name.isidentifier() for name, _, _ in fields.counters):
        raise Wrong("an improper counter")
    return Saved(
        functions, checkpoints, fma, kernel_facts, tuple(m.tiling for m in fields.modules), memories, arrays,
        tuple(reader.graphs), entries, artifacts, fields.machine, fields.counters,
    )  # fmt: skip


def read_function(module: SavedModule, members: Mapping[str, bytes], trust: bool) -> tuple[Function, int, bool]:
    """Return the verified IR of a kernel in a file, its number of checkpoints, and whether it is contracted.

    Raises:
        Malformed, Wrong, RecordError: what the file says makes no sense.
    """
    if module.checkpoints not in CHECKPOINT_RANGE:
        raise Wrong("a kernel with an improper number of checkpoints")
    function = from_data(archive.read_json(member(module.member, members)), trust)
    wrong = verify_builtins(function)
    if wrong:
        raise Wrong(f"in the kernel {function.name}, {wrong}")
    return function, module.checkpoints, module.fma


def _memory(stored: _Memory, members: Mapping[str, bytes]) -> SavedMemory:
    """Return an allocation with its bytes, read from its .npy member."""
    raw = member(stored.member, members)
    if re.search(rb"\dL", raw.partition(b"\n")[0]):
        raise Wrong(f"{stored.member} has a header of Python 2")  # NumPy takes it, with a warning
    try:
        data = np.lib.format.read_array(io.BytesIO(raw), allow_pickle=False, max_header_size=1000)
    except Exception as error:  # NumPy raises several kinds for a file that is none
        raise Wrong(f"{stored.member} is no .npy file ({type(error).__name__})") from None
    flat = data.ndim == 1 and data.flags.c_contiguous
    if not flat or data.dtype.kind not in "biuf" or data.nbytes != stored.nbytes:
        raise Wrong(f"{stored.member} does not hold what is listed")
    return SavedMemory(stored.device, data.view(np.uint8))


def _array(stored: SavedArray, memories: Sequence[SavedMemory], count: int) -> SavedArray:
    """Return an array as a view of one of the allocations; raise `Wrong` if it reaches outside or is not aligned.

    `count` is the number of arrays in the file, which bounds the number of its gradient.
    """
    dtype, field, offset = read_element(stored.dtype), stored.field, stored.offset
    memory = index(stored.memory, len(memories), "allocation")
    shape, strides = stored.shape, stored.strides
    if len(strides) != len(shape) or math.prod(shape) > 2**48:
        raise Wrong("an array with an improper shape")
    before, struct_size = (field[1], field[0]) if field is not None else (0, dtype.size)
    if (isinstance(dtype, Struct) and field is not None) or not 0 <= before <= struct_size - dtype.size:
        raise Wrong("an array that is an improper field of structs")
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low = offset - before + sum(r for r in reach if r < 0)
    high = offset - before + sum(r for r in reach if r > 0) + struct_size
    size = memories[memory].data.nbytes
    if (min(shape) and not 0 <= low <= high <= size) or not 0 <= offset <= size:
        raise Wrong("an array reaches outside its allocation")
    if any(n % element_alignment(dtype) for n in (offset, before, struct_size, *strides)):
        raise Wrong("an array whose elements are not aligned")
    if stored.grad is not None:
        index(stored.grad, count, "array")
    return replace(stored, dtype=dtype)


class _Reader:
    """Reads work from a file: entries of a record, nodes of graphs, steps of calls."""

    def __init__(self, functions: Sequence[Function], arrays: Sequence[SavedArray]) -> None:
        self.functions, self.arrays = functions, arrays
        self.graphs: list[SavedGraph] = []

    def graph(self, stored: Any) -> SavedGraph:
        """Return a graph; graphs inside it have to be read before it, so that none can contain itself."""
        fields = record(stored, "a graph", ("nodes",))
        if not is_list(fields["nodes"]):
            raise Wrong("a graph without nodes")
        nodes, total, depth = list[tuple[str, SavedWork]](), 0, 0
        for kind, what in (self.work(node, "a node", NODES) for node in fields["nodes"]):
            if isinstance(what, SavedFill) and isinstance(what.value, np.ndarray):
                raise Wrong("a graph with a fill that is not a number")
            nodes.append((kind, what))
            inside = [self.graphs[n] for n in what.bodies.values()] if isinstance(what, SavedBranch) else []
            total += 1 + sum(one.total for one in inside)
            depth = max(depth, *(one.depth for one in inside), 0)
        if total > MOST_NODES or depth >= MOST_DEPTH:
            raise Wrong("graphs in graphs that are too many or too deep")
        return SavedGraph(tuple(nodes), total, depth + 1)

    def entry(self, stored: Any) -> SavedEntry:
        """Return an entry of the record."""
        if is_mapping(stored) and stored.get("kind") == "graph" and "graph" in stored:  # before graphs were nodes
            stored = {**stored, "condition": None, "bodies": {"body": stored["graph"]}}
            del stored["graph"]
        fields = dict(stored) if is_mapping(stored) else {}
        times = {name: fields.pop(name, None) for name in ("started", "seconds", "site")}
        ran: _Ran = converted(times, _Ran, "an entry")
        kind, what = self.work(fields, "an entry", ENTRIES)
        return SavedEntry(kind, what, ran.started, ran.seconds, None if ran.site is None else Site(*ran.site))

    def work(self, stored: Any, where: str, kinds: Sequence[str]) -> tuple[str, SavedWork]:
        """Return the kind of a node, which must be one of `kinds`, and its work.

        Args:
            stored: JSON values.
            where: what the node is, for messages.
            kinds: the kinds that are allowed.
        """
        kind = stored.get("kind") if is_mapping(stored) else None
        if not isinstance(kind, str) or kind not in kinds:
            raise Wrong(f"{where} of kind {str(kind)[:40]}")
        read, form = self._READERS[kind]
        fields = {name: value for name, value in stored.items() if name != "kind"}
        return kind, read(self, kind, converted(fields, form, f"a recorded {kind}"))

    def branch(self, kind: str, branch: SavedBranch) -> SavedBranch:
        """Return a graph inside, branch or loop, whose bodies and condition suit it."""
        if not branch.bodies or not branch.bodies.keys() <= BODIES[kind]:
            raise Wrong(f"a node {kind} with improper graphs inside")
        if (branch.condition is None) != (kind == "graph"):
            raise Wrong(f"a node {kind} whose condition is missing, or has no place")
        if branch.condition is not None:
            a = self.arrays[self.array(branch.condition)]
            if a.dtype != int32 or a.field is not None or math.prod(a.shape) != 1:
                raise Wrong("a condition that is not an int32 of one element")
        for number in branch.bodies.values():
            index(number, len(self.graphs), "graph")
        return branch

    def call(self, kind: str, call: SavedCall) -> SavedCall:
        """Return a call of another library with its steps read."""
        steps = tuple(self.work(step, "a call with a step", STEPS_OF_CALLS) for step in call.steps)
        return replace(call, steps=steps, outputs=tuple(map(self.array, call.outputs)))

    def move(self, kind: str, move: SavedMove) -> SavedMove:
        """Return a copy or sum of two arrays, whose shapes and dtypes must be equal."""
        to, from_ = (self.arrays[self.array(n)] for n in (move.target, move.source))
        if (to.shape, to.dtype) != (from_.shape, from_.dtype):
            raise Wrong(f"a recorded {kind} between arrays that do not match")
        return move

    def fill(self, kind: str, fill: SavedFill) -> SavedFill:
        """Return a fill with its value read, which must fit the array's elements."""
        return replace(fill, value=fill_value(fill.value, self.arrays[self.array(fill.target)].dtype))

    def array(self, number: Any) -> int:
        """Return the number of an array; raise `Wrong` if there is none."""
        return index(number, len(self.arrays), "array")

    def launch(self, kind: str, launch: SavedLaunch) -> SavedLaunch:
        """Return a launch with its arguments read; whether they suit the kernel is checked when it is restored."""
        params = self.functions[index(launch.module, len(self.functions), "module")].params
        if launch.direction not in DIRECTIONS:
            raise Wrong("a launch with an improper direction")
        types = {p.name: p.type for p in parameters(params, launch.direction)}
        arguments: dict[str, Any] = {}
        for name, value in launch.arguments.items():
            match value:
                case ["array", number]:
                    arguments[name] = Ref(self.array(number))
                case ["number", bits] if name in types:
                    read = read_bits(bits, types[name])
                    if isinstance(types[name], Complex):
                        each = tuple(map(complex, read[::2], read[1::2]))  # type: ignore[index,call-overload]
                        read = each if types[name].shape else each[0]  # type: ignore[union-attr]
                    arguments[name] = read
                case _:
                    raise Wrong(f"the argument {name[:80]} is neither an array nor a number")
        return replace(launch, arguments=arguments, options=_options(launch.options, len(params)))

    _READERS: ClassVar[dict[str, tuple[Callable[..., SavedWork], type[SavedWork]]]] = {
        "launch": (launch, SavedLaunch),
        "fill": (fill, SavedFill),
        "jax": (call, SavedCall),
        **dict.fromkeys(("copy", "add"), (move, SavedMove)),
        **dict.fromkeys(BODIES, (branch, SavedBranch)),
    }


def _options(stored: Any, params: int) -> Options:
    """Return the options of a launch of a kernel with so many parameters; rare ones may be missing in the file."""
    required = {name for name, _ in Options().items()}
    if not is_mapping(stored) or not required <= stored.keys() <= required | {*RARE}:
        raise Wrong("a launch with improper options")
    options: Options = converted(stored, Options, "a launch with improper options")
    for n in options.single or ():
        index(n, 4, "axis")
    for n in options.constant:
        index(n, params, "parameter")
    return options
