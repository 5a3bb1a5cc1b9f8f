"""Kernels built by hand, one for each part of the language, for the tests of the CUDA text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec.structs import force_setattr

from workbench.builtins import TABLE, Ref
from workbench.builtins.declaration.refs import constant
from workbench.ir import Block, Builder, Captured, Function, Value
from workbench.ir.verify import verify
from workbench.types import (
    ArrayType,
    Type,
    Vector,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
    uint32,
)


class Make:
    """A builder with Refs: `k.x` is a parameter, `k.load`, `k.store`, `k.loop` do what the language does."""

    def __init__(self, name: str, ndim: int = 1, **params: Type) -> None:
        self.name, self.ndim = name, ndim
        self.b = Builder()
        self.params = {n: Value(t, n) for n, t in params.items()}
        self.captured: list[Captured] = []

    def __getattr__(self, name: str) -> Ref:
        return Ref(self.b, self.__dict__["params"][name])

    def done(self) -> Function:
        params = tuple(self.params.values())
        return verify(Function(self.name, params, self.b.body(), self.ndim, tuple(self.captured)))

    def tid(self, axis: int = 0, name: str = "i") -> Ref:
        return Ref(self.b, self.b.emit("tid", (), (int32,), {"axis": axis}, names=[name]).result)

    def shape(self, array: Ref, axis: int = 0) -> Ref:
        return Ref(self.b, self.b.one("shape", (array.value,), int32, {"axis": axis}))

    def const(self, value: Any, type: Type = int32) -> Ref:
        return constant(self.b, value, type)

    def capture(self, name: str, value: Any, type: Any) -> Ref:
        self.captured.append(Captured(name, type, type(value)))
        return Ref(self.b, self.b.const(value, type, name))

    def load(self, array: Ref, *indices: Ref) -> Ref:
        return Ref(self.b, self.b.load(array.value, *(i.value for i in indices)))

    def store(self, array: Ref, *rest: Ref) -> None:
        self.b.store(array.value, *(r.value for r in rest))

    def atomic_add(self, array: Ref, *rest: Ref) -> Ref:
        return Ref(self.b, self.b.one("atomic_add", [array.value, *(r.value for r in rest)], array.type.dtype))  # type: ignore[union-attr]

    def reduce_add(self, array: Ref, value: Ref) -> None:
        self.b.emit("reduce_add", (array.value, value.value))

    def named(self, name: str, ref: Ref) -> Ref:
        """The value, computed by the last operation, under a name of the user's."""
        force_setattr(ref.value, "name", name)
        return ref

    def call(self, name: str, *args: Any) -> Ref:
        return TABLE[name](*args)

    def vec(self, type: Vector, *parts: Ref) -> Ref:
        return Ref(self.b, self.b.one("vec", [p.value for p in parts], type))

    def insert(self, vector: Ref, index: Ref, value: Ref) -> Ref:
        return Ref(self.b, self.b.one("insert", (vector.value, index.value, value.value), vector.type))

    def extract(self, vector: Ref, index: Ref) -> Ref:
        return Ref(self.b, self.b.one("extract", (vector.value, index.value), vector.type.dtype))  # type: ignore[union-attr]

    def branch(
        self, condition: Ref, then: Callable[[], Sequence[Ref]], orelse: Callable[[], Sequence[Ref]]
    ) -> list[Ref]:
        blocks = [self._block((), make) for make in (then, orelse)]
        return [Ref(self.b, v) for v in self.b.if_(condition.value, *blocks)]

    def only_if(self, condition: Ref, then: Callable[[], None]) -> None:
        self.branch(condition, lambda: then() or (), lambda: ())

    def loop(
        self,
        start: Ref,
        stop: Ref,
        step: Ref,
        init: dict[str, Ref],
        body: Callable[..., Sequence[Ref]],
        index: str = "k",
    ) -> list[Ref]:
        params = [Value(start.type, index), *(Value(r.type, n) for n, r in init.items())]
        block = self._block(params, lambda: body(*(Ref(self.b, p) for p in params)))
        values = [r.value for r in init.values()]
        return [Ref(self.b, v) for v in self.b.for_(start.value, stop.value, step.value, values, block)]

    def loop_while(
        self, init: dict[str, Ref], test: Callable[..., Ref], body: Callable[..., Sequence[Ref]]
    ) -> list[Ref]:
        blocks = []
        for make in (lambda *p: (test(*p),), body):
            params = [Value(r.type, n) for n, r in init.items()]
            blocks.append(self._block(params, lambda m=make, ps=params: m(*(Ref(self.b, p) for p in ps))))
        return [Ref(self.b, v) for v in self.b.while_([r.value for r in init.values()], *blocks)]

    def _block(self, params: Sequence[Value], make: Callable[[], Sequence[Ref]]) -> Block:
        with self._open(params) as opened:
            self.b.yield_(*(r.value for r in make()))
        return opened.block

    @contextmanager
    def _open(self, params: Sequence[Value]) -> Iterator[Any]:
        with self.b.block(params) as opened:
            yield opened


def array(type: Any, ndim: int = 1) -> ArrayType:
    return ArrayType(type, ndim)


def saxpy() -> Function:
    k = Make("saxpy", x=array(float32), y=array(float32), a=float32)
    i = k.tid()
    k.store(k.y, i, k.a * k.load(k.x, i) + k.load(k.y, i))
    return k.done()


def saxpy_adjoint() -> Function:
    k = Make("saxpy_adjoint", x=array(float32), y=array(float32), a=float32, adj_x=array(float32),
             adj_y=array(float32), adj_a=array(float32))  # fmt: skip
    i = k.tid()
    ct = k.load(k.adj_y, i)
    k.store(k.adj_y, i, ct.like(0))
    k.atomic_add(k.adj_x, i, ct * k.a)
    k.reduce_add(k.adj_a, ct * k.load(k.x, i))
    k.atomic_add(k.adj_y, i, ct)
    return k.done()


def blur() -> Function:
    k = Make("blur", 2, image=array(float32, 2), out=array(float32, 2), radius=int32)
    i, j = k.tid(0, "i"), k.tid(1, "j")
    h, w = k.named("h", k.shape(k.image, 0)), k.named("w", k.shape(k.image, 1))
    zero, one = k.const(0), k.const(1)

    def rows(di: Ref, s: Ref, n: Ref) -> Sequence[Ref]:
        def columns(dj: Ref, s: Ref, n: Ref) -> Sequence[Ref]:
            y = k.named("y", k.call("clamp", i + di, zero, h - 1))
            x = k.named("x", k.call("clamp", j + dj, zero, w - 1))
            return k.named("s", s + k.load(k.image, y, x)), k.named("n", n + 1.0)

        return k.loop(-k.radius, k.radius + 1, one, {"s": s, "n": n}, columns, "dj")

    s, n = k.loop(-k.radius, k.radius + 1, one, {"s": k.const(0.0, float32), "n": k.const(0.0, float32)}, rows, "di")
    k.store(k.out, i, j, s / n)
    return k.done()


def collatz() -> Function:
    k = Make("collatz", start=array(int32), steps=array(int32))
    i = k.tid()

    def body(n: Ref, count: Ref) -> Sequence[Ref]:
        even = k.call("eq", k.call("mod", n, n.like(2)), n.like(0))
        (m,) = k.branch(even, lambda: [k.call("floordiv", n, n.like(2))], lambda: [n * 3 + 1])
        return m, count + 1

    _, count = k.loop_while({"n": k.load(k.start, i), "count": k.const(0)}, lambda n, c: n > 1, body)
    k.store(k.steps, i, count)
    return k.done()


def fibonacci() -> Function:
    """Carried values that swap, and one that an `if` changes."""
    k = Make("fibonacci", turns=array(int32), out=array(float32))
    i = k.tid()

    def body(n: Ref, a: Ref, b: Ref, top: Ref) -> Sequence[Ref]:
        (higher,) = k.branch(a > top, lambda: [a], lambda: [top])
        return b, a, higher + a

    init = {"a": k.const(1.0, float32), "b": k.const(2.0, float32), "top": k.const(0.0, float32)}
    a, b, top = k.loop(k.const(0), k.load(k.turns, i), k.const(1), init, body, "n")
    k.store(k.out, i, a * 100.0 + (b * 10.0 + top))
    return k.done()


VEC3 = Vector(3, float32)


def particles() -> Function:
    k = Make("particles", x=array(VEC3), v=array(VEC3), energy=array(float32))
    i = k.tid()
    dt, g = k.capture("DT", 0.01, float32), k.capture("G", (0.0, -9.8, 0.0), VEC3)
    v = k.named("v", k.load(k.v, i) + g * dt)
    x = k.named("x", k.load(k.x, i) + v * dt)
    below = k.extract(x, k.const(1)) < 0.0

    def bounce() -> Sequence[Ref]:
        return k.insert(x, k.const(1), x.like(0).component(0)), k.insert(v, k.const(1), -k.extract(v, k.const(1)))

    x, v = k.branch(below, bounce, lambda: [x, v])
    k.store(k.x, i, x)
    k.store(k.v, i, v)
    k.store(k.energy, i, k.call("dot", v, v) * 0.5 + k.call("length", k.call("cross", x, v)))
    return k.done()


def histogram() -> Function:
    k = Make("histogram", 2, image=array(uint8, 2), counts=array(int32), sums=array(int64), small=array(int8))
    i, j = k.tid(0, "i"), k.tid(1, "j")
    pixel = k.named("pixel", k.load(k.image, i, j))
    k.atomic_add(k.counts, pixel.cast(int32), k.const(1))
    old = k.atomic_add(k.sums, k.const(0), pixel.cast(int64))
    k.only_if(old >= 0, lambda: k.atomic_add(k.small, pixel.cast(int32), k.const(3, int8)) and None)
    return k.done()


def hashing() -> Function:
    """Integers that wrap, in sums, products and shifts; plain arithmetic where nothing can overflow."""
    k = Make("hashing", x=array(int32), out=array(int32), wide=array(int64))
    i = k.tid()
    n = k.shape(k.x)
    v = k.named("v", k.load(k.x, k.call("wrap_index", i - 1, n)))
    h = k.named("h", (v * 1103515245 + 12345) * v - i)
    k.store(k.out, i, k.call("bit_xor", h, k.call("rshift", h, h.like(7))) + -v)
    k.store(k.wide, n - 1 - i, h.cast(int64) * (1 << 62) - v.cast(int64))
    return k.done()


def ranges() -> Function:
    """`range` with steps that are known and not."""
    k = Make("ranges", start=array(int32), stop=array(int32), step=array(int32), out=array(int32, 2))
    i = k.tid()
    start, stop, step = k.load(k.start, i), k.load(k.stop, i), k.load(k.step, i)
    steps = [step, k.const(3), k.const(-2), k.const(-1), k.const(1)]
    for place, stride in enumerate(steps):
        (s,) = k.loop(start, stop, stride, {"s": k.const(0)}, lambda n, s: [s * 31 + n])
        k.store(k.out, i, k.const(place), s)
    return k.done()


def early_out() -> Function:
    """`if`, `elif`, `else` as they come from a kernel with early returns."""
    k = Make("early_out", x=array(float64), y=array(float64), n=uint32)
    i = k.tid()

    def inside() -> None:
        v = k.named("v", k.load(k.x, i))

        def low() -> Sequence[Ref]:
            return [k.call("sqrt", -v)]

        def high() -> Sequence[Ref]:
            return k.branch(v > 1.0, lambda: [k.call("log", v) / (v + 1.0)], lambda: [v - (1.0 - v)])

        (result,) = k.branch(v < 0.0, low, high)
        k.store(k.y, i, result)

    k.only_if(i.cast(uint32) < k.n, inside)
    return k.done()


KERNELS: dict[str, Callable[[], Function]] = {
    f.__name__: f
    for f in (
        saxpy, saxpy_adjoint, blur, collatz, fibonacci, particles, histogram, hashing, ranges, early_out
    )
}  # fmt: skip
