"""How many products are built: one for a forward use, two more for an adjoint, none twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.products.test_linked_text import looped
from workbench import cache
from workbench.api.kernels.kernel import Tiling
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cuda.emit import emit_kernel
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.cache.products import find_product, product_key, products

SPEC = ProductSpec(8, 4, 16, "float32", "float32", "float32", 32, "sm_90")
LINKED = Options()


def use(fake: Any, *directions: str, kernel: Any = looped, target: str = "sm_90", constant: str = "") -> None:
    """What a program does that asks a kernel for these directions."""
    forward = kernel.specialise(None, Tiling(32)).function
    for direction in directions:
        function = forward if direction == "forward" else adjoint(forward, constant=frozenset(constant))
        products(emit_kernel(function, LINKED, link=target).products, fake.builder)


@pytest.mark.parametrize(
    ("asked", "constant", "roles"),
    [
        (["forward"], "", ["forward"]),
        (["forward", "forward"], "", ["forward"]),
        (["forward", "adjoint"], "", ["adj_a", "adj_b", "forward"]),
        (["forward", "adjoint"], "B", ["adj_a", "forward"]),
        (["forward", "adjoint"], "A", ["adj_b", "forward"]),
        (["forward", "adjoint"], "AB", ["forward"]),
    ],
)
def test_only_what_is_asked_for_is_built(
    fake: Callable[..., Any], asked: list[str], constant: str, roles: list[str]
) -> None:
    builder = fake()
    use(builder, *asked, constant=constant)
    assert builder.roles == roles


@wb.kernel
def summed(A: wb.array2d[wb.float32], B: wb.array2d[wb.float32], C: wb.array2d[wb.float32]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(8, 16), offset=(i * 8, 0))
    b = wb.tile_load(B, shape=(16, 4), offset=(0, j * 4))
    wb.tile_atomic_add(C, wb.tile_matmul(a, b), offset=(i * 8, j * 4))


def test_a_second_kernel_of_the_same_shape_builds_none(fake: Callable[..., Any]) -> None:
    builder = fake()
    use(builder, "forward", "adjoint")
    assert len(builder.built) == 3
    cache.default_store().memory.clear()
    use(builder, "forward", "adjoint", kernel=summed)
    assert len(builder.built) == 3


def test_another_architecture_is_another_product(fake: Callable[..., Any]) -> None:
    builder = fake()
    use(builder, "forward")
    use(builder, "forward", target="sm_80")
    assert sorted(spec["arch"] for spec in builder.built) == ["sm_80", "sm_90"]


def test_a_new_process_builds_none(fake: Callable[..., Any]) -> None:
    builder = fake()
    use(builder, "forward")
    program = f"""
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.backends.cuda.products.workers import Builder
from workbench.cache.products import products
spec = ProductSpec.from_json({SPEC.as_json()!r})
(found,) = products([spec], Builder("fake", lambda target: "1", lambda: "", {builder.builder.task!r}))
print(found.where, len(found.code))
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (kept,) = products([SPEC], builder.builder)
    assert out.stdout.split() == ["disk", str(len(kept.code))]
    assert len(builder.built) == 1


def test_equal_multiplications_are_one_product_whatever_they_are_for(fake: Callable[..., Any]) -> None:
    builder = fake()
    first, second = products([SPEC, replace(SPEC, role="adj_a")], builder.builder)
    assert first == second
    assert len(builder.built) == 1


def test_the_adjoint_products_shapes() -> None:
    function = adjoint(looped.specialise(None, Tiling(32)).function)
    a, b = sorted(emit_kernel(function, LINKED, link="sm_90").products, key=lambda spec: spec.role)
    assert (a.m, a.n, a.k, a.layouts, a.role) == (8, 16, 4, ("row", "column", "row"), "adj_a")
    assert (b.m, b.n, b.k, b.layouts, b.role) == (16, 4, 8, ("column", "row", "row"), "adj_b")


@pytest.mark.parametrize(
    "change",
    [
        {"m": 16}, {"n": 8}, {"k": 8}, {"threads": 64}, {"arch": "sm_80"}, {"tf32": True}, {"aligned": False},
        {"layouts": ("column", "row", "row")}, {"leading": (20, 0, 0)},
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
    use(fake(), "forward")
    assert find_product(SPEC, fake(version="2").builder) is None
    use(fake(version="2"), "forward")
    assert len(fake().built) == 2


def test_the_role_and_the_names_of_kernels_are_in_no_key(fake: Callable[..., Any]) -> None:
    builder = fake().builder
    assert product_key(replace(SPEC, role="adj_b"), builder) == product_key(SPEC, builder)


def test_a_product_is_an_entry_like_any_other(fake: Callable[..., Any], tmp_path: Path) -> None:
    builder = fake()
    use(builder, "forward")
    (entry,) = (entry for entry in cache.entries() if entry.backend == "fake")  # the others are facts of this machine
    assert (entry.name, entry.backend, entry.target) == ("product 8×4×16 f32", "fake", "sm_90")
    cache.export(tmp_path / "kept.zip")
    cache.clear()
    assert find_product(SPEC, builder.builder) is None
    cache.import_(tmp_path / "kept.zip")
    assert find_product(SPEC, builder.builder) is None, "an import without trust is no product"
    cache.import_(tmp_path / "kept.zip", trust=True)
    use(builder, "forward")
    assert len(builder.built) == 1
