"""All benchmarks, each in a process of its own with an empty cache: `make bench`, or name some: `run.py throughput`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NOT_SCRIPTS = ("run", "measure", "ratios", "isolation", "stopping")  # the last two compare with another checkout


def main(names: list[str]) -> int:
    """Run the scripts called `names` (all if none is given); the number of those that failed."""
    found = {path.stem: path for path in sorted(HERE.glob("*.py")) if path.stem not in NOT_SCRIPTS}
    unknown = [name for name in names if name not in found]
    if unknown:
        print(f"there is no benchmark {unknown[0]}; there are {', '.join(found)}", file=sys.stderr)
        return 1
    failed = 0
    for name in names or found:
        with tempfile.TemporaryDirectory(prefix="workbench-bench-") as cache:
            environment = {**os.environ, "WORKBENCH_CACHE": cache, "WARP_CACHE_PATH": f"{cache}/warp"}
            failed += subprocess.run([sys.executable, found[name]], env=environment, cwd=HERE).returncode != 0
    if not names:
        failed += subprocess.run([sys.executable, HERE / "ratios.py"]).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
