"""Builtins of vectors, matrices, quaternions and transforms."""
