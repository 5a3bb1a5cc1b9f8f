"""The text of a kernel is what Python compiled, or it is refused: whatever stands in the file by now."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import linecache
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import KernelSyntaxError

KERNEL = """
@wb.kernel
def k(x: wb.array[float]):
    i = wb.tid()
    x[i] = x[i] * 2.0 + 1.0
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Import a module of this text, which has a name of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names: list[str] = []

    def imported(text: str | bytes):
        names.append(f"text_module_{len(names)}_{tmp_path.name}")
        path = tmp_path / f"{names[-1]}.py"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        importlib.invalidate_caches()
        return importlib.import_module(names[-1]), path

    yield imported
    for name in names:
        sys.modules.pop(name, None)


def result(kernel: object, start: float = 1.0) -> float:
    x = wb.full(1, start)
    wb.launch(kernel, 1, [x])
    return float(x.numpy()[0])


def run(text: str, *argv: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a file of this text, or what `argv` says, in a fresh Python."""
    path = folder / "case.py"
    path.write_text(text)
    return subprocess.run([sys.executable, *(argv or (str(path),))], capture_output=True, text=True)


FACTORY = """import workbench as wb
def make(c):
    @wb.kernel
    def k(x: wb.array[float]):
        i = wb.tid()
        x[i] = x[i] * c + 1.0
    return k
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+ 1.0", "+ 100.0"),
        ("* c", "- c"),  # the same names and constants
        ("x[i] * c + 1.0", "(x[i] + 1.0) * c"),
        ("x[i] = x[i] * c", "x[0] = x[i] * c"),
        ("        i = wb.tid()", "        i = wb.tid() + 1"),
        ("def k(", "def other("),
        ("+ 1.0", "+ ("),
        ("import workbench as wb\n", "import workbench as wb\ndef k(x: wb.array[float]):\n    x[0] = 7.0\n" * 3),
    ],
)
def test_a_file_that_was_saved_while_it_runs_is_refused_or_right(module, old, new):
    made, path = module(FACTORY)
    path.write_text(FACTORY.replace(old, new))
    try:
        assert result(made.make(2.0)) == 3.0
    except KernelSyntaxError as error:
        assert f"{path.name} has changed since it was imported" in str(error) and " k " in str(error)
        assert "Reload it" in str(error)


@pytest.mark.parametrize("name", ["outer", "module", "k"])
def test_any_name_is_found_also_that_of_the_class_around(module, name):
    text = "import workbench as wb\nclass NAME:\n    @staticmethod\n    @wb.kernel\n    def NAME(x: wb.array[float]):\n"
    made, _ = module(text.replace("NAME", name) + "        x[wb.tid()] = 3.0\n")
    x = wb.zeros(2)
    wb.launch(getattr(getattr(made, name), name), 2, [x])
    assert x.numpy().tolist() == [3, 3]


HEADERS = """from __future__ import annotations
import workbench as wb
def make():
    @wb.func
    def f(v: float, w: float = 2.0, z=-0.0):
        return v * w + z
    @wb.kernel
    def k(x: wb.array[float], a: "wb.array[float]" = None):
        x[0] = f(x[0]) + 1.0
    return k
"""


@pytest.mark.parametrize(
    "change",
    [("2.0", "7.0"), ("-0.0", "0.0"), (", z=-0.0", ", z=-0.0, q=1"), (": float =", ": int ="), ("wb.array[", "array[")],
)
def test_defaults_and_annotations_that_have_changed(module, change):
    made, path = module(HEADERS)
    assert result(made.make()) == 3.0
    path.write_text(HEADERS.replace(*change))
    linecache.clearcache()
    with pytest.raises(KernelSyntaxError, match="has changed since it was imported"):
        made.make()


def test_a_def_that_moved_is_found_where_it_is_now(module):
    made, path = module(FACTORY)
    path.write_text("# two lines\n# more\n" + FACTORY)
    kernel = made.make(2.0)
    assert result(kernel) == 3.0
    assert kernel.place.excerpt().splitlines()[0] == "    def k(x: wb.array[float]):"


def test_a_module_may_be_named_in_a_generator_expression_alone(module):
    text = "def k(x: 'array'):\n    x[0] = sum(wb.dot(v, v) for v in (x[0], x[0]))\n"
    loaded, _ = module(f"import workbench as wb\n{text.replace('array', 'wb.array[float]')}k = wb.kernel(k)\n")
    x = wb.array([1.5], float)
    with pytest.raises(wb.KernelTypeError, match="dot"):  # of numbers: what is asked is whether the text is taken
        wb.launch(loaded.k, 1, [x])


def test_a_module_that_is_reloaded_has_its_new_text(module):
    made, path = module(FACTORY)
    assert result(made.make(2.0)) == 3.0
    path.write_text(FACTORY.replace("+ 1.0", "+ 100.0"))
    assert result(importlib.reload(made).make(2.0)) == 102.0


def test_text_executed_under_the_name_of_a_file(tmp_path: Path):
    text = "import workbench as wb\n" + KERNEL
    path = tmp_path / "template.py"
    path.write_text(text.replace("2.0", "7.0"))
    space: dict = {}
    with pytest.raises(KernelSyntaxError, match=r"template\.py has changed .* wb\.kernel\(function, source=text\)"):
        exec(compile(text, str(path), "exec"), space)


def test_a_text_that_is_given_is_compared_too():
    space: dict = {"wb": wb}
    text = "def k(x: wb.array[float]):\n    x[0] = 1.0\n"
    exec(text, space)
    with pytest.raises(KernelSyntaxError, match="has no def k that compiles to it"):
        wb.kernel(space["k"], source=text.replace("1.0", "2.0"))
    assert result(wb.kernel(space["k"], source="\n\n" + text)) == 1.0


WRITTEN = {
    "decorator in brackets": "@(\n    wb.kernel\n)\ndef k(x: wb.array[float]):\n    x[0] = 3.0\n",
    "conditional": "if wb is None:\n" + textwrap.indent(KERNEL, "    ") + "else:\n"
    "    @wb.kernel\n    def k(x: wb.array[float]):\n        x[0] = 3.0\n",
    "in one line": "@wb.kernel\ndef k(x: wb.array[float]): x[0] = 1.0; x[0] = x[0] + 2.0\n",
    "tabs": KERNEL.replace("    ", "\t"),
    "tabs in a class": "class A:\n" + textwrap.indent(KERNEL, "    ").replace("    ", "\t") + "k = A.k\n",
    "form feeds": f"\x0c\n{KERNEL}\x0c\n",
    "nested factories": "def a(c):\n    def b(d):\n" + textwrap.indent(KERNEL.replace("2.0 + 1.0", "c + d"), " " * 8)
    + "        return k\n    return b\nk = a(2.0)(1.0)\n",
    "private name of a class": "class A:\n    def make(self):\n"
    + textwrap.indent(KERNEL.replace("i = ", "__i = i = "), " " * 8) + "        return k\nk = A().make()\n",
    "string to the left": KERNEL.replace("    i = ", '    """Text\nat the left.\n    """\n    i = '),
    "signature over lines": KERNEL.replace("(x: wb.array[float])", "(\n    x: wb.array[float],\n)"),
    "lambda as a default": "F = {}\n@wb.func\ndef f(v, w=(lambda q: 2.0)(1)):\n    return v * w\n"
    + KERNEL.replace("x[i] * 2.0", "f(x[i], 2.0)"),
    "f-string in a decorator": "def keep(name):\n    return lambda f: f\n@wb.kernel\n@keep(f'{wb.__name__!r:>{20}}')"
    + KERNEL.replace("@wb.kernel", ""),
    "future annotations": "from __future__ import annotations\nimport workbench as wb\n" + KERNEL,
    "imported there": "import workbench\nfrom workbench import (\n    tid,\n    array,\n)\n"
    + KERNEL.replace("wb.tid", "workbench.tid"),
    "imported in a try": "try:\n    import workbench as w\nexcept ImportError:\n    w = None\n"
    + KERNEL.replace("wb.", "w."),
    "imported in a function": "def make():\n    import workbench as w\n"
    + textwrap.indent(KERNEL.replace("wb.", "w."), "    ") + "    return k\nk = make()\n",
    "chained comparison and minus zero": KERNEL.replace("+ 1.0", "+ 1.0 if -0.0 <= x[i] < 1.5 else -0.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(WRITTEN))
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_however_it_is_written(module, name, line_end):
    text = "import workbench as wb\n" + WRITTEN[name]
    if "future" in name:
        text = WRITTEN[name]
    made, _ = module(text.replace("\n", line_end))
    assert result(made.k) == 3.0


@pytest.mark.parametrize("coding", ["utf-8-sig", "latin-1"])
def test_other_encodings(module, coding):
    head = "# -*- coding: latin-1 -*-\n" if coding == "latin-1" else ""
    text = head + "import workbench as wb\n# \xfc\n" + KERNEL.replace("    i =", '    """\xe4\xf6"""\n    i =')
    made, _ = module(text.encode(coding))
    assert result(made.k) == 3.0


if sys.version_info >= (3, 12):  # the syntax of PEP 695

    def test_type_parameters_of_the_function_around_it(module):
        body = textwrap.indent(KERNEL.replace("+ 1.0", "+ c"), "    ")
        made, _ = module(f"import workbench as wb\ndef make[T](c: T):\n{body}    return k\nk = make(1.0)\n")
        assert result(made.k) == 3.0


class Checking(importlib.machinery.SourceFileLoader):
    """A loader that adds a check to each function, as typeguard and beartype do."""

    def source_to_code(self, data, path, **options):
        tree = ast.parse(data)
        for node in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
            node.body.insert(0, *ast.parse("from math import pi").body)
        return super().source_to_code(ast.fix_missing_locations(tree), path, **options)


def test_a_module_whose_loader_rewrites_what_it_compiles(tmp_path: Path):
    path = tmp_path / "rewritten.py"
    path.write_text(FACTORY)
    spec = importlib.util.spec_from_file_location("rewritten", path, loader=Checking("rewritten", str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert result(module.make(2.0)) == 3.0
    path.write_text(FACTORY.replace("+ 1.0", "- 1.0"))
    linecache.clearcache()
    with pytest.raises(KernelSyntaxError, match="has changed since it was imported"):
        module.make(2.0)


def test_a_module_in_a_zip_file(tmp_path: Path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("text_in_a_zip.py", "import workbench as wb\n" + KERNEL)
    monkeypatch.syspath_prepend(str(tmp_path / "z.zip"))
    assert result(importlib.import_module("text_in_a_zip").k) == 3.0
    sys.modules.pop("text_in_a_zip")


def test_code_that_is_specialised_traced_or_monitored(module):
    made, _ = module(
        "import workbench as wb\nimport math\n" + KERNEL.replace("@wb.kernel", "") + "def m(x):\n    k(x)\n"
    )
    made.wb = type("wb", (), {"tid": staticmethod(lambda: 0)})
    for _ in range(200):  # the interpreter specialises its instructions
        made.k([1.0])
    seen: list[object] = []
    made.wb = wb
    before = sys.gettrace()
    sys.settrace(lambda *a: seen.append(a))
    try:
        assert result(wb.kernel(made.k)) == 3.0
    finally:
        sys.settrace(before)
    if sys.version_info >= (3, 12):
        tool = sys.monitoring
        tool.use_tool_id(4, "test")
        try:
            tool.set_local_events(4, made.k.__code__, tool.events.LINE | tool.events.INSTRUCTION)
            assert result(wb.kernel(made.k)) == 3.0
            tool.set_local_events(4, made.k.__code__, 0)
        finally:
            tool.free_tool_id(4)


ASSERTS = """
import workbench as wb
def make(c):
    @wb.kernel
    def k(x: wb.array[float]):
        i = wb.tid()
        assert x[i] > 0.5, "too small"
        assert x[i] < 9.0 and 0 <= i < 5
        x[i] = x[i] * c + 1.0
    return k
"""


@pytest.mark.slow
def test_asserts_that_pytest_rewrites(tmp_path: Path):
    (tmp_path / "test_it.py").write_text(
        ASSERTS + "import pytest\n@pytest.mark.parametrize('new', ['', '* c', '- c', '> 0.25'])\n"
        "def test(new):\n"
        "    import linecache; linecache.clearcache()\n    text = open(__file__).read()\n"
        "    old = {'* c': '+ c', '- c': '* c', '> 0.25': '> 0.5'}.get(new, new)\n"
        "    with open(__file__, 'w') as f: f.write(text.replace('] ' + old, '] ' + new, 1) if new else text)\n"
        "    try:\n"
        "        k = make(2.0)\n"
        "    except wb.WorkbenchError as error:\n"
        "        assert new in ('- c', '> 0.25') and 'has changed' in str(error)\n"
        "        return\n"
        "    finally:\n"
        "        with open(__file__, 'w') as f: f.write(text)\n"
        "    assert new in ('', '* c')\n"
        "    x = wb.ones(1); wb.launch(k, 1, [x], checks=True); assert x.numpy()[0] == 3\n"
        "    with pytest.raises(wb.WorkbenchError, match='too small'):\n"
        "        wb.launch(k, 1, [wb.zeros(1)], checks=True)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("flag", ["-O", "-OO"])
def test_optimised_python_keeps_the_asserts_of_kernels(tmp_path: Path, flag):
    text = ASSERTS.replace("        i = wb", '        """Text."""\n        i = wb') + (
        "k = make(2.0)\nx = wb.ones(1)\nwb.launch(k, 1, [x], checks=True)\nprint(x.numpy()[0])\n"
        "wb.launch(k, 1, [wb.zeros(1)], checks=True)\nwb.synchronize()\n"
    )
    (tmp_path / "case.py").write_text(text)
    done = subprocess.run([sys.executable, flag, "case.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == "3.0" and "too small" in done.stderr, done.stderr


def test_exec_in_what_python_c_was_given(tmp_path: Path):
    text = """
import workbench as wb
@wb.kernel
def k(x: wb.array[float]):
    x[wb.tid()] = 3.0
"""
    inner = "\\n\\n@wb.kernel\\ndef k(x: wb.array[float]):\\n    x[wb.tid()] = 1.0\\n"
    done = run("", "-c", f'{text}exec("{inner}")\n', folder=tmp_path)
    assert done.returncode and "source code of k cannot be found" in done.stderr


def test_a_struct_in_a_file_that_is_no_python_by_now(module):
    made, path = module(
        "import workbench as wb\ndef make():\n    class S:\n        a: float\n    return wb.struct(S)\n"
    )
    path.write_text("class S(:\n")
    assert made.make()(a=2.0).a == 2.0


def test_a_method_is_refused_at_its_decorator():
    class Simulation:
        def f(self, x: wb.array[float]):
            x[0] = 3.0

        @classmethod
        def g(cls, x: wb.array[float]):
            x[0] = 3.0

    for method in (Simulation().f, Simulation.f, Simulation.g):
        with pytest.raises(KernelSyntaxError, match=r"is a method; a launch has no object to pass as (self|cls)"):
            wb.kernel(method)
    with pytest.raises(KernelSyntaxError, match="Make it a function or a @staticmethod"):

        class Decorated:
            @wb.kernel
            def f(self, x: wb.array[float]):
                x[0] = 3.0


def test_a_file_is_read_once_for_all_its_functions(module) -> None:
    """So a module of many funcs takes as long per func as one of few."""
    funcs = "".join(f"@wb.func\ndef f{k}(v: wb.float32):\n    return v + {k}.0\n\n" for k in range(40))
    own, _ = module("import workbench as wb\n\n" + funcs)
    sources = {id(getattr(own, f"f{k}").__wb_definitions__[0].source) for k in range(40)}
    assert len(sources) == 1


def test_functions_of_one_def_have_trees_of_their_own(module) -> None:
    """Where the whole text had to be searched: a loop settles the types of its names for each function by itself."""
    text = """import workbench as wb


def make(start):
    text = '''
a string that reaches further left than the def'''
    @wb.func
    def total(v: wb.float32):
        '''
doc'''
        s = start
        for j in range(3):
            s = s + s
        return s * v
    return total


whole, half = make(1), make(0.5)


@wb.kernel
def k(x: wb.array[float]):
    i = wb.tid()
    x[i] = whole(x[i]) + half(x[i]) * 1000.0
"""
    own, _ = module(text)
    assert result(own.k, 2.0) == 16.0 + 8000.0
    assert own.whole.__wb_definitions__[0].node is not own.half.__wb_definitions__[0].node
