"""IR as CUDA C++ text: one kernel, readable next to the cell it came from, with a prelude of only what it uses.

The passes of `pipeline.CUDA` (of tiles, `CUDA_TILES`) run first; one expands builtins to what CUDA has. Then the
text is made once: values are inlined into expressions (`inline_values`), the others share locals (`Locals`), and
statements are written in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from workbench.backends.base import Options
from workbench.backends.cuda.cpp import faults
from workbench.backends.cuda.cpp.atomics import accumulate, combines, declared, ending, together
from workbench.backends.cuda.cpp.c_names import LOCAL_RESERVED, RESERVED, c_type, identifier, literal
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.expression import Expressions
from workbench.backends.cuda.cpp.fields import fields_of
from workbench.backends.cuda.cpp.locals import Inlining, Locals, inline_values
from workbench.backends.cuda.cpp.signed_wrap import plain_arithmetic
from workbench.backends.cuda.prelude import prelude
from workbench.backends.cuda.products.spec import ProductSpec, for_linking
from workbench.backends.cuda.statements import INDENT, emit_block, indented, slots_in_registers
from workbench.backends.cuda.tiles import elements, multiply, pipeline, reduce
from workbench.backends.cuda.tiles.lower import Lowered, Lowering
from workbench.backends.cuda.tiles.multiply import product_of
from workbench.backends.cuda.tiles.placement.arena import STATIC_SHARED, blocks_at_once
from workbench.backends.cuda.tiles.placement.uses import Region
from workbench.backends.cuda.tiles.reduce import with_combinations
from workbench.backends.cuda.tiles.text import shared_memory
from workbench.deep import with_deep_stack
from workbench.errors import BuildError
from workbench.ir.ops import AXIS, CAPTURED, VALUE
from workbench.ir.values import Block, Function, Op, Value, scalar_or_vector_of, walk
from workbench.passes.expand import expand
from workbench.passes.pipeline import CUDA, CUDA_TILES, Pass, run
from workbench.passes.precision import compared_types
from workbench.types import ArrayType

_AXES = "ijkl"


def entry_name(function: Function) -> str:
    """Return the kernel's symbol: its name, changed only if C++ or CUDA has another meaning for it."""
    return identifier(function.name, RESERVED, "kernel")


DEFAULT_TARGET = "sm_90"


class EmittedKernel(msgspec.Struct, frozen=True):
    """The CUDA C++ text of a kernel, and the shared memory that a block of it needs.

    Attributes:
        text: what is compiled.
        shared: bytes of shared memory.
        regions: the parts of that memory.
        products: the link-time products that it calls, each once.
        strided: a thread does every n-th index of the launch, n being the number of threads, so fewer blocks suffice.
    """

    text: str
    shared: int = 0
    regions: tuple[Region, ...] = ()
    products: tuple[ProductSpec, ...] = ()
    strided: bool = False

    @property
    def dynamic_shared(self) -> int:
        """Bytes of shared memory that a launch has to request: all, if more than a kernel may declare; else 0."""
        return self.shared if self.shared > STATIC_SHARED else 0


def emit_cuda(function: Function, options: Options, target: str = DEFAULT_TARGET, *, lines: bool = False) -> str:
    """Return the function as the CUDA C++ text that is compiled; with tiles it depends on the target's shared memory.

    With `lines`, `#line` directives name the user's line of each statement.

    Raises:
        BuildError: the function contains an operation that CUDA C++ cannot express.
    """
    return emit_kernel(function, options, target, lines=lines).text


@with_deep_stack
def emit_kernel(
    function: Function, options: Options, target: str = DEFAULT_TARGET, *, lines: bool = False, link: str = ""
) -> EmittedKernel:
    """Return the function as CUDA C++ text, with the shared memory of a block and the products that it needs.

    Args:
        function: the kernel.
        options: of the code.
        target: the architecture, whose shared memory tiles may use.
        lines: write `#line` directives with the user's line of each statement.
        link: an architecture, for which multiplications of tiles call link-time products where one exists; empty:
            none.

    Raises:
        BuildError: the function contains an operation that CUDA C++ cannot express.
    """
    if any(getattr(param.type, "wide", False) for param in function.params):
        options = replace(options, index32=False)
    passes: dict[str, Pass | bool] = {
        "strip_asserts": not options.checks,
        "bounds_checks": options.checks,
        "link_products": bool(link) and partial(for_linking, target=link),
        "expand": _expanded,
    }
    if function.block_dim:
        optimised = run(CUDA_TILES, function, combine=with_combinations, **passes)
        lowered = tiles_to_threads(optimised, options, link or target)
        text = _Kernel(lowered.function, options, lines, lowered.shared).text()
        linked = [product_of(op).linked for op in walk(lowered.function.body) if op.name == "product"]
        products = tuple(dict.fromkeys(spec for spec in linked if spec is not None))
        return EmittedKernel(text, lowered.shared, lowered.regions, products)
    optimised = run(CUDA, function, accumulate=accumulate, **passes)
    return EmittedKernel(_Kernel(optimised, options, lines).text(), strided=bool(combines(optimised)))


def _expanded(function: Function) -> Function:
    """Return the function with builtins that have no CUDA spelling expanded; vector operators and CUDA text stay."""
    return expand(function, lambda builtin: builtin.cuda is not None, keep_vector_operators=True, keep_text=True)


class _Kernel:
    """The emission of one kernel as CUDA C++: `text()`, called once, returns it."""

    def __init__(self, function: Function, options: Options, lines: bool, shared: int = 0) -> None:
        """Choose names, locals and expressions for a kernel whose blocks need `shared` bytes of shared memory.

        With `lines`, statements get `#line` directives.

        Raises:
            BuildError: the kernel uses a value that no adjoint can have.
        """
        self.function, self.shared, self.index32 = function, shared, options.index32
        self.lines = lines
        self.inlining: Inlining = inline_values(function)
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set(LOCAL_RESERVED)
        for op in walk(function.body):
            if op.name == "unavailable":
                raise BuildError("A value that no adjoint can have reached the CUDA backend.", op.location)
        self.params = [self._name(p, p.name) for p in function.params]
        self.dim = self._fresh("dim")
        self.linear = self._fresh("linear")
        self.head = self._captured()
        self.divides = False
        self.index = self._thread_index()
        locals_ = Locals(function, self.inlining)
        constant = _constant(function) if options.apart else frozenset[Value]()
        plain, compared = plain_arithmetic(function), compared_types(function)
        fields = fields_of(function, options)
        self.expressions = Expressions(self.inlining, plain, options, self._named, fields, constant, compared)
        self.emitter = Emitter(self.expressions, locals_, self.names, self.taken, lines)
        self.emitter.registers = slots_in_registers(function)
        self.emitter.together = together(function)
        if self.divides:
            self.expressions.keys.add(("divide",))
        if options.checks:
            self.emitter.fault, self.emitter.thread = self._fresh("fault"), self.linear
            self.expressions.keys.add(faults.KEY)

    def _fresh(self, base: str) -> str:
        """Return a legal C++ name like `base` that the kernel does not use yet, and reserve it."""
        name = identifier(base, self.taken)
        self.taken.add(name)
        return name

    def _name(self, value: Value, base: str) -> str:
        """Assign a fresh C++ name like `base` to a value, and return it."""
        self.names[value] = self._fresh(base)
        return self.names[value]

    def _named(self, value: Value) -> str:
        """Return the C++ name of a value, from the emitter of statements."""
        return self.emitter.name(value)

    def _ops(self, name: str) -> list[Op]:
        """Return the function's operations that have this name."""
        return [op for op in walk(self.function.body) if op.name == name]

    def _captured(self) -> list[str]:
        """Name the constants of the user's namespace; return the C++ lines that declare them.

        A name that has several types or values in the kernel gets a C++ name for each.
        """
        rows: dict[tuple[str, str, str], str] = {}
        for op in self._ops("const"):
            label = op.attrs.get(CAPTURED)
            if not label:
                continue
            type = scalar_or_vector_of(op.result)
            key = (label, c_type(type), literal(op.attrs[VALUE], type))
            if key not in rows:
                rows[key] = self._fresh(label.replace(".", "_"))
            self.names[op.result] = rows[key]
        return [f"const {type} {name} = {value};" for (_, type, value), name in rows.items()]

    def _thread_index(self) -> list[str]:
        """Return the C++ lines of the linear index, the test against the launch's size, and the indices in use.

        A kernel with accumulators gets a loop over indices in place of the test, whose head is set as `self.loop`;
        a kernel of tiles gets the index of the block.
        """
        ndim = self.function.launch_ndim
        size = " * ".join(f"{self.dim}.n[{axis}]" for axis in range(ndim or 4))
        word, per_block = "long long", "(long long)blockDim.x"
        if self.index32:
            word, per_block = "unsigned int", "blockDim.x"
            size = f"(unsigned int)({size})" if " " in size else f"(unsigned int){size}"
        first_index = f"{word} {self.linear} = blockIdx.x * {per_block} + threadIdx.x"
        rows = [f"{first_index};", f"if ({self.linear} >= {size}) return;"]
        if combines(self.function):
            step = f"{self.linear} += gridDim.x * {per_block}"
            self.loop, rows = f"for ({first_index}; {self.linear} < {size}; {step}) {{", []
        elif self.function.block_dim:
            rows = self._block_index()
        first: dict[int, str] = {}
        labels: dict[int, str] = {}
        for op in self._ops("tid"):
            if op.result.name:
                labels.setdefault(op.attrs[AXIS], op.result.name)
        for op in self._ops("tid"):
            axis = op.attrs[AXIS]
            if axis not in first:
                first[axis] = self._fresh(labels.get(axis) or _AXES[axis])
                rows.append(f"int {first[axis]} = {self._index(axis, ndim)};")
            self.names[op.result] = first[axis]
        for op in self._ops("launch_dim"):
            extent = f"{self.dim}.n[{op.attrs[AXIS]}]"
            self.names[op.result] = f"int({extent})" if self.index32 else extent
        return rows

    def _block_index(self) -> list[str]:
        """Return the C++ lines of the block's linear index, the thread's index in it, and the shared memory."""
        rows = [f"{'unsigned int' if self.index32 else 'long long'} {self.linear} = blockIdx.x;"]
        for op in self._ops("lane"):
            self.names[op.result] = self._fresh("lane")
            rows.append(f"int {self.names[op.result]} = threadIdx.x;")
        if self.shared:
            rows.append(shared_memory(self.shared))
        return rows

    def _index(self, axis: int, ndim: int) -> str:
        """Return the C++ expression of the thread's index along an axis, an int, from the linear index."""
        # One division after the other: the compiler shares them among the axes.
        text = self.linear
        if self.index32:
            for a in range(ndim - 1, axis, -1):
                text = f"wb_div({text}, {self.dim}.n[{a}])"
            text = f"wb_mod({text}, {self.dim}.n[{axis}])" if axis > 0 else text
            self.divides |= ndim > 1
        else:
            text += "".join(f" / {self.dim}.n[{a}]" for a in range(ndim - 1, axis, -1))
            text += f" % {self.dim}.n[{axis}]" if axis > 0 else ""
        return f"(int)({text})" if " " in text and not self.index32 else f"(int){text}"

    def _rows(self) -> list[str]:
        """Return the lines of the body.

        With accumulators, they are a loop over the thread's indices, and the combination after it.
        """
        body = self.function.body
        if not combines(self.function):
            return self.index + emit_block(self.emitter, body)
        first, accumulators = ending(self.function), declared(self.emitter, self.function)
        each = self.index + emit_block(self.emitter, Block(body.params, body.ops[:first]))
        rows = emit_block(self.emitter, Block((), body.ops[first:]))
        return [*accumulators, self.loop, *indented(each), "}", *rows]

    def text(self) -> str:
        """Return the text of prelude and kernel."""
        for op in self._ops("const"):
            self.expressions.require_type(op.result.type)
        rows = self.head + self._rows()
        params = [f"wb_dims {self.dim}"]
        for param, name in zip(self.function.params, self.params, strict=True):
            self.expressions.require_type(param.type)
            if isinstance(param.type, ArrayType):
                self.expressions.keys.add(("array",))
            params.append(f"{c_type(param.type)} {name}")
        if self.emitter.fault:
            params.append(f"{faults.PARAMETER} {self.emitter.fault}")
        head = prelude(self.expressions.keys, self.expressions.builtins, self.expressions.vectors)
        head += "".join(self.emitter.natives.values())
        body = "".join(row + "\n" if row.startswith("#") else f"{INDENT}{row}\n" for row in rows)
        # At least one block: else ptxas may spill a few registers for the sake of a block more.
        bounds = f"__launch_bounds__({self.function.block_dim}, 1) " if self.function.block_dim else ""
        name = f"{bounds}{entry_name(self.function)}"
        return f'{head}\nextern "C" __global__ void {name}({_wrapped(params)})\n{{\n{body}}}\n'


def _constant(function: Function) -> frozenset[Value]:
    """Return the array parameters that the kernel does not change."""
    changed = {v for op in walk(function.body) if op.name not in ("load", "shape", "copy_in") for v in op.operands}
    return frozenset(p for p in function.params if isinstance(p.type, ArrayType) and p not in changed)


def _wrapped(params: Sequence[str]) -> str:
    """Return the parameters on one line, or one per line if that is longer than 90 characters."""
    line = ", ".join(params)
    if len(line) <= 90:
        return line
    return f"\n{INDENT}" + f",\n{INDENT}".join(params)


OPERATIONS: dict[str, Callable[[Lowering, Op], None]] = {
    "tile_map": elements.tile_map,
    "tile_load": elements.tile_load,
    "tile_store": elements.tile_store,
    "tile_atomic_add": elements.tile_atomic_add,
    "tile_extract": elements.tile_extract,
    "tile_insert": elements.tile_insert,
    "tile_place": elements.tile_place,
    "tile_slice": elements.tile_view,
    "tile_transpose": elements.tile_view,
    "tile_reshape": elements.tile_view,
    "tile_broadcast": elements.tile_view,
    "tile_copy": elements.tile_copy,
    "tile_reduce": reduce.tile_reduce,
    "tile_scan": reduce.tile_scan,
    "tile_matmul": multiply.tile_matmul,
    "for": pipeline.for_loop,
}


def tiles_to_threads(function: Function, options: Options, target: str) -> Lowered:
    """Lower operations on tiles to the code of each thread of a block.

    The number of stages in which loops load ahead is the largest with which two blocks fit on a multiprocessor at once;
    if there is none, the largest with which one fits.

    Args:
        function: its reductions contain their combinations (`reduce.with_combinations`).
        options: whether arrays lie in memory without gaps, and apart.
        target: the architecture, for the shared memory that stages of loads may take.
    """
    candidates: list[Lowered] = []
    for stages in range(pipeline.most_stages(target), 0, -1):
        low = Lowering(function, options, stages)
        candidates.append(low.lowered(OPERATIONS))
        if not low.ahead or blocks_at_once(candidates[-1].shared, target) >= 2:
            break
    # Two blocks at once, of which one computes while the other one waits, are worth more than a stage.
    return max(candidates, key=lambda candidate: min(blocks_at_once(candidate.shared, target), 2))
