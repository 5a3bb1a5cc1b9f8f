"""The link-time products that a kernel's CUDA text would call, and whether they are in the cache; nothing is built."""

from __future__ import annotations

import msgspec

from workbench.api.builds import linking
from workbench.api.builds.build import function_of
from workbench.api.kernels.kernel import Specialisation
from workbench.backends.base import Options
from workbench.backends.cuda.compile.lto import products_of
from workbench.backends.cuda.products.spec import ProductSpec, multiplies
from workbench.cache.products import find_product


class ProductView(msgspec.Struct, frozen=True):
    """A matrix product that a kernel's CUDA text calls, as views show it.

    Attributes:
        product: `16×16×16 f32`.
        role: "forward", "adj_a", "adj_b".
        target: `sm_90`.
        layouts: the memory layouts of A, B and C.
        threads: of a block.
        operand_bytes: shared memory that A, B and C take.
        where: "memory" or "disk" where it is built, else "not built".
        bytes: of its LTO-IR; 0 where it is not built.
    """

    product: str
    role: str
    target: str
    layouts: tuple[str, str, str]
    threads: int
    operand_bytes: int
    where: str
    bytes: int


def product_views(specialisation: Specialisation, target: str, direction: str = "forward") -> tuple[ProductView, ...]:
    """Return the products of one direction of a kernel, whatever its option `matmul` says.

    Raises:
        NotDifferentiable: there is no such direction.
    """
    function = function_of(specialisation, direction, stack=False)
    specs = products_of(function, Options(), target) if multiplies(function) else ()
    return tuple(map(_view, specs))


def _view(spec: ProductSpec) -> ProductView:
    """Return the description of a link-time product, without building it.

    It is "not built" and of 0 bytes if the cache does not have it, or what builds products is missing.
    """
    product = None if linking.BUILDER.missing() else find_product(spec, linking.BUILDER)
    where, size = (product.where, len(product.code)) if product else ("not built", 0)
    return ProductView(spec.shown, spec.role, spec.arch, spec.layouts, spec.threads, spec.operand_bytes, where, size)
