"""What a literal of provisional type belongs to: a loop-carried name, or a function's result (see `weak_types.py`)."""

from __future__ import annotations

import msgspec

from workbench.types import Type


class Loop(msgspec.Struct, eq=False):
    """A loop whose carried types are not settled; `fixed` are names that must stay what their literal is."""

    fixed: set[str] = msgspec.field(default_factory=set)


class Results(Loop, eq=False):
    """What a function returns: literals among it take these types, by position."""

    types: dict[int, Type] = msgspec.field(default_factory=dict)


class Owner(msgspec.Struct, frozen=True):
    """Whose literal a tentative value comes from: a loop's carried name."""

    loop: Loop
    name: str


class Widen(Exception):
    """Unwinds to the loop of `owner`: its name needs `type`, which the body gives it (`made`) or only asks for."""

    def __init__(self, owner: Owner, type: Type, made: bool = False) -> None:
        super().__init__(owner.name)
        self.owner = owner
        self.type = type
        self.made = made
