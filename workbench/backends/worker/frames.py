"""Messages between this process and a worker: a length, then a header and bytes; whole or not at all.

`marshal` is for values between two processes of one interpreter, and costs a worker no import.
"""

from __future__ import annotations

import marshal
import os
from typing import Any

_LENGTH = 8
STAGE = b"\0stage "
"""The beginning of a line of a worker's stderr that names the current stage; the name is empty after a request."""


def write_frame(fd: int, header: dict[str, Any], data: bytes = b"") -> None:
    """Write one message to a file descriptor.

    Raises:
        OSError: the other end is closed.
    """
    body = marshal.dumps((header, data))
    left = memoryview(len(body).to_bytes(_LENGTH, "big") + body)
    while left:
        left = left[os.write(fd, left) :]


def read_frame(fd: int) -> tuple[dict[str, Any], bytes] | None:
    """Return the next message from a file descriptor; None if the other end closes, even in the middle of one."""
    head = _read(fd, _LENGTH)
    body = _read(fd, int.from_bytes(head, "big")) if head else b""
    return marshal.loads(body) if body else None


def _read(fd: int, count: int) -> bytes:
    """Return exactly `count` bytes from a file descriptor; none if it ends or fails before."""
    parts: list[bytes] = []
    while count:
        try:
            part = os.read(fd, min(count, 1 << 20))
        except OSError:
            part = b""
        if not part:
            return b""
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
