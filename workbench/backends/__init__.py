"""Typed IR in, something a device can run out: the Python interpreter (the meaning), LLVM on the CPU, NVRTC on CUDA."""
