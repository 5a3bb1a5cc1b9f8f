"""Builtins of numbers."""
