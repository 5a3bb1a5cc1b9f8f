"""The native interpreter of work: one call runs a whole table of it, branches and loops included.

A list of work on the CPU is a table of steps. A step has launches (rows of the launcher's), one after another or shared
over threads, or it branches, or it loops, on an int32 that earlier steps may write; then its items are steps. Helpers
are threads of the step, so nothing outlives the call and no fork can break it. Without them the caller does all. A
status of -1 ends everything: the launch was stopped (`stopping`).
"""

from __future__ import annotations

STEP_WORDS = 8
"""Words of a step: kind, items, how many, threads, condition, other items, how many, mask of `turns`."""
LAUNCH, IN_ORDER, SHARED, IF, WHILE = range(5)
"""Kinds of steps. `LAUNCH`: one launch after another; `IN_ORDER`: the first fault ends them, with all that follows.
`SHARED`: threads draw chunks of all launches. `IF`: its items if the condition is not 0 (or there is none), else the
other items."""
