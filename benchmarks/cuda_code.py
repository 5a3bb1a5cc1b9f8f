"""What generated CUDA code executes, beside Warp's: PTX instructions per element, counted on the emulated device.

No GPU runs. Both programs are made for sm_90, Warp's by an interpreter that has warp-lang (`WORKBENCH_WARP_PYTHON`,
else this one); both run on the CPU with counters, on the same arrays, and their results are compared. `SASS` are
instructions of the machine code and `regs` registers of a thread, as nvdisasm and ptxas give them. `occupancy` is that
of blocks of 256 threads, `stack` a thread's bytes of local memory; of Warp's PTX nvJitLink's ptxas says both. Adjoints
find the gradients of arrays, as a tape asks for them. Warp contracts `a * b + c`; ours does in the rows with `fma`.
Where results differ, Warp's gradient is wrong: it keeps no states of a loop of unknown length.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from cuda.bindings import nvjitlink
from cuda_kernels import CASES

import workbench as wb
from workbench.api.builds.build import compile_for, function_of
from workbench.api.profiling.run import Geometry, _Run, counting_kernel
from workbench.api.profiling.subject import subject_of
from workbench.api.tapes.adjoint_launch import bind_adjoint
from workbench.backends.cuda.architectures import ARCHITECTURES
from workbench.backends.cuda.compile.disassemble import disassembler, sass
from workbench.backends.cuda.compile.nvrtc import resources_by_kernel
from workbench.backends.ptx.syntax.parse import parse
from workbench.ir.values import walk
from workbench.runtime.launching.occupancy import occupancy

RESULTS = Path(__file__).parent / "results"
ARCH, BLOCK = "sm_90", 256


@dataclass(frozen=True)
class Counted:
    """What a program came to: PTX instructions per element, atomic operations per element, its arrays afterwards."""

    instructions: float
    atomics: float
    arrays: dict[str, np.ndarray]


def argument(shape: Any, random: np.random.Generator) -> Any:
    """An argument of a case on the CPU."""
    match shape:
        case ("int", size, below):
            return wb.array(random.integers(0, below, size), dtype=int)
        case ("vec3" | "vec4" as kind, size):
            return wb.array(random.random((*size, int(kind[3]))).astype(np.float32), dtype=getattr(wb, kind))
        case tuple():
            return wb.array(random.random(shape).astype(np.float32))
    return shape


def run(kernel: Any, program: Any, record: Any, geometry: Geometry, offsets: Any, elements: int) -> Counted:
    """Run a program on copies of a record's arrays."""
    one = _Run(kernel, program, record, geometry, offsets)
    counts = [c.counts for c in one.count(1).instructions]
    arrays = {}
    for name, (low, high) in one.ranges().items():
        arrays[name] = one.memory[low - one.base : high - one.base].copy()
    return Counted(sum(c.threads for c in counts) / elements, sum(c.atomics for c in counts) / elements, arrays)


def ours(record: Any, elements: int) -> tuple[Counted, int, dict[str, int]]:
    """Counts of our code, instructions of its SASS (0 without a disassembler), what ptxas says."""
    subject = subject_of(record, ARCH)
    kernel = counting_kernel(subject.program, subject.code.entry)
    found = run(kernel, subject.program, record, subject.geometry, subject.offsets, elements)
    made = compile_for(record.specialisation, record.direction, record.launch_options.code, ARCH)
    lines = sass(made.image).splitlines() if disassembler() else []
    size = sum(bool(re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?!\s|NOP)", line)) for line in lines)
    return found, size, made.metadata


def assembled(text: str, entry: str) -> dict[str, int]:
    """What ptxas says of a kernel of a PTX text, by nvJitLink."""
    code, options = text.encode(), [f"-arch={ARCH}", "-Xptxas=-v"]
    handle = nvjitlink.create(len(options), options)
    nvjitlink.add_data(handle, nvjitlink.InputType.PTX, code, len(code), entry)
    nvjitlink.complete(handle)
    log = bytearray(nvjitlink.get_info_log_size(handle))
    nvjitlink.get_info_log(handle, log)
    nvjitlink.destroy(handle)
    return resources_by_kernel(log.decode())[entry]


def share(facts: dict[str, int]) -> float:
    """Of a multiprocessor's warps, those that are active at once."""
    return occupancy(ARCHITECTURES[ARCH], BLOCK, facts["registers"], facts.get("shared", 0)).share


def warps(text: str, record: Any, adjoint: bool, elements: int) -> tuple[Counted, dict[str, int]]:
    """Counts of Warp's code on the same arrays. Its arrays carry those of their gradients."""
    program = parse(text)
    entry = next(e for e in program.entries if e.endswith("backward" if adjoint else "forward"))
    names = list(record.arguments)
    own = [n for n in names if not n.startswith("adj_")]
    buffer, slots, arguments, offsets = bytearray(bounds(record.dim)), [], {}, [0]
    for side in ("", "adj_") if adjoint else ("",):
        for name in own:
            value = record.arguments[name]
            buffer += bytes(-len(buffer) % 8)
            offsets.append(len(buffer))
            if not hasattr(value, "shape"):
                buffer += np.float32(value).tobytes() if isinstance(value, float) else np.int32(value).tobytes()
                continue
            value = record.arguments.get(side + name, value)
            gradient = record.arguments.get(f"adj_{name}")
            for at, one in ((0, value), (8, gradient)):
                if one is not None and (at == 0 or not side):
                    slots.append(SimpleNamespace(name=f"{side}{name}@{at}", offset=len(buffer) + at))
                    arguments[f"{side}{name}@{at}"] = one
            shape, strides = [*value.shape, 0, 0, 0][:4], [*value.strides, 0, 0, 0][:4]
            buffer += bytes(16) + np.array([*shape, *strides], np.int32).tobytes()
            buffer += np.array([value.ndim, 0], np.uint16).tobytes() + bytes(4)
    total = int(np.prod(record.dim))
    fake = SimpleNamespace(
        arguments=arguments, buffer=bytes(buffer), executable=SimpleNamespace(layout=SimpleNamespace(slots=slots)),
        kernel=entry,
    )  # fmt: skip
    geometry = Geometry((-(-total // BLOCK), 1, 1), (BLOCK, 1, 1))
    made = run(counting_kernel(program, entry), program, fake, geometry, offsets, elements)
    arrays = {k.split("@")[0]: v for k, v in made.arrays.items() if k.endswith("@0")}
    arrays |= {f"adj_{k.split('@')[0]}": v for k, v in made.arrays.items() if k.endswith("@8")}
    return Counted(made.instructions, made.atomics, arrays), assembled(text, entry)


def bounds(dims: tuple[int, ...]) -> bytes:
    """Warp's description of a launch: sizes, their product, 1."""
    sizes = np.array(dims, np.int32).tobytes()
    sizes += bytes(-len(sizes) % 8)
    return sizes + np.array([np.prod(dims), 1], np.int64).tobytes()


def agree(record: Any, one: Counted, other: Counted) -> bool:
    """Whether both left the same numbers in the arrays, as far as rounding goes."""
    for name, value in record.arguments.items():
        if not hasattr(value, "shape") or name not in other.arrays:
            continue
        kind = value.numpy().dtype
        a, b = (c.arrays[name].view(kind) for c in (one, other))
        if not np.allclose(a.astype(float), b.astype(float), rtol=2e-3, atol=2e-3 * max(1.0, float(np.abs(a).max()))):
            return False
    return True


def warp_texts() -> tuple[str, dict[str, str]]:
    """Warp's version and its PTX by kernel; empty if there is no Warp."""
    python = os.environ.get("WORKBENCH_WARP_PYTHON", sys.executable)
    script = Path(__file__).parent / "peers" / "warp_ptx.py"
    with tempfile.TemporaryDirectory() as folder:
        texts = json.dumps({name: case.text for name, case in CASES.items()})
        done = subprocess.run([python, str(script), folder], input=texts, capture_output=True, text=True)
    answer = next((line[3:] for line in done.stdout.splitlines() if line.startswith("PTX")), "")
    if not answer:
        print(f"Without Warp: {done.stderr.strip().splitlines()[-1:]}")
        return "", {}
    told = json.loads(answer)
    return told["version"], told["kernels"]


def main() -> None:
    """Count, and write the table."""
    version, texts = warp_texts()
    rows = []
    for (name, case), fma in product(CASES.items(), (False, True)):
        random = np.random.default_rng(1)
        kernel = wb.build_cell(case.text, {}, backend="cpu", compile=False, fma=fma).kernels[name]
        if fma and not any(op.name == "fma" for op in walk(function_of(kernel.specialise(), "forward").body)):
            continue
        given = [argument(s, random) for s in case.shapes]
        elements = int(np.prod(case.dims))
        forward = wb.launch(kernel, case.dims, given, record_cmd=True, block_dim=BLOCK, checks=False).record
        records = [("forward", forward)]
        floats = {n: a for n, a in forward.arguments.items() if hasattr(a, "shape") and n in forward.executable.floats}
        if floats:
            adjoints = {n: wb.array(a.numpy() * 0 + 1, dtype=a.dtype) for n, a in floats.items()}
            records.append(("adjoint", bind_adjoint(forward, adjoints)))
        for direction, record in records:
            mine, size, facts = ours(record, elements)
            title = f"{name}, fma" if fma else name
            row = {"kernel": title, "direction": direction, "ours": mine.instructions, "atomics": mine.atomics}
            row |= {
                "sass": size,
                "registers": facts["registers"],
                "occupancy": share(facts),
                "stack": facts.get("stack", 0),
            }
            if texts:
                peer, theirs = warps(texts[name], record, direction == "adjoint", elements)
                row |= {"warp": peer.instructions, "warp_atomics": peer.atomics, "same": agree(record, mine, peer)}
                row |= {"warp_registers": theirs["registers"], "warp_occupancy": share(theirs)}
                row |= {"warp_stack": theirs.get("stack", 0)}
            rows.append(row)
            print(row, flush=True)
    write(version, rows)


def write(version: str, rows: list[dict[str, Any]]) -> None:
    """The table, as JSON and as Markdown."""
    (RESULTS / "cuda_code.json").write_text(json.dumps({"warp": version, "rows": rows}, indent=1) + "\n")
    head = [
        "kernel",
        "",
        "PTX per element",
        f"Warp {version}",
        "ratio",
        "atomics",
        "Warp",
        "SASS",
        "regs",
        "Warp",
        "occupancy",
        "Warp",
        "stack",
        "Warp",
        "results",
    ]
    lines = [
        f"# {(__doc__ or '').splitlines()[0]}",
        "",
        f"sm_90; {' '.join((__doc__ or '').split(chr(10) * 2)[1].split())}",
        "",
    ]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for r in rows:
        peer = [f"{r['warp']:.1f}", f"{r['ours'] / r['warp']:.2f}"] if "warp" in r else ["–", "–"]
        other = [f"{r['warp_atomics']:.3g}"] if "warp" in r else ["–"]
        same = ("agree" if r["same"] else "**differ**") if "warp" in r else "–"
        names = ("registers", "occupancy", "stack")
        pairs = [(r[n], r.get(f"warp_{n}", "–")) for n in names]
        shown = [f"{v:.0%}" if isinstance(v, float) else str(v) for pair in pairs for v in pair]
        cells = [r["kernel"], r["direction"], f"{r['ours']:.1f}", *peer, f"{r['atomics']:.3g}", *other,
                 str(r["sass"]), *shown, same]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    (RESULTS / "cuda_code.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
