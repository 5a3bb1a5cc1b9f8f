"""Errors: their fields are declared, documented, kept by pickle and copy, and sent back by a worker process."""

from __future__ import annotations

import copy
import pickle
from dataclasses import MISSING, fields
from typing import Any

import pytest

import kernel_ext.refusal  # noqa: F401  a subclass of WorkbenchError outside of the library
from workbench import errors
from workbench.backends.worker.pool import TaskFailed, raised
from workbench.backends.worker.server import described
from workbench.errors import BuildError, CellErrors, DeviceError, KernelFault, LaunchError, WorkbenchError
from workbench.source import Location, Source
from workbench.types import float32

PLACE = Location(Source("y = 1\n", "k.py", "/k.py"), 1, 0, 1, 1)
EXAMPLES: dict[str, Any] = {
    "message": "No.", "location": PLACE, "advice": "Do.", "function": "k", "parameter": "x", "errors": (),
    "log": "said", "text": "source", "expected": float32, "given": "an int", "status": 700, "target": "sm_10",
    "wanted": 8, "free": 4, "thread": (1, 2), "block": (0, 0, 1), "values": (3, 0.5), "count": 2, "line": 7,
    "batch": (4,), "kind": "race", "what": "An element of y", "residual": 0.5, "steps": 3,
}  # fmt: skip


def kinds(base: type[WorkbenchError] = WorkbenchError) -> list[type[WorkbenchError]]:
    return [base, *(k for kind in base.__subclasses__() for k in kinds(kind))]


@pytest.mark.parametrize("kind", dict.fromkeys(kinds()))
def test_every_field_is_kept_by_pickle_and_copy(kind: type[WorkbenchError]) -> None:
    given = {f.name: EXAMPLES[f.name] for f in fields(kind)}
    error = kind(**given)
    error.add_note("in cell 3")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind and {n: getattr(again, n) for n in given} == given
        assert again.args == ("No.",) and again.__notes__ == ["in cell 3"]


@pytest.mark.parametrize("kind", dict.fromkeys(kinds()))
def test_fields_are_documented_and_all_but_the_message_may_be_left_out(kind: type[WorkbenchError]) -> None:
    own = [n for n in vars(kind).get("__annotations__", {}) if not n.startswith("_")]
    missing = [n for n in own if f"        {n}: " not in (kind.__doc__ or "")]
    assert not missing, f"{kind.__name__} does not document {missing}"
    assert [f.name for f in fields(kind) if f.default is MISSING] == ["message"]


def test_an_error_has_no_other_fields() -> None:
    with pytest.raises(AttributeError, match="thread"):
        _ = LaunchError("No.").thread  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="stride"):
        LaunchError("No.", stride=4)  # type: ignore[call-arg]


def test_errors_are_equal_only_to_themselves() -> None:
    one, other = KernelFault("No."), KernelFault("No.")
    assert one != other and len({one, other}) == 2 and repr(one) == "KernelFault('No.')"


def test_a_worker_sends_back_what_a_message_can_hold() -> None:
    error = BuildError("No.", PLACE, "Do.", "k", log="said", text="source")
    again = raised(TaskFailed({"error": "BuildError", **described(error)}))
    assert isinstance(again, BuildError) and again.location is None
    assert (again.message, again.advice, again.function) == ("No.", "Do.", "k")
    assert (again.log, again.text) == ("said", "source")
    memory = raised(TaskFailed({"error": "DeviceError", **described(DeviceError("No.", wanted=8, free=4))}))
    assert isinstance(memory, DeviceError) and (memory.wanted, memory.free) == (8, 4)
    assert repr(raised(TaskFailed({"error": "KeyError", **described(KeyError("k"))}))) == repr(RuntimeError("'k'"))


def test_errors_of_a_cell_are_in_the_order_of_their_lines() -> None:
    first, last = (
        errors.KernelTypeError("One.", PLACE),
        errors.KernelSyntaxError("Two.", Location(PLACE.source, 2, 0, 2, 1)),
    )
    several = CellErrors.of(iter([last, first]))
    assert isinstance(several, CellErrors) and several.errors == (first, last)
    assert CellErrors.of([last]) is last
