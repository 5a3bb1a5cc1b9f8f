"""The part of an array that a kernel overwrites, where that is a box known from the kernel and the launch's sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from workbench.ir.analysis import Access, Analysis, Atom, Form
from workbench.ir.ops import ACCESSES, OPAQUE, TILED
from workbench.ir.values import Function, Op, Value, array_of, walk
from workbench.types import int32, is_float

Box = tuple[tuple[Form, Form], ...]
"""A part of an array: along each axis its first index and the one behind its last."""


def stored_boxes(function: Function) -> dict[str, Box]:
    """Return, by parameter, the arrays of floats that a kernel does nothing with but overwrite a box of them.

    Each element of the box is stored to once, by one thread, in every launch that stays inside of its arrays. So the
    cotangents of these elements can be read anywhere, and are all cleared after the launch.
    """
    operations = list(walk(function.body))
    if function.block_dim or not function.launch_ndim or any(o.name in OPAQUE or o.name in TILED for o in operations):
        return {}
    uses: dict[Value, list[Op]] = defaultdict(list)
    for op in operations:
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
    stored = [a for a, ops in uses.items() if is_float(a.type) and all(op.name == "store" for op in ops)]
    if not stored:
        return {}
    finder = Boxes(function)
    boxes: dict[Value, list[Box | None]] = {a: [] for a in stored}
    for access in finder.analysis.accesses():
        if access.op.operands[0] in boxes:
            boxes[access.op.operands[0]].append(finder.box(access))
    unions = {a.name: joined([b for b in several if b]) for a, several in boxes.items() if None not in several}
    return {name: box for name, box in unions.items() if box is not None}


class Boxes:
    """Finds the boxes that single stores of a function fill."""

    def __init__(self, function: Function) -> None:
        self.analysis = Analysis(function)
        self.function = function
        self._types = {p.name: p.type for p in function.params}

    def box(self, access: Access) -> Box | None:
        """Return the box that all threads and iterations of a store fill; None if it is none, or filled twice."""
        if access.guards or any(loop.name != "for" for loop in access.loops):
            return None
        turns = {loop.blocks[0].params[0]: loop for loop in access.loops}
        waiting: set[int | Value] = {*range(self.function.launch_ndim), *turns}
        box: list[tuple[Form, Form]] = []
        for index in access.indices:
            side = self._side(index, turns, waiting)
            if side is None:
                return None
            box.append(side)
        # Else several threads or iterations store to one element.
        return tuple(box) if not waiting and len(box) == array_of(access.op.operands[0]).ndim else None

    def _side(self, index: Value, turns: dict[Value, Op], waiting: set[int | Value]) -> tuple[Form, Form] | None:
        """Return the first index along one axis and the one behind the last; None if they are not known.

        The index is a constant, or a thread's or a counter's plus a constant. The axis of the launch or the counter
        that it uses is removed from `waiting`.

        Args:
            index: of a store.
            turns: the loops around it, by counter.
            waiting: axes of the launch, and counters, that no index used so far.
        """
        form, from_the_end = self.analysis.index(index)
        if from_the_end is not None or form.constant < 0 or any(n != 1 for n in form.terms.values()):
            return None
        if not form.terms:
            return form, form.plus(Form(1, {}))
        (atom, *more) = form.terms
        own = atom.axis if atom.kind == "tid" else atom.value
        if more or own not in waiting or atom.kind not in ("tid", "value"):
            return None
        waiting.discard(own)
        if atom.kind == "tid":
            first, end = Form(0, {}), Form(0, {Atom("launch_dim", axis=atom.axis): 1})
        else:
            assert atom.value is not None
            first, end, step = map(self.analysis.form, turns[atom.value].operands[:3])
            if step != Form(1, {}) or first.terms or first.constant < 0 or not self._is_known(end):
                return None
        shift = Form(form.constant, {})
        return first.plus(shift), end.plus(shift)

    def _is_known(self, form: Form) -> bool:
        """Return whether a form is known before a launch."""
        return all(
            a.kind in ("shape", "launch_dim") or (a.kind == "number" and self._types[a.name] == int32)
            for a in form.terms
        )


def joined(boxes: Sequence[Box]) -> Box | None:
    """Return the union of boxes that lie side by side along one axis, each once; None if it is no box."""
    if not boxes:
        return None
    first, *others = boxes
    different = [k for k in range(len(first)) if any(box[k] != first[k] for box in others)]
    if not others:
        return first
    if len(different) != 1:
        return None
    (axis,) = different
    ordered = sorted((box[axis] for box in boxes), key=lambda side: side[0].constant)
    if any(one[1] != other[0] for one, other in pairwise(ordered)):
        return None
    return (*first[:axis], (ordered[0][0], ordered[-1][1]), *first[axis + 1 :])
