"""The module key's two lists: what must change it, and what must not."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.support.kernels.cache_samples import key, scaled
from workbench.backends.base import Options
from workbench.cache.key import Key, Part
from workbench.errors import CacheError
from workbench.ir.build import Builder, copy_block, replace_body
from workbench.ir.values import Captured, Function, Value
from workbench.source import Location, Source
from workbench.types import ArrayType, Scalar, Vector, float32, float64, int32, int64, vector

NAN32 = np.uint32(0x7FC00001).view(np.float32)
NAN64 = np.uint64(0x7FF8000000000001).view(np.float64)
SIGNALLING = np.uint32(0x7F800001).view(np.float32)

MUST_CHANGE = {
    "operation": scaled(op="add"),
    "literal": scaled(literal=2.5),
    "literal, last bit": scaled(literal=np.nextafter(np.float32(2), np.float32(3))),
    "literal, sign of zero": scaled(literal=-0.0),
    "constant": scaled(dt=0.02),
    "constant, last bit": scaled(dt=np.nextafter(np.float32(0.01), np.float32(1))),
    "constant's type": scaled(dt=0.01, dt_type=float64),
    "constant's name": scaled(constant="dt"),
    "element type": scaled(element=float64),
    "one parameter more": scaled(more=(("n", int32),)),
    "dimensions of tid": scaled(launch_ndim=2),
    "attribute": scaled(attrs={"mode": 1}),
}


@pytest.mark.parametrize("what", MUST_CHANGE)
def test_what_must_change_the_key(what: str) -> None:
    others = [MUST_CHANGE[w] for w in MUST_CHANGE if w != what]
    assert key(MUST_CHANGE[what]).digest not in {key().digest, *(key(f).digest for f in others)}


@pytest.mark.parametrize(
    "change",
    [
        {"options": Options(checks=True)},
        {"options": Options(fast_math=True)},
        {"options": Options(contiguous=False)},
        {"backend": "cuda"},
        {"backend_version": "llvmlite 0.51 LLVM 21"},
        {"target": "x86-64-v3"},
        {"direction": "adjoint"},
        {"generator": "tests2"},
        {"extra": (Part("option atomic", "option", b"1", "on"),)},
        {"extra": (Part("option atomic", "option", b"0", "off"),)},
    ],
    ids=str,
)
def test_circumstances_that_must_change_the_key(change: dict[str, object]) -> None:
    assert key(**change).digest != key().digest


def _elsewhere(name: str) -> tuple[Source, Location]:
    source = Source(f"\n\n# another comment in {name}\n", name, f"/tmp/ipykernel_{hash(name)}/1.py", 1)
    return source, Location(source, 3, 7, 3, 9)


def _copied(function: Function) -> Function:
    return replace_body(function, copy_block(function.body, {}))


@pytest.mark.parametrize(
    "same",
    [
        lambda: scaled(local="renamed"),
        lambda: scaled(name="other_kernel"),
        lambda: scaled(params=("image", "result")),
        lambda: scaled(source=_elsewhere("cell [9]")[0], location=_elsewhere("cell [9]")[1]),
        lambda: scaled(dt=np.float32(0.01)),
        lambda: scaled(literal=np.float32(2)),
        lambda: scaled(literal=2),
        lambda: scaled(attrs={"unset": None}),
        lambda: _copied(scaled()),
    ],
    ids=["local", "name", "parameters", "cell and lines", "NumPy constant", "NumPy literal", "int literal of a float",
         "attribute that is None", "copied body"],
)  # fmt: skip
def test_what_must_not_change_the_key(same: object) -> None:
    assert key(same()).digest == key().digest  # type: ignore[operator]


def test_attribute_order_is_not_in_the_key() -> None:
    assert key(scaled(attrs={"a": 1, "b": 2})).digest == key(scaled(attrs={"b": 2, "a": 1})).digest


def test_what_is_shown_is_not_hashed() -> None:
    parts = key().parts
    assert Key(tuple(replace(p, shown="something else") for p in parts)).digest == key().digest


def test_the_same_key_in_other_processes(start, tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    jobs = [
        start("print_digest", cwd=folders[0], PYTHONHASHSEED="1"),
        start("print_digest", cwd=folders[1], PYTHONHASHSEED="2", HOME="/nowhere", LANG="C", TZ="Asia/Tokyo"),
    ]
    answers = [job.communicate()[0].strip() for job in jobs]
    assert answers == [key().digest] * 2


BITS = {
    "zero": (0.0, float64), "minus zero": (-0.0, float64), "float32 zero": (0.0, float32),
    "nan": (float("nan"), float64), "other nan": (NAN64, float64), "nan32": (NAN32, float32),
    "signalling nan": (SIGNALLING, float32), "int one": (1, int32), "long one": (1, int64), "float one": (1.0, float32),
    "double one": (1.0, float64), "0.1": (0.1, float64), "0.1 rounded": (float(np.float32(0.1)), float64),
    "0.1 as float32": (0.1, float32), "next to 0.1": (float(np.nextafter(0.1, 1)), float64),
    "vec2": ((1, 0), vector(2, float32)), "vec3": ((1, 0, 0), vector(3, float32)),
    "vec3 of double": ((1, 0, 0), vector(3, float64)),
    "big": (2**63 - 1, int64), "big less one": (2**63 - 2, int64), "subnormal": (5e-324, float64),
}  # fmt: skip


def test_constants_count_with_all_their_bits() -> None:
    digests = {name: key(scaled(dt=value, dt_type=type)).digest for name, (value, type) in BITS.items()}
    assert len(set(digests.values())) == len(BITS)


def test_attributes_count_with_their_types() -> None:
    values = [
        1,
        "1",
        True,
        "True",
        1.0,
        (1,),
        ((1,),),
        (1, 1),
        ("1, 1",),
        b"1",
        float32,
        "float32",
        -0.0,
        0.0,
        "a\n1 b=c",
    ]
    assert len({key(scaled(attrs={"mode": v})).digest for v in values}) == len(values)
    assert key(scaled(attrs={"a": "1, b=2"})).digest != key(scaled(attrs={"a": 1, "b": 2})).digest


def _two_uses(first: float, second: float) -> Function:
    """Two inlined funcs of different modules, each with a DT of its own."""
    b = Builder()
    y = Value(ArrayType(float32), "y")
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(y, i, b.const(first, float32, "DT"))
    b.store(y, i, b.const(second, float32, "DT"))
    return Function("two", (y,), b.body(), 1, (Captured("DT", float32, first),))


def test_one_name_with_two_values_is_kept_apart() -> None:
    digests = {key(_two_uses(a, b)).digest for a, b in ((1, 1), (1, 2), (2, 1), (2, 2))}
    assert len(digests) == 4


def test_what_cannot_be_keyed_is_refused() -> None:
    with pytest.raises(CacheError, match=r"mode of the operation load .* object has no exact text"):
        key(scaled(attrs={"mode": object()}))
    with pytest.raises(CacheError, match="mode of the operation load"):
        key(scaled(attrs={"mode": ({1: 2},)}))
    with pytest.raises(CacheError, match="constant DT"):
        key(scaled(dt=2**40, dt_type=int32))
    with pytest.raises(CacheError, match="constant DT"):
        key(scaled(dt=object()))
    with pytest.raises(CacheError, match="direction"):
        key(direction="backward")
    with pytest.raises(CacheError, match="two parts named 'target'"):
        key(extra=(Part("target", "target", b"again"),))
    with pytest.raises(CacheError, match="unknown kind 'colour'"):
        Key((Part("a", "colour", b""),))


def test_parts_cannot_run_into_each_other() -> None:
    def two(a: bytes, b: bytes) -> str:
        return Key((Part("a", "extra", a), Part("b", "extra", b))).digest

    digests = {two(b"xy", b""), two(b"x", b"y"), two(b"", b"xy"), Key((Part("a", "extra", b"xy"),)).digest}
    assert len(digests) == 4
    assert Key((Part("ab", "extra", b"c"),)).digest != Key((Part("a", "extra", b"bc"),)).digest


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (scaled(), scaled(), ()),
        (scaled(), scaled(params=("a", "b"), local="w"), ()),
        (scaled(), scaled(dt=0.02), ("constant DT: 0.01 → 0.02",)),
        (scaled(dt=1, dt_type=int32), scaled(dt=1.0), ("constant DT: 1 → 1.0",)),
        (scaled(), scaled(dt_type=float64), ("constant DT: 0.01 float32 → 0.01 float64",)),
        (scaled(dt=np.float32("nan")), scaled(dt=NAN32), ("constant DT: nan 7fc00000 → nan 7fc00001",)),
        (
            scaled(dt=(1, 2), dt_type=vector(2, float32)),
            scaled(dt=(1, 3), dt_type=vector(2, float32)),
            ("constant DT: vec2(1.0, 2.0) → vec2(1.0, 3.0)",),
        ),
        (scaled(), scaled(op="add"), ("code changed",)),
        (scaled(), scaled(op="add", dt=0.02), ("constant DT: 0.01 → 0.02", "code changed")),
        (scaled(more=(("n", int32),)), scaled(more=(("n", int64),)), ("signature: n int32 → n int64",)),
        (
            scaled(),
            scaled(constant="H"),
            ("constant H: 0.01 is new", "constant DT: 0.01 no longer used", "code changed"),
        ),
    ],
)  # fmt: skip
def test_explain(before: Function, after: Function, why: tuple[str, ...]) -> None:
    assert key(after).explain(key(before)) == why


def test_explain_signatures() -> None:
    one, other = scaled(literal=0.0), scaled(literal=0.0, element=float64)
    assert key(other).explain(key(one))[0] == (
        "signature: x array[float32], y array[float32] → x array[float64], y array[float64]"
    )
    assert key(scaled(more=(("n", int32),))).explain(key())[0] == "signature: n int32 is new"
    assert key().explain(key(scaled(more=(("n", int32),))))[0] == "signature: n int32 no longer there"


def test_explain_circumstances_in_their_order() -> None:
    changed = key(
        scaled(dt=0.5),
        options=Options(checks=True),
        backend_version="llvmlite 0.51 LLVM 21",
        target="x86-64-v3",
        generator="tests2",
        extra=(Part("option atomic", "option", b"1", "on"),),
    )
    assert changed.explain(key()) == (
        "constant DT: 0.01 → 0.5",
        "option checks: off → on",
        "option atomic: on is new",
        "target: x86-64 znver3 +avx2 → x86-64-v3",
        "compiler: llvmlite 0.50 LLVM 21 → llvmlite 0.51 LLVM 21",
        "code generator changed",
    )


def test_explain_shows_of_two_long_targets_what_differs() -> None:
    features = ",".join(f"+feature{n}" for n in range(40))
    after, before = key(target=f"znver4 {features},+avx512f"), key(target=f"znver3 {features}")
    assert after.explain(before) == ("target: znver3 → znver4 +avx512f",)


def test_a_type_is_known_by_its_content() -> None:
    mine = Vector(3, Scalar("float32", float32.kind, 32))
    assert (
        key(scaled(dt=(1, 2, 3), dt_type=mine)).digest == key(scaled(dt=(1, 2, 3), dt_type=vector(3, float32))).digest
    )
    assert struct.unpack(">f", bytes.fromhex(_constant(key()).split(":")[1]))[0] == np.float32(0.01)


def _constant(k: Key) -> str:
    return next(p for p in k.parts if p.kind == "constant").data.decode()
