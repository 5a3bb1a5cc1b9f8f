"""CUDA C++ text to PTX and cubin with NVRTC, for any architecture, without a GPU or a driver.

NVRTC runs in worker processes (`design/isolation.md`), which call `compile_program`: it may hang, crash or take all
memory. A cubin is made for the exact device; PTX is for reading.

NVRTC's C interface is called as it is: `cuda.bindings` would open whichever library the system finds first.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Mapping
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from workbench.backends.base import Artifact, Backend, Options
from workbench.backends.cuda import toolkit
from workbench.backends.cuda.cpp import cuda_funcs
from workbench.backends.cuda.emit import DEFAULT_TARGET, EmittedKernel, emit_cuda, emit_kernel, entry_name
from workbench.backends.cuda.lines import lines_by_operation, repeated
from workbench.backends.cuda.tiles.placement.arena import check_shared
from workbench.backends.cuda.toolkit import load
from workbench.backends.prints import prints
from workbench.backends.ptx.syntax.program import SANITIZED as HEAD
from workbench.backends.worker.pool import Lost, Pool, build_error, call
from workbench.errors import BuildError, DeviceError
from workbench.ir.values import Function

FILE_NAME = b"kernel.cu"
SUCCESS = "NVRTC_SUCCESS"


def compile_program(request: dict[str, Any], text: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Compile a text by NVRTC; return `status`, `log` and `names` (symbols by kernel), and the image.

    The image is empty unless the status is NVRTC_SUCCESS.

    Args:
        request: `library` (NVRTC's path), `target` ("sm_90"), `flags`, `names` of kernels whose symbols are requested,
            `form` (CUBIN, PTX, LTOIR), `advice` for the error if NVRTC does not know the target.
        text: CUDA C++.
        tell: receives the name of each stage as it begins.

    Raises:
        BuildError: NVRTC failed for a reason other than the text.
        DeviceError: NVRTC cannot be loaded, or does not know the target.
    """
    api = _Nvrtc(request["library"])
    _check_target(request["target"], api.known, request["advice"])
    tell("nvrtc")
    program, flags = c_void_p(), [flag.encode() for flag in request["flags"]]
    api.call("nvrtcCreateProgram", byref(program), c_char_p(text), FILE_NAME, 0, None, None)
    try:
        for name in request["names"]:
            api.call("nvrtcAddNameExpression", program, name.encode())
        status = api.status(api.library.nvrtcCompileProgram(program, len(flags), (c_char_p * len(flags))(*flags)))
        log = api.read("nvrtcGetProgramLog", program).decode(errors="replace")
        answer: dict[str, Any] = {"status": status, "log": log.replace("\0", "").strip(), "names": {}}
        if status != SUCCESS:
            return answer, b""
        image = api.read(f"nvrtcGet{request['form']}", program)
        symbols = {name: api.symbol(program, name) for name in request["names"]}
        return {**answer, "names": symbols}, image
    finally:
        api.library.nvrtcDestroyProgram(byref(program))


def supported(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Return the compute capabilities that an NVRTC compiles for, as `known` in an answer, and no data.

    Args:
        request: `library`, NVRTC's path.
        data: not used.
        tell: not used.

    Raises:
        DeviceError: NVRTC cannot be loaded.
    """
    return {"known": _Nvrtc(request["library"]).known}, b""


def _check_target(target: str, known: tuple[int, ...], advice: str) -> None:
    """Raise a DeviceError if the target is malformed, or its compute capability is not among the `known` ones."""
    if not re.fullmatch(r"sm_\d+[af]?", target) or int(re.sub(r"\D", "", target)) not in known:
        listed = ", ".join(f"sm_{n}" for n in known)
        raise DeviceError(f"NVRTC cannot compile for {target!r}.", advice=f"It knows {listed}. {advice}".strip())


class _Nvrtc:
    """The NVRTC library at a path, opened, whose calls raise a BuildError unless they succeed."""

    def __init__(self, path: str) -> None:
        self.library = load(path, "NVRTC")
        self.library.nvrtcGetErrorString.restype = c_char_p

    def status(self, number: int) -> str:
        """Return the name of a result of NVRTC, such as "NVRTC_SUCCESS"."""
        return self.library.nvrtcGetErrorString(number).decode()

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of NVRTC; raise a BuildError unless it succeeds."""
        status = self.status(getattr(self.library, name)(*arguments))
        if status != SUCCESS:
            raise BuildError(f"NVRTC failed: {status}.", log="")

    def read(self, name: str, program: c_void_p) -> bytes:
        """Return an output of a program by its C function, such as "nvrtcGetCUBIN"; empty if its size is 0."""
        size = c_size_t()
        self.call(f"{name}Size", program, byref(size))
        data = ctypes.create_string_buffer(size.value)
        if size.value:
            self.call(name, program, data)
        return data.raw

    def symbol(self, program: c_void_p, name: str) -> str:
        """Return the mangled name of a name expression of a compiled program."""
        lowered = c_char_p()
        self.call("nvrtcGetLoweredName", program, name.encode(), byref(lowered))
        return (lowered.value or b"").decode()

    @property
    def known(self) -> tuple[int, ...]:
        """The compute capabilities that this NVRTC compiles for: 75, 80, 90, …"""
        count = c_int()
        self.call("nvrtcGetNumSupportedArchs", byref(count))
        numbers = (c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", numbers)
        return tuple(numbers)


SANITIZED = "sanitized ptx"
"""The kind of PTX with lines whose accesses are checked when it runs on an emulated device."""
POOL = Pool("nvrtc", lambda: None)

_KINDS: dict[str, tuple[str, list[str]]] = {  # what NVRTC calls it, and which function returns it
    "cubin": ("CUBIN", ["-Xptxas=-v"]),
    "ptx": ("PTX", []),
    "ptx with lines": ("PTX", ["-lineinfo"]),
    "sanitized ptx": ("PTX", ["-lineinfo"]),
    "ltoir": ("LTOIR", ["-dlto", "--relocatable-device-code=true"]),
}

_USED = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_SHARED = re.compile(r"(\d+) bytes smem")
_PLACE = re.compile(r"^.*\((\d+)\): (?:catastrophic )?error: (.*)$", re.MULTILINE)


class CudaBackend(Backend):
    """The backend that compiles CUDA C++ by NVRTC.

    Args:
        target: the architecture to compile for if a call names none.
    """

    name = "cuda"
    kind = "cubin"

    def __init__(self, target: str = DEFAULT_TARGET) -> None:
        self._target = target

    def version(self, target: str = "") -> str:
        """Return the exact version of the wheel of `target`'s NVRTC, which reports no patch level itself.

        Raises:
            DeviceError: NVRTC is not installed.
        """
        return str(toolkit.compiler(target or self._target))

    def target(self) -> str:
        """Return the architecture compiled for by default."""
        return self._target

    def emit(self, function: Function, options: Options, target: str = "") -> str:
        """Return the function as CUDA C++ text; only that of kernels with tiles may depend on the architecture."""
        return emit_cuda(function, options, target or self._target)

    def compile(self, function: Function, options: Options, target: str = "") -> Artifact:
        """Compile the function into a cubin for exactly `target` (`sm_90`); `EmulatedBackend` makes PTX instead.

        Metadata: entry, backend, target, stages (spell and nvrtc, in seconds), log, and registers, shared, stack,
            spill_stores, spill_loads (bytes) as ptxas reported them; dynamic_shared (bytes) if a launch has to
            request it, which `shared` counts too. `prints` is there, as True, only if the kernel prints, and
            `strided` only if its threads each do several indices of the launch.

        Raises:
            BuildError: NVRTC refused the text; `log` holds what it said, `text` the text. Or tiles need more shared
                memory than a block of the target has.
            DeviceError: NVRTC is not installed, or does not know the target.
        """
        return self._compiled(function, options, target, self.kind)

    def _compiled(self, function: Function, options: Options, target: str, kind: str) -> Artifact:
        """Compile the function to a `kind` of NVRTC's output: "cubin", "ptx" or `SANITIZED`.

        The result has the image and its metadata.

        Raises:
            BuildError: NVRTC refused the text, or a block needs more shared memory than the target has.
            DeviceError: NVRTC is not installed, or does not know the target.
        """
        target = target or self._target
        start = time.perf_counter()
        emitted = emit_kernel(function, options, target, lines=kind == SANITIZED)
        check_shared(emitted.shared, emitted.regions, target, function.name)
        written = time.perf_counter()
        built = _built(repeated(emitted.text) if kind == SANITIZED else emitted.text, options, target, kind, function)
        stages = {"spell": written - start, "nvrtc": time.perf_counter() - written}
        metadata = metadata_of(function, emitted, target, built.log, stages)
        return Artifact(built.image, metadata | {"backend": self.name})

    def prepare(self) -> None:
        """Start a worker process with NVRTC, if there is none."""
        POOL.prepare()

    def ptx(self, function: Function, options: Options, target: str = "", *, lines: bool = False) -> str:
        """Compile the function into PTX text, for reading; with `lines`, `.loc` directives name the user's lines.

        Raises:
            BuildError: NVRTC refused the text.
            DeviceError: NVRTC is not installed, or does not know the target.
        """
        text = emit_cuda(function, options, target or self._target, lines=lines)
        text = repeated(text) if lines else text
        kind = "ptx with lines" if lines else "ptx"
        return _built(text, options, target or self._target, kind, function).image.decode().rstrip("\0")


class EmulatedBackend(CudaBackend):
    """The backend that compiles the CUDA backend's source code to PTX, for devices that the CPU emulates."""

    name = "emulated"
    kind = "ptx"

    def compile(self, function: Function, options: Options, target: str = "") -> Artifact:
        """Compile to PTX for `target`; with `options.checks` it is sanitized PTX, which checks accesses.

        The line numbers in sanitized PTX are numbers of IR operations (`lines_by_operation`). Metadata are those of
        `CudaBackend.compile`, without what only ptxas reports.

        Raises:
            BuildError: NVRTC refused the text, or a block needs more shared memory than the target has.
            DeviceError: NVRTC is not installed, or does not know the target.
        """
        if not options.checks:
            return super().compile(function, options, target)
        return self._compiled(lines_by_operation(function), options, target, SANITIZED)


IMAGES = {backend.name: backend.kind for backend in (CudaBackend, EmulatedBackend)}
"""The kind of code that devices load, by the name of their backend."""


def metadata_of(
    function: Function, emitted: EmittedKernel, target: str, log: str, stages: dict[str, float]
) -> dict[str, Any]:
    """Return the metadata of a cubin or PTX by name, as `CudaBackend.compile` lists them.

    Args:
        function: the kernel.
        emitted: its text.
        target: the architecture.
        log: of the compiler, from which registers, shared memory and spills are read.
        stages: seconds by the name of each stage of the compilation.
    """
    return {
        "entry": entry_name(function),
        "backend": CudaBackend.name,
        "target": target,
        "stages": stages,
        "log": log,
        **resources(log),
        **({"prints": True} if prints(function) else {}),
        **({"strided": True} if emitted.strided else {}),
        **({"dynamic_shared": emitted.shared, "shared": emitted.shared} if emitted.dynamic_shared else {}),
    }


def _built(text: str, options: Options, target: str, kind: str, function: Function) -> Built:
    """Compile the text of a function to `kind` by NVRTC.

    Raises:
        BuildError: NVRTC refused the text; if its first error is in a func's CUDA text, at the user's line.
    """
    try:
        return build(text, options, target, kind, function.name)
    except BuildError as error:
        first = _PLACE.search(error.log)
        raise cuda_funcs.placed(error, int(first[1]), text, function) if first else error from None


@dataclass(frozen=True)
class Built:
    """The output of NVRTC: a cubin, PTX or LTO-IR, its log, and the symbols of kernels that were requested by name."""

    image: bytes
    log: str
    names: Mapping[str, str] = field(default_factory=dict[str, str])


def flags(options: Options, target: str, kind: str) -> list[str]:
    """Return NVRTC's options for `kind`: "cubin", "ptx", "ptx with lines", `SANITIZED` or "ltoir".

    Without `fast_math` nothing is contracted, so that `+ - * / sqrt` give the CPU's bits.
    """
    # For reading, the virtual architecture's PTX is the same text without the time of ptxas.
    arch = target.replace("sm_", "compute_") if _KINDS[kind][0] == "PTX" else target
    chosen = [f"--gpu-architecture={arch}", "--std=c++17", "-no-cache", *_KINDS[kind][1]]
    return [*chosen, "--use_fast_math" if options.fast_math else "--fmad=false"]


@dataclass(frozen=True)
class ExtraOptions:
    """Additional options for compiling a user's text.

    Attributes:
        names: kernels whose symbols are requested.
        flags: more options.
    """

    names: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def build(
    text: str,
    options: Options,
    target: str,
    kind: str,
    function: str = "",
    around: ExtraOptions = ExtraOptions(),
) -> Built:
    """Compile CUDA C++ text to `kind`: "cubin", "ptx", "ptx with lines", `SANITIZED`, or "ltoir" for nvJitLink.

    Args:
        text: all of the program.
        options: of the code; here `fast_math` counts.
        target: such as `sm_90`.
        kind: of the output.
        function: a name for messages.
        around: more options of NVRTC, and kernels whose symbols are requested.

    Raises:
        BuildError: NVRTC refused the text, or returned no code.
        DeviceError: NVRTC is not installed, does not know the target, or makes code that the driver here does not
            load.
    """
    library = toolkit.compiler(target)
    if _KINDS[kind][0] != "PTX":
        toolkit.check_loads(library)
    request = {
        "library": library.path,
        "advice": toolkit.instead(library, target),
        "target": target,
        "flags": [*flags(options, target, kind), *around.flags],
        "names": list(around.names),
        "form": _KINDS[kind][0],
    }
    try:
        answer, image = call(POOL, compile_program, request, text.encode())
    except Lost as lost:
        raise build_error("NVRTC", function, lost) from None
    if answer["status"] != SUCCESS:
        raise _build_error(answer["status"], answer["log"], text, function)
    if not image:
        # NVRTC reports success with nothing to show where the architecture and the kind do not go together.
        raise BuildError(f"NVRTC made no {kind} for {target}.", function=function, log=answer["log"], text=text)
    head = HEAD if kind == SANITIZED else b""
    return Built(head + image, answer["log"], answer["names"])


@cache
def architectures(target: str = "") -> tuple[int, ...]:
    """Return the compute capabilities that the NVRTC for `target` (empty: the default one) compiles for: 75, 80, 90, …

    Raises:
        DeviceError: NVRTC is not installed.
        BuildError: its worker process crashed or took too long.
    """
    try:
        return tuple(call(POOL, supported, {"library": toolkit.compiler(target).path})[0]["known"])
    except Lost as lost:
        raise build_error("NVRTC", "", lost) from None


def resources(log: str) -> dict[str, int]:
    """Parse ptxas's report on a kernel, in a log, into numbers by name.

    Returns:
        `registers` (per thread), and in bytes `shared`, `stack`, `spill_stores` and `spill_loads`; what is not reported
        is absent.
    """
    resources: dict[str, int] = {}
    if used := _USED.search(log):
        resources["registers"] = int(used[1])
        shared = _SHARED.search(log)
        resources["shared"] = int(shared[1]) if shared else 0
    if spills := _SPILLS.search(log):
        resources |= {name: int(spills[n]) for n, name in enumerate(("stack", "spill_stores", "spill_loads"), 1)}
    return resources


def resources_by_kernel(log: str) -> dict[str, dict[str, int]]:
    """Parse ptxas's report on each kernel of a text into numbers by symbol and name, as `resources` does."""
    pieces = re.split(r"Compiling entry function '([^']+)'", log)
    return {name: resources(report) for name, report in zip(pieces[1::2], pieces[2::2], strict=False)}


def _build_error(status: str, log: str, text: str, function: str) -> BuildError:
    """Return the error for a compilation that failed, which quotes the first line that NVRTC refused.

    If the log names no line, it gives NVRTC's status and the log's first line.
    """
    first = _PLACE.search(log)
    if first:
        rows = text.splitlines()
        row = rows[int(first[1]) - 1].strip() if 0 < int(first[1]) <= len(rows) else ""
        message = f"NVRTC refused the CUDA text at line {first[1]}: {first[2]} in `{row}`."
    else:
        message = f"NVRTC failed with {status}: {log.splitlines()[0] if log else 'it gave no reason'}."
    return BuildError(message, function=function, log=log, text=text)
