"""IR as text: canonical text depends on the meaning alone, readable text keeps the user's names and lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.ir import Builder, Captured, Function, Value
from workbench.ir.data import canonical, literal_bits, show
from workbench.ir.values import number_ops, read_arrays, walk, written_arrays
from workbench.ir.verify import verify
from workbench.source import Location, Source
from workbench.types import VECTORS, ArrayType, Scalar, Type, Vector, float32, float64, int32

SOURCE = Source("a\nb\nc\nd\n", "cell [1]", "<cell>", 1)


def scaled(
    local: str = "s", line: int = 1, number: Any = 2.0, type: Type = float32, captured: str | None = None
) -> Function:
    """`y[i] = x[i] + s` with a loop, its locals, places and constant chosen."""
    x, y = Value(ArrayType(type), "x"), Value(ArrayType(type), "y")  # type: ignore[arg-type]
    b = Builder()
    b.location = Location(SOURCE, line)
    i = b.one("tid", (), int32, {"axis": 0})
    constant = b.const(number, type, captured)
    index, total = Value(int32, f"{local}_i"), Value(type, local)
    with b.block((index, total)) as body:
        b.location = Location(SOURCE, line + 1)
        b.yield_(b.one("add", (total, constant), type))
    (result,) = b.for_(b.const(0), b.const(3), b.const(1), (b.load(x, i),), body.block)
    b.store(y, i, result)
    found = (Captured(captured, type, number),) if captured else ()  # type: ignore[arg-type]
    return verify(Function("scaled", (x, y), b.body(), 1, found, SOURCE))


def test_canonical_text_forgets_names_and_places() -> None:
    assert canonical(scaled("s", 1)) == canonical(scaled("other", 2))
    assert show(scaled("s")) != show(scaled("other"))


DIFFERENT = [
    ((0.0, float32), (-0.0, float32)),
    ((0.1, float32), (0.1, float64)),
    ((1, int32), (1.0, float32)),
    ((1.0, float64), (np.nextafter(1.0, 2.0), float64)),
    (((1, 2, 3), VECTORS["vec3"]), ((1, 2, 4), VECTORS["vec3"])),
    ((float("nan"), float32), (float("inf"), float32)),
]


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_canonical_text_keeps_all_bits_of_constants(a: tuple[Any, Type], b: tuple[Any, Type]) -> None:
    assert canonical(scaled(number=a[0], type=a[1])) != canonical(scaled(number=b[0], type=b[1]))


def test_equal_numbers_give_equal_text_however_they_are_written() -> None:
    assert canonical(scaled(number=0.1)) == canonical(scaled(number=np.float32(0.1)))
    assert canonical(scaled(number=1)) == canonical(scaled(number=1.0))


def test_a_captured_constant_stands_by_its_name() -> None:
    first, second = scaled(number=0.01, captured="DT"), scaled(number=0.02, captured="DT")
    assert canonical(first) == canonical(second) and "@DT" in canonical(first)
    assert canonical(first) != canonical(scaled(number=0.01, captured="DX"))
    assert canonical(first) != canonical(scaled(number=0.01))
    assert canonical(first) != canonical(scaled(number=0.01, type=float64, captured="DT"))


def test_the_function_name_is_no_part_of_the_meaning_but_its_parameters_are() -> None:
    f = scaled()
    renamed = Function("other", f.params, f.body, f.launch_ndim)
    assert canonical(f) == canonical(renamed)
    assert canonical(f) != canonical(Function("scaled", (*f.params, Value(int32, "n")), f.body, 1))
    assert canonical(f) != canonical(Function("scaled", f.params, f.body, 2))


def test_readable_text() -> None:
    lines = show(scaled("s"), lines=True).splitlines()
    assert lines[0] == "scaled(%x: array[float32], %y: array[float32]) tid 1"
    assert "    %_7: float32 = add %s1, %_2   @ 3" in lines
    assert lines[-1] == "  store %y, %_1, %s   @ 3"
    assert "const 2.0   @ 2" in show(scaled("s"), lines=True)


@pytest.mark.parametrize(
    ("number", "type", "bits"),
    [
        (1.0, float32, "3f800000"), (-0.0, float64, "8000000000000000"), (-2, int32, "fffffffe"),
        ((1, 0), VECTORS["vec2"], "3f80000000000000"), (True, Scalar("bool", int32.kind, 8), "01"),
    ],
)  # fmt: skip
def test_literal_bits_are_big_endian_bytes(number: Any, type: Scalar | Vector, bits: str) -> None:
    assert literal_bits(number, type) == bits


def test_operations_are_numbered_outer_before_inner() -> None:
    f = scaled()
    numbers = number_ops(f)
    assert list(numbers.values()) == list(range(1, len(numbers) + 1))
    assert [op.name for op in walk(f.body)] == [
        "tid", "const", "const", "const", "const", "load", "for", "add", "yield", "store",
    ]  # fmt: skip


def test_which_arrays_are_read_and_written() -> None:
    assert read_arrays(scaled()) == {"x"} and written_arrays(scaled()) == {"y"}
    b = Builder()
    a = Value(ArrayType(float32), "a")
    b.emit("atomic_add", (a, b.const(0), b.const(1.0, float32)), (float32,))
    b.emit("reduce_add", (a, b.const(1.0, float32)))
    f = verify(Function("f", (a,), b.body()))
    assert read_arrays(f) == written_arrays(f) == {"a"}
