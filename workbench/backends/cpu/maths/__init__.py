"""Vectorised maths functions."""
