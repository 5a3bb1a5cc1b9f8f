"""Makes the host shim and this folder's kernels importable."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parents[2] / "hostshim"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
