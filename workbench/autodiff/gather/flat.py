"""Adjoints of flattened launches: `r = i // w; c = i % w` as two dimensions, in which threads gather, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from workbench.autodiff.gather.clearing import Box
from workbench.autodiff.gather.index_offsets import LaunchCondition, OffsetAnalysis, lower_bounds, upper_bounds
from workbench.ir.analysis import Access, Form
from workbench.ir.build import Builder, Rewriter
from workbench.ir.ops import ACCESSES, AXIS
from workbench.ir.values import Block, Function, Op, Value, array_of, walk
from workbench.passes.loops.dimensions import Delinearisation, RowWriter, delinearisation_of
from workbench.passes.pipeline import ADJOINT, run
from workbench.types import ArrayType, int32, int64

TOTAL = 2
"""The dimension of a flattened launch that counts threads, behind rows and the threads of each."""


class Flat:
    """A function of one dimension that divides its index by one number, also as one of two dimensions.

    An array of one dimension that is accessed only at `(r + m) * w + (c + n)`, with c + n in the row, has two in
    `rows`.

    Attributes:
        rows: the function of two dimensions: a thread's row, and its position in that.
        width: how many threads a row has; None if arrays of one dimension stay as they are.
        views: the parameters of `rows` that are arrays of one dimension in the original function.
    """

    def __init__(self, divisions: Delinearisation, width: Form | None) -> None:
        """Convert a function of one dimension by the integer divisions of its index.

        Args:
            divisions: of the function.
            width: the length of a row, known before a launch; None: arrays of one dimension stay as they are.
        """
        self.divisions, self.width = divisions, width
        self.divisor = divisions.divisor(divisions.width)
        writer = RowWriter(divisions)
        body = writer.body(writer.by_rows, self.divisor)
        rows = replace(divisions.function, body=body, launch_ndim=2)
        self.views: set[Value] = set()
        self.rows = run(ADJOINT, rows)
        if width is not None:
            viewed = run(ADJOINT, self.viewed(rows, _RowAccesses(rows, writer, width)))
            used = {v for op in walk(viewed.body) for v in op.operands}
            if used.isdisjoint({*rows.params} - {*viewed.params}):
                self.rows = viewed
            else:
                self.views = set()

    def viewed(self, rows: Function, accesses: _RowAccesses) -> Function:
        """Return the function with arrays of one dimension as ones of two, where all accesses allow it; set `views`.

        Args:
            rows: the function of two dimensions.
            accesses: its accesses to arrays of one dimension.
        """
        offsets = accesses.entries()
        views = {a: Value(ArrayType(array_of(a).dtype, 2), a.name) for a in offsets}
        self.views = set(views.values())

        def change(_: Rewriter, op: Op) -> Iterator[Op] | None:
            if op.name not in ACCESSES or op.operands[0] not in views:
                return None
            b = Builder()
            b.location = op.location
            at = offsets[op.operands[0]][op]
            both = zip((accesses.row, accesses.column), at, strict=True)
            indices = [b.one("add", (v, b.const(n)), int32) for v, n in both]
            b.append(op.replace((views[op.operands[0]], *indices, *op.operands[2:])))
            return iter(b.body().ops)

        body = Rewriter(change).block(rows.body)
        return replace(rows, body=body, params=tuple(views.get(p, p) for p in rows.params))

    def linearised(self, function: Function) -> Function:
        """Convert a function of two dimensions back to one of one dimension, for launches of whole rows."""
        parameters = {p.name: p for p in self.divisions.function.params}
        params = tuple(parameters[p.name] if p in self.views else p for p in function.params)
        # An adjoint has parameters of its own.
        own = {parameters[p.name]: p for p in params if p.name in parameters}
        b = Builder()
        index = b.one("tid", (), int32, {AXIS: 0})
        width = self.divisions.copied(b, self.divisor, dict(own))
        threads = b.cast(width, int64)
        rows = b.one("floordiv", (b.one("launch_dim", (), int64, {AXIS: 0}), threads), int64)
        stand: dict[str, tuple[Value, Value]] = {
            "tid": (b.one("floordiv", (index, width), int32), b.one("mod", (index, width), int32)),
            "launch_dim": (rows, threads),
        }

        def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
            if op.name in stand:
                on.mapping[op.result] = stand[op.name][op.attrs[AXIS]]
                return ()
            if op.name not in ACCESSES or op.operands[0] not in self.views:
                return None
            inner = Builder()
            array, row, position, *rest = op.operands
            at = inner.one("add", (inner.one("mul", (row, width), int32), position), int32)
            inner.append(op.replace((parameters[array.name], at, *rest)))
            return inner.body().ops

        body = Rewriter(change).block(function.body)
        flat_function = replace(function, body=Block((), (*b.body().ops, *body.ops)), params=params, launch_ndim=1)
        return run(ADJOINT, flat_function)

    def needs(self, needs: frozenset[LaunchCondition]) -> frozenset[LaunchCondition]:
        """Convert conditions on a launch of two dimensions to ones on the flattened launch.

        A condition on the rows of an array that has one dimension is one on the launch's total; one on its columns is
        left out.
        """
        names = {v.name for v in self.views}
        conditions: set[LaunchCondition] = set()
        for need in needs:
            axes = [atom.axis for atom in need.size.terms if atom.kind == "shape" and atom.name in names]
            if not axes:
                conditions.add(need)
            elif axes == [0]:
                conditions.add(msgspec.structs.replace(need, dim=TOTAL))
        return frozenset(conditions)

    def boxes(self, boxes: Mapping[str, Box]) -> dict[str, Box]:
        """Convert boxes of arrays to ones of the original arrays; left out are those that then are no boxes.

        Of an array that has one dimension only a box that begins at its first element remains one.
        """
        names, result = {v.name for v in self.views}, dict[str, Box]()
        for name, box in boxes.items():
            if name not in names:
                result[name] = box
            elif box == ((0, 0), (1, 0)):
                result[name] = ((TOTAL, 0),)
        return result


class _RowAccesses:
    """Finds by how many rows and positions accesses to 1-dimensional arrays differ from the thread's own.

    It only analyses a function of rows, in which the flat index is row * width + column; it changes nothing.

    Attributes:
        rows: the function.
        writer: wrote its body; it knows the values of the flat index, the row and the column there.
        width: the length of a row, as a linear form.
        row, column: the thread's own.
        where: the analysis of the function's indices.
    """

    def __init__(self, rows: Function, writer: RowWriter, width: Form) -> None:
        self.rows, self.writer, self.width = rows, writer, width
        self.row, self.column = writer.row, writer.column
        self.where = OffsetAnalysis(rows)

    def entries(self) -> dict[Value, dict[Op, tuple[int, int]]]:
        """Return, for each array of one dimension, by how much its accesses differ from the thread's row and position.

        Arrays of which that is not known for all accesses, or whose size is used, are left out.
        """
        differences: dict[Value, dict[Op, tuple[int, int]]] = {}
        lost: set[Value] = set()
        for access in self.where.analysis.accesses():
            array = access.op.operands[0]
            if array_of(array).ndim == 1:
                at = self.at(access)
                if at is None:
                    lost.add(array)
                else:
                    differences.setdefault(array, {})[access.op] = at
        # Where its size stands for something else than an index from its end, that is of the whole array.
        wrapped = {op.operands[1] for op in walk(self.rows.body) if op.name == "wrap_index"}
        for op in walk(self.rows.body):
            lost.update(op.operands[:1] if op.name == "shape" and op.result not in wrapped else ())
        return {array: ops for array, ops in differences.items() if array not in lost}

    def at(self, access: Access) -> tuple[int, int] | None:
        """Return by how much an access's row and position differ from the thread's own.

        It is None if that is not known, or the element may lie outside of the row.
        """
        index = access.indices[0] if access.indices else None
        op = self.where.defs.get(index) if index is not None else None
        if op is not None and op.name == "wrap_index":
            index = op.operands[0]
        parts = None if index is None else self.parts(index)
        if parts is None:
            return None
        least = lower_bounds(access.guards, self.where)
        most = upper_bounds(access.guards, self.where, 1, self.width)
        inside = least.get(0, 0) + parts[0] >= 0 and least.get(1, 0) + parts[1] >= 0 and most + parts[1] < 0
        return parts if inside else None

    def parts(self, index: Value) -> tuple[int, int] | None:
        """Return m and n, if an index is the thread's own plus m * width + n; else None."""
        analysis = self.where.analysis
        more = analysis.form(index).plus(analysis.form(self.writer.index), -1)
        rows, rest = more.divided(self.width)
        return None if rest.terms else (rows, rest.constant)


def flat(function: Function) -> Flat | None:
    """Return a flattened function together with its form of two dimensions, arrays in two dimensions where possible.

    It is None unless the function's indices are divided (`delinearisation_of`) by one divisor alone, which is known
    before a launch.
    """
    divisions = delinearisation_of(function)
    if divisions is None or not _has_one_divisor(divisions):
        return None
    width = OffsetAnalysis(function).size(divisions.divisor(divisions.width))
    return None if width is None else Flat(divisions, width)


def by_rows(function: Function) -> Flat | None:
    """Return a function of one dimension together with its form of two dimensions, with arrays as they are.

    It is None unless the function divides its index by one number alone. Functions of tiles have none.
    """
    if function.block_dim or function.launch_ndim != 1:
        return None
    divisions = Delinearisation(function, list(walk(function.body)))
    if not _has_one_divisor(divisions):
        return None
    divisions.choose_width()
    return Flat(divisions, None)


def _has_one_divisor(divisions: Delinearisation) -> bool:
    """Return whether a function divides its index by one number alone, and as int32."""
    divided = [op for ops in divisions.entries.values() for op in ops]
    return len(divisions.entries) == 1 and all(op.result.type == int32 for op in divided)
