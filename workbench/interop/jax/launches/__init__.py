"""One launch as a JAX primitive, with its derivatives."""
