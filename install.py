"""pip, with one line that shows what it does: `python install.py '.[test,cu12]'` takes what `pip install` takes.

In a terminal the line changes in place; in a log there is one every ten seconds. What pip warns of is shown where it
fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable

_COLLECTING = re.compile(r"\s*(?:Collecting|Requirement already satisfied:) ([\w.-]+)")
_DOWNLOADING = re.compile(r"\s*Downloading (\S+)(?: \(([^)]+)\))?")


class Progress:
    """What pip is at; `say` is the line."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._packages: set[str] = set()
        self._at = "starting pip"

    def take(self, line: str) -> None:
        """Read a line of pip's output."""
        if found := _COLLECTING.match(line):
            self._packages.add(found[1].lower())
            self._at = found[1]
        elif found := _DOWNLOADING.match(line):
            name = found[1].rsplit("/", 1)[-1].split("-")[0]
            self._at = f"{name}, {found[2]}" if found[2] else name
        elif line.startswith("Installing collected packages:"):
            self._packages = set(line.split(":", 1)[1].replace(",", " ").split())
            self._at = "unpacking"

    def say(self) -> str:
        """The line."""
        return f"  {self.seconds:4.0f} s  {len(self._packages):3} packages  {self._at}"

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self._begin

    @property
    def count(self) -> int:
        """How many packages it has met."""
        return len(self._packages)


def show(progress: Progress, over: threading.Event, live: bool) -> None:
    """Print the line until `over` is set."""
    while not over.wait(0.5 if live else 10):
        print(f"\r{progress.say()[:99]:99}" if live else progress.say(), end="" if live else "\n", flush=True)
    if live:
        print(f"\r{'':99}\r", end="", flush=True)


def install(arguments: Iterable[str]) -> int:
    """Run pip; gives its exit status."""
    quiet = ("--progress-bar", "off", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *quiet, *arguments]
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    assert pip.stdout is not None
    progress, over, lines = Progress(), threading.Event(), []
    line = threading.Thread(target=show, args=(progress, over, sys.stdout.isatty()))
    line.start()
    try:
        for row in pip.stdout:
            lines.append(row)
            progress.take(row)
        status = pip.wait()
    finally:
        over.set()
        line.join()
    if status:
        print("".join(lines[-60:]), file=sys.stderr)
    else:
        print(f"  {progress.count} packages in {progress.seconds:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
