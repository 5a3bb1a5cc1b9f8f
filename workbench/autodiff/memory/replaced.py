"""Gradients that an adjoint may set instead of adding to them: their boxes, the code, and where a launch sets them.

An adjoint adds to a gradient: the caller clears it, and each element is loaded, added to and stored. Where the first
access to each element of a box is such an addition, made by one thread, it may be a store of the sum with 0, which has
the same bits. Then the caller only clears what lies around the box. Any further access comes later in the same thread,
or lies outside of the box: in gather form a thread at a border adds to elements that no thread of the launch adds up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

from workbench.autodiff.memory.boxes import Box, Boxes, joined
from workbench.ir.analysis import Access, Form
from workbench.ir.build import Builder, Rewriter, rewrite
from workbench.ir.ops import OPAQUE, TILED
from workbench.ir.values import Function, Op, Value, array_of, walk
from workbench.structs import Struct
from workbench.types import ArrayType, Type, Vector, element, int64, is_float

Side = tuple[int, list[tuple[str, int, int, int]]]
"""A form as JSON: its constant; of each term the atom's kind, the parameter's position, the axis and the factor."""
Described = list[tuple[int, list[tuple[Side, Side]]]]
"""Boxes as JSON: the position of each array's parameter, and the box."""


def replacing(adjoint: Function, names: Collection[str]) -> Function:
    """Return an adjoint that sets boxes of gradients, whatever these hold, where it can.

    Args:
        adjoint: ready for a backend.
        names: of the gradients: of arrays that the kernel does not write.
    """
    finder = _Firsts(adjoint)
    firsts = {op: load for name in names for op, load in finder.of(name)[1].items()}
    loads = {load for load in firsts.values() if load is not None}

    def change(_: Rewriter, op: Op) -> Sequence[Op] | None:
        b = Builder()
        b.location = op.location
        if op in loads:
            _zero(b, op.result.type)
            return [zero.replace(results=op.results) for zero in b.body().ops]
        if op not in firsts or op.name == "store":
            return None
        array, *indices, value = op.operands
        b.store(array, *indices, b.one("add", (_zero(b, value.type), value), value.type))
        return b.body().ops

    return rewrite(adjoint, change) if firsts else adjoint


def _zero(builder: Builder, type: Type) -> Value:
    """Emit a 0 of an array's element type."""
    return builder.const((0,) * type.length if isinstance(type, Vector) else 0, type)


def described(function: Function) -> Described:
    """Return the boxes of arrays in which a function sets each element before any other access to it."""
    finder, at = _Firsts(function), {p.name: k for k, p in enumerate(function.params)}

    def side(form: Form) -> Side:
        return form.constant, [(a.kind, at.get(a.name, -1), a.axis, n) for a, n in form.terms.items()]

    firsts_of = {
        p.name: finder.of(p.name) for p in function.params if isinstance(p.type, ArrayType) and is_float(p.type)
    }
    return [
        (at[name], [(side(first), side(end)) for first, end in box])
        for name, (box, firsts) in firsts_of.items()
        if box is not None and all(op.name == "store" and load is None for op, load in firsts.items())
    ]


def regions(
    boxes: Described, dims: Sequence[int], value_at: Callable[[int], Any]
) -> list[tuple[int, tuple[slice, ...]]]:
    """Return the positions of the arrays that one launch sets, each with the part of it that it sets.

    Args:
        boxes: from `described`.
        dims: the launch's dimensions.
        value_at: returns the argument at a position.
    """

    def number(side: Side) -> int:
        constant, terms = side
        total = constant
        for kind, position, axis, n in terms:
            value: Any = dims[axis] if kind == "launch_dim" else value_at(position)
            total += n * int(value.shape[axis] if kind == "shape" else value)
        return total

    sides = [(k, [(number(first), number(end)) for first, end in box]) for k, box in boxes]
    return [(k, tuple([slice(first, max(first, end)) for first, end in box])) for k, box in sides]


class _Firsts:
    """Finds the first accesses to the elements of a function's arrays."""

    def __init__(self, function: Function) -> None:
        operations = list(walk(function.body))
        unseen = function.block_dim or any(op.name in OPAQUE or op.name in TILED for op in operations)
        self.params = {} if unseen or not function.launch_ndim else {p.name: p for p in function.params}
        self.finder = Boxes(function)
        self.analysis = self.finder.analysis
        blocks = [(k, op, block) for k, op in enumerate(function.body.ops) for block in op.blocks]
        self.roots = {op: k for k, op in enumerate(function.body.ops)}
        self.roots |= {inner: k for k, _, block in blocks for inner in walk(block)}
        self.uses = Counter(v for op in operations for v in op.operands)
        self.accesses: dict[Value, list[Access]] = defaultdict(list)
        for access in self.analysis.accesses():
            self.accesses[access.op.operands[0]].append(access)

    def of(self, name: str) -> tuple[Box | None, dict[Op, Op | None]]:
        """Return the box of an array whose elements are set or added to before any other access, and these accesses.

        Returns:
            The box, None if there is none that is known; and the accesses, each with the load of the sum that it
                stores, None if it stores none.
        """
        array = self.params.get(name)
        if array is None or isinstance(array_of(array).dtype, Struct):
            return None, {}
        boxes: list[Box] = []
        firsts: dict[Op, Op | None] = {}
        others: list[Access] = []
        for access, load in self._updates(array):
            sets = access.op.name == "store" or (access.op.name == "atomic_add" and not self.uses[access.op.result])
            box = self.finder.box(access) if sets and not any(map(_is_plain, others)) else None
            if box is None or joined([*boxes, box]) is None:
                others.append(access)
            else:
                boxes.append(box)
                firsts[access.op] = load
        union, last = joined(boxes), max((self.roots[op] for op in firsts), default=0)
        # Plain accesses are to elements that no other thread touches.
        later = all(self.roots[a.op] > last if _is_plain(a) else union and self._is_apart(a, union) for a in others)
        return (union, firsts) if later and union is not None else (None, {})

    def _updates(self, array: Value) -> Iterator[tuple[Access, Op | None]]:
        """Yield the accesses to an array in order, an addition to an element as its store, with the load."""
        accesses = self.accesses[array]
        updates = {k: self._loads(one, other) for k, (one, other) in enumerate(pairwise(accesses), 1)}
        for k, access in enumerate(accesses):
            if not updates.get(k + 1):
                yield access, accesses[k - 1].op if updates.get(k) else None

    def _loads(self, one: Access, other: Access) -> bool:
        """Return whether an access loads an element, and the next one stores a sum with it that nothing else uses."""
        if (one.op.name, other.op.name) != ("load", "store") or (one.guards, one.loops) != (other.guards, other.loops):
            return False
        total, same = self.analysis.defs.get(other.op.operands[-1]), self.analysis.representatives
        if total is None or total.name != "add" or one.op.result not in total.operands:
            return False
        alone = self.uses[one.op.result] == self.uses[total.result] == 1
        return alone and [same[v] for v in one.indices] == [same[v] for v in other.indices]

    def _is_apart(self, access: Access, box: Box) -> bool:
        """Return whether the branches around an access are taken only where its element lies outside of a box."""
        return any(self._shows(condition, holds, access, box) for condition, holds in access.guards)

    def _shows(self, condition: Value, holds: bool, access: Access, box: Box) -> bool:
        """Return whether an access's element lies outside of a box wherever a condition has the value `holds`."""
        op = self.analysis.defs.get(condition)
        if op is not None and op.name == ("or_" if holds else "and_"):
            return all(self._shows(part, holds, access, box) for part in op.operands)
        for name, left, right in self.analysis.implied(condition, holds):
            small, large = (left, right) if name in ("lt", "le") else (right, left)
            if name in ("lt", "le", "gt", "ge"):  # then this form is at most 0
                known = self._form(small).plus(self._form(large), -1).plus(Form(int(name in ("lt", "gt")), {}))
                for index, (first, end) in zip(map(self._form, access.indices), box, strict=True):
                    for bound in (end.plus(index, -1), index.plus(first, -1).plus(Form(1, {}))):
                        rest = bound.plus(known, -1)
                        if not rest.terms and rest.constant <= 0:
                            return True
        return False

    def _form(self, value: Value) -> Form:
        """Return the affine form of an integer, in which the launch's size in 32 bits is the size."""
        form = self.analysis.form(value)
        total = Form(form.constant, {})
        for atom, n in form.terms.items():
            op = self.analysis.defs.get(atom.value) if atom.value is not None else None
            is_size = op is not None and op.name == "cast" and element(op.operands[0].type) == int64
            total = total.plus(self.analysis.form(op.operands[0]) if op and is_size else Form(0, {atom: 1}), n)
        return total


def _is_plain(access: Access) -> bool:
    """Return whether an access is no atomic operation."""
    return access.op.name in ("load", "store")
