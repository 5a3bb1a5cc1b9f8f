"""The offsets of regions of shared memory: regions that are never needed at once share bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.backends.cuda.tiles.placement.uses import Region
from workbench.errors import BuildError

STATIC_SHARED = 48 * 1024
"""Bytes of shared memory that a kernel may declare; for more, the launch has to request dynamic memory."""

# KiB that a block can ask for, by compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
_LIMITS = {
    75: 64,
    80: 163,
    86: 99,
    87: 163,
    88: 99,
    89: 99,
    90: 227,
    100: 227,
    101: 227,
    103: 227,
    110: 227,
    120: 99,
    121: 99,
}


def shared_limit(target: str) -> int:
    """Return the most bytes of shared memory that a block can have; 48 KiB if `target` is not known."""
    return _LIMITS.get(capability(target), 48) * 1024


def capability(target: str) -> int:
    """Return the number in a target: 90 for `sm_90` and `sm_90a`; 0 if it has none."""
    return int("".join(c for c in target.partition("_")[2] if c.isdigit()) or 0)


def blocks_at_once(shared: int, target: str) -> int:
    """Return the number of blocks with `shared` bytes of shared memory that fit on a multiprocessor of `target`.

    From sm_80 on it has 1 KiB more than a block can have, and takes 1 KiB for each block.
    """
    reserved = 1024 if capability(target) >= 80 else 0
    return (shared_limit(target) + reserved) // max(shared + reserved, 1)


def arrange(together: Iterable[Sequence[Region]]) -> int:
    """Give every region its offset; return the bytes that all of them take.

    Args:
        together: for each point of the program, the regions that are needed there, which must not overlap.
    """
    near: dict[Region, set[Region]] = {}
    for regions in together:
        for region in regions:
            near.setdefault(region, set()).update(regions)
    order = list(near)
    done: list[Region] = []
    # First fit, largest first: small regions then fill the gaps. Ties by order, so that the text is the same each time.
    for region in sorted(order, key=lambda r: (-r.size, order.index(r))):
        taken = sorted((r.offset, r.offset + r.size) for r in done if r in near[region])
        region.offset = 0
        for start, end in taken:
            if region.offset + region.size <= start:
                break
            region.offset = max(region.offset, end)
        done.append(region)
    return max((r.offset + r.size for r in done), default=0)


def check_shared(used: int, regions: Sequence[Region], target: str, kernel: str) -> None:
    """Check that a block's shared memory does not exceed the target's limit.

    Args:
        used: bytes of shared memory of a block.
        regions: its parts, of which the error names the largest.
        target: the architecture.
        kernel: the kernel's name.

    Raises:
        BuildError: it exceeds the limit.
    """
    limit = shared_limit(target)
    if used <= limit:
        return
    largest = sorted(regions, key=lambda r: -r.size)[:3]
    sizes = "; ".join(f"{r.label}: {r.size:,}" for r in largest)
    raise BuildError(
        f"{kernel} needs {used:,} bytes of shared memory in a block, {target} has {limit:,}. The largest: {sizes}.",
        advice="Make these tiles smaller, or use fewer of them at a time.",
        function=kernel,
        log="",
        text="",
    )
