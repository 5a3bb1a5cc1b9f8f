"""Algorithms on whole arrays: scans, sorts, run lengths and histograms, written in the kernel language.

The names are Warp's where it has them. Sums and dot products are methods of arrays: `x.sum()`, `x.dot(y)`.
"""

from workbench.utils.counts import histogram, runlength_encode
from workbench.utils.scan import array_scan
from workbench.utils.sort import radix_sort, radix_sort_pairs, segmented_sort_pairs

__all__ = ["array_scan", "histogram", "radix_sort", "radix_sort_pairs", "runlength_encode", "segmented_sort_pairs"]


def __dir__() -> list[str]:
    """Return the public names alone."""
    return __all__
