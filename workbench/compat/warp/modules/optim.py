"""`warp.optim`: SGD and Adam with Warp's order of arguments."""

from __future__ import annotations

from typing import Any

import workbench as wb


class _Resets:
    """The attributes of both optimisers in Warp beside `step`."""

    def set_params(self, params: Any) -> None:
        """Take other parameters, with states of 0."""
        self.__init__(params, *self.options)  # type: ignore[misc]

    def reset_internal_state(self) -> None:
        """Set the states to 0."""
        self.set_params(self.params)  # type: ignore[attr-defined]


class SGD(_Resets, wb.optim.SGD):
    """Gradient descent: `SGD(params, lr, momentum, dampening, weight_decay, nesterov)`."""

    def __init__(
        self, params: Any = None, lr: float = 0.001, momentum: float = 0.0, dampening: float = 0.0,
        weight_decay: float = 0.0, nesterov: bool = False,
    ) -> None:  # fmt: skip
        """An optimiser; `dampening` other than 0 is refused."""
        if dampening:
            raise wb.LaunchError("SGD has no dampening here.", advice="Leave it at 0.")
        self.options = (lr, momentum, dampening, weight_decay, nesterov)
        super().__init__(params, lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov)


class Adam(_Resets, wb.optim.Adam):
    """Adam: `Adam(params, lr, betas, eps)`."""

    def __init__(
        self, params: Any = None, lr: float = 0.001, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
    ) -> None:
        """An optimiser of these parameters."""
        self.options = (lr, betas, eps)
        super().__init__(params, lr, betas=betas, eps=eps)


__path__: list[str] = []  # a package: `warp.optim.linear` is the wheel's
