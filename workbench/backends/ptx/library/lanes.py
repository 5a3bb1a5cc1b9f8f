"""Library functions that go lane by lane: shuffles, matches, reductions, divisions and mathematics."""

from __future__ import annotations

from workbench.backends.llvm.functions import (
    Doubles,
    Int,
    Ints,
    Lanes,
    LlvmFunction,
    Longs,
    Variable,
    define,
    each_lane,
)
from workbench.backends.llvm.values import Number, masked_gather
from workbench.backends.ptx.library.words import LANES, zeros

MATHS = ("exp2", "log2", "sin", "cos", "tanh")
_NEUTRAL = {"add": 0, "and": -1, "or": 0, "xor": 0, "umin": -1, "umax": 0, "smin": 2**31 - 1, "smax": -(2**31)}
"""By reduction, what it leaves as it is."""


def _division(verb: str, sign: str, bits: int) -> LlvmFunction:
    """Return `wbe_div_*` or `wbe_rem_*`, defined for every divisor.

    By 0 all bits are set or the dividend is left, and the least number by -1 wraps to itself, as by 1: on a device.
    """

    def body(mask: Int, a: Lanes, b: Lanes) -> Lanes:
        out = Variable(zeros(a, a.elem))
        with each_lane(mask, a, b) as (lane, x, y):
            none = y.is_("eq", 0)
            unsafe = none | x.is_("eq", -(1 << bits - 1)) & y.is_("eq", -1) if sign == "s" else none
            quotient = x.do(f"{sign}{verb}", unsafe.choose(1, y))
            out.set_lane(lane, none.choose(-1 if verb == "div" else x, quotient))
        return out.get()

    return LlvmFunction(body, f"wbe_{verb}_{sign}{bits}", f"i{bits}")


def _maths(name: str) -> LlvmFunction:
    """Return `wbe_exp2` and the like, which call the C library's float64 function per lane."""

    def body(mask: Int, x: Doubles) -> Doubles:
        out = Variable(zeros(x, "double"))
        with each_lane(mask, x) as (lane, number):
            out.set_lane(lane, number.called(name, str(number)))
        return out.get()

    return LlvmFunction(body, f"wbe_{name}")


def _reduction(name: str, neutral: Number) -> LlvmFunction:
    """Return `wbe_redux_*`: per lane, the reduction of `value` over the lanes in its mask `here`."""

    def body(value: Ints, here: Ints) -> Ints:
        out = Variable(here)
        with each_lane(here.like(-1), here) as (lane, own):
            out.set_lane(lane, own.flags.choose(value, neutral).reduced(name))
        return out.get()

    return LlvmFunction(body, f"wbe_redux_{name}")


@define
def wbe_permute(value: Ints, source: Ints) -> Ints:
    """Return in each lane the value of the lane `source`."""
    return masked_gather(Variable(value).address.spread(LANES).at(source, "i32"), None, "i32", 4)


@define
def wbe_first(mask: Int, value: Ints) -> Int:
    """Return the value of the lowest lane that is on; that of lane 0 if none is."""
    return value.lane(mask.first_on() & 31)


@define
def wbe_match(value: Longs, here: Ints) -> Ints:
    """Return per lane the lanes in its mask `here` that have its value."""
    out = Variable(here)
    with each_lane(here.like(-1), value, here) as (lane, own, members):
        out.set_lane(lane, value.is_("eq", own).mask & members)
    return out.get()


FUNCTIONS = [
    *(_division(verb, sign, bits) for sign in "su" for bits in (16, 32, 64) for verb in ("div", "rem")),
    *map(_maths, MATHS),
    *(_reduction(*item) for item in _NEUTRAL.items()),
    wbe_permute, wbe_first, wbe_match,
]  # fmt: skip
LANE_FUNCTIONS = {function.name: function for function in FUNCTIONS}
"""The functions by name."""
