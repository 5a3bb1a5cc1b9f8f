"""Warp's PTX of the kernels of `cuda_code.py`, as JSON on the standard output; run by an interpreter that has Warp.

python benchmarks/peers/warp_ptx.py FOLDER < texts.json
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import warp as wp

HEAD = "import warp as wp\n\n"
WORDS = r"\b(vec[34]|(tid|atomic_add|sin|cos|exp|log|sqrt|abs|floor|min|max|dot|cross|length|normalize)(?=\())"


def main() -> None:
    """Read kernels by name, write their PTX by name."""
    folder = Path(sys.argv[1])
    found = {}
    for name, text in json.load(sys.stdin).items():
        text = re.sub(WORDS, r"wp.\1", text)
        text = re.sub(r"array(\dd)?\[([\w.]+)\]", r"wp.array\1(dtype=\2)", text)
        path = folder / f"warp_{name}.py"
        path.write_text(f"{HEAD}@wp.kernel\n{text}")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        wp.compile_aot_module(module, arch=90, module_dir=str(folder / name), use_ptx=True)
        (made,) = (folder / name).glob("*.ptx")
        found[name] = made.read_bytes().decode().rstrip("\0")
    print("PTX" + json.dumps({"version": wp.__version__, "kernels": found}))


main()
