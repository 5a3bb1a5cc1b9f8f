"""Programs by chance, as the text that a user would write: every row of the language guide, with weights.

The same seed gives the same text in any process. A program is well defined by construction: indices are in range for
any number of threads, loops end, threads write only elements of their own or change shared integers by one commutative
atomic. `table.py` has the rows, `memory.py` every lvalue with every operator and every type of element.
"""

from tests.judge.generator import definitions
from tests.judge.generator.program import Draft, draft, rows

__all__ = ["Draft", "definitions", "draft", "rows"]
