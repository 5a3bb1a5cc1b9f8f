"""The digest of memory: it depends on the bytes alone, and on each of them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from workbench.backends.cpu.native.digest import digest_of
from workbench.cache.native import native_image


def digest(data: bytes, offset: int = 0) -> int:
    """The digest of these bytes, so far behind the beginning of a line of the cache."""
    room = np.zeros(len(data) + 128, np.uint8)
    begin = -room.ctypes.data % 64 + offset
    room[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
    return digest_of(native_image)(room.ctypes.data + begin, len(data))


@pytest.mark.parametrize("size", [1, 63, 255, 256, 257, 300, 777])
def test_each_bit_counts_and_the_address_does_not(size: int) -> None:
    data = np.random.default_rng(size).bytes(size)
    right = digest(data)
    assert all(digest(data, offset) == right for offset in (1, 8, 63))
    changed = set()
    for place in range(size):
        for bit in (0, 3, 7):
            other = bytearray(data)
            other[place] ^= 1 << bit
            changed.add(digest(bytes(other)))
    assert right not in changed
    assert len(changed) == 3 * size


def test_length_and_order_count() -> None:
    assert len({digest(bytes(n)) for n in range(600)}) == 600
    lines = [bytes([n]) * 64 for n in range(12)]
    orders = [lines, lines[::-1], lines[1:] + lines[:1], lines[:6][::-1] + lines[6:]]
    assert len({digest(b"".join(order)) for order in orders}) == len(orders)


def test_nothing_is_read_behind_the_end() -> None:
    """The last byte is the last of a page that is followed by one that cannot be read."""
    import mmap

    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(address + mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
    for size in (1, 64, 256, 1000, mmap.PAGESIZE):
        assert digest_of(native_image)(address + mmap.PAGESIZE - size, size) == digest(bytes(size))
    assert protect(ctypes.c_void_p(address + mmap.PAGESIZE), mmap.PAGESIZE, 3) == 0
