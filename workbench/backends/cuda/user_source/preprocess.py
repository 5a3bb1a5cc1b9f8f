"""A user's CUDA C++ text with all that it includes, as one text for NVRTC, and errors in it at their places.

What is included is put in its place, so the text says all that was compiled and makes the key. `#line` carries labels
made of contents: no file name is in it, and its errors lead back to the cell or header they are in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from workbench.backends.cuda.user_source.standard_headers import OWN, implied, standard
from workbench.errors import BuildError, CellErrors, KernelSyntaxError, LaunchError, WorkbenchError
from workbench.source import Location, Source

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(?P<open>[\"<])(?P<name>[^\">\n]+)[\">][^\n]*$", re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*$", re.MULTILINE)
_NVRTC_PLACE = re.compile(
    r"^(?P<file>/cell/\w+)\((?P<line>\d+)\): (?:catastrophic )?(?P<kind>error|warning)(?: #[\w-]+)?: (?P<text>[^\n]*)\n"
    r"(?P<row>[^\n]*)\n(?P<caret> *\^)?",
    re.MULTILINE,
)
STEP = 1_000_000
"""The line numbers of the n-th source in an expanded text begin at n times this, so a line number names its source."""
_MOST = 20
"""The most errors of one text that are shown."""


class ExpandedSource(msgspec.Struct, frozen=True):
    """A text ready to be compiled.

    Attributes:
        text: all of it.
        sources: the texts in it, the cell's first.
        own: names of the compiler's headers that it includes.
        host: names of the host's functions and variables that were left out of it.
        notes: how the launches in these functions are written in Python, a sentence each.
    """

    text: str
    sources: tuple[Source, ...] = ()
    own: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def at(self, line: int, column: int = 0, end: int = 0) -> Location:
        """Return the location in the cell or header that a line number of the expanded text means.

        Args:
            line: as NVRTC or a fault reports it.
            column: the first column, if `end` is set.
            end: the column after the last; 0: the whole line without its indentation.
        """
        number, row = divmod(line, STEP)
        source = self.sources[min(number, len(self.sources) - 1)]
        text = source.line(row)
        first = column if end else len(text) - len(text.lstrip())
        return Location(source, row, first, row, end or len(text))


def label_of(source: Source) -> str:
    """Return the file name by which NVRTC knows a source: the same for the same text everywhere."""
    return f"/cell/{source.label}"


def expand_includes(
    source: Source, use: Iterable[str] = (), headers: Mapping[str, Source] | None = None, folders: Iterable[str] = ()
) -> ExpandedSource:
    """Return the text of `source` with its includes expanded.

    Args:
        source: the text.
        use: names of headers to include above it.
        headers: texts by the names under which they are included.
        folders: where other includes are looked for.

    Raises:
        KernelSyntaxError: a header is missing or includes itself; at the line that includes it.
    """
    inliner = _Inliner(source, dict(headers or {}), [Path(f) for f in folders])
    above = "".join(inliner.header(name, Location(source, 1, 0, 1, 0)) for name in use)
    text = above + inliner.inlined(source)
    return ExpandedSource(implied(text) + text, tuple(inliner.sources), tuple(sorted(inliner.own)))


class _Inliner:
    """The expansion of the includes in one text, which records the sources and NVRTC's own headers in it.

    Attributes:
        headers: texts by the names under which they are included.
        folders: where other includes are looked for.
        sources: the texts that are part of the result, the first one first.
        own: names of the compiler's headers that are included, which stay as they are.
    """

    def __init__(self, source: Source, headers: dict[str, Source], folders: list[Path]) -> None:
        self.headers = headers
        self.folders = folders
        self.sources = [source]
        self.own: set[str] = set()
        self._once: set[str] = set()
        self._standard: set[str] = set()
        self._inside: list[str] = []

    def inlined(self, source: Source) -> str:
        """Return the text of a source with its includes expanded and `#line` directives that name it."""
        label = label_of(source)
        if source not in self.sources:
            self.sources.append(source)
        first = self.sources.index(source) * STEP
        self._inside.append(label)

        def put(match: re.Match[str]) -> str:
            line = source.text.count("\n", 0, match.start()) + 1
            column = match.start("name") - (source.text.rfind("\n", 0, match.start("name")) + 1)
            location = Location(source, line, column, line, column + len(match["name"]))
            if match["name"] not in self.headers and not self._path(match["name"]):
                text = standard(match["name"], source.text)
                if text is not None:
                    self.own.update(m["name"] for m in _INCLUDE.finditer(text))
                    again = text in self._standard
                    self._standard.add(text)
                    return f'{"" if again else text}\n#line {first + line + 1} "{label}"'
                if OWN.fullmatch(match["name"]):
                    self.own.add(match["name"])
                    return match[0]
            return f'{self.header(match["name"], location)}#line {first + line + 1} "{label}"'

        text = _ONCE.sub("", _INCLUDE.sub(put, source.text))
        self._inside.pop()
        return f'#line {first + 1} "{label}"\n{text}\n'

    def header(self, name: str, location: Location) -> str:
        """Return the expanded text of a header; only a line end if it has `#pragma once` and is there already.

        Raises:
            KernelSyntaxError: at `location`: there is no such header, or it includes itself.
        """
        source = self.headers.get(name) or self._file(name)
        if source is None:
            raise KernelSyntaxError(f"There is no header {name}.", location, self._instead(name))
        label = label_of(source)
        if label in self._once:
            return "\n"
        if _ONCE.search(source.text):
            self._once.add(label)
        if label in self._inside:
            raise KernelSyntaxError(f"{name} includes itself.", location, "Put #pragma once at its top.")
        return self.inlined(source)

    def _path(self, name: str) -> Path | None:
        """Return the file of this name in the first folder that has it; None if none has."""
        return next((f / name for f in self.folders if (f / name).is_file()), None)

    def _instead(self, name: str) -> str:
        """Return the advice for a missing header."""
        known = f"Headers of cells: {', '.join(sorted(self.headers))}." if self.headers else ""
        return f"{known} Save a cell with --header {name}, or give its folder with -I.".strip()

    def _file(self, name: str) -> Source | None:
        """Return the header of this name as a source, read from the folders; None if none has it."""
        path = self._path(name)
        return Source(path.read_text(), name, str(path)) if path else None


def define_lines(defines: Mapping[str, Any]) -> dict[str, str]:
    """Return the replacement texts of constants as macros, by name: numbers in C++ with all bits, strings unchanged.

    Raises:
        LaunchError: a constant is neither a bool, a finite number nor text.
    """
    return {name: _spelled(name, value) for name, value in defines.items()}


def _spelled(name: str, value: Any) -> str:
    """Return a constant as C++: a bool in lower case, a string as it is, a number with all digits.

    Raises:
        LaunchError: it is neither a bool, a finite number nor text.
    """
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, str):
        return plain
    if isinstance(plain, bool):
        return str(plain).lower()
    if not isinstance(plain, (int, float)) or not isfinite(plain):
        raise LaunchError(
            f"A macro is a bool, a finite number or text; {name} is {plain!r}.",
            advice=f'Give the C++ that it stands for as text, such as {{"{name}": "__int_as_float(0x7f800000)"}}.',
        )
    return repr(plain)


def placed(error: BuildError, source: ExpandedSource, function: str = "") -> WorkbenchError:
    """Return the error to raise for a compiler's errors: at their lines of the cell or header, at most 20 of them.

    If the compiler's log names no line of these, it is `error` itself.
    """
    errors: list[WorkbenchError] = [
        BuildError(
            f"{message[:1].upper()}{message[1:]}.",
            location,
            _of_host(message, source),
            function,
            log=error.log,
            text=source.text,
        )
        for kind, location, message in _messages(error.log, source)
        if kind == "error"
    ]
    return CellErrors.of(errors[:_MOST]) if errors else error


def _of_host(message: str, source: ExpandedSource) -> str:
    """Return the advice if a message names something of the host that was left out; else empty."""
    named = next((name for name in source.host if f'"{name}"' in message), "")
    return f"{named} is taken for code of the host, which is left out; write __device__ before it." if named else ""


def unknown_names(log: str) -> frozenset[str]:
    """Return the name expressions that NVRTC does not know, without blanks; empty if the log has other errors too."""
    files = re.findall(r"^([^\s(][^(\n]*)\(\d+\): (?:catastrophic )?error", log, re.MULTILINE)
    names = re.findall(r'Input name expression was: "(.*)"', log)
    return frozenset("".join(name.split()) for name in names if set(files) == {"__nv_name_map"})


def warnings(log: str, source: ExpandedSource) -> tuple[str, ...]:
    """Return NVRTC's warnings with their lines, a sentence each."""
    return tuple(f"{location}: {message}" for kind, location, message in _messages(log, source) if kind == "warning")


def _messages(log: str, source: ExpandedSource) -> list[tuple[str, Location, str]]:
    """Parse NVRTC's messages about the texts: kind, location and sentence."""
    labels = {label_of(s) for s in source.sources}
    messages: list[tuple[str, Location, str]] = []
    for m in _NVRTC_PLACE.finditer(log):
        if m["file"] in labels:  # the line is shown behind two blanks, the caret below it
            column = max(0, len(m["caret"]) - 3) if m["caret"] else 0
            messages.append((m["kind"], _word_at(source, int(m["line"]), column), m["text"]))
    return messages


def _word_at(source: ExpandedSource, line: int, column: int) -> Location:
    """Return the location of the word, or the character, that begins at a line and column of the expanded text."""
    text = source.at(line).source.line(line % STEP)
    word = re.match(r"\w+|.?", text[column:])
    return source.at(line, column, column + max(1, len(word[0]) if word else 1))
