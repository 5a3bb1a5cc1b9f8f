"""Operations that a backend cannot emit or need not see, replaced by ones it can.

A builtin that is not native is replaced by its declared expansion, again and again. An elementwise builtin on vectors
is done component by component, so that a backend emits scalars alone. Components known from a `vec` are used directly.

A func with a gradient of its own becomes nothing but its body in code that does not differentiate. So the forward
kernel, and its key, are the same whatever gradient somebody writes for a func.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from workbench.builtins import TABLE, Builtin, Ref
from workbench.errors import BuildError
from workbench.ir.build import Builder, Rewriter, replace_body
from workbench.ir.ops import ADJ_CUDA, ADJOINTS, CAPTURED, CUDA, NAME, REFERENCE, REPLAY_CUDA, VALUE, Number
from workbench.ir.values import DERIVE, GRADIENT, REPLAY, Block, Function, Op, Value, closed_blocks, vector_of, walk
from workbench.passes.analysis.intervals import Scopes
from workbench.types import Vector, int32

# What CUDA text has operators on whole vectors for.
VECTOR_OPERATORS = frozenset({"add", "sub", "mul", "div", "neg"})

Native = Callable[[Builtin], bool]


def expand(
    function: Function, native: Native, keep_vector_operators: bool = False, keep_text: bool = False
) -> Function:
    """Return the function with only native builtins, on scalars.

    Args:
        function: any legal IR; what the expansions leave unused is left for `prune`.
        native: whether the backend emits this builtin on scalars.
        keep_text: leave funcs with CUDA text as operations `native`, without their bodies.
        keep_vector_operators: leave native `+ - * /` and negation on whole vectors.

    Raises:
        BuildError: a builtin is neither native nor has an expansion; or, without `keep_text`, a func has CUDA text
            alone.
    """
    return replace_body(function, _Expander(native, keep_vector_operators, keep_text).block(function.body))


class _Expander:
    """Rewrites a function until it has only builtins that a backend emits, on scalars.

    Attributes:
        native: whether the backend emits a builtin.
        keep_text: leave funcs with CUDA text without their bodies.
        keep_vector_operators: leave native `+ - * /` and negation on whole vectors.
        mapping: values to those that replace them.
        constants: the values of constants that are not captured.
        parts: vectors to their components, as far as the open block has them.
        builder: receives the operations.
    """

    def __init__(self, native: Native, keep_vector_operators: bool, keep_text: bool) -> None:
        self.keep_text = keep_text
        self.native = native
        self.keep_vector_operators = keep_vector_operators
        self.mapping: dict[Value, Value] = {}
        self.constants: dict[Value, Number | tuple[Number, ...]] = {}
        self.parts: Scopes[Value, tuple[Value, ...]] = Scopes()
        self.builder = Builder()

    def block(self, block: Block) -> Block:
        """Return the block with its operations expanded; parameters and kept results stay the same values."""
        with self.parts, self.builder.block(block.params) as opened:
            for op in block.ops:
                self.op(op)
        return opened.block

    def op(self, op: Op) -> None:
        """Emit an operation: unchanged if it is native, else by its components or its expansion."""
        self.builder.location = op.location
        operands = tuple([self.mapping.get(v, v) for v in op.operands])
        builtin = TABLE.get(op.name)
        if builtin is None:
            self.core(op, operands)
        elif self.by_components(builtin, op):
            self.componentwise(op, operands)
        elif self.native(builtin):
            self.keep(op, operands)
        else:
            self.replace(builtin, op, operands)

    def by_components(self, builtin: Builtin, op: Op) -> bool:
        """Return whether a builtin's operation on vectors is emitted component by component."""
        keeps_vector = self.keep_vector_operators and op.name in VECTOR_OPERATORS and self.native(builtin)
        return builtin.elementwise and isinstance(op.result.type, Vector) and not keeps_vector

    def keep(self, op: Op, operands: tuple[Value, ...]) -> None:
        """Emit an operation itself, with these operands and its blocks expanded."""
        if op.blocks or operands != op.operands:
            op = op.replace(operands, blocks=tuple([self.block(b) for b in op.blocks]))
        self.builder.append(op)

    def core(self, op: Op, operands: tuple[Value, ...]) -> None:
        """Emit an operation that is no builtin, with its blocks expanded.

        A `custom` becomes the operations of its body, or its text; an `extract` of a component that is known, nothing.

        Raises:
            BuildError: a func has CUDA text alone, and `keep_text` is not set.
        """
        if op.name == "custom" and op.attrs.get(CUDA) and self.keep_text:
            # Its Python body goes: on CUDA the text is the meaning, and dead code would remain.
            self.builder.append(Op("native", operands, op.results, op.attrs, (), op.location))
            return
        if op.name == "custom":
            if not op.attrs.get(REFERENCE, True):
                raise BuildError(
                    f"{op.attrs[NAME]} has CUDA text and no Python body, so it runs on a CUDA device alone.",
                    op.location,
                    "Write its meaning in Python as the body of its def, in place of `...`.",
                )
            for inner in op.blocks[0].ops[:-1]:
                self.op(inner)
            yielded = (self.mapping.get(v, v) for v in op.blocks[0].yielded)
            self.mapping.update(zip(op.results, yielded, strict=True))
            return
        if op.name == "extract":
            known, index = self.parts.get(operands[0]), self.constants.get(operands[1])
            # An index outside is left to the backend, which defines what it gives.
            if known is not None and isinstance(index, int) and 0 <= index < len(known):
                self.mapping[op.result] = known[index]
                return
        elif op.name == "vec":
            self.parts[op.result] = operands
        # A captured constant stays a name, so that a key can say which one has changed.
        elif op.name == "const" and not op.attrs.get(CAPTURED):
            self.constants[op.result] = op.attrs[VALUE]
        self.keep(op, operands)

    def componentwise(self, op: Op, operands: tuple[Value, ...]) -> None:
        """Emit a scalar operation for each component; a scalar operand (the condition of `where`) serves them all."""
        type = vector_of(op.result)
        columns = [self.components(v) if isinstance(v.type, Vector) else (v,) * type.length for v in operands]
        results: list[Value] = []
        for row in zip(*columns, strict=True):
            result = Value(type.dtype)
            self.op(op.replace(row, results=(result,)))
            results.append(self.mapping.get(result, result))
        self.parts[op.result] = tuple(results)
        self.builder.append(Op("vec", tuple(results), op.results, {}, (), op.location))

    def components(self, vector: Value) -> Sequence[Value]:
        """Return the components of a vector: the operands of its `vec`, or extracted once for the open block."""
        if vector in self.parts:
            return self.parts[vector]
        type = vector_of(vector)
        known = self.constants.get(vector)
        if isinstance(known, tuple):
            literals = tuple(self.builder.const(c, type.dtype) for c in known)
        else:
            numbers = [self.builder.const(i, int32) for i in range(type.length)]
            literals = tuple(self.builder.one("extract", (vector, n), type.dtype) for n in numbers)
        self.parts[vector] = literals
        return literals

    def replace(self, builtin: Builtin, op: Op, operands: tuple[Value, ...]) -> None:
        """Emit the builtin's expansion, itself expanded; its last operation takes over the result's value and name.

        Raises:
            BuildError: it has no expansion.
        """
        if builtin.expand is None:
            raise BuildError(f"This backend cannot emit {op.name}(), and there is no expansion of it.", op.location)
        scratch = Builder()
        scratch.location = op.location
        value = builtin.expand(*(Ref(scratch, v) for v in operands)).value
        assert value.type == op.result.type, f"the expansion of {op.name} gives {value.type!r}, not {op.result.type!r}"
        ops = scratch.body().ops
        if ops and ops[-1].results == (value,):
            last = ops[-1]
            ops = (*ops[:-1], last.replace(results=op.results))
            value = op.result
        for inner in ops:
            self.op(inner)
        if value is not op.result:
            self.mapping[op.result] = self.mapping.get(value, value)


def has_customs(function: Function) -> bool:
    """Return whether the function has a `custom` operation."""
    return "custom" in function.body.op_names


def without_customs(function: Function) -> Function:
    """Return the function with each `custom` replaced by its body, and without constants that only gradients use.

    One with CUDA text stays, without its gradients: the text is what the func is on CUDA. A function without `custom`s
    is returned as it is.
    """
    if not has_customs(function):
        return function
    body = Rewriter(_stripped).block(function.body)
    used = _captured(body)
    # A constant that only a gradient reads must not be in the forward key: changing it changes no forward code.
    theirs = {name for op in walk(function.body) for closed in closed_blocks(op) for name in _captured(closed)} - used
    return replace(function, body=body, captured=tuple(c for c in function.captured if c.name not in theirs))


def _captured(block: Block) -> set[str]:
    """Return the names of the captured constants in a block and in the blocks that are attributes in it."""
    names = {op.attrs[CAPTURED] for op in walk(block) if op.name == "const" and op.attrs.get(CAPTURED)}
    return names.union(*(_captured(closed) for op in walk(block) for closed in closed_blocks(op)))


def _stripped(on: Rewriter, op: Op) -> Iterable[Op] | None:
    """Return the body of a `custom`, or one with CUDA text without its gradients; None for another operation."""
    if op.name != "custom":
        return None
    if op.attrs.get(CUDA):
        return (on.inside(op.replace(attrs={**op.attrs, **_NO_GRADIENT})),)
    body = on.block(op.blocks[0])
    on.mapping.update(zip(op.results, body.yielded, strict=True))
    return body.ops[:-1]


_NO_GRADIENT = {**dict.fromkeys((GRADIENT, REPLAY, ADJ_CUDA, REPLAY_CUDA, DERIVE)), ADJOINTS: ()}
