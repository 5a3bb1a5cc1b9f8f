"""A strict stand-in for `libcuda.so.1`, for the real cuda-core and cuda-bindings that lie above it."""
