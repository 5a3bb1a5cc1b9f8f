"""`warp.autograd`: gradcheck and Jacobians of launches, by `workbench.gradcheck` and launches of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import workbench as wb
from workbench.api.tapes.launch_step import LaunchStep
from workbench.compat.warp.ignored import hints


def gradcheck(
    function: Any, dim: Any = None, inputs: Sequence[Any] | None = None, outputs: Sequence[Any] | None = None, *,
    raise_exception: bool = True, show_summary: bool = False, **options: Any,
) -> bool:  # fmt: skip
    """Return whether the adjoint of a kernel agrees with difference quotients, which are taken in float64.

    Raises:
        ValueError: it does not, and `raise_exception` is true.
    """
    hints("wp.autograd.gradcheck", {n: v for n, v in options.items() if n not in ("eps", "atol", "rtol")})
    if not isinstance(function, wb.Kernel):
        raise wb.LaunchError("gradcheck() takes a kernel here.", advice="Check each launch, or use wb.jacobian.")
    verdict = wb.gradcheck(function, dim, list(inputs or ()), list(outputs or ()))
    if show_summary:
        print(verdict)
    if raise_exception and not verdict:
        raise ValueError(f"gradient check failed: {verdict}")
    return bool(verdict)


def gradcheck_tape(tape: Any, *, raise_exception: bool = True, show_summary: bool = False, **options: Any) -> bool:
    """Return whether the adjoints of all launches of a tape agree with difference quotients."""
    launches = [s for s in tape.steps if isinstance(s, LaunchStep)]
    return all(
        gradcheck(s.record.kernel, s.record.dim, s.record.values, raise_exception=raise_exception, **options)
        for s in launches
    )


def jacobian_plot(*args: Any, **options: Any) -> None:
    """Refused: Workbench draws no Jacobians.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("jacobian_plot() is not in Workbench: draw jacobian(…) with a plotting library")


def jacobian(
    function: Any, dim: Any = None, inputs: Sequence[Any] | None = None, outputs: Sequence[Any] | None = None,
    input_output_mask: Any = None, **options: Any,
) -> dict[tuple[int, int], wb.array]:  # fmt: skip
    """The derivatives of each output by each input, by adjoints: `(input, output)` to an array of rows.

    Returns:
        Arrays of shape (components of the output, components of the input).
    """
    return _jacobians(_by_adjoint, function, dim, inputs, outputs, input_output_mask, options)


def jacobian_fd(
    function: Any, dim: Any = None, inputs: Sequence[Any] | None = None, outputs: Sequence[Any] | None = None,
    input_output_mask: Any = None, eps: float = 1e-4, **options: Any,
) -> dict[tuple[int, int], wb.array]:  # fmt: skip
    """The same by central differences of step `eps`."""
    return _jacobians(_by_difference, function, dim, inputs, outputs, input_output_mask, {"eps": eps, **options})


def _jacobians(
    by: Any, function: Any, dim: Any, inputs: Any, outputs: Any, mask: Any, options: dict[str, Any]
) -> dict[tuple[int, int], wb.array]:
    def run() -> list[Any]:
        if isinstance(function, wb.Kernel):
            wb.launch(function, dim, inputs, outs)
            return outs
        result = function(*inputs)
        return list(result) if isinstance(result, (tuple, list)) else [result]

    inputs, outs = list(inputs or ()), list(outputs or ())
    names = list(function.parameters) if isinstance(function, wb.Kernel) else []
    wanted = {(_place(names, i), _place(names, o)) for i, o in mask} if mask else None
    offset = len(inputs)
    found = {}
    results = run()
    for i, x in enumerate(inputs):
        for o, y in enumerate(results):
            asked = wanted is None or (i, o + offset) in wanted or (i, o) in wanted
            if asked and all(isinstance(a, wb.array) and a.requires_grad for a in (x, y)):
                found[i, o] = by(run, x, o, y, options)
    return found


def _place(names: list[str], what: Any) -> int:
    return names.index(what) if isinstance(what, str) else int(what)


def _by_adjoint(run: Any, x: wb.array, o: int, y: wb.array, options: dict[str, Any]) -> wb.array:
    rows = np.zeros((y.numpy().size, x.numpy().size), x.numpy().dtype)
    for k in range(len(rows)):
        with wb.Tape() as tape:
            target = run()[o]
        seed = np.zeros_like(target.numpy())
        seed.reshape(-1)[k] = 1
        x.grad.zero_()
        tape.backward(grads={target: wb.array(seed, target.dtype)})
        rows[k] = x.grad.numpy().reshape(-1)
        tape.zero()
    return wb.array(rows)


def _by_difference(run: Any, x: wb.array, o: int, y: wb.array, options: dict[str, Any]) -> wb.array:
    eps = options["eps"]
    before = np.array(x.numpy())
    columns = []
    for k in range(before.size):
        values = []
        for sign in (1, -1):
            moved = before.copy()
            moved.reshape(-1)[k] += sign * eps
            x.assign(wb.array(moved, x.dtype))
            values.append(np.array(run()[o].numpy(), np.float64).reshape(-1))
        columns.append((values[0] - values[1]) / (2 * eps))
    x.assign(wb.array(before, x.dtype))
    run()
    return wb.array(np.array(columns).T.astype(before.dtype))
