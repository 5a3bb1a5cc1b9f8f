"""A cubin as SASS, the machine code of a GPU as text, where a disassembler is installed.

NVRTC has none. NVIDIA ships `nvdisasm` and `cuobjdump` in wheels of their own and in the CUDA toolkit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from workbench.errors import BuildError, DeviceError

TOOLS = {"nvdisasm": ("-c",), "cuobjdump": ("-sass",)}
"""Each program with its options for text alone."""
TIMEOUT = 60.0


def disassembler() -> tuple[str, ...]:
    """Return the command line of a SASS disassembler, to which a cubin's path is added; empty if none is installed.

    It is searched on the PATH, in `CUDA_HOME`, and in the installed wheels of NVIDIA; nvdisasm comes before
    cuobjdump.
    """
    packages = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    folders = [Path(os.environ["CUDA_HOME"]) / "bin"] if os.environ.get("CUDA_HOME") else []
    folders += sorted(packages.glob("*/bin")) if packages.is_dir() else []
    for name, options in TOOLS.items():
        tool = shutil.which(name) or next((shutil.which(name, path=str(p)) for p in folders if (p / name).exists()), "")
        if tool:
            return (tool, *options)
    return ()


def sass(cubin: bytes) -> str:
    """Return the machine code of a cubin, one instruction per line.

    Raises:
        DeviceError: no disassembler is installed.
        BuildError: it refused the cubin; `log` holds what it said.
    """
    command = disassembler()
    if not command:
        raise DeviceError(
            "SASS needs nvdisasm or cuobjdump, and neither was found.",
            advice="Install one: pip install nvidia-cuda-nvdisasm",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode:
        raise BuildError(f"{Path(command[0]).name} could not read the cubin.", log=done.stderr)
    return done.stdout.strip()
