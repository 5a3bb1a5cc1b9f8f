"""CUDA C++ text to PTX and cubin, through NVRTC and nvJitLink."""
