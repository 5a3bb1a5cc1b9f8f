"""The magics in a shell of this process: options, outputs, one clear error, and nothing left after unloading."""

from __future__ import annotations

import threading

import pytest

from kernel_ext.session.tracebacks import KernelUsageError

GREETING = "Workbench 0.1 · cpu (no CUDA device) · cache 12 modules, 84 kB\n"
CELL = "%%kernel\ndef saxpy(a):\n    return a\n"


def test_loading_prints_one_line_and_warms_up(session, library) -> None:
    assert session.run("%load_ext kernel_ext") == GREETING
    assert ("warm", None) in library.calls


def test_loading_twice_changes_nothing(loaded) -> None:
    from kernel_ext import load_ipython_extension

    before = loaded.shell.find_cell_magic("kernel"), len(loaded.shell.configurables)
    load_ipython_extension(loaded.shell)
    assert (loaded.shell.find_cell_magic("kernel"), len(loaded.shell.configurables)) == before


def test_unloading_leaves_the_shell_as_it_was(session, library) -> None:
    shell = session.shell

    session.run("%unload_ext nothing")  # IPython makes its own magics when they are first used

    def state() -> tuple:
        names = {kind: set(magics) for kind, magics in shell.magics_manager.magics.items()}
        return names, set(shell.magics_manager.registry), list(shell.configurables), shell.custom_exceptions

    shell.register_magic_function(lambda line: print("mine"), "line", "cache")
    before = state()
    session.run("%load_ext kernel_ext")
    assert state() != before
    session.run("%unload_ext kernel_ext")
    assert state() == before
    assert session.run("%cache") == "mine\n"
    assert "workbench-warm" not in {thread.name for thread in threading.enumerate()}


def test_a_kernel_cell_binds_and_shows_one_line(loaded) -> None:
    assert loaded.run(CELL) == "compiled saxpy 5f2a0d32 | 9.0 ms\n"
    assert loaded.shell.user_ns["saxpy"].launch() == "launched saxpy"
    assert loaded.run(CELL) == "cache hit | memory 12 us\n"


def test_quiet_shows_nothing(loaded) -> None:
    assert loaded.run(CELL.replace("%%kernel", "%%kernel -q")) == ""


def test_every_option_reaches_the_library(loaded, library) -> None:
    loaded.run("h = 0.5")
    line = "%%kernel -n waves -b cpu -D DT=h/2 -D N=3 --grad --fast-math --fma --no-checks -f --arch sm_90"
    loaded.run(CELL.replace("%%kernel", line))
    asked = dict(library.calls)["build_cell"]
    assert asked.pop("filename").startswith("<ipython-input-")
    assert asked == {
        "text": "def saxpy(a):\n    return a\n", "name": "waves", "line_offset": 1, "backend": "cpu", "gradient": True,
        "fast_math": True, "checks": False, "constants": {"DT": 0.25, "N": 3}, "arch": "sm_90", "force": True,
        "compile": True, "fma": True,
    }  # fmt: skip


def test_annotate_shows_panes(loaded) -> None:
    out = loaded.run(CELL.replace("%%kernel", "%%kernel -a ir,ptx"))
    assert "--- saxpy: IR\nir of saxpy <&>   @ 3\n\n--- saxpy: PTX\nptx of saxpy <&>" in out
    assert "--- saxpy: Source" in loaded.run(CELL.replace("%%kernel", "%%kernel -a"))


def test_the_cell_is_named_by_its_number_and_kept_for_tracebacks(loaded, library) -> None:
    import linecache

    loaded.run("\n\n" + CELL)
    asked = dict(library.calls)["build_cell"]
    assert (asked["name"], asked["line_offset"]) == ("cell [2]", 3)
    lines = linecache.getlines(asked["filename"])
    assert lines[asked["line_offset"]] == "def saxpy(a):\n"


def test_config_sets_what_lines_leave_open(loaded, library) -> None:
    loaded.run("%config KernelMagics.backend = 'cpu'")
    loaded.run("%config KernelMagics.annotate = 'ir'")
    out = loaded.run(CELL)
    assert dict(library.calls)["build_cell"]["backend"] == "cpu" and "--- saxpy: IR" in out
    loaded.run("%config KernelMagics.backend = 'tpu'")  # traitlets logs that, and keeps what was
    assert loaded.shell.magics_manager.registry["KernelMagics"].backend == "cpu"


def test_reloading_leaves_one_set_of_magics(loaded) -> None:
    before = len(loaded.shell.configurables), len(loaded.shell.Completer.custom_matchers)
    assert loaded.run("%reload_ext kernel_ext").startswith("Workbench 0.1")
    assert (len(loaded.shell.configurables), len(loaded.shell.Completer.custom_matchers)) == before
    assert loaded.run(CELL).startswith("compiled saxpy")


def test_the_built_cell_can_be_the_value(loaded) -> None:
    assert loaded.run(CELL.replace("%%kernel", "%%kernel -r -q")).startswith("Out[")
    assert list([*loaded.shell.user_ns["Out"].values()][-1].kernels) == ["saxpy"]


def test_a_difference_of_two_kernels_is_shown(loaded, library) -> None:
    library.diff = lambda kernel, other, pane: f"-{other.name} {pane}\n+{kernel.name} {pane}"
    loaded.run(CELL)
    loaded.run(CELL.replace("saxpy", "other"))
    assert "-other ir\n+saxpy ir" in loaded.run("%inspect saxpy diff other")
    assert "+saxpy ptx" in loaded.run("%inspect saxpy diff other ptx")
    loaded.run("%inspect saxpy diff")
    assert "%inspect NAME diff takes another kernel" in loaded.errors[0]


def test_inspect_shows_panes(loaded) -> None:
    loaded.run(CELL)
    out = loaded.run("%inspect saxpy ir,adjoint")
    assert out == "--- saxpy: IR\nir of saxpy <&>   @ 3\n\n--- saxpy: Adjoint\nNotDifferentiable\nsaxpy overwrites y.\n"
    assert "--- saxpy: Source" in loaded.run("%inspect saxpy")


def test_cache(loaded) -> None:
    loaded.run(CELL)
    out = loaded.run("%cache").splitlines()
    assert out[0].startswith("12 modules, 84 kB | hits: memory 3") and "<young>" in out[1]
    assert loaded.run("%cache list").splitlines()[0] == out[0]
    assert loaded.run("%cache why saxpy") == "constant DT: 0.01 → 0.02\n"
    assert loaded.run("%cache export a.wbc") == "wrote 12 modules to a.wbc\n"
    assert loaded.run("%cache import a.wbc --trust") == "took 3 modules from a.wbc\n"
    assert loaded.run("%cache clear") == "removed 12 modules, 84 kB\n"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            CELL.replace("%%kernel", "%%kernel --sass"),
            "%%kernel: unrecognized arguments: --sass; %%kernel? shows the options",
        ),
        (CELL.replace("%%kernel", "%%kernel -b tpu"), "%%kernel: argument -b/--backend: invalid choice"),
        (CELL.replace("%%kernel", "%%kernel -a wasm"), "there is no pane 'wasm'; the panes are source, ir"),
        (CELL.replace("%%kernel", "%%kernel -D DT"), "-D takes NAME=VALUE"),
        ("%%kernel\n   \n", "the cell below %%kernel is empty"),
        ("%inspect nothing", "there is no kernel nothing; no cell has defined one yet"),
        ("%inspect", "%inspect: the following arguments are required: NAME"),
        ("%cache why", "%cache why takes a kernel: %cache why saxpy"),
        ("%cache export", "%cache export takes a file"),
        ("%cache clear all", "%cache clear takes no further argument; it got 'all'"),
        ("%cache frob", "%cache: argument action: invalid choice: 'frob'"),
    ],
)
def test_a_wrong_call_is_one_clear_error(loaded, cell: str, message: str) -> None:
    loaded.run(cell)
    assert isinstance(loaded.raised, KernelUsageError)
    assert len(loaded.errors) == 1 and loaded.errors[0].startswith(f"UsageError: {message}")


@pytest.mark.parametrize(("name", "examples"), [("kernel", 2), ("inspect", 2), ("cache", 3)])
def test_help_shows_options_and_examples(loaded, name: str, examples: int) -> None:
    kind = "cell" if name == "kernel" else "line"
    text = loaded.shell.find_magic(name, kind).__doc__
    assert text.count(f"%{name}") >= examples and "Examples::" in text
    if name == "kernel":
        assert all(option in text for option in ("--grad", "-D", "--fast-math", "-a", "-q"))


def test_an_interrupted_build_is_shown_as_failed(loaded, library, monkeypatch) -> None:
    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    loaded.run(CELL)
    monkeypatch.setattr(library, "build_cell", interrupted)
    out = loaded.run(CELL)
    assert out.startswith("failed | 1 error")
    assert loaded.shell.user_ns["saxpy"].stale
