"""Kernels, programs and generators of programs that several tests run."""
