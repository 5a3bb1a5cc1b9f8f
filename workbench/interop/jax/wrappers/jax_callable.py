"""`jax_callable`: a Python function that launches kernels, as a JAX function.

The function is traced once per signature (`trace`) under its own `jax.jit`, and what it launches is one native call
(`program`); everything that JAX can do with a program it can do with the function. A function that needs values while
it runs can only be called back in Python (`callback`), on request or with a warning.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import chain, count
from typing import Any, NoReturn

import numpy as np

from workbench.api.graphs.graph import Graph
from workbench.api.kernels.kernel import Specialisation
from workbench.api.kernels.source_text import definition_of
from workbench.api.recorder import Recorder
from workbench.api.tapes.tape import Tape
from workbench.errors import KernelTypeError, LaunchError, RecordError
from workbench.frontend.names.annotate import parameter_annotation
from workbench.frontend.state.definition import Definition
from workbench.interop.jax.launches.primitives import VMAP_METHODS, as_one_operation
from workbench.interop.jax.programs.callback import call_back
from workbench.interop.jax.programs.program import Program, run_program
from workbench.interop.jax.programs.run import Output, PytreeParam, Signature, active, run_inside, run_traced
from workbench.interop.jax.programs.trace import Trace, ValuesRead, same_program
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.signature import FunctionObject
from workbench.interop.jax.values.struct_pytrees import register_structs
from workbench.interop.jax.wrappers.cost import Costed
from workbench.interop.jax.wrappers.dims import Dims, Sizes, in_elements
from workbench.interop.jax.wrappers.follow import surroundings
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import lying_in
from workbench.runtime.arrays.shapes import extent
from workbench.runtime.arrays.substitute import region
from workbench.runtime.deferred_errors import raise_late
from workbench.runtime.device.device import CPU
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.checks import checks_both
from workbench.runtime.work import Copy, Fill, Launch, Work, flattened
from workbench.structs import Struct
from workbench.types import ArrayType, Type


class GraphMode(StrEnum):
    """The way in which the launches of a `jax_callable` run.

    WORKBENCH: all as one native call, which follows a table of launches and fills. On the CPU, where memory that moves
    costs nothing, that is also what STAGED is. JAX: each launch is a separate call in XLA's program, which XLA may
    reorder and overlap, and which a GPU captures with the rest. NONE: the function is called back in Python each time.
    On a GPU all but NONE are JAX.
    """

    JAX = "jax"
    WORKBENCH = "workbench"
    STAGED = "staged"
    NONE = "none"


@dataclass(eq=False)
class _Program:
    """Represents the program of one signature: the jitted function, and what must be unchanged for it to hold."""

    run: Any = None
    checked: bool = False
    specialisations: frozenset[Specialisation] = frozenset()
    constants: tuple[tuple[Memory, int], ...] = ()
    surroundings: Any = None

    def is_current(self, function: Any) -> bool:
        """Return whether the program holds: kernels, constants and all that the function can read are unchanged."""
        return (
            all(s.is_current() and not s.kernel.stale for s in self.specialisations)
            and all(m.version == v for m, v in self.constants)
            and self.surroundings == surroundings(function)
        )


@dataclass(frozen=True, eq=False, repr=False)
class JaxCallable(Costed, FunctionObject, taking="inputs"):
    """A Python function of kernels as a JAX function, as `jax_callable` returns it.

    Attributes:
        function, definition: the function, and its source code.
        annotations: the type of each parameter; None for a tree, a static value, or one without annotation.
        inputs, outputs: names of the parameters that a call takes, and of those that are results only.
        in_out, static: names of the inputs that are also results, and of those that are part of the program.
        init: initial values by name of an output.
        output_dims: dimensions of the outputs, or of each by name; None: those of the first array input.
        graph_mode: how its launches run; None: one native call, or called back if the function reads values.
        vmap_method: one of `VMAP_METHODS`.
    """

    function: Any
    definition: Definition
    annotations: Mapping[str, Type | None]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    in_out: frozenset[str]
    static: frozenset[str]
    init: Mapping[str, Any]
    output_dims: Dims | Mapping[str, Dims] | None
    graph_mode: GraphMode | None
    vmap_method: str
    _programs: dict[Any, _Program] = field(default_factory=dict, init=False)
    _needed: set[str] = field(default_factory=set, init=False)
    _fast: dict[Any, tuple[Signature, _Program]] = field(default_factory=dict, init=False)

    @property
    def __name__(self) -> str:
        """The function's name: what JAX calls a program made of it."""
        return self.definition.name

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<JAX function of {self.definition.name}>"

    def __reduce__(self) -> NoReturn:
        """Raise RecordError: such a function cannot be pickled."""
        raise RecordError(
            f"{self.__name__} cannot be pickled: it is a Python function with the programs traced from it.",
            advice="Send the program that calls it, with wb.jax_export and wb.jax_pack; or import it there.",
            function=self.__name__,
        )

    def __call__(self, *args: Any, output_dims: Dims | Mapping[str, Dims] | None = None, **named: Any) -> Any:
        """Run the function on JAX values.

        Args:
            *args: one value per input parameter: arrays, numbers, None, or trees of them.
            output_dims: overrides what `jax_callable` was given.
            **named: inputs by name.

        Returns:
            The result, or a tuple if there are several: those that are inputs too first.

        Raises:
            LaunchError: an argument does not fit, or a launch must reach outside of an array; `parameter` names it.
            KernelFault: traced with checks, where JAX does not trace the call; a jitted program raises JAX's error.
            ValuesRead: the function reads values that a compiled program does not have.
        """
        raise_late()
        values = arguments.by_name(self.__name__, self.inputs, args, named)
        # Called inside another traced function: its arrays are stand-ins, which only that trace can read.
        outer = active()
        if outer is not None:
            return run_inside(outer, self, values, output_dims)
        # The plain call, found by a cheap key: building a signature walks trees and annotations at every call.
        fast = self._fast_key(values, output_dims)
        fast_program = self._fast.get(fast) if fast is not None else None
        if fast_program is not None and fast_program[1].is_current(self.function):
            return self._result(fast_program[0], fast_program[1].run(*fast_program[0].operands(values)))
        mode = self.graph_mode
        # Each round may learn that one more scalar has to be a constant; there are only so many.
        while mode is not GraphMode.NONE:
            signature = self.signature(values, output_dims)
            try:
                program = self._program(signature)
                results = self._result(signature, program.run(*signature.operands(values)))
                fast = self._fast_key(values, output_dims)
                if fast is not None:
                    self._fast[fast] = signature, program
                return results
            except ValuesRead as error:
                if self._learn(error, values):
                    continue
                if mode is not None:
                    raise
                warnings.warn(
                    f"{error.message} {self.__name__} is called back in Python at every call. Pass "
                    'graph_mode="none" if that is intended.',
                    stacklevel=2,
                )
                # So the warning comes once, and later calls do not trace in vain.
                object.__setattr__(self, "graph_mode", GraphMode.NONE)
                mode = GraphMode.NONE
        signature = self.signature(values, output_dims)
        return self._result(signature, call_back(self.function, signature, values))

    def _fast_key(self, values: Mapping[str, Any], output_dims: Any) -> Any:
        """Return a key that distinguishes signatures without making one.

        None if `output_dims` is given, or an argument is neither an array nor a number.
        """
        if output_dims is not None:
            return None
        known = self._needed | self.static
        single = all(hasattr(v, "dtype") or v.__class__ in (int, float, bool) for v in values.values())
        if not single:
            return None
        aspects = ((type(v), v) if n in known else arguments.aspect(v) for n, v in values.items())
        return (*aspects, arguments.wide(), *checks_both(None))

    def _learn(self, error: ValuesRead, values: Mapping[str, Any]) -> bool:
        """Turn the Python scalar whose value tracing needs into a constant; return False if there is none new."""
        name = error.parameter
        if name in self._needed or not isinstance(values.get(name), (bool, int, float, np.generic)):
            return False
        self._needed.add(name)
        return True

    def signature(self, values: Mapping[str, Any], output_dims: Any) -> Signature:
        """Return the signature of a call with these values, which decides its program.

        Raises:
            LaunchError: an argument does not fit.
        """
        static = {n for n in self._needed if isinstance(values[n], (bool, int, float, np.generic))} | self.static
        leaves = []
        for name in self.inputs:
            leaves.append(PytreeParam.of(self.__name__, name, values[name], self.annotations[name], name in static))
        outputs = self._outputs(output_dims, leaves)
        return Signature(self.__name__, tuple(leaves), outputs, self.in_out, arguments.wide())

    def _outputs(self, requested: Any, leaves: Sequence[PytreeParam]) -> tuple[Output, ...]:
        """Return the outputs of a call: names, types, shapes and initial values.

        Args:
            requested: `output_dims` of the call; None: those of the wrapper, by default the first array's shape.
            leaves: the inputs.

        Raises:
            LaunchError: a shape is not known, cannot be evaluated, or does not fit its output's type.
        """
        shapes = [s for leaf in leaves for s in leaf.shapes()]
        arrays = {leaf.name: s for leaf in leaves if leaf.tree is None for s in leaf.shapes()}
        sizes = Sizes.of(self.__name__, arrays, None)
        wanted = requested if requested is not None else self.output_dims
        named = wanted if isinstance(wanted, Mapping) else dict.fromkeys(self.outputs, wanted)
        arguments.check_names(self.__name__, "output_dims", named, self.outputs)
        types: dict[str, ArrayType] = {}
        for name in self.outputs:
            types[name] = arguments.result_type(self.__name__, name, self.annotations[name])
        init = arguments.fills(self.__name__, self.init, types)
        outputs = []
        for name, type in types.items():
            dims = named.get(name)
            if dims is None and not shapes:
                raise LaunchError(
                    f"{self.__name__} has no array input from which its output {name} could take its shape.",
                    advice="Pass output_dims.",
                    function=self.__name__,
                    parameter=name,
                )
            shape = shapes[0] if dims is None else sizes.dimensions(f"output_dims for {name}", dims)
            shape = in_elements(shape, type)
            if len(shape) != type.ndim:
                raise LaunchError(
                    f"{name} of {self.__name__} is {type!r}, and its dimensions would be {shape}.",
                    advice=f'Pass output_dims={{"{name}": …}}; by default they are the first array\'s.',
                    function=self.__name__,
                    parameter=name,
                )
            outputs.append(Output(name, type, shape, init.get(name)))
        return tuple(outputs)

    def _program(self, signature: Signature) -> _Program:
        """Return the program of a signature, a new one if there is none that holds."""
        key = (signature, *checks_both(None))
        program = self._programs.get(key)
        if program is None or not program.is_current(self.function):
            program = self._programs[key] = self._make(signature)
        return program

    def _make(self, signature: Signature) -> _Program:
        """Return a new program of a signature, which is traced when it first runs."""
        code, built = self.function.__code__, _Program()

        def traced(*operands: Any, around: int = 0) -> list[Any]:
            trace = Trace(self.definition, code, self.vmap_method, around)
            results = run_traced(trace, self.function, signature, operands, lambda name: rebinding(trace, name))
            built.specialisations = frozenset(trace.specialisations)
            built.checked |= trace.checked
            built.constants = tuple(trace.constants)
            # Now, not before: what tracing itself changed (a list of calls, say) is no reason to trace again.
            built.surroundings = surroundings(self.function)
            return results

        def run(*operands: Any) -> list[Any]:
            is_open = any(arguments.is_symbolic(n) for x in operands for n in x.shape)
            if self.graph_mode is GraphMode.JAX and not is_open:
                return traced(*operands)
            program = Program.of(self.__name__, traced, operands)
            if is_open:
                self._check_open(program, Program.of(self.__name__, partial(traced, around=1), operands))
            return run_program(program, operands)

        built.run = as_one_operation(run, self.__name__, lambda: built.checked)
        return built

    def _check_open(self, one: Program, two: Program) -> None:
        """Check that a program, traced with two numbers for each open size, does not depend on the number.

        Raises:
            LaunchError: the two programs differ.
        """
        if not same_program(one.closed, two.closed):
            raise LaunchError(
                f"{self.__name__} does something else for each size, and the size is known only when the program runs.",
                self.definition.locate(self.definition.node),
                "Let kernels do what depends on the size (range(n), 1.0 / n), or export for known sizes.",
                self.__name__,
            )

    def _result(self, signature: Signature, results: Sequence[Any]) -> Any:
        """Return what a call returns: the only result, or a tuple of several."""
        shaped = signature.results(results)
        return shaped[0] if len(shaped) == 1 else tuple(shaped)


def jax_callable(
    func: Any,
    num_outputs: int = 1,
    graph_mode: GraphMode | str | None = None,
    vmap_method: str = "expand_dims",
    output_dims: Dims | Mapping[str, Dims] | None = None,
    in_out_argnames: str | Sequence[str] = (),
    init: Mapping[str, Any] | None = None,
    static_argnames: str | Sequence[str] = (),
    source: str | None = None,
) -> JaxCallable:
    """Return `func`, which launches kernels on its parameters, as a JAX function.

    Its parameters are inputs first, outputs last; outputs are arrays and annotated with their types. Inputs may be
    arrays, numbers, None, or trees of arrays. Inside, `wb.launch`, `wb.copy`, `fill_`, views, arrays made by `wb.zeros`
    and the like, and arithmetic with numbers work; a number that the function needs to know (a loop's count, say)
    becomes a compile-time constant if it was passed as a Python number.

    Of a record, a tape or a captured graph (`wb.jax_callable(rec)`) each array is a parameter, by its name in the first
    launch. Those that it changes are the results, and inputs, too, unless a fill or a copy came first.

    Args:
        func: a `def`; it is called once per new signature. Or recorded work; then options that it decides are refused.
        num_outputs: how many results there are, those of `in_out_argnames` included.
        graph_mode: "workbench": all launches are one native call, and "staged" is the same on the CPU. "jax": every
            launch is a native call of XLA's program, which a GPU captures with the rest. "none": the function is called
            back in Python each time. By default the first, or, where the function reads values, the last with a
            warning; said so, a function that reads values is an error at the line.
        vmap_method: "expand_dims" (no copies), "broadcast_all", or "sequential".
        output_dims: dimensions of the outputs, or of each by name, as numbers or as an expression of the inputs' sizes
            ("x.shape[0] - 1"); by default those of the first array input.
        in_out_argnames: inputs that the function changes; each is also a result.
        init: initial value of outputs by name, a number or "zeros"; others are undefined until they are written.
        static_argnames: inputs that are part of the traced program: any hashable value.
        source: the source code of `func`, if Python cannot find it.

    Returns:
        A function of JAX arrays: it returns one array, or a tuple of them if there are several outputs.

    Raises:
        LaunchError: an option names no parameter, or the numbers do not fit.
        KernelSyntaxError: the source code of `func` cannot be found.
    """
    if isinstance(func, Recorder | Tape | Graph):
        if num_outputs != 1 or in_out_argnames or init or source or output_dims is not None:
            raise LaunchError("What recorded work changes is known: its arrays decide which are the outputs.")
        return _of_work(Replayed(func), graph_mode, vmap_method)
    definition = definition_of(func, source)
    name, parameters = definition.name, tuple(a.arg for a in definition.parameters)
    in_out, static = arguments.names(in_out_argnames), arguments.names(static_argnames)
    inputs, outputs = arguments.split(name, parameters, num_outputs, in_out)
    arguments.check_names(name, "in_out_argnames", in_out, inputs)
    arguments.check_names(name, "static_argnames", static, inputs)
    arguments.check_names(name, "init", init or {}, outputs)
    mode = _mode(name, graph_mode, vmap_method)
    register_structs()
    return JaxCallable(
        func, definition, _annotations(definition), inputs, outputs, in_out, static, dict(init or {}), output_dims,
        mode, vmap_method,
    )  # fmt: skip


def _mode(name: str, graph_mode: GraphMode | str | None, vmap_method: str) -> GraphMode | None:
    """Return the graph mode as an enum; None for none.

    Raises:
        LaunchError: it is not one of `GraphMode`, or the method not one of `VMAP_METHODS`.
    """
    if vmap_method not in VMAP_METHODS:
        raise LaunchError(f"vmap_method={vmap_method!r} is not one of {', '.join(VMAP_METHODS)}.", function=name)
    modes = [m.value for m in GraphMode]
    if graph_mode is not None and str(graph_mode).lower() not in modes:
        raise LaunchError(f"graph_mode={graph_mode!r} is not one of {', '.join(modes)}.", function=name)
    return None if graph_mode is None else GraphMode(str(graph_mode).lower())


def _of_work(work: Replayed, graph_mode: GraphMode | str | None, vmap_method: str) -> JaxCallable:
    """Return recorded work as a JAX function, with the outputs that the record decides."""
    return jax_callable(
        work.function, work.num_outputs, graph_mode, vmap_method, work.output_dims, work.in_out, source=work.source
    )


def _annotations(definition: Definition) -> dict[str, Type | None]:
    """Return each parameter's type; None if the annotation is none of our own: a tree, a static value, or nothing."""
    types: dict[str, Type | None] = {}
    for argument in definition.parameters:
        try:
            annotation = parameter_annotation(definition, argument)
            if isinstance(annotation, Struct):
                raise LaunchError(
                    f"{argument.arg} of {definition.name} is annotated as the struct {annotation!r}; it is a tree.",
                    definition.locate(argument),
                    f"Leave the annotation out, and make the struct inside, of the tree's values: {annotation!r}(…).",
                    definition.name,
                    parameter=argument.arg,
                )
            types[argument.arg] = arguments.without_structs(definition.name, argument.arg, annotation)
        except KernelTypeError:
            types[argument.arg] = None
    return types


__all__ = ["GraphMode", "JaxCallable", "jax_callable"]


_NAME = "replayed"


class Replayed:
    """Represents a function that runs recorded work again: its text and its parameters.

    Attributes:
        source: the text, a `def`.
        function: what it defines.
        num_outputs: how many arrays it changes.
        in_out: those whose first contents it uses: it reads them first, or does not write all of them.
        output_dims: the recorded shapes of the others that it changes.
    """

    source: str
    function: Callable[..., None]
    num_outputs: int
    in_out: tuple[str, ...]
    output_dims: dict[str, tuple[int, ...]]

    def __init__(self, work: Iterable[Work]) -> None:
        """Write the function that runs a record, a tape or a graph again.

        Raises:
            LaunchError: it is empty or did not run on the CPU, a step cannot run again, or views of one memory have
                several types.
        """
        recorder = work if isinstance(work, Recorder) else Recorder(work)
        elsewhere = next((entry.device for entry in recorder.entries if entry.device != CPU), None)
        if elsewhere is not None or not recorder.entries:
            what = f"ran on {elsewhere}" if elsewhere is not None else "has no entries"
            raise LaunchError(f"jax_callable() takes work of the CPU; this {what}.", advice="Record it on the CPU.")
        nodes = [node for entry in recorder.entries for node in flattened(entry)]
        arrays, names, changed, used = _arrays(nodes)
        outputs = [m for m in arrays if m in changed and m not in used]
        order = [m for m in arrays if m in used] + outputs
        parameters = ", ".join(f"{names[m]}: T{k}" for k, m in enumerate(order))
        pairs = ", ".join(f"A{k}: {names[m]}" for k, m in enumerate(order))
        self.source = f"def {_NAME}({parameters}):\n    WORK.replay({{{pairs}}})\n"
        scope: dict[str, Any] = {"WORK": recorder}
        for k, memory in enumerate(order):
            scope |= {f"T{k}": arrays[memory].type, f"A{k}": arrays[memory]}
        exec(compile(self.source, f"<{_NAME}>", "exec"), scope)
        self.function = scope[_NAME]
        self.num_outputs = len(changed)
        self.in_out = tuple([names[m] for m in order if m in changed and m in used])
        self.output_dims = {names[m]: arrays[m].shape for m in outputs}


def _arrays(nodes: list[Work]) -> tuple[dict[Memory, array], dict[Memory, str], set[Memory], set[Memory]]:
    """Return each memory's array and name, then the memories that change and those used before they change."""
    views: dict[Memory, list[array]] = {}
    names: dict[Memory, str] = {}
    changed: set[Memory] = set()
    used: set[Memory] = set()
    for node in nodes:
        overwrites = isinstance(node, Fill) or type(node) is Copy  # a launch may leave elements as they are
        for access in sorted(node.accesses, key=lambda access: access.writes):
            value, memory = access.array, access.array.memory
            covers = value.is_contiguous and value.nbytes == memory.nbytes
            if memory not in changed and (access.reads or not (overwrites and covers)):
                used.add(memory)
            if access.writes:
                changed.add(memory)
            views.setdefault(memory, []).append(value)
    for node in sorted(nodes, key=lambda node: not isinstance(node, Launch)):
        for access in node.accesses:
            if access.array.memory not in names:
                plain = re.sub(r"\W", "_", access.name) or "array"
                numbered = chain([plain], (f"{plain}_{k}" for k in count(2)))
                names[access.array.memory] = next(name for name in numbered if name not in names.values())
    return {m: _holding(names[m], arrays) for m, arrays in views.items()}, names, changed, used


def _holding(name: str, views: Sequence[array]) -> array:
    """Return an array in which all views of one memory lie: one of the views, or all of the memory.

    Raises:
        LaunchError: the views have several element types.
    """
    first = views[0]
    if any(v.dtype != first.dtype for v in views):
        raise LaunchError(
            f"The work uses {name} as arrays of several types in one memory, which is one array in JAX.",
            advice="Copy it to an array of its own first.",
            parameter=name,
        )
    spans = [extent(v) for v in views]
    low, high = min(a for a, _ in spans), max(b for _, b in spans)
    spanning = [v for v, span in zip(views, spans, strict=True) if span == (low, high)]
    if len({region(v) for v in views}) == 1 or any(v.is_contiguous for v in spanning):
        return next((v for v in spanning if v.is_contiguous), first)
    return lying_in(first.memory, first.dtype, (first.memory.nbytes // first.dtype.size,))


def rebinding(trace: Trace, name: str) -> LaunchError:
    """Return the error for an output that nothing wrote; it says so if the function binds the output's name instead."""
    definition = trace.definition
    for node in ast.walk(definition.node):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return LaunchError(
                f"{definition.name} binds the name {name} to another array, and its output {name} stays unwritten.",
                definition.locate(node),
                f"Write into it: wb.copy({name}, …), {name}.fill_(…), or a launch.",
                definition.name,
                parameter=name,
            )
    return LaunchError(
        f"Nothing in {definition.name} writes its output {name}.",
        definition.locate(definition.node),
        f'Write into it, or give it a value: init={{"{name}": "zeros"}}.',
        definition.name,
        parameter=name,
    )
