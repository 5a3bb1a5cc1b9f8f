"""Records in files: what comes back is what ran, in this process and in another; what is damaged is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import record_files
from workbench.runtime.records.saved import read


def test_a_record_comes_back_whole(tmp_path: Path) -> None:
    rec, x, y = record_files.simulation()
    expected = y.numpy().copy(), x.grad.numpy().copy()
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    assert [(e.kind, e.name, e.size, str(e.site)) for e in again] == [
        (e.kind, e.name, e.size, str(e.site)) for e in rec
    ]
    found = again.find("x")
    assert found.numpy().tolist() == [1, 2, 3], "arrays are as they were before the code ran"
    again.replay()
    assert np.array_equal(again.find("y").numpy(), expected[0])
    assert np.array_equal(found.grad.numpy(), expected[1])
    again.rewind()
    again.replay(a=4.0)
    assert again.find("y").numpy().tolist() == [4.5, 16.5, 36.5]
    assert x.numpy().tolist() == [1, 2, 3] and "loaded" not in repr(x)


@wb.kernel
def _doubled(x: wb.array[wb.bfloat16], y: wb.array[wb.bfloat16], by: wb.bfloat16):
    i = wb.tid()
    y[i] = x[i] * by


def test_bfloat16_arrays_and_numbers_are_launched_saved_and_read(tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = wb.array(np.arange(5).astype(ml_dtypes.bfloat16))
    y = wb.zeros(5, dtype=wb.bfloat16)
    with wb.record(inputs=True) as rec:
        wb.launch(_doubled, 5, [x, y, ml_dtypes.bfloat16(2.5)])
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    again.replay()
    expected = (np.arange(5) * 2.5).astype(ml_dtypes.bfloat16).tolist()
    assert again.find("y").numpy().tolist() == expected == y.numpy().tolist()


def test_it_opens_in_another_process(tmp_path: Path) -> None:
    rec, _, y = record_files.simulation()
    rec.save(tmp_path / "run.wbr")
    program = (
        "import sys, workbench as wb; r = wb.load_record(sys.argv[1]); r.replay(); print(r.find('y').numpy().tolist())"
    )
    run = [sys.executable, "-W", "error", "-c", program, str(tmp_path / "run.wbr")]
    assert subprocess.run(run, capture_output=True, text=True, timeout=900, check=True).stdout.strip() == str(
        y.numpy().tolist()
    )


@pytest.mark.parametrize(
    ("trust", "built"), [(True, []), pytest.param(False, ["scaled", "scaled"], marks=pytest.mark.slow)]
)
def test_machine_code_in_the_file_is_used_only_where_it_is_trusted(tmp_path: Path, trust: bool, built: list) -> None:
    rec, _, y = record_files.simulation()
    rec.save(tmp_path / "run.wbr")
    program = (
        "import sys, workbench as wb; from workbench import events; seen = []\n"
        "events.subscribe(seen.append, events.CompileDone)\n"
        "r = wb.load_record(sys.argv[1], trust=sys.argv[2] == 'True'); r.replay()\n"
        "print([e.kernel for e in seen], r.find('y').numpy().tolist())"
    )
    run = [sys.executable, "-W", "error", "-c", program, str(tmp_path / "run.wbr"), str(trust)]
    empty = {**os.environ, "WORKBENCH_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(run, capture_output=True, text=True, timeout=900, check=True, env=empty)
    assert done.stdout.strip() == f"{built} {y.numpy().tolist()}"


def test_a_loaded_record_can_be_saved_again(tmp_path: Path) -> None:
    rec, _, _ = record_files.simulation()
    rec.save(tmp_path / "a.wbr")
    again = wb.load_record(tmp_path / "a.wbr", trust=True)
    again.save(tmp_path / "b.wbr")
    first, second = (read((tmp_path / n).read_bytes()) for n in ("a.wbr", "b.wbr"))
    assert first.entries == second.entries and first.arrays == second.arrays


def test_without_trust_launches_run_with_checks_and_no_machine_code_is_taken(tmp_path: Path) -> None:
    rec, _, _ = record_files.simulation()
    rec.save(tmp_path / "run.wbr")
    careful, trusted = wb.load_record(tmp_path / "run.wbr"), wb.load_record(tmp_path / "run.wbr", trust=True)
    assert all(r.executable.checked for r in careful.launches)
    assert not any(r.executable.checked for r in trusted.launches)
    with pytest.raises(wb.KernelFault, match="axis 0"):
        careful.replay(shift=7)


def test_views_share_their_memory_again(tmp_path: Path) -> None:
    whole = wb.array(np.arange(6, dtype=np.float32))
    with wb.record(inputs=True) as rec:
        wb.launch(record_files.double, 3, inputs=[whole[::2]])
        wb.launch(record_files.double, 6, inputs=[whole])
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    again.replay()
    assert again.launches[1].arguments["x"].numpy().tolist() == [0, 2, 8, 6, 16, 10]


def test_structs_are_saved_by_their_fields(tmp_path: Path) -> None:
    settings = record_files.Settings()
    settings.scale, settings.shift = 2.0, wb.vec3(1.0, 2.0, 3.0)
    x = wb.array([1.0, 2.0])
    kept = wb.launch(record_files.settle, 2, inputs=[settings, x], record_cmd=True)
    with wb.record(inputs=True) as rec:
        kept.launch()
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    again.replay()
    assert again.find("x").numpy().tolist() == x.numpy().tolist() == [4, 6]
    again.rewind()
    again.replay(**{"settings.scale": 3.0})
    assert again.find("x").numpy().tolist() == [5, 8]
    settings.scale = 0.0
    kept.set_param_at_index(0, settings)
    kept.launch()
    assert x.numpy().tolist() == [2, 2]


def test_what_was_not_kept_is_saved_as_it_is_now(tmp_path: Path) -> None:
    x = wb.array([1.0, 2.0])
    with wb.record() as rec:
        wb.launch(record_files.double, 2, inputs=[x])
    with pytest.warns(UserWarning, match="as they are now"):
        rec.save(tmp_path / "run.wbr")
    assert wb.load_record(tmp_path / "run.wbr").find("x").numpy().tolist() == [2, 4]


def test_foreign_and_missing_files_are_refused(tmp_path: Path) -> None:
    rec, _, _ = record_files.simulation()
    rec.save(tmp_path / "whole.wbr")
    (tmp_path / "cut.wbr").write_bytes((tmp_path / "whole.wbr").read_bytes()[:500])
    (tmp_path / "text.wbr").write_text("hello")
    (tmp_path / "empty.wbr").write_bytes(b"")
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    unusable = "is not a usable record: it"
    for name, message in {
        "none.wbr": "none.wbr cannot be read: No such file", "whole": r"No such file or directory.*mean .*whole\.wbr\?",
        "": "cannot be read: ", "text.wbr": f"text.wbr {unusable} is a file of another kind",
        "array.npy": f"{unusable} is a file of another kind", "empty.wbr": f"empty.wbr {unusable} is empty",
        "arrays.npz": f"{unusable} was not made by Workbench", "cut.wbr": f"{unusable} is damaged or was cut short",
    }.items():  # fmt: skip
        with pytest.raises(wb.RecordError, match=message):
            wb.load_record(tmp_path / name)
    with pytest.raises(wb.RecordError, match="cannot be written"):
        rec.save(tmp_path / "no" / "such" / "folder.wbr")


def test_a_compressed_member_is_refused(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "bomb.wbr", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("record.json", b"\0" * 10_000_000)
    with pytest.raises(wb.RecordError, match="compressed"):
        wb.load_record(tmp_path / "bomb.wbr")


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("resealed", [False, True])
def test_damaged_files_are_refused_or_right(resealed: bool, whole: bool) -> None:
    assert record_files.fuzz(100, 1, resealed, record_files.sound(whole)) == []


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("resealed", [False, True])
def test_many_damaged_files(resealed: bool, whole: bool) -> None:
    assert record_files.fuzz(6_000, 2, resealed, record_files.sound(whole)) == []
