"""Names of the language that the front end lowers in its own way."""

from __future__ import annotations

from workbench.builtins.declare import form

tid = form(
    "tid()",
    "The thread's index: one int32, or a tuple of 2 to 4 where it is unpacked: `i, j = tid()`. A kernel asks for as "
    "many as its launch has dimensions.",
)
atomic_add = form(
    "atomic_add(array, i, …, value)",
    "Add the value to an element, safely against other threads; gives the element's old value.",
)
atomic_sub = form("atomic_sub(array, i, …, value)", "atomic_add of the negative value.")
