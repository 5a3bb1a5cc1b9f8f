"""Kernels that are CUDA C++ text."""
