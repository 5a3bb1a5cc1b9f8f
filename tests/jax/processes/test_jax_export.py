"""Exported programs: gradients in any order of use, JAX's own export, and packs that need no cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.records import archive

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
pytest.importorskip("flatbuffers")
jnp = jax.numpy
PACKED = Path(__file__).parents[1] / "programs/packed.py"


@wb.kernel
def cubed(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = x[i] * x[i] * x[i]


@wb.func
def wave(x: float, a: float):
    return wb.sin(a * x) + 0.25


@wb.kernel
def waved(x: wb.array[wb.float32], a: wb.float32, out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = wave(x[i], a) * x[i]


@wb.kernel
def gathered(x: wb.array[wb.vec2], k: wb.array[wb.int32], a: wb.float32, total: wb.array[wb.float32]):
    i = wb.tid()
    wb.atomic_add(total, k[i], a * wb.dot(x[i], x[i]))


def two_waves(x: wb.array[wb.float32], a: wb.float32, y: wb.array[wb.float32]):
    between = wb.empty(x.shape[0])
    wb.launch(waved, dim=x.shape, inputs=[x, a], outputs=[between])
    wb.launch(waved, dim=x.shape, inputs=[between, 2.0], outputs=[y])


FLOATS, NUMBER = jax.ShapeDtypeStruct((6,), "float32"), jax.ShapeDtypeStruct((), "float32")


def exported(function: Any = None, floats: Any = FLOATS) -> Any:
    return wb.jax_export(function or wb.jax_kernel(waved))(floats, NUMBER)


def test_gradients_of_every_order_are_serialised_though_nothing_was_differentiated_before() -> None:
    made = wb.jax_export(wb.jax_kernel(cubed))(jax.ShapeDtypeStruct((3,), "float32"))
    again = export.deserialize(made.serialize(vjp_order=2))
    x = jnp.array([1.0, 2.0, 3.0])
    slope = jax.grad(lambda x: again.call(x).sum())
    assert slope(x).tolist() == [3, 12, 27]
    assert jax.grad(lambda x: slope(x).sum())(x).tolist() == [6, 12, 18]


def test_an_export_allows_the_targets_that_it_calls_and_no_others() -> None:
    checks = {str(c) for c in exported().disabled_safety_checks}
    assert len(checks) == 1 and "workbench.waved." in checks.pop()


def test_a_program_is_exported_again_though_jax_does_not_lower_it_again() -> None:
    f = wb.jax_kernel(waved)
    first, second = exported(f), exported(jax.jit(f))
    assert first.disabled_safety_checks == second.disabled_safety_checks != ()


def test_jaxs_own_export_says_which_call_to_use() -> None:
    with pytest.raises(wb.LaunchError, match=r"wb\.jax_export\(f\)"):
        export.export(jax.jit(wb.jax_kernel(waved)))(FLOATS, NUMBER)
    with pytest.raises(wb.LaunchError, match=r"wb\.jax_export\(f\)"):
        export.export(jax.jit(wb.jax_callable(two_waves)))(FLOATS, NUMBER)


def in_a_fresh_process(data: bytes, folder: Path, *sizes: int) -> list[list[float]]:
    """What packed.py prints, in a process with an empty cache."""
    file = folder / "packed"
    file.write_bytes(data)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "WORKBENCH_CACHE": str(folder / "cache")}
    command = [sys.executable, str(PACKED), str(file), *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return [[float(n) for n in line.split()] for line in done.stdout.splitlines()]


def assert_same(shown: list[list[float]], function: Callable[..., Any], *sizes: int) -> None:
    assert len(shown) == 2 * len(sizes)
    for n, size in enumerate(sizes):
        x = jnp.linspace(0.0, 1.0, size)
        np.testing.assert_allclose(shown[2 * n], function(x, 0.5), rtol=1e-5)
        slope = jax.grad(lambda x: (function(x, 0.5) ** 2).sum())(x)
        np.testing.assert_allclose(shown[2 * n + 1], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_a_pack_runs_and_differentiates_with_an_empty_cache_and_without_source(tmp_path: Path) -> None:
    (n,) = export.symbolic_shape("n")
    data = wb.jax_pack(exported(floats=jax.ShapeDtypeStruct((n,), "float32")), vjp_order=1)
    assert_same(in_a_fresh_process(data, tmp_path, 5, 8), wb.jax_kernel(waved), 5, 8)


@pytest.mark.slow
def test_a_packed_function_of_launches_runs_there_too(tmp_path: Path) -> None:
    f = wb.jax_callable(two_waves)
    data = wb.jax_pack(exported(f), vjp_order=1)
    assert_same(in_a_fresh_process(data, tmp_path, 6), f, 6)


@pytest.mark.slow
def test_a_packed_batch_with_atomics_vectors_and_checks_runs_there_too(tmp_path: Path) -> None:
    f = wb.jax_kernel(gathered, output_dims=3, launch_dims=4, init={"total": 0})
    k = jnp.array([0, 2, 2, 1])

    def program(x: Any, a: Any) -> Any:
        batch = jnp.stack([x, 2 * x]).reshape(2, 4, 2)
        return jax.vmap(lambda x: f(x, k, a))(batch).reshape(-1)

    wb.set_checks(True)
    try:
        data = wb.jax_pack(exported(program, jax.ShapeDtypeStruct((8,), "float32")), vjp_order=1)
    finally:
        wb.set_checks(False)
    assert_same(in_a_fresh_process(data, tmp_path, 8), program, 8)


def test_what_was_unpacked_can_be_packed_again() -> None:
    data = wb.jax_pack(exported(), vjp_order=1)
    again = wb.jax_pack(wb.jax_unpack(data), vjp_order=1)
    assert archive.unpack(again)[0] == archive.unpack(data)[0]


@pytest.fixture(scope="module")
def packed() -> bytes:
    return wb.jax_pack(exported(wb.jax_callable(two_waves)))


def test_a_damaged_pack_is_refused(packed: bytes) -> None:
    for wrong in (b"", packed[:-9], packed.replace(b"waved", b"wived", 1), b"no pack"):
        with pytest.raises(wb.RecordError, match="not a usable program of jax_pack: "):
            wb.jax_unpack(wrong)
    with pytest.raises(wb.RecordError, match="not a usable program of jax_pack: "):
        wb.jax_unpack(archive.pack({"entries": []}, {}))


def damaged(data: bytes, change: Callable[[Any, dict[str, bytes]], None]) -> bytes:
    """A pack whose checksums are right, though not its content; under names that XLA does not know."""
    content, members = archive.unpack(data)
    text = json.dumps(content)
    for name in (*content["jax"]["targets"], *content["jax"]["segments"]):
        text = text.replace(name, name[:-8] + uuid4().hex[:8])
    content = json.loads(text)
    change(content["jax"], members)
    return archive.pack(content, members)


def first(told: Any) -> Any:
    return next(iter(told["targets"].values()))


@pytest.mark.parametrize(
    "change",
    [
        lambda told, members: first(told).update(direction="sideways"),
        lambda told, members: first(told).update(checks=1),
        lambda told, members: first(told)["wires"].pop(),
        lambda told, members: first(told)["wires"][0].__setitem__(2, "float64"),
        lambda told, members: first(told)["wires"][0].__setitem__(3, 3),
        lambda told, members: first(told)["wires"][0].__setitem__(4, 7),
        lambda told, members: first(told)["wires"][1].__setitem__(4, "1"),
        lambda told, members: first(told).update(constant=[99]),
        lambda told, members: first(told)["module"].update(member="elsewhere"),
        lambda told, members: members.update({n: b"[]" for n in members if n != "program"}),
        lambda told, members: members.pop("program"),
        lambda told, members: told["targets"].popitem(),
        lambda told, members: next(iter(told["segments"].values())).update(words=[1.5] * 20),
        lambda told, members: told["targets"].update({"system": first(told)}),
    ],
)  # fmt: skip
def test_a_pack_whose_content_makes_no_sense_is_refused(change: Any, packed: bytes) -> None:
    with pytest.raises(wb.RecordError, match="not a usable program of jax_pack: "):
        wb.jax_unpack(damaged(packed, change))
