"""A builtin of the kernel language in one place.

One declaration holds all that is known of a name: type rule, meaning (a Python body on NumPy scalars), CUDA and LLVM
spelling, test domain, adjoint rule. The front end, the three backends, autodiff, the tests and the docs read this table
and nothing else, so a builtin is added by adding a declaration.

    @builtin(same_float, cuda="sin", llvm="llvm.sin", domain=((-3.0, 3.0),))
    def sin(x):
        \"\"\"Sine of x, in radians.\"\"\"
        return np.sin(x)

    sin.adjoint(lambda ct, result, x: (ct * cos(x),))

An adjoint rule gets the cotangent of the result, the result and the operands as `Ref`s and gives one cotangent for each
operand, or None if the result does not depend on it; written with operators and builtins, it works on every backend
and can be differentiated again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args, get_origin

import msgspec
import numpy as np

from workbench.builtins.declaration.refs import Ref, emit
from workbench.builtins.declaration.rules import RULES, Arg, Rule
from workbench.host.narrow import is_tuple
from workbench.host.vectors import ON_HOST, HostVector
from workbench.tiles import Tile, is_shape
from workbench.types import Type, as_type

AdjointRule = Callable[..., tuple[Ref | None, ...]]
Expansion = Callable[..., Ref]
Takes = Callable[[str, Sequence[Arg]], Sequence[Type | None]]


class Builtin(msgspec.Struct, eq=False):
    """An elementwise (or small vector) operation of the language.

    Attributes:
        name: what users write, and the IR operation's name.
        rule: gives operand and result types, or refuses.
        params: the names of the operands.
        doc: what it means, for users.
        reference: the meaning, on NumPy scalars (elementwise) or arrays of shape (length,) (otherwise).
        elementwise: applied component by component on vectors.
        wide: the reference computes in float64 and its result is rounded to the type (transcendental functions).
        cuda: a C function (its name gets the suffix `f` for float32 where it ends in `*`), or a text with `{0}` … for
            the operands; None: by `expand`.
        prelude: CUDA text the spelling needs, as templates; included only where used.
        llvm: `"llvm.sqrt"` (an intrinsic overloaded on the type), `"libm:tan"` (a C function, `f` added for float32),
            a mapping from kind ("float", "int", "uint", "bool") to an instruction of two operands of equal type (or one
            operand where the builtin has one), or None: by `expand`.
        expand: the same result in other builtins, as `Ref`s.
        domain: for each operand, the open interval (low, high) in which tests draw float values.
        ulp: how far, in units of the last place of the result's type, CPU and CUDA may be from the reference.
        gradient: the adjoint rule; None if `differentiable` says why not.
        whole: the adjoint rule holds both on whole vectors and component by component.
        passing: the adjoint rule only passes the cotangent on, so it cannot turn a 0 into a NaN.
        differentiable: "" or the reason why there is no gradient ("integer result", …).
        operator: what users write for it where it is not called by name: "+".
        across: how the bools of a vector's components become one, `and_` or `or_`; empty where a vector is refused or
            gives a vector.
        hidden: users cannot call it: operators, expansions and passes emit it.
    """

    name: str
    rule: Rule
    reference: Callable[..., Any]
    params: tuple[str, ...]
    doc: str
    elementwise: bool = True
    wide: bool = False
    cuda: str | None = None
    prelude: str = ""
    llvm: str | Mapping[str, str] | None = None
    expand: Expansion | None = None
    domain: tuple[tuple[float, float], ...] = ()
    ulp: float = 0
    gradient: AdjointRule | None = None
    whole: bool = False
    passing: bool = False
    differentiable: str = ""
    operator: str = ""
    across: str = ""
    hidden: bool = False

    def __call__(self, *args: Any) -> Any:
        """Emit the operation for `Ref`s; compute on arrays element by element, on numbers as Python and NumPy do."""
        refs = [a for a in args if isinstance(a, Ref)]
        if refs:
            return emit(refs[0].builder, self.name, args)
        for value in args:
            if hasattr(value, "__wb_call__"):
                return value.__wb_call__(self, args)
        if any(isinstance(value, HostVector) for value in args):
            return ON_HOST[0](self, args, {})
        try:
            with np.errstate(all="ignore"):
                return self.reference(*(np.asarray(a)[()] for a in args))
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            passed = ", ".join(type(a).__name__ for a in args)
            raise TypeError(f"{self.name}({', '.join(self.params)}) has no value for ({passed}): {error}") from None

    def adjoint(self, rule: AdjointRule | None = None, *, whole: bool = False, passing: bool = False) -> Any:
        """State the adjoint rule, also by a decorator, with or without arguments; the rule itself is returned.

        Args:
            rule: the rule; None: return the decorator.
            whole: the rule holds both on whole vectors and component by component.
            passing: the rule only passes the cotangent on, so it cannot turn a 0 into a NaN.
        """
        if rule is None:
            return partial(self.adjoint, whole=whole, passing=passing)
        self.gradient, self.whole, self.passing = rule, whole, passing
        return rule

    def expansion(self, rule: Expansion) -> Expansion:
        """State how other builtins compute the operation, also by a decorator; the function, of `Ref`s, is returned."""
        self.expand = rule
        return rule

    def __repr__(self) -> str:
        """Return a short text with the name."""
        return f"<builtin {self.name}>"


@dataclass(frozen=True)
class Form:
    """A name of the language that is no elementwise operation: the front end lowers each in its own way.

    Attributes:
        name: what users write.
        signature: for the docs: `atomic_add(array, i, …, value)`.
        doc: what it means.
        rebinds: the argument that a call changes, as a position and a keyword: a local name, which the call rebinds.
        body: a function of the kernel language, which a call inlines; None if the front end has code for the name.
        takes: of a body: from the types of the arguments to the types the body takes; None for one that stays as it is.
        of: of a body: the struct that its first argument must be, and a field by which that is known; `takes` then
            says what the others are.
        gradients: the body's own gradient, a function as for `@func_grad`; none: that of its lines.
    """

    name: str
    signature: str
    doc: str = field(repr=False)
    rebinds: tuple[int, str] | None = None
    body: Callable[..., Any] | None = field(default=None, repr=False)
    takes: Takes | None = field(default=None, repr=False)
    of: tuple[str, str] | None = field(default=None, repr=False)
    gradients: list[Callable[..., Any]] = field(default_factory=list[Callable[..., Any]], repr=False, compare=False)

    def derivative(self, gradient: Callable[..., Any]) -> Callable[..., Any]:
        """State the gradient by a decorator: a function of the arguments and of the adjoints of the results."""
        self.gradients.append(gradient)
        return gradient

    def __getitem__(self, key: Any) -> Tile:
        """Return `tile[float, 4, 4]`: the type of a tile, to annotate a func's parameter.

        Raises:
            TypeError: it is another name, or no type and shape.
        """
        dtype, *written = key if is_tuple(key) else (key,)
        shape = tuple(get_args(n)[0] if get_origin(n) is Literal else n for n in written)
        sizes = shape[0] if len(shape) == 1 and is_tuple(shape[0]) else shape
        if self.name != "tile" or not is_shape(sizes):
            raise TypeError(f"{self.name}[…] is no type; a tile's is tile[float, 4, 4]: its elements, then its sizes")
        return Tile(as_type(dtype), sizes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result for values of Python, where the name has one outside kernels; `static(x)` is x.

        Raises:
            TypeError: it has a meaning only inside a kernel.
        """
        if self.name == "static" and len(args) == 1 and not kwargs:
            return args[0]
        return ON_HOST[0](self, args, kwargs)


TABLE: dict[str, Builtin] = {}
FORMS: dict[str, Form] = {}
STATE = (0, "")  # what a draw rebinds: its first argument


def builtin(rule: Rule, *, name: str = "", **attributes: Any) -> Callable[[Callable[..., Any]], Builtin]:
    """Declare a builtin by a decorator; the function is its reference, its docstring the documentation.

    Args:
        rule: its type rule.
        name: its name; that of the function if empty.
        attributes: others of `Builtin`.

    Raises:
        ValueError: the name is taken.
    """

    def declare(reference: Callable[..., Any]) -> Builtin:
        code = reference.__code__
        label = name or reference.__name__
        if label in TABLE or label in FORMS:
            raise ValueError(f"the builtin {label} is declared twice")
        params = code.co_varnames[: code.co_argcount]
        entry = Builtin(label, rule, reference, params, (reference.__doc__ or "").strip(), **attributes)
        TABLE[label], RULES[label] = entry, rule
        return entry

    return declare


def form(signature: str, doc: str, rebinds: tuple[int, str] | None = None) -> Form:
    """Declare a name that the front end lowers in its own way; return its form, which is in `FORMS` from now on.

    Args:
        signature: for the docs; the name is what stands before the first bracket.
        doc: what it means.
        rebinds: the argument, a local name, that a call changes, as a position and a keyword; None for none.
    """
    name = signature.split("(")[0].split("[")[0]
    FORMS[name] = Form(name, signature, doc, rebinds)
    return FORMS[name]


def written(
    signature: str, takes: Takes | None = None, *, of: tuple[str, str] | None = None, draws: bool = False
) -> Callable[..., Form]:
    """Declare a name by a function of the kernel language, by a decorator; its docstring is the documentation.

    The function is read as source code when a kernel first calls it, and sees the names of its module. Its parameters
    have no annotations: `takes` says what they are.

    Args:
        signature: for the docs. A name that begins with `_` is for other such functions alone.
        takes: the types of the arguments; None if they are whatever they are.
        of: the struct that the first argument must be, and a field of it; `takes` is then of the others.
        draws: the first parameter is a random state; the function returns the advanced state after its results, and a
            call rebinds the local name that it was given.
    """

    def declare(body: Callable[..., Any]) -> Form:
        name = signature.split("(")[0]
        form = Form(name, signature, inspect.cleandoc(body.__doc__ or ""), STATE if draws else None, body, takes, of)
        if not name.startswith("_"):
            FORMS[name] = form
        return form

    return declare
