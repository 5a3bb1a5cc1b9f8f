"""The rule of each operation in the reverse sweep."""

from __future__ import annotations

from workbench.autodiff.reverse import elements, tiles
from workbench.autodiff.reverse.branches import reverse_branch
from workbench.autodiff.reverse.builtin_rules import reverse_builtin
from workbench.autodiff.reverse.custom_gradients import reverse_custom
from workbench.autodiff.reverse.loops.reverse_loop import reverse_loop
from workbench.autodiff.reverse.sweep import Rules

RULES = Rules(
    effects={
        "if": reverse_branch,
        "for": reverse_loop,
        "while": reverse_loop,
        "custom": reverse_custom,
        **elements.EFFECTS,
        **tiles.EFFECTS,
    },
    values={**elements.VALUES, **tiles.VALUES},
    builtin=reverse_builtin,
)
