"""CUDA: IR to readable C++ text, and that text through NVRTC to PTX and cubin, without a GPU or a driver."""
