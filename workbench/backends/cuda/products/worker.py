"""The process that builds one product or links one kernel: a request on its standard input, the answer in a file.

It ends with its parent, whose end closes its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from workbench.backends.cuda.nvjitlink import link
from workbench.backends.cuda.products import mathdx
from workbench.backends.cuda.products.answer import write_answer
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.errors import WorkbenchError


def main() -> None:
    """Do the one task that is asked for."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    started = time.perf_counter()
    try:
        facts, data = _link(request["link"]) if "link" in request else _product(request["product"])
        write_answer(request["result"], {"facts": {**facts, "seconds": time.perf_counter() - started}}, data)
    except WorkbenchError as error:
        log = str(error.facts.get("log", ""))
        write_answer(request["result"], {"error": error.message, "advice": error.advice, "log": log})


def _product(facts: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    code, found = mathdx.generate(ProductSpec.from_json(facts))
    return found, code


def _link(facts: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    parts = [(name, Path(path).read_bytes()) for name, path in facts["parts"]]
    linked = link(parts, facts["options"], facts["kind"])
    return {"log": linked.log}, linked.image


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)
