"""The code of kernels in every direction and for every backend, as digests: what a fresh process prints of it.

python -m tests.support.checks.emitted_texts SEED hash|heap text|object|cubin EVERY PART [NAME …]

prints JSON: by name, direction and backend a digest of what each backend emits (`text`), of what LLVM makes of it for
the CPU and WebAssembly (`object`), or of what NVRTC does (`cubin`; without it, the name of the error). `hash` gives all
objects of the IR hashes by chance, `heap` shuffles the heap, so that addresses differ; both by SEED. Of the kernels it
takes each EVERY-th from PART on.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any


def _hash_by_chance(seed: int) -> None:
    """Give every class of the IR and of types a hash that differs by seed, and agrees with its equality."""
    from workbench import types
    from workbench.ir import data, ops, values

    rng, numbers = random.Random(seed), dict[int, tuple[Any, int]]()

    def by_identity(self: Any) -> int:
        # The object is kept, so that its address is never another one's.
        return numbers.setdefault(id(self), (self, rng.getrandbits(60)))[1]

    def by_value(original: Any) -> Any:
        return lambda self: hash((original(self) ^ seed) * 0x9E3779B97F4A7C15 & (1 << 60) - 1)

    for module in (values, ops, data, types):
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ == module.__name__ and "__hash__" in vars(kind) and kind.__hash__ is not None:
                kind.__hash__ = by_value(kind.__hash__)
    for kind in (values.Value, values.Op, values.Block, values.Function):
        assert not kind.__struct_config__.eq
        kind.__hash__ = by_identity
    _hash_tables_again()


def _hash_tables_again() -> None:
    """Store the keys of the product's tables by their new hashes: modules that are already loaded have the old ones."""
    sets = dict[int, frozenset[Any]]()
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()) if name.startswith("workbench.") else ():
            if type(value) is dict and not key.startswith("__"):
                entries = list(value.items())
                value.clear()
                value.update(entries)
            elif type(value) is frozenset:
                setattr(module, key, sets.setdefault(id(value), frozenset(list(value))))


def _shuffle_heap(seed: int) -> list[Any]:
    """Leave holes of many sizes in the heap; the result keeps the rest alive."""
    rng = random.Random(seed)
    blocks = [bytearray(rng.randrange(16, 700)) for _ in range(60_000)]
    rng.shuffle(blocks)
    return blocks[: rng.randrange(20_000, 40_000)]


def _kernels() -> Iterator[tuple[str, Callable[[], Any]]]:
    from tests.catalogue.test_catalogue import RIGHT, _function
    from tests.support.checks.meaning import define
    from tests.support.kernels.nested_loops import NESTED

    for name, text in NESTED.items():
        yield name, lambda text=text: define(text)["k"].specialise().function
    for name, (funcs, body) in RIGHT.items():
        yield name, partial(_function, funcs, body)


def _emitted(backend: Any, function: Any, options: Any, target: str) -> bytes:
    return backend.emit(function, options, target).encode()


def _compiled(backend: Any, function: Any, options: Any, target: str) -> bytes:
    """Return the machine code, and all that the launcher must know of it; not what it took to make it."""
    artifact = backend.compile(function, options, target)
    facts = {name: value for name, value in artifact.metadata.items() if name not in ("stages", "log")}
    return artifact.image + json.dumps(facts, sort_keys=True, default=repr).encode()


def main() -> None:
    seed, mode, form, every, part, *names = sys.argv[1:]
    keep = _hash_by_chance(int(seed)) if mode == "hash" else _shuffle_heap(int(seed))
    from workbench.autodiff.directions import RESIDUALS, derived
    from workbench.backends.base import Options
    from workbench.backends.cpu.backend import CpuBackend
    from workbench.backends.cpu.machine import WASM
    from workbench.backends.cuda.compile.nvrtc import CudaBackend
    from workbench.errors import WorkbenchError
    from workbench.passes.pipeline import RUNNABLE, RUNNABLE_ADJOINT, run

    code = _emitted if form == "text" else _compiled
    backends = {"cpu": (CpuBackend(), "x86-64-v4"), "wasm": (CpuBackend(), WASM), "cuda": (CudaBackend(), "sm_90")}
    if form != "text":
        backends = {name: backends[name] for name in backends if (name == "cuda") == (form == "cubin")}
    digests: dict[str, str] = {}
    rng = random.Random(int(seed))
    for number, (name, lowered) in enumerate(_kernels()):
        if number % int(every) != int(part) or (names and name not in names):
            continue
        function = lowered()
        for direction in ("forward", "adjoint", "gathered-adjoint", "tangent", *RESIDUALS):
            keep = [*(keep or ()), bytearray(rng.randrange(16, 700))] if mode == "heap" else keep
            try:
                stage = RUNNABLE_ADJOINT if direction.endswith("adjoint") else RUNNABLE
                made = run(stage, derived(function, direction))
            except WorkbenchError:
                continue
            for options in (Options(), Options(checks=True)):
                for device, (backend, target) in backends.items():
                    if options.checks and device != "cpu":
                        continue
                    try:
                        digest = hashlib.sha256(code(backend, made, options, target)).hexdigest()[:16]
                    except WorkbenchError as error:
                        digest = type(error).__name__
                    digests[f"{name}, {direction}, {device}, {'checks' if options.checks else 'plain'}"] = digest
    print(json.dumps(digests))


if __name__ == "__main__":
    main()
