"""Kernels, funcs, launches, captures and timers in Warp's spelling."""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from msgspec.structs import replace

import workbench as wb
from workbench.api.kernels.source_text import definition_of
from workbench.api.launches.map import planned
from workbench.builtins import FORMS, TABLE, Form
from workbench.builtins.declaration.declare import Builtin
from workbench.builtins.warp import MEANINGS
from workbench.compat.warp import dims
from workbench.compat.warp.absent import caller, hints
from workbench.compat.warp.geometry import HashGrid, object_of
from workbench.compat.warp.kinds import NUMBERS, PYTHON, TYPES, Attribute, Widened, of_warp
from workbench.compat.warp.settings import config, get_module
from workbench.compat.warp.spelling import only_indexed, rewritten
from workbench.frontend.names.annotate import parameter_annotations
from workbench.frontend.names.python_names import as_builtin
from workbench.frontend.state.definition import Definition
from workbench.host.vectors import HostVector
from workbench.runtime.active_observers import without
from workbench.runtime.arrays.structure import StructValue
from workbench.structs import Struct
from workbench.types import ArrayType, Scalar, Vector


def kernel(
    f: Callable[..., object] | None = None, *, enable_backward: bool | None = None, module: Any = None, **options: Any
) -> Any:
    """Decorate a `def`: make a kernel whose names mean what they mean in Warp.

    Args:
        f: a `def`.
        enable_backward: whether it may have an adjoint; None is as its module's options and `config` say.
        module: the module of kernels that it belongs to, or its name; None or "unique" is that of the `def`.
        **options: Warp's other options, which have no effect.

    Returns:
        A `Kernel`, or, with options alone, a decorator that returns one.

    Raises:
        KernelSyntaxError: its source code cannot be found, or it has variadic parameters.
    """
    hints("wp.kernel", options)
    if f is None:
        return partial(kernel, enable_backward=enable_backward, module=module)
    name = f.__module__ if module in (None, "unique") else module
    own = get_module(name) if isinstance(name, str) else name
    enabled = config.enable_backward and own.options["enable_backward"] if enable_backward is None else enable_backward
    result = Kernel(as_in_warp(definition_of(f)), enable_backward=enabled)
    result.module, own.kernels[result.name] = own, result
    return result


class Kernel(wb.Kernel, metaclass=Widened):
    """Represents a kernel whose names mean what they mean in Warp, with Warp's attributes.

    `wp.Kernel(func=f)` is `wp.kernel(f)`.
    """

    includes, warp_meanings = wb.Kernel, True
    is_generic = property(lambda k: any(t is None for t in parameter_annotations(k.definition).values()))
    func = property(lambda k: k)
    overloads: Mapping[str, Any] = {}
    key = Attribute("key", lambda k: k.name)
    module = Attribute("module", lambda k: get_module(k.definition.module or "__main__"))
    options = Attribute("options", lambda k: {"enable_backward": k.enable_backward})

    @staticmethod
    def create(
        func: Any = None, key: Any = None, module: Any = None, options: Any = None, code_transformers: Any = None,
        enable_backward: bool | None = None, **hints: Any,
    ) -> Any:  # fmt: skip
        """Make a kernel of a definition, or of a Python function whose tree `code_transformers` change before.

        For a function, `enable_backward`, or else `options`, or else `config`, says whether it may have an adjoint.
        """
        if not isinstance(func, Definition):
            if enable_backward is None:
                enable_backward = (options or {}).get("enable_backward", config.enable_backward)
            func = as_in_warp(transformed(func, code_transformers, None))
        return type.__call__(Kernel, func, enable_backward=enable_backward)

    @property
    def adj(self) -> SimpleNamespace:
        """An object whose `args` have each parameter's `label` and `type`."""
        types = parameter_annotations(self.definition)
        return SimpleNamespace(args=[SimpleNamespace(label=n, type=t) for n, t in types.items()])

    def add_overload(self, *types: Any) -> Kernel:
        """Return the kernel itself, which is built for the types of each launch."""
        return self

    def variant(self, change: Callable[[Definition, Any], Definition], value: Any) -> Kernel:
        """Return the kernel of the definition that `change` makes for a value; the same object for the same value."""
        variants = vars(self).setdefault("variants", {})
        if (change, value) not in variants:
            definition = change(self.definition, value)
            variants[change, value] = Kernel(definition, enable_backward=self.enable_backward)
        return variants[change, value]


class Function(wb.Func, metaclass=Widened):
    """Represents a func whose names mean what they mean in Warp, with Warp's attributes.

    `wp.Function(func=f, key=name, module=m)` is `wp.func(f)`.
    """

    includes, warp_meanings = wb.Func, True
    key = Attribute("key", lambda f: f.name)
    module = Attribute("module", lambda f: get_module(f.__module__ or "__main__"))
    func = Attribute("func", lambda f: f)

    @staticmethod
    def create(
        func: Any, key: str = "", namespace: str = "", module: Any = None, code_transformers: Any = None,
        overloaded_annotations: Any = None, **hints: Any,
    ) -> Any:  # fmt: skip
        """Make a func of a definition, or of a Python function with `code_transformers` and annotations applied.

        A func of a Python function is called `key`, if that is not empty; with a `module` it is added to the
        functions of that module.
        """
        if isinstance(func, Definition):
            return type.__call__(Function, func)
        result = func_of(transformed(func, code_transformers, overloaded_annotations), func)
        if key:
            result.key = key
        if module is not None:
            module.functions[result.key] = result
        return result

    @property
    def input_types(self) -> dict[str, Any]:
        """The annotations of its parameters, by name."""
        return {n: t for n, t in parameter_annotations(self.definition).items() if n != "return"}

    def add_overload(self, more: wb.Func) -> None:
        """Add the versions of another func; one with the same types of parameters replaces the one before."""
        every = (*self.__wb_definitions__, *more.__wb_definitions__)
        self.__wb_definitions__ = tuple({repr(parameter_annotations(d)): d for d in every}.values())


def func_of(definition: Definition, f: Any) -> Function:
    """Make a func whose names mean what they mean in Warp, and whose `func` is the Python function."""
    result: Any = Function(as_in_warp(definition))
    result.func, result.__signature__, result.__doc__ = f, inspect.signature(f), f.__doc__
    result.native_func = f"{result.name}_{next(_NUMBERS)}"  # funcs of one name are told apart by it
    return result


_NUMBERS = itertools.count()


def transformed(
    f: Callable[..., object], transformers: Iterable[ast.NodeTransformer] | None, annotations: Mapping[str, Any] | None
) -> Definition:
    """Return the definition of a function after transformers of its syntax tree, with other types of parameters."""
    definition = definition_of(f)
    if not transformers and not annotations:
        return definition
    tree = ast.Module([copy.deepcopy(definition.node)], [])
    for transformer in transformers or ():
        tree = ast.fix_missing_locations(transformer.visit(tree))
    for node in ast.walk(tree):  # transformers leave out what compilers of Warp do not read
        if "ctx" in node._fields and not hasattr(node, "ctx"):
            node.ctx = ast.Load()  # type: ignore[attr-defined]
    types = {**definition.annotations, **(annotations or {})}
    return replace(definition, node=tree.body[0], annotations=types, written=("", 0))


def as_in_warp(definition: Definition) -> Definition:
    """Return the definition in the language's spelling, with its builtins in scope without an import, as in Warp."""
    names = {name: b for name, b in {**TABLE, **FORMS, **TYPES}.items() if not getattr(b, "hidden", False)}
    return replace(rewritten(definition), scope=replace(definition.scope, language=names))


def func(f: Callable[..., object] | None = None, **options: Any) -> Any:
    """Decorate a `def`: make a function that kernels and `map` call, whose names mean what they mean in Warp.

    A `def` of the same name above it becomes another version of the func, as an overload.

    Args:
        f: a `def`.
        **options: `name`, the func to which it is added as a version; Warp's others have no effect.

    Returns:
        A `Func`, or, with options alone, a decorator that returns one.

    Raises:
        KernelSyntaxError: its source code cannot be found, or it has variadic parameters.
    """
    name = options.pop("name", None)
    hints("wp.func", options)
    if f is None:
        return partial(func, name=name) if name else func
    result, names = func_of(definition_of(f), f), caller().f_locals
    get_module(f.__module__).functions[result.key] = result
    before = names.get(name or f.__name__)
    if name:  # one more version, of a def that stands in a function, say
        result.__wb_definitions__ = (*getattr(before, "__wb_definitions__", ()), result.definition)
        names[name] = result
        return result
    result = result.beside(before)
    if len(result.__wb_definitions__) > 1:  # of several versions, the Python function is the first one's
        result.func = before.func  # type: ignore[attr-defined,union-attr]
    return result


def map(
    f: Any, *arguments: Any, out: Any = None, device: Any = None, return_kernel: bool = False, **options: Any
) -> Any:
    """Apply a function to the elements of arrays, with Warp's meaning of its names.

    Args:
        f: a func, a builtin, or a plain Python function.
        *arguments: arrays of one shape, and numbers.
        out: an array to write to, or one for each result.
        device: where to run.
        return_kernel: return the kernel, which takes the arguments and the results, in place of running it.
        **options: Warp's other options, which have no effect.

    Returns:
        An array; a list of arrays if the function has several results; or the kernel.

    Raises:
        LaunchError: the arguments do not fit the function, or one another.
    """
    hints("wp.map", options)
    if return_kernel:
        return planned(as_func(f, len(arguments)), arguments, out, device)[1]
    results = wb.map(as_func(f, len(arguments)), *arguments, out=out, device=device)
    return list(results) if isinstance(results, tuple) else results


@lru_cache(256)
def as_func(f: Any, count: int) -> Any:
    """Return a func with the meaning in Warp of `f`, a builtin or a plain function; a func itself.

    `count` is the number of arguments that a builtin takes.
    """
    builtin = f if isinstance(f, Form) else as_builtin(f)
    if builtin is None:
        return f if hasattr(f, "__wb_definitions__") else func_of(definition_of(f), f)
    names = ", ".join(f"x{k}" for k in range(count))
    text = f"def {builtin.name}({names}):\n    return f({names})\n"
    space: dict[str, Any] = {"f": f}
    exec(text, space)
    return Function(definition_of(space[builtin.name], text))


_NUMBERS_OF: dict[type, Any] = {int: NUMBERS["int32"], float: NUMBERS["float32"], bool: bool}
"""The types of Python's own numbers as builtins compute with them, where they get nothing else."""


def of_numbers(name: str) -> Callable[..., Any]:
    """Return a function for the builtin `name` that Python can call with numbers, with Warp's results and types.

    The results are Python's own numbers where all arguments are those, or float32, int32 or bool, or with
    `config.legacy_scalar_return_types`; else they are of Warp's types.
    """
    builtin, differs = TABLE[name], not MEANINGS.keys().isdisjoint({(name, "int"), (name, "float")})

    def call(*args: Any, **named: Any) -> Any:
        args = _in_order(builtin, args, named)
        if all(type(a) in _NUMBERS_OF or (isinstance(a, np.generic) and a.dtype == np.int32) for a in args):
            args = tuple(_NUMBERS_OF[type(a)](a) if type(a) in _NUMBERS_OF else a for a in args)
        result = as_func(builtin, len(args))(*args) if differs else builtin(*args)
        typed = (a.dtype.name for a in args if isinstance(a, (np.generic, np.ndarray)))
        if any(name not in PYTHON for name in typed) and not config.legacy_scalar_return_types:
            return of_warp(result)
        return tuple(map(_plain, result)) if isinstance(result, tuple) else _plain(result)

    call.__name__, call.__doc__ = name, builtin.doc
    call.__dict__["__wb_builtin__"] = name
    return call


def _in_order(builtin: Builtin, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Return a call's arguments by position; Warp names a and b what is x and y in most builtins.

    Raises:
        TypeError: a name is none of the builtin's, or is given twice, or an argument before it is missing.
    """
    here = {n if n in builtin.params else {"a": "x", "b": "y"}.get(n, n): value for n, value in named.items()}
    names = builtin.params[len(args) : len(args) + len(named)]
    if here.keys() != {*names} or len(here) < len(named):
        wrong = next(iter(here.keys() - {*names}), next(iter(named)))
        raise TypeError(f"{builtin.name}() has no further argument {wrong}; it takes {', '.join(builtin.params)}")
    return (*args, *[here[n] for n in names])


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a number of Python's; any other value as `of_warp` does."""
    return value.item() if isinstance(value, np.generic) else of_warp(value)


def launch(
    kernel: wb.Kernel, dim: Any, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (),
    adj_inputs: Sequence[Any] = (), adj_outputs: Sequence[Any] = (), device: Any = None, stream: Any = None,
    adjoint: bool = False, record_tape: bool = True, record_cmd: bool = False, max_blocks: int = 0, **options: Any,
) -> Launch | None:  # fmt: skip
    """Run a kernel once for each thread of `dim`: `workbench.launch` with Warp's order of arguments.

    With `adjoint`, the gradient of an input array is not computed if it has no given adjoint and requires no gradient.
    Numbers of grids, meshes and trees, tuples for vectors, and None for arrays stand for what they mean.

    Returns:
        A `Launch` with `record_cmd`, which has not run, else None.

    Raises:
        LaunchError: the arguments do not fit.
    """
    hints("wp.launch", {"max_blocks": max_blocks or None})
    if not record_cmd:
        own = {"device": device, "stream": stream, "adjoint": adjoint, "record_tape": record_tape}
        _launched(kernel, dim, inputs, outputs, adj_inputs, adj_outputs, **own, **options)
        return None
    result = Launch(kernel, device, adjoint, **options)
    result.set_dim(dim)
    result.set_params([*inputs, *outputs])
    for name, value in zip(kernel.parameters, [*adj_inputs, *adj_outputs], strict=False):
        result.set_param_by_name(name, value, adjoint=True)
    return result


def _launched(
    kernel: wb.Kernel, dim: Any, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (),
    adj_inputs: Sequence[Any] = (), adj_outputs: Sequence[Any] = (), block_dim: int | None = None,
    tiled: bool = False, **options: Any,
) -> wb.Launch | None:  # fmt: skip
    """Run a kernel by `launch` or `launch_tiled` of Workbench, after noting the launch for open captures and tapes.

    Returns:
        The result of that call.
    """
    device, adjoint = options.get("device"), options.get("adjoint", False)
    if adjoint:
        pairs = itertools.zip_longest(inputs, adj_inputs)
        options["adj_outputs"] = adj_outputs
        options["adj_inputs"] = [
            False if a is None and isinstance(v, wb.array) and not v.requires_grad else a for v, a in pairs
        ]
    inputs, outputs = _arguments(kernel, inputs, 0, device), _arguments(kernel, outputs, len(inputs), device)
    for capture in _OPEN[-1:]:
        capture.note(kernel, dim, [*inputs, *outputs])
    for tape in _TAPES if options.get("record_tape", True) and not adjoint else ():
        tape.launches.append([kernel, dim, 0, inputs, outputs, device, block_dim, {}])
    if isinstance(kernel, Kernel):
        pairs = zip(kernel.parameters, [*inputs, *outputs], strict=False)
        others = tuple(n for n, v in pairs if isinstance(v, StructValue) and v.__wb_struct__.stands_for is not None)
        kernel = kernel.variant(_opened, others) if others else kernel
        kernel, dim = dims.fitted(kernel, dim, per_block=int(tiled))
    if tiled:
        return wb.launch_tiled(kernel, dim, inputs, outputs, block_dim=dims.block_dim(block_dim, device), **options)
    if isinstance(kernel, Kernel) and (block_dim is not None or dims.uses_blocks(kernel.definition)):
        size = dims.block_dim(block_dim, device)
        if dims.needs_whole_blocks(kernel.definition):
            options["block_dim"] = min(size, max(dims.bounds_of(kernel, dim).size, 1))
        elif dims.uses_blocks(kernel.definition):
            kernel = kernel.variant(dims.with_block, size)
    return wb.launch(kernel, dim, inputs, outputs, **options)


class Launch(metaclass=Widened):
    """Represents a launch whose dimensions and arguments are set one by one: `set_dim`, `set_param_…`."""

    includes = wb.Launch

    def __init__(self, kernel: wb.Kernel, device: Any = None, adjoint: bool = False, **options: Any) -> None:
        """Prepare a launch without threads, whose numbers are 0 and whose other arguments are None; nothing runs.

        `options` are `block_dim` and further options of `launch`.
        """
        self.kernel, self.dim, self.bounds = kernel, (0,), dims.bounds_of(kernel, 0)
        self.block_dim = dims.block_dim(options.pop("block_dim", None), device)
        self._options = {"device": device, "adjoint": adjoint, "block_dim": self.block_dim, **options}
        self._recorded: wb.Launch | None = None
        kinds = parameter_annotations(kernel.definition)
        values = (
            k(*[0] * getattr(k, "length", 1)) if isinstance(k, (Scalar, Vector)) else None for k in kinds.values()
        )
        self._values: dict[str, Any] = dict(zip(kinds, values, strict=True))
        self._zeros, self._adjoints = dict(self._values), dict[str, Any].fromkeys(kinds)

    def set_dim(self, dim: Any) -> None:
        """Set the dimensions of the launch.

        Raises:
            LaunchError: a size is negative, or there are more than four.
        """
        self.bounds = dims.bounds_of(self.kernel, dim)
        self.dim, self._recorded = self.bounds.dims, None

    @property
    def params(self) -> list[Any]:
        """The launch's bounds, its arguments, and with `adjoint` their adjoints, in a list."""
        adjoints = [self._zeros[n] if v is None else v for n, v in self._adjoints.items()]
        return [self.bounds, *self._values.values(), *(adjoints if self._options["adjoint"] else ())]

    def set_param_by_name(self, name: str, value: Any, adjoint: bool = False) -> None:
        """Set the argument of a parameter, or with `adjoint` its adjoint."""
        (self._adjoints if adjoint else self._values)[name] = value
        self._recorded = None

    def set_param_at_index(self, index: int, value: Any, adjoint: bool = False) -> None:
        """Set the argument of the parameter with this number, or with `adjoint` its adjoint."""
        self.set_param_by_name(self.kernel.parameters[index], value, adjoint)

    def set_params(self, values: Sequence[Any]) -> None:
        """Set the arguments of all parameters, in order."""
        self._values.update(zip(self.kernel.parameters, values, strict=True))
        self._recorded = None

    set_param_by_name_from_ctype, set_param_at_index_from_ctype = set_param_by_name, set_param_at_index
    set_params_from_ctypes = set_params

    def launch(self, stream: Any = None) -> None:
        """Run the launch, with the present contents of its structs."""
        values = [*self._values.values()]
        if self._recorded is None:
            adjoints = [*self._adjoints.values()] if self._options["adjoint"] else []
            changing = any(isinstance(v, StructValue) for v in values)
            again = {**self._options, "stream": stream, "record_cmd": not changing}
            self._recorded = _launched(self.kernel, self.dim, values, adj_inputs=adjoints, **again)
        if self._recorded is not None:
            self._recorded.launch(stream)


def launch_tiled(
    kernel: wb.Kernel, dim: Any, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), max_blocks: int = 0,
    device: Any = None, **options: Any,
) -> wb.Launch | None:  # fmt: skip
    """Run a kernel once for each block of `dim`: `workbench.launch_tiled` of values as `launch` takes them.

    Returns:
        A `Launch` with `record_cmd`, else None.

    Raises:
        LaunchError: the arguments do not fit.
    """
    hints("wp.launch_tiled", {"max_blocks": max_blocks or None})
    return _launched(kernel, dim, inputs, outputs, device=device, tiled=True, **options)


def _arguments(kernel: wb.Kernel, values: Sequence[Any], first: int, device: Any) -> list[Any]:
    """Return the arguments as `workbench.launch` takes them, for the kernel's parameters from number `first` on."""
    if not kernel.definition.annotations and all(isinstance(v, (wb.array, float)) for v in values):
        return [*values]
    names = kernel.parameters[first : first + len(values)]
    pairs = itertools.zip_longest(values, names, fillvalue="")
    return [_argument(kernel.definition, name, value, device) for value, name in pairs]


def _argument(definition: Definition, name: str, value: Any, device: Any) -> Any:
    """Return the argument of a parameter as `workbench.launch` takes it.

    Tuples become vectors and matrices, numbers of meshes, grids and trees become these, and None for an array that the
    kernel only indexes, behind a flag say, becomes an empty array.
    """
    own = definition.annotations.get(name)
    if isinstance(value, StructValue):
        return _with_objects(_with_arrays(value, device))
    if isinstance(value, wb.array):
        return object_of(value) if own is Any or own is wb.Meshes else value
    if value is not None and not isinstance(value, _PARTS):
        return value
    kind: Any = parameter_annotations(definition).get(name)
    if value is None and isinstance(kind, ArrayType) and only_indexed(definition, name):
        return wb.empty((0,) * kind.ndim, kind.dtype, device)
    if isinstance(value, _PARTS[:3]) and type(value) is not HostVector and isinstance(kind, Vector):
        return kind(*value)  # type: ignore[misc]
    return value if isinstance(kind, Scalar) else object_of(value)


def _with_arrays(value: StructValue, device: Any) -> StructValue:
    """Return the struct, or a copy with empty arrays for those of its fields that are None."""
    missing = [f for f in value.__wb_struct__.fields if vars(value).get(f.name, f) is None]
    if not missing:
        return value
    result = copy.copy(value)
    for f in missing:
        kind: Any = f.type
        setattr(result, f.name, wb.empty((0,) * kind.ndim, kind.dtype, device))
    return result


def _with_objects(value: StructValue) -> StructValue:
    """Return the struct, or a copy with meshes and trees in place of their numbers, also in nested structs."""
    struct, objects = value.__wb_struct__, dict[str, StructValue]()
    for f in struct.fields:
        if f.type == NUMBERS["uint64"] or isinstance(f.type, Struct):
            before = getattr(value, f.name)
            after = _with_objects(before) if isinstance(before, StructValue) else object_of(before)
            objects |= {f.name: after} if isinstance(after, StructValue) and after is not before else {}
    if not objects:
        return value
    types = {n: v.__wb_struct__ for n, v in objects.items()}
    result = object.__new__(_struct_for(struct, *types.items()))
    vars(result).update({**vars(value), **objects})
    return result


@lru_cache(256)
def _struct_for(struct: Struct, *types: tuple[str, Any]) -> Any:
    """Return a class of structs that stand for others, with other types of fields; always the same one."""
    return type(struct.name, (StructValue,), {"__wb_struct__": struct.with_types(dict(types))})


def _opened(definition: Definition, names: tuple[str, ...]) -> Definition:
    """Return the definition with parameters of these names for values of any type."""
    return replace(definition, annotations={**definition.annotations, **dict.fromkeys(names, Any)})


_PARTS: tuple[Any, ...] = (tuple, list, np.ndarray, int, np.uint64)


class Tape(wb.Tape):
    """Represents a `workbench.Tape` whose `reset` also sets the gradients to 0, as in Warp.

    Attributes:
        launches: of each launch the kernel, dim, max_blocks, inputs, outputs, device, block_dim and an empty dict.
        scopes: of each begin and end the number of launches, and of a begin its name and metadata (of an end None).
    """

    def __init__(self, **options: Any) -> None:
        """Create an empty tape; the options are those of `workbench.Tape`."""
        super().__init__(**options)
        self.launches: list[list[Any]] = []
        self.scopes: list[tuple[int, Any, Any]] = []
        self._open_scopes: list[int] = []

    def __enter__(self) -> Self:
        """Open the tape, so that launches are recorded and added to `launches`; return the tape."""
        _TAPES.append(self)
        return super().__enter__()

    def __exit__(self, *problem: Any) -> None:
        """Close the tape; an error in the block goes on."""
        _TAPES.remove(self)
        super().__exit__(*problem)

    def record_launch(
        self, kernel: wb.Kernel, dim: Any, max_blocks: int, inputs: Sequence[Any], outputs: Sequence[Any],
        device: Any = None, block_dim: int | None = None, metadata: Any = None,
    ) -> None:  # fmt: skip
        """Run a launch and record it on this tape."""
        with self:
            launch(kernel, dim, inputs, outputs, device=device, block_dim=block_dim or None, max_blocks=max_blocks)

    def backward(self, loss: wb.array | None = None, grads: Any = None, **options: Any) -> Any:
        """Compute gradients as `workbench.Tape.backward`, also inside of the tape's own `with`, as in Warp.

        Nothing happens, and None is returned, if there is neither a loss, nor gradients, nor a record.
        """
        if loss is not None and grads is not None:
            loss, grads = None, {loss: wb.ones_like(loss), **grads}
        values = [v for one in self.launches for v in (*one[3], *one[4])]
        if loss is None and grads is None and not self.seen:
            return None
        options["retain_grad"] = any(getattr(v, "retain_grad", False) for v in values)
        opened, self._is_open = self._is_open, False
        try:
            with without(self):
                return super().backward(loss, grads, **options)
        finally:
            self._is_open = opened

    def record_scope_begin(self, name: str, metadata: Any = None) -> None:
        """Begin a named scope of launches, which `record_scope_end` ends."""
        self.scopes.append((len(self.launches), name, metadata or {}))
        self._open_scopes.append(len(self.scopes))

    def record_scope_end(self, remove_scope_if_empty: bool = True) -> None:
        """End the scope that was begun last; an empty one is removed, unless `remove_scope_if_empty` is False.

        Raises:
            RuntimeError: no scope is open.
        """
        if not self._open_scopes:
            raise RuntimeError("ended tape scope, but scope not present")
        first = self._open_scopes.pop()
        if remove_scope_if_empty and first == len(self.scopes) and self.scopes[-1][0] == len(self.launches):
            self.scopes.pop()
        else:
            self.scopes.append((len(self.launches), None, None))

    def reset(self) -> None:
        """Set the gradients of all recorded arrays to 0, and forget the records."""
        self.zero()
        self.launches.clear()
        super().reset()


_TAPES: list[Tape] = []
"""The tapes that are open."""


class ScopedCapture:
    """A context manager that captures launches: `with wp.ScopedCapture() as capture: …`.

    `wp.capture_launch(capture.graph)` runs them afterwards.

    Attributes:
        graph: what was captured; None until the block has ended.
    """

    def __init__(self, device: Any = None, stream: Any = None, **options: Any) -> None:
        """Ignore all options: the device is that of the captured launches."""
        self.graph: wb.Graph | None = None
        self._with = wb.capture()
        self._grids: list[tuple[int, str, HashGrid]] = []

    def __enter__(self) -> Self:
        """Begin to capture launches; return this object, which has no graph yet."""
        self._captured = self._with.__enter__()
        _OPEN.append(self)
        return self

    def __exit__(self, *problem: Any) -> None:
        """End the capture, and set `graph`, with the hash grids that its launches take."""
        _OPEN.remove(self)
        self._with.__exit__(*problem)
        self.graph = self._captured
        vars(self.graph)["grids"] = self._grids

    def note(self, kernel: wb.Kernel, dim: Any, values: Sequence[Any]) -> None:
        """Record the hash grids among the values of the next launch: building one again creates other arrays.

        A grid that was not built yet gets room for a point per thread.
        """
        grids = [(n, v) for n, v in zip(kernel.parameters, values, strict=False) if isinstance(v, HashGrid)]
        for name, grid in grids:
            if grid.points.size < 2:  # it is built later
                grid.reserve(math.prod(dim) if isinstance(dim, (tuple, list)) else int(dim))
            self._grids.append((len(self._captured), name, grid))


_OPEN: list[ScopedCapture] = []


def capture_begin(device: Any = None, **options: Any) -> None:
    """Begin a capture of launches, which `capture_end` ends."""
    ScopedCapture(device).__enter__()


def capture_end(device: Any = None, stream: Any = None) -> wb.Graph | None:
    """End the capture that `capture_begin` began.

    Returns:
        The graph.

    Raises:
        LaunchError: no capture is open.
    """
    if not _OPEN:
        raise wb.LaunchError("capture_end() found no open capture.", advice="Call capture_begin() first.")
    capture = _OPEN[-1]
    capture.__exit__(None, None, None)
    return capture.graph


def capture_launch(graph: wb.Graph, stream: Any = None) -> None:
    """Run a captured graph, with the hash grids that it takes as they were built last."""
    for node, name, grid in vars(graph).get("grids", ()):
        graph.update(node, **{f"{name}.{field}": getattr(grid, field) for field in vars(grid) if field != "dtype"})
    graph.launch()


class ScopedTimer(wb.ScopedTimer):
    """A context manager that times a block and prints it: `with wp.ScopedTimer("step", active=True): …`.

    Attributes:
        elapsed: milliseconds; 0 until the block has ended, and without `active`.
    """

    def __init__(
        self, name: str, active: bool = True, print: bool = True, detailed: bool = False,
        dict: dict[str, list[float]] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Create a timer that appends to `dict[name]`, if that is given; other options have no effect."""
        super().__init__(name, active=active, prints=print, times=dict)
        self.elapsed = 0.0
