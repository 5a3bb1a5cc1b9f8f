"""How many products are built: one for a forward use, two more for an adjoint, none twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench import cache
from workbench.backends.cuda.products.needed import Wanted, adjoint_of, products_needed
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.cache.products import find_product, product_key, products

SPEC = ProductSpec(16, 32, 8, "float32", "float32", "float32", 128, "sm_90")
FORWARD, ADJOINT = Wanted(), Wanted("adjoint")


def use(fake: Any, *asked: Wanted) -> None:
    """What a program does that asks a kernel of one multiplication for these."""
    for wanted in asked:
        products(products_needed([SPEC], wanted), fake.builder)


@pytest.mark.parametrize(
    ("asked", "roles"),
    [
        ([FORWARD], ["forward"]),
        ([FORWARD, FORWARD], ["forward"]),
        ([FORWARD, ADJOINT], ["adj_a", "adj_b", "forward"]),
        ([FORWARD, Wanted("adjoint", frozenset("a"))], ["adj_a", "forward"]),
        ([FORWARD, Wanted("adjoint", frozenset("b"))], ["adj_b", "forward"]),
        ([FORWARD, Wanted("adjoint", frozenset())], ["forward"]),
        ([FORWARD, Wanted("adjoint", enable_backward=False)], ["forward"]),
        ([FORWARD, Wanted("adjoint", frozenset("a")), ADJOINT], ["adj_a", "adj_b", "forward"]),
    ],
)
def test_only_what_is_asked_for_is_built(fake: Callable[..., Any], asked: list[Wanted], roles: list[str]) -> None:
    builder = fake()
    use(builder, *asked)
    assert builder.roles == roles


def test_a_second_kernel_of_the_same_shape_builds_none(fake: Callable[..., Any]) -> None:
    builder = fake()
    use(builder, FORWARD, ADJOINT)
    before = len(builder.built)
    cache.default_store().memory.clear()
    use(builder, FORWARD, ADJOINT)
    assert len(builder.built) == before == 3


def test_a_new_process_builds_none(fake: Callable[..., Any]) -> None:
    builder = fake()
    use(builder, FORWARD)
    program = f"""
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.backends.cuda.products.workers import Builder
from workbench.cache.products import products
spec = ProductSpec.from_json({SPEC.as_json()!r})
(found,) = products([spec], Builder("fake", lambda: "1", lambda: "", {builder.builder.command!r}))
print(found.where, len(found.code))
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (kept,) = products([SPEC], builder.builder)
    assert out.stdout.split() == ["disk", str(len(kept.code))]
    assert len(builder.built) == 1


def test_equal_multiplications_of_one_kernel_are_one_product(fake: Callable[..., Any]) -> None:
    builder = fake()
    twice = products_needed([SPEC, replace(SPEC, role="adj_a")], FORWARD)
    assert products(twice, builder.builder)[0].spec == SPEC
    assert len(builder.built) == 1


def test_a_square_products_adjoint_is_no_forward_product() -> None:
    square = replace(SPEC, n=16, m=16, k=16)
    assert len({square, adjoint_of(square, "a"), adjoint_of(square, "b")}) == 3
    # A·Bᵀ of another kernel is the very product that adjA needs
    assert adjoint_of(square, "a") == replace(square, layouts=("row", "column", "row"))


def test_the_adjoint_products_shapes() -> None:
    a, b = adjoint_of(SPEC, "a"), adjoint_of(SPEC, "b")
    assert (a.m, a.n, a.k, a.layouts, a.role) == (16, 8, 32, ("row", "column", "row"), "adj_a")
    assert (b.m, b.n, b.k, b.layouts, b.role) == (8, 32, 16, ("column", "row", "row"), "adj_b")


@pytest.mark.parametrize(
    "change",
    [
        {"m": 8}, {"n": 8}, {"k": 16}, {"threads": 64}, {"arch": "sm_80"}, {"tf32": True}, {"aligned": False},
        {"layouts": ("column", "row", "row")}, {"leading": (12, 0, 0)},
        {"a": "float64", "b": "float64", "c": "float64"}, {"a": "float16", "b": "float16"},
    ],
)  # fmt: skip
def test_all_that_changes_a_product_changes_its_key_and_its_symbol(
    fake: Callable[..., Any], change: dict[str, Any]
) -> None:
    builder, other = fake().builder, replace(SPEC, **change)
    assert product_key(other, builder).digest != product_key(SPEC, builder).digest
    assert other.symbol != SPEC.symbol


def test_another_version_of_the_builder_builds_again(fake: Callable[..., Any]) -> None:
    use(fake(), FORWARD)
    assert find_product(SPEC, fake(version="2").builder) is None
    use(fake(version="2"), FORWARD)
    assert len(fake().built) == 2


def test_the_role_and_the_names_of_kernels_are_in_no_key(fake: Callable[..., Any]) -> None:
    builder = fake().builder
    assert product_key(replace(SPEC, role="adj_b"), builder) == product_key(SPEC, builder)


def test_a_product_is_an_entry_like_any_other(fake: Callable[..., Any], tmp_path: Path) -> None:
    builder = fake()
    use(builder, FORWARD)
    (entry,) = cache.entries()
    assert (entry.name, entry.backend, entry.target) == ("product 16×32×8 f32", "fake", "sm_90")
    cache.export(tmp_path / "kept.zip")
    cache.clear()
    assert find_product(SPEC, builder.builder) is None
    cache.import_(tmp_path / "kept.zip")
    assert find_product(SPEC, builder.builder) is None, "an import without trust is no product"
    cache.import_(tmp_path / "kept.zip", trust=True)
    use(builder, FORWARD)
    assert len(builder.built) == 1
