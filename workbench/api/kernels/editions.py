"""Versions of the kernels that a notebook's names mean, for holders of an older one that cannot notice the change.

What looks names up (launches, tapes, functions of launches) needs none of this. A wrapper for JAX holds its kernel, and
a program that XLA compiled never comes back to Python; both ask here. Only the binding of a name by a cell, or by
a module that was reloaded, makes a version outdated, and only where the text differs: a cell that is run again, or
whose old text is restored, changes nothing, and other kernels are never outdated.

IPython's `%autoreload` is given a rule of ours (`follow_reloads`): each name that meant a kernel, a func or a struct of
the old module means the new one. By itself it would leave `from module import kernel` at the old kernel, and would
change a struct's class in place, under its values and under code that was compiled for them.
"""

from __future__ import annotations

import hashlib
import sys
import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol, TypeGuard, TypeVar

from workbench.frontend.names.python_names import meaning
from workbench.frontend.state.definition import Definition
from workbench.weak import WeakValueDict

K = TypeVar("K", bound="Versioned")
STALE = "is out of date"
_AUTORELOAD = "IPython.extensions.autoreload"
_OURS = ("__wb_kernel__", "__wb_definitions__", "__wb_struct__")
"""Attributes of kernels, funcs and classes of structs."""
REBIND_CALLBACKS: list[Callable[[str], None]] = []
"""Called with the name of a cell that bound names: what holds compiled programs looks whether they are outdated."""


class Versioned(Protocol):
    """A kernel, as far as its versions go.

    Attributes:
        name: as users call it.
        stale: why it is out of date; empty if it is not.
        checkpoints, matmul, enable_backward, fma: its options.
        definition: its source code, with the names that it sees.
        edition: the version of the source that this kernel was defined by.
    """

    name: str
    stale: str
    checkpoints: int
    matmul: str
    enable_backward: bool
    fma: bool
    definition: Definition
    edition: cached_property[Edition]


class Name:
    """A name in a namespace that cells bind to a kernel.

    Attributes:
        content: the digest of the kernel that it means now (`Edition.content`).
        cell: what people call the cell that bound it last.
        stale: why even that one is out of date; empty if it is not.
    """

    def __init__(self) -> None:
        """Make a name that no kernel is bound to yet."""
        self.content = self.cell = self.stale = ""
        self._kernel: Callable[[], Versioned | None] = lambda: None

    @property
    def kernel(self) -> Versioned | None:
        """The kernel that it means now; None if that was deleted."""
        return self._kernel()

    def bind(self, kernel: Versioned, cell: str) -> None:
        """Note that a cell gave the name to this kernel."""
        kernel.edition.name = self
        self.content, self.cell, self.stale = kernel.edition.content, cell, kernel.stale
        self._kernel = weakref.ref(kernel)


class Edition:
    """A version of a kernel: small, so that what XLA never releases may refer to it.

    Attributes:
        kernel: its name.
        content: a digest of its text, its options and the constants that its cell was built with.
        name: the name that is bound to it; None if no cell did that.
    """

    def __init__(self, kernel: Versioned) -> None:
        """Take the digest of a kernel's present text, options and constants; no name is bound to it yet."""
        own = {n: meaning(v) for n, v in kernel.definition.scope.own.items()}
        options = kernel.checkpoints, kernel.matmul, kernel.enable_backward, kernel.fma
        self.kernel = kernel.name
        self.content = hashlib.sha256(f"{kernel.definition.content}{own}{options}".encode()).hexdigest()
        self.name: Name | None = None

    @property
    def outdated(self) -> str:
        """The reason why this is not the current version; empty if it is."""
        if self.name is None:
            return ""
        if self.name.content != self.content:
            return f"{self.kernel} was redefined in {self.name.cell}"
        return f"{self.kernel} {STALE}: {self.name.stale.rstrip('.')}" if self.name.stale else ""


_names: WeakValueDict[tuple[int, str], Name] = WeakValueDict()


def note_bindings(namespace: Mapping[str, object], cell: str) -> None:
    """Note which kernels the names of a namespace mean after `cell` ran, and then call all watchers.

    Only names under which a kernel was defined count: an alias is passed over.
    """
    for name, kernel in list(namespace.items()):
        if _has_editions(kernel) and kernel.name == name:
            slot = id(namespace), name
            bound = _names.get(slot)
            if bound is None:
                bound = Name()
                _names.put(slot, bound)
            if bound.kernel is not kernel:
                bound.bind(kernel, cell)
    _look(cell)


def note_stale(kernel: Versioned) -> None:
    """Note that a kernel is out of date at the name that cells bound to it, and call the watchers.

    Nothing happens if no cell bound the kernel's name, or if it means another kernel by now.
    """
    name = kernel.edition.name if _has_editions(kernel) else None
    if name is not None and name.kernel is kernel:
        name.stale = kernel.stale
        _look(name.cell)


def _has_editions(value: object) -> TypeGuard[Versioned]:
    """Return whether the value is a kernel written in Python: only those are versioned."""
    return getattr(type(value), "__wb_kernel__", False) and "definition" in vars(value)


def _look(cell: str) -> None:
    """Call all watchers with the name of a cell whose kernels' meanings may have changed."""
    for watcher in REBIND_CALLBACKS:
        watcher(cell)


def is_current(kernel: Versioned) -> bool:
    """Return whether a kernel is not out of date, and no cell bound its name to a kernel with another text."""
    edition: Edition | None = vars(kernel).get("edition")
    if kernel.stale or edition is None or edition.name is None:
        return not kernel.stale
    return edition.name.content == edition.content and not edition.name.stale


def newest(kernel: K) -> K:
    """Return the kernel that the name of an outdated kernel means now.

    A kernel that is not outdated, or that no cell bound to a name, is returned itself.
    """
    outdated = kernel
    name = kernel.edition.name if _has_editions(kernel) else None
    now: Any = name.kernel if name is not None else None  # of the same class: names keep no other kernels
    return now if now is not None and (outdated.stale or outdated.edition.outdated) else outdated


def follow_reloads() -> None:
    """Add Workbench's rule to `%autoreload`, if that is in use; decorators call it, since a reload runs them."""
    rules: list[object] | None = getattr(sys.modules.get(_AUTORELOAD), "UPDATE_RULES", None)
    if rules is not None and _RULE not in rules:
        rules.insert(0, _RULE)


def _are_ours(old: Any, new: Any) -> bool:
    """Return whether both values of a reload are kernels, funcs or classes of structs."""
    return all(any(hasattr(value, mark) for mark in _OURS) for value in (old, new))


def _replace(old: Any, new: Any) -> None:
    """Make each name in any module, or in the notebook, that means `old` mean `new`.

    Of kernels the new version is noted too, and watchers are called, for what holds the old kernel itself.
    """
    modules: list[object] = list(sys.modules.values())  # which anything may be put into
    for names in [vars(module) for module in modules if isinstance(module, ModuleType)]:
        for name in [n for n, value in list(names.items()) if value is old]:
            names[name] = new
    if _has_editions(old) and _has_editions(new):  # for what holds the old kernel itself
        name = old.edition.name or Name()
        name.bind(old, "")
        name.bind(new, new.definition.module)
        _look(name.cell)


_RULE = (_are_ours, _replace)
