"""The PTX of CUDA C++ source code, for `wb.profile`."""

from __future__ import annotations

from workbench.api.cuda_cpp import build
from workbench.api.kernels.countable import Countable
from workbench.backends.cuda.user_source.signature import Signature
from workbench.source import Location


def countable(program: build.Program, signature: Signature, arch: str) -> Countable:
    """Compile a kernel for an architecture, for counting its instructions.

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
