"""A strict stand-in for `libcuda.so.1`, for the real cuda-bindings that lie above it."""
