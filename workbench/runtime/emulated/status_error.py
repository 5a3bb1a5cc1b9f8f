"""The errors of the emulated driver's functions: CUDA's status, and a sentence that a real driver does not have."""

from __future__ import annotations

from typing import NoReturn

STICKY = frozenset(
    (
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_ASSERT",
    )
)
"""Statuses that break a device: after one of them every call on the device gives it again."""


class CudaStatusError(Exception):
    """The error of a driver call that fails with a CUDA status.

    Attributes:
        status: the name of CUDA's status.
        why: one sentence without its stop: what was wrong.
    """

    def __init__(self, status: str, why: str) -> None:
        super().__init__(f"{status}: {why}")
        self.status = status
        self.why = why


def invalid(why: str) -> NoReturn:
    """Raise the error of a wrong argument.

    Raises:
        CudaStatusError: always.
    """
    raise CudaStatusError("CUDA_ERROR_INVALID_VALUE", why)


def expect(holds: object, why: str, status: str = "CUDA_ERROR_INVALID_VALUE") -> None:
    """Raise an error unless the condition holds.

    Raises:
        CudaStatusError: it does not.
    """
    if not holds:
        raise CudaStatusError(status, why)
