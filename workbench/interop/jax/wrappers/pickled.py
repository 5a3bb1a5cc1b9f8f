"""A wrapped kernel in a pickle: the kernel's portable IR for each set of types, with the wrapper's options.

So a tree that holds wrapped kernels can be sent to a process that does not have the kernel's source code. There it is
compiled for the machine at hand, and never follows an edit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.load_record import SavedKernel, SavedSpecialisation
from workbench.errors import LaunchError, RecordError
from workbench.frontend.state.context import Tiling
from workbench.ir.data import Unwritable, from_data, to_data
from workbench.structs import AnyType, Struct

Data = Mapping[str, Any]


class PickledKernel(SavedKernel):
    """Represents a kernel from a pickle: it can be called with the types that it had been called with there.

    Attributes:
        data: what `kernel_data` returned.
    """

    def __init__(self, data: Data) -> None:
        """Restore a kernel from what `kernel_data` returned."""
        functions = map(from_data, data["functions"])
        specialisations = [SavedSpecialisation(f, data["checkpoints"], data["fma"]) for f in functions]
        for one in specialisations:
            one.kernel = self
        super().__init__(specialisations[0].function, data["checkpoints"], data["fma"])
        self.data = data
        self.stale = ""
        self.checks, self.enable_backward = data["checks"], data["enable_backward"]
        self._structs = {}
        self._specialised_for = {s.types: s for s in specialisations}
        columns = zip(self.parameters, zip(*self._specialised_for, strict=True), strict=True)
        self._annotations = {name: types[0] if len(set(types)) == 1 else None for name, types in columns}

    def specialise(self, types: Sequence[Any] | None = None, tiling: Tiling | None = None) -> Specialisation:
        """Return the pickled specialisation for these types.

        Raises:
            LaunchError: the pickle has none for them.
        """
        specialisation = self._specialised_for.get(tuple(types or ()))
        if specialisation is None:
            raise self._missing(types or ())
        return specialisation

    def completed(self, known_types: Mapping[str, AnyType], missing: Collection[str]) -> dict[str, Any]:
        """Return the types of the parameters `missing`, from those that are known.

        Raises:
            LaunchError: the pickle has no specialisation with the known types.
        """
        for types in self._specialised_for:
            known = dict(zip(self.parameters, types, strict=True))
            if all(known[n] == t for n, t in known_types.items()):
                return {n: known[n] for n in missing}
        raise self._missing(tuple(known_types.values()))

    def _missing(self, types: Sequence[Any]) -> LaunchError:
        """Return the error for types that the pickle has no code for."""
        return LaunchError(
            f"{self.name} was pickled without its code for {', '.join(map(repr, types))}.",
            advice="Call it with such arguments before it is pickled.",
            function=self.name,
        )


def kernel_data(kernel: Kernel, called: Collection[Specialisation]) -> Data:
    """Return a kernel as plain values, for `PickledKernel`.

    Args:
        kernel: the kernel.
        called: the specialisations that calls needed so far; one with annotations needs no call.

    Raises:
        RecordError: it takes structs, uses tiles, was never called and has parameters without types, or its IR has no
            form as data.
    """
    if isinstance(kernel, PickledKernel):
        return kernel.data
    if any(isinstance(t, Struct) for t in kernel.annotations.values()):
        raise _unpicklable(kernel, "takes structs", "pass the fields as parameters of their own")
    chosen = {} if kernel.is_generic else dict.fromkeys([kernel.specialise()])
    chosen |= dict.fromkeys(called)
    if not chosen:
        raise _unpicklable(kernel, "has parameters without types", "call it once before, or annotate them")
    if any(s.tiling is not None for s in chosen):
        raise _unpicklable(kernel, "uses tiles", "send the program that calls it, with wb.jax_export and wb.jax_pack")
    try:
        functions = [to_data(s.function) for s in chosen]
    except Unwritable as error:
        raise _unpicklable(kernel, f"has no form as data: {error}", "send what it computes") from None
    return {
        "functions": functions,
        "checkpoints": kernel.checkpoints,
        "fma": kernel.fma,
        "checks": kernel.checks,
        "enable_backward": kernel.enable_backward,
    }


def _unpicklable(kernel: Kernel, why: str, instead: str) -> RecordError:
    """Return the error for a kernel that cannot be pickled; `why` and `instead` end its two sentences."""
    advice = f"{instead[0].upper()}{instead[1:]}."
    return RecordError(f"{kernel.name} cannot be pickled: it {why}.", advice=advice, function=kernel.name)
