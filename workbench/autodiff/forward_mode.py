"""Forward mode: the tangent of a kernel, and of one number by those it is computed from.

The tangent of a kernel is IR: the kernel as it is, and beside every value that carries a derivative its tangent. A load
reads `tan_x` where the kernel reads x, a store writes both, a loop carries both. Nothing has to be kept or had again,
so there is a tangent wherever the builtins have rules; of an adjoint too, which is what second derivatives are made of.

The derivatives of one number by the numbers it is computed from are operations: what `grad(f)` in a kernel becomes.
Each is the tangent along one number; what they share is found by the passes behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import tangent_names
from workbench.autodiff.analysis.activity import active_values, influenced
from workbench.autodiff.reverse.emitter import Emitter, relabelled, written, zero
from workbench.autodiff.reverse.linear import pushed, pushed_through
from workbench.autodiff.reverse.recompute import written_out
from workbench.errors import NotDifferentiable
from workbench.ir.build import Builder, copy_block, fresh
from workbench.ir.ops import ADJOINTS, KIND, LEAD, NAME, REFERENCE, TILED
from workbench.ir.values import GRADIENT, Block, Function, Op, Value, array_of, scalar_or_vector_of, walk
from workbench.ir.values import walk as every
from workbench.ir.verify import verify
from workbench.passes.memory.atomics import owned_arrays
from workbench.passes.pipeline import LOWERED, TANGENT, run
from workbench.types import ArrayType, Vector, element, is_float

# How many operands of each stand before the initial values of what it carries.


def tangent(function: Function) -> Function:
    """Return the function that runs a kernel and, with it, its derivative along tangents of the parameters.

    Its parameters are the kernel's, then for each one with a float type `tan_<name>` of the same type: an array for an
    array, a number for a number. A launch of it has the kernel's dimensions and does all that the kernel does; besides,
    for every array x, `tan_x` becomes the tangent of what x has become.

    Args:
        function: a kernel, an adjoint, or a tangent.

    Raises:
        NotDifferentiable: it works on tiles, or a derivative would flow through what has none; `location` is the line.
    """
    # Before the walk, so that the error names the first line with a tile and not the first rule that is missing.
    _refuse_tiles(function)
    walk = Walk(function)
    return verify(relabelled(run(TANGENT, walk.whole_tangent(), recompute=written_out), walk.builder.labels))


def _refuse_tiles(function: Function) -> None:
    """Check that a function has no operations on tiles.

    Raises:
        NotDifferentiable: it has one; `location` is the first.
    """
    first = next((op for op in every(function.body) if op.name in TILED), None)
    if first is not None:
        raise NotDifferentiable(
            "Forward mode of operations on tiles is not built yet.",
            first.location,
            function=function.name,
            advice="Use reverse mode: a wb.Tape, or launch_tiled(…, adjoint=True).",
        )


class Traced(msgspec.Struct, frozen=True, eq=False):
    """A tangent before anything in it is simplified, with maps from the kernel to it.

    Attributes:
        function: the tangent.
        copies: the kernel's operations to their copies in it.
        tangents: the kernel's values to their tangents.
    """

    function: Function
    copies: Mapping[Op, Op]
    tangents: Mapping[Value, Value]


def traced_tangent(function: Function) -> Traced:
    """Return a kernel's tangent, not simplified, for tools that watch it run.

    Raises:
        NotDifferentiable: a derivative would flow through what has none; `location` is the line.
    """
    walk = Walk(function)
    return Traced(walk.whole_tangent(), walk.copies, walk.tangents)


class Walk:
    """A walk over a kernel that emits its tangent.

    Attributes:
        env: the kernel's values to those of the tangent function.
        tangents: the kernel's values to their tangents.
        active: the values that have a tangent; by default those that influence what the function writes.
        arrays: the float parameters, numbers among them, to the parameters that hold their tangents.
        owned: the arrays of which each thread touches only elements of its own.
        decided: the results of `owned` operations to what they are.
        primal: the tangent function's own versions of the kernel's parameters.
        copies: the kernel's operations to their copies.
    """

    def __init__(self, function: Function, active: frozenset[Value] | None = None) -> None:
        self.function = function
        names = tangent_names(function.params)
        self.name = function.name
        self.builder = Emitter()
        self.active = active_values(function) if active is None else active
        self.owned = owned_arrays(function)
        self.decided = {o.result: o.operands[0] in self.owned for o in every(function.body) if o.name == "owned"}
        self.primal = [fresh(p) for p in function.params]
        self.env = dict(zip(function.params, self.primal, strict=True))
        self.arrays = {p: Value(p.type, names[p.name]) for p in function.params if is_float(p.type)}
        self.tangents = {p: v for p, v in self.arrays.items() if p in self.active}
        self.copies: dict[Op, Op] = {}

    def whole_tangent(self) -> Function:
        """Walk over the whole kernel; return its tangent, not simplified."""
        f = self.function
        self.ops(f.body.ops)
        params = (*self.primal, *self.arrays.values())
        return replace(f, name=f"{f.name}_tangent", params=params, body=self.builder.body())

    def ops(self, ops: Sequence[Op]) -> None:
        """Emit each operation and its tangent."""
        for op in ops:
            self.builder.location = op.location
            _STRUCTURED.get(op.name, Walk.plain)(self, op)

    def plain(self, op: Op) -> None:
        """Emit a copy of an operation without blocks, and its tangent."""
        names = [v.name for v in op.results]
        operands = [self.env[v] for v in op.operands]
        emitted = self.builder.emit(op.name, operands, [v.type for v in op.results], op.attrs, (), names)
        self.copies[op] = emitted
        self.env.update(zip(op.results, emitted.results, strict=True))
        if op.name in _EFFECTS:
            _EFFECTS[op.name](self, op)
        elif op.name in _SLOTS:
            _SLOTS[op.name](self, op)
        elif any(v in self.active for v in op.results):
            self.set(op.result, _VALUES.get(op.name, Walk.builtin)(self, op))

    def set(self, value: Value, derivative: Value) -> None:
        """Record a value's tangent."""
        assert derivative.type == value.type, f"the tangent of {value.type!r} is {derivative.type!r}"
        self.tangents[value] = derivative
        self.builder.label(derivative, value.name and f"tan_{value.name}")

    def tangent(self, value: Value) -> Value:
        """Return a value's tangent; a constant 0 if it has none."""
        known = self.tangents.get(value)
        return known if known is not None else zero(self.builder, value.type).value

    def not_differentiable(self, message: str, op: Op, advice: str) -> NotDifferentiable:
        """Return the error that an operation has no tangent."""
        return NotDifferentiable(message, op.location, advice=advice, function=self.name)

    def tangent_element(self, op: Op) -> list[Value]:
        """Return the tangent array and the indices of a memory operation; a `reduce_add` has no indices."""
        array = op.operands[0]
        count = 0 if op.name == "reduce_add" else array_of(array).ndim
        return [self.arrays[array], *(self.env[v] for v in op.operands[1 : 1 + count])]

    # Effects.

    def store(self, op: Op) -> None:
        """Emit the store of a value's tangent into the tangent array; nothing if the array is not one of floats."""
        if op.operands[0] in self.arrays:
            self.builder.store(*self.tangent_element(op), self.tangent(op.operands[-1]))

    def added(self, op: Op) -> None:
        """Emit the addition of a value's tangent to the tangent array; nothing if the array is not one of floats.

        Raises:
            NotDifferentiable: the old value is used, of an array that other threads may add to: which value a thread
                got is not the same for both.
        """
        array, value = op.operands[0], op.operands[-1]
        if array not in self.arrays:
            return
        # The old value of an element that only this thread touches is the sum so far, whose tangent is the tangents'
        # sum.
        used = bool(op.results) and op.result in self.active
        if used and array not in self.owned:
            raise self.not_differentiable(
                "The old value that atomic_add returns is used here in a way that has no derivative yet.",
                op,
                "Use the array in a second kernel.",
            )
        if value in self.tangents or used:
            types = [v.type for v in op.results]
            emitted = self.builder.emit(op.name, (*self.tangent_element(op), self.tangent(value)), types)
            if used:
                self.set(op.result, emitted.result)

    def atomic(self, op: Op) -> None:
        """Do nothing for an atomic change of an integer, which has no tangent.

        Raises:
            NotDifferentiable: it changes floats: the tangent would have to change in the same instant.
        """
        if op.operands[0] in self.arrays:
            name = op.operands[0].name
            what = f"atomic_{op.attrs[KIND]} on" if op.name == "atomic" else "An atomic change of"
            raise self.not_differentiable(
                f"{what} {name} has no tangent: {name} and its tangent cannot change at once.",
                op,
                "Write each thread's value to an array, and combine them in a loop.",
            )

    # Slots: beside those of values others of tangents.

    def slots(self, op: Op) -> None:
        """Emit slots for the tangents of what slots hold; none if that is not active."""
        if op.result in self.active:
            self.tangents[op.result] = self.builder.one("slots", (), op.result.type)

    def slot_write(self, op: Op) -> None:
        """Emit the write of a stored value's tangent to the tangents' slots."""
        slots, index, value = op.operands
        if slots in self.tangents:
            self.builder.slot_write(self.tangents[slots], self.env[index], self.tangent(value))

    def slot_read(self, op: Op) -> None:
        """Emit the read of a value's tangent from the tangents' slots."""
        slots, index = op.operands
        if op.result in self.active:
            self.set(op.result, self.builder.slot_read(self.tangents[slots], self.env[index]))

    # Operations with a value.

    def load(self, op: Op) -> Value:
        """Emit the load of an element of the tangent array."""
        return self.builder.load(*self.tangent_element(op))

    def cast(self, op: Op) -> Value:
        """Emit the tangent cast to the result's type."""
        return self.builder.cast(self.tangent(op.operands[0]), op.result.type)

    def vec(self, op: Op) -> Value:
        """Emit the vector of the components' tangents."""
        return self.builder.one("vec", [self.tangent(v) for v in op.operands], op.result.type)

    def extract(self, op: Op) -> Value:
        """Emit the same component of the vector's tangent."""
        vector, index = op.operands
        return self.builder.one("extract", (self.tangent(vector), self.env[index]), op.result.type)

    def insert(self, op: Op) -> Value:
        """Emit the vector's tangent with one component replaced by the scalar's tangent."""
        vector, index, scalar = op.operands
        return self.builder.one("insert", (self.tangent(vector), self.env[index], self.tangent(scalar)), vector.type)

    def builtin(self, op: Op) -> Value:
        """Emit the tangent of a builtin's result, by its adjoint rule, transposed."""
        ref = self.builder.ref
        inputs = [ref(self.tangents[v]) if v in self.tangents else None for v in op.operands]
        operands = [ref(self.env[v]) for v in op.operands]
        return pushed(op, operands, ref(self.env[op.result]), inputs, self.name).value

    # Structure.

    def branch(self, op: Op) -> None:
        """Emit an `if` whose sides yield tangents as well.

        Of one whose condition is an `owned`, which is decided here, only the side that runs is emitted.
        """
        if op.operands[0] in self.decided:
            self.ops(op.blocks[0 if self.decided[op.operands[0]] else 1].ops[:-1])
            return
        positions = [s for s, v in enumerate(op.results) if v in self.active]
        blocks = [self.nested(block, (), positions) for block in op.blocks]
        self.structured(op, (self.env[op.operands[0]],), positions, blocks)

    def loop(self, op: Op) -> None:
        """Emit a loop that carries tangents as well."""
        first = LEAD[op.name]
        bodies = op.blocks
        # A carried value may become active only by what the body yields: parameters count as well as results.
        positions = [
            s
            for s, v in enumerate(op.results)
            if v in self.active or any(b.params[len(b.params) - len(op.results) + s] in self.active for b in bodies)
        ]
        operands = [*(self.env[v] for v in op.operands), *(self.tangent(op.operands[first + s]) for s in positions)]
        blocks: list[Block] = []
        for number, block in enumerate(bodies):
            lead = len(block.params) - len(op.results)
            carried = [block.params[lead + s] for s in positions]
            # The condition block of a `while` yields one bool, which has no tangent.
            condition = op.name == "while" and number == 0
            blocks.append(self.nested(block, carried, () if condition else positions))
        self.structured(op, operands, positions, blocks)

    def custom(self, op: Op) -> None:
        """Emit a func's call and its tangent: that of its body, or the transpose of a gradient that the user wrote.

        Raises:
            NotDifferentiable: it is CUDA text, or has a gradient and takes an array of floats.
        """
        (body,) = op.blocks
        if not op.attrs.get(REFERENCE, True):
            advice = "Write its meaning in Python as the body of its def."
            raise self.not_differentiable(f"{op.attrs[NAME]} is CUDA text, whose tangent is not known.", op, advice)
        gradient = op.attrs.get(GRADIENT)
        if gradient is None or not any(v in self.active for v in op.results):
            self.ops(body.ops[:-1])
            pairs = list(zip(op.results, body.yielded, strict=True))
            self.env.update((r, self.env[v]) for r, v in pairs)
            self.tangents.update((r, self.tangents[v]) for r, v in pairs if v in self.tangents)
            return
        # Transposed, each of the gradient's additions to an adjoint array would be a load from a tangent array; that is
        # not written yet.
        if any(isinstance(v.type, ArrayType) and is_float(v.type) for v in op.operands):
            raise self.not_differentiable(
                f"{op.attrs[NAME]} has a gradient of its own and takes an array: it has no tangent yet.",
                op,
                "Hand elements to it, not arrays.",
            )
        # The results come from the func itself; only the derivative is taken from the gradient, transposed.
        written([op], self.env, self.builder)
        inputs = [self.env[v] for v in op.operands]
        tangents = [self.tangents.get(op.operands[k]) for k in op.attrs[ADJOINTS]]
        pushed = pushed_through(gradient, inputs, op.results, tangents, self.builder, self.name)
        for value, one in zip(op.results, pushed, strict=True):
            if is_float(value.type):
                self.set(value, one)

    def nested(self, block: Block, carried: Sequence[Value], positions: Sequence[int]) -> Block:
        """Emit a block that has tangents of values it carries as more parameters, and yields more tangents.

        Args:
            block: the kernel's block.
            carried: parameters whose tangents become parameters.
            positions: the numbers of the yielded values whose tangents are yielded, too.
        """
        params = [fresh(p) for p in block.params]
        tangents_in = [Value(p.type, p.name and f"tan_{p.name}") for p in carried]
        self.env.update(zip(block.params, params, strict=True))
        self.tangents.update(zip(carried, tangents_in, strict=True))
        with self.builder.block((*params, *tangents_in)) as opened:
            self.ops(block.ops[:-1])
            self.builder.location = block.ops[-1].location
            tangents = [self.tangent(block.yielded[s]) for s in positions]
            self.builder.yield_(*(self.env[v] for v in block.yielded), *tangents)
        return opened.block

    def structured(self, op: Op, operands: Sequence[Value], positions: Sequence[int], blocks: Sequence[Block]) -> None:
        """Emit an `if` or a loop with more results: the tangents of the results in `positions`."""
        more = [op.results[s] for s in positions]
        types = [v.type for v in (*op.results, *more)]
        names = [*(v.name for v in op.results), *(v.name and f"tan_{v.name}" for v in more)]
        self.builder.location = op.location
        self.copies[op] = self.builder.emit(op.name, operands, types, op.attrs, blocks, names)
        results, count = self.copies[op].results, len(op.results)
        self.env.update(zip(op.results, results[:count], strict=True))
        self.tangents.update(zip(more, results[count:], strict=True))


_STRUCTURED: dict[str, Callable[[Walk, Op], None]] = {
    "if": Walk.branch,
    "for": Walk.loop,
    "while": Walk.loop,
    "custom": Walk.custom,
}
_EFFECTS: dict[str, Callable[[Walk, Op], None]] = {
    "store": Walk.store,
    "atomic_add": Walk.added,
    "reduce_add": Walk.added,
    "atomic": Walk.atomic,
    "atomic_load": Walk.atomic,
    "atomic_swap": Walk.atomic,
}
_SLOTS: dict[str, Callable[[Walk, Op], None]] = {
    "slots": Walk.slots,
    "slot_read": Walk.slot_read,
    "slot_write": Walk.slot_write,
}
_VALUES: dict[str, Callable[[Walk, Op], Value]] = {
    "load": Walk.load,
    "cast": Walk.cast,
    "vec": Walk.vec,
    "extract": Walk.extract,
    "insert": Walk.insert,
}


def derivatives(name: str, block: Block, inputs: Sequence[Value]) -> tuple[list[Op], list[Value]]:
    """Return operations that compute the derivatives of a block's only result, a float; and the derivatives.

    These are in the order of `inputs`, each with the type of its input.

    Args:
        name: the func's, for messages.
        block: its operations; they may use values from outside, which are taken to be constant.
        inputs: float numbers and vectors that the block uses.

    Raises:
        NotDifferentiable: something on the way has no derivative.
    """
    value = block.yielded[0]
    out = Value(ArrayType(scalar_or_vector_of(value)), "out")
    builder = Builder()
    builder.location = block.ops[-1].location
    builder.extend(block.ops[:-1])
    builder.store(out, builder.const(0), value)
    body = builder.body()
    ops = walk(body)
    inside = {v for op in ops for v in (*op.results, *(p for b in op.blocks for p in b.params))}
    outside = dict.fromkeys(v for op in ops for v in op.operands if v not in inside)
    params = tuple(dict.fromkeys((*inputs, *outside)))
    function = run(LOWERED, Function(name, params, body))
    emitted_ops: list[Op] = []
    return emitted_ops, [_by_input(function, variable, emitted_ops) for variable in inputs]


def _by_input(function: Function, variable: Value, ops: list[Op]) -> Value:
    """Append the operations of the derivative by an input to `ops`; return it: a vector if the input is one."""
    kind = variable.type
    if not isinstance(kind, Vector):
        return _directional(function, variable, None, ops)
    parts = [_directional(function, variable, k, ops) for k in range(kind.length)]
    builder = Builder()
    builder.location = function.body.ops[-1].location
    vector = builder.one("vec", parts, kind)
    ops += builder.body().ops
    return vector


def _directional(function: Function, variable: Value, component: int | None, ops: list[Op]) -> Value:
    """Append the operations of the derivative along one number to `ops`; return it, in the number's type.

    Args:
        function: computes the result.
        variable: the input.
        component: the number's position in a vector; None: the input is a number.
        ops: receives the operations.
    """
    body = copy_block(function.body, {})
    emitter = Emitter()
    emitter.location = function.body.ops[-1].location
    one = emitter.const(1.0, element(variable.type))
    if component is not None:
        assert isinstance(variable.type, Vector)
        none = emitter.const(0.0, element(variable.type))
        one = emitter.one("vec", [one if k == component else none for k in range(variable.type.length)], variable.type)
    store = body.ops[-1]
    forward = Walk(Function(function.name, function.params, body), influenced(body, (variable,)))
    forward.builder, forward.arrays = emitter, {}
    forward.env = {p: p for p in function.params}
    forward.tangents = {variable: one}
    forward.ops(body.ops[:-1])
    emitter.location = store.location
    tangent = emitter.cast(forward.tangent(store.operands[-1]), element(variable.type))
    ops += emitter.body().ops
    return tangent
