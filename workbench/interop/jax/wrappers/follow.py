"""A wrapper follows its kernel: after the cell was edited and run again, `f = wb.jax_kernel(spring)` is the new one.

A cell's binding decides (see `api/kernels/editions.py`). What JAX compiled with the old one cannot follow: see
`native/edits.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from workbench.api.kernels.editions import newest
from workbench.api.kernels.kernel import Kernel
from workbench.errors import LaunchError, its_type

W = TypeVar("W", bound="Wrapper")


@dataclass
class Newest(Generic[W]):
    """Holds the function that makes a wrapper for another kernel, and the wrapper that it made last."""

    make: Callable[[Kernel], W] | None = None
    wrapper: W | None = None


class Wrapper(Protocol):
    """Describes a kernel as a JAX function, as far as following its kernel goes."""

    @property
    def kernel(self) -> Kernel:
        """The wrapped kernel."""
        ...

    @property
    def _newest(self) -> Newest[Any]:
        """The function that makes the wrapper of a newer kernel, and the last one from it."""
        ...


def followed(wrapped: W, make: Callable[[Kernel], W]) -> W:
    """Let `wrapped` follow edits, and return it: `make` makes the wrapper of the kernel that replaces its kernel."""
    wrapped._newest.make = make
    return wrapped


def current(wrapped: W) -> W:
    """Return the wrapper of the newest version of a wrapper's kernel; the wrapper itself if it has that.

    Raises:
        LaunchError: the kernel is out of date, or the new one does not fit the wrapper's options.
    """
    old = wrapped.kernel
    kernel = newest(old)
    if kernel is old:
        if old.stale:
            raise LaunchError(f"{old.name} is out of date: {old.stale}", advice="Fix its cell and run it again.")
        return wrapped
    wrapper = wrapped._newest.wrapper
    if wrapper is None or wrapper.kernel is not kernel:
        assert wrapped._newest.make is not None
        with naming_the_edit(wrapped):
            wrapper = wrapped._newest.wrapper = wrapped._newest.make(kernel)
    return wrapper


@contextmanager
def naming_the_edit(wrapped: Wrapper, newest: Wrapper | None = None) -> Iterator[None]:
    """Prefix the edit of the kernel to a LaunchError that is raised in a `with` block, as its cause.

    An error is passed on unchanged if `newest`, the new kernel's wrapper, is given and its annotations are the same.
    """
    try:
        yield
    except LaunchError as error:
        # The parameters are the same, so the edit did not cause the error.
        if newest is not None and newest.kernel.annotations == wrapped.kernel.annotations:
            raise
        advice = f"Wrap the new one: wb.jax_kernel({wrapped.kernel.name}, …)."
        edit = (wrapped.kernel.edition.outdated or wrapped.kernel.stale).rstrip(".")
        raise replace(error, message=f"{edit}. {error.message}", advice=advice, function="") from None


def refuse_text(kernel: object) -> None:
    """Check that an object is a kernel that can be wrapped: one in Python.

    Raises:
        LaunchError: it is no kernel, or is CUDA C++.
    """
    if not isinstance(kernel, Kernel):
        advice = "A function that launches kernels goes to wb.jax_callable."
        raise LaunchError(f"jax_kernel() takes a kernel, not {its_type(kernel)}.", advice=advice)
    if type(kernel) is Kernel:
        return
    from workbench.api.cuda_cpp.kernel import CudaKernel  # late: 20 ms, which a first call of a kernel would wait

    if isinstance(kernel, CudaKernel):
        raise LaunchError(
            f"{kernel.name} is CUDA C++, which JAX's programs cannot call.",
            function=kernel.name,
            advice="Call it outside of JAX, or write the kernel in Python.",
        )


def refuse_outdated(kernel: Kernel) -> None:
    """Check that a kernel is the newest version of its name.

    Raises:
        LaunchError: a cell has bound the kernel's name to another version.
    """
    if newest(kernel) is not kernel:
        raise LaunchError(
            f"{kernel.edition.outdated or kernel.stale}, and this is the one from before.",
            advice=f"Wrap the new one, wb.jax_kernel({kernel.name}, …), or give the old one a name of its own.",
        )


def forget_outdated(plans: dict[Any, Any], cases: dict[Any, Any]) -> None:
    """Drop the plans and signatures of specialisations that use a name which means something else now."""
    for key in [k for k in plans if not k[0].is_current()]:
        del plans[key]
    for key in [k for k, case in cases.items() if not case.specialisation.is_current()]:
        del cases[key]
