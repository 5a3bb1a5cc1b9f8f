"""The maths functions of our own: a range reduction and a polynomial each, written once for every width.

Reductions follow Cody & Waite (*Software Manual for the Elementary Functions*, 1980) with fused multiply-adds; the
logarithm's correction terms follow Tang (ACM TOMS 16(4), 1990), the pairs of the power Dekker (Numer. Math. 18, 1971).
A formula is right on its whole range except where it says `rare`: there the C library's scalar function answers.
`design/cpu_maths.md` states the errors that `tests/backends/cpu/test_cpu_approximations.py` measures.

Coefficients stand in `TABLES`, lowest power first, by element width. `tests/support/checks/minimax.py` makes them
(least worst relative error, then rounded); a test compares. What each stands for is said where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

from workbench.backends.cpu.maths.lanes import Unfused, fma, polynomial
from workbench.backends.llvm.values import Value, Writer, bits_of

TABLES: dict[int, dict[str, tuple[float, ...]]] = {
    32: {
        "SIN": (
            -0.1666666716337204,
            0.008333329111337662,
            -0.0001983910915441811,
            2.7159187538927654e-06,
        ),
        "COS": (
            0.041666653007268906,
            -0.0013887560926377773,
            2.445124846417457e-05,
        ),
        "EXP": (
            0.4999999701976776,
            0.16666577756404877,
            0.041667819023132324,
            0.008363103494048119,
            0.0013821437023580074,
        ),
        "LOG": (
            0.39990004897117615,
            0.29581448435783386,
        ),
        "TANH": (
            -0.333333283662796,
            0.133329838514328,
            -0.053898755460977554,
            0.02128620818257332,
            -0.006615864112973213,
        ),
        "ERF": (
            0.12837916612625122,
            -0.3761262595653534,
            0.1128358542919159,
            -0.026853812858462334,
            0.005188327748328447,
            -0.0008010194287635386,
            7.85386364441365e-05,
        ),
        "ERFC": (
            -1.8496055603027344,
            -2.638967514038086,
            -0.8431057929992676,
            -0.04157165437936783,
            0.01007007621228695,
            -0.002046812092885375,
            0.00031644964474253356,
            -3.200862556695938e-05,
            1.5434777651535114e-06,
        ),
    },
    64: {
        "SIN": (
            -0.16666666666666666,
            0.008333333333333323,
            -0.00019841269841253454,
            2.755731921289872e-06,
            -2.5052104496049127e-08,
            1.6058306902050357e-10,
            -7.575511499854687e-13,
        ),
        "COS": (
            0.041666666666666664,
            -0.0013888888888888883,
            2.480158730157819e-05,
            -2.7557319217822003e-07,
            2.0876754825656464e-09,
            -1.147033594625364e-11,
            4.739652740809695e-14,
        ),
        "EXP": (
            0.5,
            0.1666666666666667,
            0.041666666666666484,
            0.008333333333326127,
            0.0013888888889007878,
            0.00019841269874962974,
            2.4801587037773425e-05,
            2.7557255111725826e-06,
            2.7557545719142915e-07,
            2.5105371702421386e-08,
            2.0824706310377215e-09,
        ),
        "LOG": (
            0.39999999999999997,
            0.2857142857143291,
            0.22222222220354115,
            0.18181818546150016,
            0.1538457744963612,
            0.13335583928548153,
            0.1168858099632381,
            0.1188317539908386,
        ),
        "TANH": (
            -0.3333333333333325,
            0.13333333333310907,
            -0.053968253950340384,
            0.0218694878738668,
            -0.008863221950107103,
            0.003591959094772132,
            -0.0014545025684739546,
            0.0005832974401099541,
            -0.00021774112879807494,
            5.6667985215110176e-05,
        ),
        "ERF": (
            0.1283791670955126,
            -0.3761263890318375,
            0.11283791670954857,
            -0.026866170645072893,
            0.005223977624780862,
            -0.0008548326978742012,
            0.00012055331036893647,
            -1.4925593506752539e-05,
            1.6460972814736562e-06,
            -1.6350025196622206e-07,
            1.4657879652488937e-08,
            -1.1365665168851802e-09,
            5.945260308854001e-11,
        ),
        "ERFC": (
            -1.8496055099332482,
            -2.638967514234776,
            -0.843107256359269,
            -0.0415610980310716,
            0.010033825277836412,
            -0.001977902080047374,
            0.0002373210399044439,
            2.6280171141613267e-05,
            -2.7159727616490058e-05,
            9.60309318172079e-06,
            -2.0448694153718113e-06,
            1.2222481173570158e-07,
            1.1677977057358356e-07,
            -6.485999270959776e-08,
            2.117425301039373e-08,
            -5.116718457098097e-09,
            9.609403900248573e-10,
            -1.4096768318980398e-10,
            1.5901997377737278e-11,
            -1.3336418851027949e-12,
            7.83184669485454e-14,
            -2.8725695473570822e-15,
            4.9493983091400764e-17,
        ),
    },
}


class Float(msgspec.Struct, frozen=True):
    """The parameters of an IEEE type that the formulas use.

    Attributes:
        mantissa: bits after the binary point.
        bias: of the exponent.
        half_pi: π/2 as a sum of three numbers, for reductions of sin, cos, tan.
        widest: the largest absolute argument for which that reduction holds.
        log2: the natural logarithm of 2 as a sum: nearest number and rest.
        log2_short: the same, the first with few enough bits that its product with an exponent is exact.
        floor, ceiling: exp() is 0 below, infinite above.
        whole: from here on numbers have no fraction.
        erf_end: erf() is 1 from here.
    """

    mantissa: int
    bias: int
    half_pi: tuple[float, float, float]
    widest: float
    log2: tuple[float, float]
    log2_short: tuple[float, float]
    floor: float
    ceiling: float
    whole: float
    erf_end: float


FLOATS = {
    32: Float(23, 127, (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15), 65536.0,
              (0.6931471824645996, -1.9046542121259336e-09), (0.693145751953125, 1.428606765330187e-06),
              -104.5, 89.0, 2.0**24, 4.0),
    64: Float(52, 1023, (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33), 2.0**27,
              (0.6931471805599453, 2.3190468138462996e-17), (0.6931471805598903, 5.497923018708371e-14),
              -746.0, 710.0, 2.0**53, 6.0),
}  # fmt: skip
THIRDS = (0.6666666666666666, 3.700743415417188e-17)  # 2/3 as a sum of two


class FormulaResult(msgspec.Struct, frozen=True):
    """The value of a formula, and a mask of the lanes for which it does not hold (None: it always does)."""

    value: Value
    rare: Value | None = None


def exp(x: Value) -> FormulaResult:
    """Emit e to the power x."""
    return FormulaResult(_exp(x))


def _exp(x: Value, rest: Value | None = None) -> Value:
    """Emit exp(x + rest); `rest` is a small correction of x, None is 0.

    x = k·ln 2 + r, exp(r) by a polynomial, 2ᵏ in two factors, so that small results round once.
    """
    about, table = FLOATS[bits_of(x.elem)], TABLES[bits_of(x.elem)]
    # Before k is taken, which must fit an exponent. Ordered comparisons let a NaN through.
    x = x.is_("ogt", about.ceiling).choose(about.ceiling, x)
    x = x.is_("olt", about.floor).choose(about.floor, x)
    k, bits = _nearest(x, 1 / math.log(2))
    r = fma(k, -about.log2[1], fma(k, -about.log2[0], x))
    if rest is not None:
        r = r + rest
    p = fma(r * r, polynomial(r, table["EXP"]), r) + 1.0
    first = bits.do("ashr", 1)
    return p * _power_of_two(first) * _power_of_two(bits - first)


def _power_of_two(k: Value) -> Value:
    """Emit 2 to the power k as a float, by its exponent's bits; `k` must be in the range of normal numbers."""
    about = FLOATS[bits_of(k.elem)]
    return (k + about.bias << about.mantissa).real


def _nearest(x: Value, factor: float) -> tuple[Value, Value]:
    """Emit the whole number nearest to x · factor, as a float and as an integer.

    A number too large to have a fraction is added, so the product must be small enough for that.
    """
    about = FLOATS[bits_of(x.elem)]
    large = 1.5 * 2.0**about.mantissa
    moved = fma(x, factor, large)
    return moved - large, moved.bits - x.like(large).spread(x.lanes).bits


def log(x: Value) -> FormulaResult:
    """Emit the natural logarithm.

    x = 2ᵉ (1 + f), and with s = f / (2 + f) it is e·ln 2 + f - s (f - s² (2/3 + s²·P(s²))).
    """
    about, table = FLOATS[bits_of(x.elem)], TABLES[bits_of(x.elem)]
    exponent, m = _split(x)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    inner = s * fma(z, fma(z, polynomial(z, table["LOG"]), THIRDS[0]), half)
    high, low = about.log2_short
    value = exponent * high - ((half - (inner + exponent * low)) - f)
    value = x.is_("oeq", math.inf).choose(x, value)
    value = x.is_("oeq", 0.0).choose(-math.inf, value)
    return FormulaResult(x.is_("ult", 0.0).choose(math.nan, value))


def _split(x: Value) -> tuple[Value, Value]:
    """Emit e, as a float, and m in [√½, √2) with x = 2ᵉ m, for subnormal numbers as well."""
    about = FLOATS[bits_of(x.elem)]
    small = x.is_("olt", 2.0 ** (1 - about.bias))
    scaled = small.choose(x * 2.0**about.mantissa, x)
    # Counted from √½ instead of 1, m lies around 1: then log has no cancellation where its result is near 0.
    from_root = scaled.bits - x.like(math.sqrt(0.5)).spread(x.lanes).bits
    exponent = from_root.do("ashr", about.mantissa)
    m = (scaled.bits - (exponent << about.mantissa)).real
    e = exponent.cast("sitofp", x.elem)
    return small.choose(e - float(about.mantissa), e), m


def sin(x: Value) -> FormulaResult:
    """Emit the sine."""
    r, quadrant, rare = _reduce(x)
    s, c = _sine(r), _cosine(r)
    value = _turned((quadrant & 1).is_("eq", 0).choose(s, c), quadrant)
    # The additions above lose the sign of -0.0.
    return FormulaResult(x.is_("oeq", 0.0).choose(x, value), rare)


def cos(x: Value) -> FormulaResult:
    """Emit the cosine."""
    r, quadrant, rare = _reduce(x)
    s, c = _sine(r), _cosine(r)
    return FormulaResult(_turned((quadrant & 1).is_("eq", 0).choose(c, s), quadrant + 1), rare)


def tan(x: Value) -> FormulaResult:
    """Emit the tangent: sine over cosine, or minus cosine over sine in odd quadrants."""
    r, quadrant, rare = _reduce(x)
    s, c = _sine(r), _cosine(r)
    even = (quadrant & 1).is_("eq", 0)
    value = even.choose(s, -c) / even.choose(c, s)
    return FormulaResult(x.is_("oeq", 0.0).choose(x, value), rare)


def _reduce(x: Value) -> tuple[Value, Value, Value]:
    """Emit x - n·π/2 in about [-π/4, π/4], the integer n, and whether x is too large, or NaN, for that."""
    about = FLOATS[bits_of(x.elem)]
    n, quadrant = _nearest(x, 2 / math.pi)
    r = x
    # fma does not round the product, so each part may use all its bits; what cancels is exact.
    for part in about.half_pi:
        r = fma(n, -part, r)
    return r, quadrant, abs(x).is_("ugt", about.widest)


def _sine(r: Value) -> Value:
    """Emit the sine of an angle in about [-π/4, π/4]."""
    z = r * r
    return fma(z * r, polynomial(z, TABLES[bits_of(r.elem)]["SIN"]), r)


def _cosine(r: Value) -> Value:
    """Emit the cosine of an angle in about [-π/4, π/4].

    It is 1 - z/2 + z² P(z) with z = r², corrected by what rounding 1 - z/2 lost.
    """
    z = r * r
    most = fma(z, -0.5, 1.0)
    lost = fma(z, -0.5, 1.0 - most)
    return most + fma(z * z, polynomial(z, TABLES[bits_of(r.elem)]["COS"]), lost)


def _turned(value: Value, quadrant: Value) -> Value:
    """Negate the value where bit 1 of `quadrant` is set: in the third and fourth quadrant, counted from 0."""
    return (value.bits ^ (quadrant & 2) << bits_of(value.elem) - 2).real


def tanh(x: Value) -> FormulaResult:
    """Emit the hyperbolic tangent: a polynomial up to ½, beyond it 1 - 2 / (exp(2x) + 1)."""
    size = abs(x)
    z = x * x
    small = fma(x * z, polynomial(z, TABLES[bits_of(x.elem)]["TANH"]), x)
    held = size.is_("ogt", 22.0).choose(22.0, size)
    large = 1.0 - 2.0 / (_exp(held + held) + 1.0)
    value = size.is_("olt", 0.5).choose(small, _signed(large, x))
    return FormulaResult(x.is_("oeq", 0.0).choose(x, value))


def erf(x: Value) -> FormulaResult:
    """Emit the error function: x + x·P(x²) up to 1, beyond it 1 - exp(Q(|x| - 1))."""
    about, table = FLOATS[bits_of(x.elem)], TABLES[bits_of(x.elem)]
    size = abs(x)
    small = fma(x, polynomial(x * x, table["ERF"]), x)
    held = size.is_("ogt", about.erf_end).choose(about.erf_end, size)
    large = 1.0 - _exp(polynomial(held - 1.0, table["ERFC"]))
    value = size.is_("olt", 1.0).choose(small, _signed(large, x))
    return FormulaResult(x.is_("oeq", 0.0).choose(x, value))


def _signed(size: Value, x: Value) -> Value:
    """Emit the number `size` with the sign of x."""
    return size.intrinsic("copysign", x)


def pow(x: Value, y: Value) -> FormulaResult:
    """Emit x to the power y: exp(y·log|x|), with float64 for float32 and with pairs for float64; then the sign.

    The result's second part marks the lanes that have rules of their own: x is 0, subnormal, infinite or NaN, or y
    is infinite or NaN.
    """
    about = FLOATS[bits_of(x.elem)]
    size = abs(x)
    if x.elem == "float":
        exponent = y.cast("fpext", "double")
        value = _exp(exponent * log(size.cast("fpext", "double")).value).cast("fptrunc", "float")
    else:
        high, low = _log_pair(size)
        held = _clamped(y) if isinstance(x.w, Unfused) else y
        product = held * high
        rest = fma(held, low, fma(held, high, -product))
        # Where the product overflows, the rest is infinity minus infinity.
        value = _exp(product, abs(product).is_("olt", 1000.0).choose(rest, x.like(0.0)))
    is_whole = y.intrinsic("trunc").is_("oeq", y)
    halved = y * 0.5
    # Floats so large that they have no fraction bits are even.
    odd = is_whole & halved.intrinsic("trunc").is_("une", halved) & abs(y).is_("olt", about.whole)
    negative = x.is_("olt", 0.0)
    value = (negative & odd).choose(-value, value)
    value = is_whole.choose(value, negative.choose(math.nan, value))
    # Zero, infinity, NaN and the smallest numbers have their own rules; none is common.
    rare = size.is_("ult", 2.0 ** (1 - about.bias)) | size.is_("uge", math.inf) | abs(y).is_("uge", math.inf)
    return FormulaResult(value, rare)


def _clamped(y: Value) -> Value:
    """Emit an exponent clamped to ±2⁷⁰, which products of two parts can take.

    Beyond that every power but that of 1 is 0 or infinite.
    """
    y = y.is_("ogt", 2.0**70).choose(2.0**70, y)
    return y.is_("olt", -(2.0**70)).choose(-(2.0**70), y)


def _log_pair(x: Value) -> tuple[Value, Value]:
    """Emit log(x) of a normal float64 as a sum of two numbers, wrong by less than 2⁻⁶⁵ relative."""
    about, table = FLOATS[64], TABLES[64]["LOG"]
    exponent, m = _split(x)
    f = m - 1.0
    t = f + 2.0
    t_rest = f - (t - 2.0)
    s = f / t
    s_rest = (fma(-s, t, f) - s * t_rest) / t
    z = s * s
    z_rest = fma(s + s, s_rest, fma(s, s, -z))
    tail = fma(z, polynomial(z, table), THIRDS[1])
    p = tail + THIRDS[0]
    p_rest = tail - (p - THIRDS[0])
    w = s * z
    w_rest = fma(s_rest, z, fma(s, z_rest, fma(s, z, -w)))
    u = w * p
    u_rest = fma(w_rest, p, fma(w, p_rest, fma(w, p, -u)))
    twice = s + s
    high = twice + u
    low = (u - (high - twice)) + (s_rest + s_rest + u_rest)
    scale = exponent * about.log2_short[0]
    total = scale + high
    added = total - scale
    lost = (scale - (total - added)) + (high - added)
    rest = lost + (low + exponent * about.log2_short[1])
    result = total + rest
    return result, rest - (result - total)


def _multiply_add(x: Value, y: Value, z: Value) -> FormulaResult:
    """Emit x · y + z rounded once, for targets without such an instruction."""
    if bits_of(x.elem) == 32:
        return FormulaResult(fma(x, y, z))
    # The product as a sum of two: neither its halves may overflow, nor its rest be subnormal.
    product = x * y
    none = product.is_("oeq", 0.0)
    rare = abs(x).is_("uge", 2.0**990) | abs(y).is_("uge", 2.0**990) | abs(z).is_("uge", 2.0**990)
    rare = (
        rare
        | abs(product).is_("uge", 2.0**990)
        | (abs(product).is_("olt", 2.0**-900) & x.is_("une", 0.0) & y.is_("une", 0.0))
    )
    return FormulaResult(none.choose(product + z, fma(x, y, z)), rare)


FORMULAS: dict[str, Callable[..., FormulaResult]] = {f.__name__: f for f in (exp, log, sin, cos, tan, tanh, erf, pow)}
INSTEAD: dict[str, Callable[..., FormulaResult]] = {"fma": _multiply_add}
"""Formulas for instructions that a target may lack."""


def body(name: str, bits: int, count: int, fused: bool = True) -> tuple[Writer, FormulaResult]:
    """Emit the formula `name` on parameters `%x0`, `%x1`, …, for `count` lanes of `bits` bits.

    Args:
        name: of the formula.
        bits: 32 or 64.
        count: lanes; 1 for the scalar.
        fused: the target has fused multiply-add.

    Returns:
        The writer of the text, and the registers of the result.
    """
    w, kind = Writer() if fused else Unfused(), "float" if bits == 32 else "double"
    lanes = count if count > 1 else 0
    return w, _formula(name)(*(Value(w, f"%x{n}", kind, lanes) for n in range(arguments(name))))


def arguments(name: str) -> int:
    """Return how many arguments a formula takes."""
    return _formula(name).__code__.co_argcount


def _formula(name: str) -> Callable[..., FormulaResult]:
    """Return the function that emits a maths function by this name, of `FORMULAS` or `INSTEAD`."""
    return FORMULAS.get(name) or INSTEAD[name]
