"""The family of errors a user can meet.

Each keeps its facts as fields, pickles, and renders as: kind, place, excerpt with caret, one sentence, and what to
write instead. In a notebook only this shows (`_render_traceback_` is IPython's hook for it), never a file of Workbench.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.source import Location


class WorkbenchError(Exception):
    """Base of all errors raised on purpose.

    Attributes:
        message: one sentence that names the thing.
        location: the place in the user's source code, or None.
        advice: what to write or do instead; may be empty.
        function: the kernel or func it concerns; may be empty.
    """

    def __init__(
        self, message: str, location: Location | None = None, advice: str = "", function: str = "", **facts: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.advice = advice
        self.function = function
        self.facts = facts

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.location, self.advice, self.function, self.facts)

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")

    def render(self) -> str:
        """The whole message as plain text."""
        place = self.location if self.location is not None and self.location.line > 0 else None  # 0: unknown
        where = ", ".join(p for p in (self.function, str(place) if place else "") if p)
        lines = [f"{type(self).__name__}  {where}".rstrip()]
        if place is not None:
            lines += [f"    {row}" for row in place.excerpt().splitlines()]
        lines.append(f"{self.message}  {self.advice}".rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        if self.location is None:
            return f"{self.message}  {self.advice}".rstrip()
        return "\n" + self.render()

    def _render_traceback_(self) -> list[str]:
        return self.render().splitlines()


def _rebuild(
    cls: type[WorkbenchError],
    message: str,
    location: Location | None,
    advice: str,
    function: str,
    facts: dict[str, Any],
) -> WorkbenchError:
    return cls(message, location, advice, function, **facts)


class KernelSyntaxError(WorkbenchError):
    """A construct that the kernel language does not have."""


class KernelTypeError(WorkbenchError):
    """A construct whose types do not fit."""


class NotDifferentiable(WorkbenchError):
    """A kernel whose adjoint would not be right; `location` is the line that prevents it."""


class CellErrors(KernelSyntaxError, KernelTypeError):
    """Several errors of one cell, reported together; `errors` holds them in the order of their lines."""

    def __init__(self, message: str, *args: Any, errors: Iterable[WorkbenchError] = (), **facts: Any) -> None:
        super().__init__(message, *args, **facts)
        self.errors = tuple(errors)
        self.facts["errors"] = self.errors

    @classmethod
    def of(cls, errors: Iterable[WorkbenchError]) -> WorkbenchError:
        """One error as it is, several as a `CellErrors`."""
        found = sorted(errors, key=lambda e: (e.location.line, e.location.column) if e.location else (0, 0))
        return found[0] if len(found) == 1 else cls(f"{len(found)} errors in this cell", errors=found)

    def render(self) -> str:
        """All errors, one after the other, with their number last."""
        return "\n\n".join([e.render() for e in self.errors] + [f"{len(self.errors)} errors"])

    def __str__(self) -> str:
        return "\n" + self.render()


class BuildError(WorkbenchError):
    """A compiler rejected generated code; `log` holds its messages."""


class LaunchError(WorkbenchError):
    """A launch whose arguments do not fit the kernel; nothing has run. `parameter` names the one at fault."""


class DeviceError(WorkbenchError):
    """A device is missing, busy or broken."""


class KernelFault(WorkbenchError):
    """A fault while a kernel ran: `thread` is its index, `values` the operands, `count` how many faults there were."""


class CacheError(WorkbenchError):
    """A cache folder that cannot be trusted, or cannot be used for what was requested."""


class RecordError(WorkbenchError):
    """A saved record that cannot be used (damaged, foreign, of another version), or one that cannot be saved."""


def at(error: WorkbenchError, location: Location, function: str = "") -> WorkbenchError:
    """`error` with its place filled in where it had none."""
    error.location = error.location or location
    error.function = error.function or function
    return error
