"""Values that change between launches without a compilation, as a shader's uniforms do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextvars import Context
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

IN_USE: list[bool] = []
"""Not empty once a `Uniform` exists; launches test it."""
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_COMPARED = ("lt", "le", "gt", "ge")


class Uniform:
    """A number or vector that a kernel reads by name, or takes as an argument, and that may change at any time.

    A kernel that reads one by name has a parameter more, whose default is the uniform. In ordinary Python it computes
    as the value that it has at that moment.

    Attributes:
        type: the type of the kernel's parameter.
        arrays: arrays of one element that hold its value for kernels that take an array; they follow `set`.
        read: called when ordinary Python, or a launch that is not recorded, takes the value.
    """

    __hash__ = object.__hash__

    def __init__(self, value: Any, type: Any) -> None:
        """Wrap `value`, a Python number or a vector; `type` is what a kernel takes it as."""
        self._value, self.type = value, type
        self.arrays: dict[Any, Any] = {}
        self._users: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self.read: Callable[[Uniform], None] = lambda _: None
        IN_USE[:] = [True]

    @property
    def value(self) -> Any:
        """The current value; each use of it is noted as a read."""
        self.read(self)
        return self._value

    def set(self, value: Any) -> None:
        """Change the value, from now on and in its arrays; nothing runs again."""
        self._value = value
        self.store()

    def store(self) -> None:
        """Write the value to its arrays again, in case that something else was written there.

        Open recorders and tapes do not see it.
        """
        for held in self.arrays.values():
            Context().run(held.fill_, self._value)  # unseen by recorders and tapes

    @property
    def users(self) -> list[Any]:
        """The records and kept launches that took its value and can run again with another one, the first one first."""
        return list(self._users.values())

    def taken_by(self, user: Any) -> None:
        """Note a user, such as a record, that takes the value; it is not kept alive."""
        self._users.setdefault(id(user), user)

    def peek(self) -> Any:
        """Return the current value, without noting the read."""
        return self._value

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        """Return the value as an index, if it is an integer."""
        return operator.index(self.value)

    def __bool__(self) -> bool:
        """Return whether the value is not 0; of a vector, whether a component is not."""
        return bool(np.any(self.value))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the value as a NumPy array."""
        return np.asarray(self.value, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a function of NumPy's to the values of the uniforms among its inputs."""
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __getitem__(self, index: Any) -> Any:
        """Return a component of the value."""
        return self.value[index]

    def __len__(self) -> int:
        """Return the number of components of the value, which is a vector."""
        return len(self.value)

    def __neg__(self) -> Any:
        return -self.value

    def __abs__(self) -> Any:
        return abs(self.value)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value, digits)

    def __format__(self, form: str) -> str:
        """Format the value as such a number or vector would be."""
        return format(self.value, form)

    def __eq__(self, other: object) -> Any:
        """Return whether the other is this uniform or equal to its value; of a vector that is its type's comparison."""
        return self is other or self.value == _plain(other)

    def __reduce__(self) -> Any:
        """Pickle as the present value, without the uniform."""
        return _plain, (self._value,)  # elsewhere it is a number


def _plain(value: Any) -> Any:
    """Return the present value of a uniform, as a read of it; any other value itself."""
    return value.value if isinstance(value, Uniform) else value


def _operator(name: str) -> None:
    """Add an operator, such as `add`, to the class `Uniform`, which acts on its present value.

    A binary one also gets its reflected form.
    """
    compute: Any = getattr(operator, name)

    def left(self: Uniform, other: Any) -> Any:
        return compute(self.value, _plain(other))

    def right(self: Uniform, other: Any) -> Any:
        return compute(_plain(other), self.value)

    setattr(Uniform, f"__{name}__", left)
    if name in _BINARY:
        setattr(Uniform, f"__r{name}__", right)


for _name in (*_BINARY, *_COMPARED):
    _operator(_name)
