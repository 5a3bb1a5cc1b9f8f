"""Indices as affine forms, and the test whether two accesses can touch one element.

An index is a constant plus multiples of *atoms*: the thread's indices, sizes, parameters, and values of which nothing
more is known. The difference of two indices is 0 only if the greatest common divisor of its coefficients divides its
constant, and only if 0 lies between its bounds (the tests of GCD and of Banerjee). An index that may be negative counts
from the end, so there the difference must not be the size of the axis either. Integers are taken not to overflow.

Before a launch sizes and parameters are unknown; a `Dependence` that they decide is kept and asked again at the launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd, inf
from typing import Any, NamedTuple

import msgspec

from workbench.ir.attributes import AXIS, LEVEL
from workbench.ir.ops import OPERATIONS, TILED
from workbench.ir.values import Function, Op, Value, array_of, number_of, walk
from workbench.types import ArrayType, Scalar, element, int32, is_integer


class Atom(NamedTuple):
    """A term of an affine form, of which the form has a multiple.

    Attributes:
        kind: "tid", "launch_dim", "shape", "number" (a parameter), "value", or "multiple": how many times a remainder's
            divisor was taken off.
        name: the parameter's, of a shape or number.
        axis: of the launch, or of the array.
        value: of a "value" or "multiple": the operation's result.
    """

    kind: str
    name: str = ""
    axis: int = 0
    value: Value | None = None


Terms = dict[Atom, int]


class Form(NamedTuple):
    """An affine form."""

    constant: int
    terms: Terms

    def plus(self, other: Form, factor: int = 1) -> Form:
        """The form plus a multiple of another one."""
        terms = dict(self.terms)
        for atom, n in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * n
        return Form(self.constant + factor * other.constant, {a: n for a, n in terms.items() if n})

    def times(self, factor: int) -> Form:
        """A multiple of the form."""
        return Form(0, {}).plus(self, factor)


class Numbers(msgspec.Struct, frozen=True):
    """The numbers of one launch: its dimensions, and what is known of scalar parameters and arrays' shapes, by name."""

    dims: tuple[int, ...]
    values: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]

    @classmethod
    def of_launch(cls, function: Function, dims: tuple[int, ...], arguments: Mapping[str, Any]) -> Numbers:
        """The numbers of a launch, from the arguments by name."""
        params = [(p.name, p.type, arguments[p.name]) for p in function.params if p.name in arguments]
        values = {n: int(v) for n, t, v in params if isinstance(t, Scalar) and is_integer(t)}
        return cls(dims, values, {n: v.shape[: t.ndim] for n, t, v in params if isinstance(t, ArrayType)})

    def of(self, atom: Atom) -> int | None:
        """The number that an atom stands for; None if the launch does not decide it."""
        match atom.kind:
            case "launch_dim":
                return self.dims[atom.axis]
            case "shape":
                shape = self.shapes.get(atom.name)
                return None if shape is None else shape[atom.axis]
            case "number":
                return self.values.get(atom.name)
            case _:
                return None


class Difference(NamedTuple):
    """The index of one access minus that of another, along one axis of an array.

    Attributes:
        constant: what is added.
        shared: terms that are the same at both accesses.
        threads: by axis of the launch: the coefficients of the two threads' indices.
        loose: the greatest common divisor of all other coefficients, whose values differ freely; 0 if there are none.
        sizes: the sizes that are added to one of them where it is negative.
        positive: atoms of `shared` that are not negative.
    """

    constant: int
    shared: Terms
    threads: dict[int, tuple[int, int]]
    loose: int
    sizes: tuple[Form, ...]
    positive: frozenset[Atom]

    def vanishes(self, launch: Numbers | None) -> bool:
        """Return whether it can be 0; without a launch, for whatever numbers."""
        low = high = base = self.constant
        step = self.loose
        for atom, n in self.shared.items():
            number = None if launch is None else launch.of(atom)
            if number is not None:
                low, high, base = low + n * number, high + n * number, base + n * number
                continue
            step = gcd(step, n)
            least = 0 if atom in self.positive else -inf
            low, high = low + min(n * least, n * inf), high + max(n * least, n * inf)
        for axis, (one, other) in self.threads.items():
            last = inf if launch is None else max(launch.dims[axis] - 1, 0)
            step = gcd(step, one, other)
            for n in (one, -other):
                low, high = low + min(n * last, 0) if n else low, high + max(n * last, 0) if n else high
        if self.loose:
            low, high = -inf, inf
        targets = self.targets(launch)
        if targets is None:
            return True
        return any(low <= t <= high and ((t - base) % step == 0 if step else t == base) for t in targets)

    def is_fixed(self) -> bool:
        """Return whether it is a number other than 0, so that only the axis's size can make the elements equal."""
        return self.constant != 0 and not self.shared and not self.threads and not self.loose

    def tells_apart(self, axis: int, launch: Numbers | None) -> bool:
        """Return whether it is 0 only for threads with the same index along this axis of the launch."""
        one, other = self.threads.get(axis, (0, 0))
        if one != other or one == 0 or len(self.threads) > 1 or self.loose:
            return False
        base, targets = self.constant, self.targets(launch)
        for atom, n in self.shared.items():
            number = None if launch is None else launch.of(atom)
            if number is None:
                return False
            base += n * number
        if targets is None:
            return False
        last = inf if launch is None else max(launch.dims[axis] - 1, 0)
        steps = [(t - base) // one for t in targets if (t - base) % one == 0]
        return all(n == 0 or abs(n) > last for n in steps)

    def targets(self, launch: Numbers | None) -> list[int] | None:
        """The values at which the elements are the same; None if they are unknown."""
        found = [0]
        for form in self.sizes:
            size = form.constant
            for atom, n in form.terms.items():
                number = None if launch is None else launch.of(atom)
                if number is None:
                    return None
                size += n * number
            found += [size, -size]
        return found


class Dependence(msgspec.Struct, frozen=True):
    """Two accesses to one array, by different threads or by one.

    Attributes:
        one, other: the accesses.
        differences: one for each axis of the array; none if what they touch is unknown.
        axes: the axes of the launch along which there are several threads; None if that is unknown.
        alone: one thread does both.
    """

    one: Op
    other: Op
    differences: tuple[Difference, ...]
    axes: tuple[int, ...] | None
    alone: bool = False

    def exists(self, launch: Numbers | None = None) -> bool:
        """Return whether they may touch one element."""
        several = self.axes != () and (launch is None or any(n > 1 for n in launch.dims))
        if not (several or self.alone) or any(not d.vanishes(launch) for d in self.differences):
            return False
        axes = self.axes if launch is None or self.axes is None else [a for a in self.axes if launch.dims[a] > 1]
        return axes is None or not all(any(d.tells_apart(a, launch) for d in self.differences) for a in axes)


class Indices:
    """The affine forms of a function's indices."""

    def __init__(self, function: Function) -> None:
        self._made: dict[Value, Op] = {}
        self._forms: dict[Value, Form] = {}
        self._positive: set[Value] = set()
        self._uniform: set[Value] = set()
        for param in function.params:
            if not isinstance(param.type, ArrayType):
                self._uniform.add(param)
                if _is_index(param):
                    self._forms[param] = Form(0, {Atom("number", param.name): 1})
        for op in walk(function.body):
            self._add(op)

    def _add(self, op: Op) -> None:
        self._made.update((v, op) for v in op.results)
        if op.name == "for":
            # A counter from a number that is not negative, upwards, is not negative either.
            step = self.number(op.operands[2])
            if step is not None and step > 0 and self.is_positive(self.of(op.operands[0])):
                self._positive.add(op.blocks[0].params[0])
        if len(op.results) != 1 or op.blocks or not is_integer(op.result.type):
            return
        value = op.result
        known = OPERATIONS.get(op.name)
        pure = op.name != "tid" and op.name not in TILED and (known is None or known.pure)
        if pure and all(v in self._uniform or isinstance(v.type, ArrayType) for v in op.operands):
            self._uniform.add(value)
        if _is_index(value):
            form = self._forms[value] = _form(op, [self.of(v) for v in op.operands if _is_index(v)])
            divisor = self.number(op.operands[1]) if op.name == "mod" else None
            if self.is_positive(form) or (divisor is not None and divisor > 0):
                self._positive.add(value)

    def of(self, value: Value) -> Form:
        """The form of a value."""
        return self._forms.get(value) or Form(0, {Atom("value", value=value): 1})

    def is_positive(self, form: Form) -> bool:
        """Return whether it is not negative, whatever its atoms are."""
        return form.constant >= 0 and all(n > 0 and self._is_counted(a) for a, n in form.terms.items())

    def _is_counted(self, atom: Atom) -> bool:
        if atom.kind == "value":
            return atom.value in self._positive
        return atom.kind in ("tid", "launch_dim", "shape")

    def number(self, value: Value) -> int | None:
        """The value, if it is a constant."""
        form = self.of(value)
        return None if form.terms else form.constant

    def index(self, value: Value) -> tuple[Form, Form | None]:
        """An index's form, and the size that is added to it where it is negative; None if it is never negative."""
        op = self._made.get(value)
        if op is None or op.name != "wrap_index" or not _is_index(value):
            return self.of(value), None
        form, size = (self.of(v) for v in op.operands)
        return form, None if self.is_positive(form) or op.operands[0] in self._positive else size

    def uniform(self, atom: Atom) -> bool:
        """Return whether an atom is the same for all threads of a launch, all the time."""
        return atom.kind in ("launch_dim", "shape", "number") or atom.value in self._uniform

    def own_places(self, axis: int, uses: Iterable[Op]) -> list[int]:
        """Return the places of these accesses' indices that differ for threads that differ along an axis of the launch.

        There its tid stands alike in all: as itself, or so that a thread has a stretch of its own (tid * k + c, where
        two c are equal or differ by no multiple of k).
        """
        # Equal indices say the same: adjoints of unrolled loops have thousands of accesses.
        rows = list(dict.fromkeys(map(indices_of, uses)))
        return [n for n in range(min(map(len, rows))) if self._differ(axis, [r[n] for r in rows])]

    def _differ(self, axis: int, indices: list[Value]) -> bool:
        """Return whether any two of these are equal only for threads that are equal along this axis of the launch."""
        forms = [self.index(v) for v in indices]
        terms = forms[0][0].terms
        tid = Atom("tid", axis=axis)
        k = abs(terms.get(tid, 0))
        if k == 0 or any(size is not None or form.terms != terms for form, size in forms):
            return False
        constants = {form.constant for form, _ in forms}
        alone = all(atom == tid or self.uniform(atom) for atom in terms)
        return alone and len({c % k for c in constants}) == len(constants)

    def difference(self, one: Value, other: Value, same: Callable[[Atom], bool]) -> Difference:
        """The index `one` minus the index `other`; `same`: whether an atom has the same value at both accesses."""
        (a, first), (b, second) = self.index(one), self.index(other)
        shared: Terms = {}
        threads: dict[int, tuple[int, int]] = {}
        loose = 0
        for atom in dict.fromkeys((*a.terms, *b.terms)):
            m, n = a.terms.get(atom, 0), b.terms.get(atom, 0)
            if same(atom):
                shared.update({atom: m - n} if m != n else {})
            elif atom.kind == "tid":
                threads[atom.axis] = m, n
            else:
                loose = gcd(loose, m, n)
        # The same value at both is the same element, wherever it is counted from.
        alike = a == b and not threads and not loose
        sizes = () if alike else tuple(size for size in (first, second) if size is not None)
        positive = frozenset(atom for atom in shared if self._is_counted(atom))
        return Difference(a.constant - b.constant, shared, threads, loose, sizes, positive)


def _is_index(value: Value) -> bool:
    """Return whether a value is an integer whose arithmetic does not wrap where an index's may not."""
    return isinstance(value.type, Scalar) and is_integer(value.type) and value.type.bits >= int32.bits


def _form(op: Op, operands: list[Form]) -> Form:
    """The form of an operation's result."""
    value = op.result
    unknown = Form(0, {Atom("value", value=value): 1})
    if op.name == "const":
        return Form(int(number_of(op)), {})
    if op.name == "tid" and op.attrs.get(LEVEL) is None:
        return Form(0, {Atom("tid", axis=op.attrs[AXIS]): 1})
    if op.name == "launch_dim":
        return Form(0, {Atom("launch_dim", axis=op.attrs[AXIS]): 1})
    if op.name == "shape":
        return Form(0, {Atom("shape", op.operands[0].name, op.attrs[AXIS]): 1})
    if op.name == "cast" and operands:
        # A narrowing cast wraps: two indices that differ before it can be equal after it.
        return operands[0] if element(value.type).bits >= element(op.operands[0].type).bits else unknown
    if len(operands) < len(op.operands):
        return unknown
    match op.name, operands:
        case "add", [a, b]:
            return a.plus(b)
        case "sub", [a, b]:
            return a.plus(b, -1)
        case "neg", [a]:
            return a.times(-1)
        case "mul", [a, b] if not a.terms or not b.terms:
            return b.times(a.constant) if not a.terms else a.times(b.constant)
        case "lshift", [a, b] if not b.terms and 0 <= b.constant < int32.bits:
            return a.times(1 << b.constant)
        case "mod" | "trunc_rem", [a, b] if not b.terms and b.constant:
            return a.plus(Form(0, {Atom("multiple", value=value): b.constant}))
        case _:
            return unknown


def indices_of(op: Op) -> tuple[Value, ...]:
    """The indices of an access."""
    return () if op.name == "reduce_add" else op.operands[1 : 1 + array_of(op.operands[0]).ndim]
