"""The file in which a worker process answers: JSON facts, then bytes; there whole or not at all."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

_LENGTH = struct.Struct(">Q")


def write_answer(path: str, facts: dict[str, Any], data: bytes = b"") -> None:
    """Write the answer under its name when all of it is there."""
    head = json.dumps(facts).encode()
    part = f"{path}.part"
    Path(part).write_bytes(_LENGTH.pack(len(head)) + head + data)
    os.replace(part, path)


def read_answer(path: str) -> tuple[dict[str, Any], bytes]:
    """What `write_answer` wrote.

    Raises:
        OSError: there is none.
        ValueError: the file is no answer.
    """
    data = Path(path).read_bytes()
    if len(data) < _LENGTH.size:
        raise ValueError("the answer is cut off")
    (length,) = _LENGTH.unpack_from(data)
    return json.loads(data[_LENGTH.size : _LENGTH.size + length]), data[_LENGTH.size + length :]
