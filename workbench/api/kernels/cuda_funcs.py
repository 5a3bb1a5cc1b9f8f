"""Funcs with CUDA text: `func_native`."""

from __future__ import annotations

from collections.abc import Callable

from workbench.api.kernels.func import Func
from workbench.api.kernels.source_text import definition_of
from workbench.frontend import Custom, Definition, native_of


def func_native(
    cuda: str, adj_cuda: str | None = None, replay_cuda: str | None = None, *, source: str | None = None
) -> Callable[[Callable[..., object]], Func]:
    """Decorator: make a func of CUDA C++ source; off CUDA it is its Python body, which defines its meaning.

    The source sees the parameters by name (an array as `x.data`, `x.shape[k]`, `x.strides[k]` in bytes) and returns
    its one result by `return`; its type is the def's annotation. Where the body is `...`, kernels that call the func
    run on CUDA alone.

    Args:
        cuda: the statements.
        adj_cuda: statements that add to `adj_x` for every input x of floats (a number, a vector, or an array like x),
            given the result's adjoint `adj_ret`. Without them the gradient is derived from the Python body.
        replay_cuda: statements that compute the result again without effects, for adjoints.
        source: the function's source code, if Python cannot find it.

    Returns:
        A decorator that returns a `Func`.

    Raises:
        KernelTypeError: a parameter has no type.
    """
    return lambda function: with_text(definition_of(function, source), cuda, adj_cuda, replay_cuda)


def with_text(definition: Definition, cuda: str, adj_cuda: str | None = None, replay_cuda: str | None = None) -> Func:
    """Return a new func of this definition, which on CUDA is these CUDA C++ statements in place of its Python body.

    Args:
        definition: the func's Python text.
        cuda: the statements.
        adj_cuda: statements of its gradient; None derives that from the Python body.
        replay_cuda: statements that compute the result again without effects; None: there are none.

    Raises:
        KernelTypeError: a parameter has no type.
    """
    func = Func(definition)
    func.__wb_customs__[definition] = Custom(native=native_of(definition, cuda, adj_cuda, replay_cuda))
    return func
