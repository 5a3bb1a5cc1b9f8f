"""`kernel[n](…)`: a launch written like a call, as users of Numba and of CUDA write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, cast

from workbench.errors import LaunchError
from workbench.runtime.completion import Listed


class Subscripted(Listed):
    """Represents what can be launched by brackets: `kernel[n](x, y)` runs n threads."""

    name: str
    launch_with: ClassVar[Callable[..., object]]
    """`wb.launch`, which stands above: it says so when it is imported."""
    _internal = (
        "definition edition families in_double last_launch launch_with mark_stale outdated_by plans prepare "
        "refuse_stale specialise stale used warp_meanings"
    )
    __iter__ = None
    """Brackets alone would make Python try [0], [1], … without an end, in `list(kernel)` or `x in kernel`."""

    def __getitem__(self, threads: object) -> Callable[..., None]:
        """`kernel[n](x, y)` runs n threads: the same as `wb.launch(kernel, n, [x, y])`.

        Args:
            threads: how many.

        Returns:
            What takes the kernel's arguments and launches it.

        Raises:
            LaunchError: what stands in the brackets is no number of threads; a pair means blocks and threads elsewhere.
        """
        if isinstance(threads, tuple):
            given = cast("tuple[object, ...]", threads)
            inner = ", ".join(map(str, given))
            raise LaunchError(
                f"{self.name}[{inner}] takes one number, that of all threads; blocks are made of them by the device.",
                advice=f"Write {self.name}[n](…), or for {len(given)} dimensions "
                f"wb.launch({self.name}, ({inner}), […]).",
            )

        # A function, whose repr does not show the kernel: a kernel called `array` may stand in its own annotations.
        def launched(*arguments: object) -> None:
            type(self).launch_with(self, threads, arguments)

        return launched
