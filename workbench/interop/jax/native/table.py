"""A segment of a program as the words that the native handler follows (program.c), and the target it is called by.

The words are data, not code: a segment of hundreds of launches costs no compilation beyond its thunk. They hold no
address but through `calls`, so the store can keep them and another process can make the same target.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.backends.cpu import jit
from workbench.cache.native import native_image
from workbench.interop.jax.native import registry
from workbench.interop.jax.native.abi import CODES
from workbench.interop.jax.native.descriptor import PROGRAM, THUNK, address_of, handler_text
from workbench.interop.jax.native.target import Target, for_ever, keep, make_known, thunk_named
from workbench.runtime.records import saved

LAUNCH, REPEAT, FILL = range(3)
HEAD = 7


@dataclass(frozen=True)
class BufferSlice:
    """Represents bytes in a segment's buffer: its number (operands first, then results) and where they start in it."""

    base: int
    offset: int = 0


@dataclass(frozen=True)
class Bound:
    """Represents an operand or a result of a launch in a segment: its bytes' position, element type and shape."""

    buffer_slice: BufferSlice
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Launch:
    """Represents a step that launches: the target, its attributes in order, its operands and results."""

    target: Target
    attributes: tuple[tuple[int, ...], ...]
    operands: tuple[Bound, ...]
    results: tuple[Bound, ...]


@dataclass(frozen=True)
class Fill:
    """Represents a step that fills `bytes` bytes with a repeated pattern."""

    buffer_slice: BufferSlice
    bytes: int
    pattern: bytes


@dataclass(frozen=True)
class Repeat:
    """Represents a step that copies `bytes` bytes from `source` to `buffer_slice`, `times` times in sequence."""

    buffer_slice: BufferSlice
    source: BufferSlice
    bytes: int
    times: int


Step = Launch | Fill | Repeat


@dataclass(frozen=True, eq=False)
class Segment:
    """Represents steps that run as one call; two are equal where their names, made from their content, and aliases are.

    Attributes:
        function: the name in errors.
        operands, results: (dtype, shape) of its buffers; the last result is scratch memory where `scratch`.
        steps: in order.
        aliases: (operand, result) that are one memory.
        scratch: whether it has hidden memory for what lives inside only.
    """

    function: str
    operands: tuple[tuple[str, tuple[int, ...]], ...]
    results: tuple[tuple[str, tuple[int, ...]], ...]
    steps: tuple[Step, ...]
    aliases: tuple[tuple[int, int], ...]
    scratch: bool
    _cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __eq__(self, other: object) -> bool:
        """Return whether `other` is a segment with the same name, made from the content, and the same aliases."""
        return isinstance(other, Segment) and other.name == self.name and other.aliases == self.aliases

    def __hash__(self) -> int:
        """Return the hash of the segment's name."""
        return hash(self.name)

    def with_targets(self, chosen: Callable[[Target], Target]) -> Segment:
        """Return a segment of the same steps that calls `chosen(target)` for each target; itself if none changes."""
        steps = tuple(replace(s, target=chosen(s.target)) if isinstance(s, Launch) else s for s in self.steps)
        return replace(self, steps=steps) if steps != self.steps else self

    @property
    def checked(self) -> bool:
        """Return whether one of its launches reports faults."""
        return any(isinstance(s, Launch) and s.target.description.checked for s in self.steps)

    @cached_property
    def launches(self) -> int:
        """The number of steps that are launches."""
        return sum(isinstance(s, Launch) for s in self.steps)

    @cached_property
    def _words(self) -> tuple[list[int], dict[int, Target]]:
        """The words for the native handler, and by a word's index the target whose thunk's address goes there."""
        buffers = (*self.operands, *self.results)
        # Type and number of elements per buffer: the handler compares them once per call, not once per launch.
        checks = [n for dtype, shape in buffers for n in (CODES[dtype], int(np.prod(shape, dtype=np.int64)))]
        most = max((len(s.operands) + len(s.results) for s in self.steps if isinstance(s, Launch)), default=0)
        # The layout is program.c's; a 0 stands where an address goes, so that the words are the same in every process.
        words = [0, len(self.operands), len(self.results), len(self.steps), most, HEAD, HEAD + len(checks), *checks]
        calls: dict[int, Target] = {}
        for step in self.steps:
            if isinstance(step, Launch):
                calls[len(words) + 2] = step.target
            words += _step_words(step)
        return words, calls

    @cached_property
    def name(self) -> str:
        """The name under which XLA knows the segment: a hash of its content."""
        words, calls = self._words
        content = hashlib.sha256(handler_text().encode() + self.function.encode() + np.array(words, "<i8").tobytes())
        for at, target in calls.items():
            content.update(f"{at} {target.name}\n".encode())
        return f"workbench.{self.function}.{content.hexdigest()[:32]}"

    def written_by(self, result: int) -> tuple[int, int] | None:
        """Return the launch, counted from 0, that writes a result last, and which of its results that is.

        None if no launch writes it.
        """
        writer, count, base = None, 0, len(self.operands) + result
        for step in self.steps:
            if isinstance(step, Launch):
                for position, bound in enumerate(step.results):
                    writer = (count, position) if bound.buffer_slice.base == base else writer
                count += 1
        return writer

    def register(self) -> None:
        """Register the segment with XLA for the CPU, once per process, and write it to the store."""
        words, calls = self._words
        described = {"program": self.function, "words": words, "calls": {str(k): t.name for k, t in calls.items()}}
        if make_known(self.name, self.thunk):
            for target in set(calls.values()):
                target.keep()
            keep(self.name, lambda: described)

    def thunk(self) -> int:
        """Create a handler for the segment and return its address; it is never unloaded."""
        words, calls = self._words
        return _thunk(self.function, words, {k: t.thunk() for k, t in calls.items()}, self)


def _step_words(step: Step) -> list[int]:
    """Return the words of a step as `program.c` reads them: its kind, how many words it has, and its content."""
    if isinstance(step, Fill):
        pattern = int.from_bytes(step.pattern, "little", signed=len(step.pattern) == 8)
        return [FILL, 7, step.buffer_slice.base, step.buffer_slice.offset, step.bytes, pattern, len(step.pattern)]
    if isinstance(step, Repeat):
        pointers = [n for p in (step.buffer_slice, step.source) for n in (p.base, p.offset)]
        return [REPEAT, 8, *pointers, step.bytes, step.times]
    body = [0, len(step.operands), len(step.results), len(step.attributes)]
    for numbers in step.attributes:
        body += [len(numbers), *numbers]
    for bound in (*step.operands, *step.results):
        body += [bound.buffer_slice.base, bound.buffer_slice.offset, CODES[bound.dtype], len(bound.shape), *bound.shape]
    return [LAUNCH, len(body) + 2, *body]


_alive: list[Any] = []
_PROGRAM, _TABLE = "workbench_thunk_program", "workbench_thunk_table"
_TEXT = f"""
@{_TABLE} = external global i64
declare ptr @{_PROGRAM}(ptr, ptr)

define ptr @{THUNK}(ptr %frame) {{
  %error = tail call ptr @{_PROGRAM}(ptr %frame, ptr @{_TABLE})
  ret ptr %error
}}
"""
"""The thunk of all segments: what differs is linked."""


def _thunk(function: str, words: Sequence[int], calls: dict[int, int], segment: Segment | None = None) -> int:
    """Load a thunk for a segment's words and return its address; thunk and words stay as long as the process lives.

    Args:
        function: the segment's name in errors.
        words: its words, without addresses.
        calls: addresses of the thunks of its launches, by the index of the word that holds each.
        segment: for reports of faults; None where only the words are known.
    """
    label = ctypes.create_string_buffer(function.encode())
    table = (ctypes.c_int64 * len(words))(*words)
    # Addresses last: the words without them are what the store keeps and the name hashes.
    table[0] = ctypes.addressof(label)
    for at, address in calls.items():
        table[at] = address
    _alive.extend((label, table))  # XLA cannot forget a target
    registry.segments[ctypes.addressof(table)] = segment
    imports = {_PROGRAM: address_of(PROGRAM), _TABLE: ctypes.addressof(table)}
    return for_ever(jit.load(native_image(THUNK, _TEXT, optimise=False), THUNK, imports)).address


def segment_data(data: Any, targets: frozenset[str]) -> dict[str, Any]:
    """Return the checked data of a segment, read from a file; it may call the targets with these names only.

    Raises:
        Wrong: a field is missing, a word is no integer of 64 bits, or a call is not at one of the words.
    """
    fields = saved.record(data, "a function of launches", ("program", "words", "calls"))
    words, calls = fields["words"], fields["calls"]
    if not isinstance(words, list) or len(words) < HEAD or not isinstance(calls, dict):
        raise saved.Wrong("a function of launches without steps")
    if not all(type(word) is int and -(2**63) <= word < 2**63 for word in words):
        raise saved.Wrong("a function of launches with a step that is none")
    for at, name in calls.items():
        saved.index(int(at) if at.isdecimal() else None, len(words), "step")
        if name not in targets:
            raise saved.Wrong(f"a call of {str(name)[:80]}, which is missing")
    return {**fields, "program": saved.converted(fields["program"], saved.Name, "a name")}


def preload_segment(name: str, described: dict[str, Any]) -> None:
    """Make a segment that the store describes known to XLA; its targets' code comes from the store.

    Raises:
        CacheError: the store does not hold a target.
    """
    calls = {int(k): thunk_named(target) for k, target in described["calls"].items()}
    if make_known(name, lambda: _thunk(described["program"], described["words"], calls)):
        keep(name, lambda: described)
