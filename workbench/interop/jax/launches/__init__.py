"""A launch as a JAX primitive, with its derivatives and its rules for JAX's transforms (`primitives.py`)."""
