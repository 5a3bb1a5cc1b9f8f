"""What is refused, with the place the caret points at and the sentence."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench.errors import CellErrors, KernelSyntaxError, KernelTypeError

# statement, text under the caret, part of the sentence or of the advice
SYNTAX = [
    ("z = foo + 1", "foo", "The name foo is not defined"),
    ("z = sinn(1.0)", "sinn", "Did you mean sin?"),
    ("z = lambda a: a", "lambda a: a", "no lambda"),
    ("z = w = [1, 2]", "[1, 2]", "A list stands behind name ="),
    ("z = clamp(0, [1, 2], 3)", "[1, 2]", "A list stands behind name ="),
    ("z = clamp(0, [q for q in range(3)], 3)", "[q for q in range(3)]", "comprehension stands behind name ="),
    ("z = {1: 2}", "{1: 2}", "no dict"),
    ("z = 'text'", "'text'", "no string"),
    ("z = None", "None", "no None"),
    ("z = f'{i}'", "f'{i}'", "no strings"),
    ("try:\n        z = 1\n    except ValueError:\n        z = 2", "try:", "no try"),
    ("raise ValueError", "raise ValueError", "no raise"),
    ("with x:\n        z = 1", "with x:", "no with"),
    ('assert i > 0, f"{i}"', 'f"{i}"', "message of an assert is a plain string"),
    ('assert (i > 0, "positive")', 'assert (i > 0, "positive")', "tests a tuple"),
    ("print(f'{i:,}')", "f'{i:,}'", "does not know the format"),
    ("del i", "del i", "no del"),
    ("global z", "global z", "global names"),
    ("import math", "import math", "no import"),
    ("z = yield i", "yield i", "no yield"),
    ("for q in 3:\n        z = q", "3", "runs over range"),
    ("z = x.foo", "x.foo", "has no foo"),
    ("def f():\n        pass", "def f():", "cannot be defined inside"),
    ("i + 1", "i + 1", "computes a value and discards it"),
    ("z = 1 if x is y else 2", "x is y", "Only < <= > >= == !="),
    ("x[i].x = 1.0", "x[i].x", "component"),
]
TYPES = [
    ("z = vec3()[i:2]", "vec3()[i:2]", "integers written out"),
    ("z = vec3()[2:1]", "vec3()[2:1]", "has no component"),
    ("z = k(x, y)", "k(x, y)", "is a kernel"),
    ("y[i] = sin(i) * 2.0", "sin(i)", "it got int32"),
    ("y[i, 0] = 1.0", "y[i, 0]", "1 dimension"),
    ("y[0.5] = 1.0", "0.5", "must be integers or slices"),
    ("y[x[i]] = 1.0", "x[i]", "must be integers or slices"),
    ("n = 1\n    n = i\n    y[i] = float(n) if n else 0.0\n    for q in range(3):\n        n = x[q]",
     "for q in range(3):", "int32 before the loop and float32 after"),
    ("if i > 3:\n        s = 1.0\n    y[i] = s", "s", "set only if i > 3 holds"),
    ("if i > 3:\n        s = 1.0\n    else:\n        s = i\n    y[i] = s", "if i > 3:", "float literal on one path"),
    ("for q in range(i):\n        s = 1.0\n    y[i] = s", "s", "set only inside the loop"),
    ("n = i\n    for q in range(3):\n        y[i] = sin(n)\n        n += 1", "sin(n)", "it got int32"),
    ("y[i] = i & x[i]", "i & x[i]", "takes integers"),
    ("z = i and vec3()", "vec3()", "and/or take bools and numbers"),
    ("while (n := i) > 3:\n        z = n", "n := i", "in the condition of a while"),
    ("z = i > 3 and (n := i) > 4", "n := i", "on the right of and/or"),
    ("z = tuple(x[q] for q in range(i))", "range(i)", "not known at compile time"),
    ("break", "break", "is in no loop"),
    ("if i > 0:\n        continue", "continue", "is in no loop"),
    ("z = tuple(1 for q in (1, 2) if x[q] > 0.0)", "x[q] > 0.0", "must be known at compile time"),
    ("a = [1.0, 2.0]\n    b = a", "b = a", "could change behind its name"),
    ("a = [1.0, 2.0]\n    a += [3.0]", "a += [3.0]", "could change behind its name"),
    ("a = [1.0, 2.0]\n    z = dot(a, a)", "dot(a, a)", "could change behind its name"),
    ("a = [1.0, 2.0]\n    for v in a:\n        a[1] = v", "a", "could change behind its name"),
    ("a = [[0.0]*2]*2\n    a[1][0] = 1.0", "[[0.0]*2]*2", "each a list of its own"),
    ("a = [[0]*2 for _ in x.shape]\n    b = a[0]\n    a[0][1] = 1", "[[0]*2 for _ in x.shape]", "used as a[i][j]"),
    ("a = [(0.0, 1.0), 2.0]\n    a[1] = 1.0", "[(0.0, 1.0), 2.0]", "numbers of one type"),
    ("a = [[0]*2 for _ in x.shape]*2\n    a[0][1] = 1", "[[0]*2 for _ in x.shape]*2", "each a list of its own"),
    ("a = [1, 2, 3]\n    a[0] = i\n    z = a[:2] + a[1:]", "a[:2] + a[1:]", "could change behind its name"),
    ("a = [1, 2, 3]\n    a[:2][0] = i", "a[:2][0]", "could change behind its name"),
    ("a = [[1, 2], [3, 4]]\n    a[0][0] = i\n    z = a[0][:1]", "[[1, 2], [3, 4]]", "used as a[i][j]"),
    ("a = [1, 2]\n    a[0] = i\n    z = max(a, 1)", "max(a, 1)", "could change behind its name"),
    ("a = [1, 2]\n    for j, a[1] in enumerate(a):\n        z = j", "enumerate(a)", "could change behind its name"),
    ("a = [False]*3\n    a[1] = 2", "a[1]", "is a bool"),
    ("a = [16777217, 0.5]\n    a[1] = 2.5", "[16777217, 0.5]", "numbers of one type"),
    ("a = [0.0]*i", "[0.0]*i", "must be known at compile time"),
    ("a = [0.0]*1000", "[0.0]*1000", "more than 256 elements"),
    ("a = [0]*3\n    a[1] = 0.5", "a[1]", "does not fit int32"),
    ("z = (1, 2)[x[i]]", "(1, 2)[x[i]]", "takes a literal index"),
    ("z = (1, x)[i]", "(1, x)[i]", "takes numbers or vectors"),
    ("z = (1, 2)[i:]", "(1, 2)[i:]", "bounds of a slice of a tuple are written out"),
    ("z = (1, 2)*1000", "(1, 2)*1000", "more than 256 elements"),
    ("z = i in range(0, 9, i)", "i in range(0, 9, i)", "a step that is written out"),
    ("z = min(1.0)", "min(1.0)", "takes 2 arguments"),
    ("z = clamp(x[i], 0.0, top=1.0)", "clamp(x[i], 0.0, top=1.0)", "no argument top"),
    ("z = vec3(1.0, 2.0)", "vec3(1.0, 2.0)", "0, 1 or 3 components"),
    ("v = vec3()\n    z = v[3]", "v[3]", "components 0 to 2"),
    ("v = vec3()\n    z = v.w", "v.w", "has no w"),
    ("v = vec3() + vec2()", "vec3() + vec2()", "vectors of one length"),
    ("z = x + 1.0", "x + 1.0", "Index the array"),
    ("z = x @ x", "x @ x", "@ takes matrices or vectors"),
    ("x = 1.0\n    z = x[0]", "x[0]", "cannot be indexed"),
    ("a, b = i", "a, b", "cannot be unpacked"),
    ("a, b = tid()", "tid()", "called for 1 indices before"),
    ("z = tid(1)", "tid(1)", "takes no arguments"),
    ("z = len(i)", "len(i)", "takes an array or a vector"),
    ("z = i ** i", "i ** i", "may be a fraction"),
    ("z = 1 // 0", "1 // 0", "cannot be computed"),
    ("z = int8(300)", "int8(300)", "does not fit int8"),
    ("z = range(2.0)", "range(2.0)", "stands only in"),
    ("for q in range(2.0):\n        z = q", "for q in range(2.0):", "takes integers"),
    ("for q in range(0, 5, 0):\n        z = q", "for q in range(0, 5, 0):", "must not be 0"),
    ("atomic_add(y, 0.5)", "atomic_add(y, 0.5)", "an array, its indices and a value"),
    ("return i", "return i", "A kernel returns nothing"),
    ("z: foo = 1", "foo", "not defined"),
]  # fmt: skip


def wrong(statement: str) -> wb.WorkbenchError:
    """The only error of a kernel with this statement."""
    text = f"@kernel\ndef k(x: array[float], y: array[float]):\n    i = tid()\n    {statement}\n"
    with pytest.raises(wb.WorkbenchError) as caught:
        meaning.define(text)
    return caught.value


def under_caret(error: wb.WorkbenchError) -> str:
    """The text that the carets underline."""
    line, carets = error.location.excerpt().splitlines()
    start = carets.index("^")
    return line[start : start + carets.count("^")]


@pytest.mark.parametrize(("statement", "place", "sentence"), SYNTAX + TYPES)
def test_refused_at_its_place(statement, place, sentence):
    error = wrong(statement)
    kind = KernelSyntaxError if (statement, place, sentence) in SYNTAX else (KernelTypeError, KernelSyntaxError)
    assert isinstance(error, kind)
    assert not isinstance(error, CellErrors), error.render()
    assert under_caret(error) == place
    assert sentence in f"{error.message} {error.advice}"
    assert error.function == "k"


def test_all_errors_of_a_cell_come_together_each_once():
    text = """
    def k(x: array[float], y: array[float]):
        i = tid()
        y[i] = foo
        z = bar + 1
        y[i] = z * 2
        for q in range(3):
            y[q] = baz

    def m(x: array[float]):
        x[tid()] = "no"
    """
    with pytest.raises(CellErrors) as caught:
        meaning.define(text)
    lines = [e.location.line for e in caught.value.errors]
    assert lines == [3, 4, 7, 10]
    assert "4 errors" in caught.value.render()


def test_errors_survive_pickling_with_their_place():
    error = pickle.loads(pickle.dumps(wrong("z = foo")))
    assert (error.message, error.location.line, error.function) == ("The name foo is not defined.", 4, "k")


def test_returns_inside_loops_give_as_many_values():
    with pytest.raises(KernelSyntaxError, match="a different number of values") as caught:
        meaning.define(
            "def f(n):\n    for q in range(n):\n        if q > 3:\n            return q\n        if q > 2:\n"
            "            return q, 1\n    return 0\ndef k(x: array[int]):\n    x[tid()] = f(3)\n"
        )
    assert caught.value.location.line == 6


def test_a_missing_annotation_is_named_where_a_type_is_needed():
    kernel = meaning.define("def k(x, y: array[float]):\n    y[tid()] = x\n")["k"]
    with pytest.raises(KernelTypeError, match="The parameter x of k has no type"):
        kernel.specialise()


def test_recursion_is_refused():
    with pytest.raises(KernelSyntaxError, match="f calls itself"):
        meaning.define("def f(a):\n    return f(a)\n\ndef k(x: array[float]):\n    x[tid()] = f(1.0)\n")


def test_a_wrong_annotation_is_refused():
    with pytest.raises(KernelTypeError, match="annotation of x"):
        meaning.define("def k(x: array['colour']):\n    x[tid()] = 1.0\n")


def test_variadic_parameters_are_refused():
    with pytest.raises(KernelSyntaxError, match="args is variadic"):
        meaning.define("def k(x: array[float], *args):\n    x[tid()] = 1.0\n")


def test_stray_lines_and_broken_python_are_refused_at_their_line():
    with pytest.raises(KernelSyntaxError, match="holds only defs and constants") as caught:
        meaning.define("a += 1\ndef k(x: array[float]):\n    x[tid()] = 1.0\n")
    assert caught.value.location.line == 1
    with pytest.raises(KernelSyntaxError, match="not Python") as caught:
        meaning.define("def k(x:\n    x[tid()] = 1.0\n")
    assert caught.value.location.line >= 1
    with pytest.raises(KernelSyntaxError, match="duplicate argument 'x'") as caught:
        meaning.define("def k(x: array[float], x: array[float]):\n    x[tid()] = 1.0\n")
    assert caught.value.location.column == 23


def test_one_cell_defines_nothing_when_it_is_wrong():
    names = {"k": "mine"}
    with pytest.raises(wb.WorkbenchError):
        meaning.define("def k(x: array[float]):\n    x[tid()] = foo\n", names)
    assert names == {"k": "mine"}


def test_carets_count_characters_not_bytes():
    error = wrong("z = 1.0 if i > 0 else 2.0; élan = déjà")
    assert under_caret(error) == "déjà"


@pytest.mark.parametrize(
    ("annotation", "meant"), [("arrray[float]", "array"), ("array2D[float]", "array2d"), ("array[flaot]", "float")]
)
def test_a_misspelt_annotation_says_what_was_meant(annotation: str, meant: str) -> None:
    with pytest.raises(wb.WorkbenchError, match=f"Did you mean {meant}\\?"):
        wb.build_cell(f"def k(x: {annotation}):\n    x[0] = 1.0\n", {})


def test_a_call_that_returns_nothing_is_marked_itself() -> None:
    text = "def f(x: float):\n    y = 2.0 * x\n\ndef k(x: array[float]):\n    x[0] = f(x[0])\n"
    with pytest.raises(wb.WorkbenchError, match="this call returns none") as refused:
        wb.build_cell(text, {})
    shown = str(refused.value).splitlines()
    line = next(n for n, row in enumerate(shown) if "x[0] = f(x[0])" in row)
    assert shown[line + 1].index("^") == shown[line].index("f(x[0])")


def test_a_list_is_not_given_to_a_func_with_a_builtins_name():
    @wb.func
    def sum(v: Any):
        v[0] = 9.0
        return v[1]

    @wb.kernel
    def changed(out: wb.array[float]):
        a = [1.0, 2.0]
        a[1] = 3.0
        out[0] = sum(a) + a[0]

    with pytest.raises(KernelSyntaxError, match="could change behind its name"):
        wb.launch(changed, 1, [], [wb.zeros(1)])
