"""A launch's target on GPUs: a cubin, a description for the handler's CUDA side, and two thunks.

XLA keeps single values in device memory, which the host cannot read while it queues a launch; so the kernel here takes
each traced number as an array of one element. Nothing here needs a GPU but `driver_functions`: the code is compiled for
an architecture by name.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import msgspec

from workbench.api.builds.build import backend_for, function_of, launch_like
from workbench.api.builds.keys import key_of
from workbench.backends.cpu import jit
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.layout import layout
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store
from workbench.errors import DeviceError
from workbench.interop.jax.launches.plan import Code, Plan, origin_data
from workbench.interop.jax.native import edits, registry
from workbench.interop.jax.native.abi import string_text
from workbench.interop.jax.native.descriptor import (
    CUDA,
    CUDA_INITIALIZE,
    DESCRIPTION,
    OUTDATED,
    REFUSE,
    THUNK,
    Description,
    Kind,
    Wire,
    address_of,
)
from workbench.interop.jax.native.target import content_name, for_ever, keep, make_known_on_gpus
from workbench.interop.jax.native.thunk import outdated_first
from workbench.ir.build import Builder, copy_block
from workbench.ir.data import Unwritable
from workbench.ir.values import Block, Function, Value
from workbench.runtime.device.driver import driver
from workbench.types import ArrayType

INITIALIZE = "workbench_initialize"
ON_GPU = -1
FUNCTIONS = (
    "cuLibraryLoadData", "cuLibraryGetKernel", "cuLibraryUnload", "cuKernelGetFunction", "cuLaunchKernel",
    "cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async", "cuMemsetD2D32Async", "cuMemcpyDtoDAsync",
    "cuGetErrorName", "cuCtxGetDevice", "cuKernelSetAttribute", "cuStreamGetCtx", "cuCtxPushCurrent", "cuCtxPopCurrent",
)  # fmt: skip
"""The functions of the driver that the handler calls, in the order of `Driver` in cuda.c."""
_UNCHECKED = (
    "Kernels run without checks on GPUs under JAX: nothing there reads faults. Use wb.checks(False) if"
    " that is intended, or look for the fault on the CPU or with wb.launch."
)
_VERSION = 12030  # the first in which a command buffer may hold what other libraries queue


def by_reference(function: Function, names: frozenset[str]) -> Function:
    """Return the function with the number parameters `names` as arrays of one element, which its body loads first."""
    builder, params, mapping = Builder(), [], {}
    for param in function.params:
        if param.name in names:
            params.append(Value(ArrayType(param.type, 1), param.name))  # type: ignore[arg-type]
            mapping[param] = builder.load(params[-1], builder.const(0))
        else:
            params.append(param)
    head = builder.body().ops
    body = copy_block(function.body, mapping)
    return msgspec.structs.replace(function, params=tuple(params), body=Block(body.params, (*head, *body.ops)))


@dataclass(frozen=True)
class CudaTarget:
    """Represents the FFI target of a launch on GPUs of one architecture.

    Attributes:
        name: the name under which XLA knows it.
        description: its wires, for the handler.
        image, entry: the cubin and its symbol.
        block, each: threads of a block, and points of the launch that a block takes.
        shared: bytes of dynamic shared memory of a block: more than a kernel may declare, or 0.
        origin: returns what its code is made from, as JSON values.
        is_exported: whether exported programs call it, which keep their version of the kernel.
    """

    name: str
    description: Description = field(compare=False, repr=False)
    image: bytes = field(compare=False, repr=False)
    entry: str = field(compare=False, repr=False)
    block: int = field(compare=False, repr=False)
    each: int = field(compare=False, repr=False)
    shared: int = field(compare=False, repr=False)
    origin: Callable[[], Any] = field(compare=False, repr=False)
    is_exported: bool = field(default=False, compare=False, repr=False)

    @property
    def exported(self) -> CudaTarget:
        """The same code under another name, for exported programs: an edit of the kernel never stops it."""
        return replace(self, name=content_name(self.description, self.name, "exported"), is_exported=True)

    def register(self) -> None:
        """Make the target known to XLA for CUDA, once per process; an exported one is also written to the store.

        An exported target is not registered where there is no GPU.
        """
        if not self.is_exported or driver() is not None:
            make_known_on_gpus(self.name, self.thunks)
        if self.is_exported:
            keep(self.name, self._described)

    def _described(self) -> dict[str, Any]:
        """Return, as JSON values, what the store holds under the target's name; empty if its IR cannot be written."""
        with suppress(Unwritable):
            described = {"label": self.description.kernel, "late": False, "block": self.block}
            return {"origin": self.origin(), **described}
        return {}

    def thunks(self) -> dict[str, int]:
        """Compile the target's handlers; return their addresses by XLA's stage, "initialize" and "execute"."""
        image = compile_text(self._text(), CpuBackend().target())
        code = for_ever(jit.load_symbols(image, (THUNK, INITIALIZE, DESCRIPTION, OUTDATED)))
        edits.watch_word(self.name, code.addresses[OUTDATED])
        registry.names[code.addresses[DESCRIPTION]] = self.name
        return {"initialize": code.addresses[INITIALIZE], "execute": code.addresses[THUNK]}

    def _text(self) -> str:
        """Return the LLVM IR of the target: description, driver functions, cubin, and the thunks of both stages.

        The cubin, whose address the text names, stays in memory as long as the process lives.
        """
        image = ctypes.create_string_buffer(self.image, len(self.image))
        # XLA keeps the target for good, and the driver may load the image at any later call.
        _alive.append(image)
        functions = driver_functions()
        table = ", ".join(f"ptr inttoptr (i64 {functions[name]} to ptr)" for name in FUNCTIONS)
        # Where the handler finds each parameter of the kernel in its buffer: first the dimensions.
        offsets = [0, *(slot.offset for slot in self.description.layout.slots)]
        thunks = "\n".join(
            f"define ptr @{symbol}(ptr %frame) {{"
            f"{outdated_first(f'inttoptr (i64 {address_of(REFUSE)} to ptr)', 'other', 'other')}\nother:\n"
            f"  %error = tail call ptr inttoptr (i64 {address_of(handler)} to ptr)(ptr %frame, ptr @{DESCRIPTION})\n"
            "  ret ptr %error\n}"
            for symbol, handler in ((THUNK, CUDA), (INITIALIZE, CUDA_INITIALIZE))
        )
        return "\n".join(
            [
                f"@{OUTDATED} = global ptr null",
                self.description.to_llvm_ir().replace("ptr ENTRY", "ptr @cuda"),
                f"@driver = private constant [{len(FUNCTIONS)} x ptr] [{table}]",
                f"@places = private constant [{len(offsets)} x i64] [{', '.join(f'i64 {p}' for p in offsets)}]",
                "@state = private global [2 x i64] zeroinitializer",
                string_text("entry", self.entry),
                "@cuda = private constant { ptr, ptr, ptr, i64, i64, ptr, ptr, i64 } {",
                f"  ptr @driver, ptr inttoptr (i64 {ctypes.addressof(image)} to ptr), ptr @entry, i64 {self.block}, "
                f"i64 {self.each}, ptr @state, ptr @places, i64 {self.shared}",
                "}",
                thunks,
            ]
        )


_alive: list[Any] = []


def cuda_target(plan: Plan, block: int) -> CudaTarget:
    """Return the target of a plan on this machine's GPUs, or on those of the architecture that it is exported for.

    It warns if the plan has checks, since nothing reads faults on a GPU.

    Raises:
        DeviceError: there is no GPU, or there are some of different architectures.
        BuildError: NVRTC refused the code.
    """
    if plan.checked:
        warnings.warn(_UNCHECKED, stacklevel=2)
    arch = edits.EXPORTING.get() or arch_here(plan)
    gpu_target = target_for(plan, block, arch)
    edits.claim(gpu_target.name, plan.code.specialisation)
    return gpu_target


def arch_here(plan: Plan) -> str:
    """Return the architecture of this machine's GPUs, such as "sm_90".

    Raises:
        DeviceError: there is no GPU, or there are GPUs of several architectures.
    """
    cuda = driver()
    if cuda is None:
        advice = 'Pass arch="sm_90", or another, to wb.jax_export.' if edits.EXPORTING.get() is not None else ""
        raise DeviceError(f"There is no CUDA device to compile {plan.kernel} for.", advice=advice)
    kinds = sorted({cuda.arch(n) for n in range(cuda.count())})
    if len(kinds) > 1:
        raise DeviceError(
            f"{plan.kernel} would run under JAX on GPUs of different kinds: {', '.join(kinds)}.",
            advice="Let JAX see those of one kind: CUDA_VISIBLE_DEVICES.",
            function=plan.kernel,
        )
    return kinds[0]


def target_for(plan: Plan, block: int, arch: str) -> CudaTarget:
    """Return the target of a plan for an architecture (`sm_90`), which need not be here."""
    described, code = plan.target.description, plan.code._replace(checks=False)
    names = frozenset(w.name for w in described.wires if _is_reference(w))
    function = by_reference(_function(code), names)
    entry = _compiled(code, function, names, arch)
    # ACCUMULATOR is a rank-0 buffer that the kernel sees as an array of one element: exactly this case.
    wires = tuple(replace(w, kind=Kind.ACCUMULATOR) if w.name in names else w for w in described.wires)
    placed = layout([(p.name, p.type) for p in function.params])
    description = Description(described.kernel, wires, placed, ON_GPU)
    block, each = (function.block_dim, 1) if function.block_dim else (block, block)
    name = content_name(description, f"{entry.metadata['digest']} {block}")
    origin = partial(origin_data, plan.code, described.wires)
    shared = entry.metadata.get("dynamic_shared", 0)
    return CudaTarget(name, description, entry.image, entry.metadata["entry"], block, each, shared, origin)


def _is_reference(wire: Wire) -> bool:
    """Return whether a parameter is a traced number, which the kernel reads from device memory."""
    return wire.kind is Kind.SCALAR and wire.operand >= 0


def _function(code: Code) -> Function:
    """Return the IR of a code's direction, as GPUs run it."""
    return function_of(
        code.specialisation,
        code.direction,
        code.shared,
        constant=code.constant,
        stack=False,
        launch=launch_like(code.options),
    )


def _compiled(code: Code, function: Function, names: frozenset[str], arch: str) -> Entry:
    """Return the cubin of `function` for an architecture: the store's, else compiled now and written to the store.

    `names` are the parameters that it takes by reference, and are part of its key.
    """
    backend, store = backend_for("cuda"), default_store()
    own = key_of(code.specialisation, code.direction, code.options, backend, arch, code.shared)
    listed = " ".join(sorted(names))
    key = Key((Part("kernel", "code", own.digest.encode()), Part("by reference", "extra", listed.encode(), listed)))
    with store.lock(key.digest):
        entry = store.get(key.digest)
        if entry is None:
            artifact = backend.compile(function, code.options, arch)
            metadata = {"name": function.name, "digest": key.digest, **artifact.metadata}
            entry = Entry(artifact.image, metadata)
            store.put(key.digest, entry)
    return entry


@lru_cache(maxsize=1)
def driver_functions() -> Mapping[str, int]:
    """Return the addresses of `FUNCTIONS` in this process's CUDA driver.

    Raises:
        DeviceError: there is no driver, or it lacks one of them.
    """
    cuda = driver()
    if cuda is None:
        raise DeviceError("There is no CUDA driver.")
    return cuda.addresses(FUNCTIONS, min(_VERSION, cuda.call("cuDriverGetVersion")))
