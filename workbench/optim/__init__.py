"""Optimisers: gradient steps on arrays, schedules of the learning rate, and a loop that draws the loss.

>>> optimizer = wb.optim.Adam([weights, bias], lr=0.01)
>>> for step in wb.optim.progress(200):
...     with wb.Tape() as tape:
...         loss = wb.map(error, model(weights, bias), target).mean()
...     tape.backward(loss)
...     optimizer.step()
...     optimizer.zero_grad()
...     step.report(loss)
"""

from workbench.optim.lbfgs import LBFGS
from workbench.optim.optimizer import Optimizer
from workbench.optim.progress import Progress, Step, progress
from workbench.optim.steppers import SGD, Adam, cosine, exponential, warmup

__all__ = ["LBFGS", "SGD", "Adam", "Optimizer", "Progress", "Step", "cosine", "exponential", "progress", "warmup"]


def __dir__() -> list[str]:
    """Return the public names alone."""
    return __all__
