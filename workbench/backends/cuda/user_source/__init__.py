"""CUDA C++ text that users write."""
