"""A program for a page that computes: what lies in its memory, its modules, and the rows that run one by one.

`kernel_ext/widgets/static/machine.js` runs it. Memory, from address 0: room for the stack, which grows downwards, so
one that is too deep ends in a trap and not in data; then whatever is placed, in order. What launches need while they
run comes behind it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.backends.wasm.module import Module, make_module

STACK = 1 << 20
ALIGNED = 64


Row = tuple[int, int, int, int, int, int]
"""A launch, copy, sum or fill.

It has the number of its function; the address of its packed parameters; how many threads or elements it has; how many
of them a strip has (the native launcher's number, so that sums have the same bits); how many words a strip leaves for
the end; the address of its fault record, 0 without checks.
"""


@dataclass
class Program:
    """A program for a page: memory with its first contents, WebAssembly modules linked into it, and rows.

    Attributes:
        rows: what runs.
        page_data: further entries of `data`, JSON values.
        stop: the address of the words that tell native code to stop.
    """

    rows: list[Row] = field(default_factory=list[Row])
    page_data: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Reserve the stack and the words that tell native code to stop."""
        self._end = STACK
        self._chunks: list[tuple[int, bytes]] = []
        self._modules: list[tuple[Module, list[str]]] = []
        self._entries: dict[tuple[bytes, str], int] = {}
        self.stop = self.reserve(40)

    def reserve(self, size: int) -> int:
        """Reserve so many bytes, which are zeros at first; return their address."""
        start = self._end
        self._end += -(-size // ALIGNED) * ALIGNED
        return start

    def place(self, data: bytes, start: int | None = None) -> int:
        """Put bytes into the memory, as they are to be whenever the program is rewound; return their address.

        With `start` they are put there, in memory that was reserved before.
        """
        at = self.reserve(len(data)) if start is None else start
        if data:
            self._chunks.append((at, data))
        return at

    def entry(self, image: bytes, name: str) -> int:
        """Return the number of the function `name` of an object file, which is linked at the first call."""
        if (image, name) not in self._entries:
            self.link(image, (name,))
        return self._entries[image, name]

    def link(self, image: bytes, names: Sequence[str]) -> Module:
        """Link an object file, and number its functions `names`; return the module.

        Raises:
            BuildError: it is no WebAssembly object, or lacks one of the functions.
        """
        module = make_module(image, names, self._end)
        self.reserve(module.size)
        for name in names:
            self._entries[image, name] = len(self._entries)
        self._modules.append((module, list(names)))
        return module

    @property
    def size(self) -> int:
        """Bytes of its memory."""
        return self._end

    @property
    def code_size(self) -> int:
        """Bytes of its WebAssembly modules."""
        return sum(len(module.image) for module, _ in self._modules)

    def data(self) -> dict[str, Any]:
        """Return the description of the program that the page's `openMachine` takes, as JSON values."""
        rows = [list(row) for row in self.rows]
        plain: dict[str, Any] = {
            "schedule": list(range(len(rows))),
            "numbers": {},
            "counters": {},
            "arrays": {},
            "titles": [],
            "faults": [],
            "lines": [],
            "prints": [],
        }
        return {
            **plain, "memory": self._end, "stack": STACK, "stop": self.stop, "rows": rows,
            "chunks": [[at, len(data)] for at, data in self._chunks],
            "modules": [[len(module.image), names, module.fused] for module, names in self._modules], **self.page_data,
        }  # fmt: skip

    def payload(self) -> bytes:
        """Return the bytes that the page's `openMachine` takes: contents of memory, then modules."""
        return b"".join([*(data for _, data in self._chunks), *(module.image for module, _ in self._modules)])

    def compressed(self) -> bytes:
        """Return the payload compressed, as a browser's `DecompressionStream("deflate")` reads it."""
        return zlib.compress(self.payload(), 9)
