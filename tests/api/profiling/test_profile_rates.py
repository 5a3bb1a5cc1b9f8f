"""Occupancy and bounds: rules against NVIDIA's own calculator, rates against a second published number."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.api.profiling.bound import RATES, bound, rates_of
from workbench.backends.cuda.architectures import ARCHITECTURES
from workbench.backends.cuda.tiles.placement.arena import shared_limit
from workbench.backends.ptx.counters import Counts
from workbench.errors import DeviceError
from workbench.runtime.launching.occupancy import best_block, occupancy

ORACLE = """
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cuda_occupancy.h>
int main() {
    int capability, threads, shared, optin, block, registers, bytes;
    while (scanf("%d %d %d %d %d %d %d", &capability, &threads, &shared, &optin, &block, &registers, &bytes) == 7) {
        cudaOccDeviceProp device;
        device.computeMajor = capability / 10;
        device.computeMinor = capability % 10;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = threads;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 << 10;
        device.sharedMemPerMultiprocessor = shared;
        device.sharedMemPerBlockOptin = optin;
        device.reservedSharedMemPerBlock = capability >= 80 ? 1024 : 0;
        device.numSms = 1;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = 0;
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = bytes;
        kernel.numBlockBarriers = 1;
        cudaOccDeviceState state;
        cudaOccResult found;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&found, &device, &kernel, &state, block, bytes) != 0) return 1;
        printf("%d\\n", found.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "share", "limited_by"),
    [
        ("sm_90", 256, 32, 0, 8, 1.0, "threads"),
        # 64 × 32 = 2048 registers per warp: 8 warps in each of 4 partitions of 16384.
        ("sm_90", 256, 64, 0, 4, 0.5, "registers"),
        # 65 × 32 = 2080 are rounded to 2304: 7 warps in each partition, 28 together, 3 blocks of 8.
        ("sm_90", 256, 65, 0, 3, 24 / 64, "registers"),
        # 49 KiB with the 1 KiB that is reserved: 4 in 228.
        ("sm_90", 256, 32, 48 << 10, 4, 0.5, "shared memory"),
        # Blocks of one warp: 32 blocks of 64 warps.
        ("sm_90", 32, 32, 0, 32, 0.5, "blocks"),
        # 33 threads are two warps.
        ("sm_90", 33, 32, 0, 32, 1.0, "threads"),
        # 1536 threads hold one block of 1024.
        ("sm_86", 1024, 32, 0, 1, 1024 / 1536, "threads"),
        # Ada holds 24 blocks, Ampere's sm_86 16, of 48 warps.
        ("sm_89", 32, 16, 0, 24, 0.5, "blocks"),
        ("sm_86", 32, 16, 0, 16, 16 / 48, "blocks"),
        # 255 registers are 8192 per warp: 2 warps in each partition, 8 together.
        ("sm_80", 256, 255, 0, 1, 8 / 64, "registers"),
        # A block of 1024 threads has 64 registers per thread.
        ("sm_80", 1024, 65, 0, 0, 0.0, "registers"),
        ("sm_75", 128, 40, 16 << 10, 4, 0.5, "shared memory"),
    ],
)
def test_occupancy_by_hand(arch, threads, registers, shared, blocks, share, limited_by):
    found = occupancy(ARCHITECTURES[arch], threads, registers, shared)
    assert (found.blocks, found.share, found.limited_by) == (blocks, share, limited_by)
    assert found.blocks == min(found.limits.values()) == found.limits[found.limited_by]
    assert found.share == found.blocks * found.warps / found.slots


@pytest.mark.slow
def test_occupancy_is_what_nvidia_calculates(tmp_path: Path, need: Callable[[str], str]) -> None:
    headers = Path(need("cuda_occupancy.h")) / "include"
    source, program = tmp_path / "oracle.cpp", tmp_path / "oracle"
    source.write_text(ORACLE)
    subprocess.run([need("g++"), f"-I{headers}", source, "-o", program], check=True, timeout=900)
    threads = (1, 32, 33, 64, 96, 100, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1000, 1024)
    registers = (0, 1, 8, 9, 16, 24, 32, 33, 40, 48, 64, 65, 72, 80, 96, 128, 129, 168, 224, 255)
    shared = (0, 1, 100, 128, 129, 1024, 4096, 10000, 16384, 33 * 128, 49152, 60000, 65536, 99 << 10, 227 << 10)
    cases = [
        (facts, *sizes)
        for facts in ARCHITECTURES.values()
        for sizes in itertools.product(threads, registers, shared)
        if sizes[2] <= shared_limit(facts.name)
    ]
    asked = "\n".join(
        f"{facts.capability} {facts.threads} {facts.shared} {shared_limit(facts.name)} {t} {r} {s}"
        for facts, t, r, s in cases
    )
    said = subprocess.run([program], input=asked, capture_output=True, text=True, check=True, timeout=900).stdout
    expected = [int(row) for row in said.split()]
    assert len(expected) == len(cases) > 30_000
    assert [occupancy(*case).blocks for case in cases] == expected


@pytest.mark.parametrize("rates", RATES, ids=lambda rates: rates.gpu)
def test_rates_agree_with_the_published_rate_of_float32(rates):
    # Lanes per multiprocessor: "Arithmetic Instructions" of the CUDA C++ Programming Guide, float32 add and multiply.
    lanes = 64 if rates.arch in ("sm_75", "sm_80") else 128
    assert rates.fp32 == pytest.approx(2 * lanes * rates.units * rates.clock, rel=6e-3)
    assert rates.arch in ARCHITECTURES and rates.source


def test_bounds():
    # 3350e9 / 1.98e9 = 1692 bytes per cycle; 528 instructions per cycle; one update of an element per cycle.
    h100 = rates_of("sm_90")
    copied = Counts(instructions=5280, global_sectors=16920)
    found = bound(copied, 16920, 0, h100)
    assert found is not None and found.by == "memory" and found.sure
    assert found.cycles == {
        "memory": pytest.approx(320, rel=1e-3), "instructions": 10, "shared memory": 0, "atomics": 0,
    }  # fmt: skip
    again = bound(copied, 16, 0, h100)
    assert again is not None and again.by == "memory" and not again.sure
    assert bound(copied, 16920, 1000, h100).by == "atomics"  # type: ignore[union-attr]
    assert bound(Counts(instructions=528000), 0, 0, h100).by == "instructions"  # type: ignore[union-attr]
    assert bound(Counts(shared_wavefronts=528000, instructions=1), 0, 0, h100).by == "shared memory"  # type: ignore[union-attr]
    assert bound(copied, 16920, 0, rates_of("sm_103")) is None
    # All atomics together: 132 multiprocessors, 321 cycles.
    spread = bound(Counts(instructions=5280, global_sectors=16920, atomics=132 * 321), 16920, 1, h100)
    assert spread is not None and spread.by == "atomics" and spread.cycles["atomics"] == 321


def test_a_launch_below_one_wave_is_bound_by_latency():
    copied = Counts(instructions=5280, global_sectors=16920)
    for blocks, latency in ((1, True), (263, True), (264, False), (1000, False)):
        found = bound(copied, 16920, 0, rates_of("sm_90"), blocks, 2)
        assert found is not None and found.is_latency == latency and str(found).startswith("latency: ") == latency


def test_rates_by_name():
    assert rates_of("sm_89").gpu == "L4"  # type: ignore[union-attr]
    assert rates_of("sm_89", "RTX 4090").bandwidth == 1008e9  # type: ignore[union-attr]
    with pytest.raises(DeviceError, match="'H100 SXM' of sm_89"):
        rates_of("sm_89", "H100 SXM")


def test_the_best_block_has_the_most_warps_active() -> None:
    for arch, registers, shared, best in (
        ("sm_90", 16, 0, 256), ("sm_90", 72, 0, 128), ("sm_90", 56, 0, 128), ("sm_86", 40, 0, 256),
        ("sm_90", 16, 40_000, 512),
    ):  # fmt: skip
        found = best_block(ARCHITECTURES[arch], registers, shared)
        assert found == best, (arch, registers, shared)
        shares = [occupancy(ARCHITECTURES[arch], size, registers, shared).share for size in range(32, 1025, 32)]
        assert occupancy(ARCHITECTURES[arch], found, registers, shared).share == max(shares)
