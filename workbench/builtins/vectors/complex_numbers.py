"""Complex numbers, in the kernel language: products, quotients and functions, with C's values at infinities and NaN.

A cotangent of a complex number is JAX's: (∂L/∂x) - i (∂L/∂y). So what follows states derivatives as they are in books:
`adj * exp(z)`. What has none stated has that of its lines.

Sources: C17, annex G; Kahan, "Branch cuts for complex elementary functions" (1987); Smith, "Algorithm 116: complex
division" (1962).
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math

from workbench.builtins.declaration.declare import Form, written
from workbench.builtins.declaration.forms import adjoint, is_double
from workbench.builtins.declaration.rules import COMPLEX, kinds
from workbench.builtins.scalars.extrema import abs, max, min
from workbench.builtins.scalars.maths import (
    atan2,
    copysign,
    cos,
    cosh,
    exp,
    hypot,
    isfinite,
    isinf,
    log,
    log1p,
    sin,
    sinh,
    sqrt,
)
from workbench.builtins.scalars.operators import fma, where
from workbench.builtins.scalars.rounding import floor


@written("_complex_div(a, b)", kinds(COMPLEX, COMPLEX))
def complex_div(a, b, /):
    """Return the quotient, `a / b`, by Smith's method as NumPy does: no square of b overflows."""
    x, y = b.real, b.imag
    flat = abs(x) >= abs(y)
    zero = (x == 0.0) and (y == 0.0)
    ratio = where(flat, y, x) / where(flat, x, y)
    scale = 1.0 / (where(flat, x, y) + where(flat, y, x) * ratio)
    real = where(flat, a.real + a.imag * ratio, a.real * ratio + a.imag) * scale
    imag = where(flat, a.imag - a.real * ratio, a.imag * ratio - a.real) * scale
    return complex(where(zero, a.real / abs(x), real), where(zero, a.imag / abs(x), imag))


@complex_div.derivative
def _complex_div_gradient(a, b, adj, /):
    """Add to the adjoints of a and b what the adjoint `adj` of a / b brings."""
    part = adj / b
    adjoint[a] += part
    adjoint[b] += -part * (a / b)


@written("conj(z)")
def conj(z, /):
    """Return the conjugate: x - iy of a complex number or of each number of a vector; a real one itself."""
    return z.conjugate()


@written("_complex_abs(z)", kinds(COMPLEX))
def complex_abs(z, /):
    """Return the magnitude, `abs(z)`, a float; no square overflows."""
    return hypot(z.real, z.imag)


@complex_abs.derivative
def _complex_abs_gradient(z, adj, /):
    """Add to the adjoint of z what the adjoint `adj` of its magnitude, a float, brings."""
    # In half the size no magnitude overflows. At 0 the gradient is 0, as JAX's.
    x, y = z.real * 0.5, z.imag * 0.5
    size = hypot(x, y)
    size = where(size == 0.0, 1.0, size)
    adjoint[z] += complex(adj * (x / size), -adj * (y / size))


@written("_complex_exp(z)", kinds(COMPLEX))
def complex_exp(z, /):
    """Return e to the power z."""
    x, y = z.real, z.imag
    # exp(x) overflows before exp(x) * cos(y) does: of a large x, `far` is taken off and put back.
    far = 512.0 if is_double(x) else 64.0
    large = x > far
    size = exp(x - where(large, far, 0.0))
    back = where(large, exp(far), 1.0)
    endless, wild = isinf(x), not isfinite(y)
    endless = endless and wild
    real = where(endless, where(x > 0.0, x, 0.0), size * cos(y) * back)
    imag = where(endless and x < 0.0, 0.0, size * sin(y) * back)
    return complex(real, where(y == 0.0, y, imag))


@complex_exp.derivative
def _complex_exp_gradient(z, adj, /):
    """Add to the adjoint of z what the adjoint of its exponential brings."""
    adjoint[z] += adj * complex_exp(z)


@written("_complex_log(z)", kinds(COMPLEX))
def complex_log(z, /):
    """Return the natural logarithm, its imaginary part from -π to π."""
    x, y = z.real, z.imag
    high, low = max(abs(x), abs(y)), min(abs(x), abs(y))
    # Powers of 2 keep the magnitude in range, and cancel.
    large = high > (2.0**1021 if is_double(x) else 2.0**125)
    small = high < (2.0**-960 if is_double(x) else 2.0**-90)
    scale = where(large, 0.25, where(small, 2.0**60, 1.0))
    size = hypot(x * scale, y * scale)
    real = log(size) + where(large, log(4.0), where(small, log(2.0**-60), 0.0))
    # Near 1 the logarithm is that of what x² + y² - 1 is to all digits: products and sums with their rounding errors.
    near = (size > 0.5) and (size < 2.0) and scale == 1.0
    p, q = high * high, low * low
    d = p - 1.0
    s = d + q
    r = s - d
    rest = fma(high, high, -p) + fma(low, low, -q) + ((p - (d + 1.0)) + (d - (s - r)) + (q - r))
    real = where(near, log1p(where(near, s + rest, 0.0)) * 0.5, real)
    return complex(real, atan2(y, x))


@complex_log.derivative
def _complex_log_gradient(z, adj, /):
    """Add to the adjoint of z that of its logarithm, divided by z (without a conjugate)."""
    adjoint[z] += adj / z


@written("_complex_sqrt(z)", kinds(COMPLEX))
def complex_sqrt(z, /):
    """Return the square root with a nonnegative real part; the branch cut is the negative real axis."""
    x, y = z.real, z.imag
    high = max(abs(x), abs(y))
    large = high > (2.0**1021 if is_double(x) else 2.0**125)
    small = high < (2.0**-960 if is_double(x) else 2.0**-90)
    scale = where(large, 0.25, where(small, 2.0**60, 1.0))
    back = where(large, 2.0, where(small, 2.0**-30, 1.0))
    a, b = abs(x) * scale, abs(y) * scale
    far = sqrt((a + hypot(a, b)) * 0.5)
    near = where(far == 0.0, 0.0, b / (far * 2.0))
    right = x >= 0.0
    real, imag = where(right, far, near) * back, where(right, near, far) * back
    endless = isinf(y)
    return complex(where(endless, abs(y), real), copysign(where(endless, abs(y), imag), y))


@complex_sqrt.derivative
def _complex_sqrt_gradient(z, adj, /):
    """Add to the adjoint of z what the adjoint of its square root brings."""
    adjoint[z] += adj * 0.5 / complex_sqrt(z)


@written("_complex_pow(a, b)", kinds(COMPLEX, COMPLEX))
def complex_pow(a, b, /):
    """Return the power, `a ** b`: by squaring for integers below 100 in magnitude, else as exp(b log(a))."""
    n = b.real
    integral, zero = floor(n) == n, a.real == 0.0 and a.imag == 0.0
    integral = integral and b.imag == 0.0 and n < 100.0 and n > -100.0
    count = int(where(integral, abs(n), 0.0))
    power, square = type(a)(1.0), a
    for k in range(7):
        power = where((count >> k) % 2 == 1, power * square, power)
        square = square * square
    power = where(n < 0.0, 1.0 / power, power)
    nothing = where(n > 0.0 and b.imag == 0.0, 0.0, math.nan)
    return where(integral, power, where(zero, complex(nothing, nothing), exp(b * log(a))))


@complex_pow.derivative
def _complex_pow_gradient(a, b, adj, /):
    """Add to the adjoints of a and b what the adjoint `adj` of a ** b brings.

    That is nothing to a's where b is 0, and nothing to b's where a is 0.
    """
    constant, zero = b.real == 0.0 and b.imag == 0.0, a.real == 0.0 and a.imag == 0.0
    adjoint[a] += where(constant, type(a)(0.0), adj * b * a ** (b - 1.0))
    adjoint[b] += where(zero, type(a)(0.0), adj * a**b * log(where(zero, type(a)(1.0), a)))


@written("_hyperbolic(x)")
def _hyperbolic(x):
    """Return s, c and a factor: s * factor is sinh(x), c * factor cosh(x), and none overflows before a product does."""
    far = 512.0 if is_double(x) else 64.0
    large = abs(x) > far
    size = exp(where(large, abs(x) - far, 0.0)) * 0.5
    near = where(large, 0.0, x)
    s, c = where(large, copysign(size, x), sinh(near)), where(large, size, cosh(near))
    return s, c, where(large, type(x)(exp(far)), 1.0)


@written("_complex_sinh(z)", kinds(COMPLEX))
def complex_sinh(z, /):
    """Return the hyperbolic sine."""
    x, y = z.real, z.imag
    s, c, scale = _hyperbolic(x)
    endless, wild = isinf(x), not isfinite(y)
    only = (x == 0.0 or endless) and wild
    return complex(where(only, x, s * cos(y) * scale), where(y == 0.0, y, c * sin(y) * scale))


@complex_sinh.derivative
def _complex_sinh_gradient(z, adj, /):
    """Add to the adjoint of z what the adjoint of its hyperbolic sine brings."""
    adjoint[z] += adj * complex_cosh(z)


@written("_complex_cosh(z)", kinds(COMPLEX))
def complex_cosh(z, /):
    """Return the hyperbolic cosine."""
    x, y = z.real, z.imag
    s, c, scale = _hyperbolic(x)
    endless, wild = isinf(x), not isfinite(y)
    none = y == 0.0 or (wild and x == 0.0)
    side = copysign(0.0, x) * copysign(1.0, y)
    real = where(wild and endless, abs(x), c * cos(y) * scale)
    return complex(real, where(none, side, s * sin(y) * scale))


@complex_cosh.derivative
def _complex_cosh_gradient(z, adj, /):
    """Add to the adjoint of z what the adjoint of its hyperbolic cosine brings."""
    adjoint[z] += adj * complex_sinh(z)


@written("_complex_tanh(z)", kinds(COMPLEX))
def complex_tanh(z, /):
    """Return the hyperbolic tangent."""
    x, y = z.real, z.imag
    flat, endless, wild = abs(x) > 22.0, isinf(x), not isfinite(y)
    near = where(flat, 0.0, x)
    s, c, u, v = sinh(near), cosh(near), sin(y), cos(y)
    under = s * s + v * v
    real = where(flat, where(wild and not endless, y - y, copysign(1.0, x)), s * c / under)
    imag = where(flat, u * v * 4.0 * exp(abs(x) * -2.0), u * v / under)
    imag = where(endless and wild, copysign(0.0, y), imag)
    return complex(where(x == 0.0, x, real), where(y == 0.0, y, imag))


@complex_tanh.derivative
def _complex_tanh_gradient(z, adj, /):
    """Add to the adjoint of z what the adjoint of its hyperbolic tangent brings."""
    t = complex_tanh(z)
    adjoint[z] += adj * (1.0 - t * t)


@written("_complex_sin(z)", kinds(COMPLEX))
def complex_sin(z, /):
    """Return the sine: sinh(iz) / i."""
    turned = complex_sinh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


@written("_complex_cos(z)", kinds(COMPLEX))
def complex_cos(z, /):
    """Return the cosine: cosh(iz)."""
    return complex_cosh(complex(-z.imag, z.real))


ON_COMPLEX: dict[str, Form] = {
    "div": complex_div, "cw_div": complex_div, "abs": complex_abs, "exp": complex_exp, "log": complex_log,
    "sqrt": complex_sqrt, "sinh": complex_sinh, "cosh": complex_cosh, "tanh": complex_tanh, "sin": complex_sin,
    "cos": complex_cos, "pow": complex_pow,
}  # fmt: skip
"""Functions that implement operators and builtins for complex numbers, by name."""
