"""Running sums. A thread adds up a piece, their sums are scanned in the same way, and each piece goes on.

A sum waits for the one before it, so a thread of the CPU goes through four pieces at a time.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportMissingParameterType=false

from __future__ import annotations

from typing import Any

from workbench.api.kernels.func import func
from workbench.api.kernels.kernel import Kernel, kernel
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS
from workbench.errors import LaunchError, must_be
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, zeros
from workbench.runtime.device.device import Device
from workbench.runtime.launching.execute import cpu_threads
from workbench.types import Scalar, is_float
from workbench.types import bool as bool_

tid = FORMS["tid"]

FOURTH = 8256
"""Elements of a piece where a thread goes through four: a literal, so that no index may be below 0, and not a multiple
of 1,024, or all four would be in the same lines of a cache (which takes twice the time)."""


def piece_size(device: Device, n: int = 0, exact: bool = False) -> int:
    """Return the number of elements per thread: long runs on a CPU's few cores, short ones on a GPU's many.

    Args:
        device: where it runs.
        n: the number of all elements.
        exact: whether the result is the same however they are divided. Then one or two cores get a single piece: a
            second pass over memory costs about what the second core gains.
    """
    if device.is_cuda:
        return 128
    return max(32768, n) if exact and cpu_threads() <= 2 and n < 2**30 else 32768


def array_scan(x: array, out: array | None = None, inclusive: bool = True) -> array:
    """Compute running sums: for each element the sum of those up to it; return the array `out` that has them.

        >>> import workbench as wb
        >>> wb.utils.array_scan(wb.array([1, 2, 3, 4])).numpy()
        array([ 1,  3,  6, 10], dtype=int32)
        >>> wb.utils.array_scan(wb.array([1, 2, 3, 4]), inclusive=False).numpy()
        array([0, 1, 3, 6], dtype=int32)

    A tape differentiates it. Sums of floats are added piece by piece, so the last bits may differ from NumPy's.

    Args:
        x: an array of numbers in one dimension.
        out: where to write them: an array of its shape and dtype, which may be `x`; made if it is not given.
        inclusive: whether an element is part of its own sum.

    Returns:
        `out`.

    Raises:
        LaunchError: `x` is not such an array, or `out` does not fit.
    """
    require("array_scan()", x)
    if out is None:
        out = empty(x.shape, x.dtype, x.device, x.requires_grad)
    must_be(out, array, "array_scan() writes to an array")
    if (out.shape, out.dtype, out.device) != (x.shape, x.dtype, x.device):
        raise LaunchError(
            f"array_scan(): out must be {x.dtype!r} of shape {x.shape} on {x.device.name}, not {out.dtype!r} of shape "
            f"{out.shape} on {out.device.name}.",
            parameter="out",
        )
    size = piece_size(x.device, x.size, exact=not is_float(x.dtype))
    one, four = _KERNELS[bool(inclusive)]
    write, each = one, 1
    if not x.device.is_cuda and size < x.size:
        write, each, size = four, 4, FOURTH
    pieces = -(-x.size // size)
    options: dict[str, Any] = {"device": x.device, "checks": False, "record_tape": is_float(x.dtype)}
    if pieces > 1:
        sums = empty(pieces, x.dtype, x.device, x.requires_grad)
        launch(_added, pieces, [x, size], [sums], **options)
        before = array_scan(sums, inclusive=False)
    else:
        before = zeros(1, x.dtype, x.device)
    launch(write, -(-pieces // each), [x, before, size], [out], **options)
    return out


def require(what: str, x: Any, dtypes: str = "numbers") -> None:
    """Raise a LaunchError unless `x` is a one-dimensional array of non-bool scalars; its device does not matter.

    `what` is how the message calls the function that was called; `dtypes` only words the message.
    """
    if not isinstance(x, array) or x.ndim != 1 or not isinstance(x.dtype, Scalar) or x.dtype == bool_:
        shown = f"{x.type!r} of shape {x.shape}" if isinstance(x, array) else repr(x)
        raise LaunchError(f"{what} takes an array of {dtypes} in one dimension, not {shown}.")


@func
def piece(size, n):
    """Return the first element of the thread's piece, and the one after its last; provably not negative."""
    first = max(tid() * size, 0)
    return first, first + min(size, n - first)


@kernel
def _added(x: array[Any], size: int, sums: array[Any]):
    """Write the sum of each piece of `size` elements, a piece per thread, added up in four parts."""
    zero = x.dtype(0)
    a, b, c, d = zero, zero, zero, zero
    first, last = piece(size, len(x))
    fours = (last - first) // 4
    for k in range(fours):
        i = first + 4 * k
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(first + 4 * fours, last):
        a += x[i]
    sums[tid()] = (a + b) + (c + d)


@func
def four_pieces(size, n):
    """Return the first element of the thread's four pieces, and the length of each, `FOURTH`; 0 if one is partial."""
    first = max(tid() * 4 * size, 0)
    return first, FOURTH if n - first >= 4 * FOURTH else 0


@func
def one_of_four(k, first, size, n):
    """Return the first element of the thread's piece k, and the one after its last; the piece may be empty."""
    start = first + min(k * size, n - first)
    return start, start + min(size, n - start)


def _scans(inclusive: bool) -> tuple[Kernel, Kernel]:
    """Return the kernels that write running sums, with a thread for one piece, and with a thread for four pieces.

    Their parameter `before` has the sum of all elements before each piece; `out` may be `x`.
    """

    @kernel
    def sums_of_one(x: array[Any], before: array[Any], size: int, out: array[Any]):
        total = before[tid()]
        first, last = piece(size, len(x))
        for i in range(first, last):
            after = total + x[i]
            out[i] = after if inclusive else total
            total = after

    @kernel
    def sums_of_four(x: array[Any], before: array[Any], size: int, out: array[Any]):
        first, full = four_pieces(size, len(x))
        p = 4 * tid()
        if full > 0:
            a, b, c, d = before[p], before[p + 1], before[p + 2], before[p + 3]
            for i in range(first, first + full):
                u, v, w, z = a + x[i], b + x[i + FOURTH], c + x[i + 2 * FOURTH], d + x[i + 3 * FOURTH]
                out[i] = u if inclusive else a
                out[i + FOURTH] = v if inclusive else b
                out[i + 2 * FOURTH] = w if inclusive else c
                out[i + 3 * FOURTH] = z if inclusive else d
                a, b, c, d = u, v, w, z
        else:
            for k in range(4):
                start, end = one_of_four(k, first, size, len(x))
                if start < end:
                    total = before[p + k]
                    for i in range(start, end):
                        after = total + x[i]
                        out[i] = after if inclusive else total
                        total = after

    return sums_of_one, sums_of_four


_KERNELS = {inclusive: _scans(inclusive) for inclusive in (True, False)}
