"""A program that Workbench and Warp run by the same lines, forward and backward, and JAX by a function."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import workbench as wb
from programs import kernels

Call = Callable[[], np.ndarray]


@dataclass
class Workload:
    """What is timed: a call per system that returns its result, the exact result, and how far one may be from it."""

    name: str
    calls: dict[str, Call]
    exact: np.ndarray
    error: float
    beside: str = ""
    """The same workload without what makes this one harder; the table shows their ratio."""


@dataclass
class Program:
    """Launches over named arrays.

    Attributes:
        arrays: by name, what they hold before; `types` has the dtypes that are not NumPy's.
        launches: kernel, dimensions, and arguments: names of arrays, or numbers; "scan" is `array_scan`, "call" a
            function among `values`; of a kernel with tiles the dimensions are those of blocks.
        result: the array that is compared.
        by: arrays with a gradient, of which the first one's is compared; what `function` takes.
        constant: arrays without a gradient; `function` has them from outside.
        cleared: arrays that are set to a number before each run.
        function: the same for JAX.
        exact, gradient: what should come out, and the gradient by the first of `by`; if they are not given,
            `function`'s, in float64.
        peers: calls of other systems, which run forward only.
        error, slack: how far result and gradient may be from that.
        warp: whether Warp runs it; "forward" if not its gradient.
        only: "gradient" or "forward" if the other is not a row.
        values: arguments by name that are no arrays, for each library.
    """

    name: str
    arrays: dict[str, np.ndarray]
    launches: Sequence[tuple[str, Any, Sequence[Any]]]
    result: str
    by: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    cleared: dict[str, float] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    function: Callable[..., Any] | None = None
    exact: np.ndarray | None = None
    gradient: np.ndarray | None = None
    seed: np.ndarray | None = None
    peers: dict[str, Callable[[], Any]] = field(default_factory=dict)
    error: float = 1e-5
    slack: float = 1e-4
    warp: bool | str = True
    only: str = ""
    beside: str = ""
    values: Callable[[Any, dict[str, Any]], dict[str, Any]] = lambda _, arrays: {}

    def workloads(self, wanted: Callable[[str], bool], alone: bool = False) -> list[Workload]:
        """Return the rows that are wanted by name: of its run and of its gradient.

        Args:
            wanted: says whether a name is wanted.
            alone: leave the peers out.
        """
        rows: list[Workload] = []
        slope = f"gradient: {self.name}"
        if self.only != "gradient" and wanted(self.name):
            calls = {"workbench": self.forward(wb, kernels), **({} if alone else self.peers)}
            if self.warp and not alone:
                calls["warp"] = self.forward(*warps())
            if self.function is not None and not alone:
                calls["jax"] = self.jitted(self.function, np.float32)
            exact = self.float64(self.function) if self.exact is None else self.exact
            rows.append(Workload(self.name, calls, exact, self.error, self.beside))
        if self.by and self.only != "forward" and wanted(slope):
            if self.seed is None:
                self.seed = np.random.default_rng(9).random(self.arrays[self.result].shape).astype(np.float32)
            calls = {"workbench": self.backward(wb, kernels)}
            if self.warp is True and not alone:
                calls["warp"] = self.backward(*warps())
            if self.function is not None and not alone:
                calls["jax"] = self.jitted(self.slope, np.float32, self.seed)
            exact = self.float64(self.slope, self.seed) if self.gradient is None else self.gradient
            rows.append(Workload(slope, calls, exact, self.slack))
        return rows

    def slope(self, seed: Any, *given: Any) -> Any:
        """The gradients, and the value, without which XLA would leave out what a gradient does not need; `seed` is an
        argument so that XLA does not compute beforehand what follows from a constant."""
        function = self.function
        assert function is not None

        def loss(*given: Any) -> Any:
            return jnp.sum(function(*given) * seed)

        value, slopes = jax.value_and_grad(loss, tuple(range(len(given))))(*given)
        return *slopes, value

    def held(self, lib: Any, named: ModuleType) -> dict[str, Any]:
        """The arrays of a library; `named` has the structs."""
        found: dict[str, Any] = {}
        for name, data in self.arrays.items():
            kind = self.types.get(name, "")
            how = {"dtype": getattr(named if hasattr(named, kind) else lib, kind)} if kind else {}
            wanted = data.dtype.kind == "f" and name not in self.constant
            found[name] = lib.array(data, device="cpu", requires_grad=wanted, **how)
        return {**found, **self.values(lib, found)}

    def runner(self, lib: Any, named: ModuleType, held: dict[str, Any]) -> Callable[[], None]:
        """All launches in a row."""
        steps: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        for name, dim, given in self.launches:
            args = [held[a] if isinstance(a, str) else a for a in given]
            if name == "scan":
                steps.append((lib.utils.array_scan, (*args, True), {}))
            elif name == "call":
                steps.append((args[0], (), {}))
            elif name == "product":
                how = {"block_dim": 64, "device": "cpu"}
                steps.append(
                    (lib.launch_tiled, (named.product,), {"dim": dim, "inputs": args[:2], "outputs": args[2:], **how})
                )
            else:
                steps.append((lib.launch, (getattr(named, name), dim, args), {"device": "cpu"}))

        def run() -> None:
            for call, args, how in steps:
                call(*args, **how)

        return run

    def forward(self, lib: Any, named: ModuleType) -> Call:
        """A run."""
        held = self.held(lib, named)
        run = self.runner(lib, named, held)

        def call() -> np.ndarray:
            for name, value in self.cleared.items():
                held[name].fill_(value)
            run()
            return held[self.result].numpy()

        return call

    def backward(self, lib: Any, named: ModuleType) -> Call:
        """Forward and backward with a fresh tape."""
        held = self.held(lib, named)
        run = self.runner(lib, named, held)
        seed = lib.array(self.seed, device="cpu", dtype=held[self.result].dtype)

        def call() -> np.ndarray:
            for name, value in self.cleared.items():
                held[name].fill_(value)
            for name in self.by if lib is wb else self.arrays:
                if held[name].grad is not None:
                    held[name].grad.zero_()
            # JAX's function differentiates by these arrays alone; `requires_grad` limits Warp in the same way.
            with lib.Tape(**({"only": [held[name] for name in self.by]} if lib is wb else {})) as tape:
                run()
            tape.backward(grads={held[self.result]: seed})
            return held[self.by[0]].grad.numpy()

        return call

    def jitted(self, f: Callable[..., Any], dtype: Any, *before: np.ndarray) -> Call:
        """JAX's call, of whose results the first is returned."""
        made = jax.jit(f)
        given = [jnp.asarray(a, dtype) for a in (*before, *(self.arrays[n] for n in self.by))]

        def call() -> np.ndarray:
            found = jax.block_until_ready(made(*given))
            return np.asarray(found[0] if isinstance(found, tuple) else found)

        return call

    def float64(self, f: Callable[..., Any] | None, *before: np.ndarray) -> np.ndarray:
        """What JAX's function returns in float64."""
        assert f is not None, f"{self.name} has nothing to compare with"
        with jax.enable_x64(True):
            return self.jitted(f, np.float64, *before)()


OTHERWISE = {
    "import workbench as wb": "import warp as wb",
    "grid: wb.HashGrid": "grid: wb.uint64",
    "in wb.static(range(9))": "in range(9)",
    "(i - wb.static(": "(i + n - wb.static(",
    "(j - wb.static(": "(j + m - wb.static(",
}
"""What Warp reads in another way."""

_WARPS: list[ModuleType] = []


def warps() -> tuple[ModuleType, ModuleType]:
    """Return Warp, imported at its first use, and the kernels as Warp's."""
    if not _WARPS:
        warp = importlib.import_module("warp")
        warp.config.quiet = True
        text = Path(kernels.__file__).read_text()
        for ours, theirs in OTHERWISE.items():
            text = text.replace(ours, theirs)
        path = Path(tempfile.mkdtemp()) / "warp_kernels.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = made
        spec.loader.exec_module(made)
        _WARPS.extend((warp, made))
    return _WARPS[0], _WARPS[1]
