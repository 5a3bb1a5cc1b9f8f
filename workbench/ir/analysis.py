"""The view of a function: definitions, accesses with their guards, affine forms of indices, what threads share.

An index is an affine form, a constant plus multiples of *atoms*: the thread's indices, sizes, parameters, and values of
which nothing more is known. Two accesses touch one element only if the difference of their indices can be 0. It can be
only if the greatest common divisor of its coefficients divides its constant, and only if 0 lies between its bounds (the
tests of GCD and of Banerjee). An index that may be negative counts from the end, so there the difference must not be
the size of the axis either. Integers are taken not to overflow.

Before a launch sizes and parameters are unknown; a `Dependence` that they decide is kept and asked again at the launch.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import gcd, inf
from typing import Any, NamedTuple

import msgspec

from workbench.ir.ops import ACCESSES, AXIS, LEVEL, LOOPS, OPERATIONS, TILED
from workbench.ir.values import Block, Function, Op, Value, definitions, indices_of, number_of, walk
from workbench.types import ArrayType, Kind, Scalar, element, int32, is_integer

OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
"""By comparison, the one that holds if it does not."""
MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
"""By comparison, the one that holds with its operands exchanged."""

_LINEAR = frozenset({"cast", "add", "sub", "neg", "mul", "lshift"})
"""Operations whose form is computed from those of their operands."""
_OWN = frozenset({"tid", "lane", "row_first"})
"""Operations without operands whose results differ between threads."""


class Atom(NamedTuple):
    """A term of an affine form, of which the form has a multiple.

    Attributes:
        kind: "tid", "launch_dim", "shape", "number" (a parameter), "value", or "multiple": how many times a remainder's
            divisor was subtracted.
        name: of a "shape" or "number": the parameter's.
        axis: of the launch, or of the array.
        value: of a "value" or "multiple": the operation's result.
    """

    kind: str
    name: str = ""
    axis: int = 0
    value: Value | None = None


Terms = dict[Atom, int]


class Form(NamedTuple):
    """An affine form: of `2 * i + n - 1` the constant is -1 and the terms are {tid: 2, number n: 1}."""

    constant: int
    terms: Terms

    def __hash__(self) -> int:
        """Return a hash that agrees with equality, which does not ask for the order of terms."""
        return hash((self.constant, frozenset(self.terms.items())))

    def plus(self, other: Form, factor: int = 1) -> Form:
        """Return the sum of the form and `factor` times another one."""
        terms = dict(self.terms)
        for atom, n in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * n
        return Form(self.constant + factor * other.constant, {a: n for a, n in terms.items() if n})

    def times(self, factor: int) -> Form:
        """Return the form multiplied by a number."""
        return Form(0, {}).plus(self, factor)

    def divided(self, size: Form) -> tuple[int, Form]:
        """Return m and a rest such that the form is m * size + rest.

        The rest has no multiple of a size that is a term; of a constant size, m is rounded to the nearest.

        Args:
            size: a positive constant, or a form with one term of factor 1.
        """
        half = size.constant // 2
        (times,) = [self.terms.get(a, 0) for a in size.terms] or [(self.constant + half) // size.constant]
        return times, self.plus(size, -times)

    def of(self, number: Callable[[Atom], int | None]) -> int | None:
        """Return the form's value, given a function for the value of an atom; None if an atom has None."""
        total = self.constant
        for atom, n in self.terms.items():
            value = number(atom)
            if value is None:
                return None
            total += n * value
        return total


class Sizes(msgspec.Struct, frozen=True):
    """The numbers that are known of a launch.

    Attributes:
        dims: its dimensions; nothing is known of those beyond its end.
        shapes: of arrays, by parameter name.
        numbers: integer arguments, by parameter name.
    """

    dims: Sequence[int] = ()
    shapes: Mapping[str, Sequence[int]] = {}
    numbers: Mapping[str, int] = {}

    @classmethod
    def of_launch(cls, function: Function, dims: tuple[int, ...], arguments: Mapping[str, Any]) -> Sizes:
        """Return the numbers of a launch, from its dimensions and its arguments by name; arguments may be missing."""
        params = [(p.name, p.type, arguments[p.name]) for p in function.params if p.name in arguments]
        shapes = {n: v.shape[: t.ndim] for n, t, v in params if isinstance(t, ArrayType)}
        return cls(dims, shapes, {n: int(v) for n, t, v in params if isinstance(t, Scalar) and is_integer(t)})

    def of(self, atom: Atom) -> int | None:
        """Return the number that an atom stands for; None if it is not known or no number of the launch."""
        match atom.kind:
            case "launch_dim":
                return self.dims[atom.axis] if atom.axis < len(self.dims) else None
            case "shape":
                shape = self.shapes.get(atom.name)
                return None if shape is None else shape[atom.axis]
            case "number":
                number = self.numbers.get(atom.name)
                return None if number is None else int(number)
            case _:
                return None


_UNKNOWN = Sizes()


class Access(NamedTuple):
    """An operation on elements of an array.

    Attributes:
        op: the operation; its first operand is the array.
        indices: of the element, or where a tile begins; empty for `reduce_add`.
        guards: conditions of the branches around it, outermost first, and whether each holds there.
        loops: the loops around it, outermost first.
    """

    op: Op
    indices: tuple[Value, ...]
    guards: tuple[tuple[Value, bool], ...]
    loops: tuple[Op, ...]


class Difference(NamedTuple):
    """The index of one access minus that of another, along one axis of an array.

    Attributes:
        constant: what is added.
        shared: terms that are the same at both accesses.
        threads: by axis of the launch: the coefficients of the two threads' indices.
        loose: the greatest common divisor of all other coefficients, whose values differ freely; 0 if there are none.
        sizes: sizes of the axis, for each index that may be negative and then has it added.
        positive: atoms of `shared` that are not negative.
    """

    constant: int
    shared: Terms
    threads: dict[int, tuple[int, int]]
    loose: int
    sizes: tuple[Form, ...]
    positive: frozenset[Atom]

    def vanishes(self, launch: Sizes | None) -> bool:
        """Return whether the two indices can mean one element; without a launch, for any sizes and numbers."""
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
        """Return whether it is a number other than 0, so that only negative indices can make the elements equal."""
        return self.constant != 0 and not self.shared and not self.threads and not self.loose

    def tells_apart(self, axis: int, launch: Sizes | None) -> bool:
        """Return whether the indices mean one element only if the threads' indices along an axis are equal.

        The axis is one of the launch. False if that is not known.
        """
        one, other = self.threads.get(axis, (0, 0))
        if one != other or one == 0 or len(self.threads) > 1 or self.loose:
            return False
        base, targets = Form(self.constant, self.shared).of((launch or _UNKNOWN).of), self.targets(launch)
        if base is None or targets is None:
            return False
        last = inf if launch is None else max(launch.dims[axis] - 1, 0)
        steps = [(t - base) // one for t in targets if (t - base) % one == 0]
        return all(n == 0 or abs(n) > last for n in steps)

    def targets(self, launch: Sizes | None) -> list[int] | None:
        """Return the values of the difference at which the elements are the same; None if a size is not known."""
        sizes = [form.of((launch or _UNKNOWN).of) for form in self.sizes]
        known = [size for size in sizes if size is not None]
        return [0, *(t for size in known for t in (size, -size))] if len(known) == len(sizes) else None


class Dependence(msgspec.Struct, frozen=True):
    """A possible dependence between two accesses to one array.

    Attributes:
        one, other: the accesses.
        differences: one for each axis of the array; none if it is unknown what they access.
        axes: the axes of the launch along which there are several threads; None if that is unknown.
        alone: one thread makes both accesses; otherwise two different ones do.
    """

    one: Op
    other: Op
    differences: tuple[Difference, ...]
    axes: tuple[int, ...] | None
    alone: bool = False

    def exists(self, launch: Sizes | None = None) -> bool:
        """Return whether the two may access one element; without a launch, for any sizes and numbers."""
        several = self.axes != () and (launch is None or any(n > 1 for n in launch.dims))
        if not (several or self.alone) or any(not d.vanishes(launch) for d in self.differences):
            return False
        axes = self.axes if launch is None or self.axes is None else [a for a in self.axes if launch.dims[a] > 1]
        return axes is None or not all(any(d.tells_apart(a, launch) for d in self.differences) for a in axes)


class Analysis:
    """An analysis of one function: definitions, accesses, affine forms of indices, and what its threads share.

    All but `defs` is computed on first request.

    Attributes:
        function: the function.
        defs: the operation that defines each value.
        counters: the `for` that counts in each loop index.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.defs = definitions(function.body)
        self._forms: dict[Value, Form] = {}
        self._uniform: dict[Value, bool] = {}

    @cached_property
    def counters(self) -> Mapping[Value, Op]:
        """The `for` that counts in each loop index."""
        return {op.blocks[0].params[0]: op for op in walk(self.function.body) if op.name == "for"}

    @cached_property
    def params(self) -> frozenset[Value]:
        """The function's parameters."""
        return frozenset(self.function.params)

    @cached_property
    def representatives(self) -> Mapping[Value, Value]:
        """By value, the first one that is computed in the same way, so that both are surely equal in a thread.

        analysis.representatives[b] is analysis.representatives[a]    # of `a = i + n` and `b = i + n`
        """
        first: dict[tuple[object, ...], Value] = {}
        result = {v: v for v in self.params}
        for op in walk(self.function.body):
            result |= {v: v for v in (*op.results, *(p for block in op.blocks for p in block.params))}
            if len(op.results) == 1 and not op.blocks and (op.name == "tid" or _is_pure(op)):
                # As text: 0.0 and -0.0 are equal numbers, but not the same.
                attrs = tuple(sorted((name, repr(value)) for name, value in op.attrs.items()))
                key = op.name, op.result.type, attrs, *(result[v] for v in op.operands)
                result[op.result] = first.setdefault(key, op.result)
        return result

    # ---- accesses

    def accesses(self) -> Iterator[Access]:
        """Yield each access to an array, in order, with the branches and loops around it."""
        yield from _accesses(self.function.body, (), ())

    def implied(self, condition: Value, holds: bool) -> Iterator[tuple[str, Value, Value]]:
        """Yield comparisons (name, left, right) that hold if a condition is true, or false if `holds` is False.

        They are the parts of `and`, `not`, and the negated parts of `or`, with short circuits or without; comparisons
        of floats are not negated.
        """
        op = self.defs.get(condition)
        if op is None:
            return
        if op.name == ("and_" if holds else "or_"):
            for part in op.operands:
                yield from self.implied(part, holds)
        elif op.name == "not_":
            yield from self.implied(op.operands[0], not holds)
        elif op.name == "if" and len(op.results) == 1:
            # `a and b` as an `if`: the side that yields the literal opposite is not the one that was taken.
            for side, block in enumerate(op.blocks):
                end = self.defs.get(block.yielded[0])
                if end is not None and end.name == "const" and bool(number_of(end)) is not holds:
                    yield from self.implied(op.operands[0], side == 1)
                    yield from self.implied(op.blocks[1 - side].yielded[0], holds)
        elif op.name in OPPOSITE and (holds or is_integer(op.operands[0].type)):  # a NaN is neither less nor greater
            yield (op.name if holds else OPPOSITE[op.name]), op.operands[0], op.operands[1]

    # ---- affine forms

    def form(self, value: Value) -> Form:
        """Return the affine form of an integer; a value about which nothing is known is an atom.

        analysis.form(index)    # Form(-1, {Atom("tid", axis=0): 2}) of `2 * i - 1`
        """
        forms, waiting = self._forms, [value]
        while waiting:
            one = waiting[-1]
            missing = [] if one in forms else [v for v in self._terms(one) if v not in forms]
            if not missing and one not in forms:
                forms[one] = self._computed(one)
            waiting[-1:] = (one, *missing) if missing else ()
        return forms[value]

    def _terms(self, value: Value) -> tuple[Value, ...]:
        """Return the operands from whose forms the value's own is computed; empty unless its operation is linear."""
        op = self.defs.get(value)
        return op.operands if op is not None and op.name in _LINEAR and _is_index(value) else ()

    def _computed(self, value: Value) -> Form:
        """Return the affine form of a value, whose `_terms` have theirs already; one atom if nothing more is known."""
        op = self.defs.get(value)
        unknown = Form(0, {Atom("value", value=value): 1})
        if not _is_index(value):
            return unknown
        if op is None:
            return Form(0, {Atom("number", value.name): 1}) if value in self.params else unknown
        if op.name == "cast" and self._may_wrap(op):
            return unknown
        return _form(op, [self._forms[v] for v in self._terms(value) if _is_index(v)]) or unknown

    def _may_wrap(self, cast: Op) -> bool:
        """Return whether a cast may change a number, or make equal two numbers that differ before it.

        A narrowing cast wraps. Unsigned arithmetic wraps at 0, which shows if its result is widened.
        """
        operand, result = cast.operands[0], element(cast.result.type)
        of, op = element(operand.type), self.defs.get(operand)
        if result.bits <= of.bits or of.kind is not Kind.UINT:
            return result.bits < of.bits
        return op is not None and op.name in _LINEAR and not self.is_positive(self.form(operand))

    def congruent(self, form: Form) -> Form:
        """Return the form with remainders by constants replaced: x % 3 is x plus an unknown multiple of 3."""
        total = Form(form.constant, {})
        for atom, n in form.terms.items():
            op = self.defs.get(atom.value) if atom.kind == "value" and atom.value is not None else None
            term = Form(0, {atom: 1})
            if op is not None and op.name in ("mod", "trunc_rem") and (divisor := self.number(op.operands[1])):
                term = self.congruent(self.form(op.operands[0]))
                term = term.plus(Form(0, {Atom("multiple", value=atom.value): divisor}))
            total = total.plus(term, n)
        return total

    def number(self, value: Value) -> int | None:
        """Return the integer that a value is, if it is a constant; else None."""
        form = self.form(value)
        return None if form.terms else form.constant

    def is_positive(self, form: Form) -> bool:
        """Return whether a form is known to be 0 or more, whatever its atoms are."""
        return form.constant >= 0 and all(n > 0 and self.is_counted(a) for a, n in form.terms.items())

    def is_counted(self, atom: Atom) -> bool:
        """Return whether an atom is known to be 0 or more: an index, a size, a counter upwards from 0, a remainder."""
        if atom.kind != "value" or atom.value is None:
            return atom.kind in ("tid", "launch_dim", "shape")
        loop, op = self.counters.get(atom.value), self.defs.get(atom.value)
        if loop is not None:
            return (self.number(loop.operands[2]) or 0) > 0 and self.is_positive(self.form(loop.operands[0]))
        return op is not None and op.name == "mod" and (self.number(op.operands[1]) or 0) > 0

    def index(self, value: Value) -> tuple[Form, Form | None]:
        """Return an index's affine form, and the size that is added to it if it is negative; None if it never is."""
        op = self.defs.get(value)
        if op is None or op.name != "wrap_index" or not _is_index(value):
            return self.congruent(self.form(value)), None
        form, size = (self.form(v) for v in op.operands)
        return self.congruent(form), None if self.is_positive(form) else size

    # ---- threads

    def uniform(self, value: Value, through: Container[str] | None = None) -> bool:
        """Return whether a value is the same for all threads of a launch, whenever it is computed.

        Args:
            value: any value.
            through: names of the operations by which it may be computed; None: by any that are pure.
        """
        known = self._uniform.get(value) if through is None else None
        if known is not None:
            return known
        seen: set[Value] = set()
        waiting = [value]
        same = True
        while waiting and same:
            one = waiting.pop()
            if one in seen or isinstance(one.type, ArrayType):
                continue
            seen.add(one)
            op = self.defs.get(one)
            if op is None:
                same = one in self.params
            else:
                same = not op.blocks and (op.name in through if through is not None else _is_pure(op))
                waiting += op.operands
        if through is None:
            self._uniform.update(dict.fromkeys(seen if same else (value,), same))
        return same

    def is_same(self, atom: Atom) -> bool:
        """Return whether an atom is the same for all threads of a launch, whenever it is computed."""
        return atom.kind in ("launch_dim", "shape", "number") or (atom.value is not None and self.uniform(atom.value))

    def own_positions(self, axis: int, uses: Iterable[Op]) -> list[int]:
        """Return the positions in these accesses' indices that tell threads along an axis of the launch apart.

        There its tid stands alike in all: as itself, or so that a thread has a stretch of its own (tid * k + c, where
        two c are equal or differ by no multiple of k).
        """
        # Equal indices say the same: adjoints of unrolled loops have thousands of accesses.
        rows = list(dict.fromkeys(map(indices_of, uses)))
        return [n for n in range(min(map(len, rows))) if self._differ(axis, dict.fromkeys(r[n] for r in rows))]

    def _differ(self, axis: int, indices: Iterable[Value]) -> bool:
        """Return whether any two of these indices are equal only for threads that are equal along an axis.

        The axis is one of the launch.
        """
        forms = [self.index(v) for v in indices]
        terms = forms[0][0].terms
        tid = Atom("tid", axis=axis)
        k = abs(terms.get(tid, 0))
        if k == 0 or any(size is not None or form.terms != terms for form, size in forms):
            return False
        constants = {form.constant for form, _ in forms}
        alone = all(atom == tid or self.is_same(atom) for atom in terms)
        return alone and len({c % k for c in constants}) == len(constants)

    def difference(self, one: Value, other: Value, same: Callable[[Atom], bool]) -> Difference:
        """Return the index `one` minus the index `other`.

        Args:
            one, other: the indices.
            same: returns whether an atom has the same value at both accesses.
        """
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
        constant_apart = a == b and not threads and not loose
        sizes = () if constant_apart else tuple(size for size in (first, second) if size is not None)
        positive = frozenset(atom for atom in shared if self.is_counted(atom))
        return Difference(a.constant - b.constant, shared, threads, loose, sizes, positive)

    def dependence(
        self, one: Op, other: Op, axes: tuple[int, ...] | None, same: Callable[[Atom], bool] | None = None
    ) -> Dependence:
        """Return how two accesses to one array may depend on each other; those of tiles may access any element.

        Args:
            one, other: the accesses.
            axes: of the launch, along which there are several threads; None if that is unknown.
            same: if one thread makes both accesses: returns whether an atom has the same value at both. None: two
                threads make them.
        """
        tiled = any(op.name in TILED or op.name == "reduce_add" for op in (one, other))
        pairs = () if tiled else zip(indices_of(one), indices_of(other), strict=False)
        differences = tuple(self.difference(*pair, same or self.is_same) for pair in pairs)
        return Dependence(one, other, differences, axes, alone=same is not None)


def _accesses(block: Block, guards: tuple[tuple[Value, bool], ...], loops: tuple[Op, ...]) -> Iterator[Access]:
    """Yield the accesses to arrays in a block and the blocks inside, in order; `guards`, `loops`: those around it."""
    for op in block.ops:
        if op.name in ACCESSES:
            yield Access(op, indices_of(op), guards, loops)
        for side, inner in enumerate(op.blocks):
            more = ((op.operands[0], side == 0),) if op.name == "if" else ()
            yield from _accesses(inner, (*guards, *more), (*loops, op) if op.name in LOOPS else loops)


def _is_pure(op: Op) -> bool:
    """Return whether an operation gives equal results for equal operands, in every thread."""
    known = OPERATIONS.get(op.name)
    return op.name not in _OWN and op.name not in TILED and (known is None or known.pure)


def _is_index(value: Value) -> bool:
    """Return whether a value is an integer of at least 32 bits, whose arithmetic is taken not to wrap."""
    return isinstance(value.type, Scalar) and is_integer(value.type) and value.type.bits >= int32.bits


def _form(op: Op, operands: list[Form]) -> Form | None:
    """Return the affine form of an operation's result, from those of its operands; None if it has none."""
    match op.name, operands:
        case "const", _:
            return Form(int(number_of(op)), {})
        case "tid" | "launch_dim", _:
            return Form(0, {Atom(op.name, axis=op.attrs[AXIS]): 1}) if op.attrs.get(LEVEL) is None else None
        case "shape", _:
            return Form(0, {Atom("shape", op.operands[0].name, op.attrs[AXIS]): 1})
        case "cast", [a]:
            return a
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
        case _:
            return None
