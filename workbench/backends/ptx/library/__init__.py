"""Functions that compiled kernels call: memory, atomics, lanes, matrix products, and the runner of blocks."""
