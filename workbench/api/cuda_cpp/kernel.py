"""Kernels that are CUDA C++ text: launched, recorded, taped and captured as any other.

What a Python kernel's IR says (which arrays are read and written, what the adjoint is) is read here from the signature:
a `const` pointer is only read, and the kernel NAME_adjoint of the same text is the gradient of NAME.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol, cast

import numpy as np

from workbench.api.builds.arguments import Dim, as_dims, as_stream, check, deduce_pointer, wrong_count
from workbench.api.builds.bind import adjoint_arguments, bind
from workbench.api.cuda_cpp.build import Program
from workbench.api.cuda_cpp.counting import countable
from workbench.api.cuda_cpp.gradient_signature import ADJOINT, check_gradient, gradient_form
from workbench.api.cuda_cpp.in_double import WideText
from workbench.api.kernels.countable import Countable
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.narrow import is_tuple
from workbench.autodiff import parameters
from workbench.backends.base import Options
from workbench.backends.cuda.user_source.signature import Parameter, Signature
from workbench.backends.layout import layout
from workbench.cache.key import Key
from workbench.errors import LaunchError, NotDifferentiable, must_be
from workbench.frontend import Generic
from workbench.ir.values import Block as IrBlock
from workbench.ir.values import Function, Op, Value
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device, get_device
from workbench.runtime.launching.checks import checks_wanted
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.geometry import Geometry, as_block, with_shared
from workbench.runtime.launching.loaded import Loaded
from workbench.runtime.launching.record import PLAIN, LaunchOptions, LaunchRecord
from workbench.structs import AnyType
from workbench.types import ArrayType, Vector


class Text(Protocol):
    """The text that a kernel is of, as far as launching it goes: `module.py` has it."""

    @property
    def program(self) -> Program:
        """What is compiled."""
        ...

    @property
    def device(self) -> Device:
        """Where its kernels run."""
        ...

    def code(self, name: str, device: Device, sanitized: bool = False) -> tuple[str, Any, dict[str, Any]]:
        """Digest, loaded code and facts of one kernel."""
        ...

    def refuse_elsewhere(self, name: str, device: Device) -> None:
        """Refuse a launch where the kernel cannot run."""
        ...

    def in_double(self) -> Mapping[str, Any]:
        """Its kernels with every float a double, on the emulated device."""
        ...

    def key(self) -> Key:
        """The key of what is compiled ahead."""
        ...

    def ptx(self, target: str = "") -> str:
        """The PTX of the text."""
        ...

    def sass(self, target: str = "") -> str:
        """The machine code of the source code."""
        ...


class CudaKernel(Kernel):
    """A `__global__` function of CUDA C++ source code.

        wb.launch(saxpy, dim=n, inputs=[x, y, 2.0, n], block_dim=128)
        saxpy[n, 128](x, y, 2.0, n)                 # the same
        tiled[(h, w), (16, 16), 4096](x, y, w)      # rows and columns; 4096 bytes of dynamic shared memory

    `dim` counts threads, like an array's shape: its last size goes along x. As many blocks run as cover it, so a kernel
    tests whether its index is in range.

    Attributes:
        module: the module it belongs to.
        signature: its parameters as written.
        gradient: the signature of NAME_adjoint, or None.
    """

    def __init__(self, module: Text, signature: Signature, gradient: Signature | None) -> None:
        must_be(signature, Signature, "CudaKernel() takes a signature", advice='wb.cuda_module(text)["name"] is one.')
        self.module = module
        self.signature = signature
        self.gradient = gradient
        self.name = self.__name__ = signature.name
        self.parameters = tuple(p.name for p in signature.parameters)
        self.place = signature.location
        self.plans = {}
        self.stale = ""
        self.checks = None
        self.fast_math = False
        self._specialisations = {}
        if gradient is not None:
            check_gradient(signature, gradient)

    @property
    def definition(self) -> NoReturn:
        """There is none: code that needs a kernel's Python source fails here with an error.

        Raises:
            LaunchError: always.
        """
        raise LaunchError(f"{self.name} is CUDA C++, and this works on kernels written in Python.", self.place)

    @property
    def annotations(self) -> dict[str, AnyType | None]:
        """The types of numbers; a pointer takes arrays of any number of dimensions."""
        return {p.name: None if p.pointer else p.type for p in self.signature.parameters}

    @property
    def families(self) -> dict[str, Generic]:
        """None: a pointer's type is its own."""
        return {}

    def specialise(self, types: Sequence[AnyType] | None = None, tiling: object = None) -> Specialisation:
        """The kernel for arrays of these types (of one dimension if none are given), whatever the blocks."""
        chosen = tuple(types) if types is not None else tuple(
            ArrayType(p.type, 1) if p.pointer else p.type for p in self.signature.parameters
        )  # fmt: skip
        found = self._specialisations.get(chosen)
        if found is None:
            found = self._specialisations[chosen] = CudaSpecialisation(self, chosen)
        self.used = found
        return found

    def prepare(
        self, dims: tuple[int, ...], values: Sequence[object], adjoints: Sequence[object] | None = None,
        device: Device | str | None = None, how: LaunchOptions = PLAIN, tiled: bool = False,
    ) -> LaunchRecord:  # fmt: skip
        """A checked launch as a record, not yet run; see `Kernel.prepare`.

        Args:
            dims: the launch's dimensions; with `tiled` they count blocks.
            values: one argument per parameter, not yet checked.
            adjoints: one adjoint per parameter for a launch of the gradient; None for a forward launch.
            device: where; None is the arrays' device.
            how: options of the launch: `LaunchOptions`.
            tiled: whether `launch_tiled` launches it.

        Raises:
            LaunchError: an argument does not fit; the message names the parameter.
        """
        self.refuse_stale()
        if tiled:
            raise LaunchError(f"{self.name} is CUDA C++: launch() runs it in blocks.", advice="Give it block_dim.")
        block = as_block(how.block_dim, dims, self.name)
        if len(values) != len(self.parameters):
            raise wrong_count(self, values)
        arrays = (v.device for v in values if isinstance(v, array))
        device = get_device(device) if device is not None else next(arrays, None) or self.module.device
        how = LaunchOptions(how.code, block, as_stream(how.stream, device, self.name))
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
            return bind(specialisation, "forward", dims, arguments, device, how)
        pairs = adjoint_arguments(specialisation, arguments, adjoints, device)
        return bind(specialisation, "adjoint", dims, {**arguments, **pairs}, device, how)

    def on_device(self, values: Sequence[Any]) -> tuple[list[Any], list[tuple[np.ndarray[Any, Any], array]]]:
        """Arguments with NumPy arrays copied to the module's device, and which of them to copy back.

        Raises:
            LaunchError: the kernel cannot run there, or an array's dtype is not the parameter's.
        """
        found, back = list(values), list[tuple[np.ndarray[Any, Any], array]]()
        for k, (p, value) in enumerate(zip(self.signature.parameters, values, strict=False)):
            if isinstance(value, np.ndarray) and p.pointer:
                host = cast("np.ndarray[Any, Any]", value)
                device = next((v.device for v in values if isinstance(v, array)), self.module.device)
                self.module.refuse_elsewhere(self.name, device)
                found[k] = _copied(self.name, p, host, device)
                back += [] if p.const else [(host, found[k])]
        return found, back

    def in_double(self, values: Sequence[Any], dims: tuple[int, ...], block_dim: Any, shared: int) -> WideText:
        """The text and its gradient in double on the emulated device, for these arguments.

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
        how = dims, block_dim, 2 * shared  # of floats, twice as many bytes
        return WideText(self, self.module.in_double(), self.signature, gradient, values, how)

    def towards(self, direction: str) -> Signature:
        """The signature of what runs in a direction.

        Raises:
            NotDifferentiable: the text has none.
        """
        if direction == "forward":
            return self.signature
        if direction == "adjoint" and self.gradient is not None:
            return self.gradient
        if direction == "adjoint":
            raise NotDifferentiable(
                f"{self.name} is CUDA C++ without a gradient.", self.place,
                f"Write {self.name}{ADJOINT} in the same cell: {gradient_form(self.signature)}", self.name,
            )  # fmt: skip
        raise NotDifferentiable(f"{self.name} is CUDA C++ and has no {direction}.", self.place, "", self.name)

    __iter__ = None  # `kernel[0]`, `kernel[1]`, … would never end

    def __getitem__(self, where: object) -> Configured:
        """`k[dim]`, `k[dim, block_dim]` or `k[dim, block_dim, shared]`, to be called with the arguments.

        Raises:
            LaunchError: it is none of these.
        """
        given: tuple[Any, ...] = where if is_tuple(where) else (where,)
        if len(given) > 3 and all(isinstance(n, int) for n in given):
            raise LaunchError(f"{self.name}[…] takes dim, block_dim and shared.", advice="Write k[(h, w), (16, 16)].")
        return Configured(self, *given)

    def __repr__(self) -> str:
        shown = ", ".join(f"{p.text} {p.name}" for p in self.signature.parameters)
        return f"<CUDA C++ kernel {self.name}({shown})>"


class Configured:
    """A kernel with its threads; called with its arguments it runs."""

    def __init__(self, kernel: CudaKernel, dim: Dim, block_dim: object = 256, shared: int = 0) -> None:
        self.kernel = kernel
        self.dim = dim
        self.block_dim = block_dim
        self.shared = shared

    def __call__(self, *arguments: Any, stream: Any = None) -> None:
        """Run it. NumPy arrays are copied to the device, and what the kernel may change of them back.

        Raises:
            LaunchError: the arguments do not fit; nothing has run.
            KernelFault: on an emulated device, what its checks found, if NumPy arrays made it wait for the result.
        """
        kernel = self.kernel
        given, back = kernel.on_device(arguments)
        dims = as_dims(self.dim, kernel.name)
        block = with_shared(as_block(self.block_dim, dims, kernel.name), self.shared, kernel.name)
        how = LaunchOptions(Options(checks=checks_wanted(None, kernel.checks)), block, stream)
        execute(kernel.prepare(dims, given, how=how))
        for host, copy in back:
            host[...] = copy.numpy().reshape(host.shape)


class CudaSpecialisation(Specialisation):
    """A CUDA C++ kernel for arrays of some dimensions. Its function has the parameters; its body says nothing."""

    def __init__(self, kernel: CudaKernel, types: tuple[AnyType, ...]) -> None:
        self.kernel = self.text = kernel
        self.types = types
        params = tuple(Value(t, n) for n, t in zip(kernel.parameters, types, strict=True))  # type: ignore[arg-type]
        body = IrBlock(ops=(Op("cuda_text", params, location=kernel.place),))
        self.function = Function(kernel.name, params, body, source=kernel.place.source)
        self.adds_alone = False
        self.tiling = None
        self.loaded: dict[object, Loaded] = {}
        self.bound: dict[object, Any] = {}
        self.seconds = 0.0
        self.notices = ()
        self._watched = ()

    def is_current(self) -> bool:
        """Yes: a text captures nothing."""
        return True

    def load(self, direction: str, device: Device, checks: bool = False) -> Loaded:
        """The code of one direction; with checks, on an emulated device, such that accesses are looked at.

        Raises:
            NotDifferentiable: it is another than "forward", or than "adjoint" where the text has one.
            LaunchError: it was compiled for another kind of device.
        """
        slot = direction, device, checks and device.is_emulated
        if slot not in self.loaded:
            self.loaded[slot] = self._loaded(*slot)
        return self.loaded[slot]

    def countable(self, direction: str, arch: str) -> Countable:
        """Its PTX, for `wb.profile`."""
        return countable(self.text.module.program, self.text.towards(direction), arch)

    def _loaded(self, direction: str, device: Device, sanitized: bool) -> Loaded:
        kernel = self.text
        signature = kernel.towards(direction)
        params = [(p.name, p.type) for p in parameters(self.function.params, direction)]
        names = [n for n, _ in params]
        geometry = Geometry(tuple(names.index(p.name) for p in signature.parameters))
        digest, code, facts = kernel.module.code(signature.name, device, sanitized)
        pointers = [p for p in signature.parameters if p.pointer]
        return Loaded(
            name=kernel.name, direction=direction, device=device, address=0, handle=code,
            layout=layout(params), launch_ndim=0,
            reads=frozenset(p.name for p in pointers if p.name in signature.words),
            writes=frozenset(p.name for p in pointers if not p.const),
            cost=1, digest=digest, contiguous=True, checked=False, ordered=True, metadata=facts,
            make_function=lambda: self.function, geometry=geometry, place=kernel.module.program.whole.at,
        )  # fmt: skip


def _refuse_aliases(kernel: CudaKernel, arguments: Mapping[str, object]) -> None:
    """`__restrict__` says that nothing else is in this memory."""
    restricted = {p.name for p in kernel.signature.parameters if p.pointer and "restrict" in p.text}
    written = {p.name for p in kernel.signature.parameters if p.pointer and not p.const}
    for (a, first), (b, second) in itertools.combinations(
        ((n, v) for n, v in arguments.items() if isinstance(v, array) and v.size), 2
    ):
        apart = first.address + first.nbytes <= second.address or second.address + second.nbytes <= first.address
        if not apart and {a, b} & restricted and {a, b} & written:
            raise LaunchError(
                f"{kernel.name}: {a} and {b} share memory, and one of them is __restrict__.", parameter=b,
                advice="Pass separate arrays, or leave __restrict__ out.",
            )  # fmt: skip


def _copied(kernel: str, parameter: Parameter, value: np.ndarray[Any, Any], device: Device) -> array:
    """A NumPy array on the device; its last axis is a vector's, where the pointer is to vectors."""
    type = parameter.type
    rows = isinstance(type, Vector) and value.dtype == type.dtype.numpy
    if not parameter.const and not value.flags.writeable:
        raise LaunchError(
            f"{kernel}: the NumPy array for {parameter.name} is read-only.", parameter=parameter.name,
            advice="Pass a copy.",
        )  # fmt: skip
    try:
        return array(value, type if rows else None, device=device)
    except (TypeError, ValueError) as error:
        raise LaunchError(f"{kernel}: {parameter.name}: {error}.", parameter=parameter.name) from None
