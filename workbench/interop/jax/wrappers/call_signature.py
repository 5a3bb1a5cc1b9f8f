"""The signature of a call of a kernel as a JAX function: what the types and shapes of the call decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from workbench.api.kernels.kernel import Specialisation
from workbench.interop.jax.launches.eager import whole
from workbench.interop.jax.launches.launch_config import LaunchConfig
from workbench.interop.jax.launches.plan import Plan
from workbench.interop.jax.launches.primitives import launch
from workbench.interop.jax.values.out_of_range import Reach
from workbench.interop.jax.wrappers.sharding import check_declared
from workbench.types import ArrayType, Type


class Options(Protocol):
    """The options of a wrapper that hold for all its calls."""

    @property
    def has_side_effect(self) -> bool:
        """Return whether XLA keeps a call that it would merge or drop."""
        ...

    @property
    def vmap_method(self) -> str:
        """The way in which batches run."""
        ...

    @property
    def linear(self) -> tuple[str, ...]:
        """Names of inputs in which the user says that it is linear."""
        ...

    @property
    def sharding(self) -> str | None:
        """The sharding rule that it declares."""
        ...


@dataclass(frozen=True, eq=False)
class CallSignature:
    """A signature of a `JaxKernel`.

    Attributes:
        specialisation: the kernel for these types, with its prints.
        plan: its launch.
        types: of the inputs.
        dims: of the launch.
        shapes: of the results, with one axis for the components of vectors and matrices.
        outputs: types of the results.
        reach: which elements it reaches, but for static numbers.
        prints: whether the kernel prints, which its launch leaves out.
    """

    specialisation: Specialisation
    plan: Plan
    types: tuple[Type, ...]
    dims: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    outputs: tuple[ArrayType, ...]
    reach: Reach
    prints: bool = False
    _configs: dict[tuple[int, ...], LaunchConfig] = field(default_factory=dict, init=False)
    _programs: dict[tuple[int, ...], Any] = field(default_factory=dict, init=False)

    def config(
        self, operands: list[Any], statics: tuple[int, ...], numbers: Mapping[str, Any], like: Options, block: int
    ) -> LaunchConfig:
        """Return what is static about a call of `like` with these values; its operands have this signature's shapes.

        Raises:
            LaunchError: it must reach outside of an array, or cannot be divided as `like` declares.
        """
        # Batches are not part of it: JAX's batching rule makes another configuration of this one.
        key = (block, *statics)
        config = self._configs.get(key)
        if config is None:
            shapes = tuple(tuple(x.shape) for x in operands)
            effect, method = like.has_side_effect, like.vmap_method
            reach = replace(self.reach, numbers=numbers)
            config = LaunchConfig(
                self.dims, shapes, self.shapes, (), statics, effect, method, block=block, within=reach.check(),
                linear=like.linear,
            )  # fmt: skip
            if like.sharding is not None:
                check_declared(like.sharding, self.plan, config)
            self._configs[key] = config
        return config

    def program(self, config: LaunchConfig) -> Any:
        """Return the launch as its own program: for calls that nothing traces."""
        key = (config.block, *config.values)
        program = self._programs.get(key)
        if program is None:
            checked = (lambda: True) if self.plan.checked else None
            program = whole(lambda *inputs: launch(self.plan, inputs, config), self.plan.kernel, checked)
            self._programs[key] = program
        return program
