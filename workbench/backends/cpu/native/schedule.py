"""The native interpreter of work: one call runs a whole table of it, branches and loops included.

A list of work on the CPU is a table of steps. A step runs items (a kernel's entry over a range), shared over threads if
that pays, or launches one after another, or it branches, or it loops, on an int32 that earlier steps may write; then
its items are steps. Helpers are threads of the step, so nothing outlives the call and no fork can break it. Without
them the caller does all. A status of -1 ends everything: the launch was stopped (`stopping`).
"""

from __future__ import annotations

ITEM_WORDS = 7
"""Words of an item: entry, params, begin, end, fault record, threads between two looks, words that these leave."""
STEP_WORDS = 8
"""Words of a step: kind, items, how many, threads, condition, other items, how many, mask of `turns`."""
RUN, IF, WHILE, LAUNCH, IN_ORDER = 0, 1, 2, 3, 4
"""Kinds of steps. `IF` runs its items if the condition is not 0 (or there is none), else the other items. A `LAUNCH`
has rows of the launcher's instead of items; so has `IN_ORDER`, which the first fault ends, with all that follows."""
