"""Builtins of scalars."""
