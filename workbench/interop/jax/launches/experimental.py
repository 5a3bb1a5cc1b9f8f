"""JAX's experimental transforms: `checkify` follows what kernels report, and `jet` is refused with the way round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NoReturn

import numpy as np

from workbench.backends.faults import FaultRecord, raised_by, unravelled
from workbench.errors import NotDifferentiable
from workbench.interop.jax.launches.plan import FAULT_WORDS, LaunchConfig, Plan, traced_launch
from workbench.interop.jax.native.faults import add_batch
from workbench.interop.jax.values.library import checkify_library, jet_rules, library


def experimental_rules(primitive: Any, inner: Callable[..., Any] | None = None) -> None:
    """Give a primitive its rules of JAX's experimental transforms.

    Args:
        primitive: that of a launch, or one that stands for a jaxpr.
        inner: makes that jaxpr, of the operands' types and the primitive's parameters; None for a launch.
    """
    jet_rules()[primitive] = _refuse_jet
    if (checkify := checkify_library()) is not None:
        rule = partial(_launched, primitive) if inner is None else partial(_inside, inner)
        checkify.error_checks[primitive] = partial(rule, checkify)


def _refuse_jet(primals: Any, series: Any, **params: Any) -> NoReturn:
    """Raise NotDifferentiable: the rule of `jet` for our primitives."""
    source = params.get("plan") or params["program"]
    name = getattr(source, "kernel", "") or source.name
    raise NotDifferentiable(
        f"jax.experimental.jet has no rule for {name}.",
        advice="Nest jax.jvp for each order: f1 = lambda x: jax.jvp(f, (x,), (v,))[1], then jvp of f1.",
        function=name,
    )


# ---- checkify


def _inside(
    inner: Callable[..., Any], checkify: Any, error: Any, enabled: Any, *operands: Any, **params: Any
) -> tuple[Any, list[Any]]:
    """Apply `checkify`'s rule to a primitive that stands for a jaxpr, by the operations in it."""
    avals = tuple(library().ShapedArray(x.shape, x.dtype) for x in operands)
    return checkify.checkify_jaxpr(inner(avals, **params), enabled, error, *operands)


def _launched(
    primitive: Any, checkify: Any, error: Any, enabled: Any, *operands: Any, plan: Plan, config: LaunchConfig
) -> tuple[Any, list[Any]]:
    """Apply `checkify`'s rule to a launch: add its faults to the error, and its results' NaNs if asked for."""
    jnp, outer = library().jnp, config.records
    if reports_faults(enabled) and not config.is_symbolic:
        plan, config = plan.with_checks(), replace(config, records=True)
    results = primitive.bind(*operands, plan=plan, config=config)
    own = results[: len(plan.results)]
    if config.records and not outer:
        records = results[-1].reshape(-1, FAULT_WORDS)
        bad = records[:, 0] != 0
        first = jnp.argmax(bad)
        words = jnp.append(records[first], first.astype("int32"))
        error = with_error(error, bad.any(), _Fault(plan, config), words)
        results = own
    if checkify.NaNError in enabled:
        nans = [jnp.isnan(r).any() for r in own if jnp.issubdtype(r.dtype, jnp.floating)]
        nan_error = checkify.NaNError(checkify.get_traceback(), repr(plan))
        error = checkify.assert_func(error, jnp.array(nans).any(), nan_error) if nans else error
    return error, results


def reports_faults(enabled: Any) -> bool:
    """Return whether kernels report their faults to `checkify` when it looks for the kinds of errors `enabled`.

    User checks, out-of-bounds accesses and divisions by zero each suffice; NaNs alone do not. A launch stops to mean
    anything at its first fault, so it is reported whatever its kind.
    """
    checkify = checkify_library()
    return not enabled.isdisjoint((checkify.FailedCheckError, checkify.OOBError, checkify.DivisionByZeroError))


def with_error(error: Any, condition: Any, message: Callable[[Any], str], words: Any) -> Any:
    """Return `checkify`'s error value with one more error, if `condition` holds; `message(words)` makes its text later.

    `words` is an array of FAULT_WORDS + 1 int32.
    """
    checkify = checkify_library()
    return checkify.assert_func(error, condition, _kernel_error()(checkify.get_traceback(), message, words))


@lru_cache(maxsize=1)
def _kernel_error() -> type[Any]:
    """Return the class of errors that kernels report to `checkify`, which the first call defines."""
    checkify, struct = checkify_library(), library().jax.ShapeDtypeStruct
    # The class of effects has no public name.
    effect = type(checkify.DivisionByZeroError(None).get_effect_type())

    class KernelError(checkify.JaxException):
        """Represents an error that a kernel reported to `checkify`."""

        def __init__(self, traceback: Any, message: Callable[[Any], str], words: Any) -> None:
            super().__init__(traceback)
            self.message_of, self.words = message, words

        def tree_flatten(self) -> tuple[list[Any], tuple[Any, ...]]:
            return [self.words], (self.traceback_info, self.message_of)

        @classmethod
        def tree_unflatten(cls, metadata: Any, payload: Any) -> Any:
            return cls(*metadata, *payload)

        def get_effect_type(self) -> Any:
            return effect(KernelError, (struct((FAULT_WORDS + 1,), "int32"),))

        def __str__(self) -> str:
            return self.message_of(np.asarray(self.words))

    return KernelError


@dataclass(frozen=True)
class _Fault:
    """Makes the text of a launch's fault from int32 words: those of its record, then the number of its batch."""

    plan: Plan
    config: LaunchConfig

    def __call__(self, words: Any) -> str:
        """Return the text of the fault that `words` encode, for this launch and its batch of `jax.vmap`."""
        record, launch = FaultRecord.read(words[:-1].tobytes()), traced_launch(self.plan, self.config)
        assert record is not None and launch is not None
        arrays: Mapping[str, Any] = launch.arguments
        shapes = {name: a.shape for name, a in arrays.items() if not isinstance(a, np.generic)}
        fault = raised_by(self.plan.code.function(), record, launch.dims, shapes)
        add_batch(fault, unravelled(int(words[-1]), self.config.batch))
        return str(fault).lstrip()
