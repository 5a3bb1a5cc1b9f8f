"""The views of a notebook, as plain frozen values.

A widget, its static fallback and a test look at the same value; nothing here knows IPython, a browser or a clock.
"""

from __future__ import annotations

from typing import Any

import msgspec

PANE_TITLES = {
    "source": "Source",
    "ir": "IR",
    "adjoint": "Adjoint",
    "tangent": "Tangent",
    "cuda": "CUDA",
    "llvm": "LLVM",
    "ptx": "PTX",
    "sass": "SASS",
    "asm": "Assembly",
    "key": "Key",
}


LEADS = {
    "compiling": "compiling",
    "compiled": "compiled",
    "recompiled": "recompiled",
    "memory hit": "cache hit",
    "disk hit": "cache hit",
    "failed": "failed",
    "ready": "ready",
}
"""Each state with the words that a headline begins with."""


class StageRow(msgspec.Struct, frozen=True):
    """Represents a stage of a build and its wall time in seconds."""

    name: str
    seconds: float


class KernelRow(msgspec.Struct, frozen=True):
    """Represents the build of one direction of a kernel.

    Attributes:
        kernel: its name.
        direction: "forward", "adjoint", "tangent".
        state: "compiling", "compiled", "recompiled", "memory hit", "disk hit" or "failed".
        key: the module key's digest; empty while it is not known.
        seconds: the whole time of the build or of the hit.
        stages: the stages in the order they ended.
        why: the key parts that changed since the kernel was last built.
        facts: what the compiler reported, ready to read: `24 regs`, `0 spill`.
        built: when a disk hit's artifact was built, in seconds since the epoch, or None.
        backend: "cpu" or "cuda"; empty where no event said so.
        target: what it was compiled for.
    """

    kernel: str
    direction: str
    state: str = "compiling"
    key: str = ""
    seconds: float = 0.0
    stages: tuple[StageRow, ...] = ()
    why: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    built: float | None = None
    backend: str = ""
    target: str = ""


class ErrorRow(msgspec.Struct, frozen=True):
    """Represents an error of the cell: its class, the cell's line (0: none) and its sentence."""

    kind: str
    line: int
    message: str


class PaneView(msgspec.Struct, frozen=True):
    """Represents a text about a kernel; `first_line` is the number of its first line."""

    kernel: str
    name: str
    text: str
    first_line: int = 1

    @property
    def title(self) -> str:
        """The pane's name as people read it."""
        return PANE_TITLES.get(self.name, self.name)


class StatusView(msgspec.Struct, frozen=True):
    """Represents the status of one `%%kernel` cell.

    Attributes:
        cell: what people call the cell: `cell [4]`.
        state: a row's state that speaks for all of them, or "ready" where nothing had to be compiled yet.
        headline: the one line.
        rows: a row per kernel and direction, in the order of the events.
        kernels: names of the cell's kernels, in the order of their text; known when the build is over.
        errors: what the cell did wrong.
        notices: sentences the user should see once.
        panes: texts shown at once (`-a`).
        started: when the build began, in seconds since the epoch.
        remarks: sentences about what the cell defines, shown without unfolding.
        outdated: how many compiled JAX functions still call older kernels; empty for none.
    """

    cell: str
    state: str = "compiling"
    headline: str = "compiling"
    rows: tuple[KernelRow, ...] = ()
    kernels: tuple[str, ...] = ()
    errors: tuple[ErrorRow, ...] = ()
    notices: tuple[str, ...] = ()
    panes: tuple[PaneView, ...] = ()
    started: float = 0.0
    remarks: tuple[str, ...] = ()
    outdated: str = ""

    @property
    def lead(self) -> str:
        """The first words of the headline, for a badge."""
        return LEADS[self.state]

    @property
    def rest(self) -> str:
        """The headline after its first words."""
        return self.headline.removeprefix(self.lead).lstrip(" ·:")

    @property
    def about(self) -> str:
        """The kernels and the cell that the headline is about, as far as the headline does not name them."""
        names = ", ".join(self.kernels) if self.state.endswith("hit") else ""
        return " · ".join(dict.fromkeys(p for p in (names, self.cell) if p))


class InspectView(msgspec.Struct, frozen=True):
    """Represents texts about one kernel, side by side; `said` are a few words next to its name."""

    kernel: str
    panes: tuple[PaneView, ...]
    said: str = ""


class EntryRow(msgspec.Struct, frozen=True):
    """Represents an artifact of the cache.

    Attributes:
        digest: its module key's.
        name: the kernel's.
        backend, target: what it runs on.
        bytes: its size.
        built, used: how many seconds ago.
        where: "disk" or "memory".
        why: what differed from the key before, when the kernel of this name was last built in this session.
    """

    digest: str
    name: str
    backend: str
    target: str
    bytes: int
    built: float
    used: float
    where: str = "disk"
    why: tuple[str, ...] = ()


class CacheView(msgspec.Struct, frozen=True):
    """Represents the contents of the cache, and its hits and misses.

    Attributes:
        modules, bytes: how many artifacts it has, and their size.
        hits_memory, hits_disk, misses: how often it was asked for one, by where that was.
        path: its folder; empty if it is in memory only.
        problem: why it cannot be used; empty if it can.
        entries: its artifacts, the last used first; may be left out.
    """

    modules: int
    bytes: int
    hits_memory: int
    hits_disk: int
    misses: int
    path: str
    problem: str = ""
    entries: tuple[EntryRow, ...] = ()


def as_data(view: Any) -> dict[str, Any]:
    """Convert a view to JSON values for a widget; bytes stay bytes, which travel next to the message."""
    data: dict[str, Any] = msgspec.to_builtins(view, builtin_types=(bytes, bytearray, memoryview))
    return data


def as_json(view: Any) -> dict[str, Any]:
    """Convert a view to JSON values for a file; bytes become base64."""
    data: dict[str, Any] = msgspec.to_builtins(view)
    return data
