"""Times, sizes and ages as people read them: two significant digits and a unit.

One place, because the card, its static fallback and the one-line greeting must never round differently.
"""

from __future__ import annotations

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_AGES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_ASCII = str.maketrans({"µ": "u", "·": "|", "→": "->", "…": "...", "–": "-", "×": "x", "−": "-", "’": "'", "█": "#"})


def two_digits(value: float) -> str:
    """Return a number as text without exponent, with one decimal below 10 and none from there on: 0.6, 1.1, 14, 130."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def seconds(value: float) -> str:
    """Return a duration in seconds as text: `12 µs`, `1.1 ms`, `0.6 s`; from 0.5 s on in seconds."""
    if value >= 0.5:
        return f"{two_digits(value)} s"
    for unit, name in _TIMES:
        if value >= unit:
            return f"{two_digits(value / unit)} {name}"
    return "0 µs"


def milliseconds(value: float) -> str:
    """Return a duration in seconds as a number of milliseconds without a unit: `1.1`, `14`."""
    return two_digits(value * 1e3)


def size(count: int) -> str:
    """Return a number of bytes as text: `84 kB`."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{two_digits(count / unit)} {name}"
    return f"{count} B"


def age(value: float) -> str:
    """Return a number of seconds in the past as text: `2 d ago`; below a minute `just now`."""
    for unit, name in _AGES:
        if value >= unit:
            return f"{int(value // unit)} {name} ago"
    return "just now"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 error`, `2 errors`, `2 copies`."""
    plural = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number} {noun if number == 1 else plural}"


def ascii_only(text: str) -> str:
    """Return the text with signs such as `µ` and `·` replaced by ASCII, for a terminal or a log."""
    return text.translate(_ASCII)
