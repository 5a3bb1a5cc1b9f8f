"""Programs written by hand: the benchmarks' kernels, the catalogue's, and those that were wrong once."""

from __future__ import annotations

from tests.judge.program import Program
from tests.judge.programs.catalogue import CATALOGUE
from tests.judge.programs.corners import LANGUAGE
from tests.judge.programs.indices import INDICES
from tests.judge.programs.loops import LOOPS
from tests.judge.programs.mechanisms import FIELDS, FUSED, ROWS
from tests.judge.programs.once_wrong import EMULATED, ONCE_WRONG
from tests.judge.programs.running import RUNNING
from tests.judge.programs.statements import STATEMENTS
from tests.judge.programs.tiles import TILES
from tests.judge.programs.unused import UNUSED
from tests.judge.programs.workloads import WORKLOADS

MECHANISMS = (*FIELDS, *ROWS, *FUSED, *LANGUAGE, *INDICES, *STATEMENTS, *UNUSED)
PROGRAMS: dict[str, Program] = {
    p.name: p for p in (*WORKLOADS, *LOOPS, *CATALOGUE, *ONCE_WRONG, *MECHANISMS, *RUNNING, *TILES)
}

__all__ = ["CATALOGUE", "EMULATED", "LOOPS", "MECHANISMS", "ONCE_WRONG", "PROGRAMS", "RUNNING", "TILES", "WORKLOADS"]
