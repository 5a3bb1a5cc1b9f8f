"""CUDA text as a C++ program for the CPU: our header, each text in a namespace of its own, a stub for each kernel.

Texts in namespaces may each bring the same prelude. `extern __shared__` arrays all get one symbol by an asm label, as
CUDA has them begin at one place; static ones lie in one section, so that they can be filled before each block.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DYNAMIC_SHARED = 256 * 1024
"""Bytes of dynamic shared memory that a block can have; devices give up to 227 KB."""

MEETING = re.compile(r"\b(__sync(threads|warp)\w*|__shfl\w*|__(ballot|any|all|match|reduce)\w*_sync|__activemask)\b")
"""What a thread waits for others in."""

_DYNAMIC = re.compile(r"\bextern(?P<gap>\s+)__shared__(?P<declared>[^;{}()]*(?:\(\s*\d+\s*\)[^;{}()]*)?)\[\s*\]\s*;")
HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "cuda_runtime.h", "vector_types.h", "math_constants.h")
"""CUDA's headers whose content ours have."""
_HALVES = re.compile(r"#[ \t]*include[ \t]*[<\"]cuda_(fp16|bf16)\.h")
_OWN = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](" + "|".join(map(re.escape, HEADERS)) + r"|math\.h|stdio\.h|assert\.h)[>\"].*$",
    re.MULTILINE,
)
_HERE = Path(__file__).parent
_THREADS = {
    "fibers": ("fibers.hpp", ""),
    "alone": ("alone.hpp", ""),
    "threads": ("real_threads.hpp", "WB_HOST_THREADS"),
}


@dataclass(frozen=True)
class Entry:
    """A kernel of a text: its C++ name and its parameters' C++ types."""

    name: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class Unit:
    """One text and its kernels; `label` is the file that its lines are counted in (see `#line`)."""

    text: str
    entries: tuple[Entry, ...]
    label: str = ""


def threads_for(text: str) -> str:
    """How the threads of this text have to run: "fibers" where they wait for each other, else "alone"."""
    return "fibers" if MEETING.search(text) else "alone"


def program(units: Sequence[Unit], threads: str = "", conditions: bool = False, wide: bool = False) -> str:
    """The C++ program.

    Args:
        units: texts with their kernels; the names of all kernels differ.
        threads: "fibers", "alone" (one after the other; no warp is ever whole) or "threads" (real ones, for a race
            detector). By default what the texts need.
        conditions: a graph's conditional handle is the address of a word.
        wide: every float of the texts is a double.
    """
    chosen = threads or ("fibers" if any(threads_for(u.text) == "fibers" for u in units) else "alone")
    parts = [header(chosen, conditions)]
    if wide or any(_HALVES.search(u.text) for u in units):
        parts.append(_read("wide.hpp" if wide else "halves.hpp"))
    for number, unit in enumerate(units):
        line = f'#line 1 "{unit.label}"\n' if unit.label else ""
        stubs = "".join(map(_stub, unit.entries))
        parts.append(f"namespace wb_unit_{number} {{ namespace {{\n{line}{_adapted(unit.text)}\n}}\n{stubs}}}\n")
    return "\n".join(parts)


@cache
def header(threads: str, conditions: bool = False) -> str:
    """What stands before the texts."""
    switching, defined = _THREADS[threads]
    defines = [f"#define WB_HOST_DYNAMIC {DYNAMIC_SHARED}"]
    defines += [f"#define {defined}"] * bool(defined) + ["#define WB_HOST_CONDITIONS"] * conditions
    names = ("block.hpp", switching, "words.hpp", "maths.hpp", "vectors.hpp", "mma.hpp", "copies.hpp", "launch.hpp")
    return "\n".join([*defines, *map(_read, names)])


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text()


def _adapted(text: str) -> str:
    """`extern __shared__ T name[];` as one array under one symbol, and no header of CUDA's; lines stay."""
    text = _OWN.sub("", text)
    return _DYNAMIC.sub(lambda m: f'extern{m["gap"]}{m["declared"]}[] asm("wb_host_dynamic");', text)


def _stub(entry: Entry) -> str:
    args = ", ".join(f"wb_host::passed<{t}>(p[{n}])" for n, t in enumerate(entry.types))
    sizes = ", ".join([str(len(entry.types)), *(f"(long long)sizeof({t})" for t in entry.types)])
    return (
        f"static void wb_call_{entry.name}(void** p) {{ {entry.name}({args}); }}\n"
        f'extern "C" int wb_host_{entry.name}(void** p, const wb_host::Launch* how) {{\n'
        f"    return wb_host::launch(wb_call_{entry.name}, p, *how);\n}}\n"
        f'extern "C" const long long wb_sizes_{entry.name}[] = {{{sizes}}};\n'
        f'extern "C" int wb_entry_{entry.name}(char* params, long long, long long, void* fault) {{\n'
        f"    return wb_host::packed(wb_call_{entry.name}, params, {len(entry.types)}, (long long*)fault);\n}}\n"
    )
