"""Derivatives of Python functions that launch kernels: `grad`, `value_and_grad`, `jvp`, `hvp`, `jacobian`, `hessian`.

They are made of the tape (reverse) and of `Dual` (forward), and each is itself such a function: they can be taken of
one another.

`jvp` and `hvp` are made of launches of a kernel's tangent: of the kernel, and with it the derivative along given
tangents (`launch_tangent`). By itself that is what another library's forward mode (JAX's `jvp` rule) calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import Any, TypeVar, overload

import numpy as np
from msgspec.structs import replace

from workbench.api.builds.arguments import Dim, check
from workbench.api.builds.bind import bind, overlap
from workbench.api.gradients.sparse import Pattern, Product, as_pattern, compressed
from workbench.api.graphs.capture import capture_body
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import launch_options, prepare
from workbench.api.narrow import is_float_array
from workbench.api.tapes.cuts import refuse_conversion
from workbench.api.tapes.tape import Tape
from workbench.autodiff import parameters, tangent_names, then
from workbench.errors import LaunchError, its_type, must_be
from workbench.frontend.names.python_names import PYTHON_FORMS
from workbench.host.narrow import HostArray, is_list
from workbench.runtime.active_observers import observing, outside
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import Twins, refuse_apart
from workbench.runtime.arrays.create import clone, zeros_like
from workbench.runtime.device.device import Device
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.mapped import Mapped
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.work import Graph, Nodes, branched
from workbench.types import Scalar, Vector, element, is_complex, is_float


def launch_tangent(
    kernel: Kernel,
    dim: Dim,
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    *,
    tan_inputs: Sequence[object] = (),
    tan_outputs: Sequence[object] = (),
    device: Device | str | None = None,
    fast_math: bool = False,
    checks: bool | None = None,
) -> None:
    """Run a kernel and, with it, the derivative along tangents: forward mode.

    Does all that `wb.launch(kernel, dim, inputs, outputs)` does; besides, the tangent of every array becomes the
    derivative of what the array has become, along the tangents of what the arrays and numbers were.

        wb.launch_tangent(square, 3, inputs=[x], outputs=[y], tan_inputs=[dx], tan_outputs=[dy])   # dy = 2 x dx

    Args:
        kernel, dim, inputs, outputs, device, fast_math, checks: as for `launch`.
        tan_inputs: for each input its tangent: an array like it, a number for a number; None (and what is left out)
            is 0. What belongs to an argument of integers is None.
        tan_outputs: the same for `outputs`; an array that is given holds the result.

    Raises:
        LaunchError: an argument or a tangent does not fit; nothing has run.
        NotDifferentiable: a derivative would flow through what has none.
    """
    options = launch_options(kernel, checks, fast_math)
    record = prepare(kernel, dim, [*inputs, *outputs], device=device, options=options)
    tangents = [*tan_inputs, *[None] * (len(inputs) - len(tan_inputs)), *tan_outputs]
    if len(tan_inputs) > len(inputs) or len(tan_outputs) > len(outputs):
        raise LaunchError(f"{kernel.name}: there are more tangents than arguments.", advice="Give one an argument.")
    names = dict(zip(record.arguments, tangents, strict=False))
    execute(bind_tangent(record, {n: t for n, t in names.items() if t is not None}))


def bind_tangent(record: LaunchRecord, tangents: Mapping[str, object]) -> LaunchRecord:
    """Return the record of a recorded launch's tangent, given tangents by parameter; those left out are 0.

    Raises:
        LaunchError: a tangent does not fit its argument.
        NotDifferentiable: there is no tangent.
    """
    slots = {s.name: s.type for s in record.executable.layout.slots}
    everything = parameters(record.specialisation.function.params, record.direction)
    params = [p for p in everything if is_float(p.type)]
    names = tangent_names(everything)
    kernel, device = record.specialisation.kernel, record.executable.device
    for name in tangents:
        if name not in names:
            raise LaunchError(f"{kernel.name}: {name} is {slots[name]!r} and has no tangent.", parameter=name)
    complete: dict[str, object] = {}
    for p in params:
        name, argument, value = names[p.name], record.arguments[p.name], tangents.get(p.name)
        if value is None:
            value = zeros_like(argument) if isinstance(argument, array) else _zero(p.type)
        value = check(kernel, name, p.type, value, device)
        if isinstance(value, array) and value.shape != argument.shape:
            raise LaunchError(
                f"{kernel.name}: {name} has shape {value.shape}; {p.name} has {argument.shape}.", parameter=name
            )
        complete[name] = value
    direction = then(record.direction, "tangent")
    arguments = {**record.arguments, **complete}
    return bind(record.specialisation, direction, record.dim, arguments, device, record.launch_options)


def _zero(type: object) -> object:
    """Return the zero tangent of a number or vector parameter."""
    return type() if isinstance(type, Vector) else 0.0


Arguments = int | Sequence[int]
R = TypeVar("R")


@overload
def grad(f: Callable[..., object], argnums: int = 0) -> Callable[..., array]: ...
@overload
def grad(f: Callable[..., object], argnums: Sequence[int]) -> Callable[..., tuple[array, ...]]: ...
def grad(f: Callable[..., object], argnums: Arguments = 0) -> Callable[..., array | tuple[array, ...]]:
    """Return the gradient of a function that launches kernels and returns an array of one float.

        >>> import numpy as np, workbench as wb
        >>> @wb.kernel
        ... def squares(x: wb.array[float], out: wb.array[float]):
        ...     i = wb.tid()
        ...     wb.atomic_add(out, 0, x[i] * x[i])
        >>> def energy(x):
        ...     out = wb.zeros(1)
        ...     wb.launch(squares, len(x), inputs=[x], outputs=[out])
        ...     return out
        >>> wb.grad(energy)(wb.array([1.0, 2.0, 3.0])).numpy()
        array([2., 4., 6.], dtype=float32)
        >>> wb.grad(lambda x: energy(wb.grad(energy)(x)))(np.float32([1, 2, 3])).numpy()   # of |2x|²
        array([ 8., 16., 24.], dtype=float32)

    The function's launches, copies and fills are recorded on a separate tape; the `.grad` of arrays stays as it is.
    NumPy arrays among the arguments are copied to arrays; what the function computes with NumPy has no derivative.

    Args:
        f: a function of arrays (and anything else).
        argnums: which argument, or which arguments, to differentiate by.

    Returns:
        A function of the same arguments. It returns an array of the argument's shape and dtype, or a tuple of them if
        `argnums` is a sequence. It raises LaunchError (the argument holds no floats, or the result is not a single
        float that a launch has written) and NotDifferentiable.
    """
    both = value_and_grad(f, argnums)

    @wraps(f)
    def gradient(*args: object, **options: object) -> array | tuple[array, ...]:
        return both(*args, **options)[1]

    return gradient


PYTHON_FORMS[grad] = "grad"  # type: ignore[index]  (in kernels: of a func)


@overload
def value_and_grad(f: Callable[..., object], argnums: int = 0) -> Callable[..., tuple[array, array]]: ...
@overload
def value_and_grad(
    f: Callable[..., object], argnums: Sequence[int]
) -> Callable[..., tuple[array, tuple[array, ...]]]: ...
def value_and_grad(
    f: Callable[..., object], argnums: Arguments = 0
) -> Callable[..., tuple[array, array | tuple[array, ...]]]:
    """Return a function that computes both the value and the gradient of `f` in one run: see `grad`.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def product(x: wb.array[float], y: wb.array[float], out: wb.array[float]):
        ...     i = wb.tid()
        ...     wb.atomic_add(out, 0, x[i] * y[i])
        >>> def inner(x, y):
        ...     out = wb.zeros(1)
        ...     wb.launch(product, len(x), inputs=[x, y], outputs=[out])
        ...     return out
        >>> value, (dx, dy) = wb.value_and_grad(inner, (0, 1))(wb.array([1.0, 2.0]), wb.array([3.0, 5.0]))
        >>> float(value), dx.numpy(), dy.numpy()
        (13.0, array([3., 5.], dtype=float32), array([1., 2.], dtype=float32))

    Returns:
        A function that returns the pair (the function's result, the gradient).
    """

    @wraps(f)
    def both(*args: object, **options: object) -> tuple[array, array | tuple[array, ...]]:
        values = _values(f, args)
        by = _chosen(f, argnums, values)
        tape = Tape(into_grad=False, only=by)
        with tape:
            result = _checked(f, f(*values, **options))
        if result.size != 1 or not isinstance(result.dtype, Scalar):
            raise LaunchError(
                f"{_name(f)} returns {result.type!r} of shape {result.shape}; a gradient is of one float.",
                advice="Sum it in a kernel, or use wb.jacobian.",
            )
        _check_written(f, bool(tape.path([result])))
        tape.backward(result)
        return result, _shaped(argnums, [_owned(tape.adjoint_of(x)) for x in by])

    return both


def jvp(f: Callable[..., R], argnums: Arguments = 0) -> Callable[..., tuple[R, R]]:
    """Return a function that computes the value of `f` and its derivative along a direction, in forward mode.

    It takes one run and stores nothing for a backward pass.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def sines(x: wb.array[float], y: wb.array[float]):
        ...     i = wb.tid()
        ...     y[i] = wb.sin(2.0 * x[i])
        >>> def wave(x):
        ...     y = wb.zeros_like(x)
        ...     wb.launch(sines, len(x), inputs=[x], outputs=[y])
        ...     return y
        >>> y, dy = wb.jvp(wave)(wb.zeros(3), along=wb.array([1.0, 2.0, 3.0]))
        >>> dy.numpy()
        array([2., 4., 6.], dtype=float32)

    Args:
        f: a function of arrays (and anything else) that returns an array, or a tuple of arrays.
        argnums: which argument, or which arguments, move.

    Returns:
        A function of the same arguments and `along`: an array like the argument, or a sequence of them where `argnums`
        is one. It returns the pair (result, derivative). Raises as `grad`'s does.
    """

    @wraps(f)
    def both(*args: object, along: object, **options: object) -> tuple[Any, Any]:
        values = _values(f, args)
        by = _chosen(f, argnums, values)
        dual = Dual()
        for x, direction in zip(by, _directions(f, argnums, by, along), strict=True):
            dual.tangents.of(x).copy_(direction)
        with observing(dual):
            result = f(*values, **options)
        refuse_apart(dual.seen, dual.written)
        tangents: list[array] = []
        for one in result if is_list(result) else (result,):
            value = _checked(f, one)
            _check_written(f, value.memory in dual.written or value in dual.tangents)
            tangents.append(clone(dual.tangents.of(value)) if value in dual.tangents else zeros_like(value))
        return result, tuple(tangents) if is_list(result) else tangents[0]

    return both


@overload
def hvp(f: Callable[..., object], argnums: int = 0) -> Callable[..., array]: ...
@overload
def hvp(f: Callable[..., object], argnums: Sequence[int]) -> Callable[..., tuple[array, ...]]: ...
def hvp(f: Callable[..., object], argnums: Arguments = 0) -> Callable[..., array | tuple[array, ...]]:
    """Return a function that computes the Hessian of `f` times a direction, at the price of a few gradients.

    It takes the gradient's derivative in forward mode.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def cubes(x: wb.array[float], out: wb.array[float]):
        ...     i = wb.tid()
        ...     wb.atomic_add(out, 0, x[i] * x[i] * x[i])
        >>> def total(x):
        ...     out = wb.zeros(1)
        ...     wb.launch(cubes, len(x), inputs=[x], outputs=[out])
        ...     return out
        >>> wb.hvp(total)(wb.array([1.0, 2.0]), along=wb.array([1.0, 1.0])).numpy()
        array([ 6., 12.], dtype=float32)

    Returns:
        A function of the same arguments and `along`, as `jvp`'s; it returns what `grad`'s does.
    """
    pushed = jvp(grad(f, argnums), argnums)

    @wraps(f)
    def product(*args: object, along: object = None, **options: object) -> array | tuple[array, ...]:
        if along is None:
            raise LaunchError("A product with the Hessian has a direction: pass along=, an array like the argument.")
        return pushed(*args, along=along, **options)[1]

    return product


def jacobian(
    f: Callable[..., object], argnums: int = 0, mode: str = "auto", *, sparse: Any = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f`: all partial derivatives of the array that it returns.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def differences(x: wb.array[float], y: wb.array[float]):
        ...     i = wb.tid()
        ...     y[i] = x[i + 1] - x[i]
        >>> def slopes(x):
        ...     y = wb.zeros(len(x) - 1)
        ...     wb.launch(differences, len(y), inputs=[x], outputs=[y])
        ...     return y
        >>> wb.jacobian(slopes)(wb.array([1.0, 4.0, 9.0])).numpy()
        array([[-1.,  1.,  0.],
               [ 0., -1.,  1.]], dtype=float32)

    Args:
        f: a function of arrays (and anything else) that returns an array.
        argnums: which argument to differentiate by.
        mode: "reverse", one backward pass for each number of the result; "forward", one run of the function for each
            number of the argument; "auto": whichever needs fewer.
        sparse: True returns a matrix of SciPy: the entries that may not be 0 are found from the elements that the
            kernels access with these arguments, and numbers whose columns share no row are moved together. A matrix:
            its entries say which may not be 0; an earlier result, at another point, saves finding and colouring them.
            Two products with random vectors check the result.

    Returns:
        A function of the same arguments. It returns an array of scalars; its shape is the result's followed by the
        argument's (components of vectors count as axes), of at most 4 dimensions. With `sparse` it returns a
        `scipy.sparse.csr_array` with a row for each number of the result and a column for each number of the argument,
        whose attribute `sweeps` is the number of runs that computed it. That raises NotDifferentiable if the pattern
        misses an entry, or is not given and a kernel works on tiles; ImportError without SciPy.

    Raises:
        ValueError: another mode.
    """
    if mode not in ("auto", "reverse", "forward"):
        raise ValueError(f'mode is "auto", "reverse" or "forward", not {mode!r}')
    f = _of_reals(f)

    @wraps(f)
    def matrix(*args: object, **options: object) -> Any:
        values = _values(f, args)
        (x,) = _chosen(f, argnums, values)
        if sparse is not False:
            return _compressed(f, argnums, mode, sparse, values, options)
        return _dense(f, argnums, mode, x, values, options)

    return matrix


def _dense(
    f: Callable[..., object], argnum: int, mode: str, x: array, values: list[object], options: dict[str, object]
) -> array:
    """Return the dense Jacobian of a function by one argument, of shape (*result, *argument), on the argument's device.

    Raises:
        LaunchError: it has more than 4 dimensions, or backwards the result was written by nothing that ran.
    """
    result, tape, products = _products(f, argnum, values, options)
    rows, columns = result.numpy(), x.numpy()
    if rows.ndim + columns.ndim > 4:
        raise LaunchError(
            f"The Jacobian of {_name(f)} has {rows.ndim} + {columns.ndim} dimensions; an array has at most 4.",
            advice="Flatten the argument or the result.",
        )
    back = mode == "reverse" or (mode == "auto" and rows.size <= columns.size)
    if back:
        _check_written(f, bool(tape.path([result])))
    derivatives = np.zeros((rows.size, columns.size), rows.dtype)
    lines, seed = (derivatives, np.zeros_like(rows)) if back else (derivatives.T, np.zeros_like(columns))
    for k, line in enumerate(lines):
        seed.flat[k] = 1
        line[:] = products["reverse" if back else "forward"](seed)
        seed.flat[k] = 0
    return array(derivatives.reshape(*rows.shape, *columns.shape), element(x.dtype), device=x.device)


def hessian(f: Callable[..., object], argnums: int = 0, *, sparse: Any = False) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `f`: the Jacobian of its gradient, in forward mode.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def springs(x: wb.array[float], energy: wb.array[float]):
        ...     i = wb.tid()
        ...     wb.atomic_add(energy, 0, (x[i + 1] - x[i]) ** 2.0)
        >>> def energy(x):
        ...     out = wb.zeros(1)
        ...     wb.launch(springs, len(x) - 1, inputs=[x], outputs=[out])
        ...     return out
        >>> wb.hessian(energy)(wb.array([1.0, 4.0, 9.0])).numpy()
        array([[ 2., -2.,  0.],
               [-2.,  4., -2.],
               [ 0., -2.,  2.]], dtype=float32)
        >>> h = wb.hessian(energy, sparse=True)(wb.array([0.0] * 1000))
        >>> h.nnz, h.sweeps
        (2998, 3)

    Args:
        f: a function of arrays (and anything else) that returns an array of one float.
        argnums: which argument to differentiate by.
        sparse: as for `jacobian`.

    Returns:
        A function of the same arguments; it returns and raises what `jacobian`'s does.
    """
    return jacobian(grad(f, argnums), argnums, "forward", sparse=sparse)


def _fresh(values: Sequence[object]) -> list[object]:
    """Return the arguments with each array cloned; other values stay themselves."""
    return [clone(v) if isinstance(v, array) else v for v in values]


def _compressed(
    f: Callable[..., object], argnum: int, mode: str, wanted: Any, values: list[object], options: dict[str, object]
) -> Any:
    """Return the Jacobian as a SciPy matrix, from few products.

    Args:
        f: the function.
        argnum: the argument to differentiate by.
        mode: "reverse", "forward" or "auto".
        wanted: True, or a matrix that has the pattern.
        values, options: the function's arguments.

    Raises:
        LaunchError: `wanted` is neither.
    """
    if wanted is not True and not hasattr(wanted, "tocsr") and np.ndim(wanted) != 2:
        message = f"sparse is True, False, or a matrix that has the pattern; this is {its_type(wanted)}."
        raise LaunchError(message, parameter="sparse")
    x = values[argnum]
    assert isinstance(x, array)
    watch = Pattern(x) if wanted is True else None
    result, _, both = _products(f, argnum, values, options, watch)
    pattern = watch.of(result) if watch is not None else as_pattern(wanted, (result.numpy().size, x.numpy().size))
    products = {m: product for m, product in both.items() if mode in ("auto", m)}
    return compressed(pattern, mode, products, element(x.dtype).numpy, None if wanted is True else wanted)


def _products(
    f: Callable[..., object],
    argnum: int,
    values: list[object],
    options: dict[str, object],
    watch: Pattern | None = None,
) -> tuple[array, Tape, dict[str, Product]]:
    """Run the function; return its result, the tape of that run, and functions that multiply by its Jacobian.

    Those are "forward", which maps a direction to the Jacobian times it and runs the function again on fresh copies of
    the arguments, and "reverse", which multiplies by the transposed Jacobian.
    """
    x = values[argnum]
    assert isinstance(x, array)
    before, moved_shape = _fresh(values), x.numpy().shape
    tape = Tape(into_grad=False, accumulate=False, only=[x])
    with tape, observing(watch) if watch is not None else nullcontext():
        result = _checked(f, f(*values, **options))
    shape = result.numpy().shape

    def forward(along: HostArray) -> HostArray:
        direction = array(along.reshape(moved_shape), x.dtype, device=x.device)
        _, moved = jvp(f, argnum)(*_fresh(before), along=direction, **options)
        assert isinstance(moved, array)
        return moved.numpy().reshape(-1)

    def reverse(seed: HostArray) -> HostArray:
        tape.backward(grads={result: seed.reshape(shape)})
        return tape.adjoint_of(x).numpy().reshape(-1)

    return result, tape, {"forward": forward, "reverse": reverse}


def _name(f: Callable[..., object]) -> str:
    """Return the function's name for messages."""
    return getattr(f, "__name__", "the function")


def _values(f: Callable[..., object], args: Sequence[object]) -> list[object]:
    """Return the arguments, with NumPy arrays copied to arrays.

    Raises:
        LaunchError: `f` is not a function: a kernel, say.
    """
    if hasattr(f, "__wb_kernel__"):
        raise LaunchError(
            f"{_name(f)} is a kernel; derivatives are taken of a Python function that launches it.",
            advice="Write a function that makes the output, launches the kernel and returns the output.",
        )
    must_be(f, Callable, "Derivatives are taken of a function that launches kernels")
    return [array(a) if isinstance(a, np.ndarray) and a.ndim else a for a in args]


def _chosen(f: Callable[..., object], argnums: Arguments, values: list[object]) -> list[array]:
    """Return the arguments to differentiate by.

    One that shares memory with another argument is replaced by a copy, in `values` too, since derivatives belong to
    memories.

    Raises:
        LaunchError: there is none of that number, it is not an array of floats, or one is named twice.
    """
    chosen: list[array] = []
    if not isinstance(argnums, int) and len({k % max(1, len(values)) for k in argnums}) < len(argnums):
        raise LaunchError(f"argnums={tuple(argnums)} names an argument of {_name(f)} twice.", parameter="argnums")
    for k in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(values) <= k < len(values):
            raise LaunchError(f"{_name(f)} was given {len(values)} arguments; there is no argument {k}.")
        value = values[k]
        if not isinstance(value, array):
            raise LaunchError(
                f"Argument {k} of {_name(f)} is {type(value).__name__}; derivatives are by arrays of floats.",
                advice="Pass an array of one element: wb.array([2.0]).",
            )
        if not is_float(value.dtype):
            raise LaunchError(
                f"Argument {k} of {_name(f)} is {value.type!r}; integers have no derivative.",
                advice="Pass floats, or choose another argument by argnums.",
            )
        others = [v for j, v in enumerate(values) if j != k % len(values) and isinstance(v, array)]
        if any(overlap({"": value, "other": other}) for other in others):
            value = values[k] = clone(value)
        chosen.append(value)
    return chosen


def _directions(f: Callable[..., object], argnums: Arguments, by: Sequence[array], along: Any) -> list[array]:
    """Return one direction for each array in `by`, as an array on its device.

    Raises:
        LaunchError: too few or too many directions, or one whose shape or dtype is not its argument's.
    """
    directions = (along,) if isinstance(argnums, int) else tuple(along)
    if len(directions) != len(by):
        raise LaunchError(f"{_name(f)} moves {len(by)} arguments; `along` has {len(directions)} directions.")
    checked: list[array] = []
    for x, direction in zip(by, directions, strict=True):
        own = direction if isinstance(direction, array) else array(np.asarray(direction), x.dtype, device=x.device)
        if own.shape != x.shape or own.dtype != x.dtype:
            raise LaunchError(
                f"A direction is like its argument, {x.type!r} of shape {x.shape}; this is {own.type!r} of shape "
                f"{own.shape}."
            )
        checked.append(own)
    return checked


def _of_reals(f: Callable[..., object]) -> Callable[..., object]:
    """Wrap a function so that it raises LaunchError where complex arrays go in or come out."""

    @wraps(f)
    def real(*args: object, **options: object) -> object:
        result = f(*args, **options)
        for value in (*args, result):
            if isinstance(value, array) and is_complex(value.dtype):
                message = f"jacobian() is of real functions; {_name(f)} takes or returns {value.type!r}."
                raise LaunchError(message, advice="Take wb.jvp(f), or wb.grad of a real number.")
        return result

    return real


def _checked(f: Callable[..., object], result: object) -> array:
    """Return the function's result; raise a LaunchError if it is not an array of floats."""
    if not is_float_array(result):
        what = repr(result.type) if isinstance(result, array) else type(result).__name__
        raise LaunchError(
            f"{_name(f)} returns {what}; a derivative is of an array of floats.",
            advice="Return the array that a kernel has written, not a number taken out of it.",
        )
    return result


def _check_written(f: Callable[..., object], written: bool) -> None:
    """Raise a LaunchError if the function's result was not written by work that ran inside it."""
    if not written:
        raise LaunchError(
            f"The result of {_name(f)} was written by no launch, copy or fill that ran inside it.",
            advice="What NumPy computes has no derivative here: compute it in a kernel.",
        )


def _owned(adjoint: array) -> array:
    """Return an adjoint of a tape that is about to be dropped: a copy where it is a part of a larger array."""
    is_all = adjoint.is_contiguous and adjoint.nbytes == adjoint.memory.nbytes
    return adjoint if is_all else clone(adjoint)


def _shaped(argnums: Arguments, gradients: list[array]) -> array | tuple[array, ...]:
    """Return the gradient alone if `argnums` is one number, else a tuple of all gradients."""
    return gradients[0] if isinstance(argnums, int) else tuple(gradients)


class Dual(Observer):
    """An observer that computes tangents of all that runs while it is open: forward mode.

    Attributes:
        tangents: by array; an array that has none has the tangent 0.
        seen: memories of all float arrays that took part.
        written: memories of those that were changed.
    """

    takes = differentiates = True

    def __init__(self) -> None:
        self.tangents = Twins()
        self.seen: set[Memory] = set()
        self.written: set[Memory] = set()

    def launching(self, record: LaunchRecord) -> None:
        """Run the tangent of a launch, which runs the launch too; the launch alone if none of its arrays has a tangent.

        Raises:
            NotDifferentiable: the kernel has no tangent.
        """
        floats = {n: a for n, a in record.arguments.items() if isinstance(a, array) and is_float(a.dtype)}
        self.seen |= {a.memory for a in floats.values()}
        self.written |= {floats[n].memory for n in record.writes & floats.keys()}
        with outside(self):
            if any(a in self.tangents for a in floats.values()):
                record = bind_tangent(record, {n: self.tangents.of(a) for n, a in floats.items()})
            execute(record)

    def branching(self, node: Graph) -> Graph:
        """Capture the tangent of a branch or loop, in which all float arrays have tangents; return the node itself."""
        floats = [a for a in node.accesses if is_float(a.array.dtype)]
        self.seen |= {a.array.memory for a in floats}
        self.written |= {a.array.memory for a in floats if a.writes}
        with outside(self):
            for access in floats:
                self.tangents.of(access.array)
            branched(replace(node, graphs={name: self._tangent(body) for name, body in node.bodies.items()}))
        return node

    def _tangent(self, body: Nodes) -> Nodes:
        """Return the body of a branch or loop captured again, with the tangents of all its work."""
        with capture_body() as tangent, observing(self):
            body.launch()
        return tangent

    def copying(self, target: array, source: array) -> None:
        """Copy an array together with its tangent."""
        self._change(target, source)
        with outside(self):
            if source in self.tangents:
                self.tangents.of(target).copy_(self.tangents.of(source))
            elif target in self.tangents:
                self.tangents.of(target).fill_(0)
            target.copy_(source)

    def adding(self, target: array, source: array) -> None:
        """Add an array, and its tangent, to another one."""
        self._change(target, source)
        with outside(self):
            if source in self.tangents:
                self.tangents.of(target).add_(self.tangents.of(source))
            target.add_(source)

    def converting(self, source: array, dtype: object) -> None:
        """Refuse to convert an array that has a tangent to another float type, which would lose it.

        Raises:
            NotDifferentiable: it has one.
        """
        if source in self.tangents and is_float(dtype):
            raise refuse_conversion(source, dtype)

    def filling(self, target: array, value: float) -> None:
        """Fill an array with a constant, and set its tangent, if it has one, to 0."""
        self._change(target, target)
        with outside(self):
            if target in self.tangents:
                self.tangents.of(target).fill_(0)
            target.fill_(value)

    def mapping(self, mapped: Mapped) -> None:
        """Announce the correction of a result such as a linear solve, and add its derivative to the target's."""
        self._change(mapped.target, mapped.source)
        with outside(self):
            mapped.note()
            if mapped.source in self.tangents:
                self.tangents.of(mapped.target).add_(mapped.along(self.tangents.of(mapped.source)))

    def _change(self, target: array, source: array) -> None:
        """Note that both arrays took part, and that the target is written."""
        self.seen |= {target.memory, source.memory}
        self.written.add(target.memory)
