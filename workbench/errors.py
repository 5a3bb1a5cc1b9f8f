"""The family of errors a user can meet.

Each keeps what it is about in typed fields, pickles, and renders as: kind, place, excerpt with caret, one sentence, and
what to write instead. In a notebook only this shows (`_render_traceback_` is IPython's hook for it), never a file of
Workbench.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.source import Location

if TYPE_CHECKING:  # a worker process imports this file, and starts sooner without NumPy
    from workbench.types import Type


# No `eq`: two errors are the same only if they are one object, and an exception has to be hashable. No `repr`: that of
# `Exception` shows the sentence alone.
@dataclass(eq=False, repr=False)
class WorkbenchError(RuntimeError):
    """The base of all errors that Workbench raises on purpose.

    Attributes:
        message: one sentence that names the thing.
        location: the place in the user's source code, or None.
        advice: what to write or do instead; may be empty.
        function: the kernel or func it concerns; may be empty.
    """

    message: str
    location: Location | None = None
    advice: str = ""
    function: str = ""

    def __post_init__(self) -> None:
        """Initialise the exception with the message alone, from which it can be unpickled."""
        # Unpickling calls the class with `args` and then restores the fields: the message is enough here.
        super().__init__(self.message)

    def render(self) -> str:
        """Return the whole message as plain text: class, location, the line with a caret, the sentence, and advice."""
        location = self.location if self.location is not None and self.location.line > 0 else None  # 0: unknown
        where = ", ".join(p for p in (self.function, str(location) if location else "") if p)
        lines = [f"{type(self).__name__}  {where}".rstrip()]
        if location is not None:
            lines += [f"    {row}" for row in location.excerpt().splitlines()]
        lines.append(f"{self.message}  {self.advice}".rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        if self.location is None:
            return f"{self.message}  {self.advice}".rstrip()
        return "\n" + self.render()

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback."""
        return self.render().splitlines()


class KernelSyntaxError(WorkbenchError):
    """Raised for a construct that the kernel language does not have."""


@dataclass(eq=False, repr=False, kw_only=True)
class KernelTypeError(WorkbenchError, TypeError):
    """Raised for a construct whose types do not fit.

    Attributes:
        what: the place whose type a value does not fit ("An element of y"); empty if it is not about one.
        given: that value's type; None if there is none.
    """

    what: str = ""
    given: Type | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class NotDifferentiable(WorkbenchError):
    """Raised where a kernel's derivative would not be right or does not exist; `location` is the line that prevents it.

    Attributes:
        parameter: the parameter whose gradient is not known; empty if it is not about one.
    """

    parameter: str = ""


@dataclass(eq=False, repr=False, kw_only=True)
class NotConverged(WorkbenchError):
    """Raised where an iteration has not reached its tolerance.

    Attributes:
        residual: what is left, as the call defines it.
        steps: how many steps it took.
    """

    residual: float = 0.0
    steps: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class CellErrors(KernelSyntaxError, KernelTypeError):
    """Several errors of one cell, raised together.

    Attributes:
        errors: the errors, in the order of their lines.
    """

    errors: tuple[WorkbenchError, ...] = ()

    @classmethod
    def of(cls, errors: Iterable[WorkbenchError]) -> WorkbenchError:
        """Return a single error as it is, and several as a `CellErrors`."""
        ordered = sorted(errors, key=lambda e: (e.location.line, e.location.column) if e.location else (0, 0))
        return ordered[0] if len(ordered) == 1 else cls(f"{len(ordered)} errors in this cell", errors=tuple(ordered))

    def render(self) -> str:
        """Return the text of all errors, one after the other, with their count last."""
        return "\n\n".join([e.render() for e in self.errors] + [f"{len(self.errors)} errors"])

    def __str__(self) -> str:
        return "\n" + self.render()


@dataclass(eq=False, repr=False, kw_only=True)
class BuildError(WorkbenchError):
    """Raised where a compiler rejected generated code, or a user's CUDA C++.

    Attributes:
        log: the compiler's messages; may be empty.
        text: the source code that it was given; empty if there was none.
        line: of that code, from 1, where one line is to blame; else 0.
    """

    log: str = ""
    text: str = ""
    line: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class LaunchError(WorkbenchError, TypeError, ValueError):
    """Raised for a launch or another call whose arguments do not fit; nothing has run.

    Attributes:
        parameter: the parameter whose argument is at fault; empty if it is not about one.
        expected: the parameter's type, if the argument's type does not fit it; else None.
        given: the argument in words ("a float64 array of shape (3,)"), if its type does not fit; else empty.
    """

    parameter: str = ""
    expected: Type | None = None
    given: str = ""


@dataclass(eq=False, repr=False, kw_only=True)
class DeviceError(WorkbenchError):
    """Raised where a device is missing, busy or broken.

    Attributes:
        status: the CUDA driver's status (a `CUresult`); 0 if the driver reported none.
        target: the architecture that cannot be compiled for, such as "sm_10"; may be empty.
        wanted: bytes that were requested and not available; 0 if it is not about memory.
        free: bytes that were free then; 0 if it is not about memory.
    """

    status: int = 0
    target: str = ""
    wanted: int = 0
    free: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class KernelFault(WorkbenchError):
    """Raised for a fault while a kernel ran, such as an index outside of an array.

    Attributes:
        thread: index of the thread, one number per dimension of the launch; of a kernel with tiles, of the block; in
            CUDA C++, within its block; empty if it is not known.
        block: in CUDA C++, index of the block along x, y, z; else empty.
        values: what the operation was given: the indices, the divisor, …; empty if they are not known.
        count: how many faults the launch had; this is the first.
        parameter: the array concerned; empty if it is not about one.
        line: in CUDA C++, the line, counted as the source's `#line` directives say; else 0.
        log: what a program that checks threads or memory wrote; else empty.
        batch: under `jax.vmap`, index of the batch; else empty.
        kind: what the sanitizer of an emulated device found, in a word ("race"); else empty.
    """

    thread: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    values: tuple[Any, ...] = ()
    count: int = 1
    parameter: str = ""
    line: int = 0
    log: str = ""
    batch: tuple[int, ...] = ()
    kind: str = ""


class CacheError(WorkbenchError):
    """Raised for a cache folder that cannot be trusted, or cannot be used for what was requested."""


class RecordError(WorkbenchError):
    """Raised where a record cannot be read (damaged, foreign, of another version), or work cannot be saved."""


def its_type(value: object) -> str:
    """Return the type of a value as a sentence names it: `an int`, `a list`, `None`."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name == 'ndarray' else 'a'} {name}"


def must_be(value: object, kinds: Any, what: str, error: type[WorkbenchError] = LaunchError, advice: str = "") -> None:
    """Check that a value is of one of the types `kinds`.

    Raises:
        WorkbenchError: it is not; of the class `error`, with `what` ("graph() takes a captured graph") and the value's
            type.
    """
    if not isinstance(value, kinds):
        raise error(f"{what}; it got {type(value).__name__!r}.", advice=advice)


def at(error: WorkbenchError, location: Location, function: str = "") -> WorkbenchError:
    """Fill in the location and function of an error where it has none; return the same error."""
    error.location = error.location or location
    error.function = error.function or function
    return error
