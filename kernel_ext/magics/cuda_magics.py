"""`%%cuda`: a cell of CUDA C++ whose kernels become callables."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from traitlets import Enum

from kernel_ext.magics.kernel_magics import KernelMagics
from kernel_ext.magics.options import build_options, cell_options, read_line, refuse
from kernel_ext.refusal import Refusal
from kernel_ext.session.cuda_cells import RUNS, CudaOptions, Headers, reader, run_of
from kernel_ext.session.tracebacks import KernelUsageError
from workbench import get_device, inspect


@magics_class
class CudaMagics(Magics):
    """The magic `%%cuda`."""

    run = Enum(RUNS, "device", help="Where %%cuda kernels run by default: device or emulated.").tag(config=True)

    def __init__(self, shell: Any, kernels: KernelMagics) -> None:
        """Attach to the shell whose cells `kernels` builds."""
        super().__init__(shell)
        self.kernels = kernels
        self.headers = Headers()

    @magic_arguments()
    @build_options
    @argument(
        "--run",
        default="",
        metavar="|".join(RUNS),
        help="device: the current device; emulated: the CPU runs what a GPU would.",
    )
    @argument("-I", dest="include", action="append", default=[], metavar="DIR", help="Look for headers in this folder.")
    @argument("--use", action="append", default=[], metavar="NAME", help="Include this header above the cell.")
    @argument("--header", default="", metavar="NAME", help="Save the cell as a header for other cells.")
    @cell_magic
    def cuda(self, line: str, cell: str) -> Any:
        """Compile a cell of CUDA C++; its `__global__` functions become callables.

        Parameters are numbers, CUDA vectors (float3) and pointers to them; a const pointer is only read. A kernel
        NAME_adjoint in the same cell is the gradient of NAME: it takes NAME's parameters and `float* adj_x` for each
        pointer to floats x. Without a GPU the cell is compiled for reading; `--run emulated` makes the CPU run what
        a GPU would, on arrays of the device "emulated" or of NumPy.

        Examples::

            %%cuda --run emulated
            __global__ void saxpy(const float* x, float* y, float a, int n) {
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n) y[i] += a * x[i];
            }

            saxpy[n](x, y, 2.0, n, block_dim=128)            # n threads in blocks of 128

            %%cuda --header warp.h
            __device__ float warp_sum(float v) {
                for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
                return v;
            }
        """
        args = read_line(CudaMagics.cuda, line, "%%cuda")
        if not cell.strip():
            raise KernelUsageError("the cell below %%cuda is empty; write a __global__ function in it")
        options = cell_options(args, self.kernels.here.user_ns, self.kernels.backend, self.kernels.annotate)
        origin = self.kernels.origin(f"%%cuda {line}", cell, options)
        try:
            if args.header:
                print(self.headers.save(args.header, cell, origin))
                return None
            run = run_of(args.backend, args.run) or self.run
        except Refusal as refusal:
            refuse(refusal)
        if args.checks and run != "emulated" and not get_device().is_emulated:
            raise KernelUsageError("%%cuda --checks needs --run emulated: Workbench puts no tests into a GPU's code")
        cuda_options = CudaOptions(run, tuple(args.use), tuple(args.include))
        read = reader(cuda_options, self.headers)
        built = self.kernels.build(cell, options, origin, args.quiet, read, inspect.CUDA_PANES)
        return built.cell if args.give else None

    def close(self) -> None:
        """Forget the headers."""
        self.headers.sources.clear()
