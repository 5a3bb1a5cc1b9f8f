"""The table of declared names: filled by the declarations of this folder, read by everyone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.builtins.declaration.declare import Builtin, Form

TABLE: dict[str, Builtin] = {}
FORMS: dict[str, Form] = {}
