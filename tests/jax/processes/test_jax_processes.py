"""Beyond one device and one process: shards, processes, exported programs, shared compilation caches."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
jnp = jax.numpy

PROGRAMS = Path(__file__).parents[1] / "programs"


def start(name: str, *arguments: Any) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAMS / name), *map(str, arguments)]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finish(*running: subprocess.Popen[str]) -> list[str]:
    """What each printed, all having ended well."""
    found = [p.communicate(timeout=900) for p in running]
    assert [p.returncode for p in running] == [0] * len(running), [error[-2000:] for _, error in found]
    return [out for out, _ in found]


@pytest.mark.slow
def test_shards_on_several_devices_of_one_process() -> None:
    assert finish(start("devices.py")) == ["equal\n"]


def assert_all_say_equal(count: int) -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    shown = finish(*(start("processes.py", address, count, n) for n in range(count)))
    assert [out.splitlines()[-1] for out in shown] == ["equal"] * count


@pytest.mark.slow
def test_a_halo_exchange_between_two_processes() -> None:
    assert_all_say_equal(2)


@pytest.mark.slow
def test_a_halo_exchange_between_four_processes() -> None:
    assert_all_say_equal(4)


@pytest.mark.slow
def test_two_processes_share_xlas_compilation_cache(tmp_path: Path) -> None:
    (first,) = finish(start("cached.py", tmp_path))
    assert first.startswith("compiled ")
    # The kernels' handlers come from the cache, too.
    assert finish(start("cached.py", tmp_path)) == ["hit 0\n"]


@wb.kernel
def bend(x: wb.array[wb.float32], a: wb.float32, out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = wb.sin(a * x[i]) * x[i]


def slope(x: Any, a: Any) -> Any:
    f = wb.jax_kernel(bend)
    return jax.grad(lambda x: (f(x, a) ** 2).sum())(x)


@pytest.mark.slow
def test_exported_programs_and_executables_run_in_a_process_without_their_kernels(tmp_path: Path) -> None:
    pytest.importorskip("flatbuffers")
    serialize_executable = pytest.importorskip("jax.experimental.serialize_executable")
    (n,) = export.symbolic_shape("n")
    exported = wb.jax_export(slope)(jax.ShapeDtypeStruct((n,), "float32"), jax.ShapeDtypeStruct((), "float32"))
    file = tmp_path / "program"
    file.write_bytes(exported.serialize())
    compiled = jax.jit(slope).lower(jnp.arange(3.0), jnp.float32(0.5)).compile()
    data = compiled.as_text(), serialize_executable.serialize(compiled)
    file.with_name("program.executable").write_bytes(pickle.dumps(data))
    (shown,) = finish(start("loaded.py", file, 3, 7))
    for line, size in zip(shown.splitlines(), (3, 7, 3), strict=True):
        expected = slope(jnp.arange(float(size)), 0.5)
        np.testing.assert_allclose(np.array(line.split(), float), expected, rtol=1e-5)


@pytest.mark.slow
def test_an_exported_program_has_its_gradients_in_a_process_without_its_kernels(tmp_path: Path) -> None:
    pytest.importorskip("flatbuffers")
    f = wb.jax_kernel(bend)
    exported = wb.jax_export(f)(jax.ShapeDtypeStruct((5,), "float32"), jax.ShapeDtypeStruct((), "float32"))
    # An export of this process makes gradients without end: only what it has is read.
    assert wb.jax_preload(exported) != ()
    file = tmp_path / "program"
    file.write_bytes(exported.serialize(vjp_order=2))
    (shown,) = finish(start("loaded.py", file, 5))
    x = jnp.arange(5.0)
    second = jax.grad(lambda x: (slope(x, 0.5) ** 2).sum())
    for line, expected in zip(shown.splitlines(), (f(x, 0.5), slope(x, 0.5), second(x)), strict=True):
        np.testing.assert_allclose(np.array(line.split(), float), expected, rtol=1e-5, atol=1e-6)


def twice(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    between = wb.empty(x.shape[0])
    wb.launch(bend, dim=x.shape, inputs=[x, 0.5], outputs=[between])
    wb.launch(bend, dim=x.shape, inputs=[between, 2.0], outputs=[y])


@pytest.mark.slow
def test_an_exported_program_of_fused_launches_runs_there_too(tmp_path: Path) -> None:
    pytest.importorskip("flatbuffers")
    f = wb.jax_callable(twice)
    slope = jax.grad(lambda x, a: (a * f(x) ** 2).sum())
    exported = wb.jax_export(slope)(jax.ShapeDtypeStruct((5,), "float32"), jax.ShapeDtypeStruct((), "float32"))
    assert "@workbench.twice_adjoint." in exported.mlir_module()
    file = tmp_path / "program"
    file.write_bytes(exported.serialize())
    (shown,) = finish(start("loaded.py", file, 5))
    np.testing.assert_allclose(np.array(shown.split(), float), slope(jnp.arange(5.0), 0.5), rtol=1e-5)


def test_symbolic_sizes_that_no_array_has_are_refused() -> None:
    (n,) = export.symbolic_shape("n")
    f = wb.jax_kernel(bend)
    with pytest.raises(wb.LaunchError, match="which is not a size of any of its arrays"):
        halved = wb.jax_export(lambda x: f(x, 1.0, launch_dims=x.shape[0] // 2, output_dims=x.shape[0]))
        halved(jax.ShapeDtypeStruct((n,), "float32"))
    with pytest.raises(wb.LaunchError, match=r"thread \(2\*n - 1,\) would ask for index 2\*n - 1\."):
        doubled = wb.jax_export(lambda x: f(x, 1.0, launch_dims=x.shape[0] * 2, output_dims=x.shape[0]))
        doubled(jax.ShapeDtypeStruct((n,), "float32"))


def test_a_program_whose_kernels_are_not_in_the_cache_is_refused() -> None:
    with pytest.raises(wb.CacheError, match="does not hold the kernel gone"):
        wb.jax_preload('custom_call @"workbench.gone.' + "0" * 32 + '"')
