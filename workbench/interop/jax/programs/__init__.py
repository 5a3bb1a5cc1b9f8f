"""A function of launches as one JAX primitive."""
