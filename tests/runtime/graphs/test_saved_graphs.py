"""Graphs, arrays of structs and checkpoints in files: what comes back does what was saved."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import record_files
from tests.support.checks.record_files import particles
from workbench.api.load_record import restore
from workbench.runtime.records.archive import pack, unpack
from workbench.runtime.records.saved import read


def values(a: dict[str, wb.array]) -> dict[str, Any]:
    """What the arrays hold, gradients too."""
    return {n: x.numpy().tobytes() for n, x in a.items()} | {
        f"{n}.grad": x.grad.numpy().tobytes() for n, x in a.items() if x.grad is not None
    }


def test_everything_comes_back_and_does_the_same(tmp_path: Path) -> None:
    rec, arrays = record_files.everything()
    rec.rewind()
    rec.replay()
    expected = values(arrays)
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    assert [(e.kind, e.name, e.size) for e in again] == [(e.kind, e.name, e.size) for e in rec]
    again.replay()
    graph, other = again[0].graph, rec[0].graph
    assert again[5].graph is graph and [repr(n) for n in graph.walk()] == [repr(n) for n in other.walk()]
    assert [(e.source, e.target) for e in graph.edges] == [(e.source, e.target) for e in other.edges]
    x = graph.nodes[2].record.arguments["out"]
    found = {
        "ps": again[2].source, "x": x, "y": graph.nodes[3].record.arguments["y"], "n": graph.nodes[0].target,
        "z": again[6].record.arguments["x"], "w": again[6].record.arguments["y"],
        "copied": again[2].target, "v": again[4].target,
    }  # fmt: skip
    assert values(found) == expected


def test_it_replays_in_another_process(tmp_path: Path) -> None:
    rec, arrays = record_files.everything()
    rec.save(tmp_path / "run.wbr")
    rec.rewind()
    rec.replay()
    program = (
        "import sys, workbench as wb; r = wb.load_record(sys.argv[1], trust=True); r.replay()\n"
        "print(r[2].target.numpy().tolist(), r[6].record.arguments['x'].grad.numpy().tolist())"
    )
    run = [sys.executable, "-W", "error", "-c", program, str(tmp_path / "run.wbr")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=900, check=True)
    assert done.stdout.strip() == f"{arrays['copied'].numpy().tolist()} {arrays['z'].grad.numpy().tolist()}"


def test_a_loaded_graph_is_updated_and_its_structs_are_values(tmp_path: Path) -> None:
    rec, _ = record_files.everything()
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr", trust=True)
    graph, ps = again[0].graph, again[2].source
    first = ps[0].position.tolist()
    graph.update("move", dt=1.0)
    graph.launch()
    assert ps[0].position.tolist() == [2 * c for c in first] and ps[1].alive == 1
    again.only(kernel="move").replay(dt=0.0)
    assert ps[0].position.tolist() == [2 * c for c in first]


@wb.kernel
def block_sums(x: wb.array[float], sums: wb.array[float]):
    i = wb.tid()
    total = wb.tile_sum(wb.tile(x[i]))
    sums[i // 8] = total[0]


@wb.kernel
def block_sums_of_rows(x: wb.array2d[float], sums: wb.array[float]):
    i, j = wb.tid()
    total = wb.tile_sum(wb.tile(x[i, j]))
    sums[i] = total[0]


def test_a_kernel_of_tiles_counts_threads_again_when_it_comes_from_a_file(tmp_path: Path) -> None:
    x, sums = wb.array(np.arange(64, dtype=np.float32)), wb.zeros(8)
    with wb.capture() as graph:
        wb.launch(block_sums, 16, [x, sums], block_dim=8)
    with wb.record(inputs=True) as rec:
        graph.launch()
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")[0].graph
    sums = again.nodes[0].record.arguments["sums"]
    expected = np.arange(64.0).reshape(8, 8).sum(1)
    again.launch()
    assert sums.numpy().tolist() == [*expected[:2], *[0.0] * 6], "two blocks of eight threads"
    again.update(dim=64)
    again.launch()
    assert sums.numpy().tolist() == expected.tolist()
    with pytest.raises(wb.LaunchError, match="whole blocks: 60 threads, block_dim 8"):
        again.update(dim=60)


def test_a_kernel_of_tiles_over_rows_keeps_its_sizes_in_a_file(tmp_path: Path) -> None:
    x, sums = wb.array(np.ones((4, 8), np.float32)), wb.zeros(4)
    with wb.record(inputs=True) as rec:
        wb.launch(block_sums_of_rows, (4, 8), [x, sums], block_dim=8)
    rec.save(tmp_path / "run.wbr")
    data = (tmp_path / "run.wbr").read_bytes()
    again = wb.load_record(tmp_path / "run.wbr")
    launch = again[0].record
    assert launch.changed({}, (4, 8)).dim == launch.dim == (4,)
    with pytest.raises(wb.LaunchError, match="comes from a file, where it was launched over 4 × 8 of threads"):
        launch.changed({}, (2, 8))
    content, members = unpack(data)
    assert content["modules"][0]["tiling"] == [8, 1, True, [4, 8]]
    for wrong in ([0, 1, True, []], [8, 1, 2, []], [8, 1], "tiles", [8, 1, True, [-(2**70)]]):
        content["modules"][0]["tiling"] = wrong
        with pytest.raises(wb.RecordError, match="tiling"):
            read(pack(content, members))
    del content["modules"][0]["tiling"]
    assert restore(read(pack(content, members)))[0].record.dim == (4,), "a file from before tilings"


def test_checkpoints_are_kept(tmp_path: Path) -> None:
    rec, _ = record_files.everything()
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr", trust=True)
    kernels = {r.kernel: r.specialisation.kernel.checkpoints for r in again.launches}
    assert kernels == {"move": record_files.move.checkpoints, "power": 5}
    adjoint = next(r for r in again.launches if r.kernel == "power" and r.direction == "adjoint")
    assert adjoint.executable.digest == next(r for r in rec.launches if r.direction == "adjoint").executable.digest


def test_the_gradient_of_structs_is_saved(tmp_path: Path) -> None:
    ps, x = particles(requires_grad=True), wb.zeros(3, requires_grad=True)
    with wb.record(inputs=True) as rec:
        with wb.Tape() as tape:
            wb.launch(record_files.move, 3, [ps, 0.5], [x])
        tape.backward(grads={x: np.ones(3)})
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    again.replay()
    grad = again.only(adjoint=False).find("ps[].mass").grad
    assert grad.numpy().tolist() == ps.grad["mass"].numpy().tolist() == [1, 2, 3]


def content() -> tuple[Any, dict[str, bytes]]:
    told, members = unpack(record_files.sound(True))
    return json.loads(json.dumps(told)), members


def refusal(told: Any, members: dict[str, bytes]) -> str:
    with pytest.raises(wb.RecordError) as caught:
        restore(read(pack(told, members)))
    return caught.value.message


def test_graphs_that_make_no_sense_are_refused() -> None:
    told, members = content()
    whole = next(k for k, g in enumerate(told["graphs"]) if any(n["kind"] == "while" for n in g["nodes"]))
    nodes = told["graphs"][whole]["nodes"]
    loop = next(n for n in nodes if n["kind"] == "while")
    branch = next(n for n in nodes if n["kind"] == "if")
    inner = loop["bodies"]["body"]
    loop["bodies"]["body"] = whole
    assert "no graph" in refusal(told, members), "a graph inside itself"
    loop["bodies"]["body"] = branch["bodies"]["false"]
    assert "never writes its condition" in refusal(told, members)
    loop["bodies"]["body"], loop["condition"] = inner, nodes[2]["arguments"]["out"][1]
    assert "not an int32 of one element" in refusal(told, members)


def test_graphs_that_grow_without_bound_are_refused() -> None:
    told, members = content()
    last = len(told["graphs"]) - 1
    for _ in range(25):
        twice = {"kind": "graph", "condition": None, "bodies": {"body": last}}
        told["graphs"].append({"nodes": [twice, twice]})
        last += 1
    assert "too many or too deep" in refusal(told, members)


def test_fields_of_structs_in_different_places_are_refused() -> None:
    told, members = content()
    launch = next(e for e in told["entries"] if e["kind"] == "launch" and "ps[].mass" in e["arguments"])
    field = told["arrays"][launch["arguments"]["ps[].mass"][1]]
    field["shape"] = [2]
    assert "different places" in refusal(told, members)
    field["shape"], field["field"] = [3], [field["field"][0], field["field"][0]]
    assert "improper field" in refusal(told, members)


def test_an_array_with_a_header_that_numpy_warns_of_is_refused() -> None:
    told, members = content()
    name = told["memories"][0]["member"]
    before, shape, after = members[name].partition(b"'shape': (")
    members[name] = before + shape + after.replace(b",), }  ", b"L,), } ", 1)
    assert b"L,), }" in members[name] and "a header of Python 2" in refusal(told, members)
