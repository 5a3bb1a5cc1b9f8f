"""Link-time products in the store: each under what it is, so that kernels and processes share it.

A product is an entry like an artifact: read with checks, written whole, locked while it is built, counted by the limit,
exported and imported. Its key is its content and the versions of what made it; no kernel's name is in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from workbench.backends.cuda.products.spec import Product, ProductSpec
from workbench.backends.cuda.products.workers import CUBLASDX, TIME_LIMIT, Builder, build
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import Store, default_store


def product_key(spec: ProductSpec, builder: Builder = CUBLASDX) -> Key:
    """Return the key of a product: its specification, target, and the builder with its version.

    Raises:
        DeviceError: the builder is not installed, so its version is unknown.
    """
    version = builder.version(spec.arch)
    return Key(
        (
            Part("product", "code", spec.identity.encode(), spec.shown),
            Part("target", "target", spec.arch.encode(), spec.arch),
            Part("builder", "compiler", builder.name.encode(), builder.name),
            Part("builder version", "compiler", version.encode(), version),
        )
    )


def find_product(spec: ProductSpec, builder: Builder = CUBLASDX) -> Product | None:
    """Return the product from the store; None if it was not built yet.

    Raises:
        DeviceError: the builder is not installed, so its version is unknown.
    """
    return _stored(default_store(), spec, product_key(spec, builder).digest)


def products(
    specs: Iterable[ProductSpec],
    builder: Builder = CUBLASDX,
    *,
    time_limit: float = TIME_LIMIT,
) -> tuple[Product, ...]:
    """Return the products of `specs`, in their order: from the store; missing ones are built at once, in parallel.

    One that is ready is stored even if a later one fails; none is stored in part. If another thread or process is
    building a product, this waits for it.

    Raises:
        BuildError: one was refused, crashed or took too long.
        DeviceError: the builder is not installed.
    """
    store = default_store()
    wanted = list(specs)
    digests = {spec: product_key(spec, builder).digest for spec in wanted}
    built = {spec: product for spec, digest in digests.items() if (product := _stored(store, spec, digest))}
    missing = sorted((s for s in digests if s not in built), key=digests.__getitem__)
    if missing:
        with ExitStack() as locks:
            for spec in missing:  # in one order everywhere, so that two builders never wait for each other
                locks.enter_context(store.lock(digests[spec], time_limit))
            built |= {s: product for s in missing if (product := _stored(store, s, digests[s], recheck=True))}

            def keep(product: Product) -> None:
                spec = product.spec
                store.put(digests[spec], Entry(product.code, _metadata(product, builder)))
                built[spec] = Product(spec, product.code, product.metadata, digests[spec])

            left = [s for s in missing if s not in built]
            build(left, builder, done=keep, time_limit=time_limit)
    return tuple(built[spec] for spec in wanted)


def _stored(store: Store, spec: ProductSpec, digest: str, recheck: bool = False) -> Product | None:
    """Return the product that the store has under `digest`, or None; with `recheck`, a miss is not counted again."""
    entry = store.get(digest, recheck=recheck)
    if entry is None:
        return None
    return Product(spec, entry.image, dict(entry.metadata["facts"]), digest, entry.where)


def _metadata(product: Product, builder: Builder) -> dict[str, object]:
    """Return the metadata of the entry under which a product is stored."""
    return {
        "name": f"product {product.spec.shown}",
        "entry": product.spec.symbol,
        "backend": builder.name,
        "target": product.spec.arch,
        "stages": {"product": product.metadata["waited"]},
        "facts": product.metadata,
    }
