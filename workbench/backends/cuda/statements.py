"""Blocks of IR as C++ statements: locals, assignments, `if`, `for`, `while`.

A block's yield is a set of assignments made at once (a swap must stay one), put in an order in which none overwrites
what another still reads, with a temporary where they go in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.backends.cuda.cpp import atomics, cuda_funcs, faults, prints
from workbench.backends.cuda.cpp.c_names import C_TYPES, c_type, form_of, identifier, members
from workbench.backends.cuda.cpp.expression import ATOM, Expressions, Text
from workbench.backends.cuda.cpp.locals import Locals
from workbench.backends.cuda.tiles.text import STATEMENTS as TOGETHER
from workbench.builtins import TABLE
from workbench.errors import BuildError
from workbench.ir.values import ATOMIC_KINDS, Block, Op, Value
from workbench.types import ArrayType, Kind, Scalar, Slots, Vector, element

INDENT = "    "
_ATOMIC = frozenset({"float32", "float64", "int32", "uint32", "uint64"})
_COMPOUND = frozenset({"add", "sub", "mul", "div"})


class Statements:
    """Writes statements, one block after the other; knows which locals are declared where it stands."""

    def __init__(
        self, expressions: Expressions, locals_: Locals, names: dict[Value, str], taken: set[str], lines: bool
    ) -> None:
        self.expressions = expressions
        self.folding = expressions.folding
        self.locals = locals_
        self.names = names
        self.taken = taken
        self.lines = lines
        self.fault = self.thread = ""
        self.natives: dict[str, str] = {}
        self.declared: set[Value] = set()
        self.line = 0

    def name(self, value: Value) -> str:
        """The name of a parameter, an index, or the local that holds the value."""
        return self.names[value] if value in self.names else self.names[self.locals.of(value)]

    def of(self, block: Block) -> list[str]:
        """The block's statements, its yield excluded; names declared inside are free again after it."""
        declared, taken = set(self.declared), set(self.taken)
        rows = self._rows(block)
        self.declared, self.taken = declared, taken
        return rows

    def _rows(self, block: Block) -> list[str]:
        rows: list[str] = []
        for op in block.ops:
            if op.name in ("yield", "tid", "lane", "launch_dim") or any(v in self.folding.folded for v in op.results):
                continue
            place = self._place(op)
            made = _STATEMENTS.get(op.name, Statements._plain)(self, op)
            rows += ([place] if place and made else []) + made
        return rows

    def _place(self, op: Op) -> str:
        if not self.lines or not op.location.line or op.location.line == self.line:
            return ""
        self.line = op.location.line
        return f'#line {self.line} "/cell/{op.location.source.label}"'

    def _declare(self, value: Value) -> str:
        """The left side of an assignment to the value's local: with its type where it is new here."""
        local = self.locals.of(value)
        if local in self.declared:
            return self.names[local]
        self.declared.add(local)
        labels = sorted({m.name for m in self.locals.members(local) if m.name}, key=lambda n: (len(n), n))
        self.names[local] = identifier(value.name or (labels[0] if labels else "t"), self.taken)
        self.taken.add(self.names[local])
        self.expressions.meet(value.type)
        return f"{c_type(value.type)} {self.names[local]}"

    def _plain(self, op: Op) -> list[str]:
        """An operation with one result: a new local, or an assignment to a shared one."""
        if op.result not in self.folding.uses:
            return []
        text = self.expressions.op(op)
        declared = self.locals.of(op.result) in self.declared
        left = self._declare(op.result)
        if declared and op.name in _COMPOUND and self._in_place(op, left):
            return [f"{left} {TABLE[op.name].operator}= {self.expressions.argument(op.operands[1])};"]
        return [f"{left} = {text.text};"]

    def _update(self, left: str, value: Value) -> str:
        """The operator and right side that give an existing local this value."""
        op = self.folding.definition[value] if value in self.folding.folded else None
        if op is not None and op.name in _COMPOUND and self._in_place(op, left):
            return f"{TABLE[op.name].operator}= {self.expressions.argument(op.operands[1])}"
        return f"= {self.expressions.argument(value)}"

    def _in_place(self, op: Op, left: str) -> bool:
        """Whether `a = a + b` may be written `a += b`."""
        type = op.result.type
        if not isinstance(type, Scalar) or type.bits < 32:
            return False
        wraps = type.kind is Kind.INT and op not in self.expressions.plain
        return not wraps and self.expressions.of(op.operands[0]) == Text(left, ATOM)

    def _insert(self, op: Op) -> list[str]:
        """A vector with one component changed: in place where the old vector is no longer needed."""
        vector, index, value = op.operands
        constant = self.folding.definition.get(index)
        if constant is None or constant.name != "const":
            return self._plain(op)
        self.expressions.meet(op.result.type)
        local = self.locals.of(op.result)
        if local in {self.locals.of(leaf) for leaf in self.folding.leaves(value)} - {self.locals.of(vector)}:
            return self._plain(op)
        part, text = self.expressions.argument(vector), self.expressions.argument(value)
        left = self._declare(op.result)
        name = self.name(op.result)
        rows = [] if part == name else [f"{left} = {part};"]
        assert isinstance(op.result.type, Vector)
        member = members(form_of(op.result.type))[int(constant.attrs["value"])]
        return [*rows, f"{name}.{member} = {text};"]

    def _store(self, op: Op) -> list[str]:
        array, *indices, value = op.operands
        return [f"{self.expressions.element(array, tuple(indices)).text} = {self.expressions.argument(value)};"]

    def _atomic_add(self, op: Op) -> list[str]:
        array, *indices, value = op.operands
        place = self.expressions.element(array, tuple(indices)).text
        call = f"{self._atomic_name(op)}(&{place}, {self.expressions.argument(value)})"
        if op.result not in self.folding.uses:
            return [f"{call};"]
        return [f"{self._declare(op.result)} = {call};"]

    def _atomic(self, op: Op) -> list[str]:
        array, *rest = op.operands
        count = ATOMIC_KINDS[op.attrs["kind"]]
        place = self.expressions.element(array, tuple(rest[:-count])).text
        name, key = atomics.function(op.attrs["kind"], element(op.result.type))
        self.expressions.keys |= {key} if key else set()
        call = f"{name}({', '.join([f'&{place}', *map(self.expressions.argument, rest[-count:])])})"
        return [f"{self._declare(op.result)} = {call};" if op.result in self.folding.uses else f"{call};"]

    def _native(self, op: Op) -> list[str]:
        """A call of a function with the user's text; several results go through references."""
        for value in (*op.operands, *op.results):
            self.expressions.meet(value.type)
            if isinstance(value.type, ArrayType):
                self.expressions.keys.add(("array",))
        given = [self.name(v) if isinstance(v.type, ArrayType) else self.expressions.argument(v) for v in op.operands]
        name = cuda_funcs.function(op, self.natives)
        if op.attrs["outputs"]:
            rows = [f"{self._declare(v)} = {{}};" for v in op.results]
            return [*rows, f"{name}({', '.join([*given, *map(self.name, op.results)])});"]
        call = f"{name}({', '.join(given)});"
        return [f"{self._declare(op.result)} = {call}" if any(v in self.folding.uses for v in op.results) else call]

    def _print(self, op: Op) -> list[str]:
        return prints.spell_print(self.expressions, op)

    def _fault(self, op: Op) -> list[str]:
        return [faults.report(self.expressions, op, self.fault, self.thread)]

    def _atomic_name(self, op: Op) -> str:
        """The function that adds to an element of this type: the hardware's, or one of the prelude."""
        type = op.operands[-1].type
        scalar = element(type)
        if scalar.kind is Kind.BOOL:
            raise BuildError("atomic_add() has no meaning for bools.", op.location, "Use an int array.")
        keys = self.expressions.keys
        if scalar.is_half:
            keys |= {
                ("atomic_half", scalar.name),
                *([("atomic_vec", form_of(type))] if isinstance(type, Vector) else []),
            }
            return "wb_atomic_add"
        if isinstance(type, Vector):
            if scalar.bits < 32:
                raise BuildError(f"atomic_add() of {type.name} has no CUDA spelling.", op.location, "Use 32-bit parts.")
            keys |= {("atomic_vec", form_of(type)), *([("atomic64",)] if scalar.name == "int64" else [])}
            return "wb_atomic_add"
        if scalar.name in _ATOMIC:
            return "atomicAdd"
        keys.add(("atomic64",) if scalar.bits == 64 else ("atomic_small",))
        return "wb_atomic_add" if scalar.bits == 64 else "wb_atomic_add_small"

    def _slots(self, op: Op) -> list[str]:
        type = op.result.type
        assert isinstance(type, Slots)
        self.names[op.result] = identifier(op.result.name or "slots", self.taken)
        self.taken.add(self.names[op.result])
        self.expressions.meet(type.dtype)
        return [f"{c_type(type.dtype)} {self.names[op.result]}[{type.count}];"]

    def _slot_read(self, op: Op) -> list[str]:
        if op.result not in self.folding.uses:
            return []
        place = self._slot(op)
        return [f"{self._declare(op.result)} = {place};"]

    def _slot_write(self, op: Op) -> list[str]:
        return [f"{self._slot(op)} = {self.expressions.argument(op.operands[2])};"]

    def _slot(self, op: Op) -> str:
        return f"{self.names[op.operands[0]]}[{self.expressions.argument(op.operands[1])}]"

    def _reduce_add(self, op: Op) -> list[str]:
        array, value = op.operands
        assert isinstance(array.type, ArrayType)
        scalar = element(value.type)
        if scalar.is_half:
            self.expressions.keys |= {("atomic_half", scalar.name), ("reduce_half", scalar.name)}
        elif scalar.name not in _ATOMIC:
            raise BuildError(f"reduce_add has no CUDA spelling for {C_TYPES[element(value.type).name]}.", op.location)
        self.expressions.meet(array.type)
        length = form_of(value.type) if isinstance(value.type, Vector) else ""
        self.expressions.keys.add(("reduce_vec", length) if length else ("reduce",))
        return [f"wb_reduce_add({self.name(array)}.data, {self.expressions.argument(value)});"]

    def _assign(self, targets: Sequence[Value], values: Sequence[Value]) -> list[str]:
        """Assignments made at once. New locals come first: nothing reads them yet."""
        pending: list[tuple[str, str, set[str]]] = []
        fresh: list[str] = []
        for target, value in zip(targets, values, strict=True):
            text = self.expressions.argument(value)
            if self.locals.of(target) not in self.declared:
                if target in self.folding.uses or self._carried(target):
                    fresh.append(f"{self._declare(target)} = {text};")
                continue
            reads = {self.name(leaf) for leaf in self.folding.leaves(value)}
            if text != self.name(target):
                pending.append((self.name(target), self._update(self.name(target), value), reads))
        return fresh + self._ordered(pending, {self.name(t): t for t in targets if self.locals.of(t) in self.declared})

    def _carried(self, target: Value) -> bool:
        return any(m in self.folding.uses for m in self.locals.members(target))

    def _ordered(self, pending: list[tuple[str, str, set[str]]], types: dict[str, Value]) -> list[str]:
        rows: list[str] = []
        while pending:
            free = [p for p in pending if not any(p[0] in other[2] for other in pending if other is not p)]
            if free:
                left, text, _ = free[0]
                pending.remove(free[0])
                rows.append(f"{left} {text};")
                continue
            # A circle: keep the first one's new value aside, so that the others may still read the old ones.
            left, text, _ = pending[0]
            assert text.startswith("= "), "an update in place reads what it writes and is in no circle"
            aside = identifier("next", self.taken)
            self.taken.add(aside)
            rows.append(f"{c_type(types[left].type)} {aside} {text};")
            pending[0] = (left, f"= {aside}", set())
        return rows

    def _if(self, op: Op) -> list[str]:
        (condition,) = op.operands
        then, orelse = op.blocks
        choice = self._choice(op)
        if choice:
            return choice
        rows = []
        for result in op.results:
            if self.locals.of(result) not in self.declared and self._carried(result):
                rows.append(f"{self._declare(result)};")
        test = self.expressions.of(condition)
        first, second = (self._branch(op, block) for block in (then, orelse))
        if not first and not second:
            return rows
        if not first:
            return [*rows, f"if (!{test.within(ATOM)}) {{", *_indented(second), "}"]
        rows += [f"if ({test.text}) {{", *_indented(first)]
        if len(second) > 1 and second[0].startswith("if (") and _is_one(second):
            return [*rows, f"}} else {second[0]}", *second[1:]]
        return [*rows, *(["} else {", *_indented(second)] if second else []), "}"]

    def _branch(self, op: Op, block: Block) -> list[str]:
        declared, taken = set(self.declared), set(self.taken)
        rows = self._rows(block)
        rows += self._assign(op.results, block.yielded)
        self.declared, self.taken = declared, taken
        self.line = 0
        return rows

    def _choice(self, op: Op) -> list[str]:
        """`c ? a : b`, where the branches are nothing but expressions of one new value."""
        bare = all(
            inner.name == "yield" or any(v in self.folding.folded for v in inner.results)
            for block in op.blocks
            for inner in block.ops
        )
        if len(op.results) != 1 or not bare or self.locals.of(op.results[0]) in self.declared:
            return []
        result = op.results[0]
        if result not in self.folding.uses:
            return []
        parts = [self.expressions.of(v).within(4) for v in (op.operands[0], *(b.yielded[0] for b in op.blocks))]
        return [f"{self._declare(result)} = {parts[0]} ? {parts[1]} : {parts[2]};"]

    def _for(self, op: Op) -> list[str]:
        start, _, _, *init = op.operands
        (body,) = op.blocks
        rows = self._assign(op.results, init)
        index = body.params[0]
        taken = set(self.taken)
        name = identifier(index.name or "k", self.taken)
        self.taken.add(name)
        self.names[index] = name
        first = self.expressions.argument(start)
        head = f"{c_type(index.type)} {name} = {first}; {self._turns(name, op)}"
        inner = self._branch(op, body)
        self.taken = taken
        unroll = ["#pragma unroll"] if op.attrs.get("unroll") else []
        return [*rows, *unroll, f"for ({head}) {{", *_indented(inner), "}"]

    def _turns(self, name: str, op: Op) -> str:
        """The test and the step of a `for`. A step of 1 or -1 cannot overflow; others stop at the end exactly."""
        stop, step = op.operands[1:3]
        end = self.expressions.of(stop)
        known = self.folding.definition.get(step)
        size = int(known.attrs["value"]) if known is not None and known.name == "const" else 0
        if op.attrs.get("plain"):  # nothing here comes near the end of the type
            return f"{name} < {end.within(12)}; {name} += {size}"
        if size in (1, -1):
            return f"{name} {'<' if size > 0 else '>'} {end.within(12)}; {'++' if size > 0 else '--'}{name}"
        self.expressions.keys.add(("range",))
        stride = self.expressions.argument(step)
        test = f"wb_more({name}, {end.text}, {stride})"
        if size:
            test = f"{name} {'<' if size > 0 else '>'} {end.within(12)}"
        return f"{test}; {name} = wb_next({name}, {end.text}, {stride})"

    def _while(self, op: Op) -> list[str]:
        condition, body = op.blocks
        rows = self._assign(op.results, op.operands)
        declared, taken = set(self.declared), set(self.taken)
        before = self._rows(condition)
        test = self.expressions.of(condition.yielded[0])
        inner = self._branch(op, body)
        self.declared, self.taken = declared, taken
        if not before:
            return [*rows, f"while ({test.text}) {{", *_indented(inner), "}"]
        leave = [*before, f"if (!{test.within(ATOM)}) break;"]
        return [*rows, "while (true) {", *_indented([*leave, *inner]), "}"]


def _indented(rows: Sequence[str]) -> list[str]:
    return [row if row.startswith("#") else INDENT + row for row in rows]


def _is_one(rows: Sequence[str]) -> bool:
    """Whether the rows are one `if` statement."""
    return sum(not row.startswith((INDENT, "}", "#")) for row in rows) == 1 and rows[-1].startswith("}")


_STATEMENTS: dict[str, Callable[[Statements, Op], list[str]]] = {
    "if": Statements._if,
    "for": Statements._for,
    "while": Statements._while,
    "store": Statements._store,
    "atomic_add": Statements._atomic_add,
    "atomic": Statements._atomic,
    "reduce_add": Statements._reduce_add,
    "fault": Statements._fault,
    "native": Statements._native,
    "print": Statements._print,
    "insert": Statements._insert,
    "slots": Statements._slots,
    "slot_read": Statements._slot_read,
    "slot_write": Statements._slot_write,
    **TOGETHER,
}
