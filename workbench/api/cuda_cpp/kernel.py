"""Kernels that are CUDA C++ text, launched, recorded, taped and captured as any other.

What a Python kernel's IR says (which arrays are read and written, what the adjoint is) is read here from the signature:
a `const` pointer is only read, and the kernel NAME_adjoint of the same text is the gradient of NAME.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn, Protocol, cast

import numpy as np

from workbench.api.builds.arguments import Dim, as_dims, as_stream, check, deduce_pointer, wrong_count
from workbench.api.builds.bind import adjoint_arguments, bind
from workbench.api.cuda_cpp import build
from workbench.api.cuda_cpp.build import Program
from workbench.api.cuda_cpp.in_double import WideText
from workbench.api.cuda_cpp.values import as_argument, host_bytes
from workbench.api.kernels.countable import Countable
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.renamed import renamed
from workbench.autodiff import parameters
from workbench.backends.cuda.user_source.signature import Parameter, Signature
from workbench.backends.layout import layout
from workbench.cache.key import Key
from workbench.errors import KernelTypeError, LaunchError, NotDifferentiable, WorkbenchError, must_be
from workbench.frontend.names.annotate import Generic
from workbench.host.narrow import is_tuple
from workbench.ir.values import Block as IrBlock
from workbench.ir.values import Function, Op, Value
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device, get_device
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.geometry import Geometry, as_block, with_shared
from workbench.runtime.launching.record import PLAIN, LaunchOptions, LaunchRecord
from workbench.source import Location
from workbench.structs import AnyType
from workbench.types import ArrayType, Vector, is_float

ADJOINT = "_adjoint"


def gradient_form(signature: Signature) -> str:
    """Return the declaration in CUDA C++ that a kernel's gradient should have."""
    own = [f"{'const ' if p.pointer and not p.const else ''}{p.text} {p.name}" for p in signature.parameters]
    more = [f"{_base(p)}* adj_{p.name}" for p in signature.parameters if p.pointer and is_float(p.type)]
    return f"__global__ void {signature.name}{ADJOINT}({', '.join([*own, *more])})"


def _base(parameter: Parameter) -> str:
    """Return a parameter's C++ type without const, __restrict__ and pointer."""
    return " ".join(w for w in parameter.text.replace("*", " ").split() if w not in ("const", "__restrict__"))


def check_gradient(forward: Signature, gradient: Signature) -> None:
    """Check that a gradient's parameters match its kernel.

    It takes any of the kernel's parameters, by name and type, pointers as const. In addition it takes `adj_x` for each
    pointer to floats x of the kernel, and may take `adj_a`, a pointer to one number, for a float number a.

    Raises:
        KernelTypeError: a parameter is neither, or an adjoint is missing.
    """
    own = {p.name: p for p in forward.parameters}
    adjoints = {f"adj_{p.name}": p for p in forward.parameters if is_float(p.type)}
    form = f"It is declared {gradient_form(forward)}."
    for p in gradient.parameters:
        mine, other = adjoints.get(p.name), own.get(p.name)
        if mine is not None and (not p.pointer or p.const or p.type != mine.type):
            problem = f"{p.name} of {gradient.name} is `{p.text}`; it is added to, as `{_base(mine)}*`."
        elif mine is None and other is None:
            problem = f"{gradient.name} has the parameter {p.name}, which {forward.name} does not have."
        elif other is not None and mine is None and (p.type, p.pointer) != (other.type, other.pointer):
            problem = f"{p.name} is `{other.text}` in {forward.name} and `{p.text}` in {gradient.name}."
        elif other is not None and mine is None and p.pointer and not p.const:
            problem = f"{p.name} of {gradient.name} is not const; a gradient changes only adjoints."
        else:
            continue
        raise KernelTypeError(problem, p.location, form, gradient.name)
    names = {p.name for p in gradient.parameters}
    for name, p in adjoints.items():
        if p.pointer and name not in names:
            raise KernelTypeError(f"{gradient.name} does not take {name}.", gradient.location, form, gradient.name)


class Text(Protocol):
    """The part of `CudaModule` that its kernels need, as a protocol: `module.py` imports this file."""

    @property
    def program(self) -> Program:
        """The program that is compiled."""
        ...

    @property
    def device(self) -> Device:
        """The device on which its kernels run."""
        ...

    def code(self, name: str, device: Device, sanitized: bool = False) -> tuple[str, Any, dict[str, Any]]:
        """Return the digest, loaded code and metadata of one kernel; `sanitized`: with checked memory accesses."""
        ...

    def signature(self, name: str) -> Signature:
        """Return a kernel's signature with the parameters' types, as NVRTC determines them."""
        ...

    def refuse_elsewhere(self, name: str, device: Device) -> None:
        """Raise a LaunchError if the kernel cannot run on this device."""
        ...

    def in_double(self) -> Mapping[str, Any]:
        """Return the text's kernels by name, compiled with every float a double, on the emulated device."""
        ...

    def key(self) -> Key:
        """Return the cache key of what is compiled ahead."""
        ...

    def ptx(self, target: str = "") -> str:
        """Return the PTX of the text for `target`, such as "sm_90"; empty: for the module's device."""
        ...

    def sass(self, target: str = "") -> str:
        """Return the machine code of the text, disassembled, for `target`; empty: for the module's device."""
        ...


class CudaKernel(Kernel):
    """A `__global__` function of CUDA C++ source code.

        wb.launch(saxpy, dim=n, inputs=[x, y, 2.0, n], block_dim=128)
        saxpy[n](x, y, 2.0, n, block_dim=128)                             # the same
        saxpy[8 * 128](x, y, 2.0, n, block_dim=128)                       # 8 blocks
        tiled[[h, w]](x, y, w, block_dim=(16, 16), shared=4096)           # rows and columns; dynamic shared memory

    `dim` counts threads, like an array's shape: its last size goes along x. As many blocks run as cover it, so a kernel
    tests whether its index is in range. A pair in brackets is refused: elsewhere it counts blocks.

    Attributes:
        module: the module it belongs to.
        written: its parameters as they stand in the text, before NVRTC has said their types.
    """

    def __init__(self, module: Text, signature: Signature, gradient: Signature | None) -> None:
        """Make a kernel of a module.

        Args:
            module: the module it belongs to.
            signature: the kernel's, as it stands in the text.
            gradient: that of NAME_adjoint; None if the text has none.
        """
        must_be(signature, Signature, "CudaKernel() takes a signature", advice='wb.cuda_module(text)["name"] is one.')
        self.module = module
        self.written = signature
        self._gradient = gradient
        self.name = self.__name__ = signature.name
        self.place = signature.location
        self.plans = {}
        self.stale = ""
        self.checks = None
        self.fast_math = False
        self._specialisations = {}

    @cached_property
    def signature(self) -> Signature:
        """The kernel's signature with its parameters' types.

        Raises:
            BuildError, DeviceError: the text cannot be compiled.
            KernelTypeError: a parameter cannot be passed from Python.
        """
        return self.module.signature(self.name)

    @cached_property
    def gradient(self) -> Signature | None:
        """The signature of NAME_adjoint, the kernel's gradient; None if the text has none.

        Raises:
            KernelTypeError: its parameters do not match the kernel's.
        """
        if self._gradient is None:
            return None
        signature = self.module.signature(self._gradient.name)
        check_gradient(self.signature, signature)
        return signature

    @cached_property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of its parameters."""
        return tuple(p.name for p in self.signature.parameters)

    @property
    def definition(self) -> NoReturn:
        """Refuse to be read: a CUDA C++ kernel has no Python definition, which some code needs.

        Raises:
            LaunchError: always.
        """
        raise LaunchError(f"{self.name} is CUDA C++, and this works on kernels written in Python.", self.place)

    @property
    def annotations(self) -> dict[str, AnyType | None]:
        """The type of each number parameter, by name; None for a pointer, which takes arrays of any dimensions."""
        return {p.name: None if p.pointer else p.type for p in self.signature.parameters}

    @property
    def families(self) -> dict[str, Generic]:
        """Families of generic parameters, by name: empty, as CUDA C++ kernels have none."""
        return {}

    def specialise(self, types: Sequence[AnyType] | None = None, tiling: object = None) -> Specialisation:
        """Return the specialisation for these types, one per parameter; None: arrays of one dimension for pointers.

        It suits any block size, so `tiling` is ignored.
        """
        chosen = (
            tuple(types)
            if types is not None
            else tuple(ArrayType(p.type, 1) if p.pointer else p.type for p in self.signature.parameters)
        )
        specialisation = self._specialisations.get(chosen)
        if specialisation is None:
            specialisation = self._specialisations[chosen] = CudaSpecialisation(self, chosen)
        self.used = specialisation
        return specialisation

    @renamed(how="options")
    def prepare(
        self, dims: tuple[int, ...], values: Sequence[object], adjoints: Sequence[object] | None = None,
        device: Device | str | None = None, options: LaunchOptions = PLAIN, tiled: bool = False,
    ) -> LaunchRecord:  # fmt: skip
        """Check a launch and return it as a record, not yet run; see `Kernel.prepare`.

        Args:
            dims: the launch's dimensions; with `tiled` they count blocks.
            values: one argument per parameter, not yet checked.
            adjoints: one adjoint per parameter for a launch of the gradient; None for a forward launch.
            device: where; None is the arrays' device.
            options: those of the launch: `LaunchOptions`.
            tiled: whether `launch_tiled` launches it.

        Raises:
            LaunchError: an argument does not fit; the message names the parameter.
        """
        self.refuse_stale()
        if tiled:
            raise LaunchError(f"{self.name} is CUDA C++: launch() runs it in blocks.", advice="Give it block_dim.")
        block = as_block(options.block_dim, dims, self.name)
        if len(values) != len(self.parameters):
            raise wrong_count(self, values)
        arrays = (v.device for v in values if isinstance(v, array))
        device = get_device(device) if device is not None else next(arrays, None) or self.module.device
        values = [as_argument(self.name, p, v, device) for p, v in zip(self.signature.parameters, values, strict=True)]
        options = LaunchOptions(options.code, block, as_stream(options.stream, device, self.name))
        self.module.refuse_elsewhere(self.name, device)
        types = tuple(
            deduce_pointer(self, p.name, p.type, value) if p.pointer else p.type
            for p, value in zip(self.signature.parameters, values, strict=True)
        )
        specialisation = self.specialise(types)
        arguments: dict[str, object] = {
            name: check(self, name, type, value, device)
            for name, type, value in zip(self.parameters, types, values, strict=True)
        }
        _refuse_aliases(self, arguments)
        if adjoints is None:
            return bind(specialisation, "forward", dims, arguments, device, options)
        pairs = adjoint_arguments(specialisation, arguments, adjoints, device)
        return bind(specialisation, "adjoint", dims, {**arguments, **pairs}, device, options)

    def on_device(self, values: Sequence[Any]) -> tuple[Sequence[Any], list[tuple[np.ndarray[Any, Any], array]]]:
        """Return the arguments with NumPy arrays for pointers copied to a device, and the copies to be copied back.

        The device is that of the first Workbench array among them, else the module's. Of the pairs (NumPy array, copy)
        there is one for each pointer that is not const.

        Raises:
            LaunchError: the kernel cannot run there, or an array's dtype is not the parameter's.
        """
        back: list[tuple[np.ndarray[Any, Any], array]] = []
        for value in values:  # a comprehension would cost each launch a call
            if isinstance(value, np.ndarray):
                break
        else:
            return values, back
        args = list(values)
        for k, (p, value) in enumerate(zip(self.signature.parameters, values, strict=False)):
            if isinstance(value, np.ndarray) and p.pointer:
                host = cast("np.ndarray[Any, Any]", value)
                device = next((v.device for v in values if isinstance(v, array)), self.module.device)
                self.module.refuse_elsewhere(self.name, device)
                args[k] = _copied(self.name, p, host, device)
                back += [] if p.const else [(host, args[k])]
        return args, back

    def in_double(self, values: Sequence[Any], dims: tuple[int, ...], block_dim: Any, shared: int) -> WideText:
        """Return the kernel and its gradient compiled in double on the emulated device, for these arguments.

        Args:
            values: one argument per parameter.
            dims: the launch's dimensions.
            block_dim: threads of a block.
            shared: bytes of dynamic shared memory of a block.

        Raises:
            NotDifferentiable: the text has no gradient of it.
            LaunchError: there is no such block.
            BuildError, DeviceError: the text cannot be compiled in double, or NVRTC is not installed.
        """
        gradient = self.towards("adjoint")
        options = dims, block_dim, 2 * shared  # of floats, twice as many bytes
        return WideText(self, self.module.in_double(), self.signature, gradient, values, options)

    def towards(self, direction: str) -> Signature:
        """Return the signature of the function that runs in a direction: for "adjoint" that of the gradient.

        Raises:
            NotDifferentiable: the text has none.
        """
        if direction == "forward":
            return self.signature
        if direction == "adjoint" and self.gradient is not None:
            return self.gradient
        if direction == "adjoint":
            raise NotDifferentiable(
                f"{self.name} is CUDA C++ without a gradient.",
                self.place,
                f"Write {self.name}{ADJOINT} in the same cell: {gradient_form(self.signature)}",
                self.name,
            )
        raise NotDifferentiable(f"{self.name} is CUDA C++ and has no {direction}.", self.place, "", self.name)

    __iter__ = None  # `kernel[0]`, `kernel[1]`, … would never end

    def __getitem__(self, dim: object) -> Configured:
        """Configure a launch: `k[n]` of n threads or `k[[h, w]]` of rows and columns, to be called with the arguments.

        Raises:
            LaunchError: a tuple, which has two readings: threads and a block, or blocks and threads.
        """
        if is_tuple(dim):
            raise _two_readings(self.name, dim)
        return Configured(self, cast("Dim", dim))

    def __repr__(self) -> str:
        shown = ", ".join(f"{p.text} {p.name}" for p in self.written.parameters)
        return f"<CUDA C++ kernel {self.name}({shown})>"


class Configured:
    """A CUDA C++ kernel with its launch dimensions; calling it with the arguments launches it."""

    def __init__(self, kernel: CudaKernel, dim: Dim) -> None:
        """Hold the kernel and the launch's dimensions, which count threads; they are checked by the launch."""
        self.kernel = kernel
        self.dim = dim

    def __call__(self, *arguments: Any, block_dim: object = 256, shared: int = 0, stream: Any = None) -> None:
        """Launch the kernel. NumPy arrays are copied to the device, and those it may change are copied back.

        Args:
            arguments: one for each parameter.
            block_dim: threads of a block, ordered as `dim`; one number counts them along x.
            shared: bytes of dynamic shared memory of a block.
            stream: the stream; None is the current one.

        Raises:
            LaunchError: the arguments do not fit; nothing has run.
            KernelFault: on an emulated device, what its checks found, if NumPy arrays made it wait for the result.
        """
        kernel = self.kernel
        args, back = kernel.on_device(arguments)
        if shared != 0 or type(shared) is not int:
            block = as_block(block_dim, as_dims(self.dim, kernel.name), kernel.name)
            block_dim = with_shared(block, shared, kernel.name)
        kernel.launch_with(kernel, self.dim, args, block_dim=block_dim, stream=stream)
        for host, copy in back:
            host[...] = np.ascontiguousarray(copy.numpy()).reshape(-1).view(host.dtype).reshape(host.shape)


class CudaSpecialisation(Specialisation):
    """A CUDA C++ kernel for arrays of certain numbers of dimensions.

    Its IR function has the kernel's parameters; the body says nothing.
    """

    def __init__(self, kernel: CudaKernel, types: tuple[AnyType, ...]) -> None:
        """Make the specialisation for these types, one per parameter; nothing is compiled."""
        self.kernel = self.cuda_kernel = kernel
        self.types = types
        params = tuple(Value(t, n) for n, t in zip(kernel.parameters, types, strict=True))  # type: ignore[arg-type]
        body = IrBlock(ops=(Op("cuda_text", params, location=kernel.place),))
        self.function = Function(kernel.name, params, body, source=kernel.place.source)
        self.adds_alone = False
        self.tiling = None
        self.executables: dict[object, Executable] = {}
        self.building = {}
        self.bound: dict[object, Any] = {}
        self.seconds = 0.0
        self.notices = ()
        self._watched = ()

    def is_current(self) -> bool:
        """Return True: CUDA C++ text captures no Python values that could change."""
        return True

    def load(self, direction: str, device: Device, checks: bool = False) -> Executable:
        """Return the loaded code of one direction; `checks` has memory accesses checked, on emulated devices only.

        Raises:
            NotDifferentiable: the direction is neither "forward" nor an "adjoint" that the text has.
            LaunchError: the kernel cannot run on this device.
        """
        slot = direction, device, checks and device.is_emulated
        if slot not in self.executables:
            self.executables[slot] = self._loaded(*slot)
        return self.executables[slot]

    def countable(self, direction: str, arch: str) -> Countable:
        """Compile one direction of the kernel to PTX for an architecture, for counting instructions in `wb.profile`."""
        return countable(self.cuda_kernel.module.program, self.cuda_kernel.towards(direction), arch)

    def _loaded(self, direction: str, device: Device, sanitized: bool) -> Executable:
        """Return one direction of a kernel of CUDA C++ as launchable code on a device, compiled or from the cache.

        `sanitized` is for checked memory accesses, on emulated devices.
        """
        kernel = self.cuda_kernel
        signature = kernel.towards(direction)
        params = [(p.name, p.type) for p in parameters(self.function.params, direction)]
        names = [n for n, _ in params]
        geometry = Geometry(tuple(names.index(p.name) for p in signature.parameters))
        digest, code, metadata = kernel.module.code(signature.name, device, sanitized)
        pointers = [p for p in signature.parameters if p.pointer]
        return Executable(
            name=kernel.name, direction=direction, device=device, address=0, handle=code,
            layout=layout(params), launch_ndim=0,
            reads=frozenset(p.name for p in pointers if p.name in signature.words),
            writes=frozenset(p.name for p in pointers if not p.const),
            cost=1, digest=digest, contiguous=True, checked=False, ordered=True, metadata=metadata,
            make_function=lambda: self.function, geometry=geometry, locate=kernel.module.program.source.at,
            apart=True,  # those that share memory are checked in each launch: one may be __restrict__
        )  # fmt: skip


def _two_readings(kernel: str, subscripts: tuple[object, ...]) -> LaunchError:
    """Return the error of `k[8, 256]`: what it may mean, and how each meaning is written."""
    inner = ", ".join(map(str, subscripts))
    if len(subscripts) not in (2, 3):
        return LaunchError(f"{kernel}[{inner}]: brackets take the number of threads.", advice=f"Write {kernel}[n](…).")
    first, second, *more = subscripts
    shared = f", shared={more[0]}" if more else ""
    blocks, block = (
        list(cast("tuple[object, ...]", v)) if isinstance(v, (tuple, list)) else [v] for v in subscripts[:2]
    )
    # CUDA's order is x, y, z; here the last size is along x.
    sizes = [f"{m} * {n}" for m, n in zip(blocks[::-1], block[::-1], strict=False)]
    total = ", ".join(sizes)
    covered, dim = (f"[{total}]", blocks) if len(sizes) > 1 else (total, blocks[0])
    turned = tuple(block[::-1]) if len(sizes) > 1 else block[0]
    return LaunchError(
        f"{kernel}[{inner}] has two readings: {first} blocks of {second} threads, as CUDA and Numba count, or {first} "
        f"threads in blocks of {second}.",
        parameter="dim",
        advice=f"Write {kernel}[{covered}](…, block_dim={turned}{shared}) for the first, or "
        f"{kernel}[{dim}](…, block_dim={second}{shared}) for the second.",
    )


def _refuse_aliases(kernel: CudaKernel, arguments: Mapping[str, object]) -> None:
    """Check that no two arrays share memory where one of them is `__restrict__` and one of them is written.

    Raises:
        LaunchError: two do.
    """
    restricted = {p.name for p in kernel.signature.parameters if p.pointer and "restrict" in p.text}
    written = {p.name for p in kernel.signature.parameters if p.pointer and not p.const}
    for (a, first), (b, second) in itertools.combinations(
        ((n, v) for n, v in arguments.items() if isinstance(v, array) and v.size), 2
    ):
        disjoint = first.address + first.nbytes <= second.address or second.address + second.nbytes <= first.address
        if not disjoint and {a, b} & restricted and {a, b} & written:
            raise LaunchError(
                f"{kernel.name}: {a} and {b} share memory, and one of them is __restrict__.",
                parameter=b,
                advice="Pass separate arrays, or leave __restrict__ out.",
            )


def _copied(kernel: str, parameter: Parameter, value: np.ndarray[Any, Any], device: Device) -> array:
    """Copy a NumPy array to the device; for a pointer to vectors the last axis may hold their components.

    Raises:
        LaunchError: it is read-only and the pointer not const, or its dtype does not fit.
    """
    type, written = parameter.type, value
    value = host_bytes(kernel, parameter, value)
    rows = isinstance(type, Vector) and value.dtype == type.dtype.numpy
    if not parameter.const and not written.flags.writeable:
        raise LaunchError(
            f"{kernel}: the NumPy array for {parameter.name} is read-only.",
            parameter=parameter.name,
            advice="Pass a copy.",
        )
    try:
        return array(value, type if rows else None, device=device)
    except WorkbenchError:  # it is a TypeError too, and says all there is to say
        raise
    except (TypeError, ValueError) as error:
        raise LaunchError(f"{kernel}: {parameter.name}: {error}.", parameter=parameter.name) from None


def countable(program: build.Program, signature: Signature, arch: str) -> Countable:
    """Compile a kernel of CUDA C++ for an architecture, for counting its instructions in `wb.profile`.

    Raises:
        BuildError, DeviceError: NVRTC refused the text, is missing, or does not know the architecture.
    """
    text, symbols = build.ptx_with_lines(program, arch)
    source = signature.location.source

    def location(file: str, line: int) -> Location | None:
        return program.source.at(line) if file.startswith("/cell/") else None

    own = {n + source.line_offset: source.line(n) for n in range(signature.first, signature.last + 1)}
    resources = build.resources(program, arch, signature.name)
    return Countable(text, symbols[signature.name], resources, signature.location, own, location)
