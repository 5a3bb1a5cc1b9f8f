"""Lowerings of kernels, stored in the cache with all that they read."""
