"""What a lowering remembers: the types that loops came to, what funcs came to, and notices for kernels from Warp."""

from __future__ import annotations

import msgspec

from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import Operand
from workbench.ir.values import Block
from workbench.source import Location
from workbench.types import Type


class Settled(msgspec.Struct, frozen=True):
    """The inferred types of a loop's carried names, and the names without a value at its beginning.

    `read` keeps alive what is known by identity.
    """

    types: dict[str, Type]
    hidden: dict[str, Operand]
    read: tuple[Operand, ...]


class Calls(msgspec.Struct):
    """Calls of one func with arguments alike.

    Attributes:
        definition, args: of the first: what is known of them by identity lives as long.
        count: how many there were.
        body: what the func comes to; None until it is needed, or if it cannot be copied.
    """

    definition: Definition
    args: tuple[Operand, ...]
    count: int = 0
    body: Body | None = None


class Body(msgspec.Struct, frozen=True):
    """What a func comes to for parameters.

    Attributes:
        block: its operations; it yields the values of the result.
        result: made of these.
        known: of each of them.
        called: whether a call is an operation for now, to be written out when the whole kernel is simplified.
    """

    block: Block
    result: Operand | None
    known: tuple[tuple[bool, bool, bool], ...]
    called: bool


class Notice(msgspec.Struct, frozen=True):
    """A line that means something else than in the library it was written for."""

    location: Location
    message: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.location}: {self.message} {self.advice}".rstrip()
