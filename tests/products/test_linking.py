"""Which multiplication runs: the generated one at once, the linked one from the load on that finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import workbench as wb
from tests.products.test_linked_text import looped, narrow
from tests.support.devices import mock_device
from workbench import events
from workbench.api.builds import build, linking
from workbench.api.builds.cublasdx import product_views
from workbench.api.kernels.kernel import Tiling
from workbench.backends.base import Artifact, Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.cuda.emit import entry_name
from workbench.errors import BuildError, DeviceError, KernelTypeError, NotDifferentiable


def facts(function: Any, target: str, matmul: str = "") -> dict[str, Any]:
    named = {"matmul": matmul} if matmul else {}
    return {
        "entry": entry_name(function), "backend": "cuda", "target": target, "stages": {"link": 0.1}, "log": "", **named,
    }  # fmt: skip


def generate(self: CudaBackend, function: Any, options: Options, target: str = "") -> Artifact:
    return Artifact(b"generated", facts(function, target))


def link(function: Any, options: Options, target: str, products: Any) -> Artifact:
    return Artifact(
        b"linked " + b" ".join(p.spec.symbol.encode() for p in products), facts(function, target, "cuBLASDx")
    )


@pytest.fixture(autouse=True)
def compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No compiler runs, and this session has linked nothing yet."""
    monkeypatch.setenv("WORKBENCH_MATMUL", "auto")
    monkeypatch.setattr(CudaBackend, "compile", generate)
    monkeypatch.setattr(linking, "compile_linked", link)
    monkeypatch.setattr(linking, "free_memory", lambda: 64 << 30)
    for kept in (linking._WORKS, linking._SPECS, linking._WARNED):
        kept.clear()


@pytest.fixture
def use(fake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`use(mode)`: a fake builder builds the products."""

    def use(mode: str = "build") -> Any:
        builder = fake(mode)
        monkeypatch.setattr(linking, "BUILDER", builder.builder)
        return builder

    return use


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with mock_device.device(monkeypatch):
        monkeypatch.setattr(CudaBackend, "compile", generate)
        monkeypatch.setattr(build, "_code", lambda digest, entry, device: object())
        yield


@pytest.fixture
def told() -> Iterator[list[Any]]:
    found: list[Any] = []
    end = events.subscribe(found.append)
    yield found
    end()


def fresh(kernel: wb.Kernel, matmul: str = "", threads: int = 32, **options: Any) -> Any:
    """A specialisation of its own, of a kernel with these options."""
    made = wb.Kernel(kernel.definition, matmul=matmul, **options)
    return made.specialise(None, Tiling(threads))


def load(specialisation: Any) -> str:
    return build.load(specialisation, "forward", Options(), "cuda").metadata["matmul"]


def kinds(told: list[Any], *wanted: type) -> list[str]:
    return [type(e).__name__ for e in told if isinstance(e, wanted)]


def test_the_generated_one_runs_until_the_linked_one_is_there(device: None, use: Any, told: list[Any]) -> None:
    builder, kernel = use(), fresh(looped)
    assert load(kernel) == "generated"
    assert wb.wait() >= 0
    assert [e.kernel for e in told if isinstance(e, events.Linked)] == ["looped"]
    assert load(kernel) == "cuBLASDx"
    assert load(fresh(looped)) == "cuBLASDx", "another kernel of the same text finds it at once"
    assert len(builder.built) == 1
    (notice,) = [e.message for e in told if isinstance(e, events.Notice)]
    assert notice == "looped runs its generated matrix multiplication until cuBLASDx's is ready."


def test_another_session_runs_the_linked_one_at_once(device: None, use: Any, told: list[Any]) -> None:
    use()
    load(fresh(looped))
    wb.wait()
    linking._WORKS.clear()
    linking._SPECS.clear()
    told.clear()
    assert load(fresh(looped)) == "cuBLASDx"
    assert kinds(told, events.CacheHit, events.CompileStarted, events.ProductStarted) == ["CacheHit"]


def test_pinned_to_the_generated_one_nothing_is_built(device: None, use: Any) -> None:
    builder, kernel = use(), fresh(looped, "generated")
    assert load(kernel) == "generated"
    assert not linking._WORKS and not builder.built


def test_pinned_to_cublasdx_the_first_load_waits_and_tells_its_stages(device: None, use: Any, told: list[Any]) -> None:
    use()
    assert load(fresh(looped, "cublasdx")) == "cuBLASDx"
    stages = [e.stage for e in told if isinstance(e, events.StageDone)]
    assert stages == ["products", "forward 8×4×16 f32 (built)", "link"]
    assert kinds(told, events.CompileStarted, events.ProductBuilt, events.CompileDone) == [
        "CompileStarted", "ProductBuilt", "CompileDone",
    ]  # fmt: skip


def test_for_an_architecture_that_is_not_here_only_a_pin_links(use: Any) -> None:
    builder = use()
    plain = build.compile_for(fresh(looped), "forward", Options(), "sm_80")
    assert (plain.metadata["matmul"], len(builder.built)) == ("generated", 0)
    linked = build.compile_for(fresh(looped, "cublasdx"), "forward", Options(), "sm_80")
    assert (linked.metadata["matmul"], builder.built[0]["arch"]) == ("cuBLASDx", "sm_80")
    assert linked.image != build.compile_for(fresh(looped, "cublasdx", 64), "forward", Options(), "sm_80").image


def test_a_builder_that_fails_in_the_background_is_told_once(device: None, use: Any, told: list[Any]) -> None:
    use("refuse")
    kernel = fresh(looped)
    load(kernel)
    wb.wait()
    kernel.executables.clear()
    assert load(kernel) == "generated"
    wb.wait()
    notices = [e.message for e in told if isinstance(e, events.Notice)]
    assert notices[1:] == ["looped keeps its generated matrix multiplication: no such product"]
    assert kinds(told, events.ProductStarted) == ["ProductStarted"]


def test_a_builder_that_fails_for_a_pin_is_an_error(device: None, use: Any) -> None:
    use("crash")
    with pytest.raises(BuildError, match=r"crashed \(signal 11\)"):
        load(fresh(looped, "cublasdx"))
    use()
    assert load(fresh(looped, "cublasdx")) == "cuBLASDx"


def test_without_memory_nothing_is_begun(device: None, use: Any, told: list[Any], monkeypatch: Any) -> None:
    use()
    monkeypatch.setattr(linking, "free_memory", lambda: 3 << 30)
    assert load(fresh(looped)) == "generated"
    assert not linking._WORKS
    assert "4 GB of free memory" in next(e.message for e in told if isinstance(e, events.Notice))


def test_without_libmathdx_auto_is_silent_and_a_pin_says_what_to_install(device: None, monkeypatch: Any) -> None:
    def missing() -> str:
        return "cuBLASDx needs nvidia-libmathdx-cu13, which is not installed."

    def version(target: str) -> str:
        raise DeviceError(missing(), advice=linking.CUBLASDX.name)

    monkeypatch.setattr(linking, "BUILDER", linking.Builder("cuBLASDx", version, missing, ()))
    assert load(fresh(looped)) == "generated"
    with pytest.raises(DeviceError, match="nvidia-libmathdx-cu13"):
        load(fresh(looped, "cublasdx"))


def test_a_pin_without_a_multiplication_to_link_is_refused(device: None, use: Any) -> None:
    use()
    assert load(fresh(narrow)) == "generated"
    with pytest.raises(BuildError, match="cuBLASDx has no code for its multiplications"):
        load(fresh(narrow, "cublasdx"))


def test_the_environment_pins_kernels_that_say_nothing(device: None, use: Any, monkeypatch: Any) -> None:
    use()
    monkeypatch.setenv("WORKBENCH_MATMUL", "cublasdx")
    assert load(fresh(looped)) == "cuBLASDx"
    assert load(fresh(looped, "generated")) == "generated"
    monkeypatch.setenv("WORKBENCH_MATMUL", "cublas")
    with pytest.warns(UserWarning, match=r"WORKBENCH_MATMUL is 'cublas'; .* auto is used"):
        assert load(fresh(looped)) == "cuBLASDx"


def test_a_word_that_is_none_is_refused_at_the_kernel() -> None:
    with pytest.raises(KernelTypeError, match="matmul='cublas'"):
        fresh(looped, "cublas")
    text = '@kernel(matmul="cuda")\ndef k(x: array[float]):\n    x[tid()] = 1.0\n'
    with pytest.raises(KernelTypeError, match=r'Give one of "auto", "generated", "cublasdx"'):
        wb.build_cell(text, {"kernel": wb.kernel, "array": wb.array, "tid": wb.tid})


def test_enable_backward_false_refuses_an_adjoint_and_builds_none(use: Any) -> None:
    builder = use()
    kernel = fresh(looped, "cublasdx", enable_backward=False)
    build.compile_for(kernel, "forward", Options(), "sm_90")
    with pytest.raises(NotDifferentiable, match="enable_backward=False"):
        build.compile_for(kernel, "adjoint", Options(), "sm_90")
    assert builder.roles == ["forward"]


def test_what_would_be_built_can_be_looked_at(use: Any) -> None:
    builder = use()
    forward = product_views(fresh(looped), "sm_90")
    both = product_views(fresh(looped), "sm_90", "adjoint")
    assert [(v.role, v.product, v.where, v.operand_bytes) for v in forward] == [
        ("forward", "8×4×16 f32", "not built", 4 * (8 * 16 + 16 * 4 + 8 * 4)),
    ]  # fmt: skip
    assert sorted(v.role for v in both) == ["adj_a", "adj_b"]
    assert not builder.built
    build.compile_for(fresh(looped, "cublasdx"), "forward", Options(), "sm_90")
    (there,) = product_views(fresh(looped), "sm_90")
    assert (there.where, there.bytes > 0) == ("memory", True)
