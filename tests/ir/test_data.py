"""IR as data: what comes back means the same to the last bit, and what makes no sense is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb
from tests.frontend.functions import test_golden_texts as golden
from tests.ir.test_text import scaled
from workbench.builtins.declaration.verify import verify_builtins
from workbench.ir.data import Unwritable, canonical, from_data, read_bits, read_type, show, to_data, type_data
from workbench.ir.json_values import Malformed
from workbench.ir.values import walk
from workbench.types import MATRICES, QUATERNIONS, SCALARS, VECTORS, ArrayType, float32


def through_json(function: Any) -> Any:
    return from_data(json.loads(json.dumps(to_data(function))))


@pytest.mark.parametrize("name", golden.KERNELS)
def test_a_function_comes_back_as_it_was(name: str) -> None:
    before = golden.function(name)
    after = through_json(before)
    assert canonical(after) == canonical(before) and show(after).count("\n") == show(before).count("\n")
    assert [str(op.location) for op in walk(after.body)] == [str(op.location) for op in walk(before.body)]
    assert not verify_builtins(after)


def test_captured_constants_and_places_come_back() -> None:
    before = scaled(number=0.1, captured="DT")
    after = through_json(before)
    assert after.captured[0].name == "DT" and after.source.text == before.source.text
    assert show(after, lines=True).replace("0.10000000149011612", "0.1") == show(before, lines=True)


@pytest.mark.parametrize("kinds", [SCALARS, VECTORS, MATRICES, QUATERNIONS])
def test_every_type_comes_back(kinds: dict[str, Any]) -> None:
    for kind in kinds.values():
        for type in (kind, ArrayType(kind, 3)):
            assert read_type(json.loads(json.dumps(type_data(type)))) == type


def test_bits_that_are_none_of_the_type_are_refused() -> None:
    assert read_bits("3f800000", float32) == 1.0 and read_bits("3f80000000000000", VECTORS["vec2"]) == (1.0, 0.0)
    for wrong in ("3f80", "3F800000", "zz800000", None, 1):
        with pytest.raises(Malformed):
            read_bits(wrong, float32)


def edited(**changes: Any) -> Any:
    return {**json.loads(json.dumps(to_data(scaled()))), **changes}


@pytest.mark.parametrize(
    "data",
    [
        None, [], {}, edited(name="a b"), edited(tid=9), edited(tid=True), edited(params=[[0, "x y"]]),
        edited(params=[[99, "x"]]), edited(ops=[["store"]]), edited(ops=[["neg", [7], [], {}, [], [-1, 0, 0, 0, 0]]]),
        edited(ops=[["store", [0], [], {}, [], [-1, 0, 0, 0, 0]]]), edited(types=[["array", ["array", "int8", 1], 1]]),
        edited(ops=[["const", [], [[0, ""]], {"value": ["bits", "00"]}, [], [-1, 0, 0, 0, 0]]]), edited(extra=1),
        edited(sources=[["text", "name", True]]), edited(ops=[["yield", [], [], {}, [], [-1, 0, 0, 0, 0]]]),
        edited(ops=[["tid", [], [[0, ""]], {"axis": ["block", {"params": 1, "ops": []}]}, [], [-1, 0, 0, 0, 0]]]),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(data: Any) -> None:
    with pytest.raises(Malformed):
        from_data(data)


def test_builtins_are_checked_against_their_declarations() -> None:
    data = to_data(scaled())
    text = json.dumps(data)
    assert "no builtin 'adds'" in verify_builtins(from_data(json.loads(text.replace('"add"', '"adds"'))))
    assert "operands" in verify_builtins(from_data(json.loads(text.replace('"add"', '"sin"'))))


def test_deep_nesting_ends_in_an_error() -> None:
    inner: Any = 1
    for _ in range(200):
        inner = ["tuple", inner]
    with pytest.raises(Malformed, match="too deep"):
        from_data(edited(ops=[["neg", [], [], {"a": inner}, [], [-1, 0, 0, 0, 0]]]))


def test_what_has_no_form_is_said() -> None:
    class Odd:
        pass

    with pytest.raises(Unwritable, match="Odd"):
        type_data(Odd())  # type: ignore[arg-type]


def test_a_func_with_cuda_text_is_its_python_body_where_texts_are_not_taken() -> None:
    @wb.func_native("return 2.0f * a;", "adj_a += 2.0f * adj_ret;", source=NATIVE)
    def doubled(a: float) -> float:
        return 2.0 * a

    @wb.kernel
    def uses(x: wb.array(dtype=float)):
        i = wb.tid()
        x[i] = doubled(x[i])

    before = uses.specialise().function
    data = json.loads(json.dumps(to_data(before)))
    assert canonical(from_data(data, texts=True)) == canonical(before)
    bare = from_data(data)
    assert "2.0f" not in canonical(bare) and "2.0f" in canonical(before)
    (custom,) = [op for op in walk(bare.body) if op.name == "custom"]
    assert {n for n, value in custom.attrs.items() if value is not None} == {"name", "adjoints"}


NATIVE = "def doubled(a: float) -> float:\n    return 2.0 * a\n"
