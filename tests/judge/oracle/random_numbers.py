"""Random numbers: PCG-RXS-M-XS-32 from its paper, and the draws that the guide makes of its 32 bits."""

from __future__ import annotations

from typing import Any

from tests.judge.oracle.numbers import Number, typed

WORD = (1 << 32) - 1


def advanced(state: int) -> int:
    """The linear congruential step."""
    return (state * 747796405 + 2891336453) & WORD


def permuted(state: int) -> int:
    """The 32 bits that a state gives."""
    word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & WORD
    return (word >> 22) ^ word


def hashed(number: int) -> int:
    return permuted(advanced(number & WORD))


def rand_init(seed: Any, offset: Any = None) -> Number:
    """The first state of a stream."""
    first = int(typed(seed, "int64").v)
    return Number(hashed(first if offset is None else first + hashed(int(typed(offset, "int64").v))), "uint32")


def _draw(state: Number) -> int:
    state.v = advanced(state.v)
    return permuted(state.v)


def _between(word: int, low: Any, high: Any, t: str) -> Number:
    first, last = typed(low, t).v, typed(high, t).v
    span = (last - first) & WORD if last > first else 0
    return Number(first + (word * span >> 32), t)


def randi(state: Number, low: Any = None, high: Any = None) -> Number:
    """A random int32."""
    word = _draw(state)
    return Number(word, "uint32").to("int32") if low is None else _between(word, low, high, "int32")


def randu(state: Number, low: Any = None, high: Any = None) -> Number:
    """A random uint32."""
    word = _draw(state)
    return Number(word, "uint32") if low is None else _between(word, low, high, "uint32")


def randf(state: Number, low: Any = None, high: Any = None) -> Any:
    """A random float32 below 1, or between two numbers."""
    unit = typed((_draw(state) >> 8) * 2.0**-24, "float32")
    if low is None:
        return unit
    low, high = (x if isinstance(x, Number) else typed(x, "float32") for x in (low, high))
    return low + (high - low) * unit


DRAWS = {"rand_init": rand_init, "randi": randi, "randu": randu, "randf": randf}
