"""Damaged files: never wrong bytes, never an exception, always a word about it and a fresh start."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.kernels.cache_samples import digest, entry
from workbench import events
from workbench.cache.disk import HEADER, MAGIC, Damaged, Entry, decode, decode_metadata, encode
from workbench.cache.key import SCHEMA
from workbench.cache.store import Store

GOOD = encode(digest(1), Entry(b"some machine code", {"name": "blur", "entry": "wb_blur"}))


def _signed(magic: bytes = MAGIC, schema: int = SCHEMA, sizes: tuple[int, int] = (2, 4), key: str = digest(1),
            body: bytes = b"{}code") -> bytes:  # fmt: skip
    """A file with any header whose checksum is right: what a program, not an accident, would write."""
    head = struct.pack(">8sIIQQ32s", magic, schema, *sizes, 0, bytes.fromhex(key))
    return head + hashlib.sha256(head + body).digest() + body


DAMAGE = {
    "empty": b"",
    "one byte": b"W",
    "header alone": GOOD[: HEADER.size],
    "half a header": GOOD[: HEADER.size // 2],
    "half": GOOD[: len(GOOD) // 2],
    "one byte short": GOOD[:-1],
    "one byte long": GOOD + b"\0",
    "zeros": bytes(len(GOOD)),
    "an object file": b"\x7fELF" + bytes(500),
    "a pickle": b"\x80\x04\x95" + bytes(500),
    "another key's": encode(digest(2), entry(2)),
    "other magic": _signed(magic=b"NOCACHE\x1a"),
    "other schema": _signed(schema=SCHEMA + 1),
    "key of another": _signed(key=digest(2)),
    "too large a payload": _signed(sizes=(2, 2**63)),
    "too large metadata": _signed(sizes=(2**32 - 1, 4)),
    "metadata past the end": _signed(sizes=(7, 0)),
    "metadata no JSON": _signed(body=b"{!code"),
    "metadata no object": _signed(body=b"12code"),
    "metadata nested": _signed(sizes=(200_000, 0), body=b"[" * 200_000),
    "metadata no text": _signed(body=b"\xff\xfecode"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_told_moved_aside_and_built_again(
    what: str, store: Store, root: Path, told: list[Any]
) -> None:
    store.put(digest(1), entry(1))
    path = store.disk.path(digest(1))
    path.write_bytes(DAMAGE[what])

    later = Store(root)
    assert later.get(digest(1)) is None
    assert not path.exists()
    assert (root / "damaged" / digest(1)).read_bytes() == DAMAGE[what]
    (problem,) = told
    assert isinstance(problem, events.CacheProblem)
    assert problem.path == str(path)
    assert str(path) in problem.message and "compiled again" in problem.message and "damaged" in problem.message
    assert later.entries() == [] and later.info().problem == ""

    later.put(digest(1), entry(1))
    assert Store(root).get(digest(1)) == entry(1)
    assert len(told) == 1


def test_the_signed_file_is_good_where_nothing_is_wrong() -> None:
    assert decode(_signed(), digest(1)) == Entry(b"code", {})


def test_each_bit_of_a_file_counts() -> None:
    assert decode(GOOD, digest(1)).image == b"some machine code"
    for position in range(len(GOOD)):
        for bit in range(8):
            bad = bytearray(GOOD)
            bad[position] ^= 1 << bit
            with pytest.raises(Damaged):
                decode(bytes(bad), digest(1))


def test_each_byte_of_a_file_is_needed() -> None:
    for size in range(len(GOOD)):
        with pytest.raises(Damaged):
            decode(GOOD[:size], digest(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flips") / "cache"


changes = st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=6)


@settings(max_examples=150, deadline=None)
@given(changes=changes, cut=st.integers(0, len(GOOD)), tail=st.binary(max_size=20))
def test_whatever_happens_to_a_file_the_answer_is_right_or_none(
    folder: Path, changes: list[tuple[int, int]], cut: int, tail: bytes
) -> None:
    writer = Store(folder)
    writer.put(digest(1), Entry(b"some machine code", {"name": "blur"}))
    path = writer.disk.path(digest(1))
    data = bytearray(path.read_bytes())
    whole = bytes(data)
    for position, value in changes:
        data[position % len(data)] = value
    data = bytes(data[: len(data) - cut if cut < len(data) else len(data)]) + tail
    path.write_bytes(data)
    reader = Store(folder)
    reader.entries()
    found = reader.get(digest(1))
    assert (found is None) == (data != whole)
    assert found is None or (found.image, found.metadata) == (b"some machine code", {"name": "blur"})


def test_a_list_leaves_out_what_it_cannot_read(store: Store) -> None:
    for n in range(4):
        store.put(digest(n), entry(n))
    store.disk.path(digest(0)).write_bytes(b"")
    store.disk.path(digest(1)).write_bytes(GOOD[:50])
    store.disk.path(digest(2)).write_bytes(encode(digest(7), entry(7)))
    store.memory.clear()
    assert [e.digest for e in store.entries()] == [digest(3)]
    with pytest.raises(Damaged):
        decode_metadata(GOOD[: HEADER.size + 3], digest(1))


def test_a_damaged_file_that_was_just_replaced_is_left_alone(store: Store, root: Path, told: list[Any]) -> None:
    """Another process heals the file between this one's reading and its moving aside."""
    store.put(digest(1), entry(1))
    path = store.disk.path(digest(1))
    path.write_bytes(b"damaged")
    status = path.stat()
    kept = path.with_name("kept")
    path.rename(kept)  # so that the new file cannot take its number
    Store(root).put(digest(1), entry(1))
    store.disk._set_aside(path, digest(1), status, "was damaged")
    assert Store(root).get(digest(1)) == entry(1)


def test_damage_is_told_each_time(store: Store, root: Path, told: list[Any]) -> None:
    later = Store(root)
    for n in range(3):
        store.put(digest(1), entry(1))
        store.disk.path(digest(1)).write_bytes(b"damaged")
        later.memory.clear()
        assert later.get(digest(1)) is None
        assert len(told) == n + 1
