"""Timing of calls, and comparison with what the machine can do.

The call runs once to compile and to be counted (`effort`), then in rounds of enough calls; on a GPU between two events
of the device, so that what is timed is its work and not the queueing. The shortest round is reported, as `timeit` does:
what makes others longer is other work of the machine.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from html import escape

import msgspec

from workbench.api.builds.cell import build_cell
from workbench.api.launches.launch import launch
from workbench.api.measurement.chart import PRE
from workbench.api.measurement.cost_model import Effort, effort_of
from workbench.builtins import FORMS, TABLE
from workbench.errors import DeviceError, LaunchError, must_be
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.runtime.device.device import CPU, Device, get_device
from workbench.runtime.device.streams import moment, synchronize
from workbench.types import float32

ELEMENTS = {"cpu": 16 << 20, "cuda": 256 << 20}
"""float32 elements of each of the two arrays of the copy."""
CHAINS, LINKS, THREADS = 8, 32, 1 << 18
REPEAT = 9
_TEXT = "".join(
    [
        "def copied(x: array[float32], y: array[float32]):\n    i = tid()\n    y[i] = x[i]\n\n",
        "def arithmetic(a: float32, y: array[float32]):\n    i = tid()\n    b = y[i]\n",
        *(f"    c{k} = b + {float(k)}\n" for k in range(CHAINS)),
        *(f"    c{k} = c{k} * a + b\n" for _ in range(LINKS) for k in range(CHAINS)),
        f"    y[i] = {' + '.join(f'c{k}' for k in range(CHAINS))}\n",
    ]
)


class Ceiling(msgspec.Struct, frozen=True):
    """The measured limits of a device: bytes of memory moved per second, and operations on float32 per second."""

    device: Device
    bytes_per_second: float
    flops_per_second: float


def ceiling(device: Device | str | None = None) -> Ceiling:
    """Measure what a device can do at most; once per process, it takes some tenths of a second.

    A copy of arrays larger than the caches bounds the memory's rate (as the STREAM benchmark does); a kernel that only
    multiplies and adds in registers bounds arithmetic. Data that fits in a cache can be faster than the first number.

    Raises:
        DeviceError: there is no such device, or it has too little memory.
    """
    return _measured(get_device(device))


@functools.cache
def _measured(device: Device) -> Ceiling:
    """Measure and return a device's peak rates of memory and arithmetic by two kernels; once per device and process."""
    language = {**FORMS, **TABLE, "array": array, "float32": float32}
    with unobserved():
        kernels = build_cell(
            _TEXT, {}, name="ceiling", fast_math=True, checks=False, compile=False, language=language
        ).kernels
        count = ELEMENTS[device.kind]
        x, y = zeros(count, device=device), zeros(count, device=device)
        copied = _best(device, lambda: launch(kernels["copied"], count, [x, y], device=device))
        small = y[:THREADS]
        worked = _best(device, lambda: launch(kernels["arithmetic"], THREADS, [0.5, small], device=device))
    flops = THREADS * CHAINS * (2 * LINKS + 1)
    return Ceiling(device, 2 * x.nbytes / copied, flops / worked)


def _best(device: Device, work: Callable[[], object]) -> float:
    """Return the seconds of the shortest of a few runs, after a first run that does not count."""
    seconds: list[float] = []
    for _ in range(REPEAT + 1):
        synchronize(device)
        started = time.perf_counter()
        work()
        synchronize(device)
        seconds.append(time.perf_counter() - started)
    return min(seconds[1:])


ROUND = 0.02
"""Seconds that a round of calls should take at least."""
FAR = 0.05
"""Below this share of its ceiling, a call is bound by something else: small launches, Python, waiting."""
LAUNCHING = 50e-6
"""Seconds below which a call that is far from all limits is the launch itself."""
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


class Bench(msgspec.Struct, frozen=True):
    """The result of timing a call.

    Attributes:
        what: what was called.
        rounds: seconds of one call, for each round.
        number: calls per round.
        effort: what one call does.
        ceiling: what the device can do at most; None if nothing was launched.
    """

    what: str
    rounds: tuple[float, ...]
    number: int
    effort: Effort
    ceiling: Ceiling | None = None

    @property
    def seconds(self) -> float:
        """Seconds per call, in the fastest round."""
        return min(self.rounds)

    @property
    def spread(self) -> float:
        """The relative excess of the median round over the shortest; 0.1 is 10 % more."""
        return statistics.median(self.rounds) / self.seconds - 1.0 if self.seconds else 0.0

    @property
    def bytes_per_second(self) -> float:
        """Bytes that have to move, per second."""
        return self.effort.bytes / self.seconds

    @property
    def flops_per_second(self) -> float | None:
        """Operations on floats per second; None if they could not be counted."""
        return None if self.effort.flops is None else self.effort.flops / self.seconds

    @property
    def bound(self) -> str:
        """The roofline model's limit: "memory" or "arithmetic"; empty if it is not known."""
        flops = self.effort.flops
        if self.ceiling is None or flops is None or not (flops or self.effort.bytes):
            return ""
        moving = self.effort.bytes / self.ceiling.bytes_per_second
        return "memory" if moving >= flops / self.ceiling.flops_per_second else "arithmetic"

    @property
    def share(self) -> float | None:
        """The rate as a share of the limit that `bound` names; above 1 where data stay in a cache; None if unknown."""
        if self.ceiling is None or not self.bound:
            return None
        if self.bound == "memory":
            return self.bytes_per_second / self.ceiling.bytes_per_second
        return (self.flops_per_second or 0.0) / self.ceiling.flops_per_second

    def __str__(self) -> str:
        runs = f"best of {len(self.rounds)} rounds of {self.number:,}, median {self.spread:+.0%}"
        lines = [f"{duration(self.seconds)} per call ({runs})"]
        if self.ceiling is not None:
            lines.append(f"  memory      {self._against(self.bytes_per_second, self.ceiling.bytes_per_second, 'B/s')}")
            flops = self.flops_per_second
            most = self.ceiling.flops_per_second
            lines.append(
                f"  arithmetic  {self._against(flops, most, 'FLOP/s') if flops is not None else 'not counted'}"
            )
        if self.share is not None:
            cached = "; data that stay in a cache can exceed it" if self.share > 1.05 else ""
            bound = f"bound by {self.bound}: {self.share:.0%} of this machine's measured maximum{cached}"
            small = self.seconds < LAUNCHING and "mostly the launch itself takes the time"
            far = f"far from both limits: {small or 'something else takes the time'}"
            lines.append(f"  {bound if self.share >= FAR else far}")
        return "\n".join(lines)

    __repr__ = __str__

    def _against(self, now: float, most: float, unit: str) -> str:
        """Return text that compares a rate with the measured ceiling, with the share in percent."""
        return f"{rate(now)}{unit} of {rate(most)}{unit} measured ({now / most:.0%})"

    def _repr_html_(self) -> str:
        """Return the measurement's text for a notebook."""
        return f'<pre style="{PRE}">{escape(f"{self.what}: {self}")}</pre>'


class Comparison(msgspec.Struct, frozen=True):
    """The result of timing two calls by turns.

    Attributes:
        first, second: the measurements of each call.
    """

    first: Bench
    second: Bench

    @property
    def ratios(self) -> tuple[float, ...]:
        """The second call's time over the first one's, for each round."""
        return tuple(b / a for a, b in zip(self.first.rounds, self.second.rounds, strict=True))

    @property
    def ratio(self) -> float:
        """The median of the ratios: below 1, the second call is the faster one."""
        return statistics.median(self.ratios)

    def __str__(self) -> str:
        low, high = min(self.ratios), max(self.ratios)
        sure = "" if high < 1.0 or low > 1.0 else "; which is faster differs from round to round"
        rows = [f"{b.what}: {duration(statistics.median(b.rounds))} per call" for b in (self.first, self.second)]
        sentence = f"{self.second.what} takes {self.ratio:.2f} of the time of {self.first.what}"
        return "\n".join([*rows, f"{sentence} (rounds {low:.2f} to {high:.2f}){sure}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the comparison's text for a notebook."""
        return f'<pre style="{PRE}">{escape(str(self))}</pre>'


def bench(call: Callable[[], object], *, number: int = 0, repeat: int = 7, what: str = "") -> Bench:
    """Time a call that launches kernels.

    Args:
        call: what to time; it runs many times, so it must leave its arrays ready for another run.
        number: calls per round; 0 chooses a number for which a round takes 20 ms.
        repeat: rounds.
        what: the call's name in the result; empty: the function's own name.

    Returns:
        Seconds per call, in the fastest round, and what the call moves and computes in that time.

    Raises:
        LaunchError: number or repeat is not a count.
        DeviceError: it launches on an emulated device, which has no times.
        Exception: what the call raises.
    """
    timed = _prepared(call, number, repeat)
    rounds = tuple(timed.round() for _ in range(repeat))
    return timed.bench(what, rounds)


def compare(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    number: int = 0,
    repeat: int = 7,
    what: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Time two calls by turns, so that what slows the machine meanwhile slows both.

        wb.compare(lambda: wb.launch(a, n, [x]), lambda: wb.launch(b, n, [x]))

    Args:
        first, second: as for `bench`.
        number: calls per round; 0 chooses one for each.
        repeat: rounds of each.
        what: their names in the result.

    Returns:
        The measurements of each, and how their times compare.

    Raises:
        LaunchError: number or repeat is not a count.
        DeviceError: one launches on an emulated device, which has no times.
        Exception: what the calls raise.
    """
    one, other = (_prepared(call, number, repeat) for call in (first, second))
    rounds = [(one.round(), other.round()) for _ in range(repeat)]
    ours, theirs = zip(*rounds, strict=True)
    return Comparison(one.bench(what[0], ours), other.bench(what[1], theirs))


class _Timed(msgspec.Struct, frozen=True):
    """A call that was run once and counted, with the number of calls in a round."""

    call: Callable[[], object]
    effort: Effort
    device: Device
    number: int

    def round(self) -> float:
        """Run one round of calls and return the seconds per call."""
        return _round(self.call, self.number, self.device)

    def bench(self, what: str, rounds: tuple[float, ...]) -> Bench:
        """Return the measurement for rounds, in seconds per call; an empty `what` stands for the function's name."""
        most = ceiling(self.device) if self.effort.devices else None
        return Bench(what or getattr(self.call, "__name__", "call"), rounds, self.number, self.effort, most)


def _prepared(call: Callable[[], object], number: int, repeat: int) -> _Timed:
    """Run the call and return it with its effort and the calls per round, for 0 a number that fills a round.

    Raises:
        LaunchError: number or repeat is no count.
        DeviceError: it launches on an emulated device.
    """
    must_be(call, Callable, "bench() takes a function that launches kernels", advice="Write lambda: wb.launch(…).")
    if number < 0 or repeat < 1:
        raise LaunchError(f"bench() takes a number of calls and of rounds; it got {number} and {repeat}.")
    effort = effort_of(call)
    device = next((d for d in effort.devices if d.is_cuda), CPU)
    if device.is_emulated:
        raise DeviceError(
            f"{device} has no times: the CPU emulates it.",
            advice="Count what a kernel does there with wb.profile, or time it on the CPU.",
        )
    if effort.devices:
        ceiling(device)  # measured before the rounds
    seconds = _round(call, 1, device)
    if not number:
        number = 1
        while seconds * number < ROUND and number < 10_000_000:
            number = max(number + 1, min(10 * number, round(1.2 * ROUND / max(seconds, 1e-9))))
            seconds = _round(call, number, device)
    return _Timed(call, effort, device, number)


def _round(call: Callable[[], object], number: int, device: Device) -> float:
    """Return the seconds per call of `number` calls in a row."""
    if device.is_cuda:
        synchronize(device)
        before = moment(device)
        for _ in range(number):
            call()
        return 1e-3 * (moment(device) - before) / number
    started = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - started) / number


def duration(seconds: float) -> str:
    """Return a time as text with three figures and its unit: `13.5 ms`."""
    unit, name = next(((u, n) for u, n in _UNITS if seconds >= u), _UNITS[-1])
    return f"{seconds / unit:.3g} {name}"


def rate(value: float) -> str:
    """Return a rate as text with three figures and the prefix of its unit: `13.5 G`."""
    unit, name = next(((u, n) for u, n in _RATES if value >= u), _RATES[-1])
    shown = f"{value / unit:.3g}"
    return f"{float(shown):g} {name}"
