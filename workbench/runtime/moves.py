"""Fills, copies and sums of arrays, carried out at once; `array` tells the observers first and counts the change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import LaunchError
from workbench.runtime.driver import driver
from workbench.runtime.hostform import item, summed
from workbench.runtime.observers import timed

if TYPE_CHECKING:
    from workbench.runtime.array import array


@timed
def fill(target: array, value: float) -> None:
    """Set every element (every component)."""
    if not target.device.is_cuda:
        target.host()[...] = value
        return
    if not target.is_contiguous:
        raise LaunchError("A strided view of a CUDA array cannot be filled yet.", advice="Fill the whole array.")
    host = np.full((*target.shape, *target.dtype.shape), value, item(target.dtype))
    _driver().copy_to_device(target.address, host)


@timed
def copy(target: array, source: array) -> None:
    """Copy, across devices too."""
    if not target.device.is_cuda:
        target.host()[...] = source.host()
    elif not target.is_contiguous:
        raise LaunchError("A strided view of a CUDA array cannot be written yet.", advice="Copy the whole array.")
    elif source.device.is_cuda and source.is_contiguous:
        _driver().copy(target.address, source.address, target.nbytes)
    else:
        _driver().copy_to_device(target.address, np.ascontiguousarray(source.host()))


@timed
def add(target: array, source: array) -> None:
    """Add the elements of `source`."""
    if target.device.is_cuda:
        _driver().copy_to_device(target.address, summed(target.host(), source.host(), target.dtype))
    else:
        target.host()[...] = summed(target.host(), source.host(), target.dtype)


def _driver() -> Any:
    found = driver()
    assert found is not None
    return found
