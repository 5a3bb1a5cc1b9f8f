"""Kernels: a definition, and what it became for the argument types it was used with."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, NoReturn, cast, overload

import numpy as np
from msgspec.structs import replace

from workbench.api.kernels.countable import Countable, InDouble
from workbench.api.kernels.editions import Edition, follow_reloads, note_stale
from workbench.api.kernels.pickled import reduced
from workbench.api.kernels.source_text import definition_of
from workbench.api.kernels.watched import name_bindings, same_value
from workbench.api.lowerings.lowering import OfFunction, lowering
from workbench.api.renamed import renamed
from workbench.autodiff import CHECKPOINT_RANGE
from workbench.config import MATMULS, settings
from workbench.errors import KernelTypeError, LaunchError, must_be
from workbench.forks import fork_safe_lock
from workbench.frontend.names.annotate import Generic, parameter_types
from workbench.frontend.names.lost_values import lost_value
from workbench.frontend.names.python_names import meaning, reread, structs_named, uniforms_read
from workbench.frontend.state.context import NeedsBlocks, Tiling
from workbench.frontend.state.definition import Definition, Dependency, is_literal
from workbench.frontend.statements.lower import check_signature
from workbench.host.uniform import IN_USE
from workbench.limits import CHECKPOINTS
from workbench.runtime.device.call_site import warn
from workbench.runtime.device.device import Device
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.record import LaunchOptions, LaunchRecord
from workbench.runtime.names import Listed
from workbench.structs import Absent, AnyType, IndexedArray
from workbench.tiles import Tile
from workbench.types import ArrayType
from workbench.work import Work


class Subscripted(Listed):
    """Represents what can be launched by brackets: `kernel[n](x, y)` runs n threads."""

    name: str
    launch_with: ClassVar[Callable[..., object]]
    """`wb.launch`; its module sets this when it is imported, as this module cannot import that one."""
    _internal = (
        "definition edition families in_double last_launch launch_with mark_stale outdated_by plans prepare "
        "refuse_stale specialise stale used warp_meanings"
    )
    __iter__ = None
    """Brackets alone would make Python try [0], [1], … without an end, in `list(kernel)` or `x in kernel`."""

    def __getitem__(self, threads: object) -> Callable[..., None]:
        """Return a function that launches n threads: `kernel[n](x, y)` is `wb.launch(kernel, n, [x, y])`.

        Args:
            threads: how many.

        Returns:
            A function that takes the kernel's arguments and launches it.

        Raises:
            LaunchError: a tuple stands in the brackets; elsewhere a pair means blocks and threads.
        """
        if isinstance(threads, tuple):
            sizes = cast("tuple[object, ...]", threads)
            inner = ", ".join(map(str, sizes))
            raise LaunchError(
                f"{self.name}[{inner}] takes one number, that of all threads; blocks are made of them by the device.",
                advice=f"Write {self.name}[n](…), or for {len(sizes)} dimensions "
                f"wb.launch({self.name}, ({inner}), […]).",
            )

        # A function, whose repr does not show the kernel: a kernel called `array` may stand in its own annotations.
        def launched(*arguments: object) -> None:
            type(self).launch_with(self, threads, arguments)

        return launched


def checked_option(name: str, value: Any, fits: bool, definition: Definition, advice: str) -> Any:
    """Return the value of an option of a kernel if it fits.

    Raises:
        KernelTypeError: it does not; the advice says what does.
    """
    if fits:
        return value
    message = f"{definition.name} requests {name}={value!r}."
    raise KernelTypeError(message, definition.locate(definition.node), advice, definition.name)


def refuse_tiles(definition: Definition, annotations: Mapping[str, AnyType | None]) -> None:
    """Refuse parameters of a kernel that are tiles: those belong to a block, and funcs take them.

    Raises:
        KernelTypeError: a parameter is annotated as a tile; at its place.
    """
    for argument in definition.parameters:
        if isinstance(annotations[argument.arg], Tile):
            what = f"{argument.arg} of {definition.name} is {annotations[argument.arg]!r}; a kernel takes arrays."
            location = definition.locate(argument)
            raise KernelTypeError(what, location, "Take an array, and load it: tile_load(x, shape=…).", definition.name)


def checked_defaults(definition: Definition) -> dict[str, object]:
    """Return the defaults of parameters, by name: numbers, and None for an array.

    A literal of another kind, such as a string, passes here, and is refused by the launch.

    Raises:
        KernelTypeError: one is neither; at its place.
    """
    checked = {name: definition.default(name) for name in definition.default_nodes}
    for name, node in definition.default_nodes.items():
        value = checked[name]
        # Of a literal that is no number the launch says what is wrong.
        if not is_literal(node) and not (value is None or isinstance(value, (bool, int, float, np.generic))):
            text = ast.unparse(node)
            what = f"The default of {name} in {definition.name} is {text}; it must be a number."
            advice = f"Pass {text} at the launch, or use it inside of {definition.name}."
            raise KernelTypeError(what, definition.locate(node), advice, definition.name)
    return checked


UNKNOWN = Tiling(256)
"""The tiling assumed for a kernel of tiles where no launch is known."""


class Building(NamedTuple):
    """A build in the background, as launches know it before it ends.

    Attributes:
        described: all that is known without the code.
        work: what builds it; None: it was only described.
    """

    described: Executable
    work: Work[Executable] | None


class Specialisation(OfFunction):
    """A kernel for one set of parameter types, in IR.

    Attributes:
        kernel: the kernel.
        types: one per parameter.
        adds_alone: whether arguments that do not overlap get other code, which adds without atomics or combines first.
        executables: the code loaded so far, by direction, options and device; for `workbench.api.builds.build`.
        building: code that is described but not yet loaded, by the same; it may be under way in the background.
        bound: the code for dense arrays that share no memory, and names of adjoints; for `workbench.api.builds.bind`.
        jax_plans: how JAX programs call it, managed by `workbench.interop.jax.launches.plan`.
        seconds: how long parsing and typing took.
        notices: lines that mean something else than in Warp, where the kernel was written for that.
        tiling: how a kernel of tiles is launched; None for one that runs once per thread.
    """

    _parameters: tuple[str, ...] | None = None

    def __init__(self, kernel: Kernel, types: tuple[AnyType, ...], tiling: Tiling | None = None) -> None:
        """Lower the kernel for these types, or read that lowering from the cache.

        Args:
            kernel: the kernel.
            types: one per parameter.
            tiling: how blocks are launched; None: the kernel runs once per thread.

        Raises:
            NeedsBlocks: it uses tiles, and `tiling` is None.
            KernelSyntaxError, KernelTypeError: its body has errors.
        """
        started = time.perf_counter()
        self.kernel = kernel
        self._parameters = kernel.parameters
        self.types = types
        typed = dict(zip(kernel.parameters, types, strict=True))
        self.tiling = tiling
        lowered = lowering(kernel.definition, typed, kernel.import_from_warp, kernel.warp_meanings, tiling)
        self._lowering = lowered
        self.notices, self.adds_alone, self._watched = lowered.notices, lowered.adds_alone, lowered.watched
        self._funcs = [w.value for w in self._watched if hasattr(w.value, "__wb_definitions__")]
        scopes = [name_bindings(w) for w in self._watched]
        # One look at each; None if looking is not enough.
        held = {(id(holder), name): (holder, name, value) for p in scopes for holder, name, value in p or ()}
        self._bindings = None if None in scopes else list(held.values())
        self.executables: dict[object, Executable] = {}
        self.building: dict[object, Building] = {}
        self.bound: dict[object, Any] = {}
        self.jax_plans: dict[object, Any] = {}
        self.seconds = time.perf_counter() - started

    def drop_builds(self) -> None:
        """Cancel the builds of this specialisation in the background."""
        for building in self.building.values():
            if building.work is not None:
                building.work.drop()

    def load(self, direction: str, device: Device, checks: bool = False) -> Executable | None:
        """Return None: the code is compiled from the IR. A subclass with its own code (CUDA C++) overrides this."""
        return None

    def over(self, threads: tuple[int, ...]) -> Specialisation:
        """Return the specialisation of this kernel of tiles for a launch over threads of these dimensions.

        () stands for one dimension.
        """
        assert self.tiling is not None
        return self.kernel.specialise(self.types, replace(self.tiling, threads=threads))

    def countable(self, direction: str, arch: str) -> Countable | None:
        """Return None: `wb.profile` compiles the IR. A subclass with PTX of its own (CUDA C++) overrides this."""
        return None

    def is_current(self) -> bool:
        """Return whether every value captured from the user's namespace is unchanged, in type and in all bits.

        False, too, if a func that it calls is out of date.
        """
        for func in self._funcs:
            if func.stale:
                return False
        if self._bindings is not None:
            for holder, name, value in self._bindings:
                if holder.get(name) is not value:
                    break
            else:
                return True
        return all(
            same_value(w.value, reread(w.definition, w.path)) if w.reevaluate is None else w.reevaluate() == w.value
            for w in self._watched
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """The kernel's parameters at the time of lowering, which include one per uniform that it read."""
        return self._parameters or self.kernel.parameters

    @property
    def watched(self) -> tuple[Dependency, ...]:
        """The user's names that the lowering read, with their values."""
        return self._watched

    def reads(self, names: Collection[str], namespace: Mapping[str, object]) -> list[str]:
        """Return those of `names` that the lowering read from this namespace and whose value there has changed."""
        changed: list[str] = []
        for w in self._watched:
            root, scope = w.path.split(".")[0], w.definition.scope
            if root in names and scope.user is namespace and root not in scope.closure() and w.reevaluate is None:
                if meaning(reread(w.definition, w.path)) != meaning(w.value):
                    changed.append(root)
        return changed


class Kernel(Subscripted):
    """A function that runs once for each thread of a launch.

    Attributes:
        name: as written.
        parameters: names, in order.
        annotations: each parameter's type, or None if it is generic (decided by the launch's arguments).
        place: the `def` in the user's source code.
        checks: what its cell says of checks; None if it says nothing, True of a kernel with `expect_eq` and the like.
        fast_math: whether its cell requests approximate maths.
        checkpoints: how many states of a loop its adjoint keeps at once.
        matmul: how it multiplies tiles on CUDA: "auto", "generated", "cublasdx"; empty: as `WORKBENCH_MATMUL` says.
        enable_backward: whether it may have an adjoint.
        fma: whether `a * b + c` is contracted, forward and in its derivatives.
        import_from_warp: whether it was written for Warp: lines that mean something else here are named.
        warp_meanings: whether they mean there what they mean in Warp (`workbench.compat.warp`), where that can be.
        elementwise: what a kernel of `wb.map` does to elements (`launches/map.py`); None for any other kernel.
        restricts: the same, of a kernel that does it for some elements only, in the backward pass (`tapes/cuts.py`).
        used: the specialisation that was launched or asked for last; None before the first.
        plans, last_launch: what earlier launches found out about argument kinds, and the last; kept by `api.launches`.
    """

    __wb_kernel__ = True

    checkpoints: int = CHECKPOINTS
    matmul = ""
    enable_backward = True
    warp_meanings = fma = False
    defaults: Mapping[str, object] = {}
    elementwise: Any = None
    restricts: Any = None
    used: Specialisation | None = None
    last_launch: tuple[Any, ...] | None = None
    _written: Definition | None = None

    def __init__(
        self,
        definition: Definition,
        checkpoints: object = CHECKPOINTS,
        matmul: object = "",
        enable_backward: object = True,
        fma: object = None,
    ) -> None:
        """Make a kernel of a definition; its body is read when it is first used.

        Args:
            definition: of the function.
            checkpoints: how many states of a loop the adjoint keeps at once.
            matmul: "auto", "generated" or "cublasdx"; empty: as the setting says.
            enable_backward: whether it may have an adjoint.
            fma: whether `a * b + c` is contracted; None: as the setting says.

        Raises:
            KernelTypeError: an argument or a parameter's default is none of what is allowed.
            KernelSyntaxError: it has variadic parameters.
        """
        must_be(definition, Definition, "Kernel() takes what @wb.kernel read", KernelTypeError, "Write @wb.kernel.")
        check_signature(definition)
        least, most = CHECKPOINT_RANGE[0], CHECKPOINT_RANGE[-1]
        few = isinstance(checkpoints, int) and not isinstance(checkpoints, bool) and checkpoints in CHECKPOINT_RANGE
        advice = f"Give a whole number from {least} to {most}, or leave it out for {CHECKPOINTS}."
        self.checkpoints = checked_option("checkpoints", checkpoints, few, definition, advice)
        words = ", ".join(f'"{word}"' for word in MATMULS)
        known = isinstance(matmul, str) and matmul in ("", *MATMULS)
        self.matmul = checked_option("matmul", matmul, known, definition, f"Give one of {words}.")
        self.enable_backward = bool(enable_backward)
        fma = settings().fma if fma is None else fma
        self.fma = checked_option("fma", fma, isinstance(fma, bool), definition, "Give True or False, or leave it out.")
        self.definition = self._written = definition
        self.name = self.__name__ = definition.name
        self.__module__ = definition.module
        self.parameters = tuple(a.arg for a in definition.parameters)
        self.defaults = checked_defaults(definition)
        self._annotations: dict[str, AnyType | None] | None = None
        self._is_shown = False
        self._structs: dict[str, Any] = {}
        self._families: dict[str, Generic] = {}
        self._specialisations: dict[tuple[object, ...], Specialisation] = {}
        self._tiled: dict[tuple[object, ...], Specialisation] = {}  # kernels of tiles, as if launched over blocks
        self.plans: dict[object, Any] = {}
        self.place = definition.locate(definition.node)
        self._lock = fork_safe_lock(self, "_lock")
        self.stale = ""
        self.checks: bool | None = True if definition.expects else None
        self.fast_math = False
        self.import_from_warp = False

    @property
    def annotations(self) -> dict[str, AnyType | None]:
        """Each parameter's type, or None if it is generic.

        Raises:
            KernelTypeError: an annotation is not a type.
        """
        if self._annotations is None or (self._structs and self._structs != structs_named(self.definition)):
            self._structs = structs_named(self.definition)
            self._annotations, self._families = parameter_types(self.definition, "a kernel")
            refuse_tiles(self.definition, self._annotations)
        return self._annotations

    @property
    def families(self) -> dict[str, Generic]:
        """The constraint of each generic parameter, annotated `Float`, `array[Int]` and so on, by name."""
        _ = self.annotations  # reading them finds the families too
        return self._families

    @property
    def is_generic(self) -> bool:
        """Return whether some parameter's type is left to the launch."""
        return any(t is None for t in self.annotations.values())

    def mark_stale(self, reason: str) -> None:
        """Mark the kernel as out of date: every launch is refused from now on, with this reason."""
        self.stale = reason
        note_stale(self)

    def drop_builds(self) -> None:
        """Cancel all builds of this kernel in the background; a later launch builds what it needs."""
        for specialisation in (*self._specialisations.values(), *self._tiled.values()):
            specialisation.drop_builds()

    @cached_property
    def edition(self) -> Edition:
        """The identity of this version of the kernel."""
        return Edition(self)

    def follow_uniforms(self) -> None:
        """Append a parameter to the kernel's own for each uniform that it, or a func that it calls, reads by name.

        If these are others than before, all specialisations and launch plans are dropped; else nothing changes.
        """
        written = self._written
        if not IN_USE or written is None or (self.used is not None and self.used.is_current()):
            return
        uniforms, before = uniforms_read(written), self.definition.uniforms
        if list(uniforms) == list(before) and all(uniforms[name] is before[name] for name in uniforms):
            return
        with self._lock:
            self.definition = written.with_uniforms(uniforms) if uniforms else written
            self.parameters = tuple(a.arg for a in self.definition.parameters)
            self.defaults = {**checked_defaults(written), **uniforms}
            self._annotations = None
            for known in (self._specialisations, self._tiled, self.plans):
                known.clear()

    def refuse_uniforms(self) -> None:
        """Refuse to be called by JAX, whose programs hold no value that changes by itself.

        Raises:
            LaunchError: it reads a uniform by name.
        """
        self.follow_uniforms()
        if self._written is not None and self.definition.uniforms:
            name = next(iter(self.definition.uniforms))
            message = f"{self.name} reads the slider {name} by name, and a JAX program cannot follow it."
            raise LaunchError(message, advice=f"Give {self.name} a parameter, and pass {name} at the call.")

    def specialise(self, types: Sequence[AnyType] | None = None, tiling: Tiling | None = None) -> Specialisation:
        """Return the specialisation for these parameter types.

        Args:
            types: one per parameter; None: the annotations.
            tiling: how blocks are launched. A flat one counts threads; a kernel that turns out to use no tiles then
                runs once per thread. None: a kernel of tiles is taken as launched over blocks.

        Raises:
            KernelTypeError: a type does not fit its annotation, or an annotation is missing and no type is given.
            KernelSyntaxError: the body has errors.
        """
        self.follow_uniforms()
        chosen = self._types(types)
        key = *chosen, *(k for k, t in enumerate(chosen) if isinstance(t, ArrayType) and t.wide)
        key += tuple(t.indexed for t in chosen if isinstance(t, IndexedArray))
        with self._lock:
            specialisation = self._specialised(key, chosen, None) if tiling is None or tiling.flat else None
            specialisation = specialisation or self._specialised(key, chosen, tiling or UNKNOWN)
            assert specialisation is not None
            self.used = specialisation
            return specialisation

    def _specialised(
        self, key: tuple[object, ...], types: tuple[AnyType, ...], tiling: Tiling | None
    ) -> Specialisation | None:
        """Return the current specialisation, lowering the kernel if it is missing or out of date.

        None if the kernel uses tiles and `tiling` is None.
        """
        slot = (*key, tiling)
        specialisation = self._specialisations.get(slot)
        if tiling is None and slot in self._tiled and self._tiled[slot].is_current():
            return None
        if specialisation is None or not specialisation.is_current():
            try:
                specialisation = self._specialisations[slot] = Specialisation(self, types, tiling)
            except NeedsBlocks:
                if tiling is not None:
                    raise
                self._tiled[slot] = Specialisation(self, types, UNKNOWN)
                return None
            _tell(specialisation)
        return specialisation

    @renamed(how="options")
    def prepare(
        self,
        dims: tuple[int, ...],
        values: Sequence[object],
        adjoints: Sequence[object] | None,
        device: Device | str | None,
        options: LaunchOptions,
        tiled: bool,
    ) -> LaunchRecord | None:
        """Return None: `launch` itself binds the arguments; a subclass that does so returns the checked launch.

        Args:
            dims: the launch's dimensions; with `tiled` they count blocks.
            values: one argument per parameter, not yet checked.
            adjoints: one adjoint per parameter for a launch of the gradient; None for a forward launch.
            device: where; None is the arrays' device.
            options: options of the launch: `LaunchOptions`.
            tiled: whether `launch_tiled` launches it.
        """
        return None

    def in_double(
        self, values: Sequence[object], dims: tuple[int, ...], block_dim: object, shared: int
    ) -> InDouble | None:
        """Return None: `gradcheck` runs the IR in float64; a subclass without IR returns what to run instead.

        Args:
            values: one argument per parameter.
            dims: the launch's dimensions.
            block_dim: threads of a block.
            shared: bytes of dynamic shared memory of a block.
        """
        return None

    def refuse_stale(self) -> None:
        """Raise if the kernel is marked as out of date: its cell, or what it reads, has changed and failed since.

        Raises:
            LaunchError: it is out of date.
        """
        if self.stale:
            raise LaunchError(f"{self.name} is out of date: {self.stale}", advice="Fix its cell and run it again.")

    def outdated_by(self, names: Collection[str], namespace: Mapping[str, object]) -> list[str]:
        """Return those of `names` that the kernel read from this namespace and that have another value now, sorted."""
        return sorted(set(self.used.reads(names, namespace))) if self.used is not None else []

    def _types(self, types: Sequence[AnyType] | None) -> tuple[AnyType, ...]:
        """Return one type per parameter: the one in `types`, else the annotation.

        Raises:
            KernelTypeError: `types` has another length, a parameter has no type, or one contradicts its annotation.
        """
        wanted = self.annotations
        passed = list(types) if types is not None else [None] * len(self.parameters)
        if len(passed) != len(self.parameters):
            raise KernelTypeError(f"{self.name} has {len(self.parameters)} parameters; {len(passed)} types were given.")
        chosen: list[AnyType] = []
        for name, type in zip(self.parameters, passed, strict=True):
            annotation = wanted[name]
            if type is None and annotation is None:
                raise KernelTypeError(
                    f"The parameter {name} of {self.name} has no type.",
                    next(self.definition.locate(a) for a in self.definition.parameters if a.arg == name),
                    f"Annotate it, {name}: array[float32] say, or launch the kernel: its arguments decide.",
                    self.name,
                )
            family = self.families.get(name)
            if family is not None and type is not None and not family.accepts(type):
                raise KernelTypeError(f"{name} of {self.name} is {family!r}; it was given {type!r}.", self.place)
            present = type.present if isinstance(type, Absent) else type
            if type is not None and annotation is not None and present != annotation:
                raise KernelTypeError(f"{name} of {self.name} is {annotation!r}; it was given {type!r}.")
            decided = type or annotation
            assert decided is not None
            chosen.append(decided)
        return tuple(chosen)

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Refuse to be called: a kernel is launched.

        Raises:
            LaunchError: always.
        """
        raise LaunchError(f"{self.name} is a kernel.", advice=f"Launch it: wb.launch({self.name}, dim, inputs=[…]).")

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Return what pickle needs: the kernel's name where another process can import it.

        Of any other kernel also the text, the values of the names that it reads, and the options.
        """
        if type(self).__init__ is not Kernel.__init__:  # made of something else than a definition
            return self.name
        names = ("checkpoints", "matmul", "enable_backward", "fma", "checks", "fast_math", "import_from_warp")
        return reduced(
            self, self._written or self.definition, {name: getattr(self, name) for name in (*names, "warp_meanings")}
        )

    def __copy__(self) -> Kernel:
        """Return the kernel itself, as for any Python function."""
        return self  # as of a function

    def __deepcopy__(self, memo: object) -> Kernel:
        """Return the kernel itself, as for any Python function."""
        return self

    def __repr__(self) -> str:
        if self._is_shown:  # in the error for an annotation of its own that names it
            return f"<kernel {self.name}>"
        self._is_shown = True
        try:
            shown = ", ".join(f"{n}: {t!r}" if t else n for n, t in self.annotations.items())
        finally:
            self._is_shown = False
        return f"<kernel {self.name}({shown})>"


def _tell(specialisation: Specialisation) -> None:
    """Warn of the lines of a kernel written for Warp that mean something else here."""
    if lines := "".join(f"\n  {notice}" for notice in specialisation.notices):
        warn(f"{specialisation.kernel.name} means something else here than in Warp:{lines}")


@overload
def kernel(function: Callable[..., object], *, source: str | None = None) -> Kernel: ...
@overload
def kernel(
    *, source: str | None = None, import_from_warp: bool = False, checkpoints: int = CHECKPOINTS, matmul: str = "",
    enable_backward: bool = True, fma: bool | None = None,
) -> Callable[[Callable[..., object]], Kernel]: ...  # fmt: skip
def kernel(
    function: Callable[..., object] | None = None, *, source: str | None = None, import_from_warp: bool = False,
    checkpoints: int = CHECKPOINTS, matmul: str = "", enable_backward: bool = True, fma: bool | None = None,
) -> Kernel | Callable[[Callable[..., object]], Kernel]:  # fmt: skip
    """Decorator: make a Python function a kernel. It is checked and compiled when it is first used.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def saxpy(a: float, x: wb.array[float], y: wb.array[float]):
        ...     i = wb.tid()
        ...     y[i] += a * x[i]
        >>> x, y = wb.ones(3), wb.zeros(3)
        >>> wb.launch(saxpy, dim=3, inputs=[2.0, x, y])
        >>> y.numpy()
        array([2., 2., 2.], dtype=float32)

    Args:
        function: a `def` whose parameters are annotated with types of the language, or generic without.
        source: its source code, if Python cannot find it (a function made by `exec`).
        import_from_warp: the kernel was written for Warp: at its first use a warning names the lines that mean
            something else here (division of integers, the `else` of a loop, draws, noise; the guide has the list).
        checkpoints: how many states of a loop the adjoint keeps at once in each thread, 2 to 1024, where it needs what
            the loop carried. More of them run fewer iterations again and take more memory of the thread; gradients are
            the same. A loop with a known number of iterations, at most 4 · `checkpoints` and at most 64, keeps all
            states if one takes at most 16 bytes. The forward code does not depend on it.
        matmul: how it multiplies tiles on CUDA: "generated" (at once), "cublasdx" (linked; seconds when it is new,
            and the extra `mathdx-cu12` or `mathdx-cu13`), "auto" (generated until cuBLASDx's is ready). Left out: as
            `WORKBENCH_MATMUL` says, else "auto".
        enable_backward: False refuses an adjoint, so that nothing is ever built for one.
        fma: True contracts `a * b + c` to one operation that rounds once, in the kernel and in its derivatives: up to
            twice as fast where arithmetic is the limit, and the same bits on all devices, but others than without it.
            Left out: as the cell (`%%kernel --fma`) or `WORKBENCH_FMA=1` says, else False.

    Returns:
        A `Kernel`, or, with options alone, a decorator that returns one.

    Raises:
        KernelSyntaxError: its source code cannot be found, or it has variadic parameters.
        KernelTypeError: checkpoints is not a whole number from 2 to 1024, or matmul or fma is none of its words.
    """

    def decorate(function: Callable[..., object]) -> Kernel:
        follow_reloads()
        decorated = Kernel(definition_of(function, source), checkpoints, matmul, enable_backward, fma)
        decorated.import_from_warp = import_from_warp
        if lost := lost_value(decorated.definition):
            warn(f"{lost[0]}: {lost[1]}")
        return decorated

    return decorate if function is None else decorate(function)
