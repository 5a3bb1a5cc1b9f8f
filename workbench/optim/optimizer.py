"""The base of all optimisers: parameters, checked once, and files with their state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, cast

import numpy as np

from workbench.api.launches.map import map
from workbench.builtins.vectors.complex_numbers import conj
from workbench.errors import LaunchError, must_be
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.views import flat_as
from workbench.structs import Struct
from workbench.types import Complex, element, is_float


class Optimizer:
    """The base of `SGD`, `Adam` and `LBFGS`.

    Attributes:
        params: the arrays that `step` changes.
        flat: views of their numbers in one dimension; complex ones as real and imaginary parts.
        steps: how many steps were taken.
    """

    def __init__(self, params: Sequence[array] | array) -> None:
        """Check the parameters, and begin at step 0.

        Raises:
            LaunchError: there is no parameter, or one is not a dense array of floats or of vectors of floats.
        """
        must_be(params, (array, Iterable), "An optimiser takes arrays", advice="Write [x, y].")
        self.params: list[array] = [params] if isinstance(params, array) else list(params)
        for k, x in enumerate(self.params):
            _refuse(k, x)
        if not self.params:
            raise LaunchError("An optimiser takes at least one array; the list is empty.", parameter="params")
        self.flat = [flat(x) for x in self.params]
        self.steps = 0

    def zero_grad(self) -> None:
        """Set the gradients of all parameters to 0."""
        for x in self.params:
            if x.grad is not None:
                x.grad.fill_(0)

    def gradients(self, grads: Sequence[array] | array | None) -> list[array]:
        """Return a flat gradient per parameter: those passed, or each parameter's own; complex ones are conjugated.

        Raises:
            LaunchError: one is missing or does not fit.
        """
        if grads is None:
            gradients: list[Any] = [x.grad for x in self.params]
        else:
            must_be(grads, (array, Iterable), "step() takes a gradient for each parameter", advice="Write [dx, dy].")
            gradients = [grads] if isinstance(grads, array) else list(grads)
        if len(gradients) != len(self.params):
            raise LaunchError(
                f"step() takes a gradient for each parameter: {len(self.params)}, not {len(gradients)}.",
                parameter="grads",
            )
        for k, (x, g) in enumerate(zip(self.params, gradients, strict=True)):
            if g is None:
                raise LaunchError(
                    f"Parameter {k} has no gradient.",
                    parameter="grads",
                    advice="Make it with requires_grad=True and call tape.backward(loss), or pass step(grads).",
                )
            if not isinstance(g, array) or (g.shape, g.dtype, g.device) != (x.shape, x.dtype, x.device):
                shown = f"{g.dtype!r} of shape {g.shape} on {g.device.name}" if isinstance(g, array) else repr(g)
                raise LaunchError(
                    f"The gradient of parameter {k} must be {x.dtype!r} of shape {x.shape} on {x.device.name}, "
                    f"not {shown}.",
                    parameter="grads",
                )
        # The loss falls along the conjugate of a complex gradient.
        return [flat(cast("array", map(conj, g)) if isinstance(g.dtype, Complex) else g) for g in gradients]

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return everything that the next step depends on besides parameters and options, as NumPy arrays by name."""
        return {"steps": np.array(self.steps)}

    def restore(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Continue from a state that `state` returned; its names and shapes are not checked."""
        self.steps = int(state["steps"])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the parameters and the state of the optimiser to a file of NumPy's format `.npz`.

            optimizer.save("run.npz")

        Args:
            path: the file; an existing one is replaced.

        Raises:
            OSError: it cannot be written.
        """
        params = {f"param{k}": np.array(x.numpy()) for k, x in enumerate(self.params)}
        with open(path, "wb") as file:
            arrays: dict[str, Any] = {"kind": np.array(type(self).__name__)} | self.state() | params
            np.savez(file, **arrays)

    def load(self, path: str | PathLike[str]) -> None:
        """Read what `save` wrote, parameters and state: the next step is the one that would have followed.

            optimizer.load("run.npz")

        Args:
            path: the file.

        Raises:
            LaunchError: it is of another optimiser or of other parameters; nothing has changed then.
            OSError: it cannot be read.
        """
        with np.load(path, allow_pickle=False) as file:
            saved = {name: file[name] for name in file.files}
        wrong = self._misfit(saved)
        if wrong:
            raise LaunchError(f"{path} does not fit this {type(self).__name__}: {wrong}.", parameter="path")
        for k, x in enumerate(self.params):
            x[...] = saved[f"param{k}"]
        self.restore(saved)

    def _misfit(self, saved: Mapping[str, np.ndarray[Any, Any]]) -> str:
        """Return why a saved state does not fit this optimiser, as a clause; empty if it fits."""
        kind = str(saved.get("kind", "no optimiser"))
        if kind != type(self).__name__:
            return f"it has the state of {kind}"
        needed = self.state() | {f"param{k}": x.numpy() for k, x in enumerate(self.params)}
        for name, value in needed.items():
            other = saved.get(name)
            if other is None or other.dtype != value.dtype or not self.fits(name, other.shape, value.shape):
                shown = "nothing" if other is None else f"{other.dtype} of shape {other.shape}"
                return f"{name} is {shown} there and {value.dtype} of shape {value.shape} here"
        return "" if len(saved) == len(needed) + 1 else "it has other parameters"

    def fits(self, name: str, saved: tuple[int, ...], expected: tuple[int, ...]) -> bool:
        """Return whether a saved array `name` has an acceptable shape: `expected`, unless a subclass allows others."""
        return saved == expected


def flat(x: array) -> array:
    """Return the numbers of a dense array in one dimension, as a view; complex ones as real and imaginary parts."""
    kind = element(x.dtype)  # type: ignore[arg-type]  # no struct
    return flat_as(x, kind) if isinstance(x.dtype, Complex) else (x if kind == x.dtype else x.view(kind)).flatten()


def _refuse(k: int, x: Any) -> None:
    """Raise a LaunchError if parameter number `k` is not a dense array of floats or of vectors of floats."""
    if not isinstance(x, array):
        raise LaunchError(f"Parameter {k} is {x!r}; an optimiser takes arrays.", parameter="params")
    if isinstance(x.dtype, Struct) or not is_float(x.dtype):
        raise LaunchError(
            f"Parameter {k} is an array of {x.dtype!r}; an optimiser takes arrays of floats or of vectors of floats.",
            parameter="params",
            advice="Keep what is to be learnt in arrays of its own." if isinstance(x.dtype, Struct) else "",
        )
    if not x.is_contiguous:
        raise LaunchError(
            f"The elements of parameter {k} do not lie side by side.",
            parameter="params",
            advice="Take the whole array, or a copy: wb.clone(x, requires_grad=True).",
        )
