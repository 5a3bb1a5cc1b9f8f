"""A Python function's launches, copies and fills as a JAX computation: they are recorded, and none of them runs.

The function is called once per signature with stand-in arrays. Each memory that it touches has a flat JAX value, which
every launch, copy and fill replaces with a new one. So what the function changes in place is functional for JAX, whose
own machinery differentiates and batches it, and whose compiler decides what shares memory. Arrays that the function
creates become values of XLA's: nothing is allocated when the program runs.

**Open sizes** are those that `jax.export` leaves open. A stand-in needs a size in bytes, so an open size is an integer
here that remembers the symbol it stands for. Arithmetic keeps both. Comparisons are JAX's, which raises if they cannot
be decided. Other uses of the number in Python (`range(n)`, `n * 0.5`) are invisible, so the function is traced with two
sets of numbers: if the programs differ, it depends on them.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from workbench.api.builds.bind import overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.api.launches.launch import launch as launch_kernel
from workbench.errors import LaunchError
from workbench.frontend.state.definition import Definition
from workbench.interop.jax.launches.array_kernels import glue
from workbench.interop.jax.launches.plan import LaunchConfig, recorded_plan
from workbench.interop.jax.launches.primitives import launch
from workbench.interop.jax.native.descriptor import Kind, Wire, static_bits
from workbench.interop.jax.values.access import BoundsCheck, marker, read_before_written
from workbench.interop.jax.values.arguments import host_values, is_symbolic
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.struct_pytrees import TracedNumber
from workbench.passes.checks.out_of_range import Condition
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.source import Location
from workbench.types import Scalar, Vector, is_float, number_type

_FIRST = (61, 86)  # one odd, one even: `n // 2` is another function of each


class Size(int):
    """Represents a size that `jax.export` leaves open, as a number that stands for it; `dim` is the symbol in JAX."""

    dim: Any

    def __new__(cls, number: int, dim: Any) -> Any:
        """Return the number with its symbol `dim`; where `dim` is a known size, that as a plain int."""
        if not is_symbolic(dim):
            return int(dim)
        size = super().__new__(cls, number)
        size.dim = dim
        return size

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it as a plain int, without its symbol."""
        return int, (int(self),)

    __hash__ = int.__hash__


def _arithmetic(name: str) -> Callable[[Size, Any], Any]:
    """Return the method of `Size` for an operator of int, such as `add` or `radd`: it computes number and symbol."""
    int_method, apply = getattr(int, f"__{name}__"), getattr(operator, name.removeprefix("r"), None)
    apply = apply or getattr(operator, name)

    def method(self: Size, other: Any) -> Any:
        number = int_method(self, other)
        if number is NotImplemented:
            return number
        one, two = self.dim, open_size(other)
        return Size(number, apply(two, one) if name.startswith("r") else apply(one, two))

    return method


def _comparison(name: str) -> Callable[[Size, Any], Any]:
    """Return the method of `Size` for a comparison: by symbols, but by numbers for Workbench's own code."""
    int_method, apply = getattr(int, f"__{name}__"), getattr(operator, name)

    def method(self: Size, other: Any) -> Any:
        decided = int_method(self, other)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        # Our own code compares stand-ins, which are as large as the number says.
        if decided is NotImplemented or caller.partition(".")[0] == "workbench":
            return decided
        return apply(self.dim, open_size(other))

    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod"):
    setattr(Size, f"__{_name}__", _arithmetic(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Size, f"__{_name}__", _comparison(_name))


def open_size(size: Any) -> Any:
    """Return JAX's symbol of an open size; any other size itself."""
    return size.dim if isinstance(size, Size) else size


def open_shape(shape: Sequence[Any]) -> tuple[Any, ...]:
    """Return a shape with JAX's symbols in place of the numbers that stand for open sizes."""
    return tuple(map(open_size, shape))


def is_open(shape: Sequence[Any]) -> bool:
    """Return whether one of the sizes is open, known only when the program runs."""
    return any(isinstance(n, Size) for n in shape)


def stood_for(shape: Sequence[Any], around: int) -> tuple[int, ...]:
    """Return the shape of a stand-in array; an open size has another number in each of the rounds 0 and 1."""
    return tuple(_number(n, around) if is_symbolic(n) else n for n in shape)


_names: dict[str, int] = {}
"""Names of open sizes, numbered in the order in which they were met: no two stand for one number."""


def _number(dim: Any, around: int) -> int:
    """Return the number that stands for a symbolic size in round 0 or 1."""
    numbers = {name: _FIRST[around] + 2 * _names.setdefault(name, len(_names)) for name in dim._get_vars()}
    return Size(int(dim._evaluate(numbers)), dim)


def same_program(one: Any, two: Any) -> bool:
    """Return whether two closed jaxprs have the same text, configurations of launches, and constants."""
    return _shown(one) == _shown(two)


def _shown(closed: Any) -> tuple[Any, ...]:
    """Return what identifies a program: its text, the configurations of its launches, and its constants."""
    consts = tuple((c.dtype.name, c.shape, np.asarray(c).tobytes()) for c in closed.consts)
    return str(closed.jaxpr), tuple(_configs(closed.jaxpr)), consts


def _configs(jaxpr: Any) -> Iterator[Any]:
    """Yield the parts of a jaxpr's launches that its text leaves out."""
    for equation in jaxpr.eqns:
        yield equation.params.get("config")
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", None)
            if inner is not None:
                yield from _configs(inner)


def refuse_part() -> LaunchError:
    """Return the error for a view of a part of an array whose size is open."""
    return LaunchError(
        "This is a part of an array whose size is known only when the program runs.",
        advice="Let a kernel compute the indices, or export for known sizes.",
    )


class ValuesRead(LaunchError):
    """Raised where a traced function reads values that are known only when the program runs; `parameter` names them."""


@dataclass(frozen=True)
class Undefined:
    """Represents the state of a memory that nothing has written; `poisoned` ones are filled with a marker first."""

    poisoned: bool = False


@dataclass(frozen=True)
class Filled:
    """Represents the state of a memory that holds one number everywhere, and is not a value yet."""

    fill_value: Any


class Trace(Observer):
    """Records what a function does, as JAX values.

    Attributes:
        specialisations: those launched, to see later whether they are still current.
        constants: memories from outside the function, with their versions of now.
        checked: whether one of the launches reports faults.
        around: the round, 0 or 1: each has another number for a size known only when the program runs.
    """

    takes = True

    def __init__(self, definition: Definition, code: CodeType, vmap_method: str, around: int = 0) -> None:
        """Begin a trace without recorded work.

        Args:
            definition: the traced function's source.
            code: its code object, by which its frame is found on the stack.
            vmap_method: one of `VMAP_METHODS`, for its launches.
            around: which of two numbers open sizes have, 0 or 1.
        """
        self.definition = definition
        self.specialisations: set[Specialisation] = set()
        self.constants: list[tuple[Memory, int]] = []
        self.checked = False
        self.around = around
        self._code = code
        self._method = vmap_method
        self._values: dict[Memory, Any] = {}
        self._names: dict[Memory, str] = {}
        self._filled: set[Memory] = set()
        self._reached: dict[Any, tuple[Condition, ...]] = {}

    # ---- arrays

    def give(self, target: array, state: Any, name: str) -> None:
        """Let `target`, which the function knows as `name`, hold a JAX value, or be `Undefined` or `Filled`."""
        jnp = library().jnp
        known = isinstance(state, (Undefined, Filled))
        # Flat, since views of one memory have many shapes; each reads its part by offset and strides.
        self._values[target.memory] = state if known else jnp.reshape(state, (-1,))
        self._names[target.memory] = name

    def take(self, source: array) -> Any:
        """Return the JAX value of an array now, with its own shape and the components' axes last."""
        shape = (*open_shape(source.shape), *source.dtype.shape)
        return self._part(source).reshape(shape)

    def is_undefined(self, source: array) -> bool:
        """Return whether nothing has written to an array's memory."""
        return isinstance(self._values.get(source.memory), Undefined)

    def allocating(self, memory: Memory, filled: bool) -> None:
        """Note memory that the function allocates; `filled` says whether it holds known numbers from the start."""
        if filled:
            self._filled.add(memory)
        else:
            self._values[memory] = Undefined()

    def reading(self, source: array) -> None:
        """Refuse to read an array that has a JAX value by now; others, made of numbers or from outside, may be read.

        Raises:
            ValuesRead: it has one: it is a parameter, or a launch, fill or copy has used it.
        """
        # Arrays that the function made of numbers are known: reading them gives what the compiled program would hold.
        if source.memory in self._filled and source.memory not in self._values:
            return
        if source.memory not in self._values:
            return
        name = self._names.get(source.memory, "an array")
        raise self.values_read(f"reads the values of {name}", name)

    def values_read(self, what: str, name: str) -> ValuesRead:
        """Return the error for a function that does `what` with the values of the parameter `name`."""
        return ValuesRead(
            f"{self.definition.name} {what}, which are known only when the compiled program runs.",
            self.location(),
            'Leave that to a kernel, or pass graph_mode="none": the function is then called back in Python each time.',
            self.definition.name,
            parameter=name,
        )

    def location(self) -> Location | None:
        """Return the line of the function that is running now; None if it is not on the stack."""
        # The user's function is somewhere below us on the stack; its frame has the line that runs now.
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code is self._code:
                return Location(self.definition.source, frame.f_lineno)
            frame = frame.f_back
        return None

    def _value(self, memory: Memory, scalar: Scalar) -> Any:
        """Return the flat JAX value of a memory; one from outside the function becomes a constant of the program.

        Raises:
            LaunchError: nothing has written it.
        """
        jnp = library().jnp
        state = self._values.get(memory)
        if state is None:
            if memory not in self._filled:
                # Baked into the program, so the version is kept: if the array changes, the program is traced again.
                self.constants.append((memory, memory.version))
            state = self._values[memory] = jnp.asarray(host_values(memory, scalar))
        if isinstance(state, Undefined):
            name = self._names.get(memory, "an array")
            raise LaunchError(
                f"{self.definition.name} reads {name} before anything wrote it.",
                self.location(),
                f'Fill it first, or give outputs initial values: init={{"{name}": "zeros"}}, or '
                f'in_out_argnames=["{name}"].',
                self.definition.name,
                parameter=name,
            )
        if isinstance(state, Filled):
            state = self._values[memory] = jnp.full(_count(memory, scalar), state.fill_value, scalar.numpy)
        return state

    def _change(self, target: array) -> None:
        """Check that the function may change an array.

        Raises:
            LaunchError: it is neither a parameter nor made inside the function.
        """
        if target.memory not in self._values and target.memory not in self._filled:
            raise LaunchError(
                f"{self.definition.name} changes an array that is neither a parameter nor made inside it.",
                self.location(),
                "Pass it in, named in in_out_argnames, and take it from the results.",
                self.definition.name,
            )

    def _part(self, source: array) -> Any:
        """Return the elements of an array, which may be a view of a part of its memory, flat."""
        value = self._value(source.memory, number_type(source.dtype))
        where = _where(source)
        return value if where is None else value[where]

    # ---- what the function does

    def filling(self, target: array, value: Any) -> None:
        """Record that `target` is filled with a number."""
        self._change(target)
        scalar, where = number_type(target.dtype), _where(target)
        fill_value = value.value if isinstance(value, TracedNumber) else scalar.numpy.type(value)
        if where is None and not isinstance(value, TracedNumber):
            # Not a value yet: a launch that overwrites it all gets the number as the handler's initial value, and no
            # array is made.
            self._values[target.memory] = Filled(fill_value)
        elif where is None:
            self._values[target.memory] = library().jnp.full(_count(target.memory, scalar), fill_value, scalar.numpy)
        elif isinstance(target.dtype, Scalar):
            traced = value if isinstance(value, TracedNumber) else fill_value
            # By a launch, so that the program stays one native segment; XLA's scatter would cut it in two.
            launch_kernel(glue("put", target.ndim), target.shape, inputs=[traced], outputs=[target], checks=False)
        else:
            all_of_it = self._value(target.memory, scalar)
            self._values[target.memory] = all_of_it.at[where].set(fill_value)

    def copying(self, target: array, source: array) -> None:
        """Record that `source` is copied to `target`."""
        self._change(target)
        if self._part_by_launch("move", target, source):
            return
        part, where = self._part(source), _where(target)
        if where is not None:
            part = self._value(target.memory, number_type(target.dtype)).at[where].set(part)
        self._values[target.memory] = part

    def adding(self, target: array, source: array) -> None:
        """Record that `source` is added to `target`."""
        self._change(target)
        if self._part_by_launch("gather", target, source):
            return
        part, where = self._part(source), _where(target)
        all_of_it = self._value(target.memory, number_type(target.dtype))
        self._values[target.memory] = all_of_it + part if where is None else all_of_it.at[where].add(part)

    def _part_by_launch(self, what: str, target: array, source: array) -> bool:
        """Record a copy ("move") or sum ("gather") as a launch, if it can be one; return whether it was recorded.

        It is not where both arrays are all of their memories, which XLA does better, or where the two overlap.
        """
        covers_both = _where(target) is None and _where(source) is None
        # Threads of a launch have no order, so overlapping parts are left to XLA, which reads before it writes.
        if covers_both or overlap({"target": target, "source": source}):
            return False
        launch_kernel(glue(what, target.ndim), target.shape, inputs=[source], outputs=[target], checks=False)
        return True

    def launching(self, record: LaunchRecord) -> None:
        """Record a launch; one that writes nothing, or has no threads, is left out.

        Raises:
            LaunchError: it takes an array of structs, is of CUDA C++, or must reach outside of an array.
        """
        self.specialisations.add(record.specialisation)
        self.checked |= record.executable.checked
        # A launch that changes nothing has no result, so XLA would drop it anyway.
        if record.threads == 0 or not record.writes:
            return
        _refuse_structs(record)
        block = record.block_dim
        if not isinstance(block, int):
            raise LaunchError(
                f"{record.kernel} is launched over a grid of blocks, as CUDA C++ is; that is not supported under JAX.",
                self.location(),
                "Launch it outside of JAX, or write it as a kernel of threads.",
                record.kernel,
            )
        within = self._within(record)
        binding = _Binding(self, record)
        wires = tuple(binding.wire(s.name, s.type) for s in record.executable.layout.slots)
        # Only floats have gradients, so only among them does overlap matter for an adjoint.
        arrays = {n: a for n, a in record.arguments.items() if isinstance(a, array) and is_float(a.dtype)}
        pairs = ((w, a) for w in binding.written for a in arrays.values() if a is not w)
        aliased = any(overlap({"written": w, "other": a}) for w, a in pairs) or binding.twice
        plan = recorded_plan(record, wires, overlap(arrays), aliased)
        operands = tuple(tuple(x.shape) for x in binding.operands)
        sizes = tuple(binding.shapes.get(m, (_count(m, s),)) for m, s in binding.results.items())
        assert isinstance(record.block_dim, int), "CUDA C++, which sees its blocks, is refused before"
        config = LaunchConfig(
            open_shape(record.dim), operands, sizes, values=tuple(binding.statics), vmap_method=self._method,
            views=tuple(binding.views), block=block, within=within,
        )  # fmt: skip
        results = launch(plan, binding.operands, config)
        for memory, result in zip(binding.results, results, strict=True):
            self._values[memory] = library().jnp.reshape(result, (-1,)) if memory in binding.shapes else result

    def _within(self, record: LaunchRecord) -> tuple[Condition, ...]:
        """Return the conditions on open sizes under which a launch stays inside its arrays.

        Raises:
            LaunchError: it must reach outside of one.
        """
        arguments = record.arguments.items()
        shapes = {n: open_shape(a.shape) for n, a in arguments if isinstance(a, array)}
        dims = open_shape(record.dim)
        scalars = {n: v for n, v in arguments if isinstance(v, (bool, int, np.integer, np.bool_))}
        # A loop of a thousand equal launches is looked at once.
        key = (record.executable, dims, *shapes.items(), *scalars.items())
        if key not in self._reached:
            function, outputs = record.executable.function, frozenset[str]()
            bounds_check = BoundsCheck(record.kernel, function, dims, shapes, scalars, outputs, "dim", self.location())
            self._reached[key] = bounds_check.check()
        return self._reached[key]


def _refuse_structs(record: LaunchRecord) -> None:
    """Raise LaunchError if a launch takes an array of structs."""
    name = next((s.name for s in record.executable.layout.slots if getattr(s.type, "pitch", 0)), "")
    if name:
        name = name.partition("[]")[0]
        raise LaunchError(
            f"{name} of {record.kernel} is an array of structs, and those are not supported under JAX.",
            advice="Keep each field in an array of its own.",
            function=record.kernel,
            parameter=name,
        )


class _Binding:
    """Collects the arguments of one launch as operands, results and static values.

    Attributes:
        trace, record: the trace and the launch that it sees.
        operands: JAX values, in order.
        results: the memories that the launch writes, with the type of their numbers, in order.
        statics: the static numbers, as int64 bits.
        views: of each viewed parameter: bytes from its memory's start, shape, strides in bytes.
        shapes: shapes of the arrays of open size, by memory.
        written: the arrays that the launch writes.
        twice: whether one of these is passed for several parameters.
    """

    def __init__(self, trace: Trace, record: LaunchRecord) -> None:
        """Begin without operands; note what the launch writes.

        Raises:
            LaunchError: that is neither a parameter of the traced function nor made inside it.
        """
        self.trace, self.record = trace, record
        self.operands: list[Any] = []
        self.results: dict[Memory, Scalar] = {}
        self.statics: list[int] = []
        self.views: list[tuple[int, ...]] = []
        self.shapes: dict[Memory, tuple[Any, ...]] = {}
        self._operands_and_results: dict[Memory, tuple[int, int, Any]] = {}
        written = [record.arguments[n] for n in record.writes]
        for target in written:
            trace._change(target)
        self.written = written
        self._written = {a.memory for a in written}
        passed = [id(a) for a in record.arguments.values()]
        self.twice = any(passed.count(id(a)) > 1 for a in written)
        self._early: set[Memory] | None = None

    def wire(self, name: str, type: Any) -> Wire:
        """Return the wire of a parameter, whose argument is added to the operands, results or static values."""
        value = self.record.arguments[name]
        if isinstance(value, array):
            return self._array(name, value)
        if isinstance(value, TracedNumber):
            return Wire(name, Kind.SCALAR, type, 0, operand=self._operand(value.value))
        if isinstance(type, Vector):
            return Wire(name, Kind.SCALAR, type, 0, operand=self._operand(np.asarray(value, type.numpy)))
        assert isinstance(type, Scalar)
        self.statics.append(static_bits(type.numpy.type(value)))
        return Wire(name, Kind.SCALAR, type, 0, value=len(self.statics) - 1)

    def _operand(self, value: Any) -> int:
        """Append an operand and return its number."""
        self.operands.append(value)
        return len(self.operands) - 1

    def _array(self, name: str, value: array) -> Wire:
        """Return the wire of an array: a view of its memory, or, with an open size, all of it.

        Raises:
            LaunchError: it is a part of a memory of open size.
        """
        scalar, memory = number_type(value.dtype), value.memory
        if memory not in self._operands_and_results:
            self._operands_and_results[memory] = self._operand_and_result(memory, scalar)
        operand, result, fill = self._operands_and_results[memory]
        if is_open((*value.shape, memory.nbytes)):
            assert isinstance(value.dtype, (Scalar, Vector))
            return self._whole(name, value, Wire(name, Kind.ARRAY, value.dtype, value.ndim, operand, result, fill=fill))
        self.views.append((value.address - memory.address, *value.shape, *value.strides))
        return Wire(name, Kind.ARRAY, scalar, 1, operand, result, fill=fill, view=value.ndim)

    def _whole(self, name: str, value: array, wire: Wire) -> Wire:
        """Return the wire of an array with an open size: it is all of an operand and result of its shape, not a view.

        Raises:
            LaunchError: it is a part of its memory, or another array of the launch has that memory in another shape.
        """
        shape = (*open_shape(value.shape), *value.dtype.shape)
        if self.shapes.setdefault(value.memory, shape) != shape or _where(value) is not None:
            raise refuse_part()
        if wire.operand >= 0:
            self.operands[wire.operand] = library().jnp.reshape(self.operands[wire.operand], shape)
        return wire

    def _read_early(self) -> set[Memory]:
        """Return the memories that the kernel may read before it has written them."""
        if self._early is None:
            read = read_before_written(self.record.executable.function)
            self._early = {a.memory for n, a in self.record.arguments.items() if isinstance(a, array) and n in read}
        return self._early

    def _operand_and_result(self, memory: Memory, scalar: Scalar) -> tuple[int, int, Any]:
        """Return the operand and the result that a memory is, by number (-1: none), and the result's fill (or None)."""
        state, result = self.trace._values.get(memory), -1
        if memory in self._written:
            result = len(self.results)
            self.results[memory] = scalar
            # No operand: nothing there is read before it is written, so XLA's uninitialised result will do.
            if isinstance(state, Undefined) and memory not in self._read_early():
                return -1, result, marker(scalar) if state.poisoned else None
            if isinstance(state, Filled):
                return -1, result, state.fill_value.tobytes()
        return self._operand(self.trace._value(memory, scalar)), result, None


def _count(memory: Memory, scalar: Scalar) -> int:
    """Return how many scalars a memory holds; JAX's symbol if its size is open."""
    return open_size(memory.nbytes // scalar.size)


def _where(view: array) -> Any:
    """Return the elements of its memory that an array is, flat: None for all, a slice, or their indices.

    Raises:
        LaunchError: it is a part of a memory with an open size.
    """
    scalar = number_type(view.dtype)
    start, inner = (view.address - view.memory.address) // scalar.size, view.dtype.size // scalar.size
    count = view.size * inner
    if view.is_contiguous:
        if count == view.memory.nbytes // scalar.size:
            return None
        if not is_open((count, view.memory.nbytes)):
            return slice(start, start + count)
    if is_open((count, view.memory.nbytes)):
        raise refuse_part()
    at = np.full((), start)
    for n, stride in zip(view.shape, view.strides, strict=True):
        at = at[..., None] + np.arange(n) * (stride // scalar.size)
    return (at[..., None] + np.arange(inner)).reshape(-1)
