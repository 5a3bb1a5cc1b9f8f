"""What one lowering came to, kept for other processes: found again where all that it read means the same, else not."""

from __future__ import annotations

import copy
import enum
import math
import types
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import workbench as wb
from workbench.api.kernels.func import attach
from workbench.api.lowerings import lowering
from workbench.cache.disk import Entry
from workbench.cache.store import default_store
from workbench.errors import CacheError
from workbench.ir.data import show, to_data

USES = "def k(x: array(dtype=float)):\n    i = tid()\n    x[i] += {}\n"
CALLS = "def k(x: array(dtype=float)):\n    i = tid()\n    x[i] = f(x[i])\n"
STATIC = "def k(x: array(dtype=float)):\n    i = tid()\n    x[i] += static({})\n"
FUNC = "def f(a: {}):\n    return a * {}\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("WORKBENCH_VERIFY_LOWERING", raising=False)


def read(text: str, names: dict[str, Any] | None = None, **options: Any) -> wb.Kernel:
    return wb.build_cell(text, names or {}, compile=False, **options).kernels["k"]


def keep(kernel: wb.Kernel) -> None:
    kernel.specialise().keep()


def place(kernel: wb.Kernel) -> tuple[str, dict[str, Any]]:
    given = {name: type for name, type in kernel.annotations.items() if type is not None}
    return lowering._digest(kernel.definition, given, kernel.warp_meanings, None), given


def known(kernel: wb.Kernel) -> lowering.Lowering | None:
    digest, given = place(kernel)
    return lowering._found(digest, kernel.definition, given)


def func(text: str, **names: Any) -> Any:
    return wb.build_cell(text, names, compile=False).funcs["f"]


def module(name: str = "settings_of_mine", **attributes: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(attributes)
    return made


def struct(**fields: Any) -> Any:
    return wb.struct(type("P", (), {"__annotations__": fields}))


class Cold(enum.Enum):
    A = 1.0


class Warm(enum.Enum):
    A = 2.0


Cold.__name__ = Cold.__qualname__ = Warm.__name__ = Warm.__qualname__ = "Heat"
NAN = float("nan")
QUIET = np.array([0x7FC00001], np.uint32).view(np.float32)[0]


def made(number: float, again: bool = False) -> Any:
    """A func of a `def` that runs for each; or of one in the same text elsewhere."""

    @wb.func
    def f(a: float):
        return a * number

    one = f

    @wb.func
    def f(a: float):
        return a * number

    return f if again else one


class Shifted(enum.IntEnum):
    A = 1

    def __add__(self, other: object) -> int:
        return 5


def marked(vector: Any) -> Any:
    vector.mine = 1.0
    return vector


ONE = made(2.0)
CHANGED = {
    "another number": (USES.format("c"), {"c": 0.1}, {"c": 0.1 + 2**-56}),
    "the sign of zero": (USES.format("c"), {"c": 0.0}, {"c": -0.0}),
    "a float for an int": (USES.format("c"), {"c": 1}, {"c": 1.0}),
    "a bool for an int": (USES.format("float(c)"), {"c": 1}, {"c": True}),
    "a NumPy scalar for an int": (USES.format("c"), {"c": 1.0}, {"c": np.float32(1)}),
    "a wider NumPy scalar": (USES.format("float(c)"), {"c": np.int32(1)}, {"c": np.int64(1)}),
    "the bits of a NaN": (USES.format("c"), {"c": np.float32("nan")}, {"c": QUIET}),
    "an int for a NaN": (USES.format("c"), {"c": NAN}, {"c": 1}),
    "a tuple's element": (USES.format("c[1]"), {"c": (1.0, 2.0)}, {"c": (1.0, 3.0)}),
    "a tuple's length": (USES.format("c[0] * float(len(c))"), {"c": (1.0, 2.0)}, {"c": (1.0, 2.0, 3.0)}),
    "a vector": (USES.format("c[1]"), {"c": wb.vec2(1, 2)}, {"c": wb.vec2(1, 3)}),
    "the elements' type": (USES.format("float(c[1])"), {"c": wb.vec2(1, 2)}, {"c": wb.vec2d(1, 2)}),
    "an array's form": (
        USES.format("c[0]"), {"c": np.ones(2, np.float32)}, {"c": np.ones(3, np.float32)}
    ),
    "a name that hides one of the language": (USES.format("sin(x[i])"), {}, {"sin": func(FUNC.format("float", 2))}),
    "a name that hides one of Python": (USES.format("float(abs(x[i]))"), {}, {"abs": func(FUNC.format("float", 2))}),
    "a module's attribute": (USES.format("m.c"), {"m": module(c=1.0)}, {"m": module(c=2.0)}),
    "a module that is another": (USES.format("m.pi"), {"m": math}, {"m": module(pi=math.pi)}),
    "an attribute of a known module": (USES.format("m.pi"), {"m": math}, {"m": np}),
    "a func's text": (CALLS, {"f": func(FUNC.format("float", 2))}, {"f": func(FUNC.format("float", 3))}),
    "what a func reads": (
        CALLS, {"f": func(FUNC.format("float", "c"), c=2.0)}, {"f": func(FUNC.format("float", "c"), c=3.0)}
    ),
    "what a func's annotation means": (
        CALLS, {"f": func(FUNC.format("T", 2), T=wb.float32)}, {"f": func(FUNC.format("T", 2), T=Any)}
    ),
    "another func that a func calls": (
        CALLS,
        {"f": func("def f(a: float):\n    return g(a)\n", g=func(FUNC.format("float", 2)))},
        {"f": func("def f(a: float):\n    return g(a)\n", g=func(FUNC.format("float", 3)))},
    ),
    "two closures of one def": (USES.format("f(1.0) + g(1.0)"), {"f": ONE, "g": ONE}, {"f": ONE, "g": made(3.0)}),
    "where the second of two stands": (
        USES.format("f(1.0) + g(1.0)"), {"f": ONE, "g": made(3.0)}, {"f": ONE, "g": made(3.0, again=True)}
    ),
    "a struct's field": (
        USES.format("P(1.0).v"), {"P": struct(v=wb.float32)}, {"P": struct(v=wb.float32, w=wb.float32)}
    ),
    "an enum's value": (USES.format("e.A"), {"e": Cold}, {"e": Warm}),
    "what static() reads": (STATIC.format("2 * c"), {"c": 1.0}, {"c": 2.0}),
    "the type of what static() reads": (STATIC.format("c"), {"c": 1}, {"c": 1.0}),
    "what static() calls": (STATIC.format("max(c, 1)"), {"c": 2}, {"c": 2, "max": min}),
}  # fmt: skip
UNKNOWABLE = {
    "an object of the user's own class": (USES.format("c.v"), {"c": types.SimpleNamespace(v=1.0)}),
    "a call of the user's Python": (STATIC.format("c()"), {"c": lambda: 1.0}),
    "an operator of an enum": (STATIC.format("float(e.A + 1)"), {"e": Shifted}),
    "what the user put on a vector": (STATIC.format("v.mine"), {"v": marked(wb.vec2(1, 2))}),
    "what a call in an annotation reads": (CALLS, {"f": func(FUNC.format('eval("T")', 2), T=wb.float32)}),
    "an attribute of a func": (STATIC.format("f.v"), {"f": types.SimpleNamespace(v=1.0)}),
    "a module that is not imported under its name": (USES.format("m.c"), {"m": module("math", c=1.0)}),
}


@pytest.mark.sample(7)
@pytest.mark.parametrize("what", CHANGED)
def test_a_lowering_is_found_where_all_that_it_read_means_the_same_and_only_there(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, before, after = CHANGED[what]
    for value in before.values():
        if isinstance(value, types.ModuleType) and value.__name__ == "settings_of_mine":
            monkeypatch.setitem(__import__("sys").modules, "settings_of_mine", value)
    kernel = read(text, before)
    keep(kernel)
    found = known(read(text, dict(before)))
    assert found is not None and to_data(found.function) == to_data(kernel.specialise().function)
    for value in after.values():
        if isinstance(value, types.ModuleType) and value.__name__ == "settings_of_mine":
            monkeypatch.setitem(__import__("sys").modules, "settings_of_mine", value)
    assert known(read(text, after)) is None


@pytest.mark.parametrize("what", UNKNOWABLE)
def test_what_cannot_be_compared_is_lowered_each_time(what: str) -> None:
    text, names = UNKNOWABLE[what]
    keep(read(text, names))
    assert known(read(text, names)) is None


def test_the_ir_shows_numbers_as_the_user_wrote_them() -> None:
    text = USES.format("0.1 * x[i] + v[1] + n")
    names = {"v": wb.vec2(0.1, 2), "n": NAN}
    kernel = read(text, names)
    keep(kernel)
    found = known(read(text, names))
    assert found is not None and show(found.function) == show(kernel.specialise().function)
    assert "const 0.1\n" in show(found.function)


def test_a_gradient_that_a_func_gets_later_is_another_lowering() -> None:
    f, g = func(FUNC.format("float", 2)), func(FUNC.format("float", 3))
    keep(read(CALLS, {"f": f}))
    assert known(read(CALLS, {"f": f})) is not None
    attach(f, g.__wb_definitions__[0], "replay")
    assert known(read(CALLS, {"f": f})) is None


def test_a_text_that_moved_is_the_same_text_and_its_lines_are_where_it_stands() -> None:
    text = "def g(a: float):\n    return a + 1.0\n\n" + USES.format("g(1.0)")
    keep(read(text))
    moved = "# a line more\n\n" + text.replace("\n\ndef k", "\n\n\n\n\ndef k")
    found = known(read(moved, name="elsewhere"))
    assert found is not None
    lowered = read(moved, name="elsewhere", force=True)
    fresh = lowering._new_lowering("", lowered.definition, lowering.lower(lowered.definition, place(lowered)[1]))
    assert to_data(found.function) == to_data(fresh.function)
    lowering._compare("k", found, fresh)


def test_each_type_each_text_and_each_meaning_has_a_key_of_its_own() -> None:
    kernel = read(USES.format(1.0))
    digest, given = place(kernel)
    others = [
        lowering._digest(kernel.definition, {"x": wb.array(dtype=wb.float64)}, False, None),
        lowering._digest(kernel.definition, given, True, None),
        lowering._digest(kernel.definition, given, False, lowering.Tiling(64)),
        place(read(USES.format("1.00")))[0],
    ]
    assert len({digest, *others}) == 5 and "" not in others


def test_an_entry_that_is_no_lowering_is_a_miss_and_is_replaced() -> None:
    kernel = read(USES.format(1.0))
    keep(kernel)
    digest, _ = place(kernel)
    whole = default_store().get(digest)
    assert whole is not None
    for image in (
        b"",
        whole.image[:-9],
        whole.image[9:],
        msgspec.msgpack.encode([1, 2]),
        whole.image[:40] + b"\0" * 99,
    ):
        default_store().put(digest, Entry(image, whole.metadata))
        assert known(read(USES.format(1.0))) is None
    x = wb.zeros(3, device="cpu")
    wb.launch(read(USES.format(1.0)), 3, [x])
    assert x.numpy().tolist() == [1.0] * 3
    assert known(read(USES.format(1.0))) is not None


def test_verification_finds_an_entry_that_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, other = read(USES.format("c"), {"c": 1.0}), read(USES.format("c"), {"c": 2.0})
    keep(kernel)
    digest, _ = place(kernel)
    entry = default_store().get(digest)
    assert entry is not None
    saved = lowering._READER.decode(entry.image)
    honest = [r for r in saved.reads if r[2] != "c"]
    assert len(honest) < len(saved.reads)
    default_store().put(
        digest, Entry(msgspec.msgpack.encode(msgspec.structs.replace(saved, reads=honest)), entry.metadata)
    )
    assert known(other) is not None
    monkeypatch.setenv("WORKBENCH_VERIFY_LOWERING", "1")
    read(USES.format("c"), {"c": 1.0})
    with pytest.raises(CacheError, match="lowering gives other"):
        read(USES.format("c"), {"c": 2.0})


def test_a_kernel_that_was_found_notices_what_changes_and_keeps_its_old_code_till_then() -> None:
    text, names = USES.format("c + static(2 * d)"), {"c": 1.0, "d": 3.0}
    keep(read(text, names))
    kernel = read(text, names)
    assert known(kernel) is not None
    x = wb.zeros(2, device="cpu", requires_grad=True)
    wb.launch(kernel, 2, [x])
    names["c"] = 10.0
    assert [c.value for c in kernel.used.function.captured] == [1.0]  # the IR of what ran, not of what is meant now
    wb.launch(kernel, 2, [x])
    names["d"] = 4.0
    wb.launch(kernel, 2, [x])
    assert x.numpy().tolist() == [7.0 + 16.0 + 18.0] * 2


def test_a_specialisation_that_is_given_other_ir_has_another_key() -> None:
    """As JAX's batches do: nothing of the lowering that it was copied from says anything of it."""
    one, two = read(USES.format(1.0)), read("def k(x: array2d[float]):\n    i, j = tid()\n    x[i, j] += 2.0\n")
    for kernel in (one, two):
        keep(kernel)
    found = read(USES.format(1.0)).specialise()
    other = copy.copy(found)
    other.function = two.specialise().function
    assert other.parts("forward") == two.specialise().parts("forward") != found.parts("forward")
    assert (other.launch_ndim, [p.type for p in other.params]) == (2, [p.type for p in two.specialise().params])
    assert (found.launch_ndim, found.function.launch_ndim) == (1, 1)
